//! The SharedInformer: a reflector, the queue that it fills, the store into which the queue is drained, and any number
//! of handlers that are notified (client-go's `shared_informer.go`).

use std::sync::Arc;

use hashbrown::HashSet;
use rustc_hash::FxBuildHasher;

use crate::api::object::{Decode, Object};
use crate::api::uid::Uid;
use crate::cache::backlog::{Backlog, overrun};
use crate::cache::backoff::Moment;
use crate::cache::complete_list::CompleteList;
use crate::cache::delta::DeltaType;
use crate::cache::delta_fifo::DeltaFifo;
use crate::cache::handler::{HandlerOptions, ResourceEventHandler, Resynced};
use crate::cache::index::{IndexExists, IndexFunc};
use crate::cache::journal::Journal;
use crate::cache::ledger::Ledger;
use crate::cache::pipeline::Pipeline;
use crate::cache::processor::{HandlerId, HandlerLedger, Initial, SharedProcessor};
use crate::cache::queue::{Queue, Queued};
use crate::cache::reflector::{Action, Health, Input, Notice, Options, Reflector, ReflectorStore, Unread};
use crate::cache::store::Store;

/// Keeps the objects of one resource in one scope, for any number of handlers.
#[derive(Debug)]
pub struct SharedInformer<Q = DeltaFifo> {
    reflector: Reflector,
    pipeline: Pipeline<Q>,
    ledger: Ledger,
    processor: SharedProcessor,
    /// The reflector's notices, until someone takes them.
    notices: Vec<Notice>,
    streamed_deletions: StreamedDeletions,
    namespaces: Texts,
    /// When the queue was last empty, in milliseconds.
    settled: f64,
    /// What waits for the handlers.
    backlog: Backlog,
    /// How much of that may wait.
    most: Option<Backlog>,
    started: bool,
}

/// The settings of an informer.
#[derive(Clone, Copy, Debug, Default)]
pub struct InformerOptions {
    /// The reflector's settings.
    pub reflector: Options,
    /// How much may wait for the handlers; `None` is any amount, as in client-go. Beyond it the watch ends, and a new
    /// list follows.
    pub backlog: Option<Backlog>,
}

/// Uids whose DELETED came while a list was streamed. They were reported to the handlers at once, and the store learns
/// of them when the list is complete.
type StreamedDeletions = HashSet<Uid, FxBuildHasher>;

/// Texts that many objects have in common, each kept once.
type Texts = HashSet<Arc<str>, FxBuildHasher>;

/// The parts of an informer into which its reflector writes: everything but the reflector itself.
struct Sink<'a, Q> {
    pipeline: &'a mut Pipeline<Q>,
    ledger: &'a mut Ledger,
    processor: &'a mut SharedProcessor,
    notices: &'a mut Vec<Notice>,
    streamed_deletions: &'a mut StreamedDeletions,
    namespaces: &'a mut Texts,
    settled: f64,
    tap: &'a mut Tap<'a>,
}

/// A delta as it is reported to the handlers when it arrives, with the text that the object was read from.
#[derive(Clone, Copy, Debug)]
pub struct ReceivedDelta<'a> {
    /// When it arrived, in milliseconds.
    pub now: f64,
    /// What happened; an item of a list is [`DeltaType::Replaced`].
    pub delta_type: DeltaType,
    /// The object to which it happened.
    pub object: &'a Arc<Object>,
    /// The object as the server sent it; `None` for a deletion that only a list revealed.
    pub text: Option<&'a str>,
    /// Whether an item of a list was known before, in another version.
    pub was_known: bool,
}

/// A function that is called with each delta as it arrives, while its text is there.
pub type Tap<'a> = dyn FnMut(ReceivedDelta<'_>) + 'a;

impl<Q: Queue> ReflectorStore for Sink<'_, Q> {
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
        // A relist brings mostly objects that are known, which then cost no memory.
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
        *self.ledger.counter_of(queued) += 1;
        // The deletion of an unknown object is reported to handlers of what is received, too: a timeline has a mark for
        // it.
        if matches!(queued, Queued::Queued | Queued::Unknown) {
            self.received(now, delta_type, &object, Some(text));
        }
        queued
    }

    fn streamed(&mut self, now: f64, delta_type: DeltaType, object: &Arc<Object>, text: &str) {
        let is_deleted = delta_type == DeltaType::Deleted;
        if is_deleted {
            self.streamed_deletions.insert(object.uid.clone());
        }
        let known = self.pipeline.newest(&object.key).filter(|known| known.uid == object.uid);
        if !is_deleted && known.is_some_and(|known| known.resource_version == object.resource_version) {
            self.ledger.repeated += 1;
        } else {
            let was_known = known.is_some();
            self.report(ReceivedDelta { now, delta_type, object, text: Some(text), was_known });
        }
    }

    fn replace(&mut self, now: f64, mut list: CompleteList, unread: &Unread) -> bool {
        let (kept, doubt) = self.kept(&list, unread);
        if !kept.is_empty() {
            self.ledger.kept += kept.len() as u64;
            list.add(kept);
        }
        self.processor.listed();
        let gone = self.pipeline.replace(list);
        // Texts that no object has any more are dropped.
        self.namespaces.retain(|namespace| Arc::strong_count(namespace) > 1);
        // Reports deletions that only the list revealed.
        let reported = std::mem::take(self.streamed_deletions);
        self.ledger.gone += gone.len() as u64;
        for object in &gone {
            if reported.contains(&object.uid) {
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

impl<Q: Queue> Sink<'_, Q> {
    fn received(&mut self, now: f64, delta_type: DeltaType, object: &Arc<Object>, text: Option<&str>) {
        self.report(ReceivedDelta { now, delta_type, object, text, was_known: false });
    }

    fn report(&mut self, received: ReceivedDelta<'_>) {
        self.ledger.received += 1;
        (self.tap)(received);
        self.processor.received(received.now, received.delta_type, received.object);
    }

    /// The known objects that stay although they are not among the items of a list. There are two kinds of them, and
    /// each object says in its `flaw` which it is:
    ///
    /// - one that the list names, with a state that could not be read: it exists, and only its newest state is unknown;
    /// - where an item has not even a name, any object that the list does not name: it may be that item, and so it is not
    ///   called deleted. The second result is whether there are any of these.
    fn kept(&self, list: &CompleteList, unread: &Unread) -> (Vec<Arc<Object>>, bool) {
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
            let absent = self.pipeline.absent(list).into_iter().filter(|object| !unread.names(&object.key));
            kept.extend(absent.map(|object| flawed(&object, words.clone())));
        }
        let doubt = kept.len() > certain;
        (kept, doubt)
    }
}

impl SharedInformer {
    /// An informer that does nothing before [`Input::Start`].
    pub fn new(decode: Decode, options: InformerOptions) -> SharedInformer {
        SharedInformer::with_queue(decode, options)
    }
}

impl<Q: Queue> SharedInformer<Q> {
    /// [`SharedInformer::new`] with another queue than a DeltaFIFO.
    pub fn with_queue(decode: Decode, options: InformerOptions) -> SharedInformer<Q> {
        SharedInformer {
            reflector: Reflector::new(decode, options.reflector),
            pipeline: Pipeline::default(),
            ledger: Ledger::default(),
            processor: SharedProcessor::default(),
            notices: Vec::new(),
            streamed_deletions: StreamedDeletions::default(),
            namespaces: Texts::default(),
            settled: f64::NEG_INFINITY,
            backlog: Backlog::default(),
            most: options.backlog,
            started: false,
        }
    }

    /// Hands an input to the reflector, and what the reflector learns to the queue. Returns what to do next.
    pub fn handle(&mut self, input: Input<'_>, moment: Moment) -> Option<Action> {
        self.handle_tapped(input, moment, &mut |_| {})
    }

    /// [`SharedInformer::handle`] that also calls `tap` at once with each delta that is reported to the handlers as
    /// received, and with its text.
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
            streamed_deletions: &mut self.streamed_deletions,
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

    /// Takes up to `limit` keys from the queue, and updates the store. The handlers are notified of the changes when
    /// they take what waits for them ([`SharedInformer::deliver`]). Returns how many keys were taken; fewer than
    /// `limit` means that the queue is empty.
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

    /// Adds a handler, which first gets all objects of the store (`AddEventHandlerWithOptions`). While the first list
    /// is on its way, the store holds nothing, and a handler that asked for it gets what the list has brought.
    pub fn add_event_handler(&mut self, options: HandlerOptions, now: f64) -> HandlerId {
        let initial = match self.reflector.has_listed() {
            false if options.listing => Initial::Listed(self.reflector.listed().cloned().collect()),
            _ if options.changes => Initial::Known(self.pipeline.store().list()),
            _ => Initial::Known(Vec::new()),
        };
        let id = self.processor.add(options, initial, now);
        if self.has_synced() {
            self.processor.synced();
        }
        id
    }

    /// Removes a handler, and returns whether it was there (`RemoveEventHandler`).
    pub fn remove_event_handler(&mut self, id: HandlerId) -> bool {
        self.processor.remove(id)
    }

    /// Returns how often a handler's resync is due, in milliseconds, if ever.
    pub fn resync_period(&self, id: HandlerId) -> Option<f64> {
        self.processor.resync_period(id)
    }

    /// Sets how often a handler's resync is due, in milliseconds, from now on; `None` is never, and the shortest period
    /// is
    /// [`crate::cache::handler::MINIMUM_RESYNC`]. The reflector's deadline may change with it.
    pub fn set_resync_period(&mut self, id: HandlerId, every: Option<f64>, now: f64) {
        let before = self.processor.resync_check_period();
        self.processor.set_resync_period(id, every, now);
        let check = self.processor.resync_check_period();
        if self.started && check != before {
            self.reflector.resync_every(check, now);
        }
    }

    /// Has a handler take what waits for it. If the handler fails or panics, that one notification is lost to it.
    /// Returns how many notifications there were.
    pub fn deliver(&mut self, id: HandlerId, handler: &mut dyn ResourceEventHandler) -> usize {
        self.processor.deliver(id, handler)
    }

    /// [`SharedInformer::deliver`] that hands over at most `limit` of the objects that the handler gets first, and of the
    /// deltas of the first list ([`HandlerOptions::listing`]). Returns whether any of these are left: then this is to
    /// be called again, and the handler gets nothing yet of what has happened since.
    pub fn deliver_some(&mut self, id: HandlerId, handler: &mut dyn ResourceEventHandler, limit: usize) -> bool {
        self.processor.deliver_some(id, handler, limit);
        self.processor.is_catching_up(id)
    }

    /// Returns whether [`SharedInformer::deliver_some`] has left something for its next call, or nothing was delivered
    /// yet of the objects that the handler gets first.
    pub fn is_catching_up(&self, id: HandlerId) -> bool {
        self.processor.is_catching_up(id)
    }

    /// Returns whether the first list has reached this handler.
    pub fn handler_has_synced(&self, id: HandlerId) -> bool {
        self.processor.has_synced(id)
    }

    /// What became of all that was meant for a handler; `None` if it was removed.
    pub fn handler_ledger(&self, id: HandlerId) -> Option<HandlerLedger> {
        self.processor.ledger(id)
    }

    /// Returns how many handlers there are.
    pub fn handlers(&self) -> usize {
        self.processor.len()
    }

    /// Adds an index to the store, and files in it the objects that are in the store already (`AddIndexers`).
    ///
    /// # Errors
    ///
    /// When there is an index of that name.
    pub fn add_index(&mut self, name: &str, of: IndexFunc) -> Result<(), IndexExists> {
        self.pipeline.store_mut().add_index(name, of)
    }

    /// Ends the store's journal, and returns it; begins a new one if `keeps` is true.
    pub fn keep_journal(&mut self, keeps: bool) -> Option<Journal> {
        let journal = self.pipeline.store_mut().end_journal();
        if keeps {
            self.pipeline.store_mut().begin_journal();
        }
        journal
    }

    /// Takes the reflector's notices since the last call, oldest first.
    pub fn take_notices(&mut self) -> Vec<Notice> {
        std::mem::take(&mut self.notices)
    }

    /// The store: what is known.
    pub fn store(&self) -> &Store {
        self.pipeline.store()
    }

    /// The queue: what waits to be applied to the store.
    pub fn queue(&self) -> &Q {
        self.pipeline.queue()
    }

    /// The reflector.
    pub fn reflector(&self) -> &Reflector {
        &self.reflector
    }

    /// The counters.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Returns whether every frame and delta is accounted for.
    pub fn is_balanced(&self) -> bool {
        let (notifications, ledger) = (self.processor.counts(), &self.ledger);
        ledger.is_balanced(self.queue().queued())
            && (notifications.changes, notifications.received) == (ledger.changes, ledger.received)
            && self.processor.is_balanced()
            && self.pipeline.is_balanced()
    }

    /// Returns how much of what the store holds can be believed, at `now` in milliseconds.
    pub fn health(&self, now: f64) -> Health {
        self.reflector.health(now)
    }

    /// Returns whether the first list has reached the store.
    pub fn has_synced(&self) -> bool {
        self.reflector.has_listed() && self.queue().has_synced()
    }
}
