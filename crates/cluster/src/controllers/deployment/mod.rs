//! The Deployment controller: a ReplicaSet for each template, and the rollout from one to the next
//! (`pkg/controller/deployment`).
//!
//! `revisions.rs` finds the ReplicaSet of the newest template, `scaling.rs` computes how many replicas each ReplicaSet
//! gets, `rolling.rs` and `recreate.rs` are the two strategies, and `progress.rs` computes the progress.

mod annotations;
mod progress;
mod recreate;
mod replicas;
pub mod revisions;
mod rolling;
mod scaling;
mod status;

use kubechurn_client::api::object::{Object, ObjectKey};
use kubechurn_client::cache::store::Change;
use serde_json::{Value, json};
use tokio::time::Duration;

use super::context::Context;
use super::controller::{Controller, SyncError};
use super::controller_ref_manager::{self, ControllerRefManager};
use super::events::Recorder;
use super::object;
use super::queue::Queue;
use super::written::Written;
use crate::client::api_error::ApiError;
use crate::client::lister::Lister;
use crate::client::resources::{DEPLOYMENTS, PODS, REPLICA_SETS};
use crate::client::rest::{Client, DeleteOptions};
use crate::clock;
use crate::resources::label_selector::Selector;

/// The controller.
#[derive(Debug)]
pub struct Deployments {
    client: Client,
    deployments: Lister,
    sets: Lister,
    pods: Lister,
    recorder: Recorder,
    /// What was written to Deployments.
    written: Written,
    /// What was written to their ReplicaSets.
    written_sets: Written,
    queue: Queue<ObjectKey>,
}

/// One sync of one Deployment. It keeps what it writes, so that its next write is not a conflict.
struct Rollout<'a> {
    controller: &'a Deployments,
    deployment: Value,
}

/// The ReplicaSets of a Deployment.
#[derive(Debug)]
struct Sets {
    /// The ReplicaSet of the newest template, if it exists.
    new: Option<Value>,
    /// All other ReplicaSets, oldest first.
    old: Vec<Value>,
}

impl Controller for Deployments {
    type Key = ObjectKey;
    const NAME: &'static str = "deployment-controller";

    fn new(context: &Context, queue: Queue<ObjectKey>) -> Self {
        let (deployments, sets) = (context.lister(DEPLOYMENTS), context.lister(REPLICA_SETS));
        let pods = context.lister(PODS);
        controller_ref_manager::index_orphans(&sets);
        let waiting = queue.clone();
        deployments.on_change(move |change| waiting.add(change.object().key.clone()));
        let (waiting, all) = (queue.clone(), deployments.clone());
        sets.on_change(move |change| {
            let before = if let Change::Updated { old, .. } = change { owner_of(old) } else { None };
            match (owner_of(change.object()), change) {
                (None, Change::Added { .. } | Change::Updated { .. }) => {
                    enqueue_for_orphan(&waiting, &all, change.object())
                }
                (now, _) => now.into_iter().chain(before).for_each(|key| waiting.add(key)),
            }
        });
        // With the strategy Recreate, the rollout waits until the last old Pod is deleted.
        let (waiting, all, known) = (queue.clone(), deployments.clone(), sets.clone());
        pods.on_change(move |change| {
            let Change::Deleted { last, .. } = change else { return };
            let Some(set) = last.owners().iter().find(|owner| owner.controller && &*owner.kind == "ReplicaSet") else {
                return;
            };
            let set = known.get(&ObjectKey::new(&last.key.namespace, &set.name));
            let Some(key) = set.and_then(|set| owner_of(&set)) else { return };
            if all.value(&key).is_some_and(|one| object::text(&one, "/spec/strategy/type") == "Recreate") {
                waiting.add(key);
            }
        });
        let recorder = context.recorder(Self::NAME);
        let (written, written_sets) = (Written::default(), Written::default());
        Self { client: context.client.clone(), deployments, sets, pods, recorder, written, written_sets, queue }
    }

    async fn sync(&self, key: &ObjectKey) -> Result<(), SyncError> {
        let Some(deployment) = self.deployments.value(key) else {
            self.written.forget(key);
            return Ok(());
        };
        if self.written.is_ahead_of(&deployment) {
            return Ok(());
        }
        let selector = Selector::parse(&deployment["spec"]["selector"]);
        if selector.is_ok_and(|selector| selector.selects_everything()) {
            let message = "This deployment is selecting all pods. A non-empty selector is required.";
            self.recorder.warning(&deployment, "SelectingAll", message);
        }
        let Some(selector) = Selector::of_workload(&deployment) else { return Ok(()) };
        let mut rollout = Rollout { controller: self, deployment };
        let manager = ControllerRefManager {
            client: &self.client,
            resource: &DEPLOYMENTS,
            owner: &rollout.deployment,
            selector: &selector,
        };
        let mut sets = manager.claim(&self.sets).await?;
        // A ReplicaSet without a spec can be neither compared nor scaled.
        sets.retain(|set| set["spec"].is_object());
        if sets.iter().any(|set| self.written_sets.is_ahead_of(set)) {
            return Ok(());
        }
        let sets = revisions::divide(&rollout.deployment, sets);
        rollout.reconcile(sets).await
    }
}

impl Rollout<'_> {
    async fn reconcile(&mut self, mut sets: Sets) -> Result<(), SyncError> {
        if object::is_being_deleted(&self.deployment) {
            return Ok(self.sync_status(&sets).await?);
        }
        self.check_paused().await?;
        if self.is_paused() || scaling::is_scaling_event(&self.deployment, &sets) {
            // A paused Deployment begins no rollout, but its ReplicaSets still follow the desired number.
            self.find_new(&mut sets, false).await?;
            self.scale(&mut sets).await?;
            if self.is_paused() {
                self.cleanup_deployment(&sets).await?;
            }
            return Ok(self.sync_status(&sets).await?);
        }
        match object::text(&self.deployment, "/spec/strategy/type") {
            "Recreate" => self.recreate(&mut sets).await?,
            _ => self.rolling_update(&mut sets).await?,
        }
        if progress::is_complete(&self.deployment, &self.deployment["status"]) {
            self.cleanup_deployment(&sets).await?;
        }
        self.sync_rollout_status(&sets).await
    }

    fn is_paused(&self) -> bool {
        self.deployment["spec"]["paused"] == true
    }

    fn name(&self) -> &str {
        object::name(&self.deployment)
    }

    fn namespace(&self) -> &str {
        object::namespace(&self.deployment)
    }

    /// Writes a status, unless the object has it already.
    async fn write_status(&mut self, status: Value) -> Result<(), ApiError> {
        if status == self.deployment["status"] {
            return Ok(());
        }
        let mut updated = self.deployment.clone();
        object::set(&mut updated, &["status"], status);
        self.deployment = self.controller.client.update_status(&DEPLOYMENTS, &updated).await?;
        self.controller.written.note(&self.deployment);
        Ok(())
    }

    /// Changes the status, and writes it if that changed anything.
    async fn change_status(&mut self, change: impl FnOnce(&mut Value)) -> Result<(), ApiError> {
        let mut status = self.deployment["status"].clone();
        if !status.is_object() {
            status = json!({});
        }
        change(&mut status);
        self.write_status(status).await
    }

    /// Time during a pause does not count against the progress deadline (`checkPausedConditions`).
    async fn check_paused(&mut self) -> Result<(), ApiError> {
        let reason = progress::reason(&self.deployment["status"]).to_owned();
        if progress::deadline(&self.deployment).is_none() || reason == progress::TIMED_OUT {
            return Ok(());
        }
        let (reason, message) = match (self.is_paused(), reason == progress::PAUSED) {
            (true, false) => (progress::PAUSED, "Deployment is paused"),
            (false, true) => (progress::RESUMED, "Deployment is resumed"),
            _ => return Ok(()),
        };
        let condition = progress::condition(progress::PROGRESSING, "Unknown", reason, message, clock::now());
        self.change_status(|status| progress::set(status, condition)).await
    }

    /// Queues the key for the moment at which the progress deadline passes (`requeueStuckDeployment`).
    fn requeue_stuck_deployment(&self) {
        let status = &self.deployment["status"];
        let Some(deadline) = progress::deadline(&self.deployment) else { return };
        let is_over =
            progress::is_complete(&self.deployment, status) || progress::reason(status) == progress::TIMED_OUT;
        let Some(progressing) = object::condition(&self.deployment, progress::PROGRESSING).filter(|_| !is_over) else {
            return;
        };
        let since = object::time(progressing, "/lastUpdateTime").map_or_else(clock::now, |since| since.0);
        // Times are whole seconds, so one more is needed to be past the deadline.
        let left = since.saturating_add(deadline).saturating_sub(clock::now()).max(0).unsigned_abs();
        self.controller.queue.add_after(object::key(&self.deployment), Duration::from_secs(left + 1));
    }

    /// Deletes the oldest ReplicaSets beyond the history limit, of those that have no replicas left
    /// (`cleanupDeployment`).
    async fn cleanup_deployment(&self, sets: &Sets) -> Result<(), ApiError> {
        let Some(limit) = object::number(&self.deployment, "/spec/revisionHistoryLimit") else { return Ok(()) };
        let mut kept: Vec<&Value> = sets.old.iter().filter(|set| !object::is_being_deleted(set)).collect();
        kept.sort_by_key(|set| annotations::revision(set));
        let too_many = kept.len().saturating_sub(usize::try_from(limit).unwrap_or_default());
        for set in kept.into_iter().take(too_many) {
            let count = |pointer: &str| object::count(set, pointer);
            let is_busy = replicas::wanted(set) != 0 || count("/status/replicas") != 0;
            if is_busy || count("/metadata/generation") > count("/status/observedGeneration") {
                continue;
            }
            let this_life = DeleteOptions { uid: Some(object::uid(set)), ..DeleteOptions::default() };
            match self.controller.client.delete(&REPLICA_SETS, self.namespace(), object::name(set), this_life).await {
                Err(error) if !error.is_not_found() => return Err(error),
                _ => self.controller.written_sets.forget(&object::key(set)),
            }
        }
        Ok(())
    }
}

impl Sets {
    /// All ReplicaSets, the new one last.
    fn all(&self) -> impl Iterator<Item = &Value> {
        self.old.iter().chain(&self.new)
    }
}

/// The key of the Deployment that controls a ReplicaSet. The uid is compared later, when the Deployment is synced.
fn owner_of(set: &Object) -> Option<ObjectKey> {
    let owner = set.owners().iter().find(|owner| owner.controller && &*owner.kind == "Deployment")?;
    Some(ObjectKey::new(&set.key.namespace, &owner.name))
}

/// Queues the Deployments whose selectors match a ReplicaSet that has no controller.
fn enqueue_for_orphan(queue: &Queue<ObjectKey>, deployments: &Lister, set: &Object) {
    if set.owners().iter().any(|owner| owner.controller) {
        return;
    }
    for deployment in deployments.in_namespace(&set.key.namespace) {
        let selector = deployments.parse(&deployment).and_then(|one| Selector::parse(&one["spec"]["selector"]).ok());
        if selector.is_some_and(|selector| selector.matches_object(set)) {
            queue.add(deployment.key.clone());
        }
    }
}
