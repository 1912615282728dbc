//! The tree of lanes and groups: its entries, their links, and the sums of everything around them.

use std::mem::size_of;

use hashbrown::Equivalent;
use kubechurn_client::api::object::{KeyRef, ObjectKey};
use rustc_hash::FxHashMap;

use crate::timeline::lanes::choice::GroupId;
use crate::timeline::lanes::index::entry::{Anchor, DEEPEST, Entry, Label, NONE, ROOT};
use crate::timeline::store::lane::Lane;
use crate::timeline::store::mark::LaneOf;
use crate::timeline::store::marks::Marks;

/// All entries. The first one is around everything.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    pub(crate) entries: Vec<Entry>,
    pub(crate) free: Vec<u32>,
    pub(crate) anchors: FxHashMap<Anchor, u32>,
    /// Whether a new group is open.
    opens: bool,
    /// The time of the last scene: lanes with older marks change the counts of a group when they join it.
    pub(crate) before: f64,
}

impl Tree {
    /// An empty tree in which groups are open as in this one.
    pub(crate) fn anew(&self) -> Tree {
        Tree { entries: vec![Entry::alone(0, true)], opens: self.opens, ..Tree::default() }
    }

    pub(crate) fn bytes(&self) -> usize {
        // A label holds about a hundred bytes.
        self.entries.capacity() * size_of::<Entry>() + self.anchors.capacity() * 150
    }

    /// How many entries were made, the free ones included.
    pub(crate) fn slots(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn get(&self, at: u32) -> Option<&Entry> {
        self.entries.get(at as usize)
    }

    pub(crate) fn id(&self, at: u32) -> GroupId {
        GroupId { at, generation: self.get(at).map_or(0, |entry| entry.generation) }
    }

    /// The entry of an id, unless the number has another meaning by now.
    pub(crate) fn of(&self, id: GroupId) -> Option<(u32, &Entry)> {
        self.get(id.at).filter(|entry| entry.generation == id.generation).map(|entry| (id.at, entry))
    }

    /// The lane of an entry, if the entry is of one that still exists.
    pub(crate) fn lane<'a>(&self, marks: &[&'a Marks], entry: &Entry) -> Option<(LaneOf, &'a Lane)> {
        let (of, generation) = entry.lane?;
        let lanes = &marks.get(of.kind.index())?.lanes;
        Some((of, lanes.get(of.lane).filter(|_| lanes.generation(of.lane) == generation)?))
    }

    /// The entry of a group by the words of [`crate::timeline::lanes::LaneChoice::kept`] for one that is no object.
    pub(crate) fn of_words(&self, word: &str, name: &str) -> Option<u32> {
        // The name of a manager may have a slash.
        let (whole, (namespace, name)) = (name, name.split_once('/').unwrap_or(("", name)));
        let is_key = |key: &ObjectKey| {
            KeyRef { namespace, name }.equivalent(key) || (key.namespace.is_empty() && *key.name == *whole)
        };
        let is_it = |label: &Label| *label.word == *word && is_key(&label.key);
        let mut all = self.anchors.values().copied();
        all.find(|at| self.get(*at).and_then(|entry| entry.label.as_deref()).is_some_and(is_it))
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = (u32, &Entry)> {
        (0..).zip(&self.entries)
    }

    pub(crate) fn children(&self, at: u32) -> impl Iterator<Item = (u32, &Entry)> {
        let mut next = self.get(at).map_or(NONE, |entry| entry.first_child);
        std::iter::from_fn(move || {
            let (at, entry) = (next, self.get(next)?);
            next = entry.next;
            Some((at, entry))
        })
    }

    /// What is around an entry, from the inside to the outside, without what is around everything.
    pub(crate) fn around(&self, at: u32) -> impl Iterator<Item = u32> {
        let parent = move |at: u32| self.get(at).map(|entry| entry.parent).filter(|at| *at != ROOT && *at != NONE);
        std::iter::successors(parent(at), move |at| parent(*at)).take(usize::from(DEEPEST))
    }

    pub(crate) fn set_open(&mut self, id: GroupId, open: bool) {
        if let Some(entry) = self.entries.get_mut(id.at as usize).filter(|entry| entry.generation == id.generation) {
            entry.open = open;
        }
    }

    /// Has all groups open or closed, also those that are found later, unless they are that already.
    pub(crate) fn open_all(&mut self, open: bool) {
        if std::mem::replace(&mut self.opens, open) != open {
            self.entries.iter_mut().for_each(|entry| entry.open = open);
        }
    }

    /// The group of an anchor, which is made with the word and the key of `words` if there is none.
    pub(crate) fn anchored(&mut self, anchor: Anchor, words: impl FnOnce() -> (Box<str>, ObjectKey)) -> u32 {
        if let Some(at) = self.anchors.get(&anchor) {
            return *at;
        }
        let at = self.make();
        let (word, key) = words();
        self.entries[at as usize].label = Some(Box::new(Label { word, key, anchor: anchor.clone() }));
        self.anchors.insert(anchor, at);
        at
    }

    /// Whether an entry may stand below another one.
    pub(crate) fn fits(&self, at: u32, parent: u32) -> bool {
        if parent == ROOT {
            return true;
        }
        let depth = 1 + self.around(parent).count();
        let is_in_itself = at == parent || self.around(parent).any(|around| around == at);
        !is_in_itself && depth + usize::from(self.entries[at as usize].height) < usize::from(DEEPEST)
    }

    pub(crate) fn make(&mut self) -> u32 {
        let at = match self.free.pop() {
            Some(at) => {
                let generation = self.entries[at as usize].generation;
                self.entries[at as usize] = Entry::alone(generation, self.opens);
                at
            }
            None => {
                self.entries.push(Entry::alone(0, self.opens));
                (self.entries.len() - 1) as u32
            }
        };
        self.link(at, ROOT);
        at
    }

    /// Frees an entry that is neither a lane nor has anything below it, and then what was around it alone.
    pub(crate) fn free_if_empty(&mut self, at: u32) {
        let Some(entry) = self.get(at).filter(|entry| entry.lane.is_none() && entry.first_child == NONE) else {
            return;
        };
        if at == ROOT || entry.parent == NONE {
            return;
        }
        let parent = entry.parent;
        if let Some(anchor) = entry.label.as_ref().map(|label| label.anchor.clone()) {
            self.anchors.remove(&anchor);
        }
        self.unlink(at);
        let entry = &mut self.entries[at as usize];
        entry.generation = entry.generation.wrapping_add(1);
        entry.parent = NONE;
        entry.label = None;
        self.free.push(at);
        self.free_if_empty(parent);
    }

    /// Puts an entry below another one.
    pub(crate) fn move_to(&mut self, at: u32, parent: u32) {
        let Entry { members, lane, first_at, last_at, height, parent: before, .. } = self.entries[at as usize];
        let count = members + u32::from(lane.is_some());
        // Marks that come from now on are counted when they come.
        let is_known = first_at <= self.before;
        self.change(before, |entry| {
            entry.members = entry.members.saturating_sub(count);
            entry.revision = entry.revision.wrapping_add(u32::from(is_known));
        });
        self.unlink(at);
        self.link(at, parent);
        let mut below = height;
        self.change(parent, |entry| {
            below = below.saturating_add(1);
            entry.height = entry.height.max(below);
            entry.members += count;
            entry.first_at = entry.first_at.min(first_at);
            entry.last_at = entry.last_at.max(last_at);
            entry.revision = entry.revision.wrapping_add(u32::from(is_known));
        });
        if before != ROOT {
            self.free_if_empty(before);
        }
    }

    /// Changes an entry and all that are around it.
    pub(crate) fn change(&mut self, at: u32, mut change: impl FnMut(&mut Entry)) {
        let mut next = at;
        for _ in 0..=DEEPEST {
            let Some(entry) = self.entries.get_mut(next as usize).filter(|_| next != ROOT) else { return };
            change(entry);
            next = entry.parent;
        }
    }

    pub(crate) fn link(&mut self, at: u32, parent: u32) {
        let first = std::mem::replace(&mut self.entries[parent as usize].first_child, at);
        let entry = &mut self.entries[at as usize];
        entry.parent = parent;
        entry.next = first;
        entry.previous = NONE;
        if let Some(first) = self.entries.get_mut(first as usize) {
            first.previous = at;
        }
    }

    pub(crate) fn unlink(&mut self, at: u32) {
        let Entry { parent, next, previous, .. } = self.entries[at as usize];
        match self.entries.get_mut(previous as usize) {
            Some(entry) => entry.next = next,
            None => self.entries[parent as usize].first_child = next,
        }
        if let Some(entry) = self.entries.get_mut(next as usize) {
            entry.previous = previous;
        }
    }
}
