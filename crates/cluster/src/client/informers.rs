//! The informers of one program: a [`SharedInformerFactory`] whose reflectors are kept going by tasks.
//!
//! All of it lives on one thread. A handler is called when no informer is borrowed, so that it may read any
//! [`super::lister::Lister`]. The queue between reflector and store is the one that never folds: what is created and
//! deleted between two looks is told as an addition and a deletion, which [expectations] count on.
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
use kubechurn_client::cache::queue_kind::QueueKind;
use kubechurn_client::cache::reflector::{Action, Input, Options};
use kubechurn_client::cache::shared_informer::{InformerOptions, SharedInformer};
use kubechurn_client::cache::store::{Change, Store};
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio::time::{Duration, Instant};

use super::lister_watcher::{ListerWatcher, Told};
use super::rest::Client;
use crate::random::Random;

/// The index that files objects under the uids of their owners.
pub const OWNER: &str = "owner";

/// The informers. Clones are the same ones.
#[derive(Clone)]
pub struct Informers(Rc<Shared>);

/// Who is told of a change.
type Tell = Rc<dyn Fn(&Change)>;

struct Shared {
    client: Client,
    factory: RefCell<SharedInformerFactory>,
    handlers: RefCell<Vec<(Registration, Tell)>>,
    tasks: RefCell<Vec<JoinHandle<()>>>,
    random: RefCell<Random>,
    began: Instant,
    /// Told after each look, for those who wait for the first lists.
    looked: Notify,
}

impl fmt::Debug for Informers {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Informers").field(&self.0.factory.borrow().len()).finish()
    }
}

/// Keeps what an informer tells, until no informer is borrowed.
#[derive(Default)]
struct Collected(Vec<Change>);

impl ResourceEventHandler for Collected {
    fn changed(&mut self, _now: f64, change: &Change) -> Handled {
        self.0.push(change.clone());
        Ok(())
    }
}

impl Informers {
    /// No informers yet; those to come ask through `client`. Waits are spread by numbers made from `seed`.
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

    /// The informer of a part of the objects, a new one if there is none yet (`InformerFor`). One that is new begins
    /// with [`Self::start`].
    pub(super) fn informer_for(&self, resource: ApiResource, scope: &Scope) -> InformerId {
        self.0.factory.borrow_mut().informer_for(resource, scope, || informer(resource))
    }

    /// Has `tell` hear of every change of what is known from now on, and first of all that is known
    /// (`AddEventHandler`).
    pub(super) fn add_event_handler(&self, id: InformerId, options: HandlerOptions, tell: impl Fn(&Change) + 'static) {
        let registration = self.0.factory.borrow_mut().add_event_handler(id, options, self.now());
        if let Some(registration) = registration {
            self.0.handlers.borrow_mut().push((registration, Rc::new(tell)));
        }
    }

    /// Starts the informers that are new, and tells new handlers of the others what is known. Called on a `LocalSet`;
    /// the tasks end with [`Self::shutdown`].
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

    /// Resolves once every first list has reached its handlers (`WaitForCacheSync`).
    pub async fn wait_for_cache_sync(&self) {
        loop {
            let looked = self.0.looked.notified();
            if self.0.factory.borrow().has_synced() {
                return;
            }
            looked.await;
        }
    }

    /// Ends all informers.
    pub fn shutdown(&self) {
        self.0.factory.borrow_mut().shutdown();
        self.0.handlers.borrow_mut().clear();
        self.0.tasks.borrow_mut().drain(..).for_each(|task| task.abort());
    }

    /// Milliseconds on a clock that never runs backwards: the time of the informers and of the work queues.
    pub fn now(&self) -> f64 {
        self.0.began.elapsed().as_secs_f64() * 1000.0
    }

    /// Lets `read` look at a store; `None` if the informer has ended.
    pub(super) fn with_store<T>(&self, id: InformerId, read: impl FnOnce(&Store) -> T) -> Option<T> {
        self.0.factory.borrow().get(id).map(|informer| read(informer.store()))
    }

    /// Adds an index to a store, unless there is one of that name.
    pub(super) fn add_index(&self, id: InformerId, name: &str, of: IndexFunc) {
        if let Some(informer) = self.0.factory.borrow_mut().get_mut(id) {
            // An index of that name files objects in the same way, for it is named after that.
            let _ = informer.add_index(name, of);
        }
    }

    /// Keeps one informer going until its task is aborted.
    async fn run(self, id: InformerId, lister_watcher: ListerWatcher) {
        let mut under_way: LocalBoxStream<'static, Told> = stream::pending().boxed_local();
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
                told = under_way.next() => match told {
                    Some(told) => self.told(id, told),
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

    fn told(&self, id: InformerId, told: Told) -> Option<Action> {
        match told {
            Told::Opened => self.input(id, Input::Opened),
            // A frame that ends the watch leaves those behind it unread.
            Told::Frames(lines) => {
                let mut frames = lines.split_inclusive(|byte| *byte == b'\n');
                frames.find_map(|frame| self.input(id, Input::Bytes(frame)))
            }
            Told::Closed(code) => self.input(id, Input::Closed(code)),
            Told::Page(page) => self.input(id, Input::PageBytes(&page)),
            Told::Failed(failure) => self.input(id, Input::Failed(failure)),
            Told::ProbePassed => self.input(id, Input::ProbePassed),
        }
    }

    fn input(&self, id: InformerId, input: Input<'_>) -> Option<Action> {
        let random = self.0.random.borrow_mut().next() as f64 / (u64::MAX as f64 + 1.0);
        let moment = Moment { now: self.now(), random };
        self.0.factory.borrow_mut().get_mut(id)?.handle(input, moment)
    }

    fn deadline(&self, id: InformerId) -> Option<Instant> {
        let deadline = self.0.factory.borrow().get(id)?.reflector().deadline()?;
        // A day is long enough, and never too long for the clock.
        let wait = Duration::from_secs_f64((deadline / 1000.0).clamp(0.0, 86_400.0 * 365.0));
        Some(self.0.began + wait)
    }

    /// Brings what has come to the store and to the handlers.
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
            // Nobody reads these; what a reflector has to say about itself shall not pile up.
            informer.take_notices();
        }
        for (registration, changes) in collected {
            let handlers = self.0.handlers.borrow();
            let tell = handlers.iter().find(|(one, _)| *one == registration).map(|(_, tell)| Rc::clone(tell));
            drop(handlers);
            let Some(tell) = tell else { continue };
            changes.iter().for_each(|change| tell(change));
        }
        self.0.looked.notify_waiters();
    }
}

/// An informer that keeps whole objects, and files them under their owners and namespaces.
fn informer(resource: ApiResource) -> SharedInformer {
    let keep = Keep { owners: true, labels: true, text: true };
    let reflector = Options { keep, kind: Some(resource.kind), ..Options::default() };
    let options = InformerOptions { reflector, queue: QueueKind::RealFifo, ..InformerOptions::default() };
    let mut informer = SharedInformer::new(Decode::METADATA, options);
    for (name, of) in [(OWNER, index::by_owner()), (index::NAMESPACE, index::by_namespace())] {
        // The informer is new: it has no index yet.
        let _ = informer.add_index(name, of);
    }
    informer
}
