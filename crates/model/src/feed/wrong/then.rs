//! What was wrong at a moment: the versions that objects had until then, handed to a [`WrongNow`] of their own.
//!
//! Nearly all objects are well. So of each object the version of the moment is looked at first, and of a Pod those just before it.
//! Of those that may fail, of what owns them and of what is said of them, all versions before it are then taken in, in the order in
//! which they were received.

use kubechurn_changes::line::Line;
use kubechurn_changes::noise::Marks;
use kubechurn_client::api::cell::CellRef;
use kubechurn_client::api::object::{Object, ObjectKey, decode_metadata, decode_or_flag};
use kubechurn_client::api::resource::ApiResource;
use kubechurn_client::api::sort::sort_by_key;
use kubechurn_client::api::time::Timestamp;
use kubechurn_client::cache::delta::DeltaType;
use kubechurn_client::json;
use kubechurn_columns::kinds::Kind;
use rustc_hash::{FxHashMap, FxHashSet};
use smol_str::SmolStr;

use super::{
    CALM, Owner, Received, Subject, WrongNow, controller, has_conditions, is_workload, is_wrong, may_be_wrong,
};
use crate::history::coverage::{Known, Moment};
use crate::history::{History, Was};
use crate::rewind::{Present, bare};

/// How many versions are remembered that were looked at.
const MOST_SEEN: usize = 200_000;

/// What a version says: whether something may be wrong, and on which node a Pod is.
type Seen = (bool, SmolStr);

/// Versions that were looked at, by their numbers. A version stays as it is, so that another moment need not look again.
#[derive(Debug, Default)]
pub struct Looked(FxHashMap<u64, Seen>);

impl Looked {
    /// What a version says; `None` if its text is not kept.
    fn see(&mut self, sequence: u64, resource: &ApiResource, history: &History) -> Option<Seen> {
        if let Some(seen) = self.0.get(&sequence) {
            return Some(seen.clone());
        }
        let seen = see(resource, &history.text(sequence)?);
        if self.0.len() >= MOST_SEEN {
            self.0.clear();
        }
        self.0.insert(sequence, seen.clone());
        Some(seen)
    }
}

/// Where texts, objects and times come from.
#[derive(Clone, Copy)]
pub struct Sources<'a> {
    /// The versions.
    pub history: &'a History,
    /// The objects as they are now.
    pub present: &'a dyn Present,
    /// The fields that the user called noise.
    pub marks: &'a Marks,
    /// What the API server of a cluster called a time, which is in milliseconds.
    pub wall: &'a dyn Fn(&'static str, f64) -> Timestamp,
}

/// The place of a kind, or 0, and a name.
type Of = (usize, ObjectKey);

/// What was wrong at a moment.
#[derive(Debug)]
pub struct WrongThen {
    moment: Moment,
    kinds: Vec<(&'static Kind, Known)>,
    /// What is still to be looked at: the place of a kind, and the number of a version.
    queue: Vec<(usize, u64)>,
    /// The objects whose versions are to be taken in.
    chosen: FxHashSet<Of>,
    /// The names of what they are about: Events begin with it.
    named: FxHashSet<Of>,
    /// The names of the owners of Pods and Jobs, with which the names of all these begin.
    owners: FxHashSet<Of>,
    /// The versions that are to be taken in, the last one first, and whether each is the first one that is known of its object.
    versions: Vec<(u64, bool)>,
    is_chosen: bool,
    is_done: bool,
    wrong: WrongNow,
    /// The node of each Pod.
    nodes: Vec<SmolStr>,
    unknown: usize,
}

impl WrongThen {
    /// What was wrong at a moment with the objects of these kinds. Nothing is read yet.
    pub fn at(moment: Moment, kinds: &[&'static Kind], Sources { history, present, .. }: Sources<'_>) -> WrongThen {
        let kinds = kinds.iter().map(|kind| (*kind, history.coverage.known(kind.resource, moment))).collect();
        let mut then = WrongThen {
            moment,
            kinds,
            queue: Vec::new(),
            chosen: FxHashSet::default(),
            named: FxHashSet::default(),
            owners: FxHashSet::default(),
            versions: Vec::new(),
            is_chosen: false,
            is_done: false,
            wrong: WrongNow::default(),
            nodes: Vec::new(),
            unknown: 0,
        };
        let kinds = std::mem::take(&mut then.kinds);
        for (place, (kind, known)) in kinds.iter().enumerate().filter(|(_, (kind, _))| !is_said(&kind.resource)) {
            history.each_past(kind.resource, known, &mut |past| {
                let (record, is_newest) = match past.was {
                    Was::Newest(record) => (record, true),
                    Was::Version(record) => (Some(record), false),
                    Was::Evicted => (None, false),
                };
                if is_newest
                    && is_pod(&kind.resource)
                    && let Some(pod) = present.find(kind, past.key).filter(|object| object.uid == *past.uid)
                    && record.is_none_or(|record| record.is_of(&pod.resource_version))
                    && !may_be_wrong(&kind.resource, pod, "")
                    && then.moment.at - past.last.1 > CALM
                {
                    let node = kind.columns.iter().position(|column| column.title == "NODE");
                    if let Some(CellRef::Text(node)) = node.and_then(|node| pod.cells.get(node)) {
                        then.nodes.push(node.into());
                    }
                    return;
                }
                match record.filter(|record| record.has_text) {
                    Some(record) => then.queue.push((place, record.sequence)),
                    None => then.unknown += 1,
                }
            });
        }
        then.kinds = kinds;
        // What was received together lies together.
        sort_by_key(&mut then.queue, |(_, sequence)| *sequence);
        then
    }

    /// The moment.
    pub fn moment(&self) -> Moment {
        self.moment
    }

    /// Whether everything is read.
    pub fn is_done(&self) -> bool {
        self.is_done
    }

    /// What is known of it, once everything is read.
    pub fn wrong(&self) -> &WrongNow {
        &self.wrong
    }

    /// Of how many objects no version of the moment is kept.
    pub fn unknown(&self) -> usize {
        self.unknown
    }

    /// Reads until nothing is left or `more` says no. Returns whether something is left.
    pub fn work(&mut self, looked: &mut Looked, sources: Sources<'_>, mut more: impl FnMut() -> bool) -> bool {
        while more() && !self.is_done {
            if let Some((place, sequence)) = self.queue.pop() {
                self.look(place, sequence, looked, sources.history);
            } else if !self.is_chosen {
                self.choose(sources.history);
            } else if let Some((sequence, is_first)) = self.versions.pop() {
                self.take_in(sequence, is_first, sources);
            } else {
                self.finish();
            }
        }
        !self.is_done
    }

    /// Looks at the version that an object had.
    fn look(&mut self, place: usize, sequence: u64, looked: &mut Looked, history: &History) {
        let Some((kind, _)) = self.kinds.get(place) else { return };
        let resource = kind.resource;
        let Some((is_wrong, node)) = looked.see(sequence, &resource, history) else { return self.unknown += 1 };
        if !node.is_empty() {
            self.nodes.push(node);
        }
        let Some(change) = history.of_number(sequence) else { return };
        // A CronJob does not say itself what fails.
        if !is_wrong && resource.kind != "CronJob" && !self.failed_just_before(sequence, &resource, looked, history) {
            return;
        }
        self.named.insert(name(&change.key, &change.key.name));
        self.chosen.insert((place, change.key.clone()));
        if let Some(owner) = history.text(sequence).and_then(|text| controller(&decode_metadata(&text).ok()?)) {
            self.choose_owner(owner, &change.key, resource.cluster, history);
        }
    }

    /// Whether a Pod that is well failed less than [`CALM`] before the moment: a container that crashed runs for a while before it
    /// counts as well.
    fn failed_just_before(&self, newest: u64, resource: &ApiResource, looked: &mut Looked, history: &History) -> bool {
        let is_recent = |sequence: &u64| history.at(*sequence).is_some_and(|at| self.moment.at - at <= CALM);
        let mut version = is_pod(resource).then_some(newest);
        while let Some(sequence) = version.filter(is_recent) {
            version = history.previous(sequence);
            let seen = version.and_then(|before| looked.see(before, resource, history));
            if seen.is_some_and(|(is_wrong, _)| is_wrong) {
                return true;
            }
        }
        false
    }

    /// Has the versions of what owns an object be taken in, too, and of what owns that.
    fn choose_owner(&mut self, owner: Owner, of: &ObjectKey, cluster: &str, history: &History) {
        let (mut owner, mut of) = (Some(owner), of.clone());
        while let Some(next) = owner.take() {
            self.owners.insert(name(&of, &next.name));
            let is_its = |kind: &Kind| kind.resource.kind == &*next.kind && is_workload(&kind.resource);
            let place = self.kinds.iter().position(|(kind, _)| is_its(kind) && kind.resource.cluster == cluster);
            let Some(place) = place else { return };
            let key = ObjectKey { namespace: of.namespace.clone(), name: (&*next.name).into() };
            let (kind, known) = &self.kinds[place];
            let sequence = history.past_of(kind.resource, &key, known).and_then(|past| match past.was {
                Was::Newest(record) => Some(record?.sequence),
                Was::Version(record) => Some(record.sequence),
                Was::Evicted => None,
            });
            // Whoever writes objects may have them own each other in a circle, or in a long line.
            if self.chosen.insert((place, key.clone()))
                && let Some(text) = sequence.and_then(|sequence| history.text(sequence))
            {
                owner = decode_metadata(&text).ok().as_ref().and_then(controller);
            }
            of = key;
        }
    }

    /// Chooses the versions that are to be taken in.
    fn choose(&mut self, history: &History) {
        self.is_chosen = true;
        if self.chosen.is_empty() {
            return;
        }
        for (place, (kind, _)) in self.kinds.iter().enumerate() {
            // An Event's name is that of the object and a time, and a Pod's or a Job's that of the owner and some letters.
            let (end, among) = match kind.resource.kind {
                "Event" => ('.', &self.named),
                "Pod" | "Job" => ('-', &self.owners),
                _ => continue,
            };
            for key in history.names(kind.resource) {
                let beginning = key.name.rsplit_once(end).map(|(beginning, _)| name(key, beginning));
                if beginning.is_some_and(|beginning| among.contains(&beginning)) {
                    self.chosen.insert((place, key.clone()));
                }
            }
        }
        for (place, key) in self.chosen.drain() {
            history.each_version(self.kinds[place].0.resource, &key, self.moment, &mut |sequence, is_first| {
                self.versions.push((sequence, is_first));
            });
        }
        sort_by_key(&mut self.versions, |(sequence, _)| u64::MAX - sequence);
    }

    /// Takes in a version.
    fn take_in(&mut self, sequence: u64, is_first: bool, Sources { history, marks, wall, .. }: Sources<'_>) {
        let Some(change) = history.change(sequence) else { return };
        let resource = change.resource;
        let Some((kind, _)) = self.kinds.iter().find(|(kind, _)| kind.resource == resource) else { return };
        let text = change.new.as_deref();
        let object = text.and_then(|text| decode_or_flag(kind.decode, text).ok());
        let object = Object { uid: change.uid.clone(), ..object.unwrap_or_else(|| bare(&change.key, &change.uid)) };
        // When that began of which the beginning was dropped, only the object itself says.
        let delta_type = match change.delta_type {
            DeltaType::Updated if is_first => DeltaType::Replaced,
            delta_type => delta_type,
        };
        self.wrong.look(change.at, &mut |_| None);
        let wall = wall(resource.cluster, change.at);
        self.wrong.received(Received { resource, now: change.at, wall, delta_type, object: &object, text });
        let received = change.received(sequence, resource.kind.into());
        if !received.is_listed() && self.wrong.knows(&change.uid) {
            self.wrong.changed(&Line::new(received, marks), text);
        }
    }

    fn finish(&mut self) {
        self.is_done = true;
        let is_of_pods = |(kind, known): &&(&'static Kind, Known)| is_pod(&kind.resource) && !known.is_nothing();
        let has_pods = self.kinds.iter().any(|kind| is_of_pods(&kind));
        let nodes = &self.nodes;
        let on = |node: &Subject| has_pods.then(|| nodes.iter().filter(|name| **name == *node.key.name).count());
        self.wrong.look_anew(self.moment.at, &mut |node| on(node));
    }
}

/// A name in the namespace of an object.
fn name(key: &ObjectKey, name: &str) -> Of {
    (0, ObjectKey::new(&key.namespace, name))
}

/// Whether the objects of a resource are said of others, and nothing is wrong with them.
fn is_said(resource: &ApiResource) -> bool {
    matches!(resource.kind, "Event" | "Lease" | "EndpointSlice" | "Endpoints")
}

fn is_pod(resource: &ApiResource) -> bool {
    resource.group.is_empty() && resource.kind == "Pod"
}

fn see(resource: &ApiResource, text: &str) -> Seen {
    let is_read = is_pod(resource)
        || is_workload(resource)
        || matches!(resource.kind, "Node" | "PersistentVolumeClaim")
        || has_conditions(resource, text)
        || text.contains("\"deletionTimestamp\"");
    let node = json::value_at(text, &["spec", "nodeName"]).filter(|_| is_pod(resource)).and_then(json::unescaped);
    (is_read && is_wrong(resource, text), node.unwrap_or_default().into())
}
