//! client-go's RealFIFO: every delta by itself, in the order of arrival, across all objects.

use std::collections::VecDeque;
use std::sync::Arc;

use hashbrown::HashSet;
use rustc_hash::FxBuildHasher;

use super::{Delta, InitialSync, Popped, Queue, gone, in_order};
use crate::api::object::{Object, ObjectKey, ResourceVersion};
use crate::cache::delta::DeltaType;
use crate::cache::store::Store;

/// The most deltas that [`RealFifo::pop_batch`] takes (`defaultBatchSize`).
pub const BATCH: usize = 1000;

/// The queue (`the_real_fifo.go`). Nothing is merged, and no deletion is dropped.
#[derive(Clone, Debug, Default)]
pub struct RealFifo {
    items: VecDeque<Delta>,
    /// `AtomicFIFO`: a list is one delta and a resync is one delta, bookmarks wait among the others, and what a list or a
    /// resync means is found out when it is popped.
    atomic: bool,
    initial: InitialSync,
}

impl RealFifo {
    /// The queue of informers since 1.33, or, if `atomic`, with the feature `AtomicFIFO`, their queue since 1.36.
    pub fn new(atomic: bool) -> RealFifo {
        RealFifo { atomic, ..RealFifo::default() }
    }

    /// How many deltas from the head on are about different objects, and so fit into one batch.
    fn together(&self) -> usize {
        let most = if self.initial.left > 0 { self.initial.left.min(BATCH) } else { BATCH };
        let mut keys: HashSet<&ObjectKey, FxBuildHasher> = HashSet::default();
        let objects = self.items.iter().take(most).map(Delta::object);
        objects.take_while(|object| object.is_some_and(|object| keys.insert(&object.key))).count()
    }

    /// Takes up to [`BATCH`] deltas of different objects, as informers do since 1.35 (`PopBatch`). A list or a resync in one
    /// piece, and a bookmark, come alone. A batch ends where the first list does.
    pub fn pop_batch(&mut self) -> Option<Popped> {
        let is_in_initial_list = !self.has_synced();
        let count = self.together().max(1).min(self.items.len());
        let deltas: Vec<Delta> = self.items.drain(..count).collect();
        self.initial.popped(deltas.len());
        (!deltas.is_empty()).then_some(Popped { deltas, is_in_initial_list })
    }
}

impl Queue for RealFifo {
    fn event(&mut self, delta_type: DeltaType, object: &Arc<Object>, _known: &Store) {
        self.initial.event();
        self.items.push_back(Delta::new(delta_type, object));
    }

    /// The tombstones come before the items. What waited before the first list counts as part of it.
    fn replace(&mut self, objects: Vec<Arc<Object>>, resource_version: &ResourceVersion, known: &Store) {
        if self.atomic {
            self.items.push_back(Delta::ReplacedAll { resource_version: resource_version.clone(), objects });
        } else {
            let tombstones: Vec<Delta> =
                gone(self.items.iter(), &objects, known).into_iter().map(Delta::tombstone).collect();
            self.items.extend(tombstones);
            self.items.extend(objects.iter().map(|object| Delta::new(DeltaType::Replaced, object)));
        }
        self.initial.replaced(self.items.len());
    }

    /// An object with something queued is left out, unless the queue is atomic: then the resync means whatever the store
    /// holds when its turn comes.
    fn resync(&mut self, known: &Store) {
        if self.atomic {
            self.items.push_back(Delta::SyncAll);
            return;
        }
        let queued: HashSet<&ObjectKey, FxBuildHasher> =
            self.items.iter().filter_map(Delta::object).map(|object| &object.key).collect();
        let mut again = in_order(known);
        again.retain(|object| !queued.contains(&object.key));
        drop(queued);
        self.items.extend(again.into_iter().map(|object| Delta::new(DeltaType::Sync, object)));
    }

    fn bookmark(&mut self, resource_version: &ResourceVersion) {
        if self.atomic {
            self.items.push_back(Delta::Bookmark { resource_version: resource_version.clone() });
        }
    }

    /// Takes one delta.
    fn pop(&mut self) -> Option<Popped> {
        let is_in_initial_list = !self.has_synced();
        let delta = self.items.pop_front()?;
        self.initial.popped(1);
        Some(Popped { deltas: vec![delta], is_in_initial_list })
    }

    fn has_synced(&self) -> bool {
        self.initial.has_synced()
    }

    fn len(&self) -> usize {
        self.items.len()
    }

    fn slots(&self) -> Box<dyn Iterator<Item = &[Delta]> + '_> {
        Box::new(self.items.iter().map(std::slice::from_ref))
    }
}
