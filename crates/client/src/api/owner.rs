//! The owners of objects, `metadata.ownerReferences`. Objects that have the same owners share one copy of them.

use std::cell::RefCell;
use std::ops::Deref;
use std::sync::Arc;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use serde::{Deserialize, Deserializer};

use crate::api::uid::Uid;
use crate::json::Text;

/// An owner of an object. When the owner is deleted, the object is, too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnerReference {
    /// The group and version of the owner's kind, such as `apps/v1`.
    pub api_version: Box<str>,
    /// The owner's kind.
    pub kind: Box<str>,
    /// The owner's name. The owner is in the object's namespace, or in none.
    pub name: Box<str>,
    /// The owner's uid.
    pub uid: Uid,
    /// Whether this owner controls the object.
    pub controller: bool,
}

impl OwnerReference {
    /// The API group of the owner's kind; empty for the core group.
    pub fn group(&self) -> &str {
        self.api_version.split_once('/').map_or("", |(group, _)| group)
    }
}

/// All owners of an object. The list is behind a pointer of one word, for each of 150,000 Pods has one.
#[derive(Debug, PartialEq, Eq)]
pub struct Owners(Box<[OwnerReference]>);

impl Deref for Owners {
    type Target = [OwnerReference];

    fn deref(&self) -> &[OwnerReference] {
        &self.0
    }
}

/// One owner, borrowed from the frame.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Owner<'a> {
    /// `apps/v1`.
    #[serde(borrow)]
    pub api_version: Text<'a>,
    /// The owner's kind.
    #[serde(borrow)]
    pub kind: Text<'a>,
    /// The owner's name.
    #[serde(borrow)]
    pub name: Text<'a>,
    /// The owner's uid.
    #[serde(borrow)]
    pub uid: Text<'a>,
    /// Whether this owner controls the object.
    pub controller: Option<bool>,
    /// Whether the owner waits for the object when it is deleted in the foreground.
    pub block_owner_deletion: Option<bool>,
}

/// The owners of an object, borrowed from the frame.
#[derive(Clone, Debug, Default)]
pub struct OwnerReferences<'a>(pub Option<Vec<Owner<'a>>>);

impl<'de: 'a, 'a> Deserialize<'de> for OwnerReferences<'a> {
    // Three places read owners; 8 KB of code for each would be made if they were read in place.
    #[inline(never)]
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<OwnerReferences<'a>, D::Error> {
        Deserialize::deserialize(from).map(OwnerReferences)
    }
}

impl Owner<'_> {
    fn keep(&self) -> OwnerReference {
        OwnerReference {
            api_version: (&*self.api_version).into(),
            kind: (&*self.kind).into(),
            name: (&*self.name).into(),
            uid: Uid::new(&self.uid),
            controller: self.controller.unwrap_or(false),
        }
    }

    fn is(&self, kept: &OwnerReference) -> bool {
        kept.uid == *self.uid
            && *self.name == *kept.name
            && *self.kind == *kept.kind
            && *self.api_version == *kept.api_version
            && self.controller.unwrap_or(false) == kept.controller
    }
}

type Known = HashMap<Uid, Arc<Owners>, FxBuildHasher>;

/// The lists of owners that objects have, by the uid of the first owner. Some may be of objects that are gone.
#[derive(Default)]
struct Pool {
    known: Known,
    /// At this size the lists that no object has any more are dropped.
    limit: usize,
}

/// In a pool that is smaller than this nothing is dropped.
const SMALL: usize = 1024;

/// The kept copy of a list of owners: the Pods of one ReplicaSet share one.
pub fn share(owners: &[Owner<'_>]) -> Option<Arc<Owners>> {
    thread_local! {
        static POOL: RefCell<Pool> = RefCell::default();
    }
    let first = owners.first()?;
    POOL.with_borrow_mut(|pool| {
        if let Some(kept) = pool.known.get(&Uid::new(&first.uid))
            && kept.len() == owners.len()
            && owners.iter().zip(&kept.0).all(|(owner, kept)| owner.is(kept))
        {
            return Some(kept.clone());
        }
        let kept = Arc::new(Owners(owners.iter().map(Owner::keep).collect()));
        if pool.known.len() >= pool.limit.max(SMALL) {
            pool.known.retain(|_, kept| Arc::strong_count(kept) > 1);
            pool.limit = 2 * pool.known.len();
        }
        pool.known.insert(kept[0].uid.clone(), kept.clone());
        Some(kept)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<Arc<Owners>> {
        share(&serde_json::from_str::<Vec<Owner<'_>>>(text).unwrap())
    }

    #[test]
    fn objects_with_the_same_owners_share_them() {
        let text = r#"[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"r","uid":"u","controller":true}]"#;
        let (one, other) = (read(text).unwrap(), read(text).unwrap());
        assert!(Arc::ptr_eq(&one, &other));
        let adopted = read(&text.replace(r#","controller":true"#, "")).unwrap();
        assert!(one[0].controller && !adopted[0].controller);
        assert!(read("[]").is_none());
    }

    #[test]
    fn owners_that_are_gone_are_let_go() {
        for at in 0..10 * SMALL {
            assert_eq!(read(&format!(r#"[{{"uid":"gone-{at}"}}]"#)).unwrap()[0].uid, *format!("gone-{at}"));
        }
        let text = |at: usize| format!(r#"[{{"uid":"kept-{at}"}}]"#);
        let kept: Vec<_> = (0..3 * SMALL).map(|at| read(&text(at)).unwrap()).collect();
        assert!(kept.iter().enumerate().all(|(at, kept)| Arc::ptr_eq(kept, &read(&text(at)).unwrap())));
    }
}
