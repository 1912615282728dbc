//! The index finds the group of each lane.
//!
//! References come from outside and may be wrong in every way. So a group is never put below itself, at most
//! eight groups are around each other, and what does not fit stands on its own. An owner of whom no lane is known
//! is a group with the name from the reference.

pub(crate) mod entry;
pub(crate) mod managers;
mod tree;

use std::sync::Arc;

use kubechurn_client::api::cell::Tone;
use kubechurn_client::api::object::{KeyRef, ObjectKey};
use kubechurn_client::api::owner::OwnerReference;
use kubechurn_columns::kinds::Kind;

use crate::kind_id::KindId;
use crate::timeline::lanes::choice::LanesBy;
use crate::timeline::lanes::event_lanes::drawn_on;
use crate::timeline::lanes::index::entry::{Anchor, DEEPEST, Entry, Label, NONE, ROOT};
use crate::timeline::lanes::index::managers::{FindWriter, KindMarks, Managers};
use crate::timeline::lanes::index::tree::Tree;
use crate::timeline::store::lane::Lane;
use crate::timeline::store::mark::{LaneId, LaneOf, Mark, SubjectRef};
use crate::timeline::store::marks::Marks;

/// The name of the Events of objects that have no lane: they are gone, or are not watched.
const OTHER_EVENTS: &str = "Events of other objects";

/// So many lanes are looked at with a scene.
const AT_ONCE: usize = 8_192;

/// The lanes and groups, and the lanes that are still to be looked at.
#[derive(Debug, Default)]
pub(crate) struct Index {
    by: LanesBy,
    pub(crate) tree: Tree,
    /// The entry of each lane, by kind and number.
    of_lane: Vec<Vec<u32>>,
    /// The newest mark of each kind whose lane was looked at.
    seen: Vec<u64>,
    /// Where looking at all lanes goes on: the kind and the number of a lane. `None` when that is done.
    scan: Option<(usize, usize)>,
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

/// What the present state of a lane's object means.
fn tone_of(own: &Marks, lane: &Lane) -> Tone {
    let state = own.state_of(lane).filter(|_| own.event_targets.is_empty());
    state.map_or(Tone::Plain, |state| state.tone)
}

/// Whether a kind is the one of this name that Kubernetes itself has.
fn is_core(kinds: &[&'static Kind], kind: KindId, word: &str) -> bool {
    let groups = ["", "events.k8s.io"];
    kinds.get(kind.index()).is_some_and(|own| own.resource.kind == word && groups.contains(&own.resource.group))
}

impl Index {
    pub(crate) fn new(by: LanesBy) -> Index {
        Index { by, ..Index::default() }
    }

    pub(crate) fn bytes(&self) -> usize {
        let lanes: usize = self.of_lane.iter().map(Vec::capacity).sum();
        self.tree.bytes() + lanes * size_of::<u32>() + self.managers.bytes()
    }

    /// The entry of a lane.
    pub(crate) fn of_lane(&self, LaneOf { kind, lane }: LaneOf) -> Option<u32> {
        self.of_lane.get(kind.index())?.get(lane.0 as usize).copied().filter(|at| *at != NONE)
    }

    /// Begins anew if the marks are those of other kinds.
    fn fit(&mut self, marks: &[&Marks]) {
        if self.tree.entries.is_empty() || self.of_lane.len() != marks.len() {
            *self = Index { by: self.by, tree: self.tree.anew(), ..Index::default() };
            self.of_lane = vec![Vec::new(); marks.len()];
            self.seen = marks.iter().map(|own| own.made()).collect();
            self.scan = Some((0, 0));
        }
    }

    /// Looks at lanes that have changed, and at some of those that were never looked at. Returns whether some are left.
    pub(crate) fn look(&mut self, marks: &[&Marks], kinds: &[&'static Kind], now: f64) -> bool {
        self.fit(marks);
        if self.by == LanesBy::Manager {
            self.tree.before = now;
            return self.managers.look(&mut self.tree, marks);
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
                self.place(KindMarks { marks, kinds }, LaneOf { kind: KindId(at as u8), lane }, 0);
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
                Some(_) => drop(self.place(KindMarks { marks, kinds }, lane, 0)),
                None => self.forget(lane),
            }
        }
        self.tree.before = now;
        self.scan.is_some()
    }

    /// Forgets the entry of a lane that was freed.
    pub(crate) fn forget(&mut self, LaneOf { kind, lane }: LaneOf) {
        let place = self.of_lane.get_mut(kind.index()).and_then(|lanes| lanes.get_mut(lane.0 as usize));
        let Some(at) = place.map(|place| std::mem::replace(place, NONE)).filter(|at| *at != NONE) else { return };
        let mut child = self.tree.entries[at as usize].first_child;
        if child != NONE && self.tree.entries[at as usize].label.is_none() {
            // What was below it finds another place, with the next scenes.
            self.scan = Some((0, 0));
            while child != NONE {
                let next = self.tree.entries[child as usize].next;
                self.tree.move_to(child, ROOT);
                child = next;
            }
        }
        let parent = self.tree.entries[at as usize].parent;
        self.tree.change(parent, |entry| entry.members = entry.members.saturating_sub(1));
        self.tree.entries[at as usize].lane = None;
        self.tree.free_if_empty(at);
    }

    /// Puts a lane where it belongs. Returns its entry. `depth` is how many of its owners are being placed.
    fn place(&mut self, known: KindMarks<'_>, of: LaneOf, depth: u8) -> u32 {
        let KindMarks { marks, kinds } = known;
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
        if at != NONE && self.tree.entries[at as usize].lane != Some((of, generation)) {
            self.forget(of);
            at = NONE;
        }
        if at == NONE {
            at = self.stand_for((of, generation), lane, kinds);
        }
        let parent = match self.by {
            LanesBy::Object if is_core(kinds, of.kind, "Event") => self.of_event(known, of, lane, depth),
            LanesBy::Object => ROOT,
            LanesBy::Owner if !is_core(kinds, of.kind, "Event") => {
                self.owner_of(known, cluster_of(kinds, of), lane, depth)
            }
            _ => self.group_of(of, lane, kinds),
        };
        let parent = if self.tree.fits(at, parent) { parent } else { ROOT };
        let (first_at, last_at) = (lane.first_at, lane.last_at);
        self.tree.entries[at as usize].tone = tone_of(own, lane);
        if self.tree.entries[at as usize].parent != parent {
            self.tree.move_to(at, parent);
        }
        self.tree.change(at, |entry| {
            entry.first_at = entry.first_at.min(first_at);
            entry.last_at = entry.last_at.max(last_at);
        });
        at
    }

    /// The entry of a lane that had none: that of the group that has waited for it, or a new one.
    fn stand_for(&mut self, (of, generation): (LaneOf, u32), lane: &Lane, kinds: &[&'static Kind]) -> u32 {
        let is_core = |word: &str| is_core(kinds, of.kind, word);
        let cluster = cluster_of(kinds, of);
        let anchor = match self.by {
            LanesBy::Owner => Some(Anchor::Owner(lane.uid.clone())),
            LanesBy::Node if is_core("Node") => Some(Anchor::Node(cluster, Arc::clone(&lane.key.name))),
            LanesBy::Namespace if is_core("Namespace") => Some(Anchor::Namespace(cluster, Arc::clone(&lane.key.name))),
            _ => None,
        };
        let waited = anchor.as_ref().and_then(|anchor| self.tree.anchors.get(anchor).copied());
        let at = waited.filter(|at| self.tree.entries[*at as usize].lane.is_none()).unwrap_or_else(|| self.tree.make());
        if self.by == LanesBy::Owner {
            if let Some(anchor) = &anchor {
                self.tree.anchors.remove(anchor);
            }
            self.tree.entries[at as usize].label = None;
        } else if let (Some(anchor), None) = (anchor, waited) {
            // The group stays when the object's lane is freed.
            let word = self.by.name().into();
            let key = key_at(&lane.key.name, cluster);
            self.tree.entries[at as usize].label = Some(Box::new(Label { word, key, anchor: anchor.clone() }));
            self.tree.anchors.insert(anchor, at);
        }
        self.tree.entries[at as usize].lane = Some((of, generation));
        self.of_lane[of.kind.index()][of.lane.0 as usize] = at;
        let parent = self.tree.entries[at as usize].parent;
        self.tree.change(parent, |entry| entry.members += 1);
        at
    }

    /// The group of an Event where each object has a lane of its own: that of those which are drawn on their objects'
    /// lanes, or, of an object that has no lane, that of its kind.
    fn of_event(&mut self, known: KindMarks<'_>, of: LaneOf, lane: &Lane, depth: u8) -> u32 {
        let object = drawn_on(known.marks, of);
        if object == of || depth > 0 {
            let key = ObjectKey::new("", OTHER_EVENTS);
            return self.tree.anchored(Anchor::Kind(of.kind), || ("".into(), key));
        }
        let placed = self.of_lane(object).filter(|at| self.is_of(*at, object, known.marks));
        let at = placed.unwrap_or_else(|| self.place(known, object, depth + 1));
        self.tree.change(at, |entry| entry.last_at = entry.last_at.max(lane.last_at));
        self.tree.anchored(Anchor::Drawn, || ("".into(), ObjectKey::new("", "")))
    }

    /// Puts Events that stand together on the lanes of their objects that have lanes by now.
    pub(crate) fn gather_events(&mut self, known: KindMarks<'_>) {
        if self.by != LanesBy::Object {
            return;
        }
        let groups =
            (0..).map(KindId).take(known.marks.len()).filter_map(|kind| self.tree.anchors.get(&Anchor::Kind(kind)));
        let events = groups.flat_map(|at| self.tree.children(*at)).filter_map(|(_, entry)| Some(entry.lane?.0));
        let found: Vec<LaneOf> = events.filter(|of| drawn_on(known.marks, *of) != *of).collect();
        for of in found {
            self.place(known, of, 0);
        }
    }

    /// The entry of the object that controls this one.
    fn owner_of(&mut self, known: KindMarks<'_>, cluster: &'static str, lane: &Lane, depth: u8) -> u32 {
        let KindMarks { marks, kinds } = known;
        let Some(owner) = lane.placement.controller().filter(|owner| !owner.uid.is_empty() && depth < DEEPEST) else {
            return ROOT;
        };
        let of = |kind: &Kind| (kind.resource.kind, kind.resource.group, kind.resource.cluster);
        let is_it = |kind: &&'static Kind| of(kind) == (&*owner.kind, owner.group(), cluster);
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
        self.tree
            .get(at)
            .is_some_and(|entry| entry.lane.zip(generation).is_some_and(|(own, number)| own == (of, number)))
    }

    /// The group of an owner of whom only the reference is known.
    fn named(&mut self, owner: &OwnerReference, namespace: &str) -> u32 {
        let key = ObjectKey::new(namespace, &owner.name);
        self.tree.anchored(Anchor::Owner(owner.uid.clone()), || (owner.kind.clone(), key))
    }

    /// The group of a lane that does not stand below its owner.
    fn group_of(&mut self, of: LaneOf, lane: &Lane, kinds: &[&'static Kind]) -> u32 {
        let (own, cluster) = (self.of_lane(of), cluster_of(kinds, of));
        let at = match (self.by, &lane.placement.node) {
            (LanesBy::Namespace, _) => {
                let name = &lane.key.namespace;
                let key = key_at(name, cluster);
                let is_own = own.is_some_and(|own| self.tree.get(own).is_some_and(|entry| entry.label.is_some()));
                match (&**name, is_own) {
                    (_, true) => ROOT,
                    ("", false) => {
                        let key = ObjectKey::new("", "no namespace");
                        self.tree.anchored(Anchor::Namespace(cluster, Arc::clone(name)), || ("".into(), key))
                    }
                    (_, false) => {
                        self.tree.anchored(Anchor::Namespace(cluster, Arc::clone(name)), || ("namespace".into(), key))
                    }
                }
            }
            (LanesBy::Kind | LanesBy::Owner, _) => {
                let title = kinds.get(of.kind.index()).map_or("objects", |kind| kind.title);
                self.tree.anchored(Anchor::Kind(of.kind), || ("".into(), ObjectKey::new("", title)))
            }
            (_, Some(node)) => {
                let key = key_at(node, cluster);
                self.tree.anchored(Anchor::Node(cluster, Arc::clone(node)), || ("node".into(), key))
            }
            (_, None) if own.is_some_and(|own| self.tree.get(own).is_some_and(|entry| entry.label.is_some())) => ROOT,
            (_, None) => self.tree.anchored(Anchor::NoNode, || ("".into(), ObjectKey::new("", "on no node"))),
        };
        if Some(at) == own { ROOT } else { at }
    }

    /// Whether lanes stand by manager.
    pub(crate) fn is_by_manager(&self) -> bool {
        self.by == LanesBy::Manager
    }

    /// Whether an entry is of the marks that one manager made of an object.
    pub(crate) fn is_part(&self, at: u32) -> bool {
        self.managers.has(at)
    }

    /// The marks of a kind whose entries are known: `first <= seq < end`.
    pub(crate) fn known(&self, kind: usize) -> (u64, u64) {
        if self.is_by_manager() { self.managers.known(kind) } else { (0, u64::MAX) }
    }

    /// What the present state of an entry's object means.
    pub(crate) fn tone(&self, marks: &[&Marks], entry: &Entry) -> Tone {
        if !self.is_by_manager() {
            return entry.tone;
        }
        let lane = self.tree.lane(marks, entry).and_then(|(of, lane)| Some((*marks.get(of.kind.index())?, lane)));
        lane.map_or(Tone::Plain, |(own, lane)| tone_of(own, lane))
    }

    /// The entry of a mark of a kind, if there is one and it is known.
    pub(crate) fn of_mark(&self, kind: KindId, mark: &Mark<'_>) -> Option<u32> {
        if self.is_by_manager() {
            return self.managers.of_mark(kind, mark.seq);
        }
        let SubjectRef::Object { lane, .. } = mark.subject else { return None };
        self.of_lane(LaneOf { kind, lane })
    }

    /// The entry of an object below the manager who wrote it last.
    pub(crate) fn of_newest_manager(&self, of: LaneOf) -> Option<u32> {
        self.managers.newest_of(&self.tree, of)
    }

    /// Asks who wrote marks of which that is not known yet, at most `most` of them. Returns whether some are left.
    pub(crate) fn find_writers(&mut self, known: KindMarks<'_>, most: usize, find: &mut FindWriter<'_>) -> bool {
        self.fit(known.marks);
        self.managers.find_writers(&mut self.tree, known, most, find)
    }

    /// Has these objects, and no others, stand whole beside the groups.
    pub(crate) fn stand_whole(&mut self, marks: &[&Marks], wanted: &[LaneOf]) {
        let lanes = |of: LaneOf| marks.get(of.kind.index()).map(|own| &own.lanes);
        for at in std::mem::take(&mut self.managers.whole) {
            let Some((of, generation)) = self.tree.entries[at as usize].lane else { continue };
            if wanted.contains(&of) && lanes(of).is_some_and(|lanes| lanes.generation(of.lane) == generation) {
                self.managers.whole.push(at);
                continue;
            }
            self.of_lane[of.kind.index()][of.lane.0 as usize] = NONE;
            let entry = &mut self.tree.entries[at as usize];
            entry.lane = None;
            entry.generation = entry.generation.wrapping_add(1);
            self.tree.free.push(at);
        }
        for of in wanted.iter().copied() {
            let Some(lanes) = lanes(of).filter(|lanes| lanes.get(of.lane).is_some()) else { continue };
            if self.of_lane(of).is_none() {
                let at = self.tree.make();
                self.tree.unlink(at);
                let entry = &mut self.tree.entries[at as usize];
                entry.parent = NONE;
                entry.lane = Some((of, lanes.generation(of.lane)));
                let places = &mut self.of_lane[of.kind.index()];
                let slot = of.lane.0 as usize;
                places.resize(places.len().max(slot + 1), NONE);
                places[slot] = at;
                self.managers.whole.push(at);
            }
        }
    }
}
