//! `metadata.managedFields`: which manager wrote which fields last, and when.

use serde_json::{Map, Value, json};

/// The write of a manager.
#[derive(Debug, Clone, Copy)]
pub struct Writer<'a> {
    /// The name of the manager.
    pub manager: &'a str,
    /// `Update` or `Apply`.
    pub operation: &'static str,
    /// `status`, `scale`, or empty.
    pub subresource: &'static str,
    /// The version in which the fields are written.
    pub api_version: &'a str,
    /// The time of the write.
    pub now: &'a str,
}

/// Fields of metadata that the server maintains itself.
const OWN: [&str; 10] = [
    "name",
    "namespace",
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "managedFields",
    "selfLink",
];

/// Records in `after` what `writer` has changed compared with `before`: the changed fields are now the writer's alone.
pub fn stamp(before: &Value, after: &mut Value, writer: Writer<'_>) {
    let (mut changed, mut new) = (Map::new(), Map::new());
    for (field, value) in after.as_object().into_iter().flatten() {
        let (old, value) = match field.as_str() {
            "kind" | "apiVersion" => continue,
            "metadata" => (without_own(&before["metadata"]), without_own(value)),
            _ => (before.get(field).cloned().unwrap_or_default(), value.clone()),
        };
        if let Some(tree) = difference(&old, &value) {
            changed.insert(format!("f:{field}"), tree);
        }
    }
    let metadata = &mut after["metadata"];
    let known = metadata["managedFields"].as_array().cloned().unwrap_or_default();
    let is_own = |entry: &Value| {
        let text = |field: &str| entry[field].as_str().unwrap_or_default();
        (text("manager"), text("operation"), text("subresource"))
            == (writer.manager, writer.operation, writer.subresource)
    };
    let mut entries = Vec::new();
    for mut entry in known.into_iter().filter(Value::is_object) {
        if is_own(&entry) {
            new = entry["fieldsV1"].as_object_mut().map(std::mem::take).unwrap_or_default();
            continue;
        }
        if let Some(fields) = entry["fieldsV1"].as_object_mut() {
            subtract(fields, &changed);
            if fields.is_empty() {
                continue;
            }
        }
        entries.push(entry);
    }
    add(&mut new, changed);
    let mut entry = json!({"manager": writer.manager, "operation": writer.operation,
        "apiVersion": writer.api_version, "time": writer.now, "fieldsType": "FieldsV1", "fieldsV1": new});
    if !writer.subresource.is_empty() {
        entry["subresource"] = writer.subresource.into();
    }
    entries.push(entry);
    metadata["managedFields"] = entries.into();
}

fn without_own(metadata: &Value) -> Value {
    let mut metadata = metadata.clone();
    if let Some(fields) = metadata.as_object_mut() {
        fields.retain(|field, _| !OWN.contains(&field.as_str()));
    }
    metadata
}

/// The fields of `new` that differ from `old`, as a tree of `f:` names; a list counts as one field.
fn difference(old: &Value, new: &Value) -> Option<Value> {
    if old == new {
        return None;
    }
    let Value::Object(fields) = new else { return Some(json!({})) };
    let changed = fields.iter().filter_map(|(field, value)| {
        Some((format!("f:{field}"), difference(old.get(field).unwrap_or(&Value::Null), value)?))
    });
    let changed: Map<String, Value> = changed.collect();
    // An object that only lost fields has no fields to record.
    if changed.is_empty() && old.is_object() { None } else { Some(changed.into()) }
}

fn add(fields: &mut Map<String, Value>, more: Map<String, Value>) {
    for (field, value) in more {
        match (fields.entry(field).or_insert_with(|| json!({})), value) {
            (Value::Object(inner), Value::Object(value)) => add(inner, value),
            (inner, value) => *inner = value,
        }
    }
}

fn subtract(fields: &mut Map<String, Value>, gone: &Map<String, Value>) {
    fields.retain(|field, inner| match (inner, gone.get(field)) {
        (_, None) => true,
        (Value::Object(inner), Some(Value::Object(gone))) if !inner.is_empty() && !gone.is_empty() => {
            subtract(inner, gone);
            !inner.is_empty()
        }
        _ => false,
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the owners of fields after some writes: `manager: fields`.
    fn check(writes: &[(&str, Value)], expected: &[(&str, Value)]) {
        let mut object = json!({"metadata": {}});
        for (manager, spec) in writes {
            let before = object.clone();
            object["spec"] = spec.clone();
            let writer = Writer { manager, operation: "Update", subresource: "", api_version: "v1", now: "now" };
            stamp(&before, &mut object, writer);
        }
        let entries = object["metadata"]["managedFields"].as_array().unwrap();
        let got: Vec<(&str, Value)> =
            entries.iter().map(|one| (one["manager"].as_str().unwrap(), one["fieldsV1"].clone())).collect();
        assert_eq!(got, expected);
    }

    #[test]
    fn the_last_writer_has_the_field() {
        let spec = json!({"a": 1, "b": {"c": 2, "d": [3]}});
        let all = json!({"f:spec": {"f:a": {}, "f:b": {"f:c": {}, "f:d": {}}}});
        check(&[("one", spec.clone())], &[("one", all)]);
        check(
            &[("one", spec.clone()), ("two", json!({"a": 1, "b": {"c": 7, "d": [3]}}))],
            &[
                ("one", json!({"f:spec": {"f:a": {}, "f:b": {"f:d": {}}}})),
                ("two", json!({"f:spec": {"f:b": {"f:c": {}}}})),
            ],
        );
        check(
            &[("one", json!({"a": 1})), ("two", json!({"a": 2})), ("one", json!({"a": 2, "b": 1}))],
            &[("two", json!({"f:spec": {"f:a": {}}})), ("one", json!({"f:spec": {"f:b": {}}}))],
        );
    }
}
