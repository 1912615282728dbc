//! Writes: create, replace, merge patch and delete. A request that is refused changes nothing.

use axum::body::{Body, Bytes, to_bytes};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value};

use super::clock;
use super::list::object_response;
use super::object::{Draft, Object};
use super::random::Random;
use super::resource::{self, NAMESPACES, PODS, Resource};
use super::scenario::Order;
use super::server::{App, Target};
use super::status::Status;
use super::storage::UpdateError;

/// The real server's limit on a request's body.
const LARGEST_BODY: usize = 3 << 20;
/// What a client cannot change about an object.
const IMMUTABLE: [&str; 5] = ["name", "namespace", "uid", "creationTimestamp", "resourceVersion"];

/// Reads a request's body.
pub async fn read(headers: &HeaderMap, body: Body) -> Result<Bytes, Status> {
    let content_type = headers.get(header::CONTENT_TYPE).map(HeaderValue::as_bytes).unwrap_or_default();
    // Everything that may be JSON is read as JSON; these two never are.
    if [&b"application/vnd.kubernetes.protobuf"[..], b"application/json-patch+json"]
        .iter()
        .any(|one| content_type.starts_with(one))
    {
        return Err(Status::unsupported_media_type());
    }
    let too_large = |_| Status::bad_request("the request's body is broken or larger than 3 MiB");
    to_bytes(body, LARGEST_BODY).await.map_err(too_large)
}

/// Answers a POST.
pub fn create(
    app: &App,
    resource: &'static Resource,
    namespace: Option<&str>,
    body: Bytes,
) -> Result<Response, Status> {
    let mut draft = draft(resource, &body)?;
    if resource.namespaced {
        let namespace = namespace.ok_or_else(Status::method_not_allowed)?;
        if !["", namespace].contains(&draft.meta("namespace")) {
            let message = "the namespace of the provided object does not match the namespace sent on the request";
            return Err(Status::bad_request(message));
        }
        if app.storage.get(NAMESPACES, namespace).is_none() {
            return Err(Status::not_found(NAMESPACES, namespace));
        }
        draft.metadata.insert("namespace".to_owned(), namespace.into());
    } else {
        draft.metadata.remove("namespace");
    }
    if draft.meta("name").is_empty() && !draft.meta("generateName").is_empty() {
        let suffix = Random::new(app.storage.revision() ^ clock::now() as u64).suffix(5);
        let name = format!("{}{suffix}", draft.meta("generateName"));
        draft.metadata.insert("name".to_owned(), name.into());
    }
    let name = draft.meta("name").to_owned();
    check_name(resource, &name)?;
    // These are the server's to choose.
    draft.metadata.remove("uid");
    draft.metadata.insert("creationTimestamp".to_owned(), clock::timestamp(clock::now()).into());
    let object = app.storage.create(resource, draft).ok_or_else(|| Status::already_exists(resource, &name))?;
    Ok((StatusCode::CREATED, object_response(&object)).into_response())
}

/// Answers a PUT.
pub fn replace(app: &App, target: &Target, body: Bytes) -> Result<Response, Status> {
    let new = draft(target.resource, &body)?;
    update(app, target, |current, value| {
        let version = new.meta("resourceVersion");
        if !version.is_empty() && version != current.revision.to_string() {
            return Err(Status::conflict(target.resource, &current.name));
        }
        check_same(current, &new.metadata)?;
        let super::object::Fields::Parsed(fields) = new.fields else { return Ok(()) };
        let Value::Object(whole) = value else { return Ok(()) };
        if target.status {
            whole.extend(fields.into_iter().filter(|(field, _)| field == "status"));
            return Ok(());
        }
        *whole = fields;
        whole.insert("metadata".to_owned(), new.metadata.into());
        Ok(())
    })
}

/// Answers a PATCH. Strategic and apply patches are taken for merge patches, which differ in lists only.
pub fn patch(app: &App, target: &Target, body: Bytes) -> Result<Response, Status> {
    let patch = parse(&body)?;
    if !patch.is_object() {
        return Err(Status::bad_request("a merge patch is a JSON object"));
    }
    update(app, target, |current, value| {
        if let Some(version) = patch.pointer("/metadata/resourceVersion").and_then(Value::as_str)
            && version != current.revision.to_string()
        {
            return Err(Status::conflict(target.resource, &current.name));
        }
        merge(value, patch);
        match value.get("metadata") {
            Some(Value::Object(metadata)) => check_same(current, metadata),
            _ => Err(Status::bad_request("metadata must be an object")),
        }
    })
}

/// Answers a DELETE. Objects go at once: there is no kubelet to wait for, and no finalizer is honoured.
pub fn delete(app: &App, target: &Target) -> Result<Response, Status> {
    let name = target.name.as_deref().unwrap_or_default();
    let key = target.resource.key(target.namespace.as_deref().unwrap_or_default(), name);
    let object = app.storage.delete(target.resource, &key);
    let object = object.ok_or_else(|| Status::not_found(target.resource, name))?;
    if target.resource == PODS {
        let gone = Order::PodGone { namespace: object.namespace.to_string(), name: object.name.to_string() };
        // A scenario too busy to hear it finds out by itself.
        let _ = app.scenario.try_send(gone);
    }
    Ok(Status::deleted(target.resource, name, &object.uid).into_response())
}

/// Writes a raw object of any known kind, whatever its name: what `/_control/put` does.
pub fn put_raw(app: &App, body: &Bytes) -> Result<Response, Status> {
    let value = parse(body)?;
    let text = |field: &str| value.get(field).and_then(Value::as_str).unwrap_or_default();
    let (api_version, kind) = (text("apiVersion"), text("kind"));
    let resource = resource::by_kind(api_version, kind)
        .ok_or_else(|| Status::bad_request(format!("no resource has the kind {kind:?} in {api_version:?}")))?;
    let mut draft = draft(resource, body)?;
    if draft.meta("name").is_empty() {
        return Err(Status::bad_request("metadata.name is required"));
    }
    if !resource.namespaced {
        draft.metadata.remove("namespace");
    } else if draft.meta("namespace").is_empty() {
        draft.metadata.insert("namespace".to_owned(), "default".into());
    }
    draft.metadata.entry("creationTimestamp").or_insert_with(|| clock::timestamp(clock::now()).into());
    Ok(object_response(&app.storage.upsert(resource, draft)))
}

fn update(
    app: &App,
    target: &Target,
    change: impl FnOnce(&Object, &mut Value) -> Result<(), Status>,
) -> Result<Response, Status> {
    let name = target.name.as_deref().unwrap_or_default();
    let key = target.resource.key(target.namespace.as_deref().unwrap_or_default(), name);
    let updated = app.storage.update(target.resource, &key, |current, value| {
        let spec = value.get("spec").cloned();
        let identity = IMMUTABLE.map(|field| (field, value["metadata"].get(field).cloned()));
        change(current, value)?;
        for (field, old) in identity {
            if let Some(old) = old {
                value["metadata"][field] = old;
            }
        }
        // A new spec is a new generation, which controllers compare with observedGeneration.
        if value.get("spec") != spec.as_ref()
            && let Some(generation) = value.pointer_mut("/metadata/generation")
            && let Some(number) = generation.as_u64()
        {
            *generation = number.saturating_add(1).into();
        }
        Ok(())
    });
    match updated {
        Ok(object) => Ok(object_response(&object)),
        Err(UpdateError::NotFound) => Err(Status::not_found(target.resource, name)),
        Err(UpdateError::Refused(status)) => Err(status),
    }
}

fn parse(body: &[u8]) -> Result<Value, Status> {
    serde_json::from_slice(body)
        .map_err(|error| Status::bad_request(format!("the request's body is not JSON: {error}")))
}

/// The object in a request's body, if it is one of this resource.
fn draft(resource: &'static Resource, body: &[u8]) -> Result<Draft, Status> {
    let value = parse(body)?;
    for (field, expected) in [("kind", resource.kind), ("apiVersion", resource.api_version())] {
        if let Some(found) = value.get(field)
            && found != expected
        {
            let message = format!("the {field} in the data ({found}) does not match the expected {field} ({expected})");
            return Err(Status::bad_request(message));
        }
    }
    let draft = Draft::from_value(value).ok_or_else(|| Status::bad_request("metadata must be an object"))?;
    check_metadata(&draft.metadata)?;
    Ok(draft)
}

/// Refuses metadata whose identity or labels could not be read back.
fn check_metadata(metadata: &Map<String, Value>) -> Result<(), Status> {
    for field in ["name", "namespace", "uid", "generateName"] {
        if metadata.get(field).is_some_and(|value| !value.is_string()) {
            return Err(Status::bad_request(format!("metadata.{field} must be a string")));
        }
    }
    for field in ["labels", "annotations"] {
        let strings = |value: &Value| value.as_object().is_some_and(|map| map.values().all(Value::is_string));
        if metadata.get(field).is_some_and(|value| !value.is_null() && !strings(value)) {
            return Err(Status::bad_request(format!("metadata.{field} must map strings to strings")));
        }
    }
    Ok(())
}

/// Refuses a change of identity.
fn check_same(current: &Object, metadata: &Map<String, Value>) -> Result<(), Status> {
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

fn check_name(resource: &'static Resource, name: &str) -> Result<(), Status> {
    let good = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit();
    let inner = |letter: char| good(letter) || matches!(letter, '-' | '.');
    if name.is_empty() {
        let why = "Required value: name or generateName is required";
        return Err(Status::invalid_object(resource, name, "metadata.name", why));
    }
    if name.len() <= 253 && name.chars().all(inner) && name.starts_with(good) && name.ends_with(good) {
        return Ok(());
    }
    let why = format!(
        "Invalid value: {name:?}: a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, \
         '-' or '.', and must start and end with an alphanumeric character"
    );
    Err(Status::invalid_object(resource, name, "metadata.name", &why))
}

/// JSON merge patch (RFC 7386).
fn merge(target: &mut Value, patch: Value) {
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
