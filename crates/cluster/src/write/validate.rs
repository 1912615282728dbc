//! Validation: invalid names, and changes of immutable fields.

use serde_json::{Map, Value};

use crate::request::body::check_metadata;
use crate::resources::object::Object;
use crate::resources::resource::Resource;
use crate::status::Status;

/// The fields that cannot be changed after the creation, by kind.
const IMMUTABLE: &[(&str, &[&str])] = &[
    ("CustomResourceDefinition", &["/spec/group", "/spec/names/plural", "/spec/scope"]),
    ("ClusterRoleBinding", &["/roleRef"]),
    ("DaemonSet", &["/spec/selector"]),
    ("Deployment", &["/spec/selector"]),
    ("Job", &["/spec/selector", "/spec/template", "/spec/completionMode"]),
    ("Pod", &["/spec/nodeName", "/spec/restartPolicy", "/spec/volumes", "/spec/serviceAccountName"]),
    ("ReplicaSet", &["/spec/selector"]),
    ("RoleBinding", &["/roleRef"]),
    ("Secret", &["/type"]),
    ("Service", &["/spec/clusterIP"]),
    ("StatefulSet", &["/spec/selector", "/spec/serviceName", "/spec/volumeClaimTemplates"]),
];

/// Refuses a name that is not valid for the resource.
pub fn name(resource: &Resource, name: &str) -> Result<(), Status> {
    let invalid = |why: &str| Err(Status::invalid_object(resource, name, "metadata.name", why));
    if name.is_empty() {
        return invalid("Required value: name or generateName is required");
    }
    if resource.group() == "rbac.authorization.k8s.io" {
        let bad = name.contains(['/', '%']) || [".", ".."].contains(&name) || name.len() > 253;
        return if bad { invalid(&format!("Invalid value: {name:?}: may not contain '/' or '%'")) } else { Ok(()) };
    }
    let good = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit();
    let label = ["namespaces", "services"].contains(&&*resource.plural) && !resource.is_custom();
    let inner = |letter: char| good(letter) || letter == '-' || (letter == '.' && !label);
    let longest = if label { 63 } else { 253 };
    if name.len() <= longest && name.chars().all(inner) && name.starts_with(good) && name.ends_with(good) {
        return Ok(());
    }
    let what = if label { "label" } else { "subdomain" };
    invalid(&format!(
        "Invalid value: {name:?}: a lowercase RFC 1123 {what} must consist of lower case alphanumeric characters, \
         '-' or '.', and must start and end with an alphanumeric character"
    ))
}

/// Refuses a change of the object's identity.
pub fn same_identity(current: &Object, metadata: &Map<String, Value>) -> Result<(), Status> {
    check_metadata(metadata)?;
    let identity = [("name", &*current.name), ("namespace", &*current.namespace), ("uid", &*current.uid)];
    for (field, expected) in identity {
        let found = metadata.get(field).and_then(Value::as_str).unwrap_or_default();
        if !found.is_empty() && found != expected {
            let message =
                format!("the {field} of the object ({found}) does not match the {field} on the URL ({expected})");
            return Err(Status::bad_request(message));
        }
    }
    Ok(())
}

/// Refuses a change of an immutable field, and new finalizers on an object that is being deleted.
pub fn change(resource: &Resource, before: &Value, after: &Value) -> Result<(), Status> {
    let name = before["metadata"]["name"].as_str().unwrap_or_default();
    let immutable = IMMUTABLE.iter().find(|(kind, _)| *kind == resource.kind && !resource.is_custom());
    for pointer in immutable.map_or(&[][..], |(_, pointers)| *pointers) {
        // A field that the server has not set yet may still be set.
        let old = before.pointer(pointer);
        if old.is_some_and(|old| !old.is_null()) && old != after.pointer(pointer) {
            let field = pointer.trim_start_matches('/').replace('/', ".");
            return Err(Status::invalid_object(resource, name, &field, "Invalid value: field is immutable"));
        }
    }
    if before["metadata"]["deletionTimestamp"].is_string() {
        let finalizers = |object: &Value| object["metadata"]["finalizers"].as_array().cloned().unwrap_or_default();
        let known = finalizers(before);
        if finalizers(after).iter().any(|one| !known.contains(one)) {
            let why = "Forbidden: no new finalizers can be added if the object is being deleted";
            return Err(Status::invalid_object(resource, name, "metadata.finalizers", why));
        }
    }
    Ok(())
}
