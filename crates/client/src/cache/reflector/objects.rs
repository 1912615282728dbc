//! The objects of a list that has not ended.

use std::ops::Range;
use std::sync::Arc;

use hashbrown::HashTable;

use crate::api::object::{Object, ObjectKey};
use crate::api::sort::sort_by;
use crate::cache::complete_list::CompleteList;
use crate::cache::keyed_slab::{half, hash_of, spread};

/// Objects by key, in the order in which they came. What a complete list needs of each object is noted while the object
/// is at hand, so that the end of a list of 150,000 costs little: the hash of its key, and whether it comes after the
/// one before.
///
/// Servers list in the order of `namespace/name`: the names of a namespace are in order, but `a-b/x` comes before
/// `a/x`, so that the namespaces need not be in the order of keys. What is left to sort are the namespaces.
#[derive(Clone, Debug, Default)]
pub(super) struct Objects {
    entries: Vec<Entry>,
    /// The places of the entries, found by hash.
    places: HashTable<u32>,
    /// Where each run of entries begins that have one namespace, and names in ascending order.
    runs: Vec<usize>,
    removed: usize,
}

#[derive(Clone, Debug)]
struct Entry {
    /// The [`half`] of the hash of the key.
    hash: u32,
    /// `None` for an object that was removed.
    object: Option<Arc<Object>>,
}

impl Entry {
    fn is(&self, hash: u32, key: &ObjectKey) -> bool {
        self.hash == hash && self.object.as_ref().is_some_and(|object| object.key == *key)
    }
}

impl Objects {
    fn find(&self, hash: u32, key: &ObjectKey) -> Option<usize> {
        let is_key = |&at: &u32| self.entries[at as usize].is(hash, key);
        self.places.find(spread(hash), is_key).map(|&at| at as usize)
    }

    /// The object of a key.
    pub(super) fn get(&self, key: &ObjectKey) -> Option<&Arc<Object>> {
        self.entries[self.find(half(hash_of(key)), key)?].object.as_ref()
    }

    /// Puts an object in, and returns the one that it takes the place of.
    pub(super) fn insert(&mut self, object: Arc<Object>) -> Option<Arc<Object>> {
        let hash = half(hash_of(&object.key));
        if let Some(at) = self.find(hash, &object.key) {
            return self.entries[at].object.replace(object);
        }
        let at = self.entries.len();
        let last = self.entries.last().and_then(|last| last.object.as_ref());
        let follows =
            |last: &Arc<Object>| last.key.namespace == object.key.namespace && last.key.name < object.key.name;
        if !last.is_some_and(follows) {
            self.runs.push(at);
        }
        self.entries.push(Entry { hash, object: Some(object) });
        let entries = &self.entries;
        self.places.insert_unique(spread(hash), at as u32, |&other| spread(entries[other as usize].hash));
        None
    }

    /// Takes an object out.
    pub(super) fn remove(&mut self, key: &ObjectKey) -> Option<Arc<Object>> {
        let hash = half(hash_of(key));
        let entries = &mut self.entries;
        let place = self.places.find_entry(spread(hash), |&at| entries[at as usize].is(hash, key)).ok()?;
        let (at, _) = place.remove();
        self.removed += 1;
        entries[at as usize].object.take()
    }

    /// Every object, in the order in which they came.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Arc<Object>> {
        self.entries.iter().filter_map(|entry| entry.object.as_ref())
    }

    /// Returns how many there are.
    pub(super) fn len(&self) -> usize {
        self.entries.len() - self.removed
    }

    /// All objects, sorted by key.
    pub(super) fn into_sorted(mut self) -> CompleteList {
        let mut objects: Vec<(u32, Arc<Object>)> = Vec::with_capacity(self.len());
        for range in self.sorted_runs() {
            let run = self.entries.get_mut(range).unwrap_or_default();
            objects.extend(run.iter_mut().filter_map(|entry| Some((entry.hash, entry.object.take()?))));
        }
        CompleteList::sorted(objects)
    }

    /// The runs in the order of their keys. Where two runs overlap, all entries are sorted, and are one run.
    fn sorted_runs(&mut self) -> Vec<Range<usize>> {
        let ends = self.runs.iter().skip(1).copied().chain([self.entries.len()]);
        let ranges = self.runs.iter().zip(ends).map(|(&from, to)| from..to);
        let key = |entry: &Entry| Some(entry.object.as_ref()?.key.clone());
        // A run of which everything was removed has no keys.
        let mut runs: Vec<(ObjectKey, ObjectKey, Range<usize>)> = ranges
            .filter_map(|range| {
                let entries = self.entries.get(range.clone())?;
                Some((entries.iter().find_map(key)?, entries.iter().rev().find_map(key)?, range))
            })
            .collect();
        sort_by(&mut runs, |(a, ..), (b, ..)| a.cmp(b));
        if runs.is_sorted_by(|(_, last, _), (first, ..)| last < first) {
            return runs.into_iter().map(|(_, _, range)| range).collect();
        }
        // A stable sort takes runs that are in order already as they are; an unstable one does not.
        sort_by(&mut self.entries, |a, b| {
            let (a, b) = (a.object.as_ref(), b.object.as_ref());
            a.map(|object| &object.key).cmp(&b.map(|object| &object.key))
        });
        std::iter::once(0..self.entries.len()).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::api::object::decode_metadata;

    fn object(namespace: &str, name: &str, version: usize) -> Arc<Object> {
        let text = format!(
            r#"{{"metadata":{{"namespace":"{namespace}","name":"{name}","uid":"u","resourceVersion":"{version}"}}}}"#
        );
        Arc::new(decode_metadata(&text).expect("an object"))
    }

    /// Puts objects in that are written as `namespace/name`, or takes those out that begin with `-`. The result must be
    /// what a map makes of the same.
    fn check(words: &[String]) -> usize {
        let (mut objects, mut map) = (Objects::default(), BTreeMap::new());
        for (version, word) in words.iter().enumerate() {
            let (namespace, name) = word.trim_start_matches('-').split_once('/').expect("a key");
            let object = object(namespace, name, version);
            let key = object.key.clone();
            if word.starts_with('-') {
                assert_eq!(objects.remove(&key), map.remove(&key));
            } else {
                assert_eq!(objects.insert(object.clone()), map.insert(key.clone(), object));
            }
            assert_eq!((objects.get(&key), objects.len()), (map.get(&key), map.len()));
        }
        let runs = objects.sorted_runs().len();
        let list = objects.into_sorted();
        assert!(list.is_sorted() && list.hashed().all(|(hash, object)| hash == half(hash_of(&object.key))));
        assert_eq!(list.into_iter().collect::<Vec<_>>(), map.into_values().collect::<Vec<_>>());
        runs
    }

    #[test]
    fn namespaces_in_the_servers_order_are_put_into_the_order_of_keys() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        // The order of a server, in which `-` comes before `/`.
        assert_eq!(check(&words("a-b/x a-b/y a/a a/b a/c b/a")), 3);
        assert_eq!(check(&words("/a /b /c")), 1);
        assert_eq!(check(&[]), 0);
        // Two runs of one namespace, which do not overlap, and two that do.
        assert_eq!(check(&words("b/a b/b a/a b/c")), 3);
        assert_eq!(check(&words("b/a b/c a/a b/b")), 1);
        // What is removed leaves no trace, even if it was all of a run.
        assert_eq!(check(&words("a/a a/b b/a -b/a c/a -a/b c/b b/b")), 3);
    }

    proptest! {
        #[test]
        fn in_any_order_the_objects_are_those_of_a_map(words in prop::collection::vec("-?(a|a-b|b|)/[ab]{1,2}", 0..40)) {
            check(&words);
        }

        #[test]
        fn in_the_servers_order_no_object_is_sorted(words in prop::collection::btree_set("(a|a-b|a[.]b|b|)/[a-d-]{1,3}", 0..60)) {
            let namespaces: std::collections::BTreeSet<_> =
                words.iter().filter_map(|word| word.split_once('/')).map(|(namespace, _)| namespace).collect();
            let count = namespaces.len();
            prop_assert_eq!(check(&words.iter().cloned().collect::<Vec<_>>()), count);
        }
    }
}
