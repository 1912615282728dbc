//! Serves the resources of the CustomResourceDefinitions in the storage, whichever server wrote them:
//! apiextensions-apiserver's `customresource_discovery_controller.go`.
//!
//! A server that writes a definition itself does not wait for this controller; the registry compares revisions and
//! ignores what is older.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use crate::api::Api;
use crate::resources::builtin::DEFINITIONS;
use crate::resources::definition;
use crate::resources::object::Object;
use crate::storage::{RangeRequest, Storage, StorageError, WatchItem};

/// The delay before a storage that failed is asked again.
const RETRY: Duration = Duration::from_millis(500);

/// Serves all defined resources, and starts to watch the definitions.
pub async fn start(api: Arc<Api>, storage: Arc<dyn Storage>) -> Result<(), StorageError> {
    let mut listed = relist(&api, &*storage).await?;
    tokio::spawn(async move {
        loop {
            let mut error = follow(&api, &*storage, listed).await;
            listed = loop {
                if !matches!(error, StorageError::Compacted(_)) {
                    tokio::time::sleep(RETRY).await;
                }
                match relist(&api, &*storage).await {
                    Ok(revision) => break revision,
                    Err(another) => error = another,
                }
            };
        }
    });
    Ok(())
}

/// Serves exactly the currently defined resources; returns the revision of the list.
async fn relist(api: &Api, storage: &dyn Storage) -> Result<u64, StorageError> {
    let range = storage.range(&RangeRequest::prefix(&DEFINITIONS.prefix())).await?;
    api.registry.forget_after(range.revision);
    let mut gone: BTreeSet<String> = api.registry.definitions().into_iter().collect();
    for one in range.values {
        if let Some(object) = Object::decode(&DEFINITIONS, one.value, one.revision) {
            gone.remove(&*object.name);
            define(api, &object);
        }
    }
    gone.iter().for_each(|name| undefine(api, name, range.revision));
    Ok(range.revision)
}

/// Watches the definitions until the watch fails; returns the error.
async fn follow(api: &Api, storage: &dyn Storage, after: u64) -> StorageError {
    let prefix = DEFINITIONS.prefix();
    let mut changes = match storage.watch(&prefix, after).await {
        Ok(changes) => changes,
        Err(error) => return error,
    };
    while let Some(item) = changes.recv().await {
        match item {
            WatchItem::Change(change) => match change.value {
                Some(value) => {
                    if let Some(object) = Object::decode(&DEFINITIONS, value, change.revision) {
                        define(api, &object);
                    }
                }
                None => undefine(api, change.key.strip_prefix(&prefix).unwrap_or_default(), change.revision),
            },
            WatchItem::Progress(_) => {}
            WatchItem::Failed(error) => return error,
        }
    }
    StorageError::Unavailable("the watch has ended".to_owned())
}

fn define(api: &Api, definition: &Object) {
    // A definition that was refused was never written.
    let resources = definition::resources(&definition.to_value(), api.registry.id_of(&definition.uid));
    if let Ok(resources) = resources
        && let Some(replaced) = api.registry.define(&definition.name, definition.revision, resources)
    {
        api.store.close(replaced);
    }
}

fn undefine(api: &Api, name: &str, revision: u64) {
    if let Some(id) = api.registry.undefine(name, revision) {
        api.store.close(id);
    }
}
