//! A complete list on its way from a reflector to a queue.

use std::sync::Arc;

use crate::api::object::Object;
use crate::api::sort::sort_by;
use crate::cache::keyed_slab::{half, hash_of};

/// The objects of a complete list, each beside the [`half`] of the hash of its key. With 150,000 objects, to hash or to
/// compare their keys would mean to read every object from memory; whoever takes the objects in one by one has them at hand.
#[derive(Clone, Debug, Default)]
pub struct CompleteList {
    items: Vec<(u32, Arc<Object>)>,
    /// Whether each key comes after the one before it.
    sorted: bool,
}

impl CompleteList {
    /// A list of objects whose keys are known to come in ascending order, each once.
    pub(super) fn sorted(items: Vec<(u32, Arc<Object>)>) -> CompleteList {
        CompleteList { items, sorted: true }
    }

    /// Whether the objects are sorted by key, and each key is there once.
    pub fn is_sorted(&self) -> bool {
        self.sorted
    }

    /// Adds objects whose keys the list does not have, and sorts by key.
    pub(super) fn add(&mut self, more: Vec<Arc<Object>>) {
        self.items.extend(more.into_iter().map(hashed));
        sort_by(&mut self.items, |(_, a), (_, b)| a.key.cmp(&b.key));
    }

    /// The objects.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Object>> + Clone {
        self.items.iter().map(|(_, object)| object)
    }

    /// The objects, each with the [`half`] of its key's hash.
    pub(super) fn hashed(&self) -> impl Iterator<Item = (u32, &Arc<Object>)> {
        self.items.iter().map(|(hash, object)| (*hash, object))
    }

    /// [`CompleteList::hashed`], taken out.
    pub(super) fn into_hashed(self) -> Vec<(u32, Arc<Object>)> {
        self.items
    }

    /// How many objects there are.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }
}

impl From<Vec<Arc<Object>>> for CompleteList {
    fn from(objects: Vec<Arc<Object>>) -> CompleteList {
        let sorted = objects.is_sorted_by(|a, b| a.key < b.key);
        CompleteList { items: objects.into_iter().map(hashed).collect(), sorted }
    }
}

impl IntoIterator for CompleteList {
    type Item = Arc<Object>;
    type IntoIter = std::iter::Map<std::vec::IntoIter<(u32, Arc<Object>)>, fn((u32, Arc<Object>)) -> Arc<Object>>;

    fn into_iter(self) -> Self::IntoIter {
        self.items.into_iter().map(|(_, object)| object)
    }
}

/// An object with the [`half`] of the hash of its key.
pub(super) fn hashed(object: Arc<Object>) -> (u32, Arc<Object>) {
    (half(hash_of(&object.key)), object)
}
