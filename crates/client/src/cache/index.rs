//! Indexes: which objects have some value in common.

use std::fmt;
use std::sync::Arc;

use hashbrown::{HashMap, HashSet};
use rustc_hash::FxBuildHasher;

use crate::api::object::{Object, ObjectKey};

/// The usual name of an index [`by_namespace`] (client-go's `NamespaceIndex`).
pub const NAMESPACE: &str = "namespace";

/// Says under which values an object is filed: none, one or several (client-go's `IndexFunc`).
///
/// A controller finds the Pods of each app by an index over a label:
///
/// ```
/// use std::sync::Arc;
///
/// use kubechurn_client::api::extra::Keep;
/// use kubechurn_client::api::object::Decode;
/// use kubechurn_client::cache::index::IndexFunc;
/// use kubechurn_client::cache::reflector::Options;
/// use kubechurn_client::cache::shared_informer::{InformerOptions, SharedInformer};
///
/// let by_app: IndexFunc = Arc::new(|object, file| {
///     if let Some(app) = object.label("app") {
///         file(app);
///     }
/// });
/// // Labels are there to be indexed only where the informer keeps them.
/// let reflector = Options { keep: Keep { labels: true, ..Keep::default() }, ..Options::default() };
/// let mut informer =
///     SharedInformer::new(Decode::METADATA, InformerOptions { reflector, ..InformerOptions::default() });
/// informer.add_index("app", by_app)?;
/// assert_eq!(informer.store().by_index("app", "web").count(), 0);
/// # Ok::<(), kubechurn_client::cache::index::IndexExists>(())
/// ```
pub type IndexFunc = Arc<dyn Fn(&Object, &mut dyn FnMut(&str)) + Send + Sync>;

/// Files objects under their namespace (`MetaNamespaceIndexFunc`).
pub fn by_namespace() -> IndexFunc {
    Arc::new(|object, file| file(&object.key.namespace))
}

/// Files objects under the uid of each owner. The informer must keep owners: [`crate::api::extra::Keep`].
pub fn by_owner() -> IndexFunc {
    Arc::new(|object, file| object.owners().iter().for_each(|owner| file(&owner.uid.text())))
}

/// There is an index of that name already.
#[derive(Debug, thiserror::Error)]
#[error("there is an index named {0} already")]
pub struct IndexExists(pub String);

/// One index: the keys that are filed under each value. A value without keys has no entry, or an index over values that come
/// and go would grow without end (kubernetes issue 84959).
#[derive(Clone)]
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

    /// Files a key under the values of its new object, and no longer under those of its old one. A key that stays under a
    /// value, as with most updates, costs no allocation.
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
