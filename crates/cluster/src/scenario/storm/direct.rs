//! Direct access of the scenario to the storage. Its calls return at once, which only the memory backend allows.

use std::sync::Arc;

use futures::FutureExt;
use serde_json::Value;

use crate::resources::object::{Draft, Object};
use crate::resources::resource::Resource;
use crate::store::{Fate, Store};

/// Writes to the storage without the endpoints.
#[derive(Debug, Clone)]
pub struct Direct(pub Arc<Store>);

impl Direct {
    /// The newest revision.
    pub fn revision(&self) -> u64 {
        self.0.revision()
    }

    /// One object.
    pub fn get(&self, resource: &Resource, key: &str) -> Option<Arc<Object>> {
        self.0.get(resource, key).now_or_never()?.ok()?
    }

    /// Writes a new object; `None` if the key exists.
    pub fn create(&self, resource: &Resource, draft: Draft) -> Option<Arc<Object>> {
        self.0.create(resource, draft).now_or_never()?.ok()?
    }

    /// Changes an object; `None` if it does not exist, or if the change was refused.
    pub fn update<E>(
        &self,
        resource: &Resource,
        key: &str,
        change: impl FnOnce(&Object, &mut Value) -> Result<(), E>,
    ) -> Option<Arc<Object>> {
        let mut change = Some(change);
        let kept = |current: &Object, value: &mut Value| match change.take() {
            Some(change) => change(current, value).map(|()| Fate::Kept).map_err(drop),
            None => Err(()),
        };
        Some(self.0.change(resource, key, false, kept).now_or_never()?.ok()?.0)
    }

    /// Deletes an object.
    pub fn delete(&self, resource: &Resource, key: &str) {
        let removed = |_: &Object, _: &mut Value| Ok::<_, ()>(Fate::Removed);
        let _ = self.0.change(resource, key, false, removed).now_or_never();
    }
}
