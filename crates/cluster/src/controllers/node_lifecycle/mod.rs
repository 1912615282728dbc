//! The node lifecycle controller: detects nodes whose kubelet no longer reports, and taints them
//! (`pkg/controller/nodelifecycle`).
//!
//! A node counts as healthy as long as its Lease is renewed. The controller measures with its own clock when it sees a
//! renewal, and not with the times in the Lease, so that clocks need not agree. [`taint_eviction`] then decides what
//! becomes of the node's Pods.

pub mod taint_eviction;

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use kubechurn_client::api::object::ObjectKey;
use kubechurn_client::cache::store::Change;
use serde_json::{Value, json};
use tokio::time::{Duration, Instant};

use super::context::Context;
use super::controller::{Controller, SyncError};
use super::events::Recorder;
use super::kubelet::heartbeat;
use super::kubelet::{NODE, index_by_node};
use super::pace::Pace;
use super::queue::Queue;
use super::scheduler::filters::UNSCHEDULABLE;
use super::{object, pod};
use crate::client::lister::Lister;
use crate::client::resources::{LEASES, NODES, PODS};
use crate::client::rest::{Client, Patch};
use crate::clock;

/// How long a node may be silent, in seconds (`--node-monitor-grace-period`, 40 s until 1.31 and 50 s since; the demo
/// keeps 40 s, the duration of a Lease).
const GRACE: f64 = 40.0;
/// The taint of a node whose condition Ready is False.
const NOT_READY: &str = "node.kubernetes.io/not-ready";
/// The taint of a node whose condition Ready is Unknown.
const UNREACHABLE: &str = "node.kubernetes.io/unreachable";
/// The component in the Events about nodes.
const COMPONENT: &str = "node-controller";

/// The controller.
#[derive(Debug)]
pub struct NodeLifecycle {
    client: Client,
    nodes: Lister,
    pods: Lister,
    recorder: Recorder,
    queue: Queue<String>,
    pace: Pace,
    /// When each node last reported.
    last_reported: Rc<RefCell<HashMap<String, Instant>>>,
}

impl Controller for NodeLifecycle {
    type Key = String;
    const NAME: &'static str = "node-lifecycle-controller";

    fn new(context: &Context, queue: Queue<String>) -> Self {
        let (nodes, pods, leases) = (context.lister(NODES), context.lister(PODS), context.lister(LEASES));
        index_by_node(&pods);
        let recorder = context.recorder(COMPONENT);
        let last_reported: Rc<RefCell<HashMap<String, Instant>>> = Rc::default();
        let (known, waiting, lister, events) =
            (Rc::clone(&last_reported), queue.clone(), nodes.clone(), recorder.clone());
        nodes.on_change(move |change| {
            let name = change.object().key.name.to_string();
            match change {
                Change::Added { new, .. } => {
                    known.borrow_mut().insert(name.clone(), Instant::now());
                    if let Some(node) = lister.parse(new) {
                        let message = format!("Node {name} event: Registered Node {name} in Controller");
                        events.normal(&node, "RegisteredNode", &message);
                    }
                }
                Change::Deleted { last, .. } => {
                    known.borrow_mut().remove(&name);
                    if let Some(node) = lister.parse(last) {
                        let message = format!("Node {name} event: Removing Node {name} from Controller");
                        events.normal(&node, "RemovingNode", &message);
                    }
                }
                // A status that a kubelet writes counts as much as a Lease.
                Change::Updated { old, new, .. } => {
                    let beat = |node| lister.parse(node).map(|node| heartbeat_of(&node));
                    if beat(old) != beat(new) {
                        known.borrow_mut().insert(name.clone(), Instant::now());
                    }
                }
                Change::Synced { .. } => {}
            }
            waiting.add(name);
        });
        let known = Rc::clone(&last_reported);
        leases.on_change(move |change| {
            let (Change::Added { new: lease, .. } | Change::Updated { new: lease, .. }) = change else { return };
            if &*lease.key.namespace == heartbeat::NAMESPACE
                && let Some(last_reported) = known.borrow_mut().get_mut(&*lease.key.name)
            {
                *last_reported = Instant::now();
            }
        });
        Self { client: context.client.clone(), nodes, pods, recorder, queue, pace: context.options.pace, last_reported }
    }

    async fn sync(&self, name: &String) -> Result<(), SyncError> {
        let Some(node) = self.nodes.value(&ObjectKey::new("", name)) else { return Ok(()) };
        let Some(last_reported) = self.last_reported.borrow().get(name).copied() else { return Ok(()) };
        let grace = Pace::seconds(self.pace.heartbeats, GRACE);
        let silent = last_reported.elapsed();
        if silent < grace {
            self.queue.add_after(name.clone(), grace - silent + Duration::from_millis(1));
        } else {
            // When the node reports again, only its Lease changes, which queues no sync.
            self.queue.add_after(name.clone(), heartbeat::renewal(self.pace));
        }
        let is_silent = silent >= grace;
        let was = ready(&node).to_owned();
        let mut node = node;
        if is_silent && was != "Unknown" {
            node = self.mark_unknown(name, node).await?;
        }
        let is_ready = ready(&node) == "True";
        self.taint(name, &node).await?;
        if !is_ready {
            if is_silent && was == "True" {
                self.recorder.normal(&node, "NodeNotReady", &format!("Node {name} status is now: NodeNotReady"));
            }
            self.mark_pods_not_ready(name).await?;
        }
        Ok(())
    }
}

/// The status of the condition Ready; `Unknown` if there is none.
fn ready(node: &Value) -> &str {
    object::condition(node, "Ready").and_then(|ready| ready["status"].as_str()).unwrap_or("Unknown")
}

/// The time of the last heartbeat in the condition Ready, as the kubelet wrote it.
fn heartbeat_of(node: &Value) -> String {
    let ready = object::condition(node, "Ready");
    ready.map(|ready| object::text(ready, "/lastHeartbeatTime").to_owned()).unwrap_or_default()
}

impl NodeLifecycle {
    /// Sets every condition that the kubelet had reported to Unknown (`tryUpdateNodeHealth`). Returns the Node as it is
    /// then.
    async fn mark_unknown(&self, name: &str, mut node: Value) -> Result<Value, SyncError> {
        let now = clock::timestamp(clock::now());
        let mut conditions = node["status"]["conditions"].as_array().cloned().unwrap_or_default();
        for kind in ["Ready", "MemoryPressure", "DiskPressure", "PIDPressure"] {
            match conditions.iter_mut().find(|one| one["type"] == kind) {
                Some(known) if known["status"] == "Unknown" => {}
                Some(known) => {
                    known["status"] = "Unknown".into();
                    known["reason"] = "NodeStatusUnknown".into();
                    known["message"] = "Kubelet stopped posting node status.".into();
                    known["lastTransitionTime"] = now.as_str().into();
                }
                None => conditions.push(json!({"type": kind, "status": "Unknown", "reason": "NodeStatusNeverUpdated",
                    "message": "Kubelet never posted node status.", "lastHeartbeatTime": node["metadata"]["creationTimestamp"],
                    "lastTransitionTime": now})),
            }
        }
        let version = node["metadata"]["resourceVersion"].clone();
        let patch = json!({"metadata": {"resourceVersion": version}, "status": {"conditions": conditions}});
        node = self.client.patch_status(&NODES, "", name, Patch::Merge(&patch)).await?;
        Ok(node)
    }

    /// Adds the taints that follow from the condition Ready and from `spec.unschedulable`, and removes the other taints
    /// of these kinds (`doNoScheduleTaintingPass`, `processTaintBaseEviction`).
    async fn taint(&self, name: &str, node: &Value) -> Result<(), SyncError> {
        let mut wanted = Vec::new();
        match ready(node) {
            "False" => wanted.extend([(NOT_READY, "NoSchedule"), (NOT_READY, "NoExecute")]),
            "Unknown" => wanted.extend([(UNREACHABLE, "NoSchedule"), (UNREACHABLE, "NoExecute")]),
            _ => {}
        }
        if node["spec"]["unschedulable"] == true {
            wanted.push((UNSCHEDULABLE, "NoSchedule"));
        }
        let known = node["spec"]["taints"].as_array().cloned().unwrap_or_default();
        let is = |taint: &Value, key: &str, effect: &str| taint["key"] == key && taint["effect"] == effect;
        let is_ours = |taint: &Value| [NOT_READY, UNREACHABLE, UNSCHEDULABLE].iter().any(|key| taint["key"] == *key);
        let mut taints = known.clone();
        taints.retain(|taint| !is_ours(taint) || wanted.iter().any(|(key, effect)| is(taint, key, effect)));
        for (key, effect) in wanted {
            if !taints.iter().any(|taint| is(taint, key, effect)) {
                taints.push(json!({"key": key, "effect": effect, "timeAdded": clock::timestamp(clock::now())}));
            }
        }
        if taints == known {
            return Ok(());
        }
        let taints = if taints.is_empty() { Value::Null } else { taints.into() };
        let version = node["metadata"]["resourceVersion"].clone();
        let patch = json!({"metadata": {"resourceVersion": version}, "spec": {"taints": taints}});
        self.client.patch(&NODES, "", name, Patch::Merge(&patch)).await?;
        Ok(())
    }

    /// Marks the Pods of a node as not ready (`MarkPodsNotReady`).
    async fn mark_pods_not_ready(&self, name: &str) -> Result<(), SyncError> {
        for found in self.pods.by_index(NODE, name) {
            let Some(found) = self.pods.parse(&found).filter(pod::is_ready) else { continue };
            let condition = json!({"type": "Ready", "status": "False", "reason": "NodeNotReady",
                "message": "Node is not ready", "lastTransitionTime": clock::timestamp(clock::now())});
            let patch = json!({"metadata": {"uid": object::uid(&found)}, "status": {"conditions": [condition]}});
            let (namespace, pod) = (object::namespace(&found), object::name(&found));
            self.recorder.warning(&found, "NodeNotReady", "Node is not ready");
            match self.client.patch_status(&PODS, namespace, pod, Patch::Strategic(&patch)).await {
                Err(error) if !error.is_not_found() && !error.is_conflict() => return Err(error.into()),
                _ => {}
            }
        }
        Ok(())
    }
}
