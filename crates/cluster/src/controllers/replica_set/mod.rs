//! The ReplicaSet controller: keeps the desired number of Pods, no more and no fewer (`pkg/controller/replicaset`).
//!
//! It is also the example for other controllers: listers and handlers are set up in [`Controller::new`], and
//! [`Controller::sync`] does everything else from the current state, not from what changed.

mod ranking;
mod status;

use std::collections::HashMap;
use std::rc::Rc;

use kubechurn_client::api::object::ObjectKey;
use serde_json::Value;
use tokio::time::Duration;

use super::context::Context;
use super::controller::{Controller, SyncError};
use super::controller_ref_manager::{self, ControllerRefManager};
use super::events::Recorder;
use super::expectations::Expectations;
use super::pod_handler::PodHandler;
use super::queue::Queue;
use super::written::Written;
use super::{object, pod};
use crate::client::api_error::ApiError;
use crate::client::lister::Lister;
use crate::client::resources::{PODS, REPLICA_SETS};
use crate::client::rest::{Client, DeleteOptions};
use crate::clock;
use crate::resources::label_selector::Selector;

/// One sync creates or deletes at most this many Pods (`BurstReplicas`).
const BURST_REPLICAS: usize = 500;

/// The controller.
#[derive(Debug)]
pub struct ReplicaSets {
    client: Client,
    sets: Lister,
    pods: Lister,
    recorder: Recorder,
    expectations: Rc<Expectations>,
    written: Written,
    queue: Queue<ObjectKey>,
}

/// What a sync failed to do, for the condition ReplicaFailure.
#[derive(Debug)]
pub(super) struct Failure {
    /// `FailedCreate` or `FailedDelete`.
    reason: &'static str,
    error: ApiError,
}

impl Controller for ReplicaSets {
    type Key = ObjectKey;
    const NAME: &'static str = "replicaset-controller";

    fn new(context: &Context, queue: Queue<ObjectKey>) -> Self {
        let (sets, pods) = (context.lister(REPLICA_SETS), context.lister(PODS));
        controller_ref_manager::index_orphans(&pods);
        let expectations = Rc::new(Expectations::default());
        let handler = PodHandler {
            owners: sets.clone(),
            pods: pods.clone(),
            expectations: Rc::clone(&expectations),
            queue: queue.clone(),
        };
        handler.listen();
        let recorder = context.recorder(Self::NAME);
        let written = Written::default();
        Self { client: context.client.clone(), sets, pods, recorder, expectations, written, queue }
    }

    async fn sync(&self, key: &ObjectKey) -> Result<(), SyncError> {
        let Some(set) = self.sets.value(key) else {
            self.expectations.forget(key);
            self.written.forget(key);
            return Ok(());
        };
        if self.written.is_ahead_of(&set) {
            return Ok(());
        }
        // Read before the Pods: a change between the two reads leads to another sync.
        let may_act = self.expectations.are_satisfied(key);
        let Some(selector) = Selector::of_workload(&set) else { return Ok(()) };
        let manager =
            ControllerRefManager { client: &self.client, resource: &REPLICA_SETS, owner: &set, selector: &selector };
        let mut pods = manager.claim(&self.pods).await?;
        pods.retain(pod::is_active);
        let mut failure = None;
        if may_act && !object::is_being_deleted(&set) {
            failure = self.manage(key, &set, &pods).await.err();
        }
        let now = clock::now();
        let status = status::compute(&set, &pods, failure.as_ref(), now);
        if status != set["status"] {
            let mut updated = set.clone();
            object::set(&mut updated, &["status"], status);
            self.written.note(&self.client.update_status(&REPLICA_SETS, &updated).await?);
        }
        // A ready Pod becomes available by the passing of time alone, which causes no event.
        let min_ready_seconds = object::number(&set, "/spec/minReadySeconds").unwrap_or_default();
        let next = pods.iter().filter_map(|pod| pod::available_in(pod, min_ready_seconds, now));
        if let Some(seconds) = next.filter(|seconds| *seconds > 0).min() {
            self.queue.add_after(key.clone(), Duration::from_secs(seconds.unsigned_abs()));
        }
        match failure {
            Some(failure) if !failure.error.is_namespace_terminating() => Err(failure.error.into()),
            _ => Ok(()),
        }
    }
}

impl ReplicaSets {
    /// Creates missing Pods, or deletes those that are too many (`manageReplicas`).
    async fn manage(&self, key: &ObjectKey, set: &Value, pods: &[Value]) -> Result<(), Failure> {
        let wanted = usize::try_from(object::number(set, "/spec/replicas").unwrap_or(1)).unwrap_or_default();
        if pods.len() < wanted {
            let count = (wanted - pods.len()).min(BURST_REPLICAS);
            self.expectations.expect_creations(key, count);
            let new = pod::from_template(&set["spec"]["template"], set, &key.name);
            for number in 0..count {
                match self.client.create(&PODS, &key.namespace, &new).await {
                    Ok(created) => {
                        let message = format!("Created pod: {}", object::name(&created));
                        self.recorder.normal(set, "SuccessfulCreate", &message);
                    }
                    Err(error) => {
                        // Neither this Pod nor those after it will be observed.
                        (number..count).for_each(|_| self.expectations.creation_observed(key));
                        if !error.is_namespace_terminating() {
                            self.recorder.warning(set, "FailedCreate", &format!("Error creating: {error}"));
                        }
                        return Err(Failure { reason: "FailedCreate", error });
                    }
                }
            }
        } else if pods.len() > wanted {
            let count = (pods.len() - wanted).min(BURST_REPLICAS);
            let related = self.related(set);
            let leaving = ranking::first_to_go(pods, &related, count, clock::now());
            self.expectations.expect_deletions(key, leaving.iter().map(|pod| object::uid(pod)));
            let mut failure = None;
            for pod in leaving {
                let (name, uid) = (object::name(pod), object::uid(pod));
                let this_life = DeleteOptions { uid: Some(uid), ..DeleteOptions::default() };
                match self.client.delete(&PODS, &key.namespace, name, this_life).await {
                    Ok(_) => self.recorder.normal(set, "SuccessfulDelete", &format!("Deleted pod: {name}")),
                    Err(error) => {
                        self.expectations.deletion_observed(key, uid);
                        if !error.is_not_found() {
                            self.recorder.warning(set, "FailedDelete", &format!("Error deleting: {error}"));
                            failure = Some(Failure { reason: "FailedDelete", error });
                        }
                    }
                }
            }
            return failure.map_or(Ok(()), Err);
        }
        Ok(())
    }

    /// How many active Pods each node has of this ReplicaSet and of those with the same controller
    /// (`getIndirectlyRelatedPods`).
    fn related(&self, set: &Value) -> HashMap<String, usize> {
        let mut uids = vec![object::uid(set).to_owned()];
        if let Some(owner) = object::controller_of(set) {
            let siblings = self.sets.owned_by(object::text(owner, "/uid"));
            uids.extend(siblings.iter().map(|sibling| sibling.uid.to_string()));
        }
        uids.sort_unstable();
        uids.dedup();
        let mut related = HashMap::new();
        for pod in uids.iter().flat_map(|uid| self.pods.owned_by(uid)).filter_map(|pod| self.pods.parse(&pod)) {
            if pod::is_active(&pod) {
                *related.entry(object::text(&pod, "/spec/nodeName").to_owned()).or_insert(0) += 1;
            }
        }
        related
    }
}
