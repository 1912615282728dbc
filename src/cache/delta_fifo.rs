//! The DeltaFIFO: for each changed object what happened to it, in the order in which objects first changed.
//!
//! It differs from client-go's `delta_fifo.go` in one thing, and says so in numbers: consecutive states of one
//! life fold into the newest, so that its size follows the objects that changed and not the events.

use std::collections::VecDeque;
use std::sync::Arc;

use hashbrown::{HashMap, HashSet};
use rustc_hash::FxBuildHasher;

use crate::api::object::{Object, ObjectKey};
use crate::cache::delta::{Delta, DeltaType, Deltas};

/// What the reader of the queue already knows: its store.
pub trait KnownObjects {
    /// The object of that key, if it is known.
    fn known(&self, key: &ObjectKey) -> Option<&Arc<Object>>;
    /// Every known object, in any order.
    fn each_known(&self, visit: &mut dyn FnMut(&Arc<Object>));
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
}

/// The queue.
#[derive(Debug, Default)]
pub struct DeltaFifo {
    /// A key is here if and only if it is in `queue`, and its deltas are not empty.
    items: HashMap<ObjectKey, Deltas, FxBuildHasher>,
    queue: VecDeque<ObjectKey>,
    /// How many received deltas wait, folded ones counted.
    queued: u64,
    /// Keys of the first Replace that have not been drained.
    initial: HashSet<ObjectKey, FxBuildHasher>,
    /// Whether anything arrived, a first Replace included.
    populated: bool,
    closed: bool,
}

impl DeltaFifo {
    /// Queues an addition.
    pub fn add(&mut self, object: Arc<Object>, known: &dyn KnownObjects) -> Queued {
        self.populated = true;
        self.push_event(Delta::new(DeltaType::Added, object), known)
    }

    /// Queues a newer version.
    pub fn update(&mut self, object: Arc<Object>, known: &dyn KnownObjects) -> Queued {
        self.populated = true;
        self.push_event(Delta::new(DeltaType::Updated, object), known)
    }

    /// Queues a deletion, unless the key is neither queued nor known.
    pub fn delete(&mut self, object: Arc<Object>, known: &dyn KnownObjects) -> Queued {
        self.populated = true;
        if !self.items.contains_key(&object.key) && known.known(&object.key).is_none() {
            return Queued::Unknown;
        }
        self.push_event(Delta::new(DeltaType::Deleted, object), known)
    }

    /// The objects that are queued or known but not in a complete list: the newest state of each. One whose
    /// newest delta is a deletion is gone already, and was said to be.
    pub fn absent(&self, items: &[Arc<Object>], known: &dyn KnownObjects) -> Vec<Arc<Object>> {
        let keys: HashSet<&ObjectKey, FxBuildHasher> = items.iter().map(|object| &object.key).collect();
        let mut gone: Vec<Arc<Object>> = Vec::new();
        let queued = self.queue.iter().filter(|key| !keys.contains(key)).filter_map(|key| self.newest(key));
        gone.extend(queued.filter(|newest| newest.is_present()).map(|newest| newest.object.object().clone()));
        known.each_known(&mut |object| {
            if !keys.contains(&object.key) && !self.items.contains_key(&object.key) {
                gone.push(object.clone());
            }
        });
        gone
    }

    /// Queues a complete list: `Replaced` for each item, then a tombstone for each object of `gone`, which
    /// [`DeltaFifo::absent`] found.
    pub fn replace(&mut self, items: Vec<Arc<Object>>, gone: Vec<Arc<Object>>) {
        if !self.populated {
            self.initial = items.iter().chain(&gone).map(|object| object.key.clone()).collect();
        }
        self.populated = true;
        items.into_iter().for_each(|object| self.push(Delta::new(DeltaType::Replaced, object)));
        gone.into_iter().for_each(|object| self.push(Delta::tombstone(object)));
    }

    /// Queues `Sync` for each known object that has nothing queued. Returns how many.
    pub fn resync(&mut self, known: &dyn KnownObjects) -> u64 {
        let mut again = Vec::new();
        known.each_known(&mut |object| {
            if !self.items.contains_key(&object.key) {
                again.push(object.clone());
            }
        });
        let count = again.len() as u64;
        again.into_iter().for_each(|object| self.push(Delta::new(DeltaType::Sync, object)));
        count
    }

    /// Takes the oldest delta of the head key, which stays at the head until it is drained.
    ///
    /// `Replaced` and `Sync` come out as `Added` or `Updated` by what is known, as a reader that knows only
    /// those would need them. A pending deletion of the same key was taken before, and `known` must have been
    /// told of it.
    pub fn pop_one(&mut self, known: &dyn KnownObjects) -> Option<(ObjectKey, Delta)> {
        let key = self.queue.front()?.clone();
        let deltas = self.items.get_mut(&key)?;
        let mut delta = deltas.take_first()?;
        if deltas.is_empty() {
            self.items.remove(&key);
            self.queue.pop_front();
            self.initial.remove(&key);
        }
        self.account(&delta);
        let mut present = known.known(&key).is_some();
        resolve(&mut delta, &mut present);
        Some((key, delta))
    }

    /// Takes all deltas of the head key, oldest first; resolved as [`DeltaFifo::pop_one`] does.
    pub fn pop_key(&mut self, known: &dyn KnownObjects) -> Option<(ObjectKey, Vec<Delta>)> {
        let key = self.queue.pop_front()?;
        let deltas = self.items.remove(&key)?;
        self.initial.remove(&key);
        let mut present = known.known(&key).is_some();
        let mut list: Vec<Delta> = deltas.into_iter().collect();
        for delta in &mut list {
            self.account(delta);
            resolve(delta, &mut present);
        }
        Some((key, list))
    }

    /// Takes all deltas of up to `limit` keys, in order.
    pub fn pop_batch(&mut self, limit: usize, known: &dyn KnownObjects) -> Vec<(ObjectKey, Vec<Delta>)> {
        std::iter::from_fn(|| self.pop_key(known)).take(limit).collect()
    }

    /// Whether the first complete list has been drained, or something else arrived before any list.
    pub fn has_synced(&self) -> bool {
        self.populated && self.initial.is_empty()
    }

    /// After this, what waits can still be taken, and nothing more will come: a reader that finds the queue
    /// empty is done.
    pub fn close(&mut self) {
        self.closed = true;
    }

    /// Whether it was closed.
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// How many keys wait.
    pub fn len(&self) -> usize {
        self.queue.len()
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// How many received deltas wait, the folded ones among them counted one by one.
    pub fn queued(&self) -> u64 {
        self.queued
    }

    /// The newest delta that waits for a key.
    pub fn newest(&self, key: &ObjectKey) -> Option<&Delta> {
        self.items.get(key).and_then(Deltas::newest)
    }

    /// An event of a watch: dropped if the same uid is already known in a newer version.
    fn push_event(&mut self, delta: Delta, known: &dyn KnownObjects) -> Queued {
        let object = delta.object.object();
        let newest = self.newest(&object.key).map(|newest| newest.object.object()).or_else(|| known.known(&object.key));
        let late = newest.is_some_and(|newest| {
            newest.uid == object.uid && object.resource_version.is_older_than(&newest.resource_version)
        });
        if late {
            return Queued::Late;
        }
        self.push(delta);
        Queued::Queued
    }

    fn push(&mut self, delta: Delta) {
        self.queued += u64::from(delta.folded);
        if let Some(deltas) = self.items.get_mut(delta.key()) {
            deltas.push(delta);
        } else {
            let key = delta.key().clone();
            let mut deltas = Deltas::default();
            deltas.push(delta);
            self.queue.push_back(key.clone());
            self.items.insert(key, deltas);
        }
    }

    fn account(&mut self, delta: &Delta) {
        self.queued -= u64::from(delta.folded);
    }
}

/// Turns `Replaced` and `Sync` into what they are to a reader; `present` follows the key through its deltas.
fn resolve(delta: &mut Delta, present: &mut bool) {
    if matches!(delta.delta_type, DeltaType::Replaced | DeltaType::Sync) {
        delta.delta_type = if *present { DeltaType::Updated } else { DeltaType::Added };
    }
    *present = delta.is_present();
}
