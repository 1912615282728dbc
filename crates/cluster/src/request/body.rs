//! The body of a request: its media type, its size, and the object in it.

use axum::body::{Body, Bytes, to_bytes};
use axum::http::{HeaderMap, header};
use serde_json::{Map, Value};

use crate::request::protobuf::{self, ProtobufError};
use crate::resources::resource::Resource;
use crate::status::Status;

/// The real server's limit on a request's body.
const LARGEST: usize = 3 << 20;
/// Objects that are nested deeper than this are refused. A stored object is read again by a parser that allows 128
/// levels, and `managedFields` repeats the fields of an object some levels further down.
pub const DEEPEST: usize = 100;
/// The media types of objects. A body without a type is read as JSON.
pub const OBJECT: &[&str] = &["application/json", "application/vnd.kubernetes.protobuf"];

/// Reads a body whose media type is one of `accepted`, or is missing.
pub async fn read(headers: &HeaderMap, body: Body, accepted: &[&str]) -> Result<Bytes, Status> {
    let media_type = media_type(headers);
    // Tools that were not given a type send one of these, which are read as JSON too.
    let unsaid = ["", "application/x-www-form-urlencoded", "text/plain", "application/octet-stream"];
    if !accepted.contains(&media_type) && !unsaid.contains(&media_type) {
        return Err(Status::unsupported_media_type(&accepted.join(", ")));
    }
    to_bytes(body, LARGEST).await.map_err(|_| Status::body_too_large())
}

/// The media type of a body, without its parameters; empty if there is none.
pub fn media_type(headers: &HeaderMap) -> &str {
    let content_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    content_type.split(';').next().unwrap_or_default().trim()
}

/// Parses a body as JSON.
pub fn parse(body: &[u8]) -> Result<Value, Status> {
    if body.starts_with(protobuf::MAGIC) {
        return protobuf::parse(body).map_err(|error| match error {
            ProtobufError::Broken => Status::bad_request(error.to_string()),
            _ => Status::unsupported_media_type(&format!("application/json ({error})")),
        });
    }
    let value = serde_json::from_slice(body)
        .map_err(|error| Status::bad_request(format!("the request's body is not JSON: {error}")))?;
    if depth(&value) > DEEPEST {
        return Err(Status::bad_request(format!("the request's body is nested deeper than {DEEPEST} levels")));
    }
    Ok(value)
}

/// How deep a value is nested; a number has a depth of 1.
pub fn depth(value: &Value) -> usize {
    let deepest = match value {
        Value::Object(fields) => fields.values().map(depth).max(),
        Value::Array(list) => list.iter().map(depth).max(),
        _ => None,
    };
    deepest.unwrap_or_default() + 1
}

/// The object in a body, if it is of this resource and its metadata is valid.
pub fn object(resource: &Resource, body: &[u8]) -> Result<Value, Status> {
    let mut value = parse(body)?;
    for (field, expected) in [("kind", &resource.kind), ("apiVersion", &resource.api_version)] {
        if let Some(found) = value.get(field)
            && *found != **expected
        {
            let message = format!("the {field} in the data ({found}) does not match the expected {field} ({expected})");
            return Err(Status::bad_request(message));
        }
    }
    let Some(Value::Object(metadata)) = value.get_mut("metadata") else {
        return Err(Status::bad_request("metadata must be an object"));
    };
    metadata.retain(|_, field| !field.is_null());
    check_metadata(metadata)?;
    Ok(value)
}

/// Refuses metadata whose identity, labels, owners or finalizers could not be read back.
pub fn check_metadata(metadata: &Map<String, Value>) -> Result<(), Status> {
    for field in ["name", "namespace", "uid", "generateName", "resourceVersion"] {
        if metadata.get(field).is_some_and(|value| !value.is_string() && !value.is_null()) {
            return Err(Status::bad_request(format!("metadata.{field} must be a string")));
        }
    }
    for field in ["labels", "annotations"] {
        let strings = |value: &Value| value.as_object().is_some_and(|map| map.values().all(Value::is_string));
        if metadata.get(field).is_some_and(|value| !value.is_null() && !strings(value)) {
            return Err(Status::bad_request(format!("metadata.{field} must map strings to strings")));
        }
    }
    let list_of = |field: &str, good: fn(&Value) -> bool| match metadata.get(field) {
        None | Some(Value::Null) => true,
        Some(Value::Array(all)) => all.iter().all(good),
        Some(_) => false,
    };
    if !list_of("finalizers", Value::is_string) {
        return Err(Status::bad_request("metadata.finalizers must be a list of strings"));
    }
    let owner = |owner: &Value| ["apiVersion", "kind", "name", "uid"].iter().all(|field| owner[*field].is_string());
    if !list_of("ownerReferences", owner) {
        return Err(Status::bad_request("metadata.ownerReferences must name apiVersion, kind, name and uid"));
    }
    Ok(())
}
