//! The store: the newest known version of every object, found by key and by index.

use std::hash::BuildHasher;
use std::sync::Arc;

use hashbrown::hash_table::Entry;
use hashbrown::{Equivalent, HashTable};
use rustc_hash::FxBuildHasher;

use crate::api::object::{KeyRef, Object, ObjectKey};
use crate::cache::delta::Delta;
use crate::cache::index::{Index, IndexExists, IndexFunc};
use crate::cache::journal::Journal;
use crate::cache::keyed_slab::{half, spread};

/// A change that a delta made to the store.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// The object was not in the store.
    Added {
        /// The object.
        new: Arc<Object>,
        /// True if a complete list brought it: then the object may be old, and only new to the store.
        listed: bool,
        /// How many deltas this stands for.
        folded: u32,
    },
    /// The object was in the store, in another version.
    Updated {
        /// The version before.
        old: Arc<Object>,
        /// The version now.
        new: Arc<Object>,
        /// How many deltas this stands for.
        folded: u32,
    },
    /// The object was in the store in this very version: nothing changed.
    Synced {
        /// The object.
        new: Arc<Object>,
        /// How many deltas this stands for.
        folded: u32,
    },
    /// The object is gone.
    Deleted {
        /// The last state that the server sent, or the last known.
        last: Arc<Object>,
        /// How many deltas this stands for.
        folded: u32,
        /// True if no event brought the deletion, so that `last` may be older than the object's last state
        /// (`DeletedFinalStateUnknown`).
        final_state_unknown: bool,
    },
}

impl Change {
    /// The object as it is now, or as it was when it was deleted.
    pub fn object(&self) -> &Arc<Object> {
        match self {
            Change::Added { new, .. } | Change::Updated { new, .. } | Change::Synced { new, .. } => new,
            Change::Deleted { last, .. } => last,
        }
    }
}

/// Objects, each with the [`half`] of the hash of its key.
pub(super) type Hashed<'a> = dyn Iterator<Item = (u32, &'a Arc<Object>)> + 'a;

/// Objects by key, and by whatever indexes were added: client-go's `Store` and `Indexer` (`store.go`, `index.go`,
/// `thread_safe_store.go`).
#[derive(Clone, Debug, Default)]
pub struct Store {
    /// Each object with the [`half`] of the hash of its key: when the table grows, or tidies up after deletions, it
    /// need not read the objects.
    objects: HashTable<(u32, Arc<Object>)>,
    indexes: Vec<Index>,
    /// What changed since a comparison began, while one is under way.
    journal: Option<Journal>,
}

impl Store {
    /// Applies one delta, and returns what that changed. There are two changes where another object (another uid) took
    /// over the name, and the deletion of the first was never seen; there is none where an unknown object was deleted.
    pub fn apply(&mut self, delta: Delta) -> (Option<Change>, Option<Change>) {
        let (folded, listed) = (delta.folded, delta.listed);
        if !delta.is_present() {
            let unknown = delta.is_tombstone();
            let last = delta.object.into_object();
            return match self.remove(&last.key) {
                Some(_) => (Some(Change::Deleted { last, folded, final_state_unknown: unknown }), None),
                None => (None, None),
            };
        }
        let object = delta.object.into_object();
        match self.insert(object.clone()) {
            None => (Some(Change::Added { new: object, listed, folded }), None),
            Some(old) if old.uid != object.uid => {
                let gone = Change::Deleted { last: old, folded: 1, final_state_unknown: true };
                (Some(gone), Some(Change::Added { new: object, listed, folded }))
            }
            // Resources that a server computes and does not store have no versions: their values are compared instead.
            Some(old)
                if old.resource_version == object.resource_version
                    && old.flaw == object.flaw
                    && (!object.resource_version.is_unset() || old == object) =>
            {
                (Some(Change::Synced { new: object, folded }), None)
            }
            Some(old) => (Some(Change::Updated { old, new: object, folded }), None),
        }
    }

    /// Puts an object in, and returns the one that had its key.
    pub(super) fn insert(&mut self, object: Arc<Object>) -> Option<Arc<Object>> {
        let hash = hash(&object.key);
        match self.objects.entry(spread(hash), |(_, known)| known.key == object.key, |&(hash, _)| spread(hash)) {
            Entry::Occupied(mut entry) => {
                let old = std::mem::replace(&mut entry.get_mut().1, object);
                let (_, new) = entry.get();
                self.indexes.iter_mut().for_each(|index| index.update(Some(&old), Some(new)));
                self.journal.iter_mut().for_each(|journal| journal.changed(&new.key, Some(&old)));
                Some(old)
            }
            Entry::Vacant(entry) => {
                let entry = entry.insert((hash, object));
                let (_, new) = entry.get();
                self.indexes.iter_mut().for_each(|index| index.update(None, Some(new)));
                self.journal.iter_mut().for_each(|journal| journal.changed(&new.key, None));
                None
            }
        }
    }

    /// Takes the object of a key out.
    pub(super) fn remove(&mut self, key: &ObjectKey) -> Option<Arc<Object>> {
        let entry = self.objects.find_entry(spread(hash(key)), |(_, known)| known.key == *key).ok()?;
        let ((_, old), _) = entry.remove();
        self.indexes.iter_mut().for_each(|index| index.update(Some(&old), None));
        self.journal.iter_mut().for_each(|journal| journal.changed(key, Some(&old)));
        Some(old)
    }

    /// Adds an index, and files in it the objects that are in the store already (`AddIndexers`).
    ///
    /// # Errors
    ///
    /// When there is an index of that name.
    pub fn add_index(&mut self, name: &str, of: IndexFunc) -> Result<(), IndexExists> {
        if self.index(name).is_some() {
            return Err(IndexExists(name.to_owned()));
        }
        let mut index = Index::new(name, of);
        self.objects.iter().for_each(|(_, object)| index.update(None, Some(object)));
        self.indexes.push(index);
        Ok(())
    }

    /// The index of that name.
    pub fn index(&self, name: &str) -> Option<&Index> {
        self.indexes.iter().find(|index| index.name() == name)
    }

    /// The objects that an index files under a value, in any order (`ByIndex`); none if there is no such index.
    pub fn by_index(&self, name: &str, value: &str) -> impl Iterator<Item = &Arc<Object>> {
        let keys = self.index(name).into_iter().flat_map(move |index| index.keys(value));
        keys.filter_map(|key| self.get(key))
    }

    /// A snapshot of all objects, sorted by key (`List`).
    pub fn list(&self) -> Vec<Arc<Object>> {
        let mut list: Vec<Arc<Object>> = self.iter().cloned().collect();
        list.sort_unstable_by(|a, b| a.key.cmp(&b.key));
        list
    }

    /// Begins to keep a journal of what changes, until [`Store::end_journal`]. A journal that was begun before is lost.
    pub fn begin_journal(&mut self) {
        self.journal = Some(Journal::default());
    }

    /// Ends the journal and returns it; `None` where none was begun.
    pub fn end_journal(&mut self) -> Option<Journal> {
        self.journal.take()
    }

    /// The journal that is being kept, if any.
    pub fn journal(&self) -> Option<&Journal> {
        self.journal.as_ref()
    }

    /// The object of a key whose parts are borrowed.
    pub fn find(&self, key: KeyRef<'_>) -> Option<&Arc<Object>> {
        let hash = spread(half(FxBuildHasher.hash_one(key)));
        self.objects.find(hash, |(_, known)| key.equivalent(&known.key)).map(|(_, object)| object)
    }

    /// The object of a key.
    pub fn get(&self, key: &ObjectKey) -> Option<&Arc<Object>> {
        self.objects.find(spread(hash(key)), |(_, known)| known.key == *key).map(|(_, object)| object)
    }

    /// Visits every object whose key is that of none of `present`, in any order, with the [`half`] of the hash of its
    /// key.
    ///
    /// It looks each key up once, marks its place in the table, and then walks over the places without a mark. With
    /// 150,000 objects, to hash the keys again, or to search among sorted ones, would read distant memory for each. An
    /// object that a list brought as it was known is the known one itself, and is not read.
    pub(super) fn each_absent<'a>(&self, present: &mut Hashed<'a>, visit: &mut dyn FnMut(u32, &Arc<Object>)) {
        if self.is_empty() {
            return;
        }
        let mut seen = vec![false; self.objects.num_buckets()];
        for (hash, object) in present {
            let is_key = |&(other, ref known): &(u32, Arc<Object>)| {
                other == hash && (Arc::ptr_eq(known, object) || known.key == object.key)
            };
            let place = self.objects.find_bucket_index(spread(hash), is_key);
            if let Some(seen) = place.and_then(|at| seen.get_mut(at)) {
                *seen = true;
            }
        }
        let absent = self.objects.iter_buckets().filter(|&at| !seen[at]).filter_map(|at| self.objects.get_bucket(at));
        absent.for_each(|(hash, object)| visit(*hash, object));
    }

    /// Every object, in any order.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Object>> {
        self.objects.iter().map(|(_, object)| object)
    }

    /// Returns how many objects there are.
    pub fn len(&self) -> usize {
        self.objects.len()
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.objects.is_empty()
    }
}

fn hash(key: &ObjectKey) -> u32 {
    half(FxBuildHasher.hash_one(key))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache::delta::tests::{delta, object};

    fn store(known: &[&str]) -> Store {
        let mut store = Store::default();
        known.iter().for_each(|text| drop(store.apply(delta(&format!("+{text}")))));
        store
    }

    /// What a delta changes in a store.
    fn check(known: &[&str], text: &str, expected: &[&str]) {
        let (first, second) = store(known).apply(delta(text));
        let changes: Vec<String> = [first, second]
            .into_iter()
            .flatten()
            .map(|change| match change {
                Change::Added { new, .. } => format!("added {}@{}", new.uid, new.resource_version),
                Change::Updated { old, new, .. } => {
                    format!("updated {}>{}", old.resource_version, new.resource_version)
                }
                Change::Synced { new, .. } => format!("synced {}", new.resource_version),
                Change::Deleted { last, .. } => format!("deleted {}@{}", last.uid, last.resource_version),
            })
            .collect();
        assert_eq!(changes, expected, "{known:?} {text}");
    }

    #[test]
    fn known_before_and_after_name_the_event() {
        check(&[], "+a@1", &["added a#1@1"]);
        check(&[], "~a@1", &["added a#1@1"]);
        check(&["a@1"], "~a@2", &["updated 1>2"]);
        check(&["a@1"], "+a@2", &["updated 1>2"]);
        check(&["a@1"], ".a@1", &["synced 1"]);
        check(&["a@1"], "=a#2@2", &["deleted a#1@1", "added a#2@2"]);
        check(&["a@1"], "-a@2", &["deleted a#1@2"]);
        check(&["a@1"], "!a@1", &["deleted a#1@1"]);
        check(&[], "-a@2", &[]);
    }

    #[test]
    fn objects_without_versions_are_compared() {
        check(&["a@"], "~a@", &["synced "]);
        let mut store = store(&["a@"]);
        let flawed = Object { flaw: Some("other".into()), ..Object::clone(&object("a@")) };
        let (change, _) = store.apply(Delta::new(crate::cache::delta::DeltaType::Updated, flawed.into()));
        assert!(matches!(change, Some(Change::Updated { .. })), "{change:?}");
    }

    /// 72. TestMultiIndexKeys, TestThreadSafeStoreDeleteRemovesEmptySetsFromIndex.
    #[test]
    fn indexes_follow_mutation_and_empty_sets_vanish() {
        // Each object is filed under the letters of its version.
        let letters: IndexFunc = Arc::new(|object, file| {
            object.resource_version.as_str().split('+').filter(|value| !value.is_empty()).for_each(file);
        });
        let mut store = store(&["a@x+y", "b@y"]);
        // An index that is added late knows what is there, and each name is taken once.
        store.add_index("letters", letters.clone()).unwrap();
        assert!(store.add_index("letters", letters).is_err());
        let filed = |store: &Store| {
            let index = store.index("letters").unwrap();
            let mut values: Vec<String> = index
                .values()
                .map(|(value, count)| {
                    let mut names: Vec<&str> =
                        store.by_index("letters", value).map(|object| &*object.key.name).collect();
                    names.sort_unstable();
                    assert_eq!(names.len(), count);
                    format!("{value}:{}", names.join(","))
                })
                .collect();
            values.sort();
            values.join(" ")
        };
        for (change, expected) in [
            ("", "x:a y:a,b"),
            ("~a@y+z", "y:a,b z:a"),
            ("~a@y+z", "y:a,b z:a"),
            ("=a#2@w", "w:a y:b"),
            ("~b@", "w:a"),
            ("-b@9", "w:a"),
            ("!a#2@w", ""),
            ("-a@9", ""),
        ] {
            if !change.is_empty() {
                store.apply(delta(change));
            }
            assert_eq!(filed(&store), expected, "{change}");
        }
        assert_eq!((store.by_index("letters", "x").count(), store.by_index("other", "x").count()), (0, 0));
    }

    #[test]
    fn those_that_are_not_present_are_absent() {
        let store = store(&["b@1", "a@1", "c@1"]);
        for (present, expected) in [("", "a,b,c"), ("b,x,b", "a,c"), ("c,b,a", "")] {
            // One is the known object itself, and another is not.
            let known = store.get(&object("b@1").key).cloned();
            let named = present.split(',').map(|name| object(&format!("{name}@1")));
            let objects: Vec<Arc<Object>> =
                named.map(|object| known.clone().filter(|known| known.key == object.key).unwrap_or(object)).collect();
            let mut absent = Vec::new();
            store.each_absent(&mut objects.iter().map(|object| (hash(&object.key), object)), &mut |_, object| {
                absent.push(object.key.name.to_string());
            });
            absent.sort();
            assert_eq!(absent.join(","), expected, "{present}");
        }
    }

    #[test]
    fn a_list_is_a_snapshot() {
        let mut store = store(&["b@1", "a@1"]);
        let list = store.list();
        store.apply(delta("-a@2"));
        let names: Vec<&str> = list.iter().map(|object| &*object.key.name).collect();
        assert_eq!(names, ["a", "b"]);
    }
}
