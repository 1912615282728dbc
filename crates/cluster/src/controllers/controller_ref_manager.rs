//! Which objects belong to an owner: those that it controls, and those that nobody controls and its selector matches,
//! which it adopts. It releases the objects that its selector no longer matches
//! (`pkg/controller/controller_ref_manager.go`).

use std::sync::Arc;

use kubechurn_client::api::object::Object;
use kubechurn_client::api::resource::ApiResource;
use kubechurn_client::cache::index::IndexFunc;
use serde_json::{Value, json};

use super::object;
use crate::client::api_error::ApiError;
use crate::client::lister::Lister;
use crate::client::rest::{Client, Patch};
use crate::resources::label_selector::Selector;

/// The index that files objects that have no controller under their namespace.
const ORPHAN: &str = "orphan";

/// An owner that claims objects.
#[derive(Debug, Clone, Copy)]
pub struct ControllerRefManager<'a> {
    /// Sends the adoptions and releases.
    pub client: &'a Client,
    /// The owner's resource.
    pub resource: &'a ApiResource,
    /// The owner; its `kind` must be set.
    pub owner: &'a Value,
    /// The owner's selector.
    pub selector: &'a Selector,
}

/// Adds the index of orphans to a lister. Must be called before the lister starts, for each lister that is passed to
/// [`ControllerRefManager::claim`].
pub fn index_orphans(lister: &Lister) {
    let of: IndexFunc = Arc::new(|object: &Object, file: &mut dyn FnMut(&str)| {
        if !is_controlled(object) {
            file(&object.key.namespace);
        }
    });
    lister.add_index(ORPHAN, of);
}

/// The orphans of a namespace, in no particular order.
pub fn orphans(lister: &Lister, namespace: &str) -> Vec<Arc<Object>> {
    lister.by_index(ORPHAN, namespace)
}

/// Whether an object has a controller.
fn is_controlled(object: &Object) -> bool {
    object.owners().iter().any(|owner| owner.controller)
}

impl ControllerRefManager<'_> {
    /// The objects of a lister that belong to the owner after all adoptions and releases, in no particular order.
    ///
    /// # Errors
    /// When an adoption or a release was refused for another reason than that the object is gone.
    pub async fn claim(&self, lister: &Lister) -> Result<Vec<Value>, ApiError> {
        let mut claimed = Vec::new();
        let owner_uid = object::uid(self.owner);
        for owned in lister.owned_by(owner_uid) {
            let Some(owned) = lister.parse(&owned).filter(|owned| object::is_controlled_by(owned, owner_uid)) else {
                continue;
            };
            if self.selector.matches(&owned) {
                claimed.push(owned);
            } else if !object::is_being_deleted(self.owner) {
                self.release(&lister.resource(), &owned).await?;
            }
        }
        if object::is_being_deleted(self.owner) {
            return Ok(claimed);
        }
        let mut can_adopt = false;
        for orphan in orphans(lister, object::namespace(self.owner)) {
            if !self.selector.matches_object(&orphan) {
                continue;
            }
            let Some(orphan) = lister.parse(&orphan).filter(|orphan| !object::is_being_deleted(orphan)) else {
                continue;
            };
            if !can_adopt {
                self.check_can_adopt().await?;
                can_adopt = true;
            }
            claimed.extend(self.adopt(&lister.resource(), &orphan).await?);
        }
        Ok(claimed)
    }

    /// Asks the server for the owner before an adoption, because the informer's copy may be old. An owner that is
    /// deleted, or is being deleted, must not adopt: the garbage collector would delete what it adopted
    /// (`RecheckDeletionTimestamp`).
    async fn check_can_adopt(&self) -> Result<(), ApiError> {
        let (namespace, name) = (object::namespace(self.owner), object::name(self.owner));
        let fresh = self.client.get(self.resource, namespace, name).await?;
        if object::uid(&fresh) != object::uid(self.owner) || object::is_being_deleted(&fresh) {
            let message = format!("{namespace}/{name} is not what it was, and cannot adopt");
            return Err(ApiError { code: 409, reason: "Conflict".to_owned(), message, causes: Vec::new() });
        }
        Ok(())
    }

    /// Adds the owner to an orphan; returns the object as it is then, or `None` if it is deleted.
    async fn adopt(&self, resource: &ApiResource, orphan: &Value) -> Result<Option<Value>, ApiError> {
        let reference = object::controller_reference(self.owner);
        let patch = json!({"metadata": {"ownerReferences": [reference], "uid": object::uid(orphan)}});
        self.patch(resource, orphan, &patch).await
    }

    async fn release(&self, resource: &ApiResource, owned: &Value) -> Result<(), ApiError> {
        let delete = json!({"$patch": "delete", "uid": object::uid(self.owner)});
        let patch = json!({"metadata": {"ownerReferences": [delete], "uid": object::uid(owned)}});
        self.patch(resource, owned, &patch).await.map(drop)
    }

    async fn patch(&self, resource: &ApiResource, object: &Value, patch: &Value) -> Result<Option<Value>, ApiError> {
        let (namespace, name) = (object::namespace(object), object::name(object));
        match self.client.patch(resource, namespace, name, Patch::Strategic(patch)).await {
            Ok(patched) => Ok(Some(patched)),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(error),
        }
    }
}
