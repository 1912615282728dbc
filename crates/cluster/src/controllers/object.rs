//! Reads fields of objects, which are JSON for the controllers: owners, labels, conditions.

use kubechurn_client::api::object::ObjectKey;
use kubechurn_client::api::time::Timestamp;
use kubechurn_client::record::event::ObjectReference;
use serde_json::{Value, json};

pub use crate::resources::conditions::{condition, is_true};
pub use crate::resources::fields::set;

/// A text in an object, by its JSON pointer; empty if it is missing.
pub fn text<'a>(object: &'a Value, pointer: &str) -> &'a str {
    object.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

/// An integer in an object; `None` if it is missing.
pub fn number(object: &Value, pointer: &str) -> Option<i64> {
    object.pointer(pointer).and_then(Value::as_i64)
}

/// A count in an object, limited to the range from 0 to the largest `int32` of Kubernetes; 0 if it is missing.
pub fn count(object: &Value, pointer: &str) -> i64 {
    number(object, pointer).unwrap_or_default().clamp(0, i64::from(i32::MAX))
}

/// A copy of a field that holds an object; empty if the field holds anything else.
pub fn part(object: &Value, field: &str) -> Value {
    object.get(field).filter(|part| part.is_object()).cloned().unwrap_or_else(|| json!({}))
}

/// The object's name.
pub fn name(object: &Value) -> &str {
    text(object, "/metadata/name")
}

/// The object's namespace; empty at the cluster scope.
pub fn namespace(object: &Value) -> &str {
    text(object, "/metadata/namespace")
}

/// The object's uid.
pub fn uid(object: &Value) -> &str {
    text(object, "/metadata/uid")
}

/// Namespace and name.
pub fn key(object: &Value) -> ObjectKey {
    ObjectKey::new(namespace(object), name(object))
}

/// The value of a label.
pub fn label<'a>(object: &'a Value, name: &str) -> Option<&'a str> {
    object["metadata"]["labels"].get(name)?.as_str()
}

/// The value of an annotation.
pub fn annotation<'a>(object: &'a Value, name: &str) -> Option<&'a str> {
    object["metadata"]["annotations"].get(name)?.as_str()
}

/// Whether the object is being deleted.
pub fn is_being_deleted(object: &Value) -> bool {
    !text(object, "/metadata/deletionTimestamp").is_empty()
}

/// A time in an object; `None` if it is missing.
pub fn time(object: &Value, pointer: &str) -> Option<Timestamp> {
    Timestamp::parse_set(text(object, pointer))
}

/// The owner reference whose `controller` is true (`metav1.GetControllerOf`).
pub fn controller_of(object: &Value) -> Option<&Value> {
    object["metadata"]["ownerReferences"].as_array()?.iter().find(|owner| owner["controller"] == true)
}

/// Whether the owner with this uid controls the object (`metav1.IsControlledBy`).
pub fn is_controlled_by(object: &Value, owner_uid: &str) -> bool {
    controller_of(object).is_some_and(|owner| owner["uid"] == owner_uid)
}

/// The owner reference with `controller` for objects that `owner` creates (`metav1.NewControllerRef`).
pub fn controller_reference(owner: &Value) -> Value {
    json!({"apiVersion": text(owner, "/apiVersion"), "kind": text(owner, "/kind"), "name": name(owner),
        "uid": uid(owner), "controller": true, "blockOwnerDeletion": true})
}

/// The object reference of an Event about this object.
pub fn reference(object: &Value) -> ObjectReference {
    let text = |pointer: &str| text(object, pointer).to_owned();
    ObjectReference {
        kind: text("/kind"),
        namespace: text("/metadata/namespace"),
        name: text("/metadata/name"),
        uid: text("/metadata/uid"),
        api_version: text("/apiVersion"),
        field_path: String::new(),
    }
}
