//! The objects of a list that has not ended.

use std::sync::Arc;

use crate::api::object::{Object, ObjectKey};
use crate::cache::keyed_slab::{Keyed, KeyedSlab, hash_of};
use crate::cache::reflector::{Reflector, State};

/// Objects by key, in the order in which they came. Servers list in the order of names, so that little is left to sort.
#[derive(Debug, Default)]
pub(super) struct Objects(KeyedSlab<Arc<Object>>);

impl Keyed for Arc<Object> {
    fn key(&self) -> &ObjectKey {
        &self.key
    }
}

impl Reflector {
    /// The objects that the list under way has brought so far, in the order in which they came.
    pub fn listed(&self) -> impl Iterator<Item = &Arc<Object>> {
        let items = match &self.state {
            State::Stream { items, .. } | State::List { items, .. } => Some(items),
            _ => None,
        };
        items.into_iter().flat_map(Objects::iter)
    }
}

impl Objects {
    /// The object of a key.
    pub(super) fn get(&self, key: &ObjectKey) -> Option<&Arc<Object>> {
        self.0.get(key)
    }

    /// Puts an object in, and returns the one that it takes the place of.
    pub(super) fn insert(&mut self, object: Arc<Object>) -> Option<Arc<Object>> {
        self.0.insert(object)
    }

    /// Takes an object out.
    pub(super) fn remove(&mut self, key: &ObjectKey) -> Option<Arc<Object>> {
        self.0.find(hash_of(key), key).map(|at| self.0.remove(at))
    }

    /// Every object, in the order in which they came.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Arc<Object>> {
        self.0.iter()
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// All objects, sorted by key.
    pub(super) fn into_sorted(self) -> Vec<Arc<Object>> {
        let mut objects: Vec<Arc<Object>> = self.0.into_values().collect();
        // A stable sort takes runs that are in order already as they are; an unstable one does not.
        objects.sort_by(|a, b| a.key.cmp(&b.key));
        objects
    }
}
