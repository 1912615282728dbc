//! What a server does before its first answer: it opens its storage and creates the system namespaces.

use std::sync::Arc;

use serde_json::json;

use crate::args::Args;
use crate::clock;
use crate::faults::Faults;
use crate::resources::builtin::{NAMESPACES, SYSTEM_NAMESPACES};
use crate::resources::object::Draft;
use crate::storage::restartable::RestartableMemory;
use crate::storage::{Storage, StorageError};
use crate::store::Store;

/// Opens the storage that the command line asks for, and the faults that are injected into it.
pub async fn open(args: &Args) -> std::io::Result<(Arc<dyn Storage>, Arc<Faults>)> {
    if let Some(address) = &args.etcd {
        return Ok((open_etcd(address).await?, Arc::default()));
    }
    let storage = Arc::new(RestartableMemory::new(args.first_revision));
    let faults = Arc::new(Faults::before(Arc::clone(&storage)));
    Ok((storage, faults))
}

#[cfg(feature = "etcd")]
async fn open_etcd(address: &str) -> std::io::Result<Arc<dyn Storage>> {
    match crate::storage::etcd::Etcd::connect(address).await {
        Ok(etcd) => Ok(Arc::new(etcd)),
        Err(error) => Err(std::io::Error::other(format!("{address} is no etcd that answers: {error}"))),
    }
}

#[cfg(not(feature = "etcd"))]
async fn open_etcd(_address: &str) -> std::io::Result<Arc<dyn Storage>> {
    Err(std::io::Error::other(
        "this cluster was built without etcd: build it with --features etcd, which needs protoc (./dev setup installs \
         it), or run it with ./dev demo --etcd URL, which does that",
    ))
}

/// Creates the namespaces that every cluster has, where they are missing.
pub async fn system_namespaces(store: &Store) -> Result<(), StorageError> {
    for name in SYSTEM_NAMESPACES {
        if store.get(&NAMESPACES, name).await?.is_some() {
            continue;
        }
        let created = clock::timestamp(clock::now());
        let labels = json!({"kubernetes.io/metadata.name": name});
        let namespace = json!({
            "metadata": {"name": name, "creationTimestamp": created, "labels": labels},
            "spec": {"finalizers": ["kubernetes"]},
            "status": {"phase": "Active"},
        });
        if let Some(draft) = Draft::from_value(namespace) {
            // Another server over the same storage may have created the namespace first.
            store.create(&NAMESPACES, draft).await?;
        }
    }
    Ok(())
}
