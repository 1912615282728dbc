//! How the objects that have changed since a moment were at that moment, so that a store can be compared with what it was
//! then while it goes on changing.

use std::sync::Arc;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use crate::api::object::{Object, ObjectKey, ResourceVersion};
use crate::api::uid::Uid;

/// A journal of more objects than this is given up: what changes so fast is not held still by anyone.
pub const JOURNAL: usize = 100_000;

/// Which life of a name, and which version of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Which life.
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
#[derive(Debug, Default)]
pub struct Journal {
    /// `None` for one that was not there.
    pub(super) before: HashMap<ObjectKey, Option<Identity>, FxBuildHasher>,
    full: bool,
}

impl Journal {
    /// An object is about to change, or has changed; only what it was before its first change counts.
    pub fn changed(&mut self, key: &ObjectKey, before: Option<&Arc<Object>>) {
        if self.before.len() < JOURNAL {
            self.before.entry_ref(key).or_insert_with(|| before.map(|object| Identity::from(&**object)));
        } else if !self.before.contains_key(key) {
            self.full = true;
        }
    }

    /// Whether more changed than is kept.
    pub fn is_full(&self) -> bool {
        self.full
    }
}
