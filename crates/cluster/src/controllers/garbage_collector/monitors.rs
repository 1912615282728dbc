//! One monitor for each resource that discovery lists as deletable, listable and watchable (`GarbageCollector.Sync`,
//! `resyncMonitors`), and the mapping from kinds to resources (`restmapper`).

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use kubechurn_client::api::resource::ApiResource;
use tokio::sync::Notify;
use tokio::task::JoinHandle;

use super::graph::{Key, Kind};
use super::monitor::{self, Builder};
use crate::client::api_error::ApiError;
use crate::client::discovery::{Discovered, discover};
use crate::client::resources::{EVENTS, api_version};
use crate::client::rest::Client;

/// The running monitors, and the result of the last discovery.
#[derive(Debug)]
pub struct Monitors {
    /// Requests whole objects, for discovery.
    client: Client,
    builder: Builder,
    running: RefCell<Vec<(ApiResource, Running)>>,
    /// The resource of every kind in every version.
    mapper: RefCell<HashMap<Kind, ApiResource>>,
    changed: Rc<Notify>,
}

#[derive(Debug)]
struct Running {
    task: JoinHandle<()>,
    synced: Rc<Cell<bool>>,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Monitors {
    /// No monitors before the first [`Self::resync`].
    pub fn new(client: Client, builder: Builder) -> Self {
        Self { client, builder, running: RefCell::default(), mapper: RefCell::default(), changed: Rc::default() }
    }

    /// Runs discovery, starts a monitor for each new resource, and ends those of resources that no longer exist. Must
    /// be called on a `LocalSet`.
    ///
    /// # Errors
    /// When discovery fails; the monitors stay as they are.
    pub async fn resync(&self) -> Result<(), ApiError> {
        let all = discover(&self.client).await?;
        let mapper = all.iter().map(|one| (kind_of(&one.resource), one.resource));
        *self.mapper.borrow_mut() = mapper.collect();
        let wanted: Vec<ApiResource> = all.iter().filter(|one| is_monitored(one)).map(|one| one.resource).collect();
        let known: Vec<ApiResource> = self.running.borrow().iter().map(|(resource, _)| *resource).collect();
        // A monitor ends by itself when the server no longer serves its resource.
        self.running
            .borrow_mut()
            .retain(|(resource, running)| wanted.contains(resource) && !running.task.is_finished());
        let is_wanted = |gone: &ApiResource| {
            // Another version of the resource has the same objects.
            wanted.iter().any(|one| (one.group, one.plural) == (gone.group, gone.plural))
        };
        known.iter().filter(|resource| !is_wanted(resource)).for_each(|resource| self.forget_all(resource));
        for resource in wanted {
            if self.running.borrow().iter().all(|(running, _)| *running != resource) {
                let running = self.start(resource);
                self.running.borrow_mut().push((resource, running));
            }
        }
        // The kinds of virtual owners that were unknown may be served now.
        let unseen = self.builder.graph.borrow().virtual_nodes();
        self.builder.add_all(unseen.into_iter().map(Key::Delete).collect());
        self.changed.notify_waiters();
        Ok(())
    }

    /// The resource of a kind; `None` if the server has none.
    pub fn resource(&self, kind: &Kind) -> Option<ApiResource> {
        self.mapper.borrow().get(kind).copied()
    }

    /// Waits until all existing objects are in the graph: until then it cannot say what blocks what.
    pub async fn wait_for_sync(&self) {
        loop {
            let changed = self.changed.notified();
            let synced = {
                let running = self.running.borrow();
                !running.is_empty() && running.iter().all(|(_, one)| one.synced.get())
            };
            if synced {
                return;
            }
            changed.await;
        }
    }

    fn start(&self, resource: ApiResource) -> Running {
        let synced: Rc<Cell<bool>> = Rc::default();
        let changed = Rc::clone(&self.changed);
        let notify = move || changed.notify_waiters();
        let (client, builder) = (self.client.metadata(), self.builder.clone());
        let task = tokio::task::spawn_local(monitor::run(client, resource, builder, Rc::clone(&synced), notify));
        Running { task, synced }
    }

    /// Removes all objects of a resource that is no longer served.
    fn forget_all(&self, resource: &ApiResource) {
        let kind = kind_of(resource);
        let gone = self.builder.graph.borrow().missing(&kind, |_| false);
        gone.iter().for_each(|uid| self.builder.forget(uid));
    }
}

/// Events are left out: their relation to other objects is not an owner reference, and there are too many of them
/// (`DefaultIgnoredResources`).
fn is_monitored(one: &Discovered) -> bool {
    let is_events = one.resource.plural == EVENTS.plural && ["", "events.k8s.io"].contains(&one.resource.group);
    one.preferred && one.supports(&["delete", "list", "watch"]) && !is_events
}

fn kind_of(resource: &ApiResource) -> Kind {
    Kind { api_version: api_version(resource).into(), kind: resource.kind.into() }
}
