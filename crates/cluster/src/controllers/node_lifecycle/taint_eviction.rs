//! Deletes Pods from nodes with taints that the Pods do not tolerate, or tolerate only for a limited time
//! (`pkg/controller/tainteviction`).

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use kubechurn_client::api::object::ObjectKey;
use kubechurn_client::cache::store::Change;
use serde_json::{Value, json};
use tokio::time::{Duration, Instant};

use super::super::context::Context;
use super::super::controller::{Controller, SyncError};
use super::super::events::Recorder;
use super::super::kubelet::{NODE, index_by_node};
use super::super::object;
use super::super::pace::Pace;
use super::super::pod_view::PodView;
use super::super::queue::Queue;
use super::super::scheduler::filters::tolerates;
use super::super::scheduler::node_info::{Taint, taints};
use crate::client::lister::Lister;
use crate::client::resources::{NODES, PODS};
use crate::client::rest::{Client, DeleteOptions, Patch};
use crate::clock;

/// The component in the Events.
const COMPONENT: &str = "taint-eviction-controller";

/// The controller.
#[derive(Debug)]
pub struct TaintEviction {
    client: Client,
    pods: Lister,
    recorder: Recorder,
    queue: Queue<ObjectKey>,
    pace: Pace,
    /// The taints with the effect NoExecute, by node; nodes without any are left out.
    tainted: Tainted,
    /// When Pods with limited tolerations are deleted, by name and uid.
    scheduled: RefCell<HashMap<ObjectKey, (String, Instant)>>,
}

type Tainted = Rc<RefCell<HashMap<String, Vec<Taint>>>>;

impl Controller for TaintEviction {
    type Key = ObjectKey;
    const NAME: &'static str = COMPONENT;

    fn new(context: &Context, queue: Queue<ObjectKey>) -> Self {
        let (nodes, pods) = (context.lister(NODES), context.lister(PODS));
        index_by_node(&pods);
        let tainted: Tainted = Rc::default();
        let (known, waiting, lister, on_node) = (Rc::clone(&tainted), queue.clone(), nodes.clone(), pods.clone());
        nodes.on_change(move |change| {
            let name = change.object().key.name.to_string();
            let mut now = match change {
                Change::Deleted { .. } => Vec::new(),
                _ => lister.parse(change.object()).map(|node| taints(&node)).unwrap_or_default(),
            };
            now.retain(|taint| taint.effect == "NoExecute");
            let before = known.borrow_mut().remove(&name).unwrap_or_default();
            let is_changed = before != now;
            if !now.is_empty() {
                known.borrow_mut().insert(name.clone(), now);
            }
            if is_changed {
                on_node.by_index(NODE, &name).iter().for_each(|pod| waiting.add(pod.key.clone()));
            }
        });
        let (known, waiting) = (Rc::clone(&tainted), queue.clone());
        pods.on_change(move |change| {
            // Most of the time no node is tainted, and Pods need not be read.
            if known.borrow().is_empty() {
                return;
            }
            let view = PodView::of(change.object());
            if view.node().is_some_and(|node| known.borrow().contains_key(node)) {
                waiting.add(change.object().key.clone());
            }
        });
        let recorder = context.recorder(COMPONENT);
        let (client, pace) = (context.client.clone(), context.options.pace);
        Self { client, pods, recorder, queue, pace, tainted, scheduled: RefCell::default() }
    }

    async fn sync(&self, key: &ObjectKey) -> Result<(), SyncError> {
        let pod = self.pods.value(key).filter(|pod| !object::is_being_deleted(pod));
        let Some(pod) = pod else {
            self.scheduled.borrow_mut().remove(key);
            return Ok(());
        };
        let uid = object::uid(&pod);
        let node = object::text(&pod, "/spec/nodeName");
        let min_toleration_time =
            min_toleration_time(&pod, self.tainted.borrow().get(node).map_or(&[][..], Vec::as_slice));
        let known = self.scheduled.borrow().get(key).filter(|(whose, _)| whose == uid).map(|(_, at)| *at);
        match (min_toleration_time, known) {
            (TolerationTime::Endless, None) => Ok(()),
            (TolerationTime::Endless, Some(_)) => {
                self.scheduled.borrow_mut().remove(key);
                let message = format!("Cancelling deletion of Pod {}/{}", key.namespace, key.name);
                self.recorder.normal(&pod, "TaintManagerEviction", &message);
                Ok(())
            }
            (TolerationTime::None, _) => self.evict(key, &pod).await,
            (TolerationTime::For(seconds), known) => {
                // The first time counts: a further taint does not delay the deletion.
                let at = known.unwrap_or_else(|| Instant::now() + Pace::seconds(self.pace.tolerations, seconds));
                self.scheduled.borrow_mut().insert(key.clone(), (uid.to_owned(), at));
                let left = at.saturating_duration_since(Instant::now());
                if left.is_zero() {
                    return self.evict(key, &pod).await;
                }
                self.queue.add_after(key.clone(), left + Duration::from_millis(1));
                Ok(())
            }
        }
    }
}

/// How long a Pod stays on a tainted node.
#[derive(Debug, PartialEq)]
enum TolerationTime {
    /// The Pod is deleted at once.
    None,
    /// The Pod is deleted after this many seconds.
    For(f64),
    /// The Pod stays.
    Endless,
}

/// How long a Pod tolerates taints: the shortest time of all the tolerations that apply (`getMinTolerationTime`).
fn min_toleration_time(pod: &Value, taints: &[Taint]) -> TolerationTime {
    let mut shortest: Option<f64> = None;
    for taint in taints {
        let tolerations = pod["spec"]["tolerations"].as_array().into_iter().flatten();
        let used: Vec<&Value> = tolerations.filter(|toleration| tolerates(toleration, taint)).collect();
        if used.is_empty() {
            return TolerationTime::None;
        }
        for seconds in used.iter().filter_map(|toleration| toleration["tolerationSeconds"].as_f64()) {
            shortest = Some(shortest.map_or(seconds, |shortest| shortest.min(seconds)));
        }
    }
    match shortest {
        None => TolerationTime::Endless,
        Some(seconds) if seconds <= 0.0 => TolerationTime::None,
        Some(seconds) => TolerationTime::For(seconds),
    }
}

impl TaintEviction {
    async fn evict(&self, key: &ObjectKey, pod: &Value) -> Result<(), SyncError> {
        let message = format!("Marking for deletion Pod {}/{}", key.namespace, key.name);
        self.recorder.normal(pod, "TaintManagerEviction", &message);
        let condition = json!({"type": "DisruptionTarget", "status": "True", "reason": "DeletionByTaintManager",
            "message": "Taint manager: deleting due to NoExecute taint",
            "lastTransitionTime": clock::timestamp(clock::now()), "observedGeneration": pod["metadata"]["generation"]});
        let uid = object::uid(pod);
        let patch = json!({"metadata": {"uid": uid}, "status": {"conditions": [condition]}});
        match self.client.patch_status(&PODS, &key.namespace, &key.name, Patch::Strategic(&patch)).await {
            Err(error) if !error.is_not_found() && !error.is_conflict() => return Err(error.into()),
            _ => {}
        }
        let options = DeleteOptions { uid: Some(uid), ..DeleteOptions::default() };
        match self.client.delete(&PODS, &key.namespace, &key.name, options).await {
            Err(error) if !error.is_not_found() && !error.is_conflict() => Err(error.into()),
            _ => {
                self.scheduled.borrow_mut().remove(key);
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(tolerations: Value, expected: TolerationTime) {
        let taint = |key: &str| Taint { key: key.to_owned(), value: String::new(), effect: "NoExecute".to_owned() };
        let pod = json!({"spec": {"tolerations": tolerations}});
        assert_eq!(min_toleration_time(&pod, &[taint("a"), taint("b")]), expected, "{pod}");
        assert_eq!(min_toleration_time(&pod, &[]), TolerationTime::Endless);
    }

    #[test]
    fn a_pod_stays_as_long_as_its_shortest_toleration() {
        let of = |key: &str, seconds: Value| json!({"key": key, "operator": "Exists", "tolerationSeconds": seconds});
        check(json!([]), TolerationTime::None);
        check(json!([of("a", json!(300))]), TolerationTime::None);
        check(json!([of("a", json!(300)), of("b", json!(30))]), TolerationTime::For(30.0));
        check(json!([of("a", Value::Null), of("b", json!(30))]), TolerationTime::For(30.0));
        check(json!([of("a", json!(0)), of("b", json!(30))]), TolerationTime::None);
        check(json!([{"operator": "Exists"}]), TolerationTime::Endless);
    }
}
