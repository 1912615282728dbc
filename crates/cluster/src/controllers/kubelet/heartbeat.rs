//! The heartbeats of nodes: a Lease that is renewed, and the status of the Node (`pkg/kubelet/nodestatus`,
//! `component-helpers/apimachinery/lease`).

use kubechurn_client::api::time::Timestamp;
use serde_json::{Map, Value, json};
use tokio::time::Duration;

use kubechurn_client::api::object::ObjectKey;

use super::super::context::Context;
use super::super::controller::{Controller, SyncError};
use super::super::events::EventSink;
use super::super::failed_nodes::FailedNodes;
use super::super::object;
use super::super::pace::Pace;
use super::super::queue::Queue;
use super::{AGENT, images, user_of};
use crate::client::lister::Lister;
use crate::client::resources::{LEASES, NAMESPACES, NODES};
use crate::client::rest::{Client, Patch};
use crate::clock;

/// The namespace of the Leases of nodes.
pub const NAMESPACE: &str = "kube-node-lease";
/// How often a Lease is renewed, in seconds (a quarter of `nodeLeaseDurationSeconds`).
const RENEW: f64 = 10.0;
/// How long a Lease lasts, in seconds.
const LASTS: i64 = 40;
/// How often the status of a Node is written even if nothing has changed, in seconds (`nodeStatusReportFrequency`).
const REPORT: i64 = 300;

/// The part of the kubelets that reports on nodes.
#[derive(Debug)]
pub struct Heartbeats {
    client: Client,
    nodes: Lister,
    events: EventSink,
    failed_nodes: FailedNodes,
    pace: Pace,
    queue: Queue<String>,
}

impl Controller for Heartbeats {
    type Key = String;
    const NAME: &'static str = "kubelet-heartbeats";
    const WORKERS: usize = 8;

    fn new(context: &Context, queue: Queue<String>) -> Self {
        let nodes = context.lister(NODES);
        let (pace, waiting, lister) = (context.options.pace, queue.clone(), nodes.clone());
        nodes.on_change(move |change| {
            use kubechurn_client::cache::store::Change;
            let node = change.object();
            let name = node.key.name.to_string();
            match change {
                // A new node reports at once. The renewals of nodes that were already known are spread evenly over the
                // interval.
                Change::Added { .. } => {
                    let value = lister.parse(node).unwrap_or_default();
                    let is_new = object::condition(&value, "Ready").is_none();
                    let share = (images::hash(&[&name]) % 10_000) as f64 / 10_000.0;
                    let wait = if is_new { 0.0 } else { RENEW * share };
                    waiting.add_after(name, Pace::seconds(pace.heartbeats, wait));
                }
                Change::Updated { old, new, .. } => {
                    let cordoned = |node| lister.parse(node).is_some_and(|node| node["spec"]["unschedulable"] == true);
                    let ready = |node| lister.parse(node).is_some_and(|node| object::is_true(&node, "Ready"));
                    if cordoned(old) != cordoned(new) || !ready(new) {
                        waiting.add(name);
                    }
                }
                _ => {}
            }
        });
        let (failed_nodes, waiting) = (context.options.failed_nodes.clone(), queue.clone());
        tokio::task::spawn_local(async move {
            let (mut changes, mut failed) = (failed_nodes.changes(), failed_nodes.failed());
            while changes.changed().await.is_ok() {
                let now = failed_nodes.failed();
                failed.into_iter().filter(|node| !now.contains(node)).for_each(|node| waiting.add(node));
                failed = now;
            }
        });
        Self {
            client: context.client.with_user_agent(AGENT),
            nodes,
            events: context.events.clone(),
            failed_nodes: context.options.failed_nodes.clone(),
            pace,
            queue,
        }
    }

    async fn sync(&self, name: &String) -> Result<(), SyncError> {
        let Some(node) = self.nodes.value(&ObjectKey::new("", name)) else { return Ok(()) };
        if self.failed_nodes.is_down(name) {
            return Ok(());
        }
        // Whatever becomes of this renewal, the next one must follow.
        self.queue.add_after(name.clone(), Pace::seconds(self.pace.heartbeats, RENEW));
        self.renew(name, &node).await?;
        self.report(name, &node).await
    }
}

impl Heartbeats {
    async fn renew(&self, name: &str, node: &Value) -> Result<(), SyncError> {
        let client = self.client.with_user(&user_of(name));
        let now = clock::micro_time(clock::time());
        let patch = json!({"spec": {"renewTime": now}});
        match client.patch(&LEASES, NAMESPACE, name, Patch::Merge(&patch)).await {
            Ok(_) => return Ok(()),
            Err(error) if !error.is_not_found() => return Err(error.into()),
            Err(_) => {}
        }
        let owner = json!({"apiVersion": "v1", "kind": "Node", "name": name, "uid": object::uid(node)});
        let lease = json!({"metadata": {"name": name, "namespace": NAMESPACE, "ownerReferences": [owner]},
            "spec": {"holderIdentity": name, "leaseDurationSeconds": LASTS, "renewTime": now}});
        match client.create(&LEASES, NAMESPACE, &lease).await {
            Err(error) if error.is_not_found() => {
                let namespace = json!({"metadata": {"name": NAMESPACE}});
                match client.create(&NAMESPACES, "", &namespace).await {
                    Err(error) if !error.is_already_exists() => return Err(error.into()),
                    _ => {}
                }
                client.create(&LEASES, NAMESPACE, &lease).await?;
                Ok(())
            }
            Err(error) if !error.is_already_exists() => Err(error.into()),
            _ => Ok(()),
        }
    }

    /// Writes the status of a Node, if something has changed or the interval has passed.
    async fn report(&self, name: &str, node: &Value) -> Result<(), SyncError> {
        let now = clock::now();
        let was_ready = object::is_true(node, "Ready");
        let heard = object::condition(node, "Ready").and_then(|ready| object::time(ready, "/lastHeartbeatTime"));
        let is_late = heard.is_none_or(|Timestamp(heard)| now - heard >= REPORT);
        if was_ready && !is_late {
            return Ok(());
        }
        let status = status(name, node, now);
        let patch = json!({"status": status});
        let patched = self.client.with_user(&user_of(name)).patch_status(&NODES, "", name, Patch::Merge(&patch)).await;
        match patched {
            Err(error) if !error.is_not_found() => return Err(error.into()),
            _ => {}
        }
        if !was_ready {
            let recorder = self.events.recorder(AGENT, name);
            recorder.normal(node, "NodeReady", &format!("Node {name} status is now: NodeReady"));
        }
        Ok(())
    }
}

/// The status of a healthy node. What the Node already says about its machine stays; a Node without such facts gets
/// default ones.
fn status(name: &str, node: &Value, now: i64) -> Value {
    let now = clock::timestamp(now);
    let conditions = [
        ("MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
        ("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
        ("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
        ("Ready", "True", "KubeletReady", "kubelet is posting ready status"),
    ];
    let mut all: Vec<Value> = conditions
        .iter()
        .map(|(kind, status, reason, message)| {
            let known = object::condition(node, kind).filter(|known| known["status"] == *status);
            let since = known.map_or(json!(now), |known| known["lastTransitionTime"].clone());
            json!({"type": kind, "status": status, "lastHeartbeatTime": now, "lastTransitionTime": since,
                "reason": reason, "message": message})
        })
        .collect();
    let known = node["status"]["conditions"].as_array().into_iter().flatten();
    all.extend(known.filter(|one| !conditions.iter().any(|(kind, ..)| one["type"] == *kind)).cloned());
    let mut status = Map::new();
    status.insert("conditions".to_owned(), all.into());
    let mut default = |field: &str, value: Value| {
        if node["status"].get(field).is_none_or(|known| known.is_null() || *known == json!([]) || *known == json!({})) {
            status.insert(field.to_owned(), value);
        }
    };
    let number = images::hash(&[name]);
    let address = format!("10.32.{}.{}", number >> 8 & 0xff, (number & 0xff).clamp(1, 254));
    let machine = images::digits(name);
    let capacity = json!({"cpu": "8", "ephemeral-storage": "102350Mi", "memory": "32768Mi", "pods": "110"});
    default("capacity", capacity.clone());
    default("allocatable", capacity);
    default("addresses", json!([{"type": "InternalIP", "address": address}, {"type": "Hostname", "address": name}]));
    default("daemonEndpoints", json!({"kubeletEndpoint": {"Port": 10250}}));
    default(
        "nodeInfo",
        json!({"machineID": machine[..32], "systemUUID": object::uid(node), "bootID": object::uid(node),
            "kernelVersion": "6.12.48", "osImage": "Demo Linux 13", "containerRuntimeVersion": "containerd://2.1.4",
            "kubeletVersion": "v1.35.0", "kubeProxyVersion": "", "operatingSystem": "linux", "architecture": "amd64"}),
    );
    status.into()
}

/// How often a Lease is renewed.
pub fn renewal(pace: Pace) -> Duration {
    Pace::seconds(pace.heartbeats, RENEW)
}
