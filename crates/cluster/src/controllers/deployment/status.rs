//! The status of a Deployment (`calculateStatus`, `syncRolloutStatus` in `pkg/controller/deployment`).

use serde_json::{Map, Value};

use super::super::controller::SyncError;
use super::super::object;
use super::replicas::{available, max_unavailable, total, wanted};
use super::{Rollout, Sets, progress};
use crate::client::api_error::ApiError;
use crate::clock;

/// The type of the condition that says whether enough Pods are available.
const AVAILABLE: &str = "Available";
/// The type of the condition that reports Pods that could not be created or deleted.
const REPLICA_FAILURE: &str = "ReplicaFailure";

impl Rollout<'_> {
    /// Writes the numbers and leaves the condition Progressing as it is: for a Deployment that is paused or being
    /// scaled (`syncDeploymentStatus`).
    pub(super) async fn sync_status(&mut self, sets: &Sets) -> Result<(), ApiError> {
        let status = compute(&self.deployment, sets, clock::now());
        self.write_status(status).await
    }

    /// Writes the numbers and the progress (`syncRolloutStatus`).
    pub(super) async fn sync_rollout_status(&mut self, sets: &Sets) -> Result<(), SyncError> {
        let now = clock::now();
        let mut status = compute(&self.deployment, sets, now);
        progress::set_progressing(&self.deployment, &mut status, sets.new.as_ref().map(object::name), now);
        // A failure of the new ReplicaSet matters more than one of an old ReplicaSet.
        let failure = sets.new.iter().chain(&sets.old).find_map(|set| object::condition(set, REPLICA_FAILURE));
        match failure {
            Some(failure) => {
                let text = |field: &str| failure[field].as_str().unwrap_or_default();
                let condition =
                    progress::condition(REPLICA_FAILURE, text("status"), text("reason"), text("message"), now);
                progress::set(&mut status, condition);
            }
            None => progress::remove(&mut status, REPLICA_FAILURE),
        }
        self.write_status(status).await?;
        self.requeue_stuck_deployment();
        Ok(())
    }
}

/// The numbers, and whether enough Pods are available; the other conditions stay. Numbers that are 0 are left out.
fn compute(deployment: &Value, sets: &Sets, now: i64) -> Value {
    let before = &deployment["status"];
    let sum = |pointer: &str| sets.all().map(|set| object::count(set, pointer)).sum::<i64>();
    let available = sets.all().map(available).sum::<i64>();
    let new = sets.new.as_ref();
    let updated = new.map_or(0, |new| object::count(new, "/status/replicas"));
    let mut status = Map::new();
    for (field, number) in [
        ("observedGeneration", object::number(deployment, "/metadata/generation").unwrap_or_default()),
        ("replicas", sum("/status/replicas")),
        ("updatedReplicas", updated),
        ("readyReplicas", sum("/status/readyReplicas")),
        ("availableReplicas", available),
        ("unavailableReplicas", (total(sets.all()) - available).max(0)),
    ] {
        if number > 0 {
            status.insert(field.to_owned(), number.into());
        }
    }
    for field in ["collisionCount", "conditions"] {
        if let Some(kept) = before.get(field) {
            status.insert(field.to_owned(), kept.clone());
        }
    }
    let mut status = Value::Object(status);
    let (word, reason, message) = if available >= wanted(deployment) - max_unavailable(deployment) {
        ("True", "MinimumReplicasAvailable", "Deployment has minimum availability.")
    } else {
        ("False", "MinimumReplicasUnavailable", "Deployment does not have minimum availability.")
    };
    progress::set(&mut status, progress::condition(AVAILABLE, word, reason, message, now));
    status
}
