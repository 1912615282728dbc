//! The tree: which lane is below which, what each group is, and when something below it changed.
//!
//! References come from outside and may be wrong in every way. So a group is never put below itself, at most
//! eight groups are around each other, and what does not fit stands on its own. An owner of whom no lane is known
//! is a group with the name from the reference.

mod managers;
mod tree;

pub(in crate::timeline) use managers::FindWriter;
#[cfg(test)]
pub(super) use managers::MOST;

use std::sync::Arc;

use hashbrown::Equivalent;
use kubechurn_client::api::object::{KeyRef, ObjectKey};
use kubechurn_client::api::owner::OwnerReference;
use kubechurn_client::api::uid::Uid;
use kubechurn_columns::kinds::Kind;
use rustc_hash::FxHashMap;

use crate::kind_id::KindId;
use crate::timeline::groups::index::managers::Managers;
use crate::timeline::groups::{GroupId, LanesBy, is_core};
use crate::timeline::lanes::Lane;
use crate::timeline::mark::{LaneId, LaneOf};
use crate::timeline::marks::Marks;

/// Ends a list.
pub(super) const NONE: u32 = u32::MAX;
/// The number of what is around everything.
pub(super) const ROOT: u32 = 0;
/// How many groups are around a lane at most.
pub(super) const DEEPEST: u8 = 8;
/// So many lanes are looked at with a scene.
const AT_ONCE: usize = 8_192;

/// What a group is that is no lane; an owner's uid, because many owners may have had one name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Anchor {
    Owner(Uid),
    /// A node of a cluster.
    Node(&'static str, Arc<str>),
    /// A namespace of a cluster.
    Namespace(&'static str, Arc<str>),
    Kind(KindId),
    /// A manager, by its number among those of [`Managers`].
    Manager(u8),
    /// What a manager wrote beyond the most objects that have an entry.
    Rest(u8),
    /// Everything that is on no node.
    NoNode,
}

/// The name of a group that is no lane.
#[derive(Clone, Debug)]
pub(super) struct Label {
    /// `ReplicaSet`, `node`, `namespace`; empty where the name says it.
    pub(super) word: Box<str>,
    pub(super) key: ObjectKey,
    anchor: Anchor,
}

/// A lane, a group, or both.
#[derive(Debug)]
pub(super) struct Entry {
    generation: u32,
    /// The lane, and the generation of its number.
    pub(super) lane: Option<(LaneOf, u32)>,
    pub(super) label: Option<Box<Label>>,
    pub(super) parent: u32,
    pub(super) first_child: u32,
    pub(super) next: u32,
    previous: u32,
    /// How many levels were ever below it, at most.
    height: u8,
    pub(super) open: bool,
    /// How many lanes are below it.
    pub(super) members: u32,
    /// When the first and the last mark of it, or of anything below it, was stamped.
    pub(super) first_at: f64,
    pub(super) last_at: f64,
    /// How often lanes with marks of an earlier time came or went below it.
    pub(super) revision: u32,
}

/// All lanes and groups.
#[derive(Debug, Default)]
pub(super) struct Index {
    by: LanesBy,
    entries: Vec<Entry>,
    free: Vec<u32>,
    /// The entry of each lane, by kind and number.
    of_lane: Vec<Vec<u32>>,
    anchors: FxHashMap<Anchor, u32>,
    /// The newest mark of each kind whose lane was looked at.
    seen: Vec<u64>,
    /// Where looking at all lanes goes on: the kind and the number of a lane. `None` when that is done.
    scan: Option<(usize, usize)>,
    /// Whether a new group is open.
    opens: bool,
    /// The time of the last scene: lanes with older marks change what a group comes to when they join it.
    before: f64,
    /// Who wrote each mark; empty unless lanes stand by manager.
    managers: Managers,
}

/// The cluster of a lane.
fn cluster_of(kinds: &[&'static Kind], of: LaneOf) -> &'static str {
    kinds.get(of.kind.index()).map_or("", |kind| kind.resource.cluster)
}

/// The name of a group that is a node or a namespace, of another cluster with the cluster's name.
fn key_at(name: &Arc<str>, cluster: &str) -> ObjectKey {
    let name = if cluster.is_empty() { Arc::clone(name) } else { format!("{name} of {cluster}").into() };
    ObjectKey { namespace: "".into(), name }
}

/// Makes an entry that stands alone.
fn entry(generation: u32, open: bool) -> Entry {
    Entry {
        generation,
        lane: None,
        label: None,
        parent: NONE,
        first_child: NONE,
        next: NONE,
        previous: NONE,
        height: 0,
        open,
        members: 0,
        first_at: f64::INFINITY,
        last_at: f64::NEG_INFINITY,
        revision: 0,
    }
}

impl Index {
    pub(super) fn new(by: LanesBy) -> Index {
        Index { by, ..Index::default() }
    }

    pub(super) fn bytes(&self) -> usize {
        let lanes: usize = self.of_lane.iter().map(Vec::capacity).sum();
        // A label holds about a hundred bytes.
        self.entries.capacity() * size_of::<Entry>()
            + lanes * size_of::<u32>()
            + self.anchors.capacity() * 150
            + self.managers.bytes()
    }

    /// How many entries were made, the free ones included.
    pub(super) fn slots(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn get(&self, at: u32) -> Option<&Entry> {
        self.entries.get(at as usize)
    }

    pub(super) fn id(&self, at: u32) -> GroupId {
        GroupId { at, generation: self.get(at).map_or(0, |entry| entry.generation) }
    }

    /// The entry of an id, unless the number has another meaning by now.
    pub(super) fn of(&self, id: GroupId) -> Option<(u32, &Entry)> {
        self.get(id.at).filter(|entry| entry.generation == id.generation).map(|entry| (id.at, entry))
    }

    /// The lane of an entry, if the entry is of one that still exists.
    pub(super) fn lane<'a>(&self, marks: &[&'a Marks], entry: &Entry) -> Option<(LaneOf, &'a Lane)> {
        let (of, generation) = entry.lane?;
        let lanes = &marks.get(of.kind.index())?.lanes;
        Some((of, lanes.get(of.lane).filter(|_| lanes.generation(of.lane) == generation)?))
    }

    /// The entry of a lane.
    pub(super) fn of_lane(&self, LaneOf { kind, lane }: LaneOf) -> Option<u32> {
        self.of_lane.get(kind.index())?.get(lane.0 as usize).copied().filter(|at| *at != NONE)
    }

    /// The entry of a group by the words of [`super::LaneChoice::kept`] for one that is no object.
    pub(super) fn of_words(&self, word: &str, name: &str) -> Option<u32> {
        // The name of a manager may have a slash.
        let (whole, (namespace, name)) = (name, name.split_once('/').unwrap_or(("", name)));
        let is_key = |key: &ObjectKey| {
            KeyRef { namespace, name }.equivalent(key) || (key.namespace.is_empty() && *key.name == *whole)
        };
        let is_it = |label: &Label| *label.word == *word && is_key(&label.key);
        let mut all = self.anchors.values().copied();
        all.find(|at| self.get(*at).and_then(|entry| entry.label.as_deref()).is_some_and(is_it))
    }

    pub(super) fn all(&self) -> impl Iterator<Item = (u32, &Entry)> {
        (0..).zip(&self.entries)
    }

    pub(super) fn children(&self, at: u32) -> impl Iterator<Item = (u32, &Entry)> {
        let mut next = self.get(at).map_or(NONE, |entry| entry.first_child);
        std::iter::from_fn(move || {
            let (at, entry) = (next, self.get(next)?);
            next = entry.next;
            Some((at, entry))
        })
    }

    /// What is around an entry, from the inside to the outside, without what is around everything.
    pub(super) fn around(&self, at: u32) -> impl Iterator<Item = u32> {
        let parent = move |at: u32| self.get(at).map(|entry| entry.parent).filter(|at| *at != ROOT && *at != NONE);
        std::iter::successors(parent(at), move |at| parent(*at)).take(usize::from(DEEPEST))
    }

    pub(super) fn set_open(&mut self, id: GroupId, open: bool) {
        if let Some(entry) = self.entries.get_mut(id.at as usize).filter(|entry| entry.generation == id.generation) {
            entry.open = open;
        }
    }

    /// Has all groups open or closed, also those that are found later, unless they are that already.
    pub(super) fn open_all(&mut self, open: bool) {
        if std::mem::replace(&mut self.opens, open) != open {
            self.entries.iter_mut().for_each(|entry| entry.open = open);
        }
    }

    /// Begins anew if the marks are those of other kinds.
    fn fit(&mut self, marks: &[&Marks]) {
        if self.entries.is_empty() || self.of_lane.len() != marks.len() {
            *self = Index { by: self.by, opens: self.opens, ..Index::default() };
            self.entries.push(entry(0, true));
            self.of_lane = vec![Vec::new(); marks.len()];
            self.seen = marks.iter().map(|own| own.made()).collect();
            self.scan = Some((0, 0));
        }
    }

    /// Looks at lanes that have changed, and at some of those that were never looked at. Returns whether some are left.
    pub(super) fn look(&mut self, marks: &[&Marks], kinds: &[&'static Kind], now: f64) -> bool {
        self.fit(marks);
        if self.by == LanesBy::Manager {
            self.before = now;
            return self.look_at_managers(marks);
        }
        let mut left = AT_ONCE;
        for (at, own) in marks.iter().enumerate() {
            let seen = std::mem::replace(&mut self.seen[at], own.made());
            for (lane, _) in own.lanes.marked().take_while(|(_, lane)| lane.last_seq > seen) {
                if left == 0 {
                    // The page was hidden, or very much happened: all lanes are looked at again.
                    self.scan = Some((0, 0));
                    break;
                }
                left -= 1;
                self.place((marks, kinds), LaneOf { kind: KindId(at as u8), lane }, 0);
            }
        }
        while let Some((at, slot)) = self.scan.filter(|_| left > 0) {
            left -= 1;
            let Some(own) = marks.get(at) else {
                self.scan = None;
                break;
            };
            self.scan = Some(if slot + 1 < own.lanes.slots() { (at, slot + 1) } else { (at + 1, 0) });
            let lane = LaneOf { kind: KindId(at as u8), lane: LaneId(slot as u32) };
            match own.lanes.get(lane.lane) {
                Some(_) => drop(self.place((marks, kinds), lane, 0)),
                None => self.forget(lane),
            }
        }
        self.before = now;
        self.scan.is_some()
    }

    /// Forgets the entry of a lane that was freed.
    pub(super) fn forget(&mut self, LaneOf { kind, lane }: LaneOf) {
        let place = self.of_lane.get_mut(kind.index()).and_then(|lanes| lanes.get_mut(lane.0 as usize));
        let Some(at) = place.map(|place| std::mem::replace(place, NONE)).filter(|at| *at != NONE) else { return };
        let mut child = self.entries[at as usize].first_child;
        if child != NONE && self.entries[at as usize].label.is_none() {
            // What was below it finds another place, with the next scenes.
            self.scan = Some((0, 0));
            while child != NONE {
                let next = self.entries[child as usize].next;
                self.move_to(child, ROOT);
                child = next;
            }
        }
        self.change(self.entries[at as usize].parent, |entry| entry.members = entry.members.saturating_sub(1));
        self.entries[at as usize].lane = None;
        self.free_if_empty(at);
    }

    /// Puts a lane where it belongs. Returns its entry. `depth` is how many of its owners are being placed.
    fn place(&mut self, known: (&[&Marks], &[&'static Kind]), of: LaneOf, depth: u8) -> u32 {
        let (marks, kinds) = known;
        let Some((own, lane)) = marks.get(of.kind.index()).and_then(|own| Some((own, own.lanes.get(of.lane)?))) else {
            return ROOT;
        };
        let generation = own.lanes.generation(of.lane);
        let slot = of.lane.0 as usize;
        let places = &mut self.of_lane[of.kind.index()];
        if places.len() <= slot {
            places.resize(own.lanes.slots().max(slot + 1), NONE);
        }
        let mut at = places[slot];
        if at != NONE && self.entries[at as usize].lane != Some((of, generation)) {
            self.forget(of);
            at = NONE;
        }
        if at == NONE {
            at = self.stand_for((of, generation), lane, kinds);
        }
        let parent = match self.by {
            LanesBy::Object => ROOT,
            LanesBy::Owner if !is_core(kinds, of.kind, "Event") => {
                self.owner_of(known, (cluster_of(kinds, of), lane), depth)
            }
            _ => self.group_of(of, lane, kinds),
        };
        let parent = if self.fits(at, parent) { parent } else { ROOT };
        let (first_at, last_at) = (lane.first_at, lane.last_at);
        if self.entries[at as usize].parent != parent {
            self.move_to(at, parent);
        }
        self.change(at, |entry| {
            entry.first_at = entry.first_at.min(first_at);
            entry.last_at = entry.last_at.max(last_at);
        });
        at
    }

    /// The entry of a lane that had none: that of the group that has waited for it, or a new one.
    fn stand_for(&mut self, (of, generation): (LaneOf, u32), lane: &Lane, kinds: &[&'static Kind]) -> u32 {
        let (is_core, cluster) = (|word: &str| is_core(kinds, of.kind, word), cluster_of(kinds, of));
        let anchor = match self.by {
            LanesBy::Owner => Some(Anchor::Owner(lane.uid.clone())),
            LanesBy::Node if is_core("Node") => Some(Anchor::Node(cluster, Arc::clone(&lane.key.name))),
            LanesBy::Namespace if is_core("Namespace") => Some(Anchor::Namespace(cluster, Arc::clone(&lane.key.name))),
            _ => None,
        };
        let waited = anchor.as_ref().and_then(|anchor| self.anchors.get(anchor).copied());
        let at = waited.filter(|at| self.entries[*at as usize].lane.is_none()).unwrap_or_else(|| self.make());
        if self.by == LanesBy::Owner {
            if let Some(anchor) = &anchor {
                self.anchors.remove(anchor);
            }
            self.entries[at as usize].label = None;
        } else if let (Some(anchor), None) = (anchor, waited) {
            // The group stays when the object's lane is freed.
            let word = self.by.name().into();
            let key = key_at(&lane.key.name, cluster);
            self.entries[at as usize].label = Some(Box::new(Label { word, key, anchor: anchor.clone() }));
            self.anchors.insert(anchor, at);
        }
        self.entries[at as usize].lane = Some((of, generation));
        self.of_lane[of.kind.index()][of.lane.0 as usize] = at;
        self.change(self.entries[at as usize].parent, |entry| entry.members += 1);
        at
    }

    /// The entry of the object that controls this one.
    fn owner_of(
        &mut self,
        known: (&[&Marks], &[&'static Kind]),
        (cluster, lane): (&'static str, &Lane),
        depth: u8,
    ) -> u32 {
        let (marks, kinds) = known;
        let Some(owner) = lane.place.controller().filter(|owner| !owner.uid.is_empty() && depth < DEEPEST) else {
            return ROOT;
        };
        let group = owner.api_version.split_once('/').map_or("", |(group, _)| group);
        let of = |kind: &Kind| (kind.resource.kind, kind.resource.group, kind.resource.cluster);
        let is_it = |kind: &&'static Kind| of(kind) == (&*owner.kind, group, cluster);
        let Some((number, kind)) = (0..).map(KindId).zip(kinds).find(|(_, kind)| is_it(kind)) else {
            return self.named(owner, &lane.key.namespace);
        };
        let namespace = if kind.resource.namespaced { &*lane.key.namespace } else { "" };
        let own = marks.get(number.index());
        let found = own.and_then(|own| own.lanes.find(&KeyRef { namespace, name: &owner.name }));
        let of = found.map(|lane| LaneOf { kind: number, lane });
        let is_alive = |of: &LaneOf| {
            let lane = own.and_then(|own| own.lanes.get(of.lane));
            lane.is_some_and(|lane| lane.has_life(&owner.uid))
        };
        match of.filter(is_alive) {
            Some(of) => match self.of_lane(of).filter(|at| self.is_of(*at, of, marks)) {
                Some(at) => at,
                None => self.place(known, of, depth + 1),
            },
            None => self.named(owner, namespace),
        }
    }

    fn is_of(&self, at: u32, of: LaneOf, marks: &[&Marks]) -> bool {
        let generation = marks.get(of.kind.index()).map(|own| own.lanes.generation(of.lane));
        self.get(at).is_some_and(|entry| entry.lane.zip(generation).is_some_and(|(own, number)| own == (of, number)))
    }

    /// The group of an owner of whom only the reference is known.
    fn named(&mut self, owner: &OwnerReference, namespace: &str) -> u32 {
        let key = ObjectKey::new(namespace, &owner.name);
        self.anchored(Anchor::Owner(owner.uid.clone()), || (owner.kind.clone(), key))
    }

    /// The group of a lane that does not stand below its owner.
    fn group_of(&mut self, of: LaneOf, lane: &Lane, kinds: &[&'static Kind]) -> u32 {
        let (own, cluster) = (self.of_lane(of), cluster_of(kinds, of));
        let at = match (self.by, &lane.place.node) {
            (LanesBy::Namespace, _) => {
                let name = &lane.key.namespace;
                let key = key_at(name, cluster);
                let is_own = own.is_some_and(|own| self.get(own).is_some_and(|entry| entry.label.is_some()));
                match (&**name, is_own) {
                    (_, true) => ROOT,
                    ("", false) => {
                        let key = ObjectKey::new("", "no namespace");
                        self.anchored(Anchor::Namespace(cluster, Arc::clone(name)), || ("".into(), key))
                    }
                    (_, false) => {
                        self.anchored(Anchor::Namespace(cluster, Arc::clone(name)), || ("namespace".into(), key))
                    }
                }
            }
            (LanesBy::Kind | LanesBy::Owner, _) => {
                let title = kinds.get(of.kind.index()).map_or("objects", |kind| kind.title);
                self.anchored(Anchor::Kind(of.kind), || ("".into(), ObjectKey::new("", title)))
            }
            (_, Some(node)) => {
                let key = key_at(node, cluster);
                self.anchored(Anchor::Node(cluster, Arc::clone(node)), || ("node".into(), key))
            }
            (_, None) if own.is_some_and(|own| self.get(own).is_some_and(|entry| entry.label.is_some())) => ROOT,
            (_, None) => self.anchored(Anchor::NoNode, || ("".into(), ObjectKey::new("", "on no node"))),
        };
        if Some(at) == own { ROOT } else { at }
    }

    fn anchored(&mut self, anchor: Anchor, words: impl FnOnce() -> (Box<str>, ObjectKey)) -> u32 {
        if let Some(at) = self.anchors.get(&anchor) {
            return *at;
        }
        let at = self.make();
        let (word, key) = words();
        self.entries[at as usize].label = Some(Box::new(Label { word, key, anchor: anchor.clone() }));
        self.anchors.insert(anchor, at);
        at
    }
}
