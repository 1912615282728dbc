//! What controllers ask about a Pod (`pkg/api/v1/pod/util.go`, `pkg/controller/controller_utils.go`).

use kubechurn_client::api::time::Timestamp;
use serde_json::{Map, Value, json};

use super::object;

/// Whether it still counts: it has not ended, and is not on its way out (`IsPodActive`).
pub fn is_active(pod: &Value) -> bool {
    !matches!(object::text(pod, "/status/phase"), "Succeeded" | "Failed") && !object::is_leaving(pod)
}

/// Whether its condition Ready is True (`IsPodReady`).
pub fn is_ready(pod: &Value) -> bool {
    object::is_true(pod, "Ready")
}

/// Since when it has been ready; `None` if it is not, or does not say.
pub fn ready_since(pod: &Value) -> Option<Timestamp> {
    let ready = object::condition(pod, "Ready").filter(|ready| ready["status"] == "True")?;
    object::time(ready, "/lastTransitionTime")
}

/// In how many seconds it counts as available, having been ready for `min_ready_seconds`: 0 if it does already, `None`
/// if it is not ready (`IsPodAvailable`).
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

/// How often its containers have been restarted, the most of them all (`maxContainerRestarts`).
pub fn most_restarts(pod: &Value) -> i64 {
    let containers = pod["status"]["containerStatuses"].as_array().into_iter().flatten();
    containers.filter_map(|container| container["restartCount"].as_i64()).max().unwrap_or_default()
}

/// A Pod to be created from a template, whose name the server makes up after `prefix`; `owner` controls it
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

/// What a made-up name begins with: with a dash after it, or cut so that five more letters fit.
fn generate_name(prefix: &str) -> String {
    // Longer names than this are no names of Pods (`validation.ValidatePodName` with a prefix).
    let prefix: String = prefix.chars().take(247).collect();
    format!("{prefix}-")
}
