//! The StatefulSet controller: Pods with stable names, created and deleted in order (`pkg/controller/statefulset`).
//!
//! `identity.rs` builds the names, labels and volumes of Pods, `replicas.rs` takes one step of scaling, `update.rs` one
//! step of a rolling update, and `status.rs` computes the status.

mod identity;
mod replicas;
mod status;
mod update;

use kubechurn_client::api::object::ObjectKey;
use serde_json::Value;
use std::rc::Rc;
use tokio::time::Duration;

use super::context::Context;
use super::controller::{Controller, SyncError};
use super::controller_ref_manager::{self, ControllerRefManager};
use super::events::Recorder;
use super::history::{History, REVISION_HASH, template_of};
use super::object;
use super::pod;
use super::pod_handler::PodHandler;
use super::queue::Queue;
use super::written::Written;
use crate::client::lister::Lister;
use crate::client::resources::{CLAIMS, CONTROLLER_REVISIONS, PODS, STATEFUL_SETS};
use crate::client::rest::Client;
use crate::clock;
use crate::resources::label_selector::Selector;

/// The controller.
#[derive(Debug)]
pub struct StatefulSets {
    client: Client,
    sets: Lister,
    pods: Lister,
    claims: Lister,
    revisions: Lister,
    recorder: Recorder,
    written: Written,
    queue: Queue<ObjectKey>,
}

/// One sync of one StatefulSet.
struct StatefulSetSync<'a> {
    controller: &'a StatefulSets,
    set: &'a Value,
    /// The version of Pods below the partition.
    current: Version,
    /// The version of all other Pods.
    update: Version,
    /// Seconds since 1970.
    now: i64,
}

/// The name of a revision, and its template.
struct Version {
    name: String,
    template: Value,
}

impl Controller for StatefulSets {
    type Key = ObjectKey;
    const NAME: &'static str = "statefulset-controller";

    fn new(context: &Context, queue: Queue<ObjectKey>) -> Self {
        let (sets, pods) = (context.lister(STATEFUL_SETS), context.lister(PODS));
        controller_ref_manager::index_orphans(&pods);
        // The names of Pods are fixed, so that none can be created twice and no expectations are needed.
        let expectations = Rc::default();
        PodHandler { owners: sets.clone(), pods: pods.clone(), expectations, queue: queue.clone() }.listen();
        Self {
            client: context.client.clone(),
            sets,
            pods,
            claims: context.lister(CLAIMS),
            revisions: context.lister(CONTROLLER_REVISIONS),
            recorder: context.recorder(Self::NAME),
            written: Written::default(),
            queue,
        }
    }

    async fn sync(&self, key: &ObjectKey) -> Result<(), SyncError> {
        let Some(set) = self.sets.value(key) else {
            self.written.forget(key);
            return Ok(());
        };
        // The status says which revision is current, and thus the version of new Pods.
        if self.written.is_ahead_of(&set) {
            return Ok(());
        }
        let selector =
            Selector::parse(&set["spec"]["selector"]).map_err(|error| SyncError::Other(error.to_string()))?;
        let manager =
            ControllerRefManager { client: &self.client, resource: &STATEFUL_SETS, owner: &set, selector: &selector };
        let mut pods = manager.claim(&self.pods).await?;
        pods.retain(|pod| identity::ordinal(&set, pod).is_some());
        let history = History { client: &self.client, revisions: &self.revisions, owner: &set };
        let revisions = history.update().await?;
        let update = version(&revisions.update);
        let current = object::text(&set, "/status/currentRevision");
        let current = revisions.all.iter().find(|revision| object::name(revision) == current);
        let current = current.map_or_else(|| version(&revisions.update), version);

        let now = clock::now();
        let sync = StatefulSetSync { controller: self, set: &set, current, update, now };
        let mut made = pods.clone();
        let failed = sync.reconcile(&mut made).await.err();
        let mut status = sync.status(&made, revisions.collision_count);
        sync.complete_update(&mut status);
        if status != set["status"] {
            let mut updated = set.clone();
            updated["status"] = status.clone();
            self.written.note(&self.client.update_status(&STATEFUL_SETS, &updated).await?);
        }
        // A ready Pod becomes available by the passing of time alone, which causes no event.
        let next = pods.iter().filter_map(|pod| pod::available_in(pod, sync.min_ready_seconds(), now));
        if let Some(seconds) = next.filter(|seconds| *seconds > 0).min() {
            self.queue.add_after(key.clone(), Duration::from_secs(seconds.unsigned_abs()));
        }
        if let Some(failed) = failed {
            // If the name is taken, the informer will show that Pod, or the end of its deletion.
            return if failed.is_already_exists() || failed.is_namespace_terminating() {
                self.queue.add_rate_limited(key.clone());
                Ok(())
            } else {
                Err(failed.into())
            };
        }
        let live = [object::text(&status, "/currentRevision"), object::text(&status, "/updateRevision")];
        let is_live = |revision: &Value| {
            let name = object::name(revision);
            live.contains(&name) || made.iter().any(|pod| object::label(pod, REVISION_HASH) == Some(name))
        };
        Ok(history.truncate(&revisions.all, is_live).await?)
    }
}

fn version(revision: &Value) -> Version {
    Version { name: object::name(revision).to_owned(), template: template_of(revision) }
}

impl StatefulSetSync<'_> {
    fn min_ready_seconds(&self) -> i64 {
        object::number(self.set, "/spec/minReadySeconds").unwrap_or_default()
    }

    fn wanted(&self) -> usize {
        usize::try_from(object::number(self.set, "/spec/replicas").unwrap_or(1)).unwrap_or_default()
    }

    /// The ordinal of the first Pod.
    fn start(&self) -> usize {
        let start = object::number(self.set, "/spec/ordinals/start").unwrap_or_default();
        usize::try_from(start).unwrap_or_default()
    }

    fn partition(&self) -> usize {
        let partition = object::number(self.set, "/spec/updateStrategy/rollingUpdate/partition").unwrap_or_default();
        usize::try_from(partition).unwrap_or_default()
    }

    fn is_rolling(&self) -> bool {
        object::text(self.set, "/spec/updateStrategy/type") != "OnDelete"
    }

    /// Whether Pods are created and deleted one at a time, as they are unless `podManagementPolicy` is Parallel.
    fn is_ordered(&self) -> bool {
        object::text(self.set, "/spec/podManagementPolicy") != "Parallel"
    }

    fn is_available(&self, pod: &Value) -> bool {
        identity::is_running(pod) && pod::available_in(pod, self.min_ready_seconds(), self.now) == Some(0)
    }

    /// Whether a Pod is running and ready, and is not being deleted.
    fn is_healthy(&self, pod: &Value) -> bool {
        identity::is_running(pod) && pod::is_ready(pod) && !object::is_being_deleted(pod)
    }
}
