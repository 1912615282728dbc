//! What every queue between a reflector and a store can do.

use std::fmt::Debug;
use std::sync::Arc;

use crate::api::object::{Object, ObjectKey};
use crate::cache::delta::{Delta, DeltaType, Deltas};

/// What the reader of the queue already knows: its store (client-go's `KeyListerGetter`).
pub trait KnownObjects {
    /// The object of that key, if it is known.
    fn known(&self, key: &ObjectKey) -> Option<&Arc<Object>>;
    /// Every known object whose key is none of `present`, in any order.
    fn each_absent<'a>(&self, present: &mut dyn Iterator<Item = &'a ObjectKey>, visit: &mut dyn FnMut(&Arc<Object>)) {
        self.each_absent_hashed(present, &mut |_, object| visit(object));
    }
    /// The same, each with the [`half`] of the hash of its key, so that no key of 150,000 has to be read for it.
    fn each_absent_hashed<'a>(
        &self,
        present: &mut dyn Iterator<Item = &'a ObjectKey>,
        visit: &mut dyn FnMut(u32, &Arc<Object>),
    );
}

/// What is kept of a hash where it stands beside many keys: in the page an entry takes eight bytes with it, and sixteen with
/// all of it. Both halves are folded into it, for in the page, where words have 32 bits, the upper one is always 0.
pub(super) fn half(hash: u64) -> u32 {
    (hash ^ hash >> 32) as u32
}

/// What came of handing a delta to the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Queued {
    /// It waits.
    Queued,
    /// A deletion of something neither queued nor known: dropped.
    Unknown,
    /// An event older than what is known of the same uid: dropped, for state never goes back.
    Late,
    /// An event of another uid than the one that is known to live under its name, and older than that one: dropped, for
    /// it is of a former life.
    Former,
}

/// Changes an object before it is queued (client-go's `TransformFunc`): once for each object that the server
/// sent; never for tombstones and resyncs, whose objects went through it before.
pub type Transform = fn(Arc<Object>) -> Arc<Object>;

/// How many deltas a queue has made that no frame or item brought.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Made {
    /// Deletions of what a complete list did not hold.
    pub tombstones: u64,
    /// Objects told again by resyncs.
    pub resyncs: u64,
}

/// A queue of deltas (client-go's `Queue`, `fifo.go`).
///
/// `known` is always the store that the popped deltas are applied to, with all that was popped before applied:
/// it tells what a deletion, a complete list or a resync is about.
pub trait Queue: Debug + Send {
    /// Queues an addition.
    fn add(&mut self, object: Arc<Object>, known: &dyn KnownObjects) -> Queued;
    /// Queues a newer version.
    fn update(&mut self, object: Arc<Object>, known: &dyn KnownObjects) -> Queued;
    /// Queues a deletion.
    fn delete(&mut self, object: Arc<Object>, known: &dyn KnownObjects) -> Queued;
    /// Queues a complete list, and a tombstone for whatever is queued or known and not in it. Returns the newest
    /// state of each of those; an object whose newest delta is a deletion is gone already, and not among them.
    fn replace(&mut self, items: Vec<Arc<Object>>, known: &dyn KnownObjects) -> Vec<Arc<Object>>;
    /// What such a list would make go: the newest state of whatever is queued or known, and not in it.
    fn absent(&self, items: &[Arc<Object>], known: &dyn KnownObjects) -> Vec<Arc<Object>>;
    /// Queues `Sync` for each known object that has nothing queued.
    fn resync(&mut self, known: &dyn KnownObjects);

    /// Takes the oldest delta of the head. `Replaced` and `Sync` come out as `Added` or `Updated` by what is known,
    /// as a reader that knows only those would need them.
    fn pop_one(&mut self, known: &dyn KnownObjects) -> Option<Delta>;
    /// Takes what waits for the head's key as one, oldest first, resolved as by [`Queue::pop_one`].
    fn pop_key(&mut self, known: &dyn KnownObjects) -> Option<Deltas>;
    /// Takes up to `limit` keys at once, each one time, in order.
    fn pop_batch(&mut self, limit: usize, known: &dyn KnownObjects) -> Vec<Deltas>;
    /// Takes back what was popped and could not be processed. It goes before whatever has come for its key since,
    /// so that time never moves backwards for a reader; client-go's `AddIfNotPresent` dropped it there, and was
    /// removed for that.
    fn requeue(&mut self, deltas: Deltas);

    /// Whether the first complete list has been taken out, or something else arrived before any list
    /// (`HasSynced`).
    fn has_synced(&self) -> bool;
    /// After this, what waits can still be taken; what still comes is taken in, as in client-go. A reader that
    /// finds a closed queue empty is done.
    fn close(&mut self);
    /// Whether it was closed.
    fn is_closed(&self) -> bool;

    /// How many keys wait.
    fn len(&self) -> usize;
    /// Whether nothing waits.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// How many received deltas wait, folded ones among them counted one by one.
    fn queued(&self) -> u64;
    /// How many of those are Syncs that wait as the store held their objects: they bring nothing that is not shown already.
    fn resyncing(&self) -> u64 {
        0
    }
    /// How many deltas it has made by itself.
    fn made(&self) -> Made;
    /// The newest that waits for a key, and whether it is a state, not a deletion.
    fn newest(&self, key: &ObjectKey) -> Option<(&Arc<Object>, bool)>;
}

/// Whether an event is older than the newest that is known of its name, which may be a deletion (`present` is
/// false then), and then what becomes of it. A deletion proves nothing against another uid: after a restore from a
/// backup, new objects have lower versions than those that are gone.
pub(super) fn late(object: &Object, newest: &Object, present: bool) -> Option<Queued> {
    if !object.resource_version.is_older_than(&newest.resource_version) {
        return None;
    }
    match newest.uid == object.uid {
        true => Some(Queued::Late),
        false => present.then_some(Queued::Former),
    }
}

/// Turns `Replaced` and `Sync` into what they are to a reader that knows the key, or does not.
pub(super) fn resolve(delta: &mut Delta, present: impl FnOnce(&ObjectKey) -> bool) {
    delta.listed |= delta.delta_type == DeltaType::Replaced;
    if matches!(delta.delta_type, DeltaType::Replaced | DeltaType::Sync) {
        delta.delta_type = if present(delta.key()) { DeltaType::Updated } else { DeltaType::Added };
    }
}

#[cfg(test)]
pub(crate) mod tests;
