//! Searches what was received for what has to do with an object: what refers to it, what blocks its deletion, what is left in a
//! namespace. It reads a share at a time, and afterwards only what came since.

use std::collections::VecDeque;

use kubechurn_changes::writer;
use kubechurn_client::api::object::ObjectKey;
use kubechurn_client::api::resource::ApiResource;
use kubechurn_client::api::time::Timestamp;
use kubechurn_client::cache::delta::DeltaType;
use kubechurn_client::json;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::history::History;
use crate::holds::finalizers::{finalizers, who_takes_off};
use crate::why::references::{Taken, claims_of, list, references, spec_of, text};
use crate::why::ties::text_at;

/// How many records are passed, and how many texts are read, before the time is looked at.
const RECORDS: usize = 512;
const TEXTS: usize = 8;
/// How many of the newest changes of the same kind are read for who takes a finalizer off.
const CHANGES: usize = 100;
/// How many finalizers are looked for in those.
const FINALIZERS: usize = 20;

/// What another object has to do with the one that is looked at.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Seen {
    /// The number of its version.
    pub seq: u64,
    /// Whether it is a Pod that has not ended.
    pub is_pod: bool,
    /// When what the object holds is taken, if it refers to that; and since when the first container has run that takes it.
    pub uses: Option<(Taken, Option<Timestamp>)>,
    /// Whether its deletion is awaited by a foreground deletion.
    pub blocks: bool,
    /// A budget that refuses an eviction: how many Pods are healthy, and how many must be. Of a node it is each that allows none.
    pub refuses: Option<(i64, i64)>,
    /// The text of such a budget, or the labels of a Pod on the node that is looked at.
    pub text: Box<str>,
    /// Whether it is a Pod that a drain of the node takes, or one that it leaves: of a DaemonSet, or of the node itself.
    pub drained: Option<bool>,
    /// The node to which a volume is attached.
    pub attached: Option<Box<str>>,
    /// Whether it is in the namespace that is looked at.
    pub remains: bool,
}

impl Seen {
    fn is_something(&self) -> bool {
        self.uses.is_some()
            || self.blocks
            || self.refuses.is_some()
            || self.drained.is_some()
            || self.attached.is_some()
            || self.remains
    }
}

/// What was seen of a finalizer.
#[derive(Clone, Debug, PartialEq)]
pub struct Handled {
    /// The finalizer.
    pub finalizer: String,
    /// The manager that seems to have written that.
    pub manager: String,
    /// Whether it was taken off, and not added.
    pub is_off: bool,
    /// The number of the version.
    pub seq: u64,
}

/// A search.
#[derive(Debug)]
pub struct Search {
    /// The object.
    pub resource: ApiResource,
    /// Its name.
    pub key: ObjectKey,
    /// The text of its version.
    pub own: String,
    own_seq: u64,
    uid: String,
    /// Whether it waits for what it owns.
    is_foreground: bool,
    /// The finalizers that are not generally known.
    unknown: Vec<String>,
    received: u64,
    walked: u64,
    newest: FxHashMap<u32, u64>,
    waiting: Vec<u32>,
    changes: VecDeque<u64>,
    /// What was found, by the number of the object.
    pub found: FxHashMap<u32, Seen>,
    /// The objects whose version is not kept.
    pub unread: FxHashSet<u32>,
    /// Who added finalizers or took them off.
    pub handled: Vec<Handled>,
}

/// The kinds that other objects use.
const USED: [&str; 6] =
    ["ConfigMap", "Secret", "PersistentVolumeClaim", "ServiceAccount", "PriorityClass", "StorageClass"];
/// The kinds that use them.
const USERS: [&str; 7] = ["Pod", "Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "Job", "CronJob"];

/// The kinds whose objects may use one of this resource: a claim has a class, too.
pub fn users_of(resource: &ApiResource) -> impl Iterator<Item = &'static str> {
    let claims = (resource.kind == "StorageClass").then_some("PersistentVolumeClaim");
    USERS.into_iter().chain(claims)
}

/// Whether other objects use those of a kind.
pub fn is_used(resource: &ApiResource) -> bool {
    USED.contains(&resource.kind)
}

impl Search {
    /// A search for what has to do with an object, as it was when so many versions had been received; `None` if none of it is kept.
    pub fn begin(resource: ApiResource, key: &ObjectKey, received: u64, history: &History) -> Option<Search> {
        let mut search = Search {
            resource,
            key: key.clone(),
            own: String::new(),
            own_seq: u64::MAX,
            uid: String::new(),
            is_foreground: false,
            unknown: Vec::new(),
            received,
            walked: 0,
            newest: FxHashMap::default(),
            waiting: Vec::new(),
            changes: VecDeque::new(),
            found: FxHashMap::default(),
            unread: FxHashSet::default(),
            handled: Vec::new(),
        };
        search.look(history).then_some(search)
    }

    /// Reads the object itself. Returns whether a version of it is kept.
    fn look(&mut self, history: &History) -> bool {
        let Some((seq, own)) = text_at(history, self.resource, &self.key, self.received) else { return false };
        if seq == self.own_seq {
            return true;
        }
        let finalizers = finalizers(&own);
        let is_foreground = finalizers.iter().any(|one| one == "foregroundDeletion");
        let unknown = finalizers.into_iter().filter(|one| who_takes_off(one).is_none()).take(FINALIZERS).collect();
        let uid = text(&own, &["metadata", "uid"]).unwrap_or_default().into_owned();
        if (&uid, is_foreground, &unknown) != (&self.uid, self.is_foreground, &self.unknown) {
            // Another thing is asked of the other objects.
            self.walked = 0;
            self.newest.clear();
            self.waiting.clear();
            self.changes.clear();
            self.found.clear();
            self.unread.clear();
            self.handled.clear();
        }
        (self.uid, self.is_foreground, self.unknown) = (uid, is_foreground, unknown);
        (self.own, self.own_seq) = (own, seq);
        true
    }

    /// Goes on to what came since. Returns whether a version of the object is kept.
    pub fn go_on_to(&mut self, received: u64, history: &History) -> bool {
        self.received = received;
        self.look(history)
    }

    /// Up to which version it has looked, or is to look.
    pub fn received(&self) -> u64 {
        self.received
    }

    /// Whether other objects may have to do with it.
    fn is_asked(&self, resource: &ApiResource, key: &ObjectKey) -> bool {
        if resource.cluster != self.resource.cluster {
            return false;
        }
        let is_here = self.key.namespace.is_empty() || key.namespace == self.key.namespace;
        match self.resource.kind {
            "Namespace" => resource.namespaced && *key.namespace == *self.key.name && resource.group != "events.k8s.io",
            _ if !is_here => false,
            _ if self.is_foreground => true,
            "Pod" => resource.kind == "PodDisruptionBudget",
            "Node" => resource.kind == "PodDisruptionBudget" || (resource.kind == "Pod" && resource.group.is_empty()),
            "PersistentVolume" => resource.kind == "VolumeAttachment",
            _ => is_used(&self.resource) && users_of(&self.resource).any(|kind| kind == resource.kind),
        }
    }

    /// Goes on while `goes_on` says so. Returns whether something is left.
    pub fn work(&mut self, history: &History, mut goes_on: impl FnMut() -> bool) -> bool {
        loop {
            if self.walked < self.received {
                self.walk(history);
            } else if !self.waiting.is_empty() {
                let first = self.waiting.len().saturating_sub(TEXTS);
                for life in self.waiting.split_off(first) {
                    self.read(life, history);
                }
            } else if let Some(seq) = self.changes.pop_back() {
                self.read_change(seq, history);
            } else {
                return false;
            }
            if !goes_on() {
                return true;
            }
        }
    }

    fn walk(&mut self, history: &History) {
        let mut passed = Vec::new();
        let next = history.each_received(self.walked, RECORDS, &mut |record, life, resource| {
            if record.sequence >= self.received {
                return;
            }
            if !self.unknown.is_empty()
                && resource == self.resource
                && matches!(record.delta_type, DeltaType::Added | DeltaType::Updated)
            {
                self.changes.push_back(record.sequence);
            }
            let is_own = resource == self.resource && life.key == self.key;
            if !is_own && self.is_asked(&resource, &life.key) {
                passed.push((record.life, record.sequence, record.delta_type));
            }
        });
        for (life, seq, delta_type) in passed {
            self.unread.remove(&life);
            if delta_type == DeltaType::Deleted {
                self.newest.remove(&life);
                self.found.remove(&life);
            } else {
                self.newest.insert(life, seq);
                self.waiting.push(life);
            }
        }
        let more = self.changes.len().saturating_sub(CHANGES);
        self.changes.drain(..more);
        self.walked = next.unwrap_or(self.received).min(self.received);
    }

    fn read(&mut self, number: u32, history: &History) {
        let Some(seq) = self.newest.get(&number).copied() else { return };
        if self.found.get(&number).is_some_and(|seen| seen.seq == seq) {
            return;
        }
        self.found.remove(&number);
        let Some(resource) = history.life(number).and_then(|life| history.resource_of(life)) else { return };
        if self.resource.kind == "Namespace" {
            self.found.insert(number, Seen { seq, remains: true, ..Seen::default() });
            return;
        }
        let Some(object) = history.text(seq) else {
            self.unread.insert(number);
            return;
        };
        let mut seen = Seen { seq, ..Seen::default() };
        if self.is_foreground {
            seen.blocks =
                list(json::member(&object, "metadata").unwrap_or("{}"), "ownerReferences").iter().any(|owner| {
                    text(owner, &["uid"]).is_some_and(|uid| *uid == self.uid)
                        && json::member(owner, "blockOwnerDeletion") == Some("true")
                });
        }
        match resource.kind {
            "PodDisruptionBudget" if self.resource.kind == "Pod" => {
                let labels = labels_of(&self.own);
                seen.refuses = refuses(&object).filter(|_| selects(&object, labels));
            }
            "PodDisruptionBudget" if self.resource.kind == "Node" => {
                seen.refuses = refuses(&object);
                seen.text = if seen.refuses.is_some() { object.into() } else { Box::default() };
            }
            "Pod" if self.resource.kind == "Node" => {
                let node = json::value_at(&object, &["spec", "nodeName"]).and_then(json::unescaped);
                if node.as_deref() == Some(&*self.key.name) && !has_ended(&object) {
                    (seen.is_pod, seen.drained) = (true, Some(!stays(&object)));
                    seen.text = labels_of(&object).into();
                }
            }
            "VolumeAttachment" => {
                let volume = text(&object, &["spec", "source", "persistentVolumeName"]);
                let node = text(&object, &["spec", "nodeName"]).unwrap_or_default();
                seen.attached = volume.filter(|name| **name == *self.key.name).map(|_| node.into());
            }
            "PersistentVolumeClaim" if self.resource.kind == "StorageClass" => {
                let class = text(&object, &["spec", "storageClassName"]);
                seen.uses = class.filter(|name| **name == *self.key.name).map(|_| (Taken::Named, None));
            }
            kind if is_used(&self.resource) => {
                // What a workload makes has the same references as the workload.
                let is_made = kind != "Pod"
                    && !list(json::member(&object, "metadata").unwrap_or("{}"), "ownerReferences").is_empty();
                seen.is_pod = kind == "Pod";
                seen.uses = if is_made { None } else { self.uses(kind, &object) };
            }
            _ => {}
        }
        if seen.is_something() {
            self.found.insert(number, seen);
        }
    }

    /// How an object refers to that which is looked at. A Pod that has ended uses nothing any more.
    fn uses(&self, kind: &str, object: &str) -> Option<(Taken, Option<Timestamp>)> {
        if kind == "Pod" && has_ended(object) {
            return None;
        }
        let (mut taken, mut containers) = (None::<Taken>, Vec::new());
        if kind == "StatefulSet" && claims_of(object).iter().any(|claim| self.is_of_template(claim)) {
            taken = Some(Taken::Named);
        }
        references(spec_of(kind, object)?, &mut |one| {
            if one.kind == self.resource.kind && *one.name == *self.key.name {
                taken = Some(taken.map_or(one.taken, |before| before.min(one.taken)));
                containers.push(one.container);
            }
        });
        let taken = taken?;
        if kind != "Pod" || taken != Taken::AtStart {
            return Some((taken, None));
        }
        let status = json::member(object, "status").unwrap_or("{}");
        let all = ["initContainerStatuses", "containerStatuses", "ephemeralContainerStatuses"];
        let running = all.into_iter().flat_map(|name| list(status, name)).filter_map(|one| {
            let name = text(one, &["name"])?;
            let started = text(one, &["state", "running", "startedAt"])?;
            Timestamp::parse_set(&started).filter(|_| containers.contains(&name))
        });
        Some((taken, running.min_by_key(|started| started.0)))
    }

    /// Whether it is a claim that a StatefulSet made of a template, or the class of such claims.
    fn is_of_template(&self, (beginning, class): &(String, String)) -> bool {
        match self.resource.kind {
            "PersistentVolumeClaim" => {
                let number = self.key.name.strip_prefix(&**beginning).unwrap_or_default();
                !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit())
            }
            "StorageClass" => *self.key.name == **class,
            _ => false,
        }
    }

    fn read_change(&mut self, seq: u64, history: &History) {
        let Some(change) = history.change(seq) else { return };
        let (old, new) = (change.old.as_deref(), change.new.as_deref());
        let of = |text: Option<&str>| text.map(finalizers).unwrap_or_default();
        let (before, after) = (of(old), of(new));
        for finalizer in &self.unknown {
            let (was, is) = (before.contains(finalizer), after.contains(finalizer));
            let is_known = |one: &Handled| one.finalizer == *finalizer && one.is_off == was;
            if was == is || self.handled.iter().any(is_known) {
                continue;
            }
            if let Some(by) = writer::of_change(change.delta_type, old, new).first() {
                let (finalizer, manager) = (finalizer.clone(), by.manager.to_string());
                self.handled.push(Handled { finalizer, manager, is_off: was, seq });
            }
        }
    }
}

fn has_ended(pod: &str) -> bool {
    matches!(text(pod, &["status", "phase"]).as_deref(), Some("Succeeded" | "Failed"))
}

/// Whether a drain leaves a Pod where it is: a DaemonSet would make it anew there, or the kubelet has it from a file
/// (`kubectl drain`, `pkg/drain/filters.go`).
fn stays(pod: &str) -> bool {
    let metadata = json::member(pod, "metadata").unwrap_or("{}");
    let is_mirror = json::value_at(metadata, &["annotations", "kubernetes.io/config.mirror"]).is_some();
    is_mirror
        || list(metadata, "ownerReferences").iter().any(|owner| text(owner, &["kind"]).as_deref() == Some("DaemonSet"))
}

fn labels_of(object: &str) -> &str {
    json::value_at(object, &["metadata", "labels"]).unwrap_or("{}")
}

/// Whether a budget allows no disruption now. Returns how many Pods are healthy, and how many must be.
fn refuses(budget: &str) -> Option<(i64, i64)> {
    let number = |name: &str| json::value_at(budget, &["status", name]).and_then(json::integer);
    (number("disruptionsAllowed") == Some(0))
        .then(|| (number("currentHealthy").unwrap_or(0), number("desiredHealthy").unwrap_or(0)))
}

/// Whether a budget is about Pods with these labels.
pub fn selects(budget: &str, labels: &str) -> bool {
    let Some(selector) = json::value_at(budget, &["spec", "selector"]) else { return false };
    let label = |name: &str| json::member(labels, name).and_then(json::unescaped);
    let mut wanted = json::member(selector, "matchLabels").and_then(json::members).into_iter().flatten();
    let is_equal = wanted.all(|one| label(&one.name).is_some() && label(&one.name) == json::unescaped(one.value));
    let fits = |one: &&str| {
        let (key, operator) = (text(one, &["key"]).unwrap_or_default(), text(one, &["operator"]).unwrap_or_default());
        let has = label(&key);
        let is_among = || {
            let values = list(one, "values");
            has.as_ref().is_some_and(|has| values.iter().any(|value| json::unescaped(value).as_ref() == Some(has)))
        };
        match &*operator {
            "In" => is_among(),
            "NotIn" => !is_among(),
            "Exists" => has.is_some(),
            "DoesNotExist" => has.is_none(),
            _ => false,
        }
    };
    let is_expressed = list(selector, "matchExpressions").iter().all(fits);
    is_equal && is_expressed
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_budget_refuses_what_it_selects_while_it_allows_nothing() {
        let labels = json!({"app": "web", "tier": "front"}).to_string();
        let check = |allowed: i64, selector: serde_json::Value, expected: Option<(i64, i64)>| {
            let status = json!({"disruptionsAllowed": allowed, "currentHealthy": 2, "desiredHealthy": 2});
            let budget = json!({"spec": {"selector": selector}, "status": status}).to_string();
            assert_eq!(refuses(&budget).filter(|_| selects(&budget, &labels)), expected, "{budget}");
        };
        let web = json!({"matchLabels": {"app": "web"}});
        check(0, web.clone(), Some((2, 2)));
        check(1, web, None);
        check(0, json!({"matchLabels": {"app": "db"}}), None);
        check(0, json!({}), Some((2, 2)));
        check(0, json!({"matchExpressions": [{"key": "tier", "operator": "In", "values": ["front"]}]}), Some((2, 2)));
        check(0, json!({"matchExpressions": [{"key": "tier", "operator": "NotIn", "values": ["front"]}]}), None);
        check(
            0,
            json!({"matchExpressions": [{"key": "x", "operator": "DoesNotExist"}, {"key": "app", "operator": "Exists"}]}),
            Some((2, 2)),
        );
        check(0, json!({"matchExpressions": [{"key": "x", "operator": "Odd"}]}), None);
        assert_eq!((refuses("7"), selects("7", &labels)), (None, false));
    }
}
