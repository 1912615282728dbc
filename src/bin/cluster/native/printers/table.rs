//! Tables: what `kubectl get` prints, cell by cell. Resources that the page shows have the page's own columns.

use kubechurn::api::cell::CellRef;
use kubechurn::api::time::Timestamp;
use kubechurn::table::column::Align;
use kubechurn::table::kinds::{KINDS, Kind};
use serde_json::{Value, json};

use crate::native::printers::cells::age;
use crate::native::printers::columns::{AGE, Columns, Printed};
use crate::native::resources::definition::PrinterColumn;
use crate::native::resources::object::Object;
use crate::native::resources::resource::Resource;

/// What a Table of a resource shows.
enum Shown<'a> {
    Kind(&'static Kind),
    BuiltIn(&'static [Printed]),
    Custom(&'a [PrinterColumn]),
}

fn shown(resource: &Resource) -> Shown<'_> {
    let of_page = |kind: &&Kind| {
        let theirs = &kind.resource;
        (theirs.group, theirs.version, theirs.plural) == (resource.group(), resource.version(), &*resource.plural)
    };
    match &resource.columns {
        Columns::Page => KINDS.iter().find(of_page).map_or(Shown::BuiltIn(&[AGE]), Shown::Kind),
        Columns::BuiltIn(columns) => Shown::BuiltIn(columns),
        Columns::Custom(columns) => Shown::Custom(columns),
    }
}

/// The `columnDefinitions` of a resource.
pub fn definitions(resource: &Resource) -> Value {
    let column = |name: &str, value_type: &str, format: &str, priority: i64| json!({"name": name, "type": value_type, "format": format, "description": "", "priority": priority});
    let name = column("Name", "string", "name", 0);
    let after_name = |rest: Vec<Value>| std::iter::once(name.clone()).chain(rest).collect::<Vec<_>>().into();
    match shown(resource) {
        Shown::Kind(kind) => {
            let columns = kind.columns.iter().map(|one| {
                let figures = matches!(one.align, Align::End) && ["DESIRED", "CURRENT", "READY"].contains(&one.title);
                let format = if one.title == "NAME" { "name" } else { "" };
                column(&in_title_case(one.title), if figures { "integer" } else { "string" }, format, one.wide.into())
            });
            if kind.leads_with_name() { after_name(columns.collect()) } else { columns.collect() }
        }
        Shown::BuiltIn(columns) => {
            after_name(columns.iter().map(|one| column(one.title, one.value_type, "", one.wide.into())).collect())
        }
        Shown::Custom(columns) => after_name(
            columns.iter().map(|one| column(&one.title, &one.value_type, &one.format, one.priority)).collect(),
        ),
    }
}

/// The `cells` of an object, as of `now`.
pub fn cells(resource: &Resource, object: &Object, now: Timestamp) -> Value {
    let name = Value::from(name_of(resource, object));
    let after_name = |rest: Vec<Value>| std::iter::once(name.clone()).chain(rest).collect::<Vec<_>>().into();
    match shown(resource) {
        Shown::Kind(kind) => {
            let cells = match kind.decode.read(&object.text()) {
                Ok(decoded) => decoded.cells.iter().map(|cell| printed(cell, now)).collect(),
                // An object that is not of its kind's shape still has its row.
                Err(_) => vec![Value::from("<unknown>"); kind.columns.len()],
            };
            if kind.leads_with_name() { after_name(cells) } else { cells.into() }
        }
        Shown::BuiltIn(columns) => {
            let value = object.to_value();
            after_name(columns.iter().map(|column| (column.cell)(&value, now)).collect())
        }
        Shown::Custom(columns) => {
            let value = object.to_value();
            after_name(columns.iter().map(|column| custom(column, &value, now)).collect())
        }
    }
}

/// The name; that of the default StorageClass says so.
fn name_of(resource: &Resource, object: &Object) -> String {
    const DEFAULT: &str = "\"storageclass.kubernetes.io/is-default-class\":\"true\"";
    let is_default = resource.plural == "storageclasses" && object.metadata_contains(DEFAULT);
    if is_default { format!("{} (default)", object.name) } else { object.name.to_string() }
}

fn printed(cell: CellRef<'_>, now: Timestamp) -> Value {
    match cell {
        CellRef::Number(number) => number.into(),
        // kubectl itself cuts texts at their line breaks.
        _ => cell.text().map_or_else(
            || {
                let mut text = String::new();
                cell.write(now, &mut text);
                text.into()
            },
            Value::from,
        ),
    }
}

/// The first value of a column's path in the column's type; null where there is none that fits.
fn custom(column: &PrinterColumn, object: &Value, now: Timestamp) -> Value {
    let found = column.path.as_ref().map(|path| path.find(object)).unwrap_or_default();
    let Some(first) = found.first() else { return Value::Null };
    match (column.value_type.as_str(), first) {
        ("integer", Value::Number(number)) => {
            number.as_i64().or(number.as_f64().map(|number| number as i64)).map_or(Value::Null, Value::from)
        }
        ("number", Value::Number(_)) | ("boolean", Value::Bool(_)) => (*first).clone(),
        ("string", Value::String(text)) => text.as_str().into(),
        ("string", Value::Null) => Value::Null,
        ("string", other) => other.to_string().into(),
        ("date", Value::String(_)) => age(&json!({ "at": first }), "/at", now),
        _ => Value::Null,
    }
}

/// `UP-TO-DATE` as `Up-to-date`, `INTERNAL-IP` as `Internal-IP`: the page has kubectl's capitals, which kubectl makes
/// itself.
fn in_title_case(title: &str) -> String {
    let part = |part: &str| match part {
        "IP" | "OS" => part.to_owned(),
        "TO" | "DATE" => part.to_lowercase(),
        _ => part[..1].to_owned() + &part[1..].to_lowercase(),
    };
    let word = |word: &str| word.split('-').map(part).collect::<Vec<_>>().join("-");
    title.split(' ').map(word).collect::<Vec<_>>().join(" ")
}
