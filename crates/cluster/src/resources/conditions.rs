//! Conditions in the status of objects, which are JSON here.

use serde_json::{Value, json};

use crate::resources::fields;

/// The condition of a type in a list of conditions.
pub fn find<'a>(conditions: &'a Value, condition_type: &str) -> Option<&'a Value> {
    conditions.as_array()?.iter().find(|condition| condition["type"] == condition_type)
}

/// The condition of a type in the status of an object.
pub fn condition<'a>(object: &'a Value, condition_type: &str) -> Option<&'a Value> {
    find(&object["status"]["conditions"], condition_type)
}

/// Whether a condition exists in the status of an object, and is True.
pub fn is_true(object: &Value, condition_type: &str) -> bool {
    condition(object, condition_type).is_some_and(|condition| condition["status"] == "True")
}

/// Puts a condition in the place of the one with its type, or at the end of the list.
pub fn put(conditions: &mut Vec<Value>, condition: Value) {
    match conditions.iter_mut().find(|one| one["type"] == condition["type"]) {
        Some(known) => *known = condition,
        None => conditions.push(condition),
    }
}

/// Puts a condition into the status of an object. A status or a list of another shape is replaced.
pub fn set(object: &mut Value, condition: Value) {
    let mut conditions = object["status"]["conditions"].as_array().cloned().unwrap_or_default();
    put(&mut conditions, condition);
    if !object["status"].is_object() {
        fields::set(object, &["status"], json!({}));
    }
    fields::set(object, &["status", "conditions"], conditions.into());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_condition_replaces_that_of_its_type() {
        let check = |status: Value, expected: &[&str]| {
            let mut pod = json!({"status": status});
            set(&mut pod, json!({"type": "Ready", "status": "True"}));
            let all = pod["status"]["conditions"].as_array().unwrap();
            let names: Vec<&str> = all.iter().map(|one| one["type"].as_str().unwrap()).collect();
            assert_eq!(names, expected);
            assert!(is_true(&pod, "Ready") && !is_true(&pod, "Initialized"));
        };
        for odd in [json!(null), json!(7), json!({"conditions": "x"}), json!({"phase": "Running"})] {
            check(odd, &["Ready"]);
        }
        let known = json!({"conditions": [{"type": "Ready", "status": "False"}, {"type": "Initialized"}]});
        check(known, &["Ready", "Initialized"]);
        check(json!({"conditions": [{"type": "Initialized"}]}), &["Initialized", "Ready"]);
    }
}
