//! The kubelets of all nodes, simulated by one program like hollow nodes (`cmd/kubemark`): their containers are fake,
//! and their Pods say what the containers do (`behaviour.rs`).
//!
//! One informer of Pods and one of Nodes serve all kubelets. A Pod is settled when it runs and is ready, or has ended.
//! A settled Pod costs only its place in the informer: if it is ever needed again, its state is read from its status.
//! Every other Pod has a [`worker::PodWorker`], and at most one timer in the queue.

pub mod behaviour;
mod conditions;
mod container;
pub mod heartbeat;
mod images;
mod network;
mod restart;
mod resume;
mod status;
mod worker;

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use kubechurn_client::api::object::{Object, ObjectKey};
use kubechurn_client::cache::index::IndexFunc;
use kubechurn_client::cache::store::Change;
use kubechurn_client::record::event::ObjectReference;
use serde_json::{Value, json};

use super::context::Context;
use super::controller::{Controller, SyncError};
use super::events::EventSink;
use super::failed_nodes::FailedNodes;
use super::object;
use super::pace::Pace;
use super::pod_view::PodView;
use super::queue::Queue;
use crate::client::lister::Lister;
use crate::client::resources::{CONFIG_MAPS, NODES, PODS};
use crate::client::rest::{Client, DeleteOptions, Patch};
use crate::clock;
use images::Images;
use network::Network;
use worker::{PodEvent, PodSync, PodWorker};

/// The index that files Pods under their nodes.
pub const NODE: &str = "node";
/// The User-Agent of the kubelets.
pub const AGENT: &str = "kubelet";

/// The user as whom the kubelet of a node makes requests.
pub fn user_of(node: &str) -> String {
    format!("system:node:{node}")
}

/// The part of the kubelets that runs Pods.
#[derive(Debug)]
pub struct Kubelets {
    client: Client,
    pods: Lister,
    config_maps: Lister,
    events: EventSink,
    failed_nodes: FailedNodes,
    pace: Pace,
    queue: Queue<ObjectKey>,
    shared: Rc<Shared>,
}

/// The state that the kubelets and their handlers share.
#[derive(Debug, Default)]
struct Shared {
    /// The Pods that are not settled.
    workers: RefCell<HashMap<ObjectKey, Known>>,
    /// The addresses of nodes, by name; empty for a node without one.
    hosts: RefCell<HashMap<String, String>>,
    network: RefCell<Network>,
    images: RefCell<Images>,
}

/// A worker, and what was written to the server about its Pod.
#[derive(Debug)]
struct Known {
    worker: PodWorker,
    /// The last written status; null if none was written.
    written: Value,
    /// The version of the last write; 0 if there was none.
    revision: u64,
    /// Whether the deletion of the Pod was requested.
    is_deleted: bool,
}

impl Controller for Kubelets {
    type Key = ObjectKey;
    const NAME: &'static str = AGENT;
    const WORKERS: usize = 16;

    fn new(context: &Context, queue: Queue<ObjectKey>) -> Self {
        let (pods, nodes) = (context.lister(PODS), context.lister(NODES));
        index_by_node(&pods);
        let shared = Rc::new(Shared::default());
        let (known, waiting) = (Rc::clone(&shared), queue.clone());
        pods.on_change(move |change| known.pod_changed(change, &waiting));
        let (known, waiting, lister, on_node) = (Rc::clone(&shared), queue.clone(), nodes.clone(), pods.clone());
        nodes.on_change(move |change| {
            let name = change.object().key.name.to_string();
            if let Change::Deleted { .. } = change {
                known.hosts.borrow_mut().remove(&name);
                return;
            }
            let address = lister.parse(change.object()).map(|node| internal_address(&node)).unwrap_or_default();
            if known.hosts.borrow_mut().insert(name.clone(), address).is_none() {
                on_node
                    .by_index(NODE, &name)
                    .iter()
                    .filter(|pod| !is_settled(pod))
                    .for_each(|pod| waiting.add(pod.key.clone()));
            }
        });
        let (failed_nodes, waiting, on_node) = (context.options.failed_nodes.clone(), queue.clone(), pods.clone());
        tokio::task::spawn_local(async move {
            let (mut changes, mut failed) = (failed_nodes.changes(), failed_nodes.failed());
            while changes.changed().await.is_ok() {
                let now = failed_nodes.failed();
                for node in failed.iter().filter(|node| !now.contains(node)) {
                    on_node.by_index(NODE, node).iter().for_each(|pod| waiting.add(pod.key.clone()));
                }
                failed = now;
            }
        });
        Self {
            client: context.client.with_user_agent(AGENT),
            pods,
            config_maps: context.lister(CONFIG_MAPS),
            events: context.events.clone(),
            failed_nodes: context.options.failed_nodes.clone(),
            pace: context.options.pace,
            queue,
            shared,
        }
    }

    async fn sync(&self, key: &ObjectKey) -> Result<(), SyncError> {
        let Some(object) = self.pods.get(key) else {
            self.shared.workers.borrow_mut().remove(key);
            return Ok(());
        };
        let Some(pod) = self.pods.parse(&object) else { return Ok(()) };
        let node = object::text(&pod, "/spec/nodeName").to_owned();
        let Some(host) = self.shared.hosts.borrow().get(&node).cloned() else { return Ok(()) };
        if self.failed_nodes.is_down(&node) {
            return Ok(());
        }
        // The queue never hands out one key twice at a time, so the worker may be taken out meanwhile.
        let known = self.shared.workers.borrow_mut().remove(key).filter(|kept| object.uid == *kept.worker.uid);
        if known.as_ref().is_some_and(|kept| kept.is_deleted) {
            self.keep(key, known);
            return Ok(());
        }
        let now = clock::time();
        let mut kept = known.unwrap_or_else(|| Known {
            worker: PodWorker::new(&pod, now, self.pace),
            written: Value::Null,
            revision: 0,
            is_deleted: false,
        });
        let events = {
            let settings = self.settings(&pod);
            let images = &mut self.shared.images.borrow_mut();
            let mut sync = PodSync { pod: &pod, node: &node, images, settings, now, events: Vec::new() };
            kept.worker.step(&mut sync);
            sync.events
        };
        self.give_address(&mut kept.worker, &pod, &node, &host);
        self.record(&pod, &node, events);
        let done = self.report(&mut kept, &object, &pod, &host).await;
        let has_stopped = object::is_being_deleted(&pod) && kept.worker.is_killed && kept.worker.is_over();
        if done.is_ok() && has_stopped {
            let options = DeleteOptions {
                grace_period_seconds: Some(0),
                uid: Some(&object.uid.text()),
                ..DeleteOptions::default()
            };
            match self.client.with_user(&user_of(&node)).delete(&PODS, &key.namespace, &key.name, options).await {
                Err(error) if !error.is_not_found() && !error.is_conflict() => {
                    self.keep(key, Some(kept));
                    return Err(error.into());
                }
                _ => kept.is_deleted = true,
            }
        }
        let now = clock::time();
        let deadline = kept.worker.deadline(now);
        if let Some(deadline) = deadline {
            let wait = Duration::from_nanos((deadline.0 - now.0).max(1_000_000).unsigned_abs());
            self.queue.add_after(key.clone(), wait);
        }
        // As long as the informer is behind the last write, its copy must not be taken for the current state.
        let is_seen = revision(&object) >= kept.revision;
        let is_needed = deadline.is_some() || !is_seen || kept.is_deleted || object::is_being_deleted(&pod);
        self.keep(key, is_needed.then_some(kept));
        done
    }
}

impl Kubelets {
    fn keep(&self, key: &ObjectKey, kept: Option<Known>) {
        if let Some(kept) = kept {
            self.shared.workers.borrow_mut().insert(key.clone(), kept);
        }
    }

    /// What the environment of a Pod's first container has from ConfigMaps now.
    fn settings(&self, pod: &Value) -> BTreeMap<String, String> {
        let (mut settings, namespace) = (BTreeMap::new(), object::text(pod, "/metadata/namespace"));
        for source in pod["spec"]["containers"][0]["envFrom"].as_array().into_iter().flatten() {
            let name = object::text(source, "/configMapRef/name");
            let map = self.config_maps.get(&ObjectKey::new(namespace, name));
            let map = map.and_then(|map| self.config_maps.parse(&map)).unwrap_or_default();
            let text = |(name, value): (&String, &Value)| Some((name.clone(), value.as_str()?.to_owned()));
            settings.extend(map["data"].as_object().into_iter().flatten().filter_map(text));
        }
        settings
    }

    fn give_address(&self, worker: &mut PodWorker, pod: &Value, node: &str, host: &str) {
        if worker.address.is_none() {
            worker.address = Some(match pod["spec"]["hostNetwork"] == true {
                true => host.to_owned(),
                false => self.shared.network.borrow_mut().allocate(node),
            });
        }
    }

    fn record(&self, pod: &Value, node: &str, events: Vec<PodEvent>) {
        if events.is_empty() {
            return;
        }
        let recorder = self.events.recorder(AGENT, node);
        for PodEvent { field_path, event_type, reason, message } in events {
            let reference = ObjectReference { field_path, ..object::reference(pod) };
            recorder.event_about(reference, event_type, reason, &message);
        }
    }

    /// Writes the status, if it differs from the server's.
    async fn report(&self, kept: &mut Known, object: &Object, pod: &Value, host: &str) -> Result<(), SyncError> {
        let mut status = status::status(&mut kept.worker, pod, host, clock::time());
        let is_seen = revision(object) >= kept.revision;
        // Another client may have changed the status since, for example because the node is not ready.
        let known = if is_seen { &pod["status"] } else { &kept.written };
        if covers(known, &status) {
            return Ok(());
        }
        let key = &object.key;
        // A field that no longer belongs in the status is removed with a null.
        let old = ["reason", "message"].into_iter().filter(|field| known.get(field).is_some_and(|old| !old.is_null()));
        let old: Vec<&str> = old.collect();
        kept.written = status.clone();
        old.into_iter().for_each(|field| status[field] = Value::Null);
        let patch = json!({"metadata": {"uid": &object.uid}, "status": status});
        let client = self.client.with_user(&user_of(object::text(pod, "/spec/nodeName")));
        match client.patch_status(&PODS, &key.namespace, &key.name, Patch::Merge(&patch)).await {
            Ok(written) => {
                kept.revision = object::text(&written, "/metadata/resourceVersion").parse().unwrap_or_default();
                Ok(())
            }
            // The Pod was deleted or recreated, which the informer will show.
            Err(error) if error.is_not_found() || error.is_conflict() => Ok(()),
            Err(error) => {
                kept.written = Value::Null;
                Err(error.into())
            }
        }
    }
}

/// Whether everything in the wanted status is also in the known one.
fn covers(known: &Value, wanted: &Value) -> bool {
    let Some(fields) = wanted.as_object() else { return true };
    fields.iter().all(|(field, value)| known.get(field) == Some(value))
}

fn revision(object: &Object) -> u64 {
    object.resource_version.as_str().parse().unwrap_or_default()
}

fn internal_address(node: &Value) -> String {
    let all = node["status"]["addresses"].as_array().into_iter().flatten();
    let internal = all.into_iter().find(|one| one["type"] == "InternalIP");
    internal.and_then(|one| one["address"].as_str()).unwrap_or_default().to_owned()
}

/// Adds the index of Pods by node. Must be called for each lister of Pods that is asked by [`NODE`], before the lister
/// starts.
pub fn index_by_node(pods: &Lister) {
    let of: IndexFunc = Arc::new(|pod, file| {
        if let Some(node) = node_of(pod) {
            file(node);
        }
    });
    pods.add_index(NODE, of);
}

/// The node of a Pod. The text is searched and not parsed, because this runs on every change of every Pod. The search
/// is exact: the server writes no blanks, and quotes within a string are escaped.
fn node_of(pod: &Object) -> Option<&str> {
    const FIELD: &str = "\"nodeName\":\"";
    let text = pod.text()?;
    let rest = &text[text.find(FIELD)? + FIELD.len()..];
    rest.split('"').next().filter(|name| !name.is_empty())
}

/// Whether a Pod without a worker needs no work.
fn is_settled(pod: &Object) -> bool {
    let view = PodView::of(pod);
    if view.node().is_none() {
        return true;
    }
    if view.is_being_deleted() {
        return false;
    }
    if view.is_over() {
        return true;
    }
    let is_observed = view.status.observed_generation.is_none_or(|seen| seen == view.metadata.generation);
    let runs = view.status.phase.as_deref() == Some("Running") && view.is_ready() && is_observed;
    // Pods with these texts have a behaviour of their own.
    let plans = [behaviour::PREFIX, "\"command\":", "\"args\":", "\"kind\":\"Job\""];
    runs && !pod.text().is_some_and(|text| plans.iter().any(|plan| text.contains(plan)))
}

impl Shared {
    fn pod_changed(&self, change: &Change, queue: &Queue<ObjectKey>) {
        let pod = change.object();
        let is_known = self.workers.borrow().contains_key(&pod.key);
        match change {
            Change::Synced { .. } => return,
            Change::Deleted { last, .. } => {
                let view = PodView::of(last);
                if let (Some(node), Some(address)) = (view.node(), view.status.pod_ip.as_deref()) {
                    self.network.borrow_mut().release(node, address);
                }
                if is_known {
                    queue.add(pod.key.clone());
                }
                return;
            }
            Change::Added { new, .. } => {
                let view = PodView::of(new);
                if let (Some(node), Some(address)) = (view.node(), view.status.pod_ip.as_deref()) {
                    self.network.borrow_mut().keep(node, address);
                }
            }
            Change::Updated { .. } => {}
        }
        if is_known || !is_settled(pod) {
            queue.add(pod.key.clone());
        }
    }
}
