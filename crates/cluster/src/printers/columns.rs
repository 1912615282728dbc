//! The names and types of a Table's columns, where the page's own columns do not say what the real server sends.

use kubechurn_columns::column::{Align, Column};
use kubechurn_columns::kinds::Kind;
use serde_json::{Value, json};

/// The columns of a ComponentStatus, after the name.
pub const COMPONENT: [&str; 3] = ["Status", "Message", "Error"];

/// The cells of a ComponentStatus, after the name.
pub fn component(object: &Value) -> [Value; 3] {
    let text = |field: &str| object["conditions"][0][field].as_str().unwrap_or_default();
    let status = if text("status") == "True" { "Healthy" } else { "Unhealthy" };
    [status, text("message"), text("error")].map(Value::from)
}

/// The names that the server spells with unusual capitals. The page has kubectl's spelling, which kubectl makes itself.
const SPELT: [&str; 21] = [
    "AddressType",
    "AllowVolumeExpansion",
    "CIDRs",
    "DistinguisherMethod",
    "HandSize",
    "MatchingPrecedence",
    "MaxPods",
    "MinPods",
    "MissingPL",
    "NominalConcurrencyShares",
    "ParentRef",
    "PreemptionPolicy",
    "PriorityLevel",
    "PV",
    "QueueLengthLimit",
    "ReclaimPolicy",
    "ServiceAccounts",
    "StorageClass",
    "VolumeAttributesClass",
    "VolumeBindingMode",
    "VolumeMode",
];

/// The server's name of a column of the page: `UP-TO-DATE` is `Up-to-date`, `INTERNAL-IP` is `Internal-IP`.
pub fn name(column: &Column) -> String {
    if let Some(spelt) = SPELT.iter().find(|spelt| spelt.to_uppercase() == column.title) {
        return (*spelt).to_owned();
    }
    let part = |part: &str| match part {
        "IP" | "OS" => part.to_owned(),
        "TO" | "DATE" => part.to_lowercase(),
        _ => format!("{}{}", &part[..1], part[1..].to_lowercase()),
    };
    let word = |word: &str| word.split('-').map(part).collect::<Vec<_>>().join("-");
    column.title.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

/// The server's type of a column of the page: `string`, unless the server has another. Not every number has a number
/// type.
pub fn value_type(kind: &Kind, column: &Column) -> &'static str {
    let of_daemon_sets = kind.resource.plural == "daemonsets";
    match column.title {
        "DESIRED" | "CURRENT" | "ACTIVE" | "ALLOWED DISRUPTIONS" | "VALUE" => "integer",
        "READY" if column.align == Align::End => "integer",
        "UP-TO-DATE" | "AVAILABLE" if of_daemon_sets => "integer",
        "SUSPEND" | "GLOBAL-DEFAULT" => "boolean",
        "CREATED AT" => "date",
        _ => "string",
    }
}

/// Whether the server sends a number in this column as a string.
pub fn is_text(column: &Column) -> bool {
    ["MIN AVAILABLE", "MAX UNAVAILABLE", "MINPODS"].contains(&column.title)
}

/// Whether the server sends a boolean in this column as a JSON boolean, whatever the type of the column.
pub fn is_truth(column: &Column) -> bool {
    [
        "GLOBAL-DEFAULT",
        "ALLOWVOLUMEEXPANSION",
        "ATTACHED",
        "ATTACHREQUIRED",
        "PODINFOONMOUNT",
        "STORAGECAPACITY",
        "REQUIRESREPUBLISH",
    ]
    .contains(&column.title)
}

/// An entry of a Table's `columnDefinitions`.
pub fn definition(name: &str, value_type: &str, format: &str, priority: i64) -> Value {
    json!({"name": name, "type": value_type, "format": format, "description": "", "priority": priority})
}
