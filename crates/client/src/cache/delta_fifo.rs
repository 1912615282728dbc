//! The DeltaFIFO: for each changed object what happened to it, in the order in which objects first changed.
//!
//! It differs from client-go's `delta_fifo.go` in one thing, and says so in numbers: consecutive states of one
//! life fold into the newest, so that its size follows the objects that changed and not the events.
//!
//! A complete list that comes while nothing waits is taken in as it is, sorted by key, and its items become deltas when
//! their turn comes: a list of 150,000 costs the queue next to nothing. What a resync tells again waits in the same way,
//! as the objects that the store holds. Whoever takes sees no difference.

use std::collections::VecDeque;
use std::sync::Arc;

use hashbrown::HashSet;
use rustc_hash::FxBuildHasher;

use crate::api::object::{Object, ObjectKey};
use crate::cache::delta::{Delta, DeltaType, Deltas};
use crate::cache::keyed_slab::{Keyed, KeyedSlab, hash_of};
use crate::cache::queue::{Counts, KnownObjects, Queue, Queued, Transform, half, late, resolve, transformed};

/// The queue. A delta for a key that waits already costs one look-up and no allocation.
#[derive(Debug, Default)]
pub struct DeltaFifo {
    /// What waits, for each key.
    slots: KeyedSlab<Slot>,
    /// The items of a complete list whose turn has not come, by key; they come before the queue. What has happened since
    /// to one of them is in its slot, together with it, which then is not in the queue.
    listed: VecDeque<Arc<Object>>,
    /// Whether that list is the first Replace.
    listed_first: bool,
    /// The slots in the order in which their keys first changed.
    queue: VecDeque<usize>,
    /// What resyncs tell again and whose turn has not come; no key is in two of them. What has happened since to one of
    /// the objects is in its slot, together with the Sync, and the slot is not in the queue.
    again: VecDeque<Again>,
    counts: Counts,
    /// The number of the latest Replace.
    replaced: u32,
    transform: Option<Transform>,
}

#[derive(Debug)]
struct Slot {
    hash: u64,
    /// Never empty.
    deltas: Deltas,
    /// The latest Replace that held the key; 0 is none.
    replaced: u32,
    /// Whether the key belongs to the first Replace.
    initial: bool,
}

/// What one resync tells again, as the store held it: its place is in the middle of the queue.
#[derive(Debug)]
struct Again {
    /// How many slots of the queue come before it, those before an earlier one left out.
    ahead: usize,
    /// By the hash of their key, of which half is kept: this is how a key is found among them.
    objects: VecDeque<(u32, Arc<Object>)>,
}

/// Where the head is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    Listed,
    Again,
    Queue,
}

/// While an earlier resync waits, one of fewer objects than this is queued key by key, so that there are never many to
/// look through.
const MANY: usize = 4096;

/// Room for this many keys is kept when the queue runs empty.
const KEPT: usize = 4096;

impl DeltaFifo {
    /// An empty queue.
    pub fn new(transform: Option<Transform>) -> DeltaFifo {
        DeltaFifo { transform, ..DeltaFifo::default() }
    }

    fn find(&self, hash: u64, key: &ObjectKey) -> Option<usize> {
        self.slots.find(hash, key)
    }

    fn slot(&self, key: &ObjectKey) -> Option<&Slot> {
        self.slots.get(key)
    }

    /// The item of the complete list that waits for a key.
    fn listed(&self, key: &ObjectKey) -> Option<&Arc<Object>> {
        self.listed.binary_search_by(|object| object.key.cmp(key)).ok().map(|at| &self.listed[at])
    }

    /// The keys that wait, some of them twice.
    fn waiting(&self) -> impl Iterator<Item = &ObjectKey> {
        let listed = self.listed.iter().map(|object| &object.key);
        let again = self.again.iter().flat_map(|again| &again.objects).map(|(_, object)| &object.key);
        listed.chain(again).chain(self.slots.iter().map(Keyed::key))
    }

    /// The object of a key that a resync tells again.
    fn again(&self, hash: u64, key: &ObjectKey) -> Option<&Arc<Object>> {
        self.again.iter().find_map(|again| again.find(hash, key))
    }

    /// Where a key waits; an item of the complete list, or what a resync tells again, gets a slot for that.
    fn find_or_unpack(&mut self, hash: u64, key: &ObjectKey) -> Option<usize> {
        if let Some(at) = self.find(hash, key) {
            return Some(at);
        }
        if let Some(object) = self.listed(key).cloned() {
            return Some(self.unpack(hash, object));
        }
        let object = self.again(hash, key)?.clone();
        Some(self.settle(hash, Delta::new(DeltaType::Sync, object).into()))
    }

    /// An item of the complete list gets a slot. It was counted when it came.
    fn unpack(&mut self, hash: u64, object: Arc<Object>) -> usize {
        let at = self.settle(hash, Delta::new(DeltaType::Replaced, object).into());
        let slot = &mut self.slots[at];
        (slot.replaced, slot.initial) = (self.replaced, self.listed_first);
        at
    }

    /// Every item of the complete list, and all that resyncs tell again, gets a slot, in its place in the queue.
    fn unpack_all(&mut self) {
        let (listed, again) = (std::mem::take(&mut self.listed), std::mem::take(&mut self.again));
        let count = listed.len() + again.iter().map(|again| again.objects.len()).sum::<usize>();
        if count == 0 {
            return;
        }
        self.slots.reserve_exact(count);
        let all = VecDeque::with_capacity(count + self.queue.len());
        let mut queue = std::mem::replace(&mut self.queue, all);
        for object in listed {
            let hash = hash_of(&object.key);
            let at = self.find(hash, &object.key).unwrap_or_else(|| self.unpack(hash, object));
            self.queue.push_back(at);
        }
        for Again { ahead, objects } in again {
            self.queue.extend(queue.drain(..ahead));
            for (_, object) in objects {
                let hash = hash_of(&object.key);
                let found = self.find(hash, &object.key);
                let at = found.unwrap_or_else(|| self.settle(hash, Delta::new(DeltaType::Sync, object).into()));
                self.queue.push_back(at);
            }
        }
        self.queue.append(&mut queue);
    }

    /// Queues a delta, whatever is known, and says where it waits.
    fn push(&mut self, delta: Delta) -> usize {
        let hash = hash_of(delta.key());
        match self.find_or_unpack(hash, delta.key()) {
            Some(at) => {
                self.counts.queued += u64::from(delta.folded);
                self.slots[at].deltas.push(delta);
                at
            }
            None => self.join(hash, delta.into()),
        }
    }

    /// A key that does not wait joins the tail.
    fn join(&mut self, hash: u64, deltas: Deltas) -> usize {
        self.counts.queued += deltas.folded();
        let at = self.settle(hash, deltas);
        self.queue.push_back(at);
        at
    }

    /// A slot for a key that has none.
    fn settle(&mut self, hash: u64, deltas: Deltas) -> usize {
        self.slots.insert_new(Slot { hash, deltas, replaced: 0, initial: false })
    }

    fn turn(&self) -> Turn {
        match self.again.front() {
            _ if !self.listed.is_empty() => Turn::Listed,
            Some(again) if again.ahead == 0 => Turn::Again,
            _ => Turn::Queue,
        }
    }

    /// The slot of the head, unless the head is an item of the complete list, or one that a resync tells again, to which
    /// nothing has happened since.
    fn head(&self) -> Option<usize> {
        let object = match self.turn() {
            Turn::Queue => return self.queue.front().copied(),
            _ if self.slots.is_empty() => return None,
            Turn::Listed => self.listed.front()?,
            Turn::Again => &self.again.front()?.objects.front()?.1,
        };
        self.find(hash_of(&object.key), &object.key)
    }

    /// What has no slot of its own in the queue leaves, if it is the head, with what it was before anything happened to it.
    fn leave_packed(&mut self) -> Option<Delta> {
        match self.turn() {
            Turn::Listed => {
                let object = self.listed.pop_front()?;
                if self.listed.is_empty() {
                    // What a list of 150,000 took is given back.
                    self.listed = VecDeque::new();
                }
                Some(Delta::new(DeltaType::Replaced, object))
            }
            Turn::Again => {
                let objects = &mut self.again.front_mut()?.objects;
                let (_, object) = objects.pop_front()?;
                if objects.is_empty() {
                    self.again.pop_front();
                }
                Some(Delta::new(DeltaType::Sync, object))
            }
            Turn::Queue => None,
        }
    }

    /// A complete list that is sorted by key, while nothing waits.
    fn take_in(&mut self, items: Vec<Arc<Object>>, first: bool) {
        self.counts.queued += items.len() as u64;
        self.counts.initial += if first { items.len() } else { 0 };
        self.listed_first = first;
        self.listed = match self.transform {
            Some(transform) => items.into_iter().map(transform).collect(),
            None => items.into(),
        };
    }

    /// A complete list, behind what waits.
    fn push_all(&mut self, items: Vec<Arc<Object>>, first: bool) {
        // Growing by doubling would take twice as much for the moment.
        self.slots.reserve_exact(items.len());
        self.queue.reserve_exact(items.len());
        for object in items {
            let delta = Delta::new(DeltaType::Replaced, transformed(self.transform, object));
            let at = self.push(delta);
            let slot = &mut self.slots[at];
            slot.replaced = self.replaced;
            self.counts.initial += usize::from(first && !slot.initial);
            slot.initial |= first;
        }
    }

    /// The head leaves, with all that waits for it.
    fn leave(&mut self) -> Option<Deltas> {
        let at = self.head();
        let packed = self.leave_packed();
        let Some(at) = at else {
            let delta = packed?;
            self.counts.initial -= usize::from(self.listed_first && delta.delta_type == DeltaType::Replaced);
            return Some(delta.into());
        };
        if packed.is_none() {
            self.queue.pop_front();
            if let Some(again) = self.again.front_mut() {
                again.ahead -= 1;
            }
        }
        let slot = self.slots.remove(at);
        self.counts.initial -= usize::from(slot.initial);
        if self.is_empty() && self.slots.capacity() > KEPT {
            (self.slots, self.queue) = Default::default();
        }
        Some(slot.deltas)
    }
}

impl Keyed for Slot {
    fn key(&self) -> &ObjectKey {
        self.deltas.key().expect("a slot is made with a delta, and keeps one")
    }

    fn hash(&self) -> u64 {
        self.hash
    }
}

impl Again {
    fn find(&self, hash: u64, key: &ObjectKey) -> Option<&Arc<Object>> {
        let from = self.objects.partition_point(|&(other, _)| other < half(hash));
        let same = self.objects.range(from..).take_while(|(other, _)| *other == half(hash));
        same.map(|(_, object)| object).find(|object| object.key == *key)
    }
}

impl Queue for DeltaFifo {
    /// A deletion of a key that is neither queued nor known is dropped.
    fn event(&mut self, delta_type: DeltaType, object: Arc<Object>, known: &dyn KnownObjects) -> Queued {
        self.counts.populated = true;
        let hash = hash_of(&object.key);
        if let Some(at) = self.find_or_unpack(hash, &object.key) {
            // Every slot has a newest delta.
            let newest = self.slots[at].deltas.newest();
            let late = newest.and_then(|newest| late(&object, newest.object.object(), newest.is_present()));
            if let Some(late) = late {
                return late;
            }
            let delta = Delta::new(delta_type, transformed(self.transform, object));
            self.slots[at].deltas.push(delta);
            self.counts.queued += 1;
            return Queued::Queued;
        }
        match known.known(&object.key).map(|known| late(&object, known, true)) {
            Some(Some(late)) => return late,
            None if delta_type == DeltaType::Deleted => return Queued::Unknown,
            _ => {}
        }
        let delta = Delta::new(delta_type, transformed(self.transform, object));
        self.join(hash, delta.into());
        Queued::Queued
    }

    /// In one pass over the list, one over the queue and one over what is known.
    fn replace(&mut self, items: Vec<Arc<Object>>, known: &dyn KnownObjects) -> Vec<Arc<Object>> {
        let first = !std::mem::replace(&mut self.counts.populated, true);
        self.unpack_all();
        self.replaced += 1;
        if self.queue.is_empty() && items.is_sorted_by(|a, b| a.key < b.key) {
            self.take_in(items, first);
        } else {
            self.push_all(items, first);
        }
        let absent = self.queue.iter().map(|&at| &self.slots[at]).filter(|slot| slot.replaced != self.replaced);
        let newest = absent.filter_map(|slot| slot.deltas.newest()).filter(|newest| newest.is_present());
        let mut gone: Vec<Arc<Object>> = newest.map(|newest| newest.object.object().clone()).collect();
        known.each_absent(&mut self.waiting(), &mut |object| gone.push(object.clone()));
        self.counts.made.tombstones += gone.len() as u64;
        for object in &gone {
            let at = self.push(Delta::tombstone(object.clone()));
            self.counts.initial += usize::from(first);
            self.slots[at].initial |= first;
        }
        gone
    }

    fn absent(&self, items: &[Arc<Object>], known: &dyn KnownObjects) -> Vec<Arc<Object>> {
        let listed: HashSet<&ObjectKey, FxBuildHasher> = items.iter().map(|object| &object.key).collect();
        let waiting: HashSet<&ObjectKey, FxBuildHasher> = self.waiting().collect();
        let newest = waiting.iter().filter(|key| !listed.contains(*key)).filter_map(|key| self.newest(key));
        let mut gone: Vec<Arc<Object>> =
            newest.filter(|(_, is_present)| *is_present).map(|(object, _)| object.clone()).collect();
        let mut present = listed.iter().chain(&waiting).copied();
        known.each_absent(&mut present, &mut |object| gone.push(object.clone()));
        gone
    }

    /// In one pass over what waits and one over what is known, and with one order of numbers; nothing is made for a key
    /// before its turn comes.
    fn resync(&mut self, known: &dyn KnownObjects) {
        let mut objects: Vec<(u32, Arc<Object>)> = Vec::new();
        known.each_absent_hashed(&mut self.waiting(), &mut |hash, object| objects.push((hash, object.clone())));
        self.counts.made.resyncs += objects.len() as u64;
        if objects.is_empty() {
            return;
        }
        if !self.again.is_empty() && objects.len() < MANY {
            for (_, object) in objects {
                self.push(Delta::new(DeltaType::Sync, object));
            }
            return;
        }
        self.counts.queued += objects.len() as u64;
        // Someone may wait while 150,000 are sorted.
        objects.sort_unstable_by_key(|&(hash, _)| hash);
        let ahead = self.queue.len() - self.again.iter().map(|again| again.ahead).sum::<usize>();
        self.again.push_back(Again { ahead, objects: objects.into() });
    }

    fn pop(&mut self, known: &dyn KnownObjects) -> Option<Deltas> {
        let mut deltas = self.leave()?;
        self.counts.queued -= deltas.folded();
        // Only the first is about what is known; each later one is about the one before.
        let mut before = None;
        for delta in deltas.iter_mut() {
            resolve(delta, |key| before.unwrap_or_else(|| known.known(key).is_some()));
            before = Some(delta.is_present());
        }
        Some(deltas)
    }

    fn pop_batch(&mut self, limit: usize, known: &dyn KnownObjects) -> Vec<Deltas> {
        std::iter::from_fn(|| self.pop(known)).take(limit).collect()
    }

    fn len(&self) -> usize {
        self.listed.len() + self.resyncing() as usize + self.queue.len()
    }

    fn counts(&self) -> &Counts {
        &self.counts
    }

    fn resyncing(&self) -> u64 {
        self.again.iter().map(|again| again.objects.len() as u64).sum()
    }

    fn newest(&self, key: &ObjectKey) -> Option<(&Arc<Object>, bool)> {
        match self.slot(key) {
            Some(slot) => slot.deltas.newest().map(|newest| (newest.object.object(), newest.is_present())),
            None => {
                let object = self.listed(key).or_else(|| self.again(hash_of(key), key));
                object.map(|object| (object, true))
            }
        }
    }
}
