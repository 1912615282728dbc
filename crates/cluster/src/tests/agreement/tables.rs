//! The recorded Tables: the columns, and the cells of the same objects at the same moment.

use std::collections::BTreeSet;
use std::sync::Arc;

use kubechurn_client::api::time::Timestamp;
use serde_json::{Value, json};

use super::*;
use crate::printers::table;
use crate::resources::definition;
use crate::resources::object::Draft;
use crate::resources::registry::Registry;

/// A registry with the recorded definition of Widgets.
fn registry() -> Registry {
    let table: Value =
        serde_json::from_str(fixture!("tables/customresourcedefinitions.apiextensions.k8s.io.json")).unwrap();
    let registry = Registry::default();
    for row in table["rows"].as_array().unwrap() {
        let name = row["object"]["metadata"]["name"].as_str().unwrap();
        registry.define(name, 1, definition::resources(&row["object"], registry.id_of("u")).unwrap());
    }
    registry
}

/// Parses a date in an HTTP header, such as `Sat, 21 Nov 2026 08:15:55 GMT`.
fn moment(date: &str) -> Timestamp {
    Timestamp(jiff::fmt::rfc2822::DateTimeParser::new().parse_timestamp(date).unwrap().as_second())
}

/// Compares the name, type, format and priority of each column, and each cell.
#[test]
fn tables_are_as_recorded() {
    let registry = registry();
    let mut found = BTreeSet::new();
    for (name, text) in of_each_resource!("tables") {
        let recorded: Value = serde_json::from_str(text).unwrap();
        let Some(resource) = registry.by_name(name) else {
            found.insert(format!("{name}: not served"));
            continue;
        };
        let ours = table::definitions(&resource);
        let [theirs, ours] = [&recorded["columns"], &ours].map(|columns| columns.as_array().unwrap().clone());
        if theirs.len() != ours.len() {
            found.insert(format!("{name}: {} columns for {}", ours.len(), theirs.len()));
            continue;
        }
        for (theirs, ours) in theirs.iter().zip(&ours) {
            for field in ["name", "type", "format", "priority"] {
                if theirs[field] != ours[field] {
                    found.insert(format!("{name}: {}.{field}: {} for {}", theirs["name"], ours[field], theirs[field]));
                }
            }
        }
        let now = moment(recorded["date"].as_str().unwrap());
        for row in recorded["rows"].as_array().unwrap() {
            let object = Draft::from_value(row["object"].clone()).unwrap().into_object(&resource, 1);
            let cells = table::cells(&resource, &Arc::new(object), now);
            for (index, column) in theirs.iter().enumerate() {
                let (theirs, ours) = (&row["cells"][index], cells.get(index).unwrap_or(&json!(null)).clone());
                if *theirs != ours {
                    found.insert(format!("{name}: cell {}: {ours} for {theirs}", column["name"]));
                }
            }
        }
    }
    check("Tables", &found);
}
