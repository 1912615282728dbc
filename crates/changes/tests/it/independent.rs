//! The same answers computed in another way: on values, whole lists and maps.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

/// A field that differs, by its path: the old and the new value.
pub type Fields = BTreeMap<String, (Option<Value>, Option<Value>)>;

/// The fields in which two objects differ.
pub fn diff(old: &Value, new: &Value) -> Fields {
    let mut fields = Fields::new();
    compare("", "", (Some(old), Some(new)), &mut fields);
    fields
}

fn compare(path: &str, list: &str, (old, new): (Option<&Value>, Option<&Value>), fields: &mut Fields) {
    if old == new {
        return;
    }
    match (old, new) {
        (Some(Value::Object(old)), Some(Value::Object(new))) => {
            for name in old.keys().chain(new.keys()).collect::<BTreeSet<_>>() {
                compare(&member(path, name), name, (old.get(name), new.get(name)), fields);
            }
        }
        (Some(Value::Array(old)), Some(Value::Array(new))) if path != "metadata.managedFields" => {
            match (by_name(list, old), by_name(list, new)) {
                (Some(before), Some(after)) => {
                    let count = fields.len();
                    for name in before.keys().chain(after.keys()).collect::<BTreeSet<_>>() {
                        let pair = (before.get(name).copied(), after.get(name).copied());
                        compare(&format!("{path}[{name}]"), "", pair, fields);
                    }
                    if count == fields.len() {
                        fields.insert(path.into(), (Some(old.clone().into()), Some(new.clone().into())));
                    }
                }
                _ => {
                    let mut start = 0;
                    while start < old.len().min(new.len()) && old[start] == new[start] {
                        start += 1;
                    }
                    let mut end = 0;
                    while end < old.len().min(new.len()) - start && old[old.len() - 1 - end] == new[new.len() - 1 - end]
                    {
                        end += 1;
                    }
                    for at in start..(old.len() - end).max(new.len() - end) {
                        let item = |list: &'_ [Value]| (at < list.len() - end).then(|| list[at].clone());
                        let (old, new) = (item(old), item(new));
                        compare(&format!("{path}[{at}]"), "", (old.as_ref(), new.as_ref()), fields);
                    }
                }
            }
        }
        _ => {
            fields.insert(path.into(), (old.cloned(), new.cloned()));
        }
    }
}

fn member(path: &str, name: &str) -> String {
    let plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-$".contains(&byte));
    match (plain && !name.is_empty(), path.is_empty()) {
        (false, _) => format!("{path}[{name:?}]"),
        (true, true) => name.into(),
        (true, false) => format!("{path}.{name}"),
    }
}

/// The items of the lists that the recording holds, by what names them.
fn by_name<'a>(list: &str, items: &'a [Value]) -> Option<BTreeMap<String, &'a Value>> {
    let name = |item: &Map<String, Value>| -> Option<String> {
        let word = |name: &str| match item.get(name)? {
            Value::String(word) => Some(word.clone()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        };
        match list {
            "conditions" | "addresses" => word("type"),
            "ownerReferences" => word("uid"),
            "podIPs" | "hostIPs" => word("ip"),
            "endpoints" => Some(item.get("targetRef")?.get("name")?.as_str()?.to_owned()),
            "taints" | "tolerations" => Some(format!("{}/{}", word("key")?, word("effect")?)),
            "ports" => Some(format!("{}/{}", word("containerPort").or_else(|| word("port"))?, word("protocol")?)),
            _ => word("name").or_else(|| word("type")),
        }
    };
    let names: Option<BTreeMap<String, &Value>> =
        items.iter().map(|item| Some((name(item.as_object()?)?, item))).collect();
    names.filter(|names| names.len() == items.len())
}

/// Who wrote `new`: those whose entry is new or of another time, or else those whose entry has other fields.
pub fn writers(old: &Value, new: &Value) -> Vec<(String, String)> {
    let entries = |object: &Value| object["metadata"]["managedFields"].as_array().cloned().unwrap_or_default();
    let role = |entry: &Value| ["manager", "operation", "subresource", "apiVersion"].map(|name| entry[name].clone());
    let (before, after) = (entries(old), entries(new));
    let with = |parts: &[&str]| -> Vec<(String, String)> {
        let known = |entry: &Value| {
            before.iter().any(|old| role(old) == role(entry) && parts.iter().all(|part| old[part] == entry[part]))
        };
        let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let mut found: Vec<_> = after.iter().filter(|entry| !known(entry)).collect();
        found.dedup_by_key(|entry| (word(&entry["manager"]), word(&entry["subresource"])));
        found.iter().map(|entry| (word(&entry["manager"]), word(&entry["subresource"]))).collect()
    };
    let by_time = with(&["time"]);
    if !by_time.is_empty() {
        return by_time;
    }
    let by_fields = with(&["time", "fieldsV1"]);
    let size = |entries: &[Value], writer: &(String, String)| -> usize {
        let own = |entry: &&Value| {
            entry["manager"] == *writer.0 && entry["subresource"].as_str().unwrap_or_default() == writer.1
        };
        entries.iter().filter(own).map(|entry| entry["fieldsV1"].to_string().len()).sum()
    };
    let gains = |writer: &&(String, String)| size(&before, writer) < size(&after, writer);
    let gained: Vec<_> = by_fields.iter().filter(gains).cloned().collect();
    if gained.is_empty() { by_fields } else { gained }
}
