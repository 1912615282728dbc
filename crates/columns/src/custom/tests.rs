//! Cells are compared with what a real server printed, and with its rules.

use proptest::prelude::*;
use serde_json::{Value, json};

use kubechurn_client::api::cell::Tone;
use kubechurn_client::api::object::ObjectKey;

use super::*;

/// What `kubectl` prints for one column, one hour after the time in the object.
fn printed(value_type: &str, path: &str, object: &Value) -> String {
    let column = PrinterColumn {
        name: String::from("x"),
        value_type: value_type.to_owned(),
        json_path: path.to_owned(),
        ..PrinterColumn::default()
    };
    let (_, printers) = columns(&[column]);
    let mut object = object.clone();
    object["metadata"] = json!({"name": "one"});
    let cells = printers.decode(&object.to_string()).unwrap().cells;
    let mut text = String::new();
    cells.get(0).unwrap().write(Timestamp::parse("2026-11-21T09:14:31Z").unwrap(), &mut text);
    text
}

#[test]
fn a_value_is_shown_as_its_column_takes_it() {
    let object = json!({"a": {
        "text": "words", "lines": "one\ntwo", "empty": "", "int": 3, "big": 9007199254740993_i64, "half": 2.5,
        "large": 12345678.5, "round": 4.0, "huge": 1e19, "on": true, "null": null, "list": ["x", 2], "map": {"b": 1.0, "a": "<"},
        "date": "2026-11-21T08:14:31Z", "offset": "2026-11-21T09:14:31.5+01:00", "zero": "0001-01-01T00:00:00Z",
        "lower": "2026-11-21t08:14:31z", "day": "2026-02-29T00:00:00Z", "leap": "2024-02-29T00:00:00Z",
    }});
    for (field, text, integer, number, boolean, date) in [
        ("text", "words", "", "", "", "<invalid>"),
        ("lines", "one...", "", "", "", "<invalid>"),
        ("empty", "", "", "", "", "<unknown>"),
        ("int", "3", "3", "3", "", ""),
        ("big", "9007199254740993", "9007199254740993", "9007199254740992", "", ""),
        ("half", "2.5", "2", "2.5", "", ""),
        ("large", "1.23456785e+07", "12345678", "1.23456785e+07", "", ""),
        ("round", "4", "4", "4", "", ""),
        ("huge", "1e+19", "-9223372036854775808", "1e+19", "", ""),
        ("on", "true", "", "", "true", ""),
        ("null", "<no value>", "", "", "", ""),
        ("list", r#"["x",2]"#, "", "", "", ""),
        ("map", r#"{"a":"\u003c","b":1}"#, "", "", "", ""),
        ("date", "2026-11-21T08:14:31Z", "", "", "", "60m"),
        ("offset", "2026-11-21T09:14:31.5+01:00", "", "", "", "60m"),
        ("zero", "0001-01-01T00:00:00Z", "", "", "", "<unknown>"),
        ("lower", "2026-11-21t08:14:31z", "", "", "", "<invalid>"),
        ("day", "2026-02-29T00:00:00Z", "", "", "", "<invalid>"),
        ("leap", "2024-02-29T00:00:00Z", "", "", "", "2y266d"),
        ("nothing", "", "", "", "", ""),
    ] {
        let path = format!(".a.{field}");
        for (value_type, expected) in
            [("string", text), ("integer", integer), ("number", number), ("boolean", boolean), ("date", date)]
        {
            assert_eq!(printed(value_type, &path, &object), expected, "{field} as {value_type}");
        }
        assert_eq!(printed("duration", &path, &object), "", "{field} as what is no type");
    }
    // Of several values, the first is shown. Bytes and numbers that the path itself has are not numbers of the object.
    assert_eq!(printed("string", ".a.list[*]", &object), "x");
    assert_eq!(
        (printed("string", ".a.text.*", &object), printed("integer", ".a.text.*", &object)),
        ("119".into(), "".into())
    );
    assert_eq!((printed("string", ".a 7", &object), printed("integer", ".a 7", &object)), ("7".into(), "".into()));
}

fn column(name: &str, path: &str, priority: i64) -> PrinterColumn {
    let json_path = path.to_owned();
    PrinterColumn {
        name: name.to_owned(),
        value_type: String::from("string"),
        json_path,
        priority,
        ..Default::default()
    }
}

fn titles(definition: &[PrinterColumn]) -> Vec<(&'static str, bool)> {
    columns(definition).0.iter().map(|column| (column.title, column.wide)).collect()
}

#[test]
fn columns_are_those_of_the_definition() {
    assert_eq!(titles(&[]), [("AGE", false)]);
    let definition = [column("Up to date", ".a", 0), column("größe", ".a", 1), column("x", ".c", -1)];
    assert_eq!(titles(&definition), [("UP TO DATE", false), ("GRÖßE", true), ("X", true)]);
    // Columns after an invalid path are not shown, and AGE does not come back.
    assert_eq!(titles(&[column("a", ".a", 0), column("b", ".b[", 0), column("c", ".c", 0)]), [("A", false)]);
    assert_eq!(titles(&[column("b", ".b[", 0)]), []);
}

/// Which of the columns with these paths has the state of an object, with the word and what it means.
fn state_of(paths: &[&str], object: &Value) -> Option<(usize, String, Tone)> {
    let definition: Vec<PrinterColumn> = paths.iter().map(|path| column("x", path, 0)).collect();
    let (columns, printers) = columns(&definition);
    let mut object = object.clone();
    object["metadata"] = json!({"name": "one"});
    let cells = printers.decode(&object.to_string()).unwrap().cells;
    let mut word = String::new();
    let tone = crate::state::write_state(&columns, &cells, &mut word);
    let at = columns.iter().position(|column| column.state == StatePart::Word);
    assert_eq!(at.map(|at| crate::state::tone_of_cell(&columns, &cells, at)).unwrap_or_default(), tone);
    Some((at?, word, tone))
}

#[test]
fn the_state_of_an_object_is_its_most_telling_condition_or_else_its_phase() {
    let ready = r#".status.conditions[?(@.type=="Ready")].status"#;
    let synced = ".status.conditions[?(@.type=='Synced')].status";
    let object = json!({"status": {"phase": "Failed", "state": "Running", "other": "True", "conditions": [
        {"type": "Synced", "status": "True"}, {"type": "Ready", "status": "False"}]}});
    let found = |paths: &[&str]| state_of(paths, &object);
    assert_eq!(found(&[".spec.size", ".status.phase", synced, ready]), Some((3, "False".into(), Tone::Wait)));
    assert_eq!(found(&[".status.phase", synced]), Some((1, "True".into(), Tone::Good)));
    assert_eq!(found(&[".status.state", ".status.phase"]), Some((1, "Failed".into(), Tone::Bad)));
    assert_eq!(found(&[".status.state"]), Some((0, "Running".into(), Tone::Good)));
    // What shows another member of a condition, another condition, or several is no state.
    for path in [
        r#".status.conditions[?(@.type=="Ready")].reason"#,
        r#".status.conditions[?(@.type=="Odd")].status"#,
        r#".status.conditions[?(@.type!="Ready")].status"#,
        r#".spec.conditions[?(@.type=="Ready")].status"#,
        ".status.conditions[0].status",
        ".status.other",
        ".status",
    ] {
        assert_eq!(found(&[path]), None, "{path}");
    }
    // Before a controller has written, there is no state; and a number is none.
    assert_eq!(state_of(&[ready], &json!({})), Some((0, String::new(), Tone::Plain)));
    assert_eq!(
        state_of(&[".status.phase"], &json!({"status": {"phase": null}})).map(|(_, _, tone)| tone),
        Some(Tone::Plain)
    );
}

#[test]
fn where_no_column_tells_the_state_it_is_what_the_status_says_and_shown_on_demand() {
    let state =
        PrinterColumn { name: "State".into(), value_type: STATE.into(), priority: 1, ..column("", ".status", 0) };
    let of = |own: &[PrinterColumn]| titles(&[own, std::slice::from_ref(&state)].concat());
    assert_eq!(of(&[]), [("AGE", false), ("STATE", true)]);
    assert_eq!(of(&[column("Size", ".spec.size", 0)]), [("SIZE", false), ("STATE", true)]);
    // A column of the definition's own says it, or has that title.
    assert_eq!(of(&[column("Phase", ".status.phase", 0)]), [("PHASE", false)]);
    assert_eq!(of(&[column("state", ".spec.state", 0)]), [("STATE", false)]);
    let (columns, printers) = columns(&[column("Size", ".spec.size", 0), state]);
    let said = |status: Value| {
        let object = json!({"metadata": {"name": "one"}, "status": status});
        let cells = printers.decode(&object.to_string()).unwrap().cells;
        let mut word = String::new();
        let tone = crate::state::write_state(&columns, &cells, &mut word);
        (word, tone)
    };
    let conditions = |all: &[(&str, &str)]| {
        let all: Vec<Value> = all.iter().map(|(name, status)| json!({"type": name, "status": status})).collect();
        json!({"phase": "Odd", "conditions": all})
    };
    for (status, word, tone) in [
        (conditions(&[("Synced", "True"), ("Ready", "False")]), "Ready: False", Tone::Wait),
        (conditions(&[("Synced", "True"), ("Ready", "True")]), "Ready", Tone::Good),
        (conditions(&[("Ready", "True"), ("Stalled", "True")]), "Stalled", Tone::Bad),
        (conditions(&[("Stalled", "False"), ("Ready", "Unknown")]), "Ready: Unknown", Tone::Wait),
        (conditions(&[("Accepted", "True")]), "Odd", Tone::Plain),
        (json!({"state": "Failed"}), "Failed", Tone::Bad),
        (json!({"observedGeneration": 3}), "", Tone::Plain),
        (json!({"conditions": "none", "phase": 7}), "", Tone::Plain),
        (json!({"conditions": [7, {"type": "Ready"}], "phase": "Running"}), "Running", Tone::Good),
        (json!("Running"), "", Tone::Plain),
        (Value::Null, "", Tone::Plain),
    ] {
        assert_eq!(said(status.clone()), (word.to_owned(), tone), "{status}");
    }
}

#[test]
fn columns_that_look_elsewhere_are_others() {
    let of = |path: &str| columns(&[column("a", path, 0)]).0;
    assert_eq!(of(".a"), of(".a"));
    assert_ne!(of(".a"), of(".b"));
}

#[test]
fn widgets_are_shown_as_a_real_server_shows_them() {
    let table: Value =
        serde_json::from_str(include_str!("../../../../tests/fixtures/tables/widgets.example.org.json")).unwrap();
    let definition: Value = serde_json::from_str(include_str!(
        "../../../../tests/fixtures/lists/customresourcedefinitions.apiextensions.k8s.io.json"
    ))
    .unwrap();
    let mut definition = definition["items"][0].clone();
    definition["kind"] = "CustomResourceDefinition".into();
    let definition = kubechurn_client::api::definition::read(&definition.to_string(), "v1").unwrap();
    let (columns, printers) = columns(&definition);
    let expected: Vec<(String, bool)> = table["columns"].as_array().unwrap()[1..]
        .iter()
        .map(|column| (column["name"].as_str().unwrap().to_uppercase(), column["priority"] != 0))
        .collect();
    let titles: Vec<(String, bool)> = columns.iter().map(|column| (column.title.to_owned(), column.wide)).collect();
    assert_eq!(titles, expected);
    // Sat, 21 Nov 2026 08:15:56 GMT
    let now = Timestamp::parse("2026-11-21T08:15:56Z").unwrap();
    for row in table["rows"].as_array().unwrap() {
        let object = printers.decode(&row["object"].to_string()).unwrap();
        assert_eq!(object.key.name, row["cells"][0].as_str().unwrap().into());
        let expected = row["cells"].as_array().unwrap()[1..].iter().map(|cell| match cell {
            Value::Null => String::new(),
            Value::String(text) => text.clone(),
            other => other.to_string(),
        });
        let cells = object.cells.iter().map(|cell| {
            let mut text = String::new();
            cell.write(now, &mut text);
            text
        });
        assert_eq!(cells.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
    }
}

#[test]
fn a_row_costs_no_more_than_its_name_needs() {
    let (_, printers) = columns(&[column("a", ".a.b", 0), column("n", ".metadata.name", 0), column("d", "..b", 0)]);
    for text in
        [r#"{"metadata":{"name":"one","namespace":"shop"}}"#, r#"{"a":7,"metadata":{"name":"one","namespace":"shop"}}"#]
    {
        let object = printers.decode(text).unwrap();
        assert_eq!(object.key, ObjectKey::new("shop", "one"));
        assert_eq!(object.cells, [Cell::Static(""), Cell::Text("one".into()), Cell::Static("")].into(), "{text}");
    }
    for text in ["", "7", "[]", "{}", r#"{"metadata":{}}"#, r#"{"metadata":[]}"#, r#"{"metadata":{"name":"one"}"#] {
        assert!(printers.decode(text).is_err(), "{text}");
    }
}

proptest! {
    #[test]
    fn nothing_panics(path in "[.@\\[\\]?()'*:,=a-c0-9]{0,16}", text in r#"[{}\[\]":,a-c0-9. \\]{0,40}"#, value_type in "(string|integer|number|boolean|date)") {
        let column = PrinterColumn { json_path: path, value_type, ..PrinterColumn::default() };
        let (_, printers) = columns(&[column]);
        let _ = printers.decode(&text);
        let _ = printers.decode(&format!("{{\"metadata\":{{\"name\":\"x\"}},\"a\":{text}}}"));
    }
}
