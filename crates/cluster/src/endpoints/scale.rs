//! The `scale` subresource: the current and the desired number of replicas, and their selector.

use axum::body::{Body, Bytes};
use axum::response::Response;
use serde_json::{Map, Value, json};

use crate::api::Api;
use crate::printers::response::json_response;
use crate::request::body;
use crate::request::target::Target;
use crate::resources::fields;
use crate::resources::object::Object;
use crate::resources::resource::ScalePaths;
use crate::status::Status;
use crate::write::patch::Patch;
use crate::write::{self, RequestScope};

/// Handles a GET.
pub async fn get(api: &Api, target: &Target) -> Result<Response, Status> {
    let object = api.store.get(&target.resource, &target.key()).await?;
    let object = object.ok_or_else(|| Status::not_found(&target.resource, target.name()))?;
    Ok(answer(target, &object))
}

/// Handles a PUT.
pub async fn replace(scope: RequestScope<'_>, bytes: &Bytes) -> Result<Response, Status> {
    let new = body::parse(bytes)?;
    change(scope, |scale| {
        scale.clone_from(&new);
        Ok(())
    })
    .await
}

/// Handles a PATCH.
pub async fn patch(scope: RequestScope<'_>, patch: &Patch) -> Result<Response, Status> {
    change(scope, |scale| patch.apply(false, scale)).await
}

async fn change(
    scope: RequestScope<'_>,
    mut change: impl FnMut(&mut Value) -> Result<(), Status>,
) -> Result<Response, Status> {
    let target = scope.target;
    let updated = write::update(scope, "Update", |current, value| {
        let Some(paths) = &target.resource.scale else { return Err(Status::method_not_allowed()) };
        let mut scale = scale_of(paths, value);
        let version = scale["metadata"]["resourceVersion"].clone();
        change(&mut scale)?;
        if scale["metadata"]["resourceVersion"] != version {
            write::check_version(&target.resource, current, scale["metadata"]["resourceVersion"].as_str())?;
        }
        let wanted = match scale.pointer("/spec/replicas") {
            None => 0,
            Some(number) => {
                number.as_i64().filter(|number| (0..=i64::from(i32::MAX)).contains(number)).ok_or_else(|| {
                    let why = format!("Invalid value: {number}: must be greater than or equal to 0");
                    Status::invalid_object(&target.resource, target.name(), "spec.replicas", &why)
                })?
            }
        };
        let path: Vec<&str> = paths.wanted.split('/').skip(1).collect();
        fields::set(value, &path, wanted.into());
        Ok(())
    })
    .await?;
    Ok(answer(target, &updated))
}

fn answer(target: &Target, object: &Object) -> Response {
    let scale = target.resource.scale.as_ref().map(|paths| scale_of(paths, &object.to_value())).unwrap_or_default();
    json_response(Body::from(format!("{scale}\n")))
}

fn scale_of(paths: &ScalePaths, object: &Value) -> Value {
    let number = |pointer: &str| object.pointer(pointer).and_then(Value::as_i64).unwrap_or_default();
    let kept = ["name", "namespace", "uid", "resourceVersion", "creationTimestamp"];
    let metadata = object["metadata"].as_object().into_iter().flatten();
    let metadata: Map<String, Value> = metadata
        .filter(|(field, _)| kept.contains(&field.as_str()))
        .map(|(field, value)| (field.clone(), value.clone()))
        .collect();
    let mut scale = json!({"kind": "Scale", "apiVersion": "autoscaling/v1", "metadata": metadata,
        "spec": {"replicas": number(&paths.wanted)}, "status": {"replicas": number(&paths.current)}});
    let selector = match object.pointer(&paths.selector) {
        Some(Value::String(text)) if !paths.selector.is_empty() => text.clone(),
        Some(Value::Object(selector)) if !paths.selector.is_empty() => {
            let labels = selector.get("matchLabels").and_then(Value::as_object).into_iter().flatten();
            let mut pairs: Vec<String> =
                labels.filter_map(|(name, value)| Some(format!("{name}={}", value.as_str()?))).collect();
            pairs.sort();
            pairs.join(",")
        }
        _ => String::new(),
    };
    if !selector.is_empty() {
        scale["status"]["selector"] = selector.into();
    }
    scale
}
