//! The SharedInformer: a reflector, the queue it fills, the store that the queue is drained into, and any number
//! of handlers that are told (client-go's `shared_informer.go`).

use std::sync::Arc;

use hashbrown::HashSet;
use rustc_hash::FxBuildHasher;

use crate::api::object::{Decode, Object};
use crate::api::uid::Uid;
use crate::cache::backlog::{Backlog, overrun};
use crate::cache::backoff::Moment;
use crate::cache::delta::DeltaType;
use crate::cache::handler::{HandlerOptions, ResourceEventHandler, Resynced};
use crate::cache::index::{IndexExists, IndexFunc};
use crate::cache::journal::Journal;
use crate::cache::ledger::Ledger;
use crate::cache::pipeline::Pipeline;
use crate::cache::processor::{HandlerId, HandlerLedger, SharedProcessor};
use crate::cache::queue::{Queue, Queued, Transform};
use crate::cache::queue_kind::QueueKind;
use crate::cache::reflector::{Action, Health, Input, Notice, Options, Reflector, ReflectorStore, Unread};
use crate::cache::store::Store;

/// Keeps the objects of one resource in one scope, for all who look at them.
#[derive(Debug)]
pub struct SharedInformer {
    reflector: Reflector,
    pipeline: Pipeline,
    ledger: Ledger,
    processor: SharedProcessor,
    /// What the watch itself had to say, until someone takes it.
    notices: Vec<Notice>,
    told: Told,
    namespaces: Texts,
    /// When the queue was empty last.
    settled: f64,
    /// What waits, and how much of that may.
    backlog: Backlog,
    most: Option<Backlog>,
    started: bool,
}

/// How an informer is made.
#[derive(Clone, Copy, Debug, Default)]
pub struct InformerOptions {
    /// How the reflector lists and watches.
    pub reflector: Options,
    /// The queue.
    pub queue: QueueKind,
    /// What is done to each object before it is queued.
    pub transform: Option<Transform>,
    /// How much may wait for the handlers; without it, any amount, as in client-go.
    pub backlog: Option<Backlog>,
}

/// Uids whose DELETED came while a list was streamed. The store learns of it when the list is
/// complete; the handlers have been told.
type Told = HashSet<Uid, FxBuildHasher>;

/// Texts that many objects repeat, so that each is kept once.
type Texts = HashSet<Arc<str>, FxBuildHasher>;

/// A view of an informer's parts that a reflector can write into.
struct Sink<'a> {
    pipeline: &'a mut Pipeline,
    ledger: &'a mut Ledger,
    processor: &'a mut SharedProcessor,
    notices: &'a mut Vec<Notice>,
    told: &'a mut Told,
    namespaces: &'a mut Texts,
    settled: f64,
    tap: &'a mut Tap<'a>,
}

/// Something that the handlers are told of as received, and the text that the object was read from.
#[derive(Clone, Copy, Debug)]
pub struct Received<'a> {
    /// When, in milliseconds.
    pub now: f64,
    /// What happened; an item of a list is [`DeltaType::Replaced`].
    pub delta_type: DeltaType,
    /// To what.
    pub object: &'a Arc<Object>,
    /// The object as the server sent it; `None` for a deletion that was seen only by absence.
    pub text: Option<&'a str>,
}

/// One who listens to what is received, while the texts are still there.
pub type Tap<'a> = dyn FnMut(Received<'_>) + 'a;

impl ReflectorStore for Sink<'_> {
    fn keep(&mut self, mut object: Object) -> Arc<Object> {
        let known = match self.pipeline.queue().newest(&object.key) {
            Some((newest, _)) => Some(newest),
            None => self.pipeline.store().get(&object.key),
        };
        let Some(known) = known else {
            match self.namespaces.get(&object.key.namespace) {
                Some(namespace) => object.key.namespace = namespace.clone(),
                None => drop(self.namespaces.insert(object.key.namespace.clone())),
            }
            return Arc::new(object);
        };
        // A relist mostly brings what is known: it costs no memory.
        if !object.resource_version.is_unset() && **known == object {
            return known.clone();
        }
        object.key = known.key.clone();
        if object.uid == known.uid {
            object.uid = known.uid.clone();
        }
        Arc::new(object)
    }

    fn event(&mut self, now: f64, delta_type: DeltaType, object: Arc<Object>, text: &str) -> Queued {
        let queued = self.pipeline.event(delta_type, object.clone());
        *self.ledger.place_of(queued) += 1;
        // The timeline keeps a deletion of something that no one knew; the table has no row for it.
        if matches!(queued, Queued::Queued | Queued::Unknown) {
            self.received(now, delta_type, &object, Some(text));
        }
        queued
    }

    fn streamed(&mut self, now: f64, delta_type: DeltaType, object: &Arc<Object>, text: &str) {
        let is_deleted = delta_type == DeltaType::Deleted;
        if is_deleted {
            self.told.insert(object.uid.clone());
        }
        if is_deleted || !self.is_known(object) {
            self.received(now, delta_type, object, Some(text));
        } else {
            self.ledger.repeated += 1;
        }
    }

    fn replace(&mut self, now: f64, mut items: Vec<Arc<Object>>, unread: &Unread) -> bool {
        let (kept, doubt) = self.kept(&items, unread);
        if !kept.is_empty() {
            self.ledger.kept += kept.len() as u64;
            items.extend(kept);
            items.sort_by(|a, b| a.key.cmp(&b.key));
        }
        let gone = self.pipeline.replace(items);
        // Those that no object has any more are let go.
        self.namespaces.retain(|namespace| Arc::strong_count(namespace) > 1);
        // Deletions seen by absence have no frame: the handlers hear of them here.
        let told = std::mem::take(self.told);
        self.ledger.gone += gone.len() as u64;
        for object in &gone {
            if told.contains(&object.uid) {
                self.ledger.repeated += 1;
            } else {
                self.received(now, DeltaType::Deleted, object, None);
            }
        }
        doubt
    }

    fn resync(&mut self, now: f64) {
        if self.processor.should_resync(now) {
            let count = self.pipeline.resync();
            if count > 0 {
                self.processor.resynced(now, Resynced { count, settled: self.settled });
            }
        }
    }

    fn notice(&mut self, notice: Notice) {
        self.notices.push(notice);
    }

    fn ledger(&mut self) -> &mut Ledger {
        self.ledger
    }
}

impl Sink<'_> {
    fn received(&mut self, now: f64, delta_type: DeltaType, object: &Arc<Object>, text: Option<&str>) {
        self.ledger.received += 1;
        (self.tap)(Received { now, delta_type, object, text });
        self.processor.received(now, delta_type, object);
    }

    /// What is known, and stays beside the items of a list although it is not among them. An object that the list names
    /// is there: only its newest state is not known. Where an item has not even a name, any object that the list does
    /// not name may be that one; so none of them is called deleted. Each says so of itself. Whether any of these may be
    /// gone.
    fn kept(&self, items: &[Arc<Object>], unread: &Unread) -> (Vec<Arc<Object>>, bool) {
        let flawed =
            |object: &Arc<Object>, flaw: String| Arc::new(Object { flaw: Some(flaw.into()), ..Object::clone(object) });
        let named = unread.named().filter_map(|(key, words)| {
            let newest = self.pipeline.newest(key)?;
            Some(flawed(newest, format!("its newest state could not be read, and this is an older one: {words}")))
        });
        let mut kept: Vec<Arc<Object>> = named.collect();
        let certain = kept.len();
        if unread.unnamed() > 0 {
            let words = match unread.unnamed() {
                1 => String::from("it may be gone: a list did not name it, and one of its items had no name"),
                count => format!("it may be gone: a list did not name it, and {count} of its items had no name"),
            };
            let absent = self.pipeline.absent(items).into_iter().filter(|object| !unread.names(&object.key));
            kept.extend(absent.map(|object| flawed(&object, words.clone())));
        }
        let doubt = kept.len() > certain;
        (kept, doubt)
    }

    /// Whether this very version is known already.
    fn is_known(&self, object: &Object) -> bool {
        let known = self.pipeline.newest(&object.key);
        known.is_some_and(|known| known.uid == object.uid && known.resource_version == object.resource_version)
    }
}

impl SharedInformer {
    /// An informer that does nothing before [`Input::Start`].
    pub fn new(decode: Decode, options: InformerOptions) -> SharedInformer {
        SharedInformer {
            reflector: Reflector::new(decode, options.reflector),
            pipeline: Pipeline::new(options.queue, options.transform),
            ledger: Ledger::default(),
            processor: SharedProcessor::default(),
            notices: Vec::new(),
            told: Told::default(),
            namespaces: Texts::default(),
            settled: f64::NEG_INFINITY,
            backlog: Backlog::default(),
            most: options.backlog,
            started: false,
        }
    }

    /// Hands an input to the reflector, and what it learns to the queue. Says what to do next.
    pub fn handle(&mut self, input: Input<'_>, moment: Moment) -> Option<Action> {
        self.handle_tapped(input, moment, &mut |_| {})
    }

    /// The same, and `tap` hears at once what the handlers will be told as received, with its text.
    pub fn handle_tapped(&mut self, input: Input<'_>, moment: Moment, tap: &mut Tap<'_>) -> Option<Action> {
        if !self.started && matches!(input, Input::Start) {
            self.started = true;
            self.processor.start();
            if let Some(every) = self.processor.resync_check_period() {
                self.reflector.resync_every(Some(every), moment.now);
            }
        }
        let before = self.ledger;
        let mut sink = Sink {
            pipeline: &mut self.pipeline,
            ledger: &mut self.ledger,
            processor: &mut self.processor,
            notices: &mut self.notices,
            told: &mut self.told,
            namespaces: &mut self.namespaces,
            settled: self.settled,
            tap,
        };
        let mut action = self.reflector.handle(input, moment, &mut sink);
        if let Some(overrun) = overrun(&mut self.backlog, self.most, before, sink.ledger, sink.processor.waiting()) {
            action = self.reflector.handle(Input::Overrun(overrun), moment, &mut sink).or(action);
        }
        self.count();
        action
    }

    /// Takes up to `limit` keys from the queue, and updates the store. The handlers hear of it when they take what
    /// waits for them. Returns how many keys were taken; fewer than `limit` means that the queue is empty.
    pub fn drain(&mut self, limit: usize, now: f64) -> usize {
        let mut taken = 0;
        while taken < limit && self.pipeline.pop(|change| self.processor.changed(now, change)) {
            taken += 1;
        }
        if self.pipeline.queue().is_empty() {
            self.settled = now;
        }
        self.count();
        if self.has_synced() {
            self.processor.synced();
        }
        taken
    }

    fn count(&mut self) {
        self.pipeline.count(&mut self.ledger);
    }

    /// A new handler. It first hears of all that the store holds (`AddEventHandlerWithOptions`).
    pub fn add_event_handler(&mut self, options: HandlerOptions, now: f64) -> HandlerId {
        let held = if options.changes { self.pipeline.store().list() } else { Vec::new() };
        let id = self.processor.add(options, held, now);
        if self.has_synced() {
            self.processor.synced();
        }
        id
    }

    /// A handler goes; a second time changes nothing. Whether it was there (`RemoveEventHandler`).
    pub fn remove_event_handler(&mut self, id: HandlerId) -> bool {
        self.processor.remove(id)
    }

    /// How often a handler is told everything again, in milliseconds, if ever.
    pub fn resync_period(&self, id: HandlerId) -> Option<f64> {
        self.processor.resync_period(id)
    }

    /// Has a handler be told everything again this often, in milliseconds, or never; at least
    /// [`crate::cache::handler::MINIMUM_RESYNC`] apart. It holds from now on, while the watch runs. The reflector's deadline
    /// may be another one after this.
    pub fn set_resync_period(&mut self, id: HandlerId, every: Option<f64>, now: f64) {
        let before = self.processor.resync_check_period();
        self.processor.set_resync_period(id, every, now);
        let check = self.processor.resync_check_period();
        if self.started && check != before {
            self.reflector.resync_every(check, now);
        }
    }

    /// Has a handler take what waits for it. An error or a panic costs it that one notification. Returns how many
    /// it was told.
    pub fn deliver(&mut self, id: HandlerId, handler: &mut dyn ResourceEventHandler) -> usize {
        self.processor.deliver(id, handler)
    }

    /// The same, but of what the store held when the handler came at most `limit` objects. Whether any of these are left:
    /// then the handler is to be asked again, and hears meanwhile of nothing that happened since.
    pub fn deliver_some(&mut self, id: HandlerId, handler: &mut dyn ResourceEventHandler, limit: usize) -> bool {
        self.processor.deliver_some(id, handler, limit);
        self.processor.is_catching_up(id)
    }

    /// Whether the first list has reached this handler.
    pub fn handler_has_synced(&self, id: HandlerId) -> bool {
        self.processor.has_synced(id)
    }

    /// What became of all that was meant for a handler; `None` if it has gone.
    pub fn handler_ledger(&self, id: HandlerId) -> Option<HandlerLedger> {
        self.processor.ledger(id)
    }

    /// How many handlers it has.
    pub fn handlers(&self) -> usize {
        self.processor.len()
    }

    /// Adds an index to the store, and files in it what is there (`AddIndexers`).
    ///
    /// # Errors
    ///
    /// When there is an index of that name.
    pub fn add_index(&mut self, name: &str, of: IndexFunc) -> Result<(), IndexExists> {
        self.pipeline.store_mut().add_index(name, of)
    }

    /// Has the store write down what changes from now on, or no longer; what it wrote down is returned.
    pub fn keep_journal(&mut self, keeps: bool) -> Option<Journal> {
        let journal = self.pipeline.store_mut().end_journal();
        if keeps {
            self.pipeline.store_mut().begin_journal();
        }
        journal
    }

    /// What the watch itself had to say since this was last asked, oldest first.
    pub fn take_notices(&mut self) -> Vec<Notice> {
        std::mem::take(&mut self.notices)
    }

    /// What is known.
    pub fn store(&self) -> &Store {
        self.pipeline.store()
    }

    /// What waits.
    pub fn queue(&self) -> &dyn Queue {
        self.pipeline.queue()
    }

    /// The machine that keeps it true.
    pub fn reflector(&self) -> &Reflector {
        &self.reflector
    }

    /// The counters.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Whether every frame and delta is accounted for.
    pub fn is_balanced(&self) -> bool {
        let (told, ledger) = (self.processor.told(), &self.ledger);
        ledger.is_balanced(self.queue().queued())
            && (told.changes, told.received) == (ledger.changes, ledger.received)
            && self.processor.is_balanced()
            && self.pipeline.is_balanced()
    }

    /// How much of what is shown can be believed.
    pub fn health(&self, now: f64) -> Health {
        self.reflector.health(now)
    }

    /// Whether the first list has reached the store.
    pub fn has_synced(&self) -> bool {
        self.reflector.has_listed() && self.queue().has_synced()
    }
}
