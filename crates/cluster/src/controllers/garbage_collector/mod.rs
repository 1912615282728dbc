//! The garbage collector: deletes the dependents of deleted objects (`pkg/controller/garbagecollector`).
//!
//! ```text
//! discovery ─► monitors ─► graph of owners ─► queue ─► live GETs ─► deletions and patches
//! ```
//!
//! The graph only says what to check: before anything is deleted, the object and its owners are requested from the
//! server. An owner that no monitor has reported is a virtual node, which is checked too; if the server does not have
//! it, its dependents are deleted.

mod absent_owners;
mod graph;
mod metadata;
mod monitor;
mod monitors;
mod patches;
#[cfg(test)]
mod tests;

use std::rc::Rc;

use kubechurn_client::api::resource::ApiResource;
use serde_json::Value;
use tokio::sync::Notify;
use tokio::time::{Duration, timeout};

use super::context::Context;
use super::controller::{Controller, SyncError};
use super::events::Recorder;
use super::object;
use super::queue::Queue;
use crate::client::api_error::ignore_not_found;
use crate::client::resources::DEFINITIONS;
use crate::client::rest::{Client, DeleteOptions};
use crate::resources::object::{DELETE_DEPENDENTS, ORPHAN_DEPENDENTS};
use absent_owners::{Absent, absent};
use graph::{Key, Kind};
use monitor::Builder;
use monitors::Monitors;

/// How often the server is asked for its resources, apart from changes of definitions (`garbagecollector.Sync`).
const RESYNC: Duration = Duration::from_secs(30);
/// After a failure, discovery is tried again after this time.
const RETRY: Duration = Duration::from_secs(1);

/// The controller.
#[derive(Debug)]
pub struct GarbageCollector {
    /// Reads metadata, and writes.
    client: Client,
    /// The graph that the monitors build, and the queue of objects to check.
    builder: Builder,
    monitors: Rc<Monitors>,
    recorder: Recorder,
}

/// The owner references of an object, by the state of the owners (`classifyReferences`).
#[derive(Debug, Default)]
struct Owners<'a> {
    /// References to owners that exist.
    solid: Vec<&'a Value>,
    /// References to owners that do not exist.
    dangling: Vec<&'a Value>,
    /// References to owners that are being deleted and wait for this dependent.
    waiting: Vec<&'a Value>,
}

/// What an owner reference refers to.
enum FoundOwner {
    Solid,
    Dangling,
    Waiting,
}

impl Controller for GarbageCollector {
    type Key = Key;
    const NAME: &'static str = "garbage-collector-controller";
    const WORKERS: usize = 20;

    fn new(context: &Context, queue: Queue<Key>) -> Self {
        let builder = Builder { graph: Rc::default(), queue, absent: Rc::default() };
        let monitors = Rc::new(Monitors::new(context.client.clone(), builder.clone()));
        let news = Rc::new(Notify::new());
        let defined = Rc::clone(&news);
        context.lister(DEFINITIONS).on_change(move |_| defined.notify_one());
        tokio::task::spawn_local(follow_discovery(Rc::clone(&monitors), news));
        let recorder = context.recorder(Self::NAME);
        Self { client: context.client.metadata(), builder, monitors, recorder }
    }

    async fn sync(&self, key: &Key) -> Result<(), SyncError> {
        self.monitors.wait_for_sync().await;
        match key {
            Key::Delete(uid) => self.attempt_to_delete(uid).await,
            Key::Orphan(uid) => self.attempt_to_orphan(uid).await,
        }
    }
}

/// Runs discovery when definitions change, and periodically. It ends with its `LocalSet`.
async fn follow_discovery(monitors: Rc<Monitors>, news: Rc<Notify>) {
    loop {
        let wait = match monitors.resync().await {
            Ok(()) => RESYNC,
            Err(error) => {
                eprintln!("cluster: {}: discovery: {error}", GarbageCollector::NAME);
                RETRY
            }
        };
        // A timeout and a notification both lead to the next discovery.
        let _ = timeout(wait, news.notified()).await;
    }
}

impl GarbageCollector {
    /// Deletes an object if all its owners are deleted; otherwise removes the references to deleted owners
    /// (`attemptToDeleteItem`).
    async fn attempt_to_delete(&self, uid: &str) -> Result<(), SyncError> {
        let Some((kind, key, is_virtual, deleting_dependents)) = self.look_up(uid) else { return Ok(()) };
        let Some(resource) = self.monitors.resource(&kind) else {
            // While no resource serves the owner's kind, nothing can be said about the owner. The next discovery queues
            // it again.
            return Ok(());
        };
        let namespace = if resource.namespaced { &*key.namespace } else { "" };
        let latest = match self.client.get(&resource, namespace, &key.name).await {
            Ok(latest) if object::uid(&latest) == uid => latest,
            Err(error) if !error.is_not_found() => return Err(error.into()),
            _ => {
                self.builder.forget(uid);
                return Ok(());
            }
        };
        if is_virtual {
            // The owner exists: its monitor will report it.
            return Ok(());
        }
        if deleting_dependents {
            return self.process_deleting_dependents_item(uid, &resource, &latest).await;
        }
        let references = latest["metadata"]["ownerReferences"].as_array().map_or(&[][..], Vec::as_slice);
        if references.is_empty() || object::is_being_deleted(&latest) {
            return Ok(());
        }
        let owners = self.classify(&latest, &resource, references).await?;
        if !owners.solid.is_empty() {
            let gone: Vec<&Value> = owners.dangling.iter().chain(&owners.waiting).copied().collect();
            if !gone.is_empty() {
                let kept = references.iter().filter(|one| !gone.contains(one)).cloned().collect();
                patches::owner_references(&self.client, &resource, &latest, kept).await?;
            }
            return Ok(());
        }
        let has_dependents = self.builder.graph.borrow().get(uid).is_some_and(|node| !node.dependents.is_empty());
        let finalizers = latest["metadata"]["finalizers"].as_array();
        let held_by = |name: &str| finalizers.is_some_and(|all| all.iter().any(|one| one == name));
        let policy = if !owners.waiting.is_empty() && has_dependents {
            if self.is_in_a_circle(uid) {
                // Two objects wait for each other: this dependent no longer blocks its owner.
                patches::owner_references(&self.client, &resource, &latest, unblocked(references)).await?;
                return self.delete_again(uid);
            }
            "Foreground"
        } else if held_by(ORPHAN_DEPENDENTS) {
            "Orphan"
        } else if held_by(DELETE_DEPENDENTS) {
            "Foreground"
        } else {
            "Background"
        };
        let version = object::text(&latest, "/metadata/resourceVersion");
        let options = DeleteOptions {
            propagation_policy: Some(policy),
            uid: Some(uid),
            resource_version: Some(version),
            ..DeleteOptions::default()
        };
        ignore_not_found(self.client.delete(&resource, namespace, &key.name, options).await)?;
        Ok(())
    }

    /// What the graph knows of an object, if the object needs any work.
    fn look_up(&self, uid: &str) -> Option<(Kind, kubechurn_client::api::object::ObjectKey, bool, bool)> {
        let graph = self.builder.graph.borrow();
        let node = graph.get(uid)?;
        let idle = !node.is_virtual && !node.deleting_dependents && (node.being_deleted || node.owners.is_empty());
        if idle {
            return None;
        }
        let key = kubechurn_client::api::object::ObjectKey::new(&node.namespace, &node.name);
        Some(((*node.kind).clone(), key, node.is_virtual, node.deleting_dependents))
    }

    /// Removes the finalizer of an object that is deleted in the foreground, or queues the dependents that block it
    /// (`processDeletingDependentsItem`).
    async fn process_deleting_dependents_item(
        &self,
        uid: &str,
        resource: &ApiResource,
        latest: &Value,
    ) -> Result<(), SyncError> {
        let blocking = self.builder.graph.borrow().blocking_dependents(uid);
        if blocking.is_empty() {
            return patches::remove_finalizer(&self.client, resource, latest, DELETE_DEPENDENTS).await;
        }
        let graph = self.builder.graph.borrow();
        let waits = |dependent: &str| graph.get(dependent).is_some_and(|node| node.deleting_dependents);
        blocking.into_iter().filter(|one| !waits(one)).for_each(|one| self.builder.queue.add(Key::Delete(one)));
        Ok(())
    }

    /// Whether a dependent is itself waiting for its dependents, which may include this object.
    fn is_in_a_circle(&self, uid: &str) -> bool {
        let graph = self.builder.graph.borrow();
        let waits = |dependent: &graph::Uid| graph.get(dependent).is_some_and(|node| node.deleting_dependents);
        graph.get(uid).is_some_and(|node| node.dependents.iter().any(waits))
    }

    fn delete_again(&self, uid: &str) -> Result<(), SyncError> {
        self.builder.queue.add_rate_limited(Key::Delete(uid.into()));
        Ok(())
    }

    /// Classifies every owner reference of an object.
    async fn classify<'a>(
        &self,
        object: &Value,
        resource: &ApiResource,
        references: &'a [Value],
    ) -> Result<Owners<'a>, SyncError> {
        let mut owners = Owners::default();
        for reference in references {
            let into = match self.find(object, resource, reference).await? {
                FoundOwner::Solid => &mut owners.solid,
                FoundOwner::Dangling => &mut owners.dangling,
                FoundOwner::Waiting => &mut owners.waiting,
            };
            into.push(reference);
        }
        Ok(owners)
    }

    /// Requests an owner from the server (`isDangling`).
    async fn find(
        &self,
        dependent: &Value,
        resource: &ApiResource,
        reference: &Value,
    ) -> Result<FoundOwner, SyncError> {
        let (uid, name) = (object::text(reference, "/uid"), object::text(reference, "/name"));
        let kind = Kind {
            api_version: object::text(reference, "/apiVersion").into(),
            kind: object::text(reference, "/kind").into(),
        };
        let absent = absent(uid, &kind, object::namespace(dependent), name);
        // An owner without a namespace is absent for dependents of every namespace.
        let of_cluster = Absent { namespace: "".into(), ..absent.clone() };
        if self.builder.absent.borrow().has(&absent) || self.builder.absent.borrow().has(&of_cluster) {
            return Ok(FoundOwner::Dangling);
        }
        // If no resource serves the kind, the owner cannot be known to be deleted.
        let Some(owner_resource) = self.monitors.resource(&kind) else { return Ok(FoundOwner::Solid) };
        if owner_resource.namespaced && !resource.namespaced {
            // A cluster-scoped dependent cannot refer to an owner in a namespace.
            self.invalid_namespace(dependent, resource, reference, "");
            return Ok(FoundOwner::Solid);
        }
        let namespace = if owner_resource.namespaced { object::namespace(dependent) } else { "" };
        match self.client.get(&owner_resource, namespace, name).await {
            Ok(owner) if object::uid(&owner) == uid => {
                let finalizers = owner["metadata"]["finalizers"].as_array();
                let waits = finalizers.is_some_and(|all| all.iter().any(|one| one == DELETE_DEPENDENTS));
                self.builder.graph.borrow_mut().expect(object::uid(dependent), uid);
                Ok(if object::is_being_deleted(&owner) && waits { FoundOwner::Waiting } else { FoundOwner::Solid })
            }
            Err(error) if !error.is_not_found() => Err(error.into()),
            _ => {
                let elsewhere = self.builder.graph.borrow().get(uid).is_some_and(|node| {
                    !node.is_virtual && !node.namespace.is_empty() && *node.namespace != *namespace
                });
                if elsewhere {
                    self.invalid_namespace(dependent, resource, reference, namespace);
                }
                self.builder.absent.borrow_mut().add(Absent { namespace: namespace.into(), ..absent });
                Ok(FoundOwner::Dangling)
            }
        }
    }

    /// Records an Event about an owner reference that is not possible (`reportInvalidNamespaceOwnerRef`).
    fn invalid_namespace(&self, dependent: &Value, resource: &ApiResource, reference: &Value, namespace: &str) {
        let mut about = dependent.clone();
        about["apiVersion"] = crate::client::resources::api_version(resource).into();
        about["kind"] = resource.kind.into();
        let text = |field: &str| object::text(reference, field);
        let message = format!(
            "ownerRef [{}/{}, namespace: {namespace}, name: {}, uid: {}] does not exist in namespace {:?}",
            text("/apiVersion"),
            text("/kind"),
            text("/name"),
            text("/uid"),
            object::namespace(dependent)
        );
        self.recorder.warning(&about, "OwnerRefInvalidNamespace", &message);
    }

    /// Removes an object from the owner references of all its dependents, and then removes its finalizer
    /// (`attemptToOrphanWorker`).
    async fn attempt_to_orphan(&self, uid: &str) -> Result<(), SyncError> {
        let found = self.builder.graph.borrow().get(uid).map(|node| {
            let dependents: Vec<graph::Uid> = node.dependents.iter().cloned().collect();
            ((*node.kind).clone(), node.namespace.to_string(), node.name.to_string(), dependents)
        });
        let Some((kind, namespace, name, dependents)) = found else { return Ok(()) };
        for dependent in dependents {
            self.orphan(&dependent, uid).await?;
        }
        let Some(resource) = self.monitors.resource(&kind) else { return Ok(()) };
        let namespace = if resource.namespaced { &*namespace } else { "" };
        match ignore_not_found(self.client.get(&resource, namespace, &name).await)? {
            Some(latest) if object::uid(&latest) == uid => {
                patches::remove_finalizer(&self.client, &resource, &latest, ORPHAN_DEPENDENTS).await
            }
            _ => Ok(()),
        }
    }

    async fn orphan(&self, dependent: &str, owner: &str) -> Result<(), SyncError> {
        let found = self
            .builder
            .graph
            .borrow()
            .get(dependent)
            .map(|node| ((*node.kind).clone(), node.namespace.to_string(), node.name.to_string()));
        let Some((kind, namespace, name)) = found else { return Ok(()) };
        let Some(resource) = self.monitors.resource(&kind) else { return Ok(()) };
        let namespace = if resource.namespaced { &*namespace } else { "" };
        let latest = ignore_not_found(self.client.get(&resource, namespace, &name).await)?;
        let Some(latest) = latest else { return Ok(()) };
        let references = latest["metadata"]["ownerReferences"].as_array().map_or(&[][..], Vec::as_slice);
        let kept: Vec<Value> = references.iter().filter(|one| one["uid"] != owner).cloned().collect();
        if object::uid(&latest) != dependent || kept.len() == references.len() {
            return Ok(());
        }
        patches::owner_references(&self.client, &resource, &latest, kept).await
    }
}

/// The same owner references, none of which blocks (`unblockOwnerReferencesStrategicMergePatch`).
fn unblocked(references: &[Value]) -> Vec<Value> {
    let mut references = references.to_vec();
    references.iter_mut().for_each(|one| one["blockOwnerDeletion"] = false.into());
    references
}
