//! client-go's DeltaFIFO: the deltas of one object together, in the order in which the objects first changed.

use std::collections::VecDeque;
use std::sync::Arc;

use hashbrown::{HashMap, HashSet};
use rustc_hash::FxBuildHasher;

use super::{Delta, InitialSync, Popped, Queue, in_order};
use crate::api::object::{Object, ObjectKey, ResourceVersion};
use crate::cache::delta::DeltaType;
use crate::cache::store::Store;

/// The queue (`delta_fifo.go`), as informers have it: with known objects, and with `EmitDeltaTypeReplaced`. What informers
/// used before 1.33. Nothing is merged but two deletions of one object that follow each other.
#[derive(Clone, Debug, Default)]
pub struct DeltaFifo {
    /// What waits for each key; never empty.
    items: HashMap<ObjectKey, Vec<Delta>, FxBuildHasher>,
    /// The keys in the order in which they began to wait.
    queue: VecDeque<ObjectKey>,
    initial: InitialSync,
}

impl DeltaFifo {
    fn push(&mut self, key: &ObjectKey, delta: Delta) {
        let Some(deltas) = self.items.get_mut(key) else {
            self.queue.push_back(key.clone());
            self.items.insert(key.clone(), vec![delta]);
            return;
        };
        match deltas.last_mut().filter(|newest| newest.is_deleted() && delta.is_deleted()) {
            // Of two deletions the older stays, unless it is a tombstone: then the newer may know more.
            Some(newest) if newest.is_tombstone() => *newest = delta,
            Some(_) => {}
            None => deltas.push(delta),
        }
    }
}

impl Queue for DeltaFifo {
    /// The deletion of a key that is neither queued nor known is dropped, and counts as an arrival all the same.
    fn event(&mut self, delta_type: DeltaType, object: &Arc<Object>, known: &Store) {
        self.initial.event();
        let key = &object.key;
        if delta_type == DeltaType::Deleted && !self.items.contains_key(key) && known.get(key).is_none() {
            return;
        }
        self.push(key, Delta::new(delta_type, object));
    }

    /// The items come before the tombstones. Every key that is not in the list gets a tombstone, also one whose deletion
    /// waits already: then the two are merged.
    fn replace(&mut self, objects: Vec<Arc<Object>>, _resource_version: &ResourceVersion, known: &Store) {
        let listed: HashSet<&ObjectKey, FxBuildHasher> = objects.iter().map(|object| &object.key).collect();
        objects.iter().for_each(|object| self.push(&object.key, Delta::new(DeltaType::Replaced, object)));
        let queued = self.items.iter().filter(|(key, _)| !listed.contains(key));
        let queued = queued.filter_map(|(_, deltas)| deltas.last().and_then(Delta::object));
        let mut gone: Vec<Arc<Object>> = queued.cloned().collect();
        let absent = |object: &&Arc<Object>| !listed.contains(&object.key) && !self.items.contains_key(&object.key);
        gone.extend(in_order(known).into_iter().filter(absent).cloned());
        gone.iter().for_each(|object| self.push(&object.key, Delta::tombstone(object)));
        self.initial.replaced(listed.len() + gone.len());
    }

    /// An object with something queued is left out.
    fn resync(&mut self, known: &Store) {
        for object in in_order(known) {
            if !self.items.contains_key(&object.key) {
                self.push(&object.key, Delta::new(DeltaType::Sync, object));
            }
        }
    }

    /// Takes all that waits for the key at the head.
    fn pop(&mut self) -> Option<Popped> {
        let is_in_initial_list = !self.has_synced();
        let key = self.queue.pop_front()?;
        self.initial.popped(1);
        Some(Popped { deltas: self.items.remove(&key)?, is_in_initial_list })
    }

    fn has_synced(&self) -> bool {
        self.initial.has_synced()
    }

    fn len(&self) -> usize {
        self.queue.len()
    }

    fn slots(&self) -> Box<dyn Iterator<Item = &[Delta]> + '_> {
        Box::new(self.queue.iter().filter_map(|key| self.items.get(key)).map(Vec::as_slice))
    }
}
