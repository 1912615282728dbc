//! The patches of the garbage collector: owner references and finalizers, always for the version that was read. After a
//! conflict the object is checked again.

use kubechurn_client::api::resource::ApiResource;
use serde_json::{Value, json};

use super::super::controller::SyncError;
use super::super::object;
use crate::client::api_error::ignore_not_found;
use crate::client::rest::{Client, Patch};

/// Sets the owner references of an object.
///
/// # Errors
/// As [`Client::request`], except that a deleted object is not an error.
pub async fn owner_references(
    client: &Client,
    resource: &ApiResource,
    latest: &Value,
    references: Vec<Value>,
) -> Result<(), SyncError> {
    write(client, resource, latest, "ownerReferences", references).await
}

/// Removes a finalizer from an object, if it is set.
///
/// # Errors
/// As [`Client::request`], except that a deleted object is not an error.
pub async fn remove_finalizer(
    client: &Client,
    resource: &ApiResource,
    latest: &Value,
    finalizer: &str,
) -> Result<(), SyncError> {
    let finalizers = latest["metadata"]["finalizers"].as_array().map_or(&[][..], Vec::as_slice);
    let kept: Vec<Value> = finalizers.iter().filter(|one| *one != finalizer).cloned().collect();
    if kept.len() == finalizers.len() {
        return Ok(());
    }
    write(client, resource, latest, "finalizers", kept).await
}

async fn write(
    client: &Client,
    resource: &ApiResource,
    latest: &Value,
    field: &str,
    elements: Vec<Value>,
) -> Result<(), SyncError> {
    let metadata = &latest["metadata"];
    let patch = json!({"metadata": {"uid": metadata["uid"], "resourceVersion": metadata["resourceVersion"],
        field: elements}});
    let (namespace, name) = (object::namespace(latest), object::name(latest));
    ignore_not_found(client.patch(resource, namespace, name, Patch::Merge(&patch)).await)?;
    Ok(())
}
