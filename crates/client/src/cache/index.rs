//! Indexes: which objects have a value in common.

use std::fmt;
use std::sync::Arc;

use hashbrown::{HashMap, HashSet};
use rustc_hash::FxBuildHasher;

use crate::api::object::{Object, ObjectKey};
use crate::api::time::Timestamp;

/// The name under which [`by_namespace`] is usual (client-go's `NamespaceIndex`).
pub const NAMESPACE: &str = "namespace";

/// Says under which values an object is filed: none, one or several.
pub type IndexFunc = Arc<dyn Fn(&Object, &mut dyn FnMut(&str)) + Send + Sync>;

/// Files objects under their namespace (`MetaNamespaceIndexFunc`).
pub fn by_namespace() -> IndexFunc {
    Arc::new(|object, file| file(&object.key.namespace))
}

/// Files objects under the uid of each owner. The informer must keep owners: [`crate::api::extra::Keep`].
pub fn by_owner() -> IndexFunc {
    Arc::new(|object, file| object.owners().iter().for_each(|owner| file(&owner.uid.text())))
}

/// Files objects under the value of one label. The informer must keep labels: [`crate::api::extra::Keep`].
pub fn by_label(label: &str) -> IndexFunc {
    let label = label.to_owned();
    Arc::new(move |object, file| object.label(&label).into_iter().for_each(&mut *file))
}

/// Files objects under what one of their kind's columns shows: Pods under their node, by the column NODE.
/// Columns whose text depends on the time are no use here.
pub fn by_column(column: usize) -> IndexFunc {
    Arc::new(move |object, file| {
        let mut text = String::new();
        if let Some(cell) = object.cells.get(column) {
            cell.write(Timestamp(0), &mut text);
            file(&text);
        }
    })
}

/// There is an index of that name already.
#[derive(Debug, thiserror::Error)]
#[error("there is an index named {0} already")]
pub struct IndexExists(pub String);

/// One index: the keys filed under each value. A value without keys has no entry, or indexes over values that
/// come and go would grow without end (kubernetes issue 84959).
pub struct Index {
    name: Box<str>,
    of: IndexFunc,
    filed: HashMap<Arc<str>, HashSet<ObjectKey, FxBuildHasher>, FxBuildHasher>,
}

impl Index {
    /// An empty index.
    pub(super) fn new(name: &str, of: IndexFunc) -> Index {
        Index { name: name.into(), of, filed: HashMap::default() }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The keys under a value, in any order (`IndexKeys`).
    pub fn keys(&self, value: &str) -> impl Iterator<Item = &ObjectKey> {
        self.filed.get(value).into_iter().flatten()
    }

    /// The values, and how many keys each has, in any order (`ListIndexFuncValues`).
    pub fn values(&self) -> impl Iterator<Item = (&str, usize)> {
        self.filed.iter().map(|(value, keys)| (&**value, keys.len()))
    }

    /// Moves a key from the values of its object before to those of its object now. What stays where it was costs no
    /// memory: most updates do.
    pub(super) fn update(&mut self, old: Option<&Object>, new: Option<&Object>) {
        let (of, filed) = (&*self.of, &mut self.filed);
        let has = |object: Option<&Object>, value: &str| {
            let mut found = false;
            if let Some(object) = object {
                of(object, &mut |other| found |= other == value);
            }
            found
        };
        if let Some(old) = old {
            of(old, &mut |value| {
                if !has(new, value)
                    && let Some(keys) = filed.get_mut(value)
                {
                    keys.remove(&old.key);
                    if keys.is_empty() {
                        filed.remove(value);
                    }
                }
            });
        }
        if let Some(new) = new {
            of(new, &mut |value| {
                if !has(old, value) {
                    match filed.get_mut(value) {
                        Some(keys) => drop(keys.insert(new.key.clone())),
                        None => drop(filed.insert(value.into(), std::iter::once(new.key.clone()).collect())),
                    }
                }
            });
        }
    }
}

impl fmt::Debug for Index {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Index").field("name", &self.name).field("values", &self.filed.len()).finish()
    }
}
