//! kube-scheduler: finds a node for every Pod that has none (`pkg/scheduler`).
//!
//! Pods are scheduled one at a time, as in Kubernetes: what earlier Pods were assigned counts as used, even before the
//! informer shows it. A Pod without a feasible node waits until a node changes, or a Pod that has a node.

mod cache;
pub mod filters;
pub mod node_info;

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use axum::http::Method;
use kubechurn_client::api::object::{Object, ObjectKey};
use kubechurn_client::cache::store::Change;
use serde_json::{Value, json};

use super::context::Context;
use super::controller::{Controller, SyncError};
use super::events::Recorder;
use super::object;
use super::pace::Pace;
use super::pod_view::PodView;
use super::queue::Queue;
use crate::client::api_error::ApiError;
use crate::client::lister::Lister;
use crate::client::resources::{NODES, PODS};
use crate::client::rest::{Client, Patch, object_path};
use crate::clock;
use cache::Cache;
use filters::Demands;
use node_info::Resources;

/// The default scheduler name of Pods.
pub const DEFAULT: &str = "default-scheduler";

/// A client of the program and of the user as whom the scheduler makes requests.
pub fn client_of(client: &Client) -> Client {
    client.with_user_agent("kube-scheduler").with_user("system:kube-scheduler")
}

/// The shortest and the longest delay, in seconds, before a Pod is tried again (`podInitialBackoffSeconds`,
/// `podMaxBackoffSeconds`).
const BACK_OFF: (f64, f64) = (1.0, 10.0);

/// The scheduler.
#[derive(Debug)]
pub struct Scheduler {
    client: Client,
    pods: Lister,
    recorder: Recorder,
    shared: Rc<Shared>,
}

/// The state that the scheduler and its handlers share.
#[derive(Debug)]
struct Shared {
    cache: RefCell<Cache>,
    /// The Pods without a feasible node.
    waiting: RefCell<HashMap<ObjectKey, Waiting>>,
    queue: Queue<ObjectKey>,
    pace: Pace,
}

/// A Pod without a feasible node.
#[derive(Debug, Default)]
struct Waiting {
    attempts: u32,
    /// Whether the Pod is already queued again.
    is_queued: bool,
}

impl Controller for Scheduler {
    type Key = ObjectKey;
    const NAME: &'static str = DEFAULT;
    // One worker, because Pods must not be assigned the same resources.
    const WORKERS: usize = 1;

    fn new(context: &Context, queue: Queue<ObjectKey>) -> Self {
        let (pods, nodes) = (context.lister(PODS), context.lister(NODES));
        let shared = Rc::new(Shared {
            cache: RefCell::new(Cache::new(context.options.seed)),
            waiting: RefCell::default(),
            queue,
            pace: context.options.pace,
        });
        let known = Rc::clone(&shared);
        pods.on_change(move |change| known.pod_changed(change));
        let (known, lister) = (Rc::clone(&shared), nodes.clone());
        nodes.on_change(move |change| match change {
            Change::Deleted { last, .. } => known.cache.borrow_mut().remove_node(&last.key.name),
            _ => {
                let node = lister.parse(change.object()).unwrap_or_default();
                if known.cache.borrow_mut().set_node(&node) {
                    known.retry();
                }
            }
        });
        Self { client: client_of(&context.client), pods, recorder: context.recorder(DEFAULT), shared }
    }

    async fn sync(&self, key: &ObjectKey) -> Result<(), SyncError> {
        let Some(object) = self.pods.get(key) else {
            self.shared.waiting.borrow_mut().remove(key);
            return Ok(());
        };
        let view = PodView::of(&object);
        let Some(pod) = self.pods.parse(&object).filter(|pod| is_mine(pod) && view.node().is_none()) else {
            return Ok(());
        };
        if object::is_being_deleted(&pod) || self.shared.cache.borrow().is_assumed(key) {
            return Ok(());
        }
        if pod["spec"]["schedulingGates"].as_array().is_some_and(|gates| !gates.is_empty()) {
            let message = "Scheduling is blocked due to non-empty scheduling gates";
            return self.not_scheduled(&pod, "SchedulingGated", message).await;
        }
        let resources = Resources::of(&view);
        let chosen = self.shared.cache.borrow_mut().schedule(&Demands::of(&pod, resources));
        match chosen {
            Ok(node) => self.bind(key, &pod, &node, resources).await,
            Err(unschedulable) => {
                {
                    let mut waiting = self.shared.waiting.borrow_mut();
                    let waiting = waiting.entry(key.clone()).or_default();
                    (waiting.attempts, waiting.is_queued) = (waiting.attempts.saturating_add(1), false);
                }
                self.recorder.warning(&pod, "FailedScheduling", &unschedulable.message);
                self.not_scheduled(&pod, "Unschedulable", &unschedulable.message).await
            }
        }
    }
}

/// Whether a Pod names this scheduler.
fn is_mine(pod: &Value) -> bool {
    ["", DEFAULT].contains(&object::text(pod, "/spec/schedulerName"))
}

impl Scheduler {
    async fn bind(&self, key: &ObjectKey, pod: &Value, node: &str, resources: Resources) -> Result<(), SyncError> {
        self.shared.cache.borrow_mut().assume(key, node, resources);
        let binding = json!({"apiVersion": "v1", "kind": "Binding",
            "metadata": {"name": &*key.name, "namespace": &*key.namespace, "uid": object::uid(pod)},
            "target": {"apiVersion": "v1", "kind": "Node", "name": node}});
        let path = object_path(&PODS, &key.namespace, &key.name, "binding");
        match self.client.request(Method::POST, &path, "application/json", binding.to_string()).await {
            Ok(_) => {
                self.shared.waiting.borrow_mut().remove(key);
                let message = format!("Successfully assigned {}/{} to {node}", key.namespace, key.name);
                self.recorder.normal(pod, "Scheduled", &message);
                Ok(())
            }
            Err(error) => {
                self.shared.cache.borrow_mut().forget(key);
                // Another client bound or deleted the Pod, which the informer will show.
                if error.is_conflict() || error.is_not_found() { Ok(()) } else { Err(error.into()) }
            }
        }
    }

    /// Writes into the Pod's status why it has no node.
    async fn not_scheduled(&self, pod: &Value, reason: &str, message: &str) -> Result<(), SyncError> {
        let known = object::condition(pod, "PodScheduled");
        let text = |field: &str| known.map(|known| known[field].as_str().unwrap_or_default()).unwrap_or_default();
        if (text("status"), text("reason"), text("message")) == ("False", reason, message) {
            return Ok(());
        }
        let since = match known.filter(|known| known["status"] == "False") {
            Some(known) => known["lastTransitionTime"].clone(),
            None => clock::timestamp(clock::now()).into(),
        };
        let condition = json!({"type": "PodScheduled", "status": "False", "lastProbeTime": null,
            "lastTransitionTime": since, "reason": reason, "message": message,
            "observedGeneration": pod["metadata"]["generation"]});
        let patch = json!({"metadata": {"uid": object::uid(pod)}, "status": {"conditions": [condition]}});
        let (namespace, name) = (object::namespace(pod), object::name(pod));
        match self.client.patch_status(&PODS, namespace, name, Patch::Strategic(&patch)).await {
            Err(error) if !gone(&error) => Err(error.into()),
            _ => Ok(()),
        }
    }
}

fn gone(error: &ApiError) -> bool {
    error.is_not_found() || error.is_conflict()
}

impl Shared {
    fn pod_changed(&self, change: &Change) {
        let (before, after): (Option<&Object>, Option<&Object>) = match change {
            Change::Added { new, .. } => (None, Some(new)),
            Change::Updated { old, new, .. } => (Some(old), Some(new)),
            Change::Synced { .. } => return,
            Change::Deleted { last, .. } => (Some(last), None),
        };
        let (before, after) = (before.map(PodView::of), after.map(PodView::of));
        let key = &change.object().key;
        let node = |view: &Option<PodView<'_>>| view.as_ref().filter(|one| !one.is_over())?.node().map(str::to_owned);
        let (left, taken) = (node(&before), node(&after));
        if let (Some(view), Some(node)) = (&before, &left) {
            self.cache.borrow_mut().remove_pod(node, &Resources::of(view));
        }
        if let (Some(view), Some(node)) = (&after, &taken) {
            self.cache.borrow_mut().add_pod(key, node, &Resources::of(view));
        }
        match &after {
            None => {
                self.cache.borrow_mut().forget(key);
                self.waiting.borrow_mut().remove(key);
            }
            Some(view) if view.node().is_some() => drop(self.waiting.borrow_mut().remove(key)),
            Some(view) if view.is_being_deleted() || view.is_over() => {}
            Some(view) => {
                let mine = ["", DEFAULT].contains(&view.spec.scheduler_name.as_deref().unwrap_or_default());
                // A change by the scheduler itself is no reason to try again; a changed spec or label may be one.
                let unchanged = before.as_ref().is_some_and(|old| old.metadata.generation == view.metadata.generation);
                if mine && !unchanged {
                    self.queue.add(key.clone());
                }
            }
        }
        if left.is_some() && left != taken {
            self.retry();
        }
    }

    /// Queues the waiting Pods again, after a change that may make a node feasible.
    fn retry(&self) {
        for (key, waiting) in self.waiting.borrow_mut().iter_mut().filter(|(_, waiting)| !waiting.is_queued) {
            waiting.is_queued = true;
            let seconds = (BACK_OFF.0 * 2_f64.powi(waiting.attempts.saturating_sub(1).min(10) as i32)).min(BACK_OFF.1);
            self.queue.add_after(key.clone(), Pace::seconds(self.pace.back_off, seconds));
        }
    }
}
