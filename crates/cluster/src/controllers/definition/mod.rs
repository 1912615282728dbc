//! The finalizer of CustomResourceDefinitions: when a definition is being deleted, this controller deletes its custom
//! objects and then removes the finalizer (`apiextensions-apiserver/pkg/controller/finalizer/crd_finalizer.go`). It
//! belongs to the API server, not to the controller manager.

use std::collections::BTreeSet;

use kubechurn_client::api::object::ObjectKey;
use kubechurn_client::api::request::Scope;
use kubechurn_client::api::resource::ApiResource;
use serde_json::{Value, json};
use tokio::time::Duration;

use super::context::Context;
use super::controller::{Controller, SyncError};
use super::object;
use super::queue::Queue;
use crate::client::api_error::ignore_not_found;
use crate::client::discovery::discover;
use crate::client::lister::Lister;
use crate::client::resources::DEFINITIONS;
use crate::client::rest::{Client, Patch};
use crate::clock;
use crate::resources::conditions;
use crate::resources::definition::CLEANUP;

/// How often to check whether the last objects have lost their finalizers.
const CHECK_PERIOD: Duration = Duration::from_millis(500);

/// The controller.
#[derive(Debug)]
pub struct DefinitionFinalizer {
    client: Client,
    definitions: Lister,
    queue: Queue<ObjectKey>,
}

impl Controller for DefinitionFinalizer {
    type Key = ObjectKey;
    const NAME: &'static str = "crd-finalizer";

    fn new(context: &Context, queue: Queue<ObjectKey>) -> Self {
        let definitions = context.lister(DEFINITIONS);
        let (waiting, reads) = (queue.clone(), definitions.clone());
        definitions.on_change(move |change| {
            if reads.parse(change.object()).is_some_and(|definition| is_held(&definition)) {
                waiting.add(change.object().key.clone());
            }
        });
        Self {
            client: context.client.with_user_agent("kube-apiserver").with_user("system:apiserver"),
            definitions,
            queue,
        }
    }

    async fn sync(&self, key: &ObjectKey) -> Result<(), SyncError> {
        let Some(known) = self.definitions.value(key).filter(is_held) else { return Ok(()) };
        let message = "CustomResource deletion is in progress";
        let Some(definition) = self.set_terminating(known, "True", "InstanceDeletionInProgress", message).await? else {
            return Ok(());
        };
        if self.delete_objects(&definition).await? > 0 {
            self.queue.add_after(key.clone(), CHECK_PERIOD);
            return Ok(());
        }
        let updated =
            self.set_terminating(definition, "False", "InstanceDeletionCompleted", "removed all instances").await?;
        let Some(definition) = updated else { return Ok(()) };
        let finalizers = definition["metadata"]["finalizers"].as_array().map_or(&[][..], Vec::as_slice);
        let kept: Vec<&Value> = finalizers.iter().filter(|one| *one != CLEANUP).collect();
        let patch = json!({"metadata": {"resourceVersion": definition["metadata"]["resourceVersion"],
            "finalizers": kept}});
        ignore_not_found(self.client.patch(&DEFINITIONS, "", &key.name, Patch::Merge(&patch)).await)?;
        Ok(())
    }
}

impl DefinitionFinalizer {
    /// Writes the progress into the condition Terminating; returns the newest definition, or `None` if it is deleted.
    /// The same condition is written again on each sync: that changes nothing, and it fails if another definition has
    /// the same name by now, whose objects must not be deleted.
    async fn set_terminating(
        &self,
        mut definition: Value,
        status: &str,
        reason: &str,
        message: &str,
    ) -> Result<Option<Value>, SyncError> {
        let new = json!({"type": "Terminating", "status": status, "lastTransitionTime": clock::timestamp(clock::now()),
            "reason": reason, "message": message});
        let known = object::condition(&definition, "Terminating");
        if known.is_none_or(|known| known["status"] != status || known["reason"] != reason) {
            conditions::set(&mut definition, new);
        }
        Ok(ignore_not_found(self.client.update_status(&DEFINITIONS, &definition).await)?)
    }

    /// Deletes the objects of a definition, namespace by namespace; returns how many are left.
    async fn delete_objects(&self, definition: &Value) -> Result<usize, SyncError> {
        let (group, plural) = (object::text(definition, "/spec/group"), object::text(definition, "/spec/names/plural"));
        let served = discover(&self.client).await?;
        let found = served.iter().find(|one| (one.resource.group, one.resource.plural) == (group, plural));
        // A definition that serves no version has no objects that could have been written.
        let Some(resource) = found.map(|one| one.resource) else { return Ok(0) };
        let namespaces = self.namespaces(&resource).await?;
        for namespace in namespaces {
            ignore_not_found(self.client.delete_collection(&resource, &namespace).await)?;
        }
        Ok(self.list(&resource).await?.len())
    }

    /// The namespaces that have objects of a resource; an empty name stands for the cluster scope.
    async fn namespaces(&self, resource: &ApiResource) -> Result<BTreeSet<String>, SyncError> {
        Ok(self.list(resource).await?.iter().map(|one| object::namespace(one).to_owned()).collect())
    }

    async fn list(&self, resource: &ApiResource) -> Result<Vec<Value>, SyncError> {
        let list = ignore_not_found(self.client.metadata().list(resource, &Scope::default()).await)?;
        Ok(list.map(|mut list| list["items"].take()).and_then(|items| items.as_array().cloned()).unwrap_or_default())
    }
}

/// Whether a definition is being deleted and still has this finalizer.
fn is_held(definition: &Value) -> bool {
    let finalizers = definition["metadata"]["finalizers"].as_array();
    object::is_being_deleted(definition) && finalizers.is_some_and(|all| all.iter().any(|one| one == CLEANUP))
}
