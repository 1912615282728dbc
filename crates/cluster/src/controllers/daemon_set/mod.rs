//! The DaemonSet controller: one Pod on every Node that is eligible (`pkg/controller/daemon`).
//!
//! `node.rs` decides which Nodes are eligible and builds the Pod for a Node; `rolling.rs` chooses the Pods to replace
//! in a rolling update; `status.rs` computes the status.

mod node;
mod rolling;
mod status;

use std::collections::BTreeMap;
use std::rc::Rc;

use kubechurn_client::api::object::ObjectKey;
use kubechurn_client::cache::store::Change;
use serde_json::Value;
use tokio::time::Duration;

use super::context::Context;
use super::controller::{Controller, SyncError};
use super::controller_ref_manager::{self, ControllerRefManager};
use super::events::Recorder;
use super::expectations::Expectations;
use super::history::{self, History, REVISION_HASH};
use super::object;
use super::pod;
use super::pod_handler::PodHandler;
use super::queue::Queue;
use super::written::Written;
use crate::client::api_error::ApiError;
use crate::client::lister::Lister;
use crate::client::resources::{CONTROLLER_REVISIONS, DAEMON_SETS, NODES, PODS};
use crate::client::rest::{Client, DeleteOptions};
use crate::clock;
use crate::resources::label_selector::Selector;
use node::Fitness;

/// One sync creates or deletes at most this many Pods (`BurstReplicas`).
const BURST_REPLICAS: usize = 250;

/// A failed Pod is replaced no sooner than this many seconds after its start, so that Nodes on which every Pod fails do
/// not cause a hot loop. The real controller waits from one second up to fifteen minutes (`failedPodsBackoff`).
const FAILED_POD_PAUSE: i64 = 10;

/// The controller.
#[derive(Debug)]
pub struct DaemonSets {
    client: Client,
    sets: Lister,
    pods: Lister,
    nodes: Lister,
    revisions: Lister,
    recorder: Recorder,
    expectations: Rc<Expectations>,
    written: Written,
    queue: Queue<ObjectKey>,
}

/// One sync of one DaemonSet.
struct DaemonSetSync<'a> {
    controller: &'a DaemonSets,
    set: &'a Value,
    key: &'a ObjectKey,
    /// The hash of the revision that new Pods get.
    hash: String,
    /// Each Node, and whether it should run a Pod of this DaemonSet.
    nodes: Vec<(String, Fitness)>,
    /// The Pods by the name of their Node, oldest first; Nodes that are deleted are included.
    pods: BTreeMap<String, Vec<Value>>,
    /// Seconds since 1970.
    now: i64,
}

/// What a sync has to do.
#[derive(Debug, Default)]
struct Work {
    /// The names of the Nodes on which to create a Pod.
    create: Vec<String>,
    /// The Pods to delete.
    delete: Vec<Value>,
    /// After how many seconds the next sync may find more to do.
    requeue_after: Option<i64>,
}

impl Controller for DaemonSets {
    type Key = ObjectKey;
    const NAME: &'static str = "daemonset-controller";

    fn new(context: &Context, queue: Queue<ObjectKey>) -> Self {
        let (sets, pods) = (context.lister(DAEMON_SETS), context.lister(PODS));
        let nodes = context.lister(NODES);
        controller_ref_manager::index_orphans(&pods);
        let expectations = Rc::new(Expectations::default());
        let (owners, expected) = (sets.clone(), Rc::clone(&expectations));
        PodHandler { owners, pods: pods.clone(), expectations: expected, queue: queue.clone() }.listen();
        let (waiting, all, known) = (queue.clone(), sets.clone(), nodes.clone());
        nodes.on_change(move |change| {
            // Heartbeats of a Node do not matter here.
            if let Change::Updated { old, new, .. } = change {
                let parsed = (known.parse(old), known.parse(new));
                if parsed.0.as_ref().map(node::what_matters) == parsed.1.as_ref().map(node::what_matters) {
                    return;
                }
            }
            all.list().iter().for_each(|set| waiting.add(set.key.clone()));
        });
        Self {
            client: context.client.clone(),
            sets,
            pods,
            nodes,
            revisions: context.lister(CONTROLLER_REVISIONS),
            recorder: context.recorder(Self::NAME),
            expectations,
            written: Written::default(),
            queue,
        }
    }

    async fn sync(&self, key: &ObjectKey) -> Result<(), SyncError> {
        let Some(set) = self.sets.value(key) else {
            self.expectations.forget(key);
            self.written.forget(key);
            return Ok(());
        };
        if object::is_being_deleted(&set) || self.written.is_ahead_of(&set) {
            return Ok(());
        }
        let may_act = self.expectations.are_satisfied(key);
        let selector =
            Selector::parse(&set["spec"]["selector"]).map_err(|error| SyncError::Other(error.to_string()))?;
        if selector.selects_everything() {
            let message = "This daemon set is selecting all pods. A non-empty selector is required.";
            self.recorder.warning(&set, "SelectingAll", message);
            return Ok(());
        }
        // If the selector does not match the template, the controller would release each Pod that it creates,
        // endlessly.
        if !selector.matches_labels(&set["spec"]["template"]["metadata"]["labels"]) {
            return Ok(());
        }
        let manager =
            ControllerRefManager { client: &self.client, resource: &DAEMON_SETS, owner: &set, selector: &selector };
        let pods = manager.claim(&self.pods).await?;
        let history = History { client: &self.client, revisions: &self.revisions, owner: &set };
        let revisions = history.update().await?;
        let hash = history::hash_of(&revisions.update).to_owned();
        let sync = self.prepare(&set, key, hash, pods);

        let mut failed = None;
        let mut requeue_after = None;
        if may_act {
            let work = sync.manage();
            requeue_after = work.requeue_after;
            let rolls = object::text(&set, "/spec/updateStrategy/type") != "OnDelete";
            failed = sync.sync_nodes(&work).await.err();
            // Pods that were just created or deleted are awaited first.
            if failed.is_none() && rolls && self.expectations.are_satisfied(key) {
                failed = sync.sync_nodes(&sync.rolling_update()).await.err();
            }
        }
        let status = sync.status(revisions.collision_count);
        if status != set["status"] {
            let mut updated = set.clone();
            updated["status"] = status;
            self.written.note(&self.client.update_status(&DAEMON_SETS, &updated).await?);
        }
        let ready = sync.pods.values().flatten();
        let ready = ready.filter_map(|pod| pod::available_in(pod, sync.min_ready_seconds(), sync.now));
        if let Some(seconds) = ready.filter(|seconds| *seconds > 0).chain(requeue_after).min() {
            self.queue.add_after(key.clone(), Duration::from_secs(seconds.unsigned_abs()));
        }
        if let Some(failed) = failed.filter(|failed| !failed.is_namespace_terminating()) {
            return Err(failed.into());
        }
        let hashes: Vec<&str> =
            sync.pods.values().flatten().filter_map(|pod| object::label(pod, REVISION_HASH)).collect();
        let is_live = |revision: &Value| {
            let hash = history::hash_of(revision);
            hash == sync.hash || hashes.contains(&hash)
        };
        Ok(history.truncate(&revisions.all, is_live).await?)
    }
}

impl DaemonSets {
    fn prepare<'a>(&'a self, set: &'a Value, key: &'a ObjectKey, hash: String, pods: Vec<Value>) -> DaemonSetSync<'a> {
        let nodes = self.nodes.list().iter().filter_map(|node| self.nodes.parse(node)).collect::<Vec<Value>>();
        let nodes = nodes.iter().map(|node| (object::name(node).to_owned(), node::fitness(set, node))).collect();
        let mut by_node: BTreeMap<String, Vec<Value>> = BTreeMap::new();
        for pod in pods {
            by_node.entry(node::of(&pod).to_owned()).or_default().push(pod);
        }
        for pods in by_node.values_mut() {
            pods.sort_by_cached_key(|pod| {
                let unassigned = object::text(pod, "/spec/nodeName").is_empty();
                let created = object::time(pod, "/metadata/creationTimestamp").map(|time| time.0);
                (unassigned, created, object::name(pod).to_owned())
            });
        }
        DaemonSetSync { controller: self, set, key, hash, nodes, pods: by_node, now: clock::now() }
    }
}

impl DaemonSetSync<'_> {
    fn min_ready_seconds(&self) -> i64 {
        object::number(self.set, "/spec/minReadySeconds").unwrap_or_default()
    }

    fn pods_on(&self, node: &str) -> &[Value] {
        self.pods.get(node).map_or(&[], Vec::as_slice)
    }

    fn is_available(&self, pod: &Value) -> bool {
        pod::available_in(pod, self.min_ready_seconds(), self.now) == Some(0)
    }

    /// Whether a Pod is of the newest template.
    fn is_updated(&self, pod: &Value) -> bool {
        object::label(pod, REVISION_HASH) == Some(&self.hash)
    }

    /// Chooses the Nodes that need a Pod, and the Pods that should not be where they are (`manage`,
    /// `podsShouldBeOnNode`).
    fn manage(&self) -> Work {
        let mut work = Work::default();
        for (node, fitness) in &self.nodes {
            let pods = self.pods_on(node);
            let staying = pods.iter().filter(|pod| !object::is_being_deleted(pod));
            match fitness {
                Fitness::Runs if pods.is_empty() => work.create.push(node.clone()),
                Fitness::Runs | Fitness::Stays => {
                    let mut running = Vec::new();
                    for pod in staying {
                        match object::text(pod, "/status/phase") {
                            "Failed" | "Succeeded" => self.replace_ended(pod, node, &mut work),
                            _ => running.push(pod),
                        }
                    }
                    work.delete.extend(self.spare(&running).into_iter().cloned());
                }
                Fitness::None => work.delete.extend(staying.cloned()),
            }
        }
        // A Pod that was made for a Node that is deleted would stay pending forever.
        let is_known = |node: &&String| self.nodes.iter().any(|(name, _)| name == *node);
        for (_, pods) in self.pods.iter().filter(|(node, _)| !is_known(node)) {
            let waiting =
                |pod: &&Value| object::text(pod, "/spec/nodeName").is_empty() && !object::is_being_deleted(pod);
            work.delete.extend(pods.iter().filter(waiting).cloned());
        }
        work
    }

    /// Deletes a Pod that has ended, after a pause, so that it is replaced.
    fn replace_ended(&self, pod: &Value, node: &str, work: &mut Work) {
        let created = object::time(pod, "/metadata/creationTimestamp").map_or(self.now, |time| time.0);
        let wait = created.saturating_add(FAILED_POD_PAUSE) - self.now;
        let recorder = &self.controller.recorder;
        let place = format!("{}/{} on node {node}", object::namespace(pod), object::name(pod));
        if object::text(pod, "/status/phase") == "Succeeded" {
            let message = format!("Found succeeded daemon pod {place}, will try to delete it");
            recorder.normal(self.set, "SucceededDaemonPod", &message);
        } else if wait > 0 {
            work.requeue_after = Some(work.requeue_after.map_or(wait, |known| known.min(wait)));
            return;
        } else {
            let message = format!("Found failed daemon pod {place}, will try to kill it");
            recorder.warning(self.set, "FailedDaemonPod", &message);
        }
        work.delete.push(pod.clone());
    }

    /// Of the running Pods of a Node, oldest first, those that are too many: with a surge, one per template is allowed.
    fn spare<'a>(&self, running: &[&'a Value]) -> Vec<&'a Value> {
        if self.limits().surge == 0 {
            return running.iter().skip(1).copied().collect();
        }
        let (new, old): (Vec<&Value>, Vec<&Value>) = running.iter().partition(|pod| self.is_updated(pod));
        let is_replaced = new.first().is_some_and(|pod| self.is_available(pod));
        let old = old.into_iter().skip(usize::from(!is_replaced));
        new.into_iter().skip(1).chain(old).collect()
    }

    /// Carries out the work (`syncNodes`).
    async fn sync_nodes(&self, work: &Work) -> Result<(), ApiError> {
        let (recorder, expectations) = (&self.controller.recorder, &self.controller.expectations);
        let create = &work.create[..work.create.len().min(BURST_REPLICAS)];
        let delete = &work.delete[..work.delete.len().min(BURST_REPLICAS)];
        expectations.expect_creations(self.key, create.len());
        expectations.expect_deletions(self.key, delete.iter().map(object::uid));
        let mut failed = None;
        for (at, node) in create.iter().enumerate() {
            let new = node::new_pod(self.set, node, &self.hash);
            match self.controller.client.create(&PODS, &self.key.namespace, &new).await {
                Ok(created) => {
                    let message = format!("Created pod: {}", object::name(&created));
                    recorder.normal(self.set, "SuccessfulCreate", &message);
                }
                Err(error) => {
                    (at..create.len()).for_each(|_| expectations.creation_observed(self.key));
                    if !error.is_namespace_terminating() {
                        recorder.warning(self.set, "FailedCreate", &format!("Error creating: {error}"));
                    }
                    failed = Some(error);
                    break;
                }
            }
        }
        for pod in delete {
            let (name, uid) = (object::name(pod), object::uid(pod));
            let this_life = DeleteOptions { uid: Some(uid), ..DeleteOptions::default() };
            match self.controller.client.delete(&PODS, &self.key.namespace, name, this_life).await {
                Ok(_) => recorder.normal(self.set, "SuccessfulDelete", &format!("Deleted pod: {name}")),
                Err(error) => {
                    expectations.deletion_observed(self.key, uid);
                    if !error.is_not_found() {
                        recorder.warning(self.set, "FailedDelete", &format!("Error deleting: {error}"));
                        failed = Some(error);
                    }
                }
            }
        }
        failed.map_or(Ok(()), Err)
    }
}
