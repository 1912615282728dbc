//! A queue and the store that it is drained into: client-go's `controller` without the reflector (`controller.go`,
//! `processDeltas`).

use std::sync::Arc;

use crate::api::object::{Object, ObjectKey};
use crate::cache::complete_list::CompleteList;
use crate::cache::delta::{DeltaType, Deltas};
use crate::cache::delta_fifo::DeltaFifo;
use crate::cache::ledger::Ledger;
use crate::cache::queue::{Queue, Queued};
use crate::cache::store::{Change, Store};

/// A queue and the store behind it, with the sums that show that nothing was lost between the two.
#[derive(Clone, Debug, Default)]
pub struct Pipeline<Q = DeltaFifo> {
    queue: Q,
    store: Store,
    pushed: u64,
    applied: u64,
    coalesced: u64,
    changes: u64,
    without_effect: u64,
    twofold: u64,
}

impl Pipeline {
    /// An empty DeltaFIFO and an empty store.
    pub fn new() -> Pipeline {
        Pipeline::default()
    }
}

impl<Q: Queue> Pipeline<Q> {
    /// Queues an event of a watch: `Added`, `Updated` or `Deleted`.
    pub fn event(&mut self, delta_type: DeltaType, object: Arc<Object>) -> Queued {
        let queued = self.queue.event(delta_type, object, &self.store);
        self.pushed += u64::from(queued == Queued::Queued);
        queued
    }

    /// Queues a complete list. Returns the newest state of each object that is queued or known and not in the list.
    pub fn replace(&mut self, list: impl Into<CompleteList>) -> Vec<Arc<Object>> {
        let list = list.into();
        self.pushed += list.len() as u64;
        self.queue.replace(list, &self.store)
    }

    /// What [`Pipeline::replace`] would return for this list, with nothing changed.
    pub fn absent(&self, list: &CompleteList) -> Vec<Arc<Object>> {
        self.queue.absent(list, &self.store)
    }

    /// The newest state that is queued or known of a key; `None` where there is none, or it is deleted.
    pub fn newest(&self, key: &ObjectKey) -> Option<&Arc<Object>> {
        match self.queue.newest(key) {
            Some((newest, present)) => present.then_some(newest),
            None => self.store.get(key),
        }
    }

    /// Queues again each object that is known and has nothing queued. Returns how many objects these are.
    pub fn resync(&mut self) -> u64 {
        let before = self.queue.made().resyncs;
        self.queue.resync(&self.store);
        self.queue.made().resyncs - before
    }

    /// Takes what waits at the head of the queue, and applies it to the store, oldest first. `changed` is called with
    /// each change when the store has it. Returns false if nothing waits.
    pub fn pop(&mut self, mut changed: impl FnMut(Change)) -> bool {
        let Some(deltas) = self.queue.pop(&self.store) else { return false };
        self.apply(deltas, &mut changed);
        true
    }

    fn apply(&mut self, deltas: Deltas, changed: &mut impl FnMut(Change)) {
        for delta in deltas {
            self.applied += 1;
            self.coalesced += u64::from(delta.folded - 1);
            let (first, second) = self.store.apply(delta);
            self.without_effect += u64::from(first.is_none());
            self.twofold += u64::from(second.is_some());
            for change in first.into_iter().chain(second) {
                self.changes += 1;
                changed(change);
            }
        }
    }

    /// The queue: what waits to be applied.
    pub fn queue(&self) -> &Q {
        &self.queue
    }

    /// The store: what is known.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// The store, to add an index or to keep a journal.
    pub fn store_mut(&mut self) -> &mut Store {
        &mut self.store
    }

    /// Writes into a ledger what became of the deltas.
    pub fn count(&self, ledger: &mut Ledger) {
        let made = self.queue.made();
        (ledger.tombstones, ledger.resyncs) = (made.tombstones, made.resyncs);
        (ledger.applied, ledger.coalesced) = (self.applied, self.coalesced);
        (ledger.changes, ledger.without_effect, ledger.twofold) = (self.changes, self.without_effect, self.twofold);
    }

    /// Returns whether every delta was applied, was folded into one that was, or waits.
    pub fn is_balanced(&self) -> bool {
        let made = self.queue.made();
        self.pushed + made.tombstones + made.resyncs == self.applied + self.coalesced + self.queue.queued()
    }
}
