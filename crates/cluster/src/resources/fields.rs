//! Sets fields in JSON objects of any shape.

use serde_json::{Value, json};

/// Sets a field, and creates the objects on the path to it. If the path leads through something that is not an object,
/// nothing happens. Users may write a number where an object belongs, and `object["spec"]["replicas"] = …` would then
/// panic.
pub fn set(object: &mut Value, path: &[&str], value: Value) {
    let mut place = object;
    for field in path {
        if place.is_null() {
            *place = json!({});
        }
        let Value::Object(fields) = place else { return };
        place = fields.entry(*field).or_insert(Value::Null);
    }
    *place = value;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_set_where_they_can_be() {
        let check = |before: Value, expected: Value| {
            let mut object = before;
            set(&mut object, &["spec", "replicas"], 3.into());
            assert_eq!(object, expected);
        };
        check(json!({"spec": {"replicas": 1, "x": 2}}), json!({"spec": {"replicas": 3, "x": 2}}));
        check(json!({}), json!({"spec": {"replicas": 3}}));
        check(json!({"spec": null}), json!({"spec": {"replicas": 3}}));
        for odd in [json!({"spec": 7}), json!({"spec": []}), json!({"spec": "x"}), json!(7)] {
            check(odd.clone(), odd);
        }
    }
}
