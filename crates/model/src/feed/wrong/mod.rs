//! What is wrong at this moment, from the states of objects as they are received: one entry for a cause, since when, and
//! the change with which it began where ownership, revision or node prove it.
//!
//! Of what is well nothing is kept, but of each workload how many Pods it is to have and its last changes.

mod began;
mod fault;
pub mod row;
pub mod then;
mod warnings;

use std::ops::Deref;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use smol_str::SmolStr;

use kubechurn_changes::line::Line;
use kubechurn_client::api::cell::{CellRef, Tone};
use kubechurn_client::api::object::{Object, ObjectKey};
use kubechurn_client::api::owner::{OwnerReference, Owners};
use kubechurn_client::api::resource::ApiResource;
use kubechurn_client::api::sort::sort_by;
use kubechurn_client::api::time::Timestamp;
use kubechurn_client::api::uid::Uid;
use kubechurn_client::cache::delta::DeltaType;
use kubechurn_client::json;
use warnings::{OF_USE, Warning, Warnings};

pub use began::{Change, What};
use fault::CREATE;
pub use fault::Fault;

/// How long an entry that is over is shown, in milliseconds.
pub const OVER_FOR: f64 = 60_000.0;
/// How long a container must run before it counts as one that crashes no more, in milliseconds.
const CALM: f64 = 15_000.0;
/// How often entries are made anew though nothing was received, in milliseconds.
const PACE: f64 = 1_000.0;
/// The same where much is received.
const FAST_PACE: f64 = 100.0;
/// By how much more seldom entries are made anew for each object of which something is wrong, in milliseconds: where all that runs
/// on a cluster fails, what is received then must not cost more the more of it fails.
const EACH_PACE: f64 = 0.1;
/// How often the Pods of a node are counted, in milliseconds.
const COUNT_PACE: f64 = 10_000.0;
/// How long before a refusal the change may have been that it refuses, in milliseconds.
const JUST_BEFORE: f64 = 10_000.0;
/// How long an Event's complaint must last, in milliseconds: what a kubelet or a controller is refused at first often succeeds at
/// once when it is tried again.
const AGAIN_IN: f64 = 2_000.0;
/// How many changes of a workload are kept.
const MOST_CHANGES: usize = 4;
/// How many of the objects of an entry are named in it.
const MOST_OBJECTS: usize = 8;
/// The most letters of what is said more of a fault.
const LONGEST: usize = 240;

/// What was received of an object.
#[derive(Clone, Copy, Debug)]
pub struct Received<'a> {
    /// The object's resource.
    pub resource: ApiResource,
    /// When it was received, in milliseconds.
    pub now: f64,
    /// The same by the server's clock.
    pub wall: Timestamp,
    /// What happened.
    pub delta_type: DeltaType,
    /// The object.
    pub object: &'a Object,
    /// Its text.
    pub text: Option<&'a str>,
}

/// What an entry is about.
#[derive(Clone, Debug, PartialEq)]
pub struct Subject {
    /// The resource, if the object was received.
    pub resource: Option<ApiResource>,
    /// The API group of the kind.
    pub group: SmolStr,
    /// The kind.
    pub kind: String,
    /// The namespace and name.
    pub key: ObjectKey,
    /// The uid.
    pub uid: Uid,
}

impl Subject {
    /// Whether it is the object of this resource with this name. An owner that was not received is of any cluster.
    pub fn is(&self, resource: &ApiResource, key: &ObjectKey) -> bool {
        (&*self.group, &*self.kind, &self.key) == (resource.group, resource.kind, key)
            && self.resource.is_none_or(|own| own.cluster == resource.cluster)
    }
}

/// Something that is wrong, or was until a moment ago.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// What it is about.
    pub subject: Subject,
    /// What is wrong, of one of the objects.
    pub fault: Fault,
    /// How many objects it concerns, and how many there should be, if that is known.
    pub count: (usize, Option<u64>),
    /// Some of these objects: Pods that fail, or what the entry is about.
    pub objects: Vec<Subject>,
    /// Since when, in milliseconds.
    pub since: f64,
    /// When it ended, in milliseconds.
    pub ended_at: Option<f64>,
    /// The change with which it began, where that is proven.
    pub began: Option<Change>,
    cause: Cause,
}

impl Entry {
    /// What is wrong in parts: the words, and which part each is.
    pub fn words(&self) -> Vec<(String, &'static str)> {
        let (count, whole) = self.count;
        let (what, more) = match (self.fault.words(count == 1), &*self.subject.kind) {
            ((_, more), "CronJob") if self.fault.number() == CREATE => ("may not create Jobs", more),
            (words, _) => words,
        };
        let tone = match (self.ended_at, self.fault.tone()) {
            (Some(_), _) => "old",
            (None, Tone::Wait) => "wait",
            _ => "bad",
        };
        let mut words = Vec::new();
        if self.fault.is_of_pods() && self.subject.kind != "Pod" {
            let plural = if whole.unwrap_or(count as u64) == 1 { "" } else { "s" };
            let of =
                whole.filter(|whole| *whole >= count as u64).map(|whole| format!(" of {whole}")).unwrap_or_default();
            words.push((format!("{count}{of} Pod{plural}"), ""));
        }
        let after = match (&self.fault, whole) {
            (Fault::NotReady, Some(_)) => ",",
            (Fault::Pull { .. } | Fault::NotReady, _) => "",
            _ if more.is_empty() => "",
            _ => ":",
        };
        words.push((format!("{what}{after}"), tone));
        match (&self.fault, whole) {
            (Fault::NotReady, Some(1)) => words.push((String::from("1 Pod on it"), "")),
            (Fault::NotReady, Some(pods)) => words.push((format!("{pods} Pods on it"), "")),
            (Fault::Pull { .. }, _) => words.push((more, "value")),
            _ if more.is_empty() => {}
            _ => words.push((more.chars().take(LONGEST).collect(), "")),
        }
        words
    }

    /// The same as one text.
    pub fn sentence(&self) -> String {
        let words: Vec<String> = self.words().into_iter().map(|(words, _)| words).collect();
        format!("{} {}: {}", self.subject.kind, self.subject.key, words.join(" "))
    }
}

/// What makes several faults one entry.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Cause {
    subject: Uid,
    number: u8,
    /// The ReplicaSet, of Pods: each is another version.
    set: Uid,
}

/// The controller of an object, by its place among the owners. Objects with the same owners share the list of them.
#[derive(Clone, Debug)]
struct Owner(Arc<Owners>, usize);

impl Deref for Owner {
    type Target = OwnerReference;

    fn deref(&self) -> &OwnerReference {
        &self.0[self.1]
    }
}

/// A fault of an object.
#[derive(Debug)]
struct Held {
    subject: Subject,
    owner: Option<Owner>,
    fault: Fault,
    since: f64,
    /// When it counts.
    due_at: f64,
    /// Since when the object is well again, though it may not last.
    recovered_at: Option<f64>,
    /// What is wrong as soon as a container that crashed has run for a while: the fault, since when, and when it counts.
    then: Option<(Fault, f64, f64)>,
    /// Whether it was there before the page.
    is_listed: bool,
    /// The node that a Pod is on.
    node: SmolStr,
    /// The revision of the Pod's template, as a StatefulSet or a DaemonSet notes it.
    revision: SmolStr,
    /// The change of the object itself that brought it.
    own: Option<Change>,
}

/// What is kept of a workload.
#[derive(Debug)]
struct Workload {
    subject: Subject,
    owner: Option<Owner>,
    desired: Option<u64>,
    observed: i64,
    /// The revision that its annotation names.
    revision: i64,
    /// A ReplicaSet's template: see [`began::template`].
    template: u64,
    /// The revision that a StatefulSet brings its Pods to.
    update: SmolStr,
    changes: Vec<Change>,
}

/// What is wrong now.
#[derive(Debug, Default)]
pub struct WrongNow {
    held: FxHashMap<Uid, Held>,
    workloads: FxHashMap<Uid, Workload>,
    warnings: Warnings,
    entries: Vec<Entry>,
    /// How many Pods each node has that is not ready, and when they were counted.
    pods: FxHashMap<Uid, (f64, Option<usize>)>,
    is_new: bool,
    looked_at: f64,
}

impl WrongNow {
    /// Looks at the state of an object as it was received.
    pub fn received(&mut self, received: Received<'_>) {
        let Received { resource, delta_type, object, text, .. } = received;
        if resource.kind == "Event" {
            if self.warnings.received(delta_type, object, received.now, received.wall) {
                self.is_new = true;
                self.hold_as_reported(&received);
            }
            return;
        }
        if delta_type == DeltaType::Deleted {
            self.warnings.forget(&object.uid);
            self.is_new |= self.held.remove(&object.uid).is_some();
            self.workloads.remove(&object.uid);
            return;
        }
        let Some(text) = text.filter(|_| !object.uid.is_empty()) else { return };
        let parts = if may_be_wrong(&resource, object, text) { fault::Parts::of(text) } else { None };
        if let Some(parts) = parts.as_ref().filter(|_| is_workload(&resource)) {
            self.note_workload(resource, object, parts);
        }
        let found = parts.and_then(|parts| fault::read(&resource, &parts).map(|found| (found, parts)));
        let is_reported = |(found, _): &(fault::Found, fault::Parts<'_>)| {
            resource.kind != "CronJob"
                || found.fault.number() != CREATE
                || self.warnings.of(&object.uid, CREATE).is_some()
        };
        match found.filter(is_reported) {
            Some((found, parts)) => self.hold(&received, &parts, found),
            None => self.is_well(&received, text),
        }
    }

    fn note_workload(&mut self, resource: ApiResource, object: &Object, parts: &fault::Parts<'_>) {
        let fault::Parts { metadata, spec, status } = parts;
        let number = |of: &str, name: &str| json::member(of, name).and_then(json::integer);
        let desired = number(spec, "replicas").or_else(|| number(status, "desiredNumberScheduled"));
        let desired = desired.and_then(|count| u64::try_from(count).ok());
        let annotations = json::named(metadata, "annotations");
        let annotation = annotations.and_then(|all| json::member(all, "deployment.kubernetes.io/revision"));
        let update = json::member(status, "updateRevision").and_then(json::unescaped);
        let known = self.workloads.remove(&object.uid);
        if json::member(spec, "suspend") == Some("true") && resource.kind == "CronJob" {
            return;
        }
        // A ReplicaSet without Pods is an old version, of which most Deployments have several.
        if known.is_none() && desired == Some(0) && resource.kind == "ReplicaSet" {
            return;
        }
        self.is_new |= known.as_ref().is_none_or(|known| known.desired != desired);
        let is_set = resource.kind == "ReplicaSet";
        let template =
            known.as_ref().map_or_else(|| if is_set { began::template(spec) } else { 0 }, |known| known.template);
        self.workloads.insert(
            object.uid.clone(),
            Workload {
                subject: subject(resource, object),
                owner: controller(object),
                desired,
                observed: number(status, "observedGeneration").unwrap_or(0),
                revision: began::number(annotation),
                template,
                update: update.unwrap_or_default().into(),
                changes: known.map(|known| known.changes).unwrap_or_default(),
            },
        );
    }

    fn hold(&mut self, received: &Received<'_>, parts: &fault::Parts<'_>, found: fault::Found) {
        let Received { resource, now, wall, delta_type, object, .. } = *received;
        let is_listed = delta_type.is_of_list();
        // What the object says of the time counts for what was there before; what comes is since now.
        let said = found.since.filter(|_| is_listed || found.patience > 0.0);
        let since = said.map_or(now, |since| now - wall.seconds_since(since) as f64 * 1_000.0);
        let is_deleting = matches!(found.fault, Fault::Deleting { .. });
        let since = if is_deleting { since } else { since.min(now) };
        let due_at = since + found.patience;
        self.is_new = true;
        match self.held.get_mut(&object.uid) {
            Some(held) if held.fault.number() == found.fault.number() => {
                held.fault = found.fault;
                held.recovered_at = None;
                if held.due_at > now {
                    held.due_at = due_at;
                }
            }
            // A container that crashed runs again, and its probes are not done; or what failed is tried once more.
            Some(held)
                if matches!(held.fault, Fault::Crash { .. } | Fault::Pull { .. } | Fault::Start { .. })
                    && matches!(found.fault, Fault::Hang { .. } | Fault::Unready { .. }) =>
            {
                held.recovered_at.get_or_insert(now);
                held.then = Some((found.fault, since, due_at));
            }
            known => {
                let is_pod = resource.kind == "Pod";
                let labels = json::named(&parts.metadata, "labels").filter(|_| is_pod);
                let label = |name: &str| labels.and_then(|all| json::member(all, name)).and_then(json::unescaped);
                let revision = label("pod-template-generation").or_else(|| label("controller-revision-hash"));
                let node = json::member(parts.spec, "nodeName").filter(|_| is_pod).and_then(json::unescaped);
                let held = Held {
                    node: node.unwrap_or_default().into(),
                    subject: subject(resource, object),
                    owner: controller(object),
                    fault: found.fault,
                    since,
                    due_at,
                    recovered_at: None,
                    then: None,
                    is_listed,
                    revision: revision.unwrap_or_default().into(),
                    own: known.and_then(|known| known.own.take()),
                };
                self.held.insert(object.uid.clone(), held);
            }
        }
    }

    /// Holds a CronJob that was received before the Event which says that it may not create Jobs: its state does not say so.
    fn hold_as_reported(&mut self, event: &Received<'_>) {
        let Some(uid) = event.object.regarding().filter(|uid| !self.held.contains_key(*uid)) else { return };
        let Some(cron_job) = self.workloads.get(uid).filter(|workload| workload.subject.kind == "CronJob") else {
            return;
        };
        if self.warnings.of(uid, CREATE).is_some() {
            let held = Held {
                subject: cron_job.subject.clone(),
                owner: None,
                fault: Fault::Create { message: String::new() },
                since: event.now,
                due_at: f64::INFINITY,
                recovered_at: None,
                then: None,
                is_listed: event.delta_type.is_of_list(),
                node: SmolStr::default(),
                revision: SmolStr::default(),
                own: None,
            };
            self.held.insert(uid.clone(), held);
        }
    }

    fn is_well(&mut self, received: &Received<'_>, text: &str) {
        let Received { resource, now, object, .. } = *received;
        if resource.kind == "Job" && resource.group == "batch" && !self.held.is_empty() {
            self.end_failed_jobs(object, text);
        }
        let Some(held) = self.held.get_mut(&object.uid) else { return };
        self.is_new = true;
        if matches!(held.fault, Fault::Crash { .. }) {
            held.recovered_at.get_or_insert(now);
            held.then = None;
        } else {
            self.held.remove(&object.uid);
        }
    }

    /// A CronJob whose newer Job is complete has no failed one any more.
    fn end_failed_jobs(&mut self, object: &Object, text: &str) {
        let Some(owner) = controller(object) else { return };
        let is_complete = json::value_at(text, &["status", "completionTime"]).is_some();
        if is_complete {
            let is_older = |held: &Held| held.owner.as_ref().is_some_and(|other| other.uid == owner.uid);
            self.held.retain(|_, held| !(matches!(held.fault, Fault::Job { .. }) && is_older(held)));
            self.is_new = true;
        }
    }

    /// Whether a change may be one with which something began, so that its text is of use.
    pub fn wants(&self, line: &Line) -> bool {
        !line.is_listed && self.knows(&line.uid)
    }

    /// Whether something is kept of an object.
    pub fn knows(&self, uid: &Uid) -> bool {
        self.workloads.contains_key(uid) || self.held.contains_key(uid)
    }

    /// Looks at a change, which may be the one with which something began. `text` is the object after it.
    pub fn changed(&mut self, line: &Line, text: Option<&str>) {
        let workload = self.workloads.get_mut(&line.uid);
        let held = self.held.get_mut(&line.uid);
        if workload.is_none() && held.is_none() {
            return;
        }
        let Some(change) = began::change(line, text) else { return };
        self.is_new = true;
        if let Some(held) = held.filter(|_| matches!(change.what, What::State | What::Deletion | What::Created)) {
            held.own = Some(change.clone());
        }
        if let Some(workload) = workload {
            if workload.changes.len() == MOST_CHANGES {
                workload.changes.remove(0);
            }
            workload.changes.push(change);
        }
    }

    /// When there is reason to make the entries anew, in milliseconds.
    pub fn due_at(&self) -> f64 {
        let least = if self.is_new { FAST_PACE } else { PACE };
        self.looked_at + least.max(self.held.len() as f64 * EACH_PACE)
    }

    /// Makes the entries anew where there is reason to. `pods_on` counts the Pods of a node.
    pub fn look(&mut self, now: f64, pods_on: &mut dyn FnMut(&Subject) -> Option<usize>) {
        if self.is_quiet() || (now < self.due_at() && self.looked_at > 0.0) {
            return;
        }
        (self.is_new, self.looked_at) = (false, now);
        let warnings = &self.warnings;
        self.held.retain(|uid, held| {
            let is_only_reported = held.subject.kind == "CronJob" && held.fault.number() == CREATE;
            if is_only_reported && warnings.of(uid, CREATE).is_none() {
                return false;
            }
            if held.recovered_at.is_none_or(|at| now - at < CALM) {
                return true;
            }
            held.recovered_at = None;
            let then = held.then.take();
            let lasts = then.is_some();
            if let Some(then) = then {
                (held.fault, held.since, held.due_at) = then;
            }
            lasts
        });
        self.pods.retain(|uid, _| self.held.contains_key(uid));
        for (uid, held) in &self.held {
            let is_due = self.pods.get(uid).is_none_or(|(at, _)| now - at >= COUNT_PACE);
            if held.fault == Fault::NotReady && is_due {
                self.pods.insert(uid.clone(), (now, pods_on(&held.subject)));
            }
        }
        let mut causes = self.causes(now);
        for entry in &mut self.entries {
            match causes.remove(&entry.cause) {
                // What was over, and is refused for another reason now, began anew.
                Some(new) if entry.ended_at.is_some() && !entry.fault.is_same_as(&new.fault) => *entry = new,
                Some(new) => *entry = Entry { since: entry.since.min(new.since), ..new },
                None => drop(entry.ended_at.get_or_insert(now)),
            }
        }
        // An owner that was not received when it was named has become another one.
        self.entries.retain(|entry| entry.ended_at.is_none() || entry.subject.resource.is_some());
        self.entries.extend(causes.into_values());
        self.entries.retain(|entry| entry.ended_at.is_none_or(|at| now - at < OVER_FOR));
        sort_by(&mut self.entries, |one, other| {
            let place = |entry: &Entry| (entry.ended_at.is_some(), entry.fault.tone() != Tone::Bad);
            let by_time = other.since.total_cmp(&one.since);
            place(one).cmp(&place(other)).then(by_time).then_with(|| one.subject.key.cmp(&other.subject.key))
        });
    }

    /// [`WrongNow::look`], whatever was looked at before.
    pub fn look_anew(&mut self, now: f64, pods_on: &mut dyn FnMut(&Subject) -> Option<usize>) {
        self.looked_at = 0.0;
        self.pods.clear();
        self.look(now, pods_on);
    }

    fn causes(&self, now: f64) -> FxHashMap<Cause, Entry> {
        let mut causes: FxHashMap<Cause, Entry> = FxHashMap::default();
        let is_lost = |held: &&Held| held.fault == Fault::NotReady;
        let lost: Vec<&str> = self.held.values().filter(is_lost).map(|held| &*held.subject.key.name).collect();
        for held in self.held.values() {
            let said = self.said_of(held);
            // Only the Event says what was refused before the page began.
            let since = said.filter(|_| held.is_listed).map_or(held.since, |said| held.since.min(said.first_at));
            // What an Event complains of counts though the state alone would have to be waited for.
            let reported_at = said.filter(|_| held.fault.is_reported_by_events()).map(|said| said.first_at.max(since));
            let is_due = held.due_at <= now || reported_at.is_some_and(|at| at + AGAIN_IN <= now);
            if !is_due || self.is_moot(held, &lost) {
                continue;
            }
            // Of hundreds of Pods with one cause nothing is copied but what the entry shows.
            let fault = || {
                let mut fault = held.fault.clone();
                if let Some(said) = said {
                    fault.explain(&said.message, &said.part);
                }
                fault
            };
            let top = self.owner_of(held);
            let cause = cause_of(held, top);
            let uid = &cause.subject;
            match causes.get_mut(&cause) {
                Some(entry) => {
                    entry.count.0 += 1;
                    if entry.objects.len() < MOST_OBJECTS {
                        entry.objects.push(held.subject.clone());
                    }
                    // The worst of several is shown: the one that was started anew most often.
                    if restarts(&held.fault) > restarts(&entry.fault) {
                        entry.fault = fault();
                    }
                    entry.since = entry.since.min(since);
                }
                None => {
                    let desired = match held.fault {
                        Fault::NotReady => {
                            self.pods.get(&held.subject.uid).and_then(|(_, pods)| *pods).map(|pods| pods as u64)
                        }
                        _ => self.workloads.get(uid).and_then(|workload| workload.desired),
                    };
                    let entry = Entry {
                        subject: self.subject_of(held, top),
                        fault: fault(),
                        count: (1, desired),
                        objects: vec![held.subject.clone()],
                        since,
                        ended_at: None,
                        began: self.began(held, uid),
                        cause: cause.clone(),
                    };
                    causes.insert(cause, entry);
                }
            }
        }
        // A rollout whose Pods fail is late because of that.
        let explained: Vec<Uid> = causes
            .values()
            .filter(|entry| entry.fault.is_of_rollouts())
            .map(|entry| entry.subject.uid.clone())
            .collect();
        causes.retain(|cause, entry| entry.fault != Fault::Deadline || !explained.contains(&cause.subject));
        causes
    }

    /// Whether a fault is of something that is going, or follows from another: Pods of a version that is scaled away, of a Job
    /// that failed, or on a node that is `lost`.
    fn is_moot(&self, held: &Held, lost: &[&str]) -> bool {
        // Of a Pod on a node that is lost nobody can say how it is.
        let is_kubelets = matches!(held.fault, Fault::Deleting { .. } | Fault::Hang { .. } | Fault::Unready { .. });
        if is_kubelets && lost.contains(&held.node.as_str()) {
            return true;
        }
        let Some(owner) = held.owner.as_ref().filter(|_| held.fault.is_of_pods()) else { return false };
        let is_scaled_away = self.workloads.get(&owner.uid).is_some_and(|workload| workload.desired == Some(0));
        is_scaled_away || self.held.get(&owner.uid).is_some_and(|owner| matches!(owner.fault, Fault::Job { .. }))
    }

    /// What an Event says of a fault.
    fn said_of(&self, held: &Held) -> Option<&Warning> {
        let before = if held.is_listed { OF_USE } else { JUST_BEFORE };
        self.warnings.of(&held.subject.uid, held.fault.number()).filter(|said| said.at >= held.since - before)
    }

    /// The entry that is nearest to a time among those that an object belongs to: it is what the entry is about, it fails itself, or
    /// Pods that it made fail.
    pub fn entry_of(&self, uid: &Uid, at: f64) -> Option<&Entry> {
        let own = self.held.get(uid).map(|held| cause_of(held, self.owner_of(held)));
        let is_its = |cause: &Cause| !uid.is_empty() && (cause.subject == *uid || cause.set == *uid);
        self.nearest(at, &|entry| own.as_ref() == Some(&entry.cause) || is_its(&entry.cause))
    }

    /// The one of these entries that is nearest to a time, in milliseconds.
    pub fn nearest(&self, at: f64, is_it: &dyn Fn(&Entry) -> bool) -> Option<&Entry> {
        let distance = |entry: &Entry| (entry.since - at).abs();
        let all = self.entries.iter().filter(|entry| is_it(entry));
        all.min_by(|one, other| distance(one).total_cmp(&distance(other)))
    }

    /// The workload that a fault of a Pod or of a ReplicaSet is about, where one owns it.
    fn owner_of<'a>(&'a self, held: &'a Held) -> Option<&'a Owner> {
        let is_sets = matches!(held.fault, Fault::Create { .. }) && held.subject.kind == "ReplicaSet";
        let is_owners = held.fault.is_of_pods() || is_sets;
        let owner = held.owner.as_ref().filter(|owner| is_owners && &*owner.kind != "Node")?;
        let set = self.workloads.get(&owner.uid).filter(|_| &*owner.kind == "ReplicaSet");
        Some(set.and_then(|set| set.owner.as_ref()).unwrap_or(owner))
    }

    /// What a fault is about: the workload, or the object itself.
    fn subject_of(&self, held: &Held, top: Option<&Owner>) -> Subject {
        let Some(top) = top else { return held.subject.clone() };
        let known = self.workloads.get(&top.uid).map(|workload| workload.subject.clone());
        known.unwrap_or_else(|| Subject {
            resource: None,
            group: top.group().into(),
            kind: top.kind.to_string(),
            key: ObjectKey { namespace: held.subject.key.namespace.clone(), name: (&*top.name).into() },
            uid: top.uid.clone(),
        })
    }

    /// The change with which a fault began, where that is proven.
    fn began(&self, held: &Held, top: &Uid) -> Option<Change> {
        let changes = || self.workloads.get(top).map(|workload| &workload.changes[..]).unwrap_or_default().iter().rev();
        let is_just_before = |change: &&Change| (-2_000.0..JUST_BEFORE).contains(&(held.since - change.at));
        let found = match &held.fault {
            Fault::NotReady | Fault::Deleting { .. } | Fault::Unbound | Fault::Ended { .. } => None,
            // Its version was ready.
            Fault::Unready { was_ready: true, .. } => None,
            Fault::Job { .. } => changes().find(|change| change.what == What::Created),
            Fault::Create { .. } => changes().find(is_just_before),
            Fault::Deadline => changes().find(|change| matches!(change.what, What::Template | What::Created)),
            _ => {
                let owner = held.owner.as_ref().and_then(|owner| self.workloads.get(&owner.uid));
                let made_by = |change: &&Change| owner.is_some_and(|owner| is_version_of(held, owner, change));
                let is_of_template = |change: &&Change| matches!(change.what, What::Template | What::Created);
                let template = changes().filter(is_of_template).find(made_by);
                let is_scheduling = matches!(held.fault, Fault::Schedule { .. });
                let scaled = changes().find(|change| is_scheduling && change.what == What::Replicas);
                scaled.filter(is_just_before).or(template)
            }
        };
        let own = || {
            let own = held.own.clone()?;
            Some(if *top == held.subject.uid { own } else { own.of_made(&held.subject) })
        };
        found.cloned().or_else(own)
    }

    /// What is wrong, and what was until a moment ago: the gravest first, then what began last.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The resource of a workload, by its uid.
    pub fn resource_of(&self, uid: &Uid) -> Option<ApiResource> {
        self.workloads.get(uid).and_then(|workload| workload.subject.resource)
    }

    /// Whether something is wrong with an object, or with what it owns.
    pub fn concerns(&self, uid: &Uid) -> bool {
        let is_owner =
            |entry: &Entry| entry.ended_at.is_none() && entry.subject.kind != "Pod" && entry.subject.uid == *uid;
        // What waits its time is no trouble yet.
        let counts = |held: &Held| held.due_at <= held.since.max(self.looked_at);
        self.held.get(uid).is_some_and(counts) || self.entries.iter().any(is_owner)
    }

    /// Whether nothing is wrong, and nothing was until a moment ago.
    pub fn is_quiet(&self) -> bool {
        self.held.is_empty() && self.entries.is_empty()
    }

    /// Forgets what is not watched any more: whether it is still wrong is not known.
    pub fn keep(&mut self, is_watched: &dyn Fn(&ApiResource, &str) -> bool) {
        let is_kept =
            |subject: &Subject| subject.resource.is_none_or(|resource| is_watched(&resource, &subject.key.namespace));
        self.held.retain(|_, held| is_kept(&held.subject));
        self.workloads.retain(|_, workload| is_kept(&workload.subject));
        self.entries.retain(|entry| is_kept(&entry.subject));
        self.is_new = true;
    }
}

/// Whether the Pods of `owner`, of which one is held, are of the version that a change of the workload above made.
fn is_version_of(held: &Held, owner: &Workload, change: &Change) -> bool {
    match (&*owner.subject.kind, change.what) {
        // Of several changes within a moment each has made a ReplicaSet with its template, or none.
        ("ReplicaSet", What::Template) if owner.template != 0 && change.template != 0 => {
            owner.template == change.template
        }
        // The annotation of a Deployment has the revision before, until its new ReplicaSet is there.
        ("ReplicaSet", What::Template) => change.revision + 1 == owner.revision,
        ("ReplicaSet", What::Created) => owner.revision <= 1,
        ("StatefulSet", _) => held.revision == owner.update && change.generation <= owner.observed,
        ("DaemonSet", What::Template) => held.revision == change.revision.to_string().as_str(),
        ("DaemonSet", What::Created) => held.revision == "1",
        ("Job", What::Created) => true,
        _ => false,
    }
}

/// What a fault is counted with. `top` is the workload that it is about.
fn cause_of(held: &Held, top: Option<&Owner>) -> Cause {
    let set = held.owner.as_ref().filter(|_| held.fault.is_of_pods()).map(|owner| owner.uid.clone());
    let subject = top.map_or(&held.subject.uid, |top| &top.uid);
    Cause { subject: subject.clone(), number: held.fault.number(), set: set.unwrap_or_default() }
}

fn restarts(fault: &Fault) -> i64 {
    if let Fault::Crash { restarts, .. } = fault { *restarts } else { 0 }
}

/// Whether the text of an object says that something is wrong with it, or will be when it lasts.
pub fn is_wrong(resource: &ApiResource, text: &str) -> bool {
    fault::Parts::of(text).is_some_and(|parts| fault::read(resource, &parts).is_some())
}

/// Whether it is a kind whose objects make others, and of which it is kept how many Pods they are to have.
fn is_workload(resource: &ApiResource) -> bool {
    match resource.group {
        "apps" => matches!(resource.kind, "Deployment" | "ReplicaSet" | "StatefulSet" | "DaemonSet"),
        "batch" => matches!(resource.kind, "Job" | "CronJob"),
        _ => false,
    }
}

/// Whether the object's text is worth reading. A Pod's STATUS is known from its cells, where they were read.
fn may_be_wrong(resource: &ApiResource, object: &Object, text: &str) -> bool {
    let is_core = resource.group.is_empty();
    match resource.kind {
        "Pod" if is_core => {
            let status = object.cells.iter().find(|cell| matches!(cell, CellRef::Status(..)));
            let is_unready = |cell: CellRef<'_>| matches!(cell, CellRef::Ratio(ready, all) if ready < all);
            status.is_none_or(|cell| cell.tone() != Tone::Good) || object.cells.get(0).is_some_and(is_unready)
        }
        "Node" | "PersistentVolumeClaim" if is_core => true,
        "Event" | "Lease" | "EndpointSlice" | "Endpoints" => false,
        _ if is_workload(resource) => true,
        _ if has_conditions(resource, text) => true,
        _ => text.contains("\"deletionTimestamp\""),
    }
}

/// Whether an object of a kind that others have defined, or of a younger group of Kubernetes, has conditions.
fn has_conditions(resource: &ApiResource, text: &str) -> bool {
    resource.group.contains('.') && text.contains("\"conditions\"")
}

fn subject(resource: ApiResource, object: &Object) -> Subject {
    let (group, kind) = (resource.group.into(), resource.kind.to_owned());
    Subject { resource: Some(resource), group, kind, key: object.key.clone(), uid: object.uid.clone() }
}

fn controller(object: &Object) -> Option<Owner> {
    let owners = object.owners.as_ref()?;
    let at = owners.iter().position(|owner| owner.controller)?;
    Some(Owner(Arc::clone(owners), at))
}

#[cfg(test)]
mod tests;
