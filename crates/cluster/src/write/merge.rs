//! JSON merge patch (RFC 7386).

use serde_json::{Map, Value};

/// Merges a patch into a value.
pub fn merge(target: &mut Value, patch: Value) {
    let Value::Object(patch) = patch else {
        *target = patch;
        return;
    };
    if !target.is_object() {
        *target = Value::Object(Map::new());
    }
    let Value::Object(target) = target else { return };
    for (field, value) in patch {
        if value.is_null() {
            target.remove(&field);
        } else {
            merge(target.entry(field).or_insert(Value::Null), value);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn merge_patches() {
        for (target, patch, expected) in [
            (json!({"a": 1}), json!({"a": null}), json!({})),
            (json!({"a": {"b": 1, "c": 2}}), json!({"a": {"b": 3}}), json!({"a": {"b": 3, "c": 2}})),
            (json!({"a": [1]}), json!({"a": [2, 3]}), json!({"a": [2, 3]})),
            (json!({}), json!({"a": {"b": null, "c": {"d": null}}}), json!({"a": {"c": {}}})),
            (json!({"a": "x"}), json!({"a": {"b": 1}}), json!({"a": {"b": 1}})),
        ] {
            let mut got = target;
            merge(&mut got, patch);
            assert_eq!(got, expected);
        }
    }
}
