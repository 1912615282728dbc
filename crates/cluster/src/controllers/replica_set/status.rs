//! The status of a ReplicaSet (`pkg/controller/replicaset/replica_set_utils.go`, `calculateStatus`).

use serde_json::{Map, Value, json};

use super::super::{object, pod};
use super::Failure;
use crate::clock::timestamp;

/// The type of the condition that reports Pods that could not be created or deleted.
const REPLICA_FAILURE: &str = "ReplicaFailure";

/// The status that follows from the active Pods and from the failure of the sync, if any. Numbers that are 0 are left
/// out as in Go, except `replicas`. `now` is in seconds since 1970.
pub fn compute(set: &Value, pods: &[Value], failure: Option<&Failure>, now: i64) -> Value {
    let template_labels = set["spec"]["template"]["metadata"]["labels"].as_object();
    let min_ready_seconds = object::number(set, "/spec/minReadySeconds").unwrap_or_default();
    let fully_labeled = |pod: &&Value| {
        let has = |(key, value): (&String, &Value)| pod["metadata"]["labels"].get(key) == Some(value);
        template_labels.is_none_or(|labels| labels.iter().all(has))
    };
    let count = |test: &dyn Fn(&&Value) -> bool| pods.iter().filter(|pod| test(pod)).count();
    let mut status = Map::new();
    status.insert("replicas".to_owned(), pods.len().into());
    for (field, number) in [
        ("fullyLabeledReplicas", count(&fully_labeled)),
        ("readyReplicas", count(&|pod| pod::is_ready(pod))),
        ("availableReplicas", count(&|pod| pod::available_in(pod, min_ready_seconds, now) == Some(0))),
    ] {
        if number > 0 {
            status.insert(field.to_owned(), number.into());
        }
    }
    let generation = object::number(set, "/metadata/generation").unwrap_or_default();
    status.insert("observedGeneration".to_owned(), generation.into());
    let mut conditions = set["status"]["conditions"].as_array().cloned().unwrap_or_default();
    // The first failure stays in the condition until there is none.
    if failure.is_none() {
        conditions.retain(|condition| condition["type"] != REPLICA_FAILURE);
    }
    if let Some(failure) = failure.filter(|_| conditions.iter().all(|one| one["type"] != REPLICA_FAILURE)) {
        conditions.push(json!({"type": REPLICA_FAILURE, "status": "True", "lastTransitionTime": timestamp(now),
            "reason": failure.reason, "message": failure.error.to_string()}));
    }
    if !conditions.is_empty() {
        status.insert("conditions".to_owned(), conditions.into());
    }
    status.into()
}
