//! A queue and the store that it is drained into: client-go's `controller` without the reflector
//! (`controller.go`, `processDeltas`).

use std::sync::Arc;

use crate::api::object::{Object, ObjectKey};
use crate::cache::delta::{DeltaType, Deltas};
use crate::cache::ledger::Ledger;
use crate::cache::queue::{Queue, Queued, Transform};
use crate::cache::queue_kind::QueueKind;
use crate::cache::store::{Change, Store};

/// A queue before its store, with the sums that show that nothing was lost between them.
#[derive(Debug)]
pub struct Pipeline {
    queue: Box<dyn Queue>,
    store: Store,
    pushed: u64,
    applied: u64,
    coalesced: u64,
    changes: u64,
    without_effect: u64,
    twofold: u64,
}

impl Pipeline {
    /// An empty queue of this kind before an empty store.
    pub fn new(kind: QueueKind, transform: Option<Transform>) -> Pipeline {
        let (queue, store) = (kind.make(transform), Store::default());
        Pipeline { queue, store, pushed: 0, applied: 0, coalesced: 0, changes: 0, without_effect: 0, twofold: 0 }
    }

    /// Queues an event of a watch.
    pub fn event(&mut self, delta_type: DeltaType, object: Arc<Object>) -> Queued {
        let queued = match delta_type {
            DeltaType::Added => self.queue.add(object, &self.store),
            DeltaType::Deleted => self.queue.delete(object, &self.store),
            _ => self.queue.update(object, &self.store),
        };
        self.pushed += u64::from(queued == Queued::Queued);
        queued
    }

    /// Queues a complete list. Returns what it makes go: the newest state of each.
    pub fn replace(&mut self, items: Vec<Arc<Object>>) -> Vec<Arc<Object>> {
        self.pushed += items.len() as u64;
        self.queue.replace(items, &self.store)
    }

    /// What such a list would make go: the newest state of each.
    pub fn absent(&self, items: &[Arc<Object>]) -> Vec<Arc<Object>> {
        self.queue.absent(items, &self.store)
    }

    /// The newest state that is queued or known of a key; `None` where there is none, or it is deleted.
    pub fn newest(&self, key: &ObjectKey) -> Option<&Arc<Object>> {
        match self.queue.newest(key) {
            Some((newest, present)) => present.then_some(newest),
            None => self.store.get(key),
        }
    }

    /// Queues what is known, and has nothing queued, once more. How many objects these are.
    pub fn resync(&mut self) -> u64 {
        let before = self.queue.made().resyncs;
        self.queue.resync(&self.store);
        self.queue.made().resyncs - before
    }

    /// Takes what waits for the head, and applies it to the store, oldest first. `tell` hears of each change once
    /// the store has it. Whether there was anything.
    pub fn pop(&mut self, mut tell: impl FnMut(Change)) -> bool {
        let Some(deltas) = self.queue.pop_key(&self.store) else { return false };
        self.apply(deltas, &mut tell);
        true
    }

    /// The same for up to `limit` keys at once, as one batch of the queue. How many deltas it had.
    pub fn pop_batch(&mut self, limit: usize, mut tell: impl FnMut(Change)) -> usize {
        let batch = self.queue.pop_batch(limit, &self.store);
        let count = batch.len();
        batch.into_iter().for_each(|deltas| self.apply(deltas, &mut tell));
        count
    }

    fn apply(&mut self, deltas: Deltas, tell: &mut impl FnMut(Change)) {
        for delta in deltas {
            self.applied += 1;
            self.coalesced += u64::from(delta.folded - 1);
            let (first, second) = self.store.apply(delta);
            self.without_effect += u64::from(first.is_none());
            self.twofold += u64::from(second.is_some());
            for change in first.into_iter().chain(second) {
                self.changes += 1;
                tell(change);
            }
        }
    }

    /// What waits.
    pub fn queue(&self) -> &dyn Queue {
        &*self.queue
    }

    /// What is known.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// What is known, to be indexed in another way.
    pub fn store_mut(&mut self) -> &mut Store {
        &mut self.store
    }

    /// Counts into a ledger what became of the deltas.
    pub fn count(&self, ledger: &mut Ledger) {
        let made = self.queue.made();
        (ledger.tombstones, ledger.resyncs) = (made.tombstones, made.resyncs);
        (ledger.applied, ledger.coalesced) = (self.applied, self.coalesced);
        (ledger.changes, ledger.without_effect, ledger.twofold) = (self.changes, self.without_effect, self.twofold);
    }

    /// Whether every delta was applied, was folded into one that was, or waits.
    pub fn is_balanced(&self) -> bool {
        let made = self.queue.made();
        self.pushed + made.tombstones + made.resyncs == self.applied + self.coalesced + self.queue.queued()
    }
}
