//! The state of a Pod as controllers need it (`pkg/api/v1/pod/util.go`, `pkg/controller/controller_utils.go`).

use kubechurn_client::api::time::Timestamp;
use serde_json::{Map, Value, json};

use super::object;

/// Whether the Pod is active: it has not ended and is not being deleted (`IsPodActive`).
pub fn is_active(pod: &Value) -> bool {
    !matches!(object::text(pod, "/status/phase"), "Succeeded" | "Failed") && !object::is_being_deleted(pod)
}

/// Whether the condition Ready is True (`IsPodReady`).
pub fn is_ready(pod: &Value) -> bool {
    object::is_true(pod, "Ready")
}

/// Since when the Pod is ready; `None` if it is not, or if the time is missing.
pub fn ready_since(pod: &Value) -> Option<Timestamp> {
    let ready = object::condition(pod, "Ready").filter(|ready| ready["status"] == "True")?;
    object::time(ready, "/lastTransitionTime")
}

/// After how many seconds the Pod is available, which is after it was ready for `min_ready_seconds`: 0 if it is now,
/// `None` if it is not ready (`IsPodAvailable`).
pub fn available_in(pod: &Value, min_ready_seconds: i64, now: i64) -> Option<i64> {
    if !is_ready(pod) {
        return None;
    }
    if min_ready_seconds <= 0 {
        return Some(0);
    }
    let since = ready_since(pod)?;
    Some(since.0.saturating_add(min_ready_seconds).saturating_sub(now).max(0))
}

/// The highest number of restarts among the containers (`maxContainerRestarts`).
pub fn most_restarts(pod: &Value) -> i64 {
    let containers = pod["status"]["containerStatuses"].as_array().into_iter().flatten();
    containers.filter_map(|container| container["restartCount"].as_i64()).max().unwrap_or_default()
}

/// A Pod to create from a template, controlled by `owner`. The server generates its name from `prefix`
/// (`GetPodFromTemplate`).
pub fn from_template(template: &Value, owner: &Value, prefix: &str) -> Value {
    let mut metadata = Map::new();
    for field in ["labels", "annotations", "finalizers"] {
        if let Some(value) = template["metadata"].get(field).filter(|value| !value.is_null()) {
            metadata.insert(field.to_owned(), value.clone());
        }
    }
    metadata.insert("generateName".to_owned(), generate_name(prefix).into());
    metadata.insert("ownerReferences".to_owned(), json!([object::controller_reference(owner)]));
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template["spec"]})
}

/// The prefix of a generated name: with a dash at the end, and cut so that five more characters fit.
fn generate_name(prefix: &str) -> String {
    // The names of Pods are limited in length (`validation.ValidatePodName` with a prefix).
    let prefix: String = prefix.chars().take(247).collect();
    format!("{prefix}-")
}
