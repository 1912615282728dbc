//! Which manager owns which field, according to `metadata.managedFields`.

use serde_json::{Map, Value};

/// The longest list whose elements' managers are looked up.
const MOST: usize = 200;

/// One entry of `managedFields`.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Entry<'a> {
    manager: &'a str,
    subresource: &'a str,
    fields: Option<&'a Value>,
}

impl Entry<'_> {
    fn name(&self) -> String {
        match self.subresource {
            "" => self.manager.to_owned(),
            subresource => format!("{} ({subresource})", self.manager),
        }
    }
}

fn entries(object: &Value) -> Vec<Entry<'_>> {
    let list = object.get("metadata").and_then(|metadata| metadata.get("managedFields")).and_then(Value::as_array);
    let entries = list.into_iter().flatten().map(|entry| {
        let text = |name: &str| entry.get(name).and_then(Value::as_str).unwrap_or_default();
        Entry { manager: text("manager"), subresource: text("subresource"), fields: entry.get("fieldsV1") }
    });
    entries.collect()
}

/// The managers of one field of an object, and of the fields below it.
#[derive(Clone, Debug, Default)]
pub struct Managers<'a>(Vec<(String, &'a Map<String, Value>)>);

impl<'a> Managers<'a> {
    /// The managers of the whole object.
    pub fn of(object: &'a Value) -> Managers<'a> {
        let sets = entries(object).into_iter();
        Managers(sets.filter_map(|entry| Some((entry.name(), entry.fields?.as_object()?))).collect())
    }

    /// The managers of a field of a map.
    pub fn field(&self, name: &str) -> Managers<'a> {
        if self.0.is_empty() {
            return Managers::default();
        }
        let step = format!("f:{name}");
        self.below(|fields| fields.get(&step))
    }

    /// The managers of an element of a list. `length` is the length of the list.
    pub fn element(&self, at: usize, element: &Value, length: usize) -> Managers<'a> {
        if self.0.is_empty() || length > MOST {
            return Managers::default();
        }
        self.below(|fields| {
            fields.iter().take(MOST).find(|(step, _)| is_step_to(step, at, element)).map(|(_, set)| set)
        })
    }

    fn below(&self, find: impl Fn(&'a Map<String, Value>) -> Option<&'a Value>) -> Managers<'a> {
        let sets = self.0.iter().filter_map(|(name, fields)| Some((name.clone(), find(fields)?.as_object()?)));
        Managers(sets.collect())
    }

    /// The managers of the field as a whole: at a leaf all managers, at a map or list only those that own it as a unit.
    pub fn names(&self, is_leaf: bool) -> String {
        let mut names: Vec<&str> = Vec::new();
        for (name, fields) in &self.0 {
            if (is_leaf || fields.is_empty()) && !names.contains(&&**name) {
                names.push(name);
            }
        }
        names.join(", ")
    }
}

/// Whether a step of `fieldsV1` leads to this element. `k:` precedes the fields that identify it, `v:` its value, and
/// `i:` its position (structured-merge-diff, `fieldpath/serialize-pe.go`).
fn is_step_to(step: &str, at: usize, element: &Value) -> bool {
    let json = |text: &str| serde_json::from_str::<Value>(text).ok();
    match step.split_once(':') {
        Some(("k", keys)) => {
            let Some(Value::Object(keys)) = json(keys) else { return false };
            keys.iter().all(|(name, value)| element.get(name) == Some(value))
        }
        Some(("v", value)) => json(value).is_some_and(|value| value == *element),
        Some(("i", place)) => place.parse() == Ok(at),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(entries: Value) -> Value {
        json!({ "metadata": { "managedFields": entries } })
    }

    #[test]
    fn managers_are_found_along_the_path() {
        let object = object(json!([
            {"manager": "a", "fieldsV1": {"f:spec": {"f:replicas": {}, "f:list": {
                "k:{\"name\":\"x\"}": {".": {}, "f:image": {}}, "v:\"one\"": {}, "i:2": {}}}}},
            {"manager": "b", "subresource": "status", "fieldsV1": {"f:spec": {"f:replicas": {}, "f:atomic": {}}}},
            {"manager": "odd", "fieldsV1": 7},
        ]));
        let spec = Managers::of(&object).field("spec");
        assert_eq!(spec.field("replicas").names(true), "a, b (status)");
        assert_eq!((spec.names(false), spec.field("atomic").names(false)), (String::new(), "b (status)".into()));
        let list = spec.field("list");
        assert_eq!(list.element(0, &json!({"name": "x", "image": "y"}), 3).field("image").names(true), "a");
        assert_eq!(list.element(0, &json!({"name": "z"}), 3).names(false), "");
        assert_eq!(list.element(1, &json!("one"), 3).names(true), "a");
        assert_eq!(list.element(2, &json!("two"), 3).names(true), "a");
        assert_eq!(list.element(2, &json!("two"), MOST + 1).names(true), "");
        assert_eq!(Managers::of(&json!({})).field("spec").names(true), "");
    }
}
