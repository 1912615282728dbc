//! Values in stable places, found by their object's key. A key stands in its value alone: the table beside the values holds
//! their places, and asks each value for its key.

use std::hash::BuildHasher;
use std::ops::{Index, IndexMut};

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;
use slab::Slab;

use crate::api::object::ObjectKey;

/// A value that belongs to one object.
pub(super) trait Keyed {
    /// The key of the object.
    fn key(&self) -> &ObjectKey;
    /// The [`hash_of`] the key. A value that keeps it spares the table the reading of keys when it grows.
    fn hash(&self) -> u64 {
        hash_of(self.key())
    }
}

/// The hash of a key, by which a [`KeyedSlab`] finds its value.
pub(super) fn hash_of(key: &ObjectKey) -> u64 {
    FxBuildHasher.hash_one(key)
}

/// The 32 bits of a hash that are kept beside each key. In wasm, an entry of a pointer and 32 bits takes eight bytes, and one
/// with the whole hash takes sixteen. Both halves of the hash are folded into the result, because in wasm, where words have
/// 32 bits, the upper half is always 0.
pub(super) fn half(hash: u64) -> u32 {
    (hash ^ hash >> 32) as u32
}

/// Makes 64 bits of a [`half`]: a table takes an entry's place from the lowest bits, and compares the highest seven.
pub(super) fn spread(hash: u32) -> u64 {
    u64::from(hash) << 32 | u64::from(hash)
}

/// At most one value for each key. A place stays that of its value until the value is removed.
#[derive(Clone, Debug)]
pub(super) struct KeyedSlab<T> {
    values: Slab<T>,
    places: HashTable<u32>,
}

impl<T> Default for KeyedSlab<T> {
    fn default() -> Self {
        KeyedSlab { values: Slab::new(), places: HashTable::new() }
    }
}

impl<T: Keyed> KeyedSlab<T> {
    /// The place of a key, whose hash is `hash`.
    pub(super) fn find(&self, hash: u64, key: &ObjectKey) -> Option<usize> {
        self.places.find(hash, |&at| self.values[at as usize].key() == key).map(|&at| at as usize)
    }

    /// The value of a key.
    pub(super) fn get(&self, key: &ObjectKey) -> Option<&T> {
        self.find(hash_of(key), key).map(|at| &self.values[at])
    }

    /// Puts in a value whose key has none yet, and returns its place.
    pub(super) fn insert_new(&mut self, value: T) -> usize {
        let hash = value.hash();
        let at = self.values.insert(value);
        self.places.insert_unique(hash, at as u32, |&other| self.values[other as usize].hash());
        at
    }

    /// Takes the value at a place out.
    ///
    /// # Panics
    ///
    /// When there is none.
    pub(super) fn remove(&mut self, at: usize) -> T {
        let value = self.values.remove(at);
        if let Ok(entry) = self.places.find_entry(value.hash(), |&other| other as usize == at) {
            entry.remove();
        }
        value
    }

    /// Every value, in the order of the places: that in which they were put in, unless one was removed.
    pub(super) fn iter(&self) -> impl Iterator<Item = &T> {
        self.values.iter().map(|(_, value)| value)
    }

    /// Makes room for so many more values, and for no more than that.
    pub(super) fn reserve_exact(&mut self, more: usize) {
        self.values.reserve_exact(more);
    }

    /// For how many values there is room.
    pub(super) fn capacity(&self) -> usize {
        self.values.capacity()
    }

    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.values.is_empty()
    }
}

impl<T> Index<usize> for KeyedSlab<T> {
    type Output = T;

    fn index(&self, at: usize) -> &T {
        &self.values[at]
    }
}

impl<T> IndexMut<usize> for KeyedSlab<T> {
    fn index_mut(&mut self, at: usize) -> &mut T {
        &mut self.values[at]
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::api::object::Object;
    use crate::cache::delta::tests::object;

    impl Keyed for Arc<Object> {
        fn key(&self) -> &ObjectKey {
            &self.key
        }
    }

    #[test]
    fn a_key_has_one_value_and_keeps_its_place() {
        let mut slab: KeyedSlab<Arc<Object>> = KeyedSlab::default();
        for at in 0..100 {
            assert_eq!(slab.insert_new(object(&format!("n{at}@1"))), at);
        }
        let find = |slab: &KeyedSlab<_>, name: &str| {
            let key = &object(name).key;
            slab.find(hash_of(key), key)
        };
        slab[7] = object("n7@2");
        assert_eq!((find(&slab, "n7@"), slab.iter().count()), (Some(7), 100));
        assert_eq!(slab.remove(7), object("n7@2"));
        assert_eq!((find(&slab, "n7@"), slab.get(&object("n8@").key)), (None, Some(&object("n8@1"))));
        // The place is free for another key.
        assert_eq!(slab.insert_new(object("new@1")), 7);
        assert_eq!((find(&slab, "new@"), slab.iter().count()), (Some(7), 100));
        assert!(slab.iter().eq(&(slab.iter().cloned().collect::<Vec<_>>())) && !slab.is_empty());
    }
}
