//! The store: the newest known version of every object, and an index of namespaces.

use std::sync::Arc;

use hashbrown::{HashMap, HashSet};
use rustc_hash::FxBuildHasher;

use crate::api::object::{Object, ObjectKey};
use crate::cache::delta::Delta;
use crate::cache::delta_fifo::KnownObjects;

/// What a delta did to the store: the event of a row.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// It was not there.
    Added {
        /// The object.
        new: Arc<Object>,
        /// Whether a complete list brought it: it may be old, and only new to us.
        listed: bool,
        /// How many deltas this stands for.
        folded: u32,
    },
    /// It was there in another version.
    Updated {
        /// The version before.
        old: Arc<Object>,
        /// The version now.
        new: Arc<Object>,
        /// How many deltas this stands for.
        folded: u32,
    },
    /// It was there in this very version: nothing changed.
    Synced {
        /// The object.
        new: Arc<Object>,
    },
    /// It is gone.
    Deleted {
        /// The last state that the server sent, or the last known.
        last: Arc<Object>,
        /// How many deltas this stands for.
        folded: u32,
    },
}

/// Objects by key.
#[derive(Debug, Default)]
pub struct Store {
    objects: HashMap<ObjectKey, Arc<Object>, FxBuildHasher>,
    /// Names by namespace; a namespace without objects has no entry.
    namespaces: HashMap<Arc<str>, HashSet<ObjectKey, FxBuildHasher>, FxBuildHasher>,
}

impl Store {
    /// Applies one delta and says what that changed; two changes where another life of the same name took over
    /// (the first one's deletion was never seen), none where an unknown object was deleted.
    pub fn apply(&mut self, delta: Delta) -> (Option<Change>, Option<Change>) {
        let object = delta.object.object().clone();
        let (folded, listed) = (delta.folded, delta.listed);
        if !delta.is_present() {
            return match self.remove(&object.key) {
                Some(_) => (Some(Change::Deleted { last: object, folded }), None),
                None => (None, None),
            };
        }
        match self.insert(object.clone()) {
            None => (Some(Change::Added { new: object, listed, folded }), None),
            Some(old) if old.uid != object.uid => {
                (Some(Change::Deleted { last: old, folded: 1 }), Some(Change::Added { new: object, listed, folded }))
            }
            // Resources that are computed and not stored have no versions: only their values tell.
            Some(old)
                if old.resource_version == object.resource_version
                    && (!object.resource_version.is_unset() || old == object) =>
            {
                (Some(Change::Synced { new: object }), None)
            }
            Some(old) => (Some(Change::Updated { old, new: object, folded }), None),
        }
    }

    fn insert(&mut self, object: Arc<Object>) -> Option<Arc<Object>> {
        let old = self.objects.insert(object.key.clone(), object.clone());
        if old.is_none() {
            self.namespaces.entry(object.key.namespace.clone()).or_default().insert(object.key.clone());
        }
        old
    }

    fn remove(&mut self, key: &ObjectKey) -> Option<Arc<Object>> {
        let old = self.objects.remove(key)?;
        if let Some(keys) = self.namespaces.get_mut(&key.namespace) {
            keys.remove(key);
            if keys.is_empty() {
                self.namespaces.remove(&key.namespace);
            }
        }
        Some(old)
    }

    /// The object of a key.
    pub fn get(&self, key: &ObjectKey) -> Option<&Arc<Object>> {
        self.objects.get(key)
    }

    /// Every object, in any order.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Object>> {
        self.objects.values()
    }

    /// The keys in one namespace, in any order.
    pub fn in_namespace(&self, namespace: &str) -> impl Iterator<Item = &ObjectKey> {
        self.namespaces.get(namespace).into_iter().flatten()
    }

    /// The namespaces that hold anything, and how much, in any order.
    pub fn namespaces(&self) -> impl Iterator<Item = (&Arc<str>, usize)> {
        self.namespaces.iter().map(|(namespace, keys)| (namespace, keys.len()))
    }

    /// How many objects there are.
    pub fn len(&self) -> usize {
        self.objects.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.objects.is_empty()
    }
}

impl KnownObjects for Store {
    fn known(&self, key: &ObjectKey) -> Option<&Arc<Object>> {
        self.get(key)
    }

    fn each_known(&self, visit: &mut dyn FnMut(&Arc<Object>)) {
        self.iter().for_each(visit);
    }
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
                Change::Synced { new } => format!("synced {}", new.resource_version),
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

    #[test]
    fn namespaces_follow_and_empty_ones_vanish() {
        let mut store = store(&["a@1", "b@1"]);
        assert_eq!((store.in_namespace("n").count(), store.in_namespace("other").count()), (2, 0));
        store.apply(delta("=a#2@2"));
        assert_eq!(store.in_namespace("n").count(), 2);
        store.apply(delta("-a#2@3"));
        store.apply(delta("!b@1"));
        assert_eq!((store.namespaces().count(), store.len()), (0, 0));
    }
}
