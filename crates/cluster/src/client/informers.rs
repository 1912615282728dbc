//! The informers of one program: a [`SharedInformerFactory`] whose reflectors are driven by tasks.
//!
//! The factory, its tasks and its handlers live on one thread. A handler is called when no informer is borrowed, so
//! that it may read any [`super::lister::Lister`]. The queue between reflector and store is the one that never folds
//! deltas: an object that is created and deleted between two drains is reported as an addition and a deletion, which
//! [expectations] count on.
//!
//! [expectations]: crate::controllers::expectations

use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;

use futures::StreamExt;
use futures::stream::{self, LocalBoxStream};
use kubechurn_client::api::extra::Keep;
use kubechurn_client::api::object::Decode;
use kubechurn_client::api::request::Scope;
use kubechurn_client::api::resource::ApiResource;
use kubechurn_client::cache::backoff::Moment;
use kubechurn_client::cache::factory::{InformerId, Registration, SharedInformerFactory};
use kubechurn_client::cache::handler::{Handled, HandlerOptions, ResourceEventHandler};
use kubechurn_client::cache::index::{self, IndexFunc};
use kubechurn_client::cache::real_fifo::RealFifo;
use kubechurn_client::cache::reflector::{Action, Input, Options};
use kubechurn_client::cache::shared_informer::{InformerOptions, SharedInformer};
use kubechurn_client::cache::store::{Change, Store};
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio::time::{Duration, Instant};

use super::lister_watcher::{ListerWatcher, Outcome};
use super::rest::Client;
use crate::random::Random;

/// The index that files objects under the uids of their owners.
pub const OWNER: &str = "owner";

/// The informers. Clones share the same informers.
#[derive(Clone)]
pub struct Informers(Rc<Shared>);

/// A callback that receives a change.
type EventHandler = Rc<dyn Fn(&Change)>;

struct Shared {
    client: Client,
    factory: RefCell<SharedInformerFactory<RealFifo>>,
    handlers: RefCell<Vec<(Registration, EventHandler)>>,
    tasks: RefCell<Vec<JoinHandle<()>>>,
    random: RefCell<Random>,
    began: Instant,
    /// Notified after each delivery, for callers that wait for the first lists.
    looked: Notify,
}

impl fmt::Debug for Informers {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Informers").field(&self.0.factory.borrow().len()).finish()
    }
}

/// Collects the changes that an informer reports, until no informer is borrowed.
#[derive(Default)]
struct Collected(Vec<Change>);

impl ResourceEventHandler for Collected {
    fn changed(&mut self, _now: f64, change: &Change) -> Handled {
        self.0.push(change.clone());
        Ok(())
    }
}

impl Informers {
    /// No informers yet. Informers send their requests through `client`; `seed` is the seed of the jitter of their
    /// waits.
    pub fn new(client: Client, seed: u64) -> Self {
        Self(Rc::new(Shared {
            client,
            factory: RefCell::default(),
            handlers: RefCell::default(),
            tasks: RefCell::default(),
            random: RefCell::new(Random::new(seed)),
            began: Instant::now(),
            looked: Notify::new(),
        }))
    }

    /// The informer of a resource in a scope; creates it if there is none (`InformerFor`). A new informer runs once
    /// [`Self::start`] is called.
    pub(super) fn informer_for(&self, resource: ApiResource, scope: &Scope) -> InformerId {
        self.0.factory.borrow_mut().informer_for(resource, scope, || informer(resource))
    }

    /// Calls `handler` with every object that is known, and then with every change (`AddEventHandler`).
    pub(super) fn add_event_handler(
        &self,
        id: InformerId,
        options: HandlerOptions,
        handler: impl Fn(&Change) + 'static,
    ) {
        let registration = self.0.factory.borrow_mut().add_event_handler(id, options, self.now());
        if let Some(registration) = registration {
            self.0.handlers.borrow_mut().push((registration, Rc::new(handler)));
        }
    }

    /// Starts the informers that are new, and notifies new handlers of running informers of what is known. Must be called on
    /// a `LocalSet`; the tasks end with [`Self::shutdown`].
    pub fn start(&self) {
        let running: Vec<InformerId> = self.0.factory.borrow().iter().map(|(id, _)| id).collect();
        running.into_iter().for_each(|id| self.deliver(id));
        let new = self.0.factory.borrow_mut().start();
        for (id, resource, scope) in new {
            let lister_watcher = ListerWatcher { client: self.0.client.clone(), resource, scope };
            let task = tokio::task::spawn_local(self.clone().run(id, lister_watcher));
            self.0.tasks.borrow_mut().push(task);
        }
    }

    /// Resolves once the first list of every informer has been handed to its handlers (`WaitForCacheSync`).
    pub async fn wait_for_cache_sync(&self) {
        loop {
            let looked = self.0.looked.notified();
            if self.0.factory.borrow().has_synced() {
                return;
            }
            looked.await;
        }
    }

    /// Stops all informers.
    pub fn shutdown(&self) {
        self.0.factory.borrow_mut().shutdown();
        self.0.handlers.borrow_mut().clear();
        self.0.tasks.borrow_mut().drain(..).for_each(|task| task.abort());
    }

    /// Milliseconds on a clock that never runs backwards: the clock of the informers and of the work queues.
    pub fn now(&self) -> f64 {
        self.0.began.elapsed().as_secs_f64() * 1000.0
    }

    /// Calls `read` with a store; `None` if the informer has been stopped.
    pub(super) fn with_store<T>(&self, id: InformerId, read: impl FnOnce(&Store) -> T) -> Option<T> {
        self.0.factory.borrow().get(id).map(|informer| read(informer.store()))
    }

    /// Adds an index to a store, unless there is one of that name.
    pub(super) fn add_index(&self, id: InformerId, name: &str, of: IndexFunc) {
        if let Some(informer) = self.0.factory.borrow_mut().get_mut(id) {
            // An index is named after what it indexes, so an index that already has this name is the same one.
            let _ = informer.add_index(name, of);
        }
    }

    /// Drives one informer until its task is aborted.
    async fn run(self, id: InformerId, lister_watcher: ListerWatcher) {
        let mut under_way: LocalBoxStream<'static, Outcome> = stream::pending().boxed_local();
        let mut action = self.input(id, Input::Start);
        loop {
            if let Some(action) = action.take() {
                under_way = lister_watcher.perform(action);
            }
            let deadline = self.deadline(id);
            let timer = async {
                match deadline {
                    Some(deadline) => tokio::time::sleep_until(deadline).await,
                    None => std::future::pending().await,
                }
            };
            action = tokio::select! {
                outcome = under_way.next() => match outcome {
                    Some(outcome) => self.outcome(id, outcome),
                    None => {
                        under_way = stream::pending().boxed_local();
                        None
                    }
                },
                () = timer => self.input(id, Input::Timer),
            };
            self.deliver(id);
        }
    }

    fn outcome(&self, id: InformerId, outcome: Outcome) -> Option<Action> {
        match outcome {
            Outcome::Opened => self.input(id, Input::Opened),
            // A frame may end the watch; the frames after it are then not read.
            Outcome::Frames(lines) => {
                let mut frames = lines.split_inclusive(|byte| *byte == b'\n');
                frames.find_map(|frame| self.input(id, Input::Bytes(frame)))
            }
            Outcome::Closed(code) => self.input(id, Input::Closed(code)),
            Outcome::Page(page) => self.input(id, Input::PageBytes(&page)),
            Outcome::Failed(failure) => self.input(id, Input::Failed(failure)),
            Outcome::ProbePassed => self.input(id, Input::ProbePassed),
        }
    }

    fn input(&self, id: InformerId, input: Input<'_>) -> Option<Action> {
        let random = self.0.random.borrow_mut().next() as f64 / (u64::MAX as f64 + 1.0);
        let moment = Moment { now: self.now(), random };
        self.0.factory.borrow_mut().get_mut(id)?.handle(input, moment)
    }

    fn deadline(&self, id: InformerId) -> Option<Instant> {
        let deadline = self.0.factory.borrow().get(id)?.reflector().deadline()?;
        // A year is long enough, and within the range of the clock.
        let wait = Duration::from_secs_f64((deadline / 1000.0).clamp(0.0, 86_400.0 * 365.0));
        Some(self.0.began + wait)
    }

    /// Drains an informer into its store and calls the handlers.
    fn deliver(&self, id: InformerId) {
        let now = self.now();
        let registrations: Vec<Registration> =
            self.0.handlers.borrow().iter().map(|(one, _)| *one).filter(|one| one.informer == id).collect();
        let mut collected = Vec::new();
        if let Some(informer) = self.0.factory.borrow_mut().get_mut(id) {
            informer.drain(usize::MAX, now);
            for registration in registrations {
                let mut changes = Collected::default();
                informer.deliver(registration.handler, &mut changes);
                collected.push((registration, changes.0));
            }
            // Nothing reads the notices of these informers; they are taken so that they do not pile up.
            informer.take_notices();
        }
        for (registration, changes) in collected {
            let handlers = self.0.handlers.borrow();
            let handler = handlers.iter().find(|(one, _)| *one == registration).map(|(_, handler)| Rc::clone(handler));
            drop(handlers);
            let Some(handler) = handler else { continue };
            for change in &changes {
                #[cfg(test)]
                crate::controllers::answered::during(change, || handler(change));
                #[cfg(not(test))]
                handler(change);
            }
        }
        self.0.looked.notify_waiters();
    }
}

/// An informer that keeps whole objects, indexed by owner and by namespace.
fn informer(resource: ApiResource) -> SharedInformer<RealFifo> {
    let keep = Keep { owners: true, labels: true, text: true };
    let reflector = Options { keep, kind: Some(resource.kind), ..Options::default() };
    let options = InformerOptions { reflector, ..InformerOptions::default() };
    let mut informer = SharedInformer::with_queue(Decode::METADATA, options);
    for (name, of) in [(OWNER, index::by_owner()), (index::NAMESPACE, index::by_namespace())] {
        // The informer is new, so that the name cannot be taken.
        let _ = informer.add_index(name, of);
    }
    informer
}
