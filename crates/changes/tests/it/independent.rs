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

/// Who wrote `new`: those whose entry is new or of another time, or else those whose entry has a field more, or else the one
/// who owns what changed.
pub fn writers(old: &Value, new: &Value) -> Vec<(String, String)> {
    let entries = |object: &Value| object["metadata"]["managedFields"].as_array().cloned().unwrap_or_default();
    let role = |entry: &Value| ["manager", "operation", "subresource", "apiVersion"].map(|name| entry[name].clone());
    let (before, after) = (entries(old), entries(new));
    let was = |entry: &Value| before.iter().find(|old| role(old) == role(entry));
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let names = |found: Vec<&Value>| {
        let mut names: Vec<(String, String)> = Vec::new();
        for name in found.into_iter().map(|entry| (word(&entry["manager"]), word(&entry["subresource"]))) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    };
    let moved: Vec<&Value> =
        after.iter().filter(|entry| was(entry).is_none_or(|old| old["time"] != entry["time"])).collect();
    if !moved.is_empty() {
        return names(moved);
    }
    let has_more = |old: &Value, entry: &Value| {
        let known = owned(&old["fieldsV1"]);
        owned(&entry["fieldsV1"]).iter().any(|path| !known.contains(path))
    };
    let more: Vec<&Value> = after.iter().filter(|entry| was(entry).is_some_and(|old| has_more(old, entry))).collect();
    if !more.is_empty() {
        return names(more);
    }
    let count = |entry: &Value| {
        let all = owned(&entry["fieldsV1"]);
        let is_leaf = |path: &&Vec<String>| {
            path.last().is_some_and(|step| step != ".")
                && !all.iter().any(|other| other.len() > path.len() && other.starts_with(path))
        };
        all.iter().filter(is_leaf).filter(|path| at(new, path).is_some() && at(new, path) != at(old, path)).count()
    };
    let counts: Vec<usize> = after.iter().map(count).collect();
    let most = counts.iter().copied().max().unwrap_or_default();
    let owners: Vec<&Value> =
        after.iter().zip(&counts).filter(|(_, count)| **count == most).map(|(entry, _)| entry).collect();
    if most > 0 && owners.len() == 1 { names(owners) } else { Vec::new() }
}

/// All paths of a set of fields.
fn owned(fields: &Value) -> Vec<Vec<String>> {
    let mut paths = Vec::new();
    for (step, below) in fields.as_object().into_iter().flatten() {
        paths.push(vec![step.clone()]);
        paths.extend(owned(below).into_iter().map(|path| [vec![step.clone()], path].concat()));
    }
    paths
}

/// The value to which a path of a set of fields leads.
fn at<'a>(value: &'a Value, path: &[String]) -> Option<&'a Value> {
    path.iter().try_fold(value, |value, step| match step.split_once(':')? {
        ("f", name) => value.get(name),
        (step, wanted) => {
            let wanted: Value = serde_json::from_str(wanted).ok()?;
            value.as_array()?.iter().enumerate().find_map(|(at, item)| {
                let is_it = match step {
                    "k" => wanted.as_object()?.iter().all(|(name, value)| item.get(name) == Some(value)),
                    "v" => *item == wanted,
                    _ => wanted == at,
                };
                is_it.then_some(item)
            })
        }
    })
}
