//! The owners above the inspected object. Owners that are not watched are fetched.

use rustc_hash::FxHashMap;

use kubechurn_client::api::owner::OwnerReference;
use kubechurn_client::api::status::Failure;
use kubechurn_client::api::uid::Uid;

use crate::inspector::relatives::{self, DEPTH, Link};
use crate::inspector::summary;
use crate::page::context::Context;
use crate::page::inspector::full_text::{FullObject, NOT_FOUND};
use crate::page::inspector::object::InspectedObject;
use crate::page::requests::Purpose;
use kubechurn_columns::kinds::Kind;

/// The owners that were fetched.
#[derive(Debug, Default)]
pub struct Owners {
    /// The owners of each, by its uid; `None` for an owner that does not exist.
    fetched: FxHashMap<Uid, Option<Vec<OwnerReference>>>,
}

impl Owners {
    /// Forgets them, because another object has the name now.
    pub fn clear(&mut self) {
        self.fetched.clear();
    }

    /// Shows the owners above the object.
    pub fn present(&mut self, object: &InspectedObject, full: Option<&FullObject>, cx: &mut Context<'_>) {
        let mut above = match (full, &object.row) {
            (Some(full), _) => summary::owners(&full.value),
            (None, Some(row)) => row.owners().to_vec(),
            (None, None) => Vec::new(),
        };
        let mut links = Vec::new();
        while let Some(owner) = above.first().cloned()
            && links.len() < DEPTH
        {
            // Only the first owner's own owners are followed: it is the controller where there is one. The others are
            // leaves.
            let others = above.split_off(1);
            let kind = cx.navigation.catalog.of_owner(owner.group(), &owner.kind, object.kind.resource.cluster);
            let key = kind.map(|kind| relatives::key_of(kind, &owner, &object.key.namespace));
            let mut words = "";
            let mut status = (String::new(), Default::default());
            above = Vec::new();
            if let Some((kind, key)) = kind.zip(key) {
                let (row, is_then) = object.relative(kind, &key, cx);
                match (row.filter(|row| row.uid == owner.uid), self.fetched.get(&owner.uid)) {
                    (Some(row), _) => {
                        if is_then {
                            status = relatives::status(kind, &row);
                        }
                        above = row.owners().to_vec();
                    }
                    (None, Some(Some(owners))) => above = owners.clone(),
                    (None, Some(None)) => words = "not found",
                    (None, None) => {
                        // The owner is fetched only once. Until the answer comes, its own owners are unknown.
                        self.fetched.insert(owner.uid.clone(), Some(Vec::new()));
                        cx.get(Purpose::Owner(kind, owner.uid.clone()), kind, &key);
                    }
                }
            }
            links.push(Link { status, ..link_to(&owner, object, words, cx) });
            links.extend(others.iter().map(|other| link_to(other, object, "also", cx)));
        }
        links.reverse();
        cx.view.inspector.owners.put(links);
    }

    /// Handles an owner that is not watched, or the reason why it could not be fetched.
    pub fn fetched(&mut self, kind: &Kind, uid: Uid, answer: Result<String, Failure>, salt: u64) {
        let owners = match answer.and_then(|text| FullObject::read(kind, text, salt)) {
            Ok(full) if full.uid == uid => Some(summary::owners(&full.value)),
            // There is another object of that name, or none.
            Ok(_) => None,
            Err(failure) if failure.code == NOT_FOUND => None,
            // Its owners are not known. The link says as much as the owner reference does.
            Err(_) => Some(Vec::new()),
        };
        self.fetched.insert(uid, owners);
    }
}

fn link_to(owner: &OwnerReference, object: &InspectedObject, words: &'static str, cx: &Context<'_>) -> Link {
    let kind = cx.navigation.catalog.of_owner(owner.group(), &owner.kind, object.kind.resource.cluster);
    let href = kind.map(|kind| {
        let key = relatives::key_of(kind, owner, &object.key.namespace);
        relatives::link(&cx.navigation.route, kind.name, &key)
    });
    let (kind, name) = (owner.kind.to_string(), owner.name.to_string());
    Link { kind, name, href, status: (String::new(), Default::default()), words, depth: 0 }
}
