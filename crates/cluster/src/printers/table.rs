//! Tables: what `kubectl get` prints, cell by cell. Resources that the page knows have the page's columns.

use kubechurn_client::api::cell::CellRef;
use kubechurn_client::api::time::Timestamp;
use kubechurn_columns::column::Column;
use kubechurn_columns::kinds::{Kind, printed_by};
use serde_json::Value;

use crate::printers::columns::{COMPONENT, component, definition, is_text, is_truth, name, value_type};
use crate::resources::builtin::RELEASE;
use crate::resources::columns::Columns;
use crate::resources::object::Object;
use crate::resources::printer_column::PrinterColumn;
use crate::resources::resource::Resource;

/// The page's kind of a resource, with the columns of the release that the demo cluster claims to be.
fn kind_of(resource: &Resource) -> Option<&'static Kind> {
    printed_by(Some(RELEASE)).find(|kind| {
        let theirs = &kind.resource;
        (theirs.group, theirs.version, theirs.plural) == (resource.group(), resource.version(), &*resource.plural)
    })
}

/// The `columnDefinitions` of a resource.
pub fn definitions(resource: &Resource) -> Value {
    let word = |name: &str| definition(name, "string", "", 0);
    let mut definitions = vec![definition("Name", "string", "name", 0)];
    match (&resource.columns, kind_of(resource)) {
        (Columns::Custom(columns), _) => {
            let custom = |one: &PrinterColumn| definition(&one.name, &one.value_type, &one.format, one.priority);
            definitions.extend(columns.iter().map(custom));
        }
        (Columns::Component, _) => definitions.extend(COMPONENT.map(word)),
        (Columns::Page, None) => definitions.push(word("Age")),
        (Columns::Page, Some(kind)) => {
            if !kind.leads_with_name() {
                definitions.clear();
            }
            definitions.extend(kind.columns.iter().map(|one| {
                let format = if one.title == "NAME" { "name" } else { "" };
                definition(&name(one), value_type(kind, one), format, one.wide.into())
            }));
        }
    }
    definitions.into()
}

/// The `cells` of an object, as of `now`.
pub fn cells(resource: &Resource, object: &Object, now: Timestamp) -> Value {
    let mut cells = vec![Value::from(&*object.name)];
    match (&resource.columns, kind_of(resource)) {
        (Columns::Custom(columns), _) => {
            let text = object.text();
            cells.extend(columns.iter().map(|column| column.cell(&text, now)));
        }
        (Columns::Component, _) => cells.extend(component(&object.to_value())),
        (Columns::Page, None) => {
            cells.push(age(object.to_value()["metadata"]["creationTimestamp"].as_str().unwrap_or_default(), now));
        }
        (Columns::Page, Some(kind)) => {
            if !kind.leads_with_name() {
                cells.clear();
            }
            match kind.decode.read(&object.text()) {
                Ok(decoded) => {
                    let pairs = kind.columns.iter().zip(&decoded.cells);
                    cells.extend(pairs.map(|(column, cell)| printed(column, cell, now)));
                }
                // An object that does not have the shape of its kind still has a row.
                Err(_) => cells.extend(vec![Value::from("<unknown>"); kind.columns.len()]),
            }
        }
    }
    cells.into()
}

fn printed(column: &Column, cell: CellRef<'_>, now: Timestamp) -> Value {
    match cell {
        CellRef::Number(number) if !is_text(column) => number.into(),
        CellRef::Text("true") if is_truth(column) => true.into(),
        CellRef::Text("false") if is_truth(column) => false.into(),
        // kubectl cuts texts at line breaks itself.
        _ => cell.text().map_or_else(|| written(cell, now), Value::from),
    }
}

fn written(cell: CellRef<'_>, now: Timestamp) -> Value {
    let mut text = String::new();
    cell.write(now, &mut text);
    text.into()
}

/// The time since a point in time, as kubectl prints it.
fn age(since: &str, now: Timestamp) -> Value {
    written(CellRef::Age(Timestamp::parse_set(since)), now)
}
