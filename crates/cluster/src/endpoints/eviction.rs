//! `pods/NAME/eviction`: a deletion that is subject to PodDisruptionBudgets
//! (`pkg/registry/core/pod/storage/eviction.go`).

use std::sync::Arc;

use axum::body::Bytes;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use crate::api::Api;
use crate::clock;
use crate::request::body;
use crate::request::options::WriteOptions;
use crate::request::target::Target;
use crate::resources::conditions;
use crate::resources::label_selector::Selector;
use crate::resources::object::Object;
use crate::resources::resource::Resource;
use crate::resources::selector::Filter;
use crate::status::Status;
use crate::store::{Fate, ListQuery, UpdateError};
use crate::write::delete::{self, Deletion};

/// Handles the POST of an Eviction: 201 once the Pod's deletion has begun, 429 while a budget does not allow it.
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
    let pod = api.store.get(&target.resource, &target.key()).await?.ok_or_else(missing)?;
    let pod = pod.to_value();
    if !can_ignore_pdb(&pod) {
        take_disruption(api, target, &pod, deletion.dry_run).await?;
    }
    if !deletion.dry_run {
        add_disruption_target(api, target).await?;
    }
    delete::remove(api, &target.resource, &target.key(), &deletion).await?.ok_or_else(missing)?;
    Ok(Status::created().into_response())
}

/// Whether the Pod may be deleted regardless of budgets (`canIgnorePDB`).
fn can_ignore_pdb(pod: &Value) -> bool {
    let phase = pod.pointer("/status/phase").and_then(Value::as_str).unwrap_or_default();
    ["Succeeded", "Failed", "Pending"].contains(&phase) || pod["metadata"]["deletionTimestamp"].is_string()
}

/// Takes one disruption from the budget that selects the Pod.
async fn take_disruption(api: &Api, target: &Target, pod: &Value, dry_run: bool) -> Result<(), Status> {
    let Some(budgets) = api.registry.by_kind("policy/v1", "PodDisruptionBudget") else { return Ok(()) };
    let filter = Filter { namespace: target.namespace.clone(), ..Filter::default() };
    let page = api.store.list(&budgets, &ListQuery { filter, ..ListQuery::default() }).await?;
    let selects = |budget: &&Arc<Object>| {
        let selector = Selector::parse(&budget.to_value()["spec"]["selector"]);
        selector.is_ok_and(|selector| selector.matches(pod))
    };
    let found: Vec<&Arc<Object>> = page.objects.iter().filter(selects).collect();
    let budget = match found[..] {
        [] => return Ok(()),
        [budget] => budget,
        _ => {
            let why =
                "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.";
            return Err(Status::internal_error(why));
        }
    };
    let take = |_: &Object, value: &mut Value| check_and_decrement(value, pod).map(|()| Fate::Kept);
    match api.store.change(&budgets, &budget.key, dry_run, take).await {
        // A budget that was deleted meanwhile protects nothing.
        Ok(_) | Err(UpdateError::NotFound) => Ok(()),
        Err(UpdateError::Refused(status)) => Err(status),
        Err(UpdateError::Storage(error)) => Err(error.into()),
    }
}

/// Records a disruption in a budget, or refuses it (`checkAndDecrement`).
fn check_and_decrement(budget: &mut Value, pod: &Value) -> Result<(), Status> {
    let number = |pointer: &str| budget.pointer(pointer).and_then(Value::as_i64).unwrap_or_default();
    let name = budget["metadata"]["name"].as_str().unwrap_or_default().to_owned();
    if number("/status/observedGeneration") < number("/metadata/generation") {
        let why = format!("The disruption budget {name} is still being processed by the server.");
        return Err(Status::disruption_budget(why, 10));
    }
    let (healthy, desired) = (number("/status/currentHealthy"), number("/status/desiredHealthy"));
    let always = budget.pointer("/spec/unhealthyPodEvictionPolicy").is_some_and(|policy| policy == "AlwaysAllow");
    // A Pod that is not ready may be deleted, unless the application is already disrupted.
    if !conditions::is_true(pod, "Ready") && (always || (healthy >= desired && desired > 0)) {
        return Ok(());
    }
    let allowed = number("/status/disruptionsAllowed");
    if allowed <= 0 {
        let why = format!("The disruption budget {name} needs {desired} healthy pods and has {healthy} currently");
        return Err(Status::disruption_budget(why, 0));
    }
    budget["status"]["disruptionsAllowed"] = (allowed - 1).into();
    let pod = pod["metadata"]["name"].as_str().unwrap_or_default();
    if !budget["status"]["disruptedPods"].is_object() {
        budget["status"]["disruptedPods"] = json!({});
    }
    budget["status"]["disruptedPods"][pod] = clock::timestamp(clock::now()).into();
    Ok(())
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
