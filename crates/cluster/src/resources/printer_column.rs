//! The printer columns of CustomResourceDefinitions: the page's evaluation, in the form of the server's Table.

use std::ops::Deref;

use kubechurn_client::api::cell::Cell;
use kubechurn_client::api::definition;
use kubechurn_client::api::time::Timestamp;
use kubechurn_columns::custom::Printer;
use serde_json::Value;

/// An entry of `additionalPrinterColumns`.
#[derive(Debug, Clone)]
pub struct PrinterColumn {
    column: definition::PrinterColumn,
    printer: Printer,
}

impl Deref for PrinterColumn {
    type Target = definition::PrinterColumn;

    fn deref(&self) -> &definition::PrinterColumn {
        &self.column
    }
}

impl PrinterColumn {
    /// Reads a column; `None` if its path is not valid.
    pub fn of(column: &Value) -> Option<Self> {
        let text = |field: &str| column[field].as_str().unwrap_or_default().to_owned();
        let column = definition::PrinterColumn {
            name: text("name"),
            value_type: text("type"),
            format: text("format"),
            priority: column["priority"].as_i64().unwrap_or_default(),
            json_path: text("jsonPath"),
        };
        Some(Self { printer: Printer::of(&column)?, column })
    }

    /// The cell of an object at the time `now`; null if there is no value of the column's type.
    pub fn cell(&self, object: &str, now: Timestamp) -> Value {
        match self.printer.cell(object) {
            None => Value::Null,
            Some(Cell::Number(number)) => number.into(),
            Some(Cell::Float(number)) => number.into(),
            Some(Cell::Static(truth)) if self.column.value_type == "boolean" => (truth == "true").into(),
            // kubectl cuts texts at line breaks itself.
            Some(cell) => cell.text().map_or_else(
                || {
                    let mut text = String::new();
                    cell.write(now, &mut text);
                    text.into()
                },
                Value::from,
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn cells_have_the_types_of_json() {
        let object = r#"{"a":{"text":"one\ntwo","int":3,"half":0.5,"on":true,"date":"2026-11-21T08:14:31Z"}}"#;
        for (value_type, field, expected) in [
            ("string", "text", json!("one\ntwo")),
            ("string", "int", json!("3")),
            ("integer", "int", json!(3)),
            ("integer", "text", Value::Null),
            ("number", "half", json!(0.5)),
            ("boolean", "on", json!(true)),
            ("date", "date", json!("60m")),
            ("date", "nothing", Value::Null),
        ] {
            let column = json!({"name": "x", "type": value_type, "jsonPath": format!(".a.{field}")});
            let column = PrinterColumn::of(&column).unwrap();
            let now = Timestamp::parse("2026-11-21T09:14:31Z").unwrap();
            assert_eq!(column.cell(object, now), expected, "{field} as {value_type}");
        }
        assert!(PrinterColumn::of(&json!({"jsonPath": ".a["})).is_none());
    }
}
