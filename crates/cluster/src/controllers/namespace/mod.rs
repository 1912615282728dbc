//! The namespace controller: deletes the contents of a Namespace that is being deleted, and then removes its finalizer
//! (`pkg/controller/namespace`).

mod conditions;
mod content;

use kubechurn_client::api::object::ObjectKey;
use serde_json::{Value, json};
use tokio::time::Duration;

use super::context::Context;
use super::controller::{Controller, SyncError};
use super::object;
use super::queue::Queue;
use crate::client::discovery::discover;
use crate::client::lister::Lister;
use crate::client::resources::{NAMESPACES, PODS};
use crate::client::rest::Client;
use crate::clock;
use conditions::Conditions;
use content::{Remaining, delete_all};

/// The finalizer that keeps a Namespace until it is empty; it is in `spec.finalizers`.
const FINALIZER: &str = "kubernetes";
/// The delay between a change of a Namespace and its sync, so that every API server knows of the deletion by then
/// (`namespaceDeletionGracePeriod`). Tests have one server and need no such delay.
const GRACE: Duration = if cfg!(test) { Duration::from_millis(100) } else { Duration::from_secs(5) };

/// The controller.
#[derive(Debug)]
pub struct Namespaces {
    client: Client,
    namespaces: Lister,
    queue: Queue<ObjectKey>,
}

impl Controller for Namespaces {
    type Key = ObjectKey;
    const NAME: &'static str = "namespace-controller";
    const WORKERS: usize = 10;

    fn new(context: &Context, queue: Queue<ObjectKey>) -> Self {
        let namespaces = context.lister(NAMESPACES);
        let (waiting, reads) = (queue.clone(), namespaces.clone());
        namespaces.on_change(move |change| {
            let leaving = reads.parse(change.object()).is_some_and(|namespace| object::is_being_deleted(&namespace));
            if leaving {
                waiting.add_after(change.object().key.clone(), GRACE);
            }
        });
        Self { client: context.client.clone(), namespaces, queue }
    }

    async fn sync(&self, key: &ObjectKey) -> Result<(), SyncError> {
        if self.namespaces.get(key).is_none() {
            return Ok(());
        }
        // The informer may be behind, and a deletion cannot be undone.
        let namespace = match self.client.get(&NAMESPACES, "", &key.name).await {
            Err(error) if error.is_not_found() => return Ok(()),
            answer => answer?,
        };
        if !object::is_being_deleted(&namespace) || !has_finalizer(&namespace) {
            return Ok(());
        }
        match self.delete_content(namespace).await? {
            (namespace, 0) => self.finalize(namespace).await,
            (_, estimate) => {
                // Half of the estimate, because most deletions take less (`ResourcesRemainingError`).
                self.queue.add_after(key.clone(), Duration::from_secs(estimate / 2 + 1));
                Ok(())
            }
        }
    }
}

impl Namespaces {
    /// Deletes the contents of a Namespace, and writes the result into its conditions (`deleteAllContent`). Returns the
    /// newest Namespace, and the estimated number of seconds until the rest is deleted: 0 if nothing is left. Fails if
    /// something could not be deleted.
    async fn delete_content(&self, namespace: Value) -> Result<(Value, u64), SyncError> {
        let name = object::name(&namespace).to_owned();
        let mut conditions = Conditions::default();
        let since = object::time(&namespace, "/metadata/deletionTimestamp").map_or(0, |time| time.0);
        let age = u64::try_from(clock::now() - since).unwrap_or_default();
        let mut resources = match discover(&self.client).await {
            Ok(resources) => resources,
            Err(error) => {
                conditions.discovery_failed(&error.to_string());
                self.write(namespace, &conditions).await?;
                return Err(error.into());
            }
        };
        resources.retain(|one| one.preferred && one.resource.namespaced && one.supports(&["delete"]));
        let mut remaining = Remaining::default();
        let mut failures = Vec::new();
        // Pods are deleted first, so that the objects that they use exist for as long as they do.
        let (pods, others): (Vec<_>, Vec<_>) = resources.iter().partition(|one| one.resource == PODS);
        for (are_pods, some) in [(true, pods), (false, others)] {
            for one in some {
                match delete_all(&self.client, one, &name, age).await {
                    Ok(left) => remaining.add(&one.resource, left),
                    Err(error) => failures.push(error),
                }
            }
            if are_pods && remaining.resources > 0 {
                let namespace = self.write(namespace, &conditions).await?;
                return Ok((namespace, remaining.seconds.max(1)));
            }
        }
        if !failures.is_empty() {
            conditions.content_failed(&failures);
        }
        conditions.content_remains(&remaining);
        let namespace = self.write(namespace, &conditions).await?;
        match failures.pop() {
            Some(failure) => Err(failure),
            None if remaining.resources > 0 => Ok((namespace, remaining.seconds.max(1))),
            None => Ok((namespace, 0)),
        }
    }

    /// Writes the conditions, if they differ from the present ones.
    async fn write(&self, mut namespace: Value, conditions: &Conditions) -> Result<Value, SyncError> {
        let known = namespace["status"]["conditions"].as_array().cloned().unwrap_or_default();
        let new = conditions.over(&known, &clock::timestamp(clock::now()));
        if new == known {
            return Ok(namespace);
        }
        object::set(&mut namespace, &["status", "conditions"], new.into());
        Ok(self.client.update_status(&NAMESPACES, &namespace).await?)
    }

    /// Removes the finalizer of an empty Namespace (`finalizeNamespace`).
    async fn finalize(&self, mut namespace: Value) -> Result<(), SyncError> {
        let finalizers = namespace["spec"]["finalizers"].as_array().map_or(&[][..], Vec::as_slice);
        let kept: Vec<Value> = finalizers.iter().filter(|one| *one != FINALIZER).cloned().collect();
        namespace["spec"] = json!({"finalizers": kept});
        match self.client.finalize(&namespace).await {
            Err(error) if !error.is_not_found() => Err(error.into()),
            _ => Ok(()),
        }
    }
}

fn has_finalizer(namespace: &Value) -> bool {
    namespace["spec"]["finalizers"].as_array().is_some_and(|all| all.iter().any(|one| one == FINALIZER))
}
