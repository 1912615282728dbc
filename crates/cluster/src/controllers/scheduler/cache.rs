//! All nodes as the scheduler knows them, and the choice of a node (`pkg/scheduler/backend/cache`, `schedule_one.go`).

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap};

use kubechurn_client::api::object::ObjectKey;
use serde_json::Value;

use super::filters::{Demands, Reason};
use super::node_info::{NodeInfo, Resources};
use crate::random::Random;

/// Up to this many nodes, all are checked; of more nodes, at least this many feasible ones are found
/// (`minFeasibleNodesToFind`).
const MIN_FEASIBLE_NODES_TO_FIND: usize = 100;

/// The nodes.
#[derive(Debug)]
pub struct Cache {
    nodes: Vec<NodeInfo>,
    places: HashMap<String, usize>,
    /// Pods that were assigned to a node, until the informer shows it.
    assumed: HashMap<ObjectKey, (String, Resources)>,
    /// Where the next search begins, so that all nodes get their turn.
    next: usize,
    random: Random,
}

/// Why no node is feasible.
#[derive(Debug, PartialEq)]
pub struct Unschedulable {
    /// The message of the Event and of the condition.
    pub message: String,
}

impl Cache {
    /// A cache without nodes. `seed` is for the random choice among equal nodes.
    pub fn new(seed: u64) -> Self {
        let random = Random::new(seed);
        Self { nodes: Vec::new(), places: HashMap::new(), assumed: HashMap::new(), next: 0, random }
    }

    /// Adds or updates a node; returns whether that may help a Pod that is waiting.
    pub fn set_node(&mut self, node: &Value) -> bool {
        let name = node["metadata"]["name"].as_str().unwrap_or_default();
        self.node(name).set(node)
    }

    /// Removes a node. The Pods that are bound to it remain known.
    pub fn remove_node(&mut self, name: &str) {
        let node = self.node(name);
        *node = NodeInfo { name: name.to_owned(), requested: node.requested, ..NodeInfo::default() };
    }

    /// Adds a Pod that has a node, and which may have been assumed.
    pub fn add_pod(&mut self, key: &ObjectKey, node: &str, resources: &Resources) {
        self.forget(key);
        self.node(node).requested.add(resources);
    }

    /// Removes a Pod from its node.
    pub fn remove_pod(&mut self, node: &str, resources: &Resources) {
        self.node(node).requested.sub(resources);
    }

    /// Assumes that a Pod is on a node before the informer shows it.
    pub fn assume(&mut self, key: &ObjectKey, node: &str, resources: Resources) {
        self.node(node).requested.add(&resources);
        self.assumed.insert(key.clone(), (node.to_owned(), resources));
    }

    /// Ends the assumption, because the binding failed or the informer shows the Pod.
    pub fn forget(&mut self, key: &ObjectKey) {
        if let Some((node, resources)) = self.assumed.remove(key) {
            self.node(&node).requested.sub(&resources);
        }
    }

    /// Whether a Pod is assumed to be on a node.
    pub fn is_assumed(&self, key: &ObjectKey) -> bool {
        self.assumed.contains_key(key)
    }

    /// The node for a Pod: of the feasible nodes, the one with the most resources left.
    ///
    /// # Errors
    /// Why there is no feasible node.
    pub fn schedule(&mut self, demands: &Demands<'_>) -> Result<String, Unschedulable> {
        let count = self.nodes.iter().filter(|node| node.exists).count();
        if count == 0 {
            return Err(Unschedulable { message: "no nodes available to schedule pods".to_owned() });
        }
        let only = demands.only();
        let candidates: Vec<usize> = match &only {
            Some(names) => names.iter().filter_map(|name| self.places.get(*name).copied()).collect(),
            None => (0..self.nodes.len()).map(|at| (self.next + at) % self.nodes.len()).collect(),
        };
        let enough = enough(count);
        let mut best: Option<(i64, usize, u64)> = None;
        let (mut feasible, mut looked) = (0, 0);
        let mut reasons: BTreeMap<&'static str, usize> = BTreeMap::new();
        let mut resolvable = 0;
        for at in candidates {
            looked += 1;
            let node = &self.nodes[at];
            if !node.exists {
                continue;
            }
            let against = demands.reasons(node);
            if !against.is_empty() {
                against.iter().for_each(|reason| *reasons.entry(reason.words).or_default() += 1);
                resolvable += usize::from(against.iter().all(|reason: &Reason| reason.may_be_resolved));
                continue;
            }
            feasible += 1;
            let score = node.score(&demands.resources);
            match best.as_ref().map_or(Ordering::Greater, |(best, ..)| score.cmp(best)) {
                Ordering::Greater => best = Some((score, at, 1)),
                Ordering::Equal => {
                    // Each of several equal nodes is equally likely.
                    if let Some((_, chosen, equals)) = &mut best {
                        *equals += 1;
                        if self.random.next().is_multiple_of(*equals) {
                            *chosen = at;
                        }
                    }
                }
                Ordering::Less => {}
            }
            if feasible >= enough {
                break;
            }
        }
        if only.is_none() {
            self.next = (self.next + looked) % self.nodes.len();
        }
        match best {
            Some((_, at, _)) => Ok(self.nodes[at].name.clone()),
            None => {
                let explained: usize = reasons.values().sum();
                if only.is_some() && explained < count {
                    // Nodes that the affinity excludes beforehand are counted apart.
                    reasons.insert("node(s) didn't satisfy plugin(s) [NodeAffinity]", count - explained);
                }
                Err(Unschedulable { message: message(count, &reasons, resolvable) })
            }
        }
    }

    fn node(&mut self, name: &str) -> &mut NodeInfo {
        let at = match self.places.get(name) {
            Some(at) => *at,
            None => {
                self.nodes.push(NodeInfo { name: name.to_owned(), ..NodeInfo::default() });
                self.places.insert(name.to_owned(), self.nodes.len() - 1);
                self.nodes.len() - 1
            }
        };
        &mut self.nodes[at]
    }
}

/// How many feasible nodes suffice for the choice (`numFeasibleNodesToFind`).
fn enough(count: usize) -> usize {
    let percent = 50_usize.saturating_sub(count / 125).max(5);
    if count < MIN_FEASIBLE_NODES_TO_FIND { count } else { (count * percent / 100).max(MIN_FEASIBLE_NODES_TO_FIND) }
}

/// The message for a Pod that none of `count` nodes can run (`FitError`).
fn message(count: usize, reasons: &BTreeMap<&'static str, usize>, resolvable: usize) -> String {
    let list = |all: &mut Vec<String>| {
        all.sort();
        all.join(", ")
    };
    let mut why: Vec<String> = reasons.iter().map(|(words, nodes)| format!("{nodes} {words}")).collect();
    let helpless = [
        (resolvable, "No preemption victims found for incoming pod"),
        (count - resolvable.min(count), "Preemption is not helpful for scheduling"),
    ];
    let mut preemption: Vec<String> =
        helpless.iter().filter(|(nodes, _)| *nodes > 0).map(|(nodes, words)| format!("{nodes} {words}")).collect();
    format!(
        "0/{count} nodes are available: {}. no new claims to deallocate, preemption: 0/{count} nodes are available: {}.",
        list(&mut why),
        list(&mut preemption)
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn node(name: &str, cpu: &str, spec: Value) -> Value {
        json!({"metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}}, "spec": spec,
            "status": {"allocatable": {"cpu": cpu, "memory": "4Gi", "pods": "110"}}})
    }

    fn of(cpu: i64) -> Resources {
        Resources { cpu, pods: 1, weighed_cpu: cpu, ..Resources::default() }
    }

    fn why(cache: &mut Cache, pod: Value, cpu: i64) -> String {
        cache.schedule(&Demands::of(&pod, of(cpu))).unwrap_err().message
    }

    #[test]
    fn the_emptiest_node_is_taken_and_the_same_seed_takes_the_same() {
        let choices = |seed: u64| {
            let mut cache = Cache::new(seed);
            for name in ["a", "b", "c", "d"] {
                cache.set_node(&node(name, "4", json!({})));
            }
            let pod = json!({});
            let demands = Demands::of(&pod, of(500));
            let take = |number: usize| {
                let node = cache.schedule(&demands).unwrap();
                cache.assume(&ObjectKey::new("default", &number.to_string()), &node, of(500));
                node
            };
            (0..8).map(take).collect::<Vec<String>>()
        };
        let mut first = choices(1);
        assert_eq!(first, choices(1));
        assert!((2..20).any(|seed| choices(seed) != first), "chance decides between equals");
        first.sort();
        assert_eq!(first, ["a", "a", "b", "b", "c", "c", "d", "d"]);
    }

    #[test]
    fn why_no_node_will_do() {
        let mut cache = Cache::new(1);
        assert_eq!(why(&mut cache, json!({}), 0), "no nodes available to schedule pods");
        for name in ["node-0", "node-1", "node-2", "node-3"] {
            cache.set_node(&node(name, "1", json!({})));
        }
        cache.set_node(&node("node-3", "1", json!({"unschedulable": true})));
        // The message of a real scheduler.
        let nowhere = json!({"spec": {"nodeSelector": {"disk": "ssd"}}});
        assert_eq!(
            why(&mut cache, nowhere, 0),
            "0/4 nodes are available: 1 node(s) were unschedulable, 3 node(s) didn't match Pod's node affinity/selector. \
             no new claims to deallocate, preemption: 0/4 nodes are available: 4 Preemption is not helpful for scheduling."
        );
        cache.assume(&ObjectKey::new("default", "big"), "node-0", of(600));
        cache.set_node(&node("node-2", "500m", json!({})));
        cache.remove_node("node-1");
        assert_eq!(
            why(&mut cache, json!({}), 600),
            "0/3 nodes are available: 1 node(s) were unschedulable, 2 Insufficient cpu. no new claims to deallocate, \
             preemption: 0/3 nodes are available: 1 No preemption victims found for incoming pod, 2 Preemption is not \
             helpful for scheduling."
        );
        cache.forget(&ObjectKey::new("default", "big"));
        assert_eq!(cache.schedule(&Demands::of(&json!({}), of(600))), Ok("node-0".to_owned()));
    }
}
