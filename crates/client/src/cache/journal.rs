//! What the objects that have changed since a moment were at that moment. With it, a store as it was then can be compared
//! although it goes on changing.

use std::sync::Arc;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use crate::api::object::{Object, ObjectKey, ResourceVersion};
use crate::api::uid::Uid;

/// The most objects of a journal. Where more objects change, the comparison that needs it is given up.
pub const JOURNAL: usize = 100_000;

/// Which object of a name, and which version of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Which object: another one of the same name has another uid.
    pub uid: Uid,
    /// Which version.
    pub resource_version: ResourceVersion,
}

impl From<&Object> for Identity {
    fn from(object: &Object) -> Identity {
        Identity { uid: object.uid.clone(), resource_version: object.resource_version.clone() }
    }
}

/// What the objects that changed since a moment were at that moment.
#[derive(Clone, Debug, Default)]
pub struct Journal {
    /// What each object was; `None` if it did not exist.
    pub(super) before: HashMap<ObjectKey, Option<Identity>, FxBuildHasher>,
    full: bool,
}

impl Journal {
    /// An object changes; `before` is what it was until now. Only what it was before its first change is kept.
    pub fn changed(&mut self, key: &ObjectKey, before: Option<&Arc<Object>>) {
        if self.before.len() < JOURNAL {
            self.before.entry_ref(key).or_insert_with(|| before.map(|object| Identity::from(&**object)));
        } else if !self.before.contains_key(key) {
            self.full = true;
        }
    }

    /// Whether more objects changed than are kept.
    pub fn is_full(&self) -> bool {
        self.full
    }
}
