//! `pods/NAME/binding`: a scheduler binds a Pod to a node (`pkg/registry/core/pod/storage`, `BindingREST`).

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
use crate::status::Status;
use crate::store::{Fate, UpdateError};
use crate::write::managed_fields::{self, Writer};

/// Handles the POST of a Binding: sets the Pod's node and its condition PodScheduled. A Pod that has a node, is being
/// deleted, or has scheduling gates is refused with 409.
pub async fn create(api: &Api, target: &Target, options: &WriteOptions, bytes: &Bytes) -> Result<Response, Status> {
    let binding = body::parse(bytes)?;
    let text = |pointer: &str| binding.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    if !["", target.name()].contains(&text("/metadata/name")) {
        return Err(Status::bad_request("name in URL does not match name in Binding object"));
    }
    let node = text("/target/name");
    if node.is_empty() || !["", "Node"].contains(&text("/target/kind")) {
        let why = if node.is_empty() { "Required value" } else { "Unsupported value: must be empty or 'Node'" };
        return Err(Status::bad_request(format!("Binding \"{}\" is invalid: target: {why}", target.name())));
    }
    let uid = text("/metadata/uid");
    let bind = |current: &Object, pod: &mut Value| {
        if !["", &*current.uid].contains(&uid) {
            return Err(Status::precondition(&target.resource, target.name(), "UID", uid, &current.uid));
        }
        let refuse = |why: String| Err(Status::conflict_of(&target.resource, "binding", target.name(), &why));
        if !pod["spec"].is_object() {
            return refuse(format!("pod {} has no spec", target.name()));
        }
        let text = |pointer: &str| pod.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        let bound = text("/spec/nodeName");
        if current.is_being_deleted() {
            return refuse(format!("pod {} is being deleted, cannot be assigned to a host", target.name()));
        }
        if !bound.is_empty() {
            return refuse(format!("pod {} is already assigned to node \"{bound}\"", target.name()));
        }
        if pod["spec"]["schedulingGates"].as_array().is_some_and(|gates| !gates.is_empty()) {
            return refuse(format!("pod {} has non-empty .spec.schedulingGates", target.name()));
        }
        let before = pod.clone();
        let now = clock::timestamp(clock::now());
        pod["spec"]["nodeName"] = node.into();
        let generation = pod["metadata"]["generation"].clone();
        let mut scheduled = json!({"type": "PodScheduled", "status": "True", "lastProbeTime": null,
            "lastTransitionTime": now});
        if generation.is_number() {
            scheduled["observedGeneration"] = generation;
        }
        conditions::set(pod, scheduled);
        let api_version = &target.resource.api_version;
        let writer =
            Writer { manager: &options.manager, operation: "Update", subresource: "binding", api_version, now: &now };
        managed_fields::stamp(&before, pod, writer);
        Ok(Fate::Kept)
    };
    match api.store.change(&target.resource, &target.key(), options.dry_run, bind).await {
        Ok(_) => Ok(Status::created().into_response()),
        Err(UpdateError::NotFound) => Err(Status::not_found(&target.resource, target.name())),
        Err(UpdateError::Refused(status)) => Err(status),
        Err(UpdateError::Storage(error)) => Err(error.into()),
    }
}
