//! How the Pods of each owner and of each Node are now, counted by their last state.
//!
//! Each change costs a few look-ups, and no Pods are walked over. What is not heard of for long is forgotten.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use smol_str::SmolStr;

use kubechurn_client::api::cell::Tone;
use kubechurn_client::api::sort::sort_by_key;
use kubechurn_client::api::uid::Uid;
use kubechurn_client::cache::delta::DeltaType;
use kubechurn_columns::state;

use crate::feed::outcome::{Outcome, worst_first};
use crate::line::{Line, Owner, PodState};
use crate::replicas::Replicas;

/// The most Pods whose state is known, and the most workloads. For a moment there may be twice as many.
const MOST: usize = 20_000;
/// The most ReplicaSets of one Deployment: the newest.
const MOST_SETS: usize = 16;
/// The words for a Pod that runs.
const READY: &str = "ready";
const NOT_READY: &str = "not ready";
/// The word for a Pod that is being deleted: its owner does not count it any more.
const TERMINATING: &str = "Terminating";

/// How many Pods are in each state.
type Tally = SmallVec<[(SmolStr, u64); 3]>;

#[derive(Clone, Debug)]
struct Pod {
    owner: Uid,
    node: (&'static str, SmolStr),
    word: SmolStr,
}

/// A controller of Pods, or of ReplicaSets.
#[derive(Clone, Debug, Default)]
struct Workload {
    pods: Tally,
    /// The Deployment, where this is a ReplicaSet of one.
    owner: Option<Uid>,
    /// The ReplicaSets, with their revisions.
    sets: SmallVec<[(Uid, u64); 2]>,
    replicas: Option<(Replicas, Option<i64>)>,
    /// Whether it is known since it was made, so that all of its Pods are known.
    is_whole: bool,
}

/// A Node, or the name of one that is not known itself.
#[derive(Clone, Debug, Default)]
struct Node {
    pods: Tally,
    uid: Option<Uid>,
}

/// A map that forgets what was put in longest ago.
#[derive(Clone, Debug)]
struct Bounded<V> {
    entries: FxHashMap<Uid, V>,
    order: VecDeque<Uid>,
}

impl<V> Default for Bounded<V> {
    fn default() -> Bounded<V> {
        Bounded { entries: FxHashMap::default(), order: VecDeque::new() }
    }
}

impl<V> Bounded<V> {
    /// Adds an entry, and returns those that are forgotten for it.
    fn insert(&mut self, uid: Uid, value: V) -> Vec<V> {
        if self.entries.insert(uid.clone(), value).is_none() {
            self.order.push_back(uid);
        }
        let mut gone = Vec::new();
        if self.order.len() > 2 * MOST {
            let entries = &self.entries;
            self.order.retain(|uid| entries.contains_key(uid));
            while self.order.len() > MOST {
                let Some(uid) = self.order.pop_front() else { break };
                gone.extend(self.entries.remove(&uid));
            }
        }
        gone
    }
}

/// The Pods that the feed has heard of.
#[derive(Clone, Debug, Default)]
pub(super) struct Pods {
    pods: Bounded<Pod>,
    workloads: Bounded<Workload>,
    /// The Nodes by cluster and name.
    nodes: FxHashMap<(&'static str, SmolStr), Node>,
}

impl Pods {
    /// Takes in a change, also one that came with a list.
    pub(super) fn push(&mut self, line: &Line) {
        if line.uid.is_empty() {
            return;
        }
        match &*line.kind {
            "Pod" => self.push_pod(line),
            "ReplicaSet" => self.push_set(line),
            "Node" => self.push_node(line),
            _ => {}
        }
        if line.delta_type == DeltaType::Deleted {
            self.workloads.entries.remove(&line.uid);
            return;
        }
        let is_counter = matches!(&*line.kind, "Job" | "StatefulSet" | "DaemonSet" | "ReplicationController");
        let is_new = is_counter && line.delta_type == DeltaType::Added;
        if line.replicas.is_some() || is_new {
            let workload = self.workload(&line.uid);
            workload.is_whole |= is_new;
            workload.replicas = line.replicas.map(|replicas| (replicas, line.generation));
        }
    }

    fn workload(&mut self, uid: &Uid) -> &mut Workload {
        if !self.workloads.entries.contains_key(uid) {
            self.workloads.insert(uid.clone(), Workload::default());
        }
        self.workloads.entries.entry(uid.clone()).or_default()
    }

    fn push_pod(&mut self, line: &Line) {
        let Some(state) = line.pod.as_ref().filter(|_| line.delta_type != DeltaType::Deleted) else {
            if let Some(before) = self.pods.entries.remove(&line.uid) {
                self.count(&before, -1);
            }
            return;
        };
        let owner = line.controller().map(|owner| owner.uid.clone()).unwrap_or_default();
        let pod = Pod { owner, node: (line.cluster, state.node.clone()), word: word_of(state) };
        self.count(&pod, 1);
        let gone = match self.pods.entries.get_mut(&line.uid) {
            Some(known) => vec![std::mem::replace(known, pod)],
            None => self.pods.insert(line.uid.clone(), pod),
        };
        gone.iter().for_each(|gone| self.count(gone, -1));
    }

    fn count(&mut self, pod: &Pod, by: i64) {
        if !pod.owner.is_empty() {
            add(&mut self.workload(&pod.owner).pods, &pod.word, by);
        }
        if !pod.node.1.is_empty() {
            let node = self.nodes.entry(pod.node.clone()).or_default();
            add(&mut node.pods, &pod.word, by);
            if node.pods.is_empty() && node.uid.is_none() {
                self.nodes.remove(&pod.node);
            }
        }
    }

    fn push_node(&mut self, line: &Line) {
        let name = (line.cluster, SmolStr::new(&line.key.name));
        if line.delta_type != DeltaType::Deleted {
            self.nodes.entry(name).or_default().uid = Some(line.uid.clone());
        } else if let Some(node) = self.nodes.get_mut(&name) {
            node.uid = None;
            if node.pods.is_empty() {
                self.nodes.remove(&name);
            }
        }
    }

    /// The uid of a Node.
    pub(super) fn node(&self, cluster: &'static str, name: &str) -> Option<&Uid> {
        self.nodes.get(&(cluster, SmolStr::new(name)))?.uid.as_ref()
    }

    /// The Node on which a Pod is.
    pub(super) fn node_of(&self, pod: &Uid) -> Option<&Uid> {
        self.nodes.get(&self.pods.entries.get(pod)?.node)?.uid.as_ref()
    }

    /// The uid of the object that is named: the kubelet's Events name a Node by its name in place of its uid.
    pub(super) fn uid_of(&self, cluster: &'static str, named: &Owner) -> Uid {
        let node = if named.kind == "Node" { self.node(cluster, &named.name) } else { None };
        node.unwrap_or(&named.uid).clone()
    }

    /// The controller of a Pod.
    pub(super) fn owner_of(&self, pod: &Uid) -> Option<&Uid> {
        self.pods.entries.get(pod).map(|pod| &pod.owner).filter(|owner| !owner.is_empty())
    }

    /// The Deployment of a ReplicaSet.
    pub(super) fn owner_of_set(&self, uid: &Uid) -> Option<&Uid> {
        self.workloads.entries.get(uid)?.owner.as_ref()
    }

    fn push_set(&mut self, line: &Line) {
        let Some(owner) = line.controller().filter(|owner| owner.is_controller) else { return };
        if line.delta_type != DeltaType::Deleted {
            self.workload(&line.uid).owner = Some(owner.uid.clone());
        }
        let sets = &mut self.workload(&owner.uid).sets;
        sets.retain(|(uid, _)| *uid != line.uid);
        if line.delta_type != DeltaType::Deleted {
            sets.push((line.uid.clone(), line.revision.unwrap_or_default()));
            sort_by_key(sets, |(_, revision)| *revision);
            if sets.len() > MOST_SETS {
                sets.remove(0);
            }
        }
    }

    fn of_owner(&self, uid: &Uid) -> &[(SmolStr, u64)] {
        self.workloads.entries.get(uid).map_or(&[], |workload| &workload.pods)
    }

    /// How the Pods of a workload are, worst first.
    pub(super) fn of_workload(&self, uid: &Uid) -> Vec<Outcome> {
        let Some(workload) = self.workloads.entries.get(uid) else { return Vec::new() };
        let Some((replicas, generation)) = workload.replicas else {
            // Pods that came with a list are not known, and so not how many there are.
            let all = workload.is_whole.then(|| workload.pods.iter().map(|(_, count)| count).sum());
            let mut found = worst_first(outcomes(&workload.pods), all, "Pods");
            if let Some(one) = found.first_mut().filter(|first| all.is_none() && first.count == 1) {
                one.noun = "Pod";
            }
            return found;
        };
        // What is said of the version before came not of this one.
        if generation.is_some_and(|own| replicas.observed < own) {
            return Vec::new();
        }
        if replicas.desired == 0 && replicas.all == 0 {
            return vec![Outcome::plain(0, "Pods left", Tone::Plain)];
        }
        let newest = workload.sets.last().map_or(&workload.pods[..], |(set, _)| self.of_owner(set));
        let old = replicas.all.saturating_sub(replicas.updated);
        let mut found = outcomes(newest);
        // That Pods go which are not wanted any more is ordinary life.
        let going = found.iter_mut().find(|outcome| outcome.word == TERMINATING);
        let going = going.map_or(0, |going| {
            going.tone = Tone::Plain;
            going.count
        });
        if workload.sets.is_empty()
            && let Some(ready) = found.iter_mut().find(|outcome| outcome.word == READY)
        {
            // Which of them are the old ones is not known, but an old one that fails is not counted as ready.
            ready.count = ready.count.saturating_sub(old);
        }
        // Pods that came with a list are not known one by one, but the workload counts them.
        let known = newest.iter().map(|(_, count)| count).sum::<u64>() - going;
        if known < replicas.updated {
            found.retain(|outcome| outcome.word != READY);
            let others = found.iter().map(|outcome| outcome.count).sum::<u64>() - going;
            let tone = if replicas.available < replicas.desired { Tone::Wait } else { Tone::Good };
            if old == 0 {
                let ready = replicas.available.min(replicas.updated.saturating_sub(others));
                found.push(Outcome::plain(ready, "available", tone));
            }
        }
        found.push(Outcome::plain(replicas.desired.saturating_sub(replicas.all), "not made", Tone::Wait));
        found.push(Outcome::plain(old, "still old", Tone::Plain));
        worst_first(found, Some(replicas.desired), "Pods")
    }

    /// How the Pods of a ReplicaSet are, of which so many were made and so many ended.
    pub(super) fn of_set(&self, uid: &Uid, (made, ended): (u64, u64)) -> Vec<Outcome> {
        let pods = self.of_owner(uid);
        let of = |wanted: &str| pods.iter().find(|(word, _)| word == wanted).map_or(0, |(_, count)| *count);
        let known = pods.iter().map(|(_, count)| count).sum::<u64>() - of(TERMINATING);
        // Pods that came with a list are not known one by one, but the ReplicaSet counts them.
        let counted = self.workloads.entries.get(uid).and_then(|workload| workload.replicas);
        let (live, ready) = match counted {
            Some((replicas, _)) if replicas.all > known => (replicas.all, replicas.available),
            _ => (known, of(READY)),
        };
        let tone = match () {
            () if ready == live => Tone::Good,
            () if pods.iter().any(|(word, _)| tone_of(word) == Tone::Bad) => Tone::Bad,
            () => Tone::Wait,
        };
        let mut found = Vec::new();
        if ended > 0 {
            found.push(Outcome::plain(ended, if ended == 1 { "Pod ended" } else { "Pods ended" }, Tone::Plain));
        }
        if made > 0 {
            found.push(Outcome::plain(made, if made == 1 { "Pod made" } else { "Pods made" }, Tone::Plain));
        }
        if live > 0 && made > 0 {
            found.push(Outcome::plain(ready, READY, tone));
        } else if live > 0 {
            found.push(Outcome { count: ready, of: Some(live), noun: "Pods", word: READY.into(), tone });
        }
        found
    }

    /// How many Pods a ReplicaSet has.
    pub(super) fn live(&self, uid: &Uid) -> u64 {
        self.of_owner(uid).iter().map(|(_, count)| count).sum()
    }

    /// How the Pods on a Node are that are not ready, worst first. What runs on a Node that is lost is not ready.
    pub(super) fn on_node(&self, cluster: &'static str, name: &str, is_lost: bool) -> Vec<Outcome> {
        let Some(Node { pods, .. }) = self.nodes.get(&(cluster, SmolStr::new(name))) else { return Vec::new() };
        let mut found = outcomes(pods);
        // Pods that came with a list are not known one by one. Those that fail have changed, and so they are known.
        found.retain(|outcome| matches!(outcome.tone, Tone::Wait | Tone::Bad));
        let not_ready = found.iter_mut().find(|outcome| outcome.word == NOT_READY);
        if let Some(not_ready) = not_ready.filter(|_| is_lost) {
            not_ready.tone = Tone::Bad;
        }
        let all: u64 = found.iter().map(|outcome| outcome.count).sum();
        worst_first(found, None, if all == 1 { "Pod on it" } else { "Pods on it" })
    }

    #[cfg(test)]
    pub(super) fn lens(&self) -> [usize; 3] {
        [self.pods.entries.len(), self.workloads.entries.len(), self.nodes.len()]
    }
}

/// The word by which a Pod is counted: the table's, and of one that runs whether it is ready.
fn word_of(state: &PodState) -> SmolStr {
    match (&*state.word, state.is_ready) {
        ("Running", true) => SmolStr::new_static(READY),
        ("Running", false) => SmolStr::new_static(NOT_READY),
        (word, _) => word.into(),
    }
}

fn tone_of(word: &str) -> Tone {
    match word {
        READY => Tone::Good,
        NOT_READY => Tone::Wait,
        word => state::pod(word),
    }
}

fn add(tally: &mut Tally, word: &SmolStr, by: i64) {
    match tally.iter().position(|(known, _)| known == word) {
        Some(at) => {
            tally[at].1 = tally[at].1.saturating_add_signed(by);
            if tally[at].1 == 0 {
                tally.swap_remove(at);
            }
        }
        None if by > 0 => tally.push((word.clone(), 1)),
        None => {}
    }
}

fn outcomes(tally: &[(SmolStr, u64)]) -> Vec<Outcome> {
    tally.iter().map(|(word, count)| Outcome::plain(*count, word.clone(), tone_of(word))).collect()
}

#[cfg(test)]
mod tests {
    use kubechurn_client::api::object::ObjectKey;

    use crate::line::ReceivedChange;
    use crate::noise::Marks;

    use super::*;

    fn push(pods: &mut Pods, number: usize, delta_type: DeltaType) {
        let owner = format!(r#"[{{"uid":"{}","controller":true}}]"#, number % 7);
        let new = format!(
            r#"{{"metadata":{{"ownerReferences":{owner}}},"spec":{{"nodeName":"n{}"}},"status":{{"phase":"Pending"}}}}"#,
            number % 3
        );
        let (key, uid, kind) = (ObjectKey::new("", "p"), Uid::new(&format!("p{number}")), "Pod".into());
        let received = ReceivedChange { seq: 1, at: 0.0, kind, key, uid, delta_type, old: None, new: Some(&new) };
        pods.push(&Line::new(received, &Marks::default()));
    }

    #[test]
    fn what_is_known_is_bounded_and_the_sums_are_right() {
        let mut pods = Pods::default();
        (0..3 * MOST).for_each(|number| push(&mut pods, number, DeltaType::Replaced));
        let [known, workloads, nodes] = pods.lens();
        assert!((MOST..=2 * MOST).contains(&known) && workloads == 7 && nodes == 3, "{known}");
        let sum: u64 = (0..7).map(|owner| pods.live(&Uid::new(&owner.to_string()))).sum();
        assert_eq!(sum, known as u64);
        (0..3 * MOST).for_each(|number| push(&mut pods, number, DeltaType::Deleted));
        assert_eq!((pods.lens()[0], pods.lens()[2], pods.live(&Uid::new("3"))), (0, 0, 0));
    }
}
