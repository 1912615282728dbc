//! Serves the resources of the CustomResourceDefinitions that are in the storage, whichever server wrote them, and
//! whenever: apiextensions-apiserver's `customresource_discovery_controller.go`.
//!
//! The server that writes a definition does not wait for this; the registry knows from the revisions what is old news.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use crate::api::Api;
use crate::resources::builtin::DEFINITIONS;
use crate::resources::definition;
use crate::resources::object::Object;
use crate::storage::{RangeRequest, Storage, StorageError, WatchItem};

/// A storage that fails is asked again after this.
const RETRY: Duration = Duration::from_millis(500);

/// Serves all resources that are defined, and begins to follow the definitions.
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

/// Serves what is defined now, and nothing else; answers as of which revision.
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

/// Follows the definitions until the watch fails, and answers why.
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
    // One that was refused was never written.
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
