//! client-go's own queues, exact to the call: what a program in Go does with the same stream.
//!
//! The informers here have queues of their own, [`cache::delta_fifo`] and [`cache::real_fifo`], which are safe against a
//! server whose versions go back, and one of which folds. These here are the model that they are compared with, and what a
//! view of client-go's machinery shows. `docs/client-go.md` lists the differences, and which release of client-go uses
//! which queue.
//!
//! They are as in client-go 1.36. Where client-go walks a Go map, and so the order is by chance, the order here is that of
//! the keys. There is no transformer, and nothing is locked.
//!
//! [`cache::delta_fifo`]: crate::cache::delta_fifo
//! [`cache::real_fifo`]: crate::cache::real_fifo

use std::fmt::Debug;
use std::sync::Arc;

use hashbrown::{HashMap, HashSet};
use rustc_hash::FxBuildHasher;

use crate::api::object::{Object, ObjectKey, ResourceVersion};
use crate::api::sort;
use crate::cache::delta::{DeltaObject, DeltaType};
use crate::cache::store::Store;

mod controller;
mod delta_fifo;
mod real_fifo;

pub use controller::{Call, process_deltas};
pub use delta_fifo::DeltaFifo;
pub use real_fifo::{BATCH, RealFifo};

/// What a queue holds (`delta_fifo.go`, `Delta`).
#[derive(Clone, Debug, PartialEq)]
pub enum Delta {
    /// A change of one object.
    One {
        /// What happened.
        delta_type: DeltaType,
        /// The object to which it happened.
        object: DeltaObject,
    },
    /// A complete list in one piece.
    ReplacedAll {
        /// The version of the list.
        resource_version: ResourceVersion,
        /// Its objects.
        objects: Vec<Arc<Object>>,
    },
    /// A resync of every object that the store holds when this is popped.
    SyncAll,
    /// A bookmark, which keeps its place among the changes.
    Bookmark {
        /// The version that the store is up to.
        resource_version: ResourceVersion,
    },
}

impl Delta {
    fn new(delta_type: DeltaType, object: &Arc<Object>) -> Delta {
        Delta::One { delta_type, object: DeltaObject::Known(object.clone()) }
    }

    /// The deletion of an object that a complete list did not hold; `last` is its last known state.
    fn tombstone(last: &Arc<Object>) -> Delta {
        Delta::One { delta_type: DeltaType::Deleted, object: DeltaObject::FinalStateUnknown(last.clone()) }
    }

    /// The object of a change of one object.
    pub fn object(&self) -> Option<&Arc<Object>> {
        match self {
            Delta::One { object, .. } => Some(object.object()),
            _ => None,
        }
    }

    /// Whether this is the deletion of one object.
    fn is_deleted(&self) -> bool {
        matches!(self, Delta::One { delta_type: DeltaType::Deleted, .. })
    }

    /// Whether this is a deletion that no event brought.
    fn is_tombstone(&self) -> bool {
        matches!(self, Delta::One { object: DeltaObject::FinalStateUnknown(_), .. })
    }
}

/// What one pop takes out.
#[derive(Clone, Debug, PartialEq)]
pub struct Popped {
    /// The deltas, oldest first; never empty.
    pub deltas: Vec<Delta>,
    /// Whether the queue had not synced before this pop. It is what `OnAdd` is called with.
    pub is_in_initial_list: bool,
}

/// What both queues do (`fifo.go`, `Queue`). `known` is the store to which [`process_deltas`] applies what is popped.
pub trait Queue: Debug {
    /// Queues what a watch brought: `Added`, `Updated` or `Deleted` (`Add`, `Update`, `Delete`).
    fn event(&mut self, delta_type: DeltaType, object: &Arc<Object>, known: &Store);
    /// Queues a complete list.
    fn replace(&mut self, objects: Vec<Arc<Object>>, resource_version: &ResourceVersion, known: &Store);
    /// Queues the known objects once more.
    fn resync(&mut self, known: &Store);
    /// Queues a bookmark, where the queue hands bookmarks on. A bookmark is no sign of having synced.
    fn bookmark(&mut self, _resource_version: &ResourceVersion) {}
    /// Takes out what waits at the head; `None` if nothing waits. client-go blocks there.
    fn pop(&mut self) -> Option<Popped>;
    /// Returns whether everything of the first list was popped, or something else came before any list.
    fn has_synced(&self) -> bool;
    /// Returns how many pops there are for what waits.
    fn len(&self) -> usize;
    /// Returns whether nothing waits.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// What waits, from the head on: for each pop its deltas, oldest first.
    fn slots(&self) -> Box<dyn Iterator<Item = &[Delta]> + '_>;
}

/// How much of the first list has not been popped.
#[derive(Clone, Copy, Debug, Default)]
struct InitialSync {
    populated: bool,
    left: usize,
}

impl InitialSync {
    /// An event came.
    fn event(&mut self) {
        self.populated = true;
    }

    /// A list came, after which `count` pops have to come if it is the first one.
    fn replaced(&mut self, count: usize) {
        if !std::mem::replace(&mut self.populated, true) {
            self.left = count;
        }
    }

    fn popped(&mut self, count: usize) {
        self.left = self.left.saturating_sub(count);
    }

    fn has_synced(&self) -> bool {
        self.populated && self.left == 0
    }
}

/// The last states of the objects that a complete list shows to be gone: first of those that wait, in the order in which
/// their keys first came, except for those whose deletion waits last; then of those that are only known
/// (`reconcileReplacement`).
fn gone<'a>(
    waiting: impl Iterator<Item = &'a Delta>,
    objects: &[Arc<Object>],
    known: &'a Store,
) -> Vec<&'a Arc<Object>> {
    let listed: HashSet<&ObjectKey, FxBuildHasher> = objects.iter().map(|object| &object.key).collect();
    let mut places: HashMap<&ObjectKey, usize, FxBuildHasher> = HashMap::default();
    let mut newest: Vec<&Delta> = Vec::new();
    for delta in waiting {
        let Some(object) = delta.object() else { continue };
        let at = *places.entry(&object.key).or_insert(newest.len());
        match newest.get_mut(at) {
            Some(older) => *older = delta,
            None => newest.push(delta),
        }
    }
    let queued = newest.iter().filter(|delta| !delta.is_deleted()).filter_map(|delta| delta.object());
    let mut gone: Vec<&Arc<Object>> = queued.filter(|object| !listed.contains(&object.key)).collect();
    let absent = |object: &&Arc<Object>| !listed.contains(&object.key) && !places.contains_key(&object.key);
    gone.extend(in_order(known).into_iter().filter(absent));
    gone
}

/// The objects of a store, sorted by key.
fn in_order(store: &Store) -> Vec<&Arc<Object>> {
    let mut objects: Vec<&Arc<Object>> = store.iter().collect();
    sort::sort_by(&mut objects, |a, b| a.key.cmp(&b.key));
    objects
}

#[cfg(test)]
mod tests;
