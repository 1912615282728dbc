//! The objects of a list that has not ended, in the order in which they came.

use std::hash::BuildHasher;
use std::sync::Arc;

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use rustc_hash::FxBuildHasher;

use crate::api::object::{Object, ObjectKey};

/// Objects by key. Servers list in the order of names, which so needs not be made again.
#[derive(Debug, Default)]
pub(super) struct Objects {
    /// What was removed again leaves a hole.
    list: Vec<Option<Arc<Object>>>,
    /// The objects' places in the list.
    places: HashTable<u32>,
}

impl Objects {
    /// The object of a key.
    pub(super) fn get(&self, key: &ObjectKey) -> Option<&Arc<Object>> {
        let place = self.places.find(hash(key), |&place| is(&self.list, place, key))?;
        self.list.get(*place as usize)?.as_ref()
    }

    /// Puts an object in, and returns the one that it takes the place of.
    pub(super) fn insert(&mut self, object: Arc<Object>) -> Option<Arc<Object>> {
        let list = &mut self.list;
        let rehash = |&place: &u32| list.get(place as usize).and_then(Option::as_ref).map_or(0, |one| hash(&one.key));
        match self.places.entry(hash(&object.key), |&place| is(list, place, &object.key), rehash) {
            Entry::Occupied(entry) => list.get_mut(*entry.get() as usize)?.replace(object),
            Entry::Vacant(entry) => {
                entry.insert(list.len() as u32);
                list.push(Some(object));
                None
            }
        }
    }

    /// Takes an object out.
    pub(super) fn remove(&mut self, key: &ObjectKey) -> Option<Arc<Object>> {
        let list = &self.list;
        let entry = self.places.find_entry(hash(key), |&place| is(list, place, key)).ok()?;
        let (place, _) = entry.remove();
        self.list.get_mut(place as usize)?.take()
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    /// All, by key.
    pub(super) fn into_sorted(self) -> Vec<Arc<Object>> {
        drop(self.places);
        let mut objects: Vec<Arc<Object>> = self.list.into_iter().flatten().collect();
        // Unlike an unstable sort this one takes runs that are in order as they are.
        objects.sort_by(|a, b| a.key.cmp(&b.key));
        objects
    }
}

fn hash(key: &ObjectKey) -> u64 {
    FxBuildHasher.hash_one(key)
}

fn is(list: &[Option<Arc<Object>>], place: u32, key: &ObjectKey) -> bool {
    list.get(place as usize).and_then(Option::as_ref).is_some_and(|one| one.key == *key)
}
