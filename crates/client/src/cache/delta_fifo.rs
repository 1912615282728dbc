//! The DeltaFIFO: for each object that changed, what happened to it, in the order in which the objects first changed.
//!
//! Consecutive states of one object are folded into the newest, so that the size of the queue follows the number of
//! objects that changed, and not the number of events. How many states were folded is counted. `docs/client-go.md` has
//! this and what else differs from client-go's `delta_fifo.go`, which is
//! [`cache::client_go::DeltaFifo`](crate::cache::client_go::DeltaFifo).
//!
//! A complete list that comes while nothing waits, sorted by key, is kept as it is, and its items become deltas when
//! their turn comes: a list of 150,000 costs the queue next to nothing. What a resync repeats waits in the same
//! way, as the objects that the store holds. A reader sees no difference.

use std::collections::VecDeque;
use std::sync::Arc;

use hashbrown::HashSet;
use rustc_hash::FxBuildHasher;

use crate::api::object::{Object, ObjectKey};
use crate::cache::complete_list::CompleteList;
use crate::cache::delta::{Delta, DeltaType, Deltas};
use crate::cache::keyed_slab::{Keyed, KeyedSlab, half, hash_of};
use crate::cache::queue::{Counts, Queue, Queued, late, resolve};
use crate::cache::store::Store;

/// The queue. A delta for a key that waits already costs one look-up, and no allocation.
#[derive(Clone, Debug, Default)]
pub struct DeltaFifo {
    /// What waits, for each key.
    slots: KeyedSlab<Slot>,
    /// The items of a complete list whose turn has not come, sorted by key, each with the [`half`] of its key's hash.
    /// They come before `queue`. An item to which something has happened since also has a slot, with the item as its
    /// first delta; that slot is not in `queue`.
    listed: VecDeque<(u32, Arc<Object>)>,
    /// True if `listed` is of the first Replace.
    listed_first: bool,
    /// The slots in the order in which their keys first changed.
    queue: VecDeque<usize>,
    /// The objects that resyncs repeat and whose turn has not come; no key is in two of them. An object to which
    /// something has happened since also has a slot, with the Sync as its first delta; that slot is not in `queue`.
    again: VecDeque<Again>,
    counts: Counts,
    /// The number of the latest Replace.
    replaced: u32,
}

#[derive(Clone, Debug)]
struct Slot {
    hash: u64,
    /// Never empty.
    deltas: Deltas,
    /// The latest Replace that held the key; 0 is none.
    replaced: u32,
    /// True if the key belongs to the first Replace.
    initial: bool,
}

/// The objects that one resync repeats, as the store held them. Their place may be in the middle of the queue.
#[derive(Clone, Debug)]
struct Again {
    /// How many slots of the queue come before these objects. Slots that come before an earlier resync are not counted.
    ahead: usize,
    /// Sorted by the [`half`] of the hash of their key, by which a key is found among them.
    objects: VecDeque<(u32, Arc<Object>)>,
}

/// In which part of the queue the head is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    Listed,
    Again,
    Queue,
}

/// While an earlier resync waits, a resync of fewer objects than this is queued key by key, so that a key never has to
/// be looked for in many resyncs.
const MANY: usize = 4096;

/// When the queue runs empty, memory for more keys than this is given back.
const KEPT: usize = 4096;

impl DeltaFifo {
    fn find(&self, hash: u64, key: &ObjectKey) -> Option<usize> {
        self.slots.find(hash, key)
    }

    fn slot(&self, key: &ObjectKey) -> Option<&Slot> {
        self.slots.get(key)
    }

    /// The item of the complete list that waits for a key.
    fn listed(&self, key: &ObjectKey) -> Option<&Arc<Object>> {
        let found = self.listed.binary_search_by(|(_, object)| object.key.cmp(key));
        found.ok().and_then(|at| self.listed.get(at)).map(|(_, object)| object)
    }

    /// An object of each key that waits, with the [`half`] of the key's hash. Some keys come twice.
    fn waiting(&self) -> impl Iterator<Item = (u32, &Arc<Object>)> {
        let listed = self.listed.iter();
        let again = self.again.iter().flat_map(|again| &again.objects);
        let slots = self.slots.iter().filter_map(|slot| Some((half(slot.hash), slot.deltas.newest()?.object.object())));
        listed.chain(again).map(|(hash, object)| (*hash, object)).chain(slots)
    }

    /// The object that a resync repeats for a key.
    fn again(&self, hash: u64, key: &ObjectKey) -> Option<&Arc<Object>> {
        self.again.iter().find_map(|again| again.find(hash, key))
    }

    /// The slot in which a key waits. An item of the complete list, or an object that a resync repeats, gets one.
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

    /// An item of the complete list gets a slot. The item was counted when the list came.
    fn unpack(&mut self, hash: u64, object: Arc<Object>) -> usize {
        let at = self.settle(hash, Delta::new(DeltaType::Replaced, object).into());
        let slot = &mut self.slots[at];
        (slot.replaced, slot.initial) = (self.replaced, self.listed_first);
        at
    }

    /// Every item of the complete list, and all that resyncs repeat, gets a slot, in its place in the queue.
    fn unpack_all(&mut self) {
        let (listed, again) = (std::mem::take(&mut self.listed), std::mem::take(&mut self.again));
        let count = listed.len() + again.iter().map(|again| again.objects.len()).sum::<usize>();
        if count == 0 {
            return;
        }
        self.slots.reserve_exact(count);
        let all = VecDeque::with_capacity(count + self.queue.len());
        let mut queue = std::mem::replace(&mut self.queue, all);
        for (_, object) in listed {
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

    /// Queues a delta without a look at what is known, and returns its slot.
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

    /// A key that does not wait yet is queued last. Returns its slot.
    fn join(&mut self, hash: u64, deltas: Deltas) -> usize {
        self.counts.queued += deltas.folded();
        let at = self.settle(hash, deltas);
        self.queue.push_back(at);
        at
    }

    /// Makes a slot for a key that has none.
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

    /// What waits for each key, as it will be popped, from the head on. The deltas of every key are cloned, so this is for
    /// looking at a queue, and not for taking anything out.
    pub fn waiting_slots(&self) -> Vec<Deltas> {
        let packed = |delta_type, object: &Arc<Object>| match self.slot(&object.key) {
            Some(slot) => slot.deltas.clone(),
            None => Delta::new(delta_type, object.clone()).into(),
        };
        let mut slots: Vec<Deltas> =
            self.listed.iter().map(|(_, object)| packed(DeltaType::Replaced, object)).collect();
        let mut queue = self.queue.iter().map(|&at| self.slots[at].deltas.clone());
        for again in &self.again {
            slots.extend(queue.by_ref().take(again.ahead));
            slots.extend(again.objects.iter().map(|(_, object)| packed(DeltaType::Sync, object)));
        }
        slots.extend(queue);
        slots
    }

    /// The slot of the head. `None` if nothing waits, or if the head is an item of the complete list, or an object that
    /// a resync repeats, to which nothing has happened since.
    fn head(&self) -> Option<usize> {
        let object = match self.turn() {
            Turn::Queue => return self.queue.front().copied(),
            _ if self.slots.is_empty() => return None,
            Turn::Listed => &self.listed.front()?.1,
            Turn::Again => &self.again.front()?.objects.front()?.1,
        };
        self.find(hash_of(&object.key), &object.key)
    }

    /// If the head is an item of the complete list, or an object that a resync repeats, takes it out, as the delta
    /// that it was when it came.
    fn leave_packed(&mut self) -> Option<Delta> {
        match self.turn() {
            Turn::Listed => {
                let (_, object) = self.listed.pop_front()?;
                if self.listed.is_empty() {
                    // The memory that a list of 150,000 took is given back.
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

    /// Takes in a complete list that is sorted by key, while nothing waits.
    fn take_in(&mut self, list: CompleteList, first: bool) {
        self.counts.queued += list.len() as u64;
        self.counts.initial += if first { list.len() } else { 0 };
        self.listed_first = first;
        self.listed = list.into_hashed().into();
    }

    /// Queues a complete list behind what waits.
    fn push_all(&mut self, list: CompleteList, first: bool) {
        // To grow by doubling would take twice as much memory for a moment.
        self.slots.reserve_exact(list.len());
        self.queue.reserve_exact(list.len());
        for object in list {
            let delta = Delta::new(DeltaType::Replaced, object);
            let at = self.push(delta);
            let slot = &mut self.slots[at];
            slot.replaced = self.replaced;
            self.counts.initial += usize::from(first && !slot.initial);
            slot.initial |= first;
        }
    }

    /// Takes out the head, with all that waits for its key.
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
    fn event(&mut self, delta_type: DeltaType, object: Arc<Object>, known: &Store) -> Queued {
        self.counts.populated = true;
        let hash = hash_of(&object.key);
        if let Some(at) = self.find_or_unpack(hash, &object.key) {
            // Every slot has a newest delta.
            let newest = self.slots[at].deltas.newest();
            let late = newest.and_then(|newest| late(&object, newest.object.object(), newest.is_present()));
            if let Some(late) = late {
                return late;
            }
            let delta = Delta::new(delta_type, object);
            self.slots[at].deltas.push(delta);
            self.counts.queued += 1;
            return Queued::Queued;
        }
        match known.get(&object.key).map(|known| late(&object, known, true)) {
            Some(Some(late)) => return late,
            None if delta_type == DeltaType::Deleted => return Queued::Unknown,
            _ => {}
        }
        let delta = Delta::new(delta_type, object);
        self.join(hash, delta.into());
        Queued::Queued
    }

    /// In one pass over the list, one over the queue and one over what is known.
    fn replace(&mut self, list: CompleteList, known: &Store) -> Vec<Arc<Object>> {
        let first = !std::mem::replace(&mut self.counts.populated, true);
        self.unpack_all();
        self.replaced += 1;
        if self.queue.is_empty() && list.is_sorted() {
            self.take_in(list, first);
        } else {
            self.push_all(list, first);
        }
        let absent = self.queue.iter().map(|&at| &self.slots[at]).filter(|slot| slot.replaced != self.replaced);
        let newest = absent.filter_map(|slot| slot.deltas.newest()).filter(|newest| newest.is_present());
        let mut gone: Vec<Arc<Object>> = newest.map(|newest| newest.object.object().clone()).collect();
        known.each_absent(&mut self.waiting(), &mut |_, object| gone.push(object.clone()));
        self.counts.made.tombstones += gone.len() as u64;
        for object in &gone {
            let at = self.push(Delta::tombstone(object.clone()));
            self.counts.initial += usize::from(first);
            self.slots[at].initial |= first;
        }
        gone
    }

    fn absent(&self, list: &CompleteList, known: &Store) -> Vec<Arc<Object>> {
        let listed: HashSet<&ObjectKey, FxBuildHasher> = list.iter().map(|object| &object.key).collect();
        let waiting: HashSet<&ObjectKey, FxBuildHasher> = self.waiting().map(|(_, object)| &object.key).collect();
        let newest = waiting.iter().filter(|key| !listed.contains(*key)).filter_map(|key| self.newest(key));
        let mut gone: Vec<Arc<Object>> =
            newest.filter(|(_, is_present)| *is_present).map(|(object, _)| object.clone()).collect();
        known.each_absent(&mut list.hashed().chain(self.waiting()), &mut |_, object| gone.push(object.clone()));
        gone
    }

    /// In one pass over what waits, one pass over what is known, and a sort of hashes. No delta is made for a key
    /// before its turn comes.
    fn resync(&mut self, known: &Store) {
        let mut objects: Vec<(u32, Arc<Object>)> = Vec::new();
        known.each_absent(&mut self.waiting(), &mut |hash, object| objects.push((hash, object.clone())));
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
        // A user may be waiting while 150,000 are sorted.
        objects.sort_unstable_by_key(|&(hash, _)| hash);
        let ahead = self.queue.len() - self.again.iter().map(|again| again.ahead).sum::<usize>();
        self.again.push_back(Again { ahead, objects: objects.into() });
    }

    fn pop(&mut self, known: &Store) -> Option<Deltas> {
        let mut deltas = self.leave()?;
        self.counts.queued -= deltas.folded();
        // What the first delta means depends on what is known; what each later one means depends on the delta before
        // it.
        let mut before = None;
        for delta in deltas.iter_mut() {
            resolve(delta, |key| before.unwrap_or_else(|| known.get(key).is_some()));
            before = Some(delta.is_present());
        }
        Some(deltas)
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
