//! The queue between a reflector and a store: the trait of the two queues, and what they have in common.

use std::fmt::Debug;
use std::sync::Arc;

use crate::api::object::{Object, ObjectKey};
use crate::cache::complete_list::CompleteList;
use crate::cache::delta::{Delta, DeltaType, Deltas};
use crate::cache::store::Store;

/// The result of handing an event to the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Queued {
    /// It waits.
    Queued,
    /// It was the deletion of something that is neither queued nor known, and was dropped.
    Unknown,
    /// It was older than what is known of the same uid, and was dropped: the state of an object never goes back.
    Late,
    /// Another object (another uid) is known to exist under this name, and the event was older than it. It was about a
    /// former object of that name, and was dropped.
    Former,
}

/// The deltas that a queue has made and that no frame and no item brought.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Made {
    /// Deletions of objects that a complete list did not hold.
    pub tombstones: u64,
    /// Objects that resyncs queued again.
    pub resyncs: u64,
}

/// The counts that each kind of queue keeps of itself.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    /// How many received deltas wait. A delta into which others were folded counts as all of them.
    pub(super) queued: u64,
    pub(super) made: Made,
    /// How many keys (of a RealFIFO: deltas) of the first complete list have not been taken out.
    pub(super) initial: usize,
    /// True if anything has arrived. A first complete list counts even if it is empty.
    pub(super) populated: bool,
}

/// A queue of deltas (client-go's `Queue`, `fifo.go`). An informer has a [`DeltaFifo`] where no other queue is named.
///
/// A controller whose work follows from the newest state alone takes that default. One that has to see every event that
/// the server sent takes a [`RealFifo`], which does not fold:
///
/// ```
/// use std::sync::Arc;
///
/// use kubechurn_client::api::object::decode_metadata;
/// use kubechurn_client::cache::delta::DeltaType;
/// use kubechurn_client::cache::pipeline::Pipeline;
/// use kubechurn_client::cache::queue::Queue;
/// use kubechurn_client::cache::real_fifo::RealFifo;
///
/// fn changes_of_two_events<Q: Queue>(mut pipeline: Pipeline<Q>) -> usize {
///     for (version, delta_type) in [("1", DeltaType::Added), ("2", DeltaType::Updated)] {
///         let text = format!(r#"{{"metadata":{{"name":"web","uid":"u","resourceVersion":"{version}"}}}}"#);
///         pipeline.event(delta_type, Arc::new(decode_metadata(&text).expect("an object")));
///     }
///     let mut changes = 0;
///     while pipeline.pop(|_| changes += 1) {}
///     changes
/// }
///
/// assert_eq!(changes_of_two_events(Pipeline::new()), 1);
/// assert_eq!(changes_of_two_events(Pipeline::<RealFifo>::default()), 2);
/// ```
///
/// `known` is always the store that the popped deltas are applied to (client-go's `KeyListerGetter`), with every delta
/// applied that was popped before: from it the queue learns what a deletion, a complete list or a resync is about.
///
/// [`DeltaFifo`]: crate::cache::delta_fifo::DeltaFifo
/// [`RealFifo`]: crate::cache::real_fifo::RealFifo
pub trait Queue: Debug + Default {
    /// Queues what a watch brought: `Added`, `Updated` or `Deleted` (client-go's `Add`, `Update` and `Delete`).
    fn event(&mut self, delta_type: DeltaType, object: Arc<Object>, known: &Store) -> Queued;
    /// Queues a complete list, and a tombstone for whatever is queued or known and not in it. Returns the newest state
    /// of each object that gets a tombstone. An object whose newest delta is a deletion is gone already, and is not
    /// among them.
    fn replace(&mut self, list: CompleteList, known: &Store) -> Vec<Arc<Object>>;
    /// What [`Queue::replace`] would return for this list, with nothing changed.
    fn absent(&self, list: &CompleteList, known: &Store) -> Vec<Arc<Object>>;
    /// Queues `Sync` for each known object that has nothing queued.
    fn resync(&mut self, known: &Store);

    /// Takes what waits at the head, oldest first (client-go's `Pop`). `Replaced` and `Sync` come out as `Added` or
    /// `Updated`, by whether the object is known: a reader needs no other types.
    fn pop(&mut self, known: &Store) -> Option<Deltas>;

    /// Returns how many keys wait.
    fn len(&self) -> usize;
    /// Returns whether nothing waits.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// What the queue counts of itself.
    fn counts(&self) -> &Counts;
    /// Returns whether the first complete list has been taken out, or something else arrived before any list
    /// (`HasSynced`).
    fn has_synced(&self) -> bool {
        self.counts().populated && self.counts().initial == 0
    }
    /// Returns how many received deltas wait. A delta into which others were folded counts as all of them.
    fn queued(&self) -> u64 {
        self.counts().queued
    }
    /// Returns how many deltas the queue has made that no frame and no item brought.
    fn made(&self) -> Made {
        self.counts().made
    }
    /// Returns how many of the waiting deltas are Syncs of objects that are still as the store holds them: these bring
    /// nothing that is not shown already.
    fn resyncing(&self) -> u64 {
        0
    }
    /// The newest object that waits for a key, and whether it is a state (`true`) or a deletion.
    fn newest(&self, key: &ObjectKey) -> Option<(&Arc<Object>, bool)>;
}

/// Returns whether an event comes too late: it is older than `newest`, the newest that is known of its name. Then the
/// result says what becomes of the event. `present` is false where `newest` is a deletion. A deletion proves nothing
/// against an object with another uid: after a restore from a backup, new objects have lower versions than those that
/// are gone.
pub(super) fn late(object: &Object, newest: &Object, present: bool) -> Option<Queued> {
    if !object.resource_version.is_older_than(&newest.resource_version) {
        return None;
    }
    match newest.uid == object.uid {
        true => Some(Queued::Late),
        false => present.then_some(Queued::Former),
    }
}

/// Turns `Replaced` and `Sync` into `Updated` where the reader has an object of that key (`present`), else into
/// `Added`.
pub(super) fn resolve(delta: &mut Delta, present: impl FnOnce(&ObjectKey) -> bool) {
    delta.listed |= delta.delta_type == DeltaType::Replaced;
    if delta.delta_type.is_of_list() {
        delta.delta_type = if present(delta.key()) { DeltaType::Updated } else { DeltaType::Added };
    }
}

#[cfg(test)]
pub(crate) mod tests;
