//! Strategic merge patches: like merge patches, but some lists are merged by a key, and there are directives.

use serde_json::{Map, Value};

/// The lists that are merged, each with its merge keys. The name of a list determines its key, as in the API's types;
/// only `ports` has two, because the key in a container is not that in a Service.
const KEYS: &[(&str, &[&str])] = &[
    ("addresses", &["type"]),
    ("conditions", &["type"]),
    ("containers", &["name"]),
    ("env", &["name"]),
    ("ephemeralContainers", &["name"]),
    ("hostAliases", &["ip"]),
    ("imagePullSecrets", &["name"]),
    ("initContainers", &["name"]),
    ("ownerReferences", &["uid"]),
    ("podIPs", &["ip"]),
    ("ports", &["containerPort", "port"]),
    ("resourceClaims", &["name"]),
    ("schedulingGates", &["name"]),
    ("secrets", &["name"]),
    ("taints", &["key"]),
    ("topologySpreadConstraints", &["topologyKey"]),
    ("volumeDevices", &["devicePath"]),
    ("volumeMounts", &["mountPath"]),
    ("volumes", &["name"]),
];

/// Lists of strings that are merged as sets.
const SETS: &[&str] = &["finalizers"];

/// Merges a patch into an object. The error is a message about the patch.
pub fn patch(target: &mut Value, patch: Value) -> Result<(), String> {
    let Value::Object(mut patch) = patch else {
        *target = patch;
        return Ok(());
    };
    match patch.remove("$patch").as_ref().map(|directive| directive.as_str().unwrap_or_default()) {
        None | Some("merge") => {}
        Some("replace") => {
            *target = Value::Object(patch);
            return Ok(());
        }
        Some("delete") => {
            *target = Value::Object(Map::new());
            return Ok(());
        }
        Some(other) => return Err(format!("unknown patch type: {other}")),
    }
    if !target.is_object() {
        *target = Value::Object(Map::new());
    }
    let Value::Object(target) = target else { return Ok(()) };
    let mut orders = Vec::new();
    for (field, value) in patch {
        if let Some(list) = field.strip_prefix("$setElementOrder/") {
            orders.push((list.to_owned(), value));
        } else if let Some(list) = field.strip_prefix("$deleteFromPrimitiveList/") {
            let gone = value.as_array().map_or(&[][..], Vec::as_slice);
            if let Some(Value::Array(all)) = target.get_mut(list) {
                all.retain(|one| !gone.contains(one));
            }
        } else if field == "$retainKeys" {
            let kept = value.as_array().map_or(&[][..], Vec::as_slice);
            target.retain(|field, _| kept.iter().any(|one| one == field));
        } else if value.is_null() {
            target.remove(&field);
        } else {
            member(target, field, value)?;
        }
    }
    for (list, order) in orders {
        check_length(
            target.get(&list).and_then(Value::as_array).map_or(0, Vec::len),
            order.as_array().map_or(0, Vec::len),
        )?;
        if let (Some(Value::Array(all)), Value::Array(order)) = (target.get_mut(&list), order) {
            sort(all, &order, key_of(&list, &order));
        }
    }
    Ok(())
}

fn member(target: &mut Map<String, Value>, field: String, value: Value) -> Result<(), String> {
    let Value::Array(new) = value else {
        return patch(target.entry(field).or_insert(Value::Null), value);
    };
    if let Some(key) = key_of(&field, &new) {
        let old = target.entry(field).or_insert(Value::Null);
        let mut all = std::mem::take(old.as_array_mut().unwrap_or(&mut Vec::new()));
        merge_list(&mut all, new, key)?;
        *old = all.into();
    } else if SETS.contains(&field.as_str()) {
        let old = target.entry(field).or_insert(Value::Null);
        let mut all = old.as_array().cloned().unwrap_or_default();
        for one in new {
            if !all.contains(&one) {
                all.push(one);
            }
        }
        *old = all.into();
    } else {
        // The list is atomic: it is replaced anyway, so the directive to replace it is dropped.
        let new: Vec<Value> = new.into_iter().filter(|one| one.get("$patch").is_none()).collect();
        target.insert(field, new.into());
    }
    Ok(())
}

/// The merge key of a list, if the list is merged.
fn key_of(field: &str, elements: &[Value]) -> Option<&'static str> {
    let (_, keys) = KEYS.iter().find(|(list, _)| *list == field)?;
    let used = |key: &&&str| elements.iter().any(|element| element.get(**key).is_some());
    keys.iter().find(used).or(keys.first()).copied()
}

fn merge_list(all: &mut Vec<Value>, new: Vec<Value>, key: &str) -> Result<(), String> {
    check_length(all.len().saturating_add(new.len()), new.len())?;
    let directive = |one: &Value| one.get("$patch").and_then(Value::as_str).map(str::to_owned);
    if new.iter().any(|one| directive(one).as_deref() == Some("replace")) {
        *all = new.into_iter().filter(|one| directive(one).is_none()).collect();
        return Ok(());
    }
    for mut one in new {
        let Some(name) = one.get(key).cloned() else {
            return Err(format!("map: {one} does not contain declared merge key: {key}"));
        };
        let is_same = |other: &Value| other.get(key) == Some(&name);
        if directive(&one).as_deref() == Some("delete") {
            all.retain(|other| !is_same(other));
            continue;
        }
        match all.iter_mut().find(|other| is_same(other)) {
            Some(other) => patch(other, one)?,
            None => {
                // A new element is merged into an empty value, so that no directive remains in it.
                let mut fresh = Value::Null;
                patch(&mut fresh, one.take())?;
                all.push(fresh);
            }
        }
    }
    Ok(())
}

/// Refuses lists whose merging would take too long: each element is searched for in the other list.
fn check_length(one: usize, other: usize) -> Result<(), String> {
    const MOST: usize = 4_000_000;
    if one.saturating_mul(other) > MOST { Err("the lists are too long to be merged".to_owned()) } else { Ok(()) }
}

/// Sorts elements into an order. An element that the order does not name stays behind its predecessor.
fn sort(all: &mut Vec<Value>, order: &[Value], key: Option<&str>) {
    let name = |one: &Value| match key {
        Some(key) => one.get(key).cloned().unwrap_or_default(),
        None => one.clone(),
    };
    let names: Vec<Value> = order.iter().map(name).collect();
    let place = |one: &Value| names.iter().position(|other| *other == name(one));
    let mut placed: Vec<(usize, Value)> = Vec::with_capacity(all.len());
    let mut last = 0;
    for one in all.drain(..) {
        // The position plus one, so that 0 comes before all positions.
        last = place(&one).map_or(last, |place| place + 1);
        placed.push((last, one));
    }
    placed.sort_by_key(|(place, one)| (*place, names.iter().all(|other| *other != name(one))));
    *all = placed.into_iter().map(|(_, one)| one).collect();
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(target: Value, with: Value, expected: Value) {
        let mut got = target.clone();
        patch(&mut got, with.clone()).unwrap();
        assert_eq!(got, expected, "{target} patched with {with}");
    }

    #[test]
    fn lists_are_merged_by_their_keys() {
        let pod =
            json!({"containers": [{"name": "a", "image": "1", "env": [{"name": "X", "value": "1"}]}, {"name": "b"}]});
        check(
            pod.clone(),
            json!({"containers": [{"name": "a", "image": "2"}, {"name": "c", "image": "3"}]}),
            json!({"containers": [{"name": "a", "image": "2", "env": [{"name": "X", "value": "1"}]}, {"name": "b"},
                {"name": "c", "image": "3"}]}),
        );
        check(
            pod.clone(),
            json!({"containers": [{"name": "a", "env": [{"name": "X", "$patch": "delete"}, {"name": "Y", "value": "2"}]}]}),
            json!({"containers": [{"name": "a", "image": "1", "env": [{"name": "Y", "value": "2"}]}, {"name": "b"}]}),
        );
        check(
            pod.clone(),
            json!({"containers": [{"$patch": "replace"}, {"name": "c"}]}),
            json!({"containers": [{"name": "c"}]}),
        );
        check(
            pod,
            json!({"$setElementOrder/containers": [{"name": "b"}, {"name": "c"}, {"name": "a"}], "containers": [{"name": "c"}]}),
            json!({"containers": [{"name": "b"}, {"name": "c"},
                {"name": "a", "image": "1", "env": [{"name": "X", "value": "1"}]}]}),
        );
        check(
            json!({"ports": [{"port": 80}, {"port": 443}]}),
            json!({"ports": [{"port": 80, "targetPort": 8080}]}),
            json!({"ports": [{"port": 80, "targetPort": 8080}, {"port": 443}]}),
        );
        check(
            json!({"ports": [{"containerPort": 1}]}),
            json!({"ports": [{"containerPort": 2}]}),
            json!({"ports": [{"containerPort": 1}, {"containerPort": 2}]}),
        );
    }

    #[test]
    fn other_lists_are_sets_or_replaced() {
        check(json!({"finalizers": ["a"]}), json!({"finalizers": ["b", "a"]}), json!({"finalizers": ["a", "b"]}));
        check(
            json!({"finalizers": ["a", "b"]}),
            json!({"$deleteFromPrimitiveList/finalizers": ["a"]}),
            json!({"finalizers": ["b"]}),
        );
        check(json!({"args": ["a"]}), json!({"args": ["b"]}), json!({"args": ["b"]}));
        check(
            json!({"tolerations": [{"key": "a"}]}),
            json!({"tolerations": [{"key": "b"}]}),
            json!({"tolerations": [{"key": "b"}]}),
        );
    }

    #[test]
    fn maps_are_merged_replaced_and_emptied() {
        check(json!({"a": {"b": 1, "c": 2}}), json!({"a": {"b": null}}), json!({"a": {"c": 2}}));
        check(json!({"a": {"b": 1}}), json!({"a": {"$patch": "replace", "c": 2}}), json!({"a": {"c": 2}}));
        check(json!({"a": {"b": 1}}), json!({"a": {"$patch": "delete"}}), json!({"a": {}}));
        check(
            json!({"strategy": {"type": "RollingUpdate", "rollingUpdate": {}}}),
            json!({"strategy": {"$retainKeys": ["type"], "type": "Recreate"}}),
            json!({"strategy": {"type": "Recreate"}}),
        );
    }

    #[test]
    fn what_an_order_does_not_name_stays_where_it_was() {
        let names = |all: &[&str]| all.iter().map(|name| json!({ "name": name })).collect::<Vec<_>>();
        for (before, order, after) in [
            (&["a", "b", "x", "c"][..], &["c", "b", "a"][..], &["c", "b", "x", "a"][..]),
            (&["x", "a", "b"], &["b", "a"], &["x", "b", "a"]),
            (&["a", "b"], &["b"], &["a", "b"]),
        ] {
            let mut all = names(before);
            sort(&mut all, &names(order), Some("name"));
            assert_eq!(all, names(after), "{before:?} {order:?}");
        }
    }

    #[test]
    fn a_patch_that_cannot_be_merged_is_an_error() {
        let long: Vec<Value> = (0..3000).map(|name| json!({ "name": name })).collect();
        for wrong in [
            json!({ "containers": long }),
            json!({"containers": [{"image": "x"}]}),
            json!({"containers": ["x"]}),
            json!({"a": {"$patch": "burn"}}),
        ] {
            assert!(patch(&mut json!({}), wrong.clone()).is_err(), "{wrong}");
        }
    }
}
