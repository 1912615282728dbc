//! The Informer: a Reflector, the queue it fills, the store that the queue is drained into, and those who are
//! told.

use std::sync::Arc;

use hashbrown::HashSet;
use rustc_hash::FxBuildHasher;

use crate::api::object::{Decode, Object};
use crate::cache::backoff::Moment;
use crate::cache::delta::{Delta, DeltaType};
use crate::cache::delta_fifo::{DeltaFifo, Queued};
use crate::cache::ledger::Ledger;
use crate::cache::reflector::{Action, Health, Input, Notice, Options, Reflector, ReflectorStore, WatchEvent};
use crate::cache::store::{Change, Store};

/// One who is told what an informer learns.
pub trait Handler {
    /// A delta arrived; it is queued, and what it does to the store is told later. Every ADDED, MODIFIED and
    /// DELETED frame and every listed item comes here once, in order of arrival, but for those of a relist that
    /// bring nothing new, and those that come too late.
    fn received(&mut self, now: f64, delta_type: DeltaType, object: &Arc<Object>);
    /// The store changed.
    fn changed(&mut self, now: f64, change: &Change);
    /// The watch itself has something to say.
    fn noticed(&mut self, notice: &Notice);
}

/// Keeps the objects of one resource in one scope.
#[derive(Debug)]
pub struct Informer {
    reflector: Reflector,
    queue: DeltaFifo,
    store: Store,
    ledger: Ledger,
    told: Told,
}

/// Uids whose DELETED came while a list was streamed. The store learns of it when the list is
/// complete; the handler has been told.
type Told = HashSet<Arc<str>, FxBuildHasher>;

/// A view of an informer's parts that a reflector can write into.
struct Sink<'a> {
    queue: &'a mut DeltaFifo,
    store: &'a Store,
    ledger: &'a mut Ledger,
    told: &'a mut Told,
    handler: &'a mut dyn Handler,
}

impl ReflectorStore for Sink<'_> {
    fn event(&mut self, now: f64, event: WatchEvent, object: Arc<Object>) {
        let (delta_type, queued) = match event {
            WatchEvent::Added => (DeltaType::Added, self.queue.add(object.clone(), self.store)),
            WatchEvent::Modified => (DeltaType::Updated, self.queue.update(object.clone(), self.store)),
            WatchEvent::Deleted => (DeltaType::Deleted, self.queue.delete(object.clone(), self.store)),
        };
        match queued {
            Queued::Queued => {
                self.ledger.watched += 1;
                self.handler.received(now, delta_type, &object);
            }
            // The timeline keeps a deletion of something that no one knew; the table has no row for it.
            Queued::Unknown => {
                self.ledger.late += 1;
                self.handler.received(now, delta_type, &object);
            }
            Queued::Late => self.ledger.late += 1,
        }
    }

    fn streamed(&mut self, now: f64, event: WatchEvent, object: &Arc<Object>) {
        let delta_type = match event {
            WatchEvent::Added => DeltaType::Replaced,
            WatchEvent::Modified => DeltaType::Updated,
            WatchEvent::Deleted => DeltaType::Deleted,
        };
        if event == WatchEvent::Deleted {
            self.told.insert(object.uid.clone());
        }
        if event == WatchEvent::Deleted || !self.is_known(object) {
            self.handler.received(now, delta_type, object);
        }
    }

    fn replace(&mut self, now: f64, items: Vec<Arc<Object>>) {
        // Deletions seen by absence have no frame: their marks are made here.
        let gone = self.queue.absent(&items, self.store);
        let told = std::mem::take(self.told);
        for object in gone.iter().filter(|object| !told.contains(&object.uid)) {
            self.handler.received(now, DeltaType::Deleted, object);
        }
        self.ledger.tombstones += gone.len() as u64;
        self.queue.replace(items, gone);
    }

    fn resync(&mut self, _now: f64) {
        self.ledger.resyncs += self.queue.resync(self.store);
    }

    fn notice(&mut self, notice: Notice) {
        self.handler.noticed(&notice);
    }

    fn ledger(&mut self) -> &mut Ledger {
        self.ledger
    }
}

impl Sink<'_> {
    /// Whether this very version is known already.
    fn is_known(&self, object: &Object) -> bool {
        let known = match self.queue.newest(&object.key) {
            Some(newest) => newest.is_present().then(|| newest.object.object()),
            None => self.store.get(&object.key),
        };
        known.is_some_and(|known| known.uid == object.uid && known.resource_version == object.resource_version)
    }
}

impl Informer {
    /// An informer that does nothing before [`Input::Start`].
    pub fn new(decode: Decode, options: Options) -> Informer {
        Informer {
            reflector: Reflector::new(decode, options),
            queue: DeltaFifo::default(),
            store: Store::default(),
            ledger: Ledger::default(),
            told: Told::default(),
        }
    }

    /// Hands an input to the reflector, and what it learns to the queue. Says what to do next.
    pub fn handle(&mut self, input: Input<'_>, moment: Moment, handler: &mut dyn Handler) -> Option<Action> {
        let mut sink = Sink {
            queue: &mut self.queue,
            store: &self.store,
            ledger: &mut self.ledger,
            told: &mut self.told,
            handler,
        };
        self.reflector.handle(input, moment, &mut sink)
    }

    /// Takes up to `limit` keys from the queue, updates the store, then tells the handler. Returns how many
    /// keys were taken; fewer than `limit` means that the queue is empty.
    pub fn drain(&mut self, limit: usize, now: f64, handler: &mut dyn Handler) -> usize {
        for taken in 0..limit {
            let Some((_, deltas)) = self.queue.pop_key(&self.store) else { return taken };
            for delta in deltas {
                self.apply(delta, now, handler);
            }
        }
        limit
    }

    fn apply(&mut self, delta: Delta, now: f64, handler: &mut dyn Handler) {
        self.ledger.applied += 1;
        self.ledger.coalesced += u64::from(delta.folded - 1);
        let (first, second) = self.store.apply(delta);
        first.iter().chain(&second).for_each(|change| handler.changed(now, change));
    }

    /// What is known.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// What waits.
    pub fn queue(&self) -> &DeltaFifo {
        &self.queue
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
        self.ledger.is_balanced(self.queue.queued())
    }

    /// How much of what is shown can be believed.
    pub fn health(&self, now: f64) -> Health {
        self.reflector.health(now)
    }

    /// Whether the first list has reached the store.
    pub fn has_synced(&self) -> bool {
        self.reflector.has_listed() && self.queue.has_synced()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::object::decode_metadata;

    /// What was told, in order.
    #[derive(Default)]
    struct Told(Vec<&'static str>);

    impl Handler for Told {
        fn received(&mut self, _now: f64, _delta_type: DeltaType, _object: &Arc<Object>) {
            self.0.push("received");
        }

        fn changed(&mut self, _now: f64, _change: &Change) {
            self.0.push("changed");
        }

        fn noticed(&mut self, _notice: &Notice) {
            self.0.push("noticed");
        }
    }

    #[test]
    fn a_mark_is_made_when_the_frame_comes_and_a_change_when_the_queue_is_drained() {
        let (mut informer, mut told) = (Informer::new(decode_metadata, Options::default()), Told::default());
        let moment = Moment { now: 0.0, random: 0.0 };
        for input in [
            Input::Start,
            Input::Frame(r#"{"type":"ADDED","object":{"metadata":{"name":"a","uid":"u","resourceVersion":"1"}}}"#),
            Input::Frame(
                r#"{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"2","annotations":{"k8s.io/initial-events-end":"true"}}}}"#,
            ),
            Input::Frame(r#"{"type":"MODIFIED","object":{"metadata":{"name":"a","uid":"u","resourceVersion":"3"}}}"#),
        ] {
            informer.handle(input, moment, &mut told);
            assert!(informer.is_balanced());
        }
        assert_eq!(told.0, ["received", "received"]);
        assert!(informer.store().is_empty() && !informer.has_synced());
        assert_eq!(informer.drain(0, 0.0, &mut told), 0);
        assert_eq!(informer.drain(9, 0.0, &mut told), 1);
        assert_eq!(told.0, ["received", "received", "changed"]);
        assert!(informer.has_synced() && informer.is_balanced());
        assert_eq!((informer.ledger().applied, informer.ledger().coalesced), (1, 1));
    }
}
