//! `pods/NAME/eviction`: a deletion, which `kubectl drain` asks for (`pkg/registry/core/pod/storage/eviction.go`). Unlike the
//! real one it asks no PodDisruptionBudget.

use axum::body::Bytes;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use crate::api::Api;
use crate::clock;
use crate::request::body;
use crate::request::options::WriteOptions;
use crate::request::target::Target;
use crate::resources::conditions;
use crate::resources::object::Object;
use crate::resources::resource::Resource;
use crate::status::Status;
use crate::store::{Fate, UpdateError};
use crate::write::delete::{self, Deletion};

/// Handles the POST of an Eviction: 201 once the Pod's deletion has begun.
pub async fn create(api: &Api, target: &Target, options: &WriteOptions, bytes: &Bytes) -> Result<Response, Status> {
    let eviction = body::parse(bytes)?;
    let text = |pointer: &str| eviction.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    if !["", target.name()].contains(&text("/metadata/name")) {
        return Err(Status::bad_request("name in URL does not match name in Eviction object"));
    }
    let wanted = &eviction["deleteOptions"];
    let deletion = Deletion {
        grace: wanted["gracePeriodSeconds"].as_u64(),
        uid: wanted.pointer("/preconditions/uid").and_then(Value::as_str).map(str::to_owned),
        version: wanted.pointer("/preconditions/resourceVersion").and_then(Value::as_str).map(str::to_owned),
        dry_run: options.dry_run || wanted["dryRun"].as_array().is_some_and(|all| !all.is_empty()),
        ..Deletion::default()
    };
    let missing = || Status::not_found(&target.resource, target.name());
    if !deletion.dry_run {
        add_disruption_target(api, target).await?;
    }
    delete::remove(api, &target.resource, &target.key(), &deletion).await?.ok_or_else(missing)?;
    Ok(Status::created().into_response())
}

/// Sets the condition DisruptionTarget of the Pod (`addConditionAndDeletePod`).
async fn add_disruption_target(api: &Api, target: &Target) -> Result<(), Status> {
    let resource: &Resource = &target.resource;
    let add = |_: &Object, pod: &mut Value| {
        let condition = json!({"type": "DisruptionTarget", "status": "True", "reason": "EvictionByEvictionAPI",
            "message": "Eviction API: evicting", "lastProbeTime": null,
            "lastTransitionTime": clock::timestamp(clock::now()), "observedGeneration": pod["metadata"]["generation"]});
        conditions::set(pod, condition);
        Ok::<_, ()>(Fate::Kept)
    };
    match api.store.change(resource, &target.key(), false, add).await {
        Err(UpdateError::Storage(error)) => Err(error.into()),
        // If the Pod is gone, the deletion that follows reports that.
        _ => Ok(()),
    }
}
