//! Watches the metadata of one resource and updates the graph (`graph_builder.go`, `monitor`). It is a reflector of the
//! client crate whose store is the graph itself, so no object is kept twice.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use futures::StreamExt;
use futures::stream::{self, LocalBoxStream};
use kubechurn_client::api::object::{Decode, Object};
use kubechurn_client::api::request::Scope;
use kubechurn_client::api::resource::ApiResource;
use kubechurn_client::api::uid::Uid;
use kubechurn_client::cache::backoff::Moment;
use kubechurn_client::cache::complete_list::CompleteList;
use kubechurn_client::cache::delta::DeltaType;
use kubechurn_client::cache::ledger::Ledger;
use kubechurn_client::cache::queue::Queued;
use kubechurn_client::cache::reflector::{Action, Health, Input, Notice, Options, Reflector, ReflectorStore, Unread};
use rustc_hash::FxHashSet;
use tokio::time::{Duration, Instant};

use super::super::queue::Queue;
use super::absent_owners::{AbsentOwners, absent};
use super::graph::{Graph, Key};
use super::metadata;
use crate::client::lister_watcher::{ListerWatcher, Outcome};
use crate::client::resources::api_version;
use crate::client::rest::Client;

/// The state that the monitors share.
#[derive(Debug, Clone)]
pub struct Builder {
    /// The graph that the monitors build.
    pub graph: Rc<RefCell<Graph>>,
    /// The queue of objects to check.
    pub queue: Queue<Key>,
    /// Owners that are known to be deleted.
    pub absent: Rc<RefCell<AbsentOwners>>,
}

impl Builder {
    /// Queues everything that a change requires to be checked.
    pub fn add_all(&self, work: Vec<Key>) {
        work.into_iter().for_each(|key| self.queue.add(key));
    }

    /// Removes a deleted object and queues its dependents. The deletion is remembered, because by the time of the check
    /// the object's kind may be gone as well, and then the server could not be asked (`processGraphChanges`,
    /// `absentOwnerCache.Add`).
    pub fn forget(&self, uid: &str) {
        let owner = self.graph.borrow().get(uid).map(|node| absent(uid, &node.kind, &node.namespace, &node.name));
        let work = self.graph.borrow_mut().forget(uid);
        if let Some(owner) = owner.filter(|_| !work.is_empty()) {
            self.absent.borrow_mut().add(owner);
        }
        self.add_all(work);
    }
}

/// The graph, as the store of the reflector of one resource.
struct Sink {
    builder: Builder,
    api_version: String,
    kind: &'static str,
    ledger: Ledger,
}

impl Sink {
    fn observe(&self, object: &Object) {
        let work = {
            let mut graph = self.builder.graph.borrow_mut();
            let observed = metadata::observed(&mut graph, object, &self.api_version, self.kind);
            graph.observe(observed)
        };
        self.builder.add_all(work);
    }
}

impl ReflectorStore for Sink {
    fn event(&mut self, _now: f64, delta_type: DeltaType, object: Arc<Object>, _text: &str) -> Queued {
        match delta_type {
            DeltaType::Deleted => self.builder.forget(&object.uid.text()),
            _ => self.observe(&object),
        }
        Queued::Queued
    }

    fn streamed(&mut self, _now: f64, _delta_type: DeltaType, _object: &Arc<Object>, _text: &str) {}

    fn replace(&mut self, _now: f64, list: CompleteList, unread: &Unread) -> bool {
        list.iter().for_each(|object| self.observe(object));
        if !unread.is_empty() {
            // An object that is missing from the list may still exist.
            return true;
        }
        let there: FxHashSet<&Uid> = list.iter().map(|object| &object.uid).collect();
        let missing = {
            let mut graph = self.builder.graph.borrow_mut();
            let kind = graph.kind(&self.api_version, self.kind);
            graph.missing(&kind, |uid| there.contains(&Uid::new(uid)))
        };
        missing.iter().for_each(|uid| self.builder.forget(uid));
        false
    }

    fn resync(&mut self, _now: f64) {}

    fn notice(&mut self, _notice: Notice) {}

    fn ledger(&mut self) -> &mut Ledger {
        &mut self.ledger
    }
}

/// Watches a resource until the task is aborted, or the server no longer serves the resource. Once all existing objects
/// are in the graph, `synced` is set and `notify` is called.
pub async fn run(client: Client, resource: ApiResource, builder: Builder, synced: Rc<Cell<bool>>, notify: impl Fn()) {
    let lister_watcher = ListerWatcher { client, resource, scope: Scope::default() };
    let began = Instant::now();
    let now = || began.elapsed().as_secs_f64() * 1000.0;
    let mut reflector = Reflector::new(Decode(&metadata::decode), Options::default());
    let (api_version, kind) = (api_version(&resource), resource.kind);
    let mut sink = Sink { builder, api_version, kind, ledger: Ledger::default() };
    let mut under_way: LocalBoxStream<'static, Outcome> = stream::pending().boxed_local();
    // All waits have the same jitter: the monitors are few, and their server is in the same process.
    let mut input = |reflector: &mut Reflector, input: Input<'_>| {
        reflector.handle(input, Moment { now: now(), random: 0.5 }, &mut sink)
    };
    let mut action = input(&mut reflector, Input::Start);
    loop {
        if let Some(action) = action.take() {
            under_way = lister_watcher.perform(action);
        }
        if !synced.get() && reflector.has_listed() {
            synced.set(true);
            notify();
        }
        if reflector.health(now()) == Health::Stopped {
            // The resource is no longer served. If it comes back, a new monitor is started.
            synced.set(true);
            return notify();
        }
        let until =
            reflector.deadline().map(|deadline| began + Duration::from_secs_f64((deadline / 1000.0).clamp(0.0, 1e9)));
        let timer = async {
            match until {
                Some(until) => tokio::time::sleep_until(until).await,
                None => std::future::pending().await,
            }
        };
        action = tokio::select! {
            outcome = under_way.next() => match outcome {
                Some(outcome) => handle(outcome, |one| input(&mut reflector, one)),
                None => {
                    under_way = stream::pending().boxed_local();
                    None
                }
            },
            () = timer => input(&mut reflector, Input::Timer),
        };
    }
}

fn handle(outcome: Outcome, mut input: impl FnMut(Input<'_>) -> Option<Action>) -> Option<Action> {
    match outcome {
        Outcome::Opened => input(Input::Opened),
        // A frame may end the watch; the frames after it are then not read.
        Outcome::Frames(lines) => {
            lines.split_inclusive(|byte| *byte == b'\n').find_map(|frame| input(Input::Bytes(frame)))
        }
        Outcome::Closed(code) => input(Input::Closed(code)),
        Outcome::Page(page) => input(Input::PageBytes(&page)),
        Outcome::Failed(failure) => input(Input::Failed(failure)),
        Outcome::ProbePassed => input(Input::ProbePassed),
    }
}
