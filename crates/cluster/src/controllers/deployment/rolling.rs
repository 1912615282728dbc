//! RollingUpdate: the new ReplicaSet grows while the old ones shrink (`pkg/controller/deployment/rolling.go`).

use serde_json::Value;

use super::super::object;
use super::replicas::{available, max_unavailable, new_replicas, total, wanted};
use super::{Rollout, Sets};
use crate::client::api_error::ApiError;

impl Rollout<'_> {
    /// Takes the next step: scales the new ReplicaSet up, or else the old ones down.
    pub(super) async fn rolling_update(&mut self, sets: &mut Sets) -> Result<(), ApiError> {
        self.find_new(sets, true).await?;
        if !self.reconcile_new_replica_set(sets).await? {
            self.reconcile_old_replica_sets(sets).await?;
        }
        Ok(())
    }

    /// Scales the new ReplicaSet; returns whether that changed it (`reconcileNewReplicaSet`).
    async fn reconcile_new_replica_set(&self, sets: &mut Sets) -> Result<bool, ApiError> {
        let all = total(sets.all());
        let Some(new) = &mut sets.new else { return Ok(false) };
        let (has, replicas) = (wanted(new), wanted(&self.deployment));
        if has == replicas {
            return Ok(false);
        }
        let size = if has > replicas { replicas } else { new_replicas(&self.deployment, new, all) };
        self.scale_set(new, size).await
    }

    /// Scales the old ReplicaSets down as far as the minimum of available Pods allows. New Pods that are not available
    /// yet count against that (`reconcileOldReplicaSets`).
    async fn reconcile_old_replica_sets(&self, sets: &mut Sets) -> Result<(), ApiError> {
        if total(&sets.old) == 0 {
            return Ok(());
        }
        let least = wanted(&self.deployment) - max_unavailable(&self.deployment);
        let new_unavailable = sets.new.as_ref().map_or(0, |new| wanted(new) - available(new));
        let most = total(sets.all()) - least - new_unavailable;
        if most <= 0 {
            return Ok(());
        }
        self.cleanup_unhealthy_replicas(&mut sets.old, most).await?;
        let spare = sets.all().map(available).sum::<i64>() - least;
        self.scale_down_old_replica_sets(&mut sets.old, spare).await
    }

    /// Removes replicas of old ReplicaSets that are not available, from the oldest ReplicaSet first
    /// (`cleanupUnhealthyReplicas`).
    async fn cleanup_unhealthy_replicas(&self, old: &mut [Value], most: i64) -> Result<(), ApiError> {
        let mut left = most;
        for set in old.iter_mut().filter(|set| wanted(set) > 0) {
            let drop = left.min(wanted(set) - available(set));
            if left <= 0 {
                break;
            }
            if drop > 0 {
                self.scale_set(set, wanted(set) - drop).await?;
                left -= drop;
            }
        }
        Ok(())
    }

    /// Removes up to `spare` available replicas of old ReplicaSets (`scaleDownOldReplicaSetsForRollingUpdate`).
    async fn scale_down_old_replica_sets(&self, old: &mut [Value], spare: i64) -> Result<(), ApiError> {
        let mut left = spare;
        for set in old.iter_mut().filter(|set| wanted(set) > 0) {
            if left <= 0 {
                break;
            }
            let drop = left.min(wanted(set));
            self.scale_set(set, wanted(set) - drop).await?;
            left -= drop;
        }
        Ok(())
    }

    /// Whether a Pod of an old ReplicaSet has not ended yet, even if it is being deleted (`oldPodsRunning`).
    pub(super) fn old_pods_running(&self, sets: &Sets) -> bool {
        let pods = &self.controller.pods;
        let runs = |pod: &Value| !matches!(object::text(pod, "/status/phase"), "Succeeded" | "Failed");
        sets.old.iter().any(|set| {
            object::count(set, "/status/replicas") > 0
                || pods.owned_by(object::uid(set)).iter().filter_map(|pod| pods.parse(pod)).any(|pod| runs(&pod))
        })
    }
}
