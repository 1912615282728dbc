//! Who is told what, and how far each has come: client-go's `sharedProcessor` and `processorListener`
//! (`shared_informer.go`).
//!
//! There is one log for all handlers, and each has its place in it: a notification is kept once, until the slowest
//! has taken it. So none waits for another, and none misses anything. A handler is not owned here: it is lent
//! when its owner has it take what waits, which is all that "running" it means.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::api::object::Object;
use crate::cache::delta::DeltaType;
use crate::cache::handler::{Handled, HandlerError, HandlerOptions, MINIMUM_RESYNC, ResourceEventHandler, Resynced};
use crate::cache::store::Change;

/// Names one handler of one informer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HandlerId(u32);

/// What became of all that was meant for one handler.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HandlerLedger {
    /// Taken without complaint.
    pub handled: u64,
    /// Lost to an error or a panic of the handler.
    pub failed: u64,
    /// Not yet taken.
    pub waiting: u64,
    /// The newest complaint.
    pub complaint: Option<String>,
}

/// The log and its readers.
#[derive(Debug, Default)]
pub struct SharedProcessor {
    log: VecDeque<Notification>,
    /// How many notifications have left the log.
    left: u64,
    listeners: Vec<Listener>,
    made: u32,
    /// The end of the log when the first list had reached the store.
    synced: Option<u64>,
    /// How often resyncs are due for someone, in milliseconds.
    check: Option<f64>,
    started: bool,
    /// Those who are told of syncs now; `None` is everyone.
    syncing: Option<Arc<[HandlerId]>>,
}

#[derive(Debug)]
struct Notification {
    at: f64,
    what: What,
    /// For whom; `None` is for everyone.
    only: Option<Arc<[HandlerId]>>,
}

#[derive(Debug)]
enum What {
    Received(DeltaType, Arc<Object>),
    Resynced(Resynced),
    Changed(Change),
}

#[derive(Debug)]
struct Listener {
    id: HandlerId,
    options: HandlerOptions,
    /// What the store held when it came, and when that was.
    initial: VecDeque<Arc<Object>>,
    came: f64,
    /// Its place in the log, counted from the log's beginning.
    next: u64,
    next_resync: Option<f64>,
    /// Whether it is told of syncs. Everyone begins so, and only the check for due resyncs changes it, so that
    /// without resyncs a relist that brings nothing new reaches everyone.
    syncing: bool,
    ledger: HandlerLedger,
}

impl SharedProcessor {
    /// A new reader. What the store holds comes first, each as an addition of a list, so that there is no gap between
    /// it and what the log brings next.
    pub fn add(&mut self, options: HandlerOptions, held: Vec<Arc<Object>>, now: f64) -> HandlerId {
        let id = HandlerId(self.made);
        self.made += 1;
        let resync = options.resync.map(|every| every.max(MINIMUM_RESYNC));
        if !self.started {
            self.check = [self.check, resync].into_iter().flatten().reduce(f64::min);
        }
        // A reader that comes later cannot make the check run faster: it waits for the check that runs, if any.
        let every = resync.and_then(|every| self.check.map(|check| every.max(check)));
        self.listeners.push(Listener {
            id,
            options: HandlerOptions { resync: every, ..options },
            initial: if options.changes { held.into() } else { VecDeque::new() },
            came: now,
            next: self.end(),
            next_resync: every.map(|every| now + every),
            syncing: true,
            ledger: HandlerLedger::default(),
        });
        self.who_syncs();
        id
    }

    /// A reader goes, with all that waits for it. Whether it was there.
    pub fn remove(&mut self, id: HandlerId) -> bool {
        let before = self.listeners.len();
        self.listeners.retain(|listener| listener.id != id);
        self.who_syncs();
        self.trim();
        self.listeners.len() < before
    }

    /// Has a handler take all that waits for it. Returns how many notifications that was.
    pub fn deliver(&mut self, id: HandlerId, handler: &mut dyn ResourceEventHandler) -> usize {
        self.deliver_some(id, handler, usize::MAX)
    }

    /// The same, but of what the store held when the handler came at most `limit` objects; while any of these are left,
    /// nothing that happened since.
    pub fn deliver_some(&mut self, id: HandlerId, handler: &mut dyn ResourceEventHandler, limit: usize) -> usize {
        let Some(listener) = self.listeners.iter_mut().find(|listener| listener.id == id) else { return 0 };
        let mut count = 0;
        let mut tell = |ledger: &mut HandlerLedger, call: &mut dyn FnMut() -> Handled| {
            count += 1;
            match guarded(call) {
                Ok(()) => ledger.handled += 1,
                Err(HandlerError(complaint)) => {
                    ledger.failed += 1;
                    ledger.complaint = Some(complaint);
                }
            }
        };
        let some = listener.initial.len().min(limit);
        for new in listener.initial.drain(..some) {
            let change = Change::Added { new, listed: true, folded: 1 };
            tell(&mut listener.ledger, &mut || handler.changed(listener.came, &change));
        }
        if !listener.initial.is_empty() {
            return count;
        }
        // What 150,000 took is given back.
        listener.initial = VecDeque::new();
        let from = (listener.next - self.left) as usize;
        for notification in self.log.range(from..) {
            listener.next += 1;
            if !notification.is_for(listener.id, listener.options) {
                continue;
            }
            tell(&mut listener.ledger, &mut || match &notification.what {
                What::Received(delta_type, object) => handler.received(notification.at, *delta_type, object),
                What::Resynced(resync) => handler.resynced(notification.at, *resync),
                What::Changed(change) => handler.changed(notification.at, change),
            });
        }
        self.trim();
        count
    }

    /// Whether a handler has not heard yet of all that the store held when it came.
    pub fn is_catching_up(&self, id: HandlerId) -> bool {
        self.listeners.iter().any(|listener| listener.id == id && !listener.initial.is_empty())
    }

    /// A delta arrived.
    pub fn received(&mut self, now: f64, delta_type: DeltaType, object: &Arc<Object>) {
        if self.listeners.iter().any(|listener| listener.options.received) {
            let what = What::Received(delta_type, object.clone());
            self.log.push_back(Notification { at: now, what, only: None });
        }
    }

    /// A resync began, for those whose resync is due.
    pub fn resynced(&mut self, now: f64, resync: Resynced) {
        if self.listeners.iter().any(|listener| listener.options.received) {
            self.log.push_back(Notification { at: now, what: What::Resynced(resync), only: self.syncing.clone() });
        }
    }

    /// The store changed. Syncs are for those whose resync is due (`distribute`).
    pub fn changed(&mut self, now: f64, change: Change) {
        if self.listeners.iter().any(|listener| listener.options.changes) {
            let only = if matches!(change, Change::Synced { .. }) { self.syncing.clone() } else { None };
            self.log.push_back(Notification { at: now, what: What::Changed(change), only });
        }
    }

    /// The first list has reached the store: what a reader has to take until it is synced, too, is in the log.
    pub fn synced(&mut self) {
        if self.synced.is_none() {
            self.synced = Some(self.end());
        }
    }

    /// From now on, how often resyncs are checked for does not change any more.
    pub fn start(&mut self) {
        self.started = true;
    }

    /// Looks for whose resync is due, and remembers it. Whether there is anyone (`shouldResync`).
    pub fn should_resync(&mut self, now: f64) -> bool {
        for listener in &mut self.listeners {
            listener.syncing = listener.next_resync.is_some_and(|next| now >= next);
            if listener.syncing {
                listener.next_resync = listener.options.resync.map(|every| now + every);
            }
        }
        self.who_syncs();
        self.listeners.iter().any(|listener| listener.syncing)
    }

    /// How often a handler is told everything again, in milliseconds, if ever.
    pub fn resync_period(&self, id: HandlerId) -> Option<f64> {
        self.listeners.iter().find(|listener| listener.id == id)?.options.resync
    }

    /// Has a handler be told everything again this often from now on, in milliseconds, or never: together with another one
    /// of the same period, if there is one. How often is checked for that changes with it; client-go fixes both when the
    /// informer starts.
    pub fn set_resync_period(&mut self, id: HandlerId, every: Option<f64>, now: f64) {
        let every = every.map(|every| every.max(MINIMUM_RESYNC));
        let same = self.listeners.iter().find(|other| other.id != id && other.options.resync == every);
        let next = same.and_then(|other| other.next_resync).or(every.map(|every| now + every));
        let Some(listener) = self.listeners.iter_mut().find(|listener| listener.id == id) else { return };
        (listener.options.resync, listener.next_resync) = (every, next);
        self.check = self.listeners.iter().filter_map(|listener| listener.options.resync).reduce(f64::min);
    }

    /// How often [`SharedProcessor::should_resync`] wants to be asked, in milliseconds, if ever.
    pub fn resync_check_period(&self) -> Option<f64> {
        self.check
    }

    /// Whether the first list has reached this handler (`HasSynced` of its registration). `false` if it has gone.
    pub fn has_synced(&self, id: HandlerId) -> bool {
        let listener = self.listeners.iter().find(|listener| listener.id == id);
        listener
            .is_some_and(|listener| listener.initial.is_empty() && self.synced.is_some_and(|end| listener.next >= end))
    }

    /// What became of all that was meant for this handler; `None` if it has gone.
    pub fn ledger(&self, id: HandlerId) -> Option<HandlerLedger> {
        let listener = self.listeners.iter().find(|listener| listener.id == id)?;
        let from = (listener.next - self.left) as usize;
        let waits = self.log.range(from..).filter(|notification| notification.is_for(id, listener.options)).count();
        Some(HandlerLedger { waiting: (listener.initial.len() + waits) as u64, ..listener.ledger.clone() })
    }

    /// How many handlers there are.
    pub fn len(&self) -> usize {
        self.listeners.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.listeners.is_empty()
    }

    fn end(&self) -> u64 {
        self.left + self.log.len() as u64
    }

    fn who_syncs(&mut self) {
        let some = self.listeners.iter().any(|listener| !listener.syncing);
        let who = self.listeners.iter().filter(|listener| listener.syncing).map(|listener| listener.id);
        self.syncing = some.then(|| who.collect());
    }

    /// What everyone has taken leaves the log.
    fn trim(&mut self) {
        let slowest = self.listeners.iter().map(|listener| listener.next).min().unwrap_or(self.end());
        let taken = (slowest - self.left) as usize;
        self.log.drain(..taken);
        self.left = slowest;
        if self.log.is_empty() && self.log.capacity() > KEPT {
            self.log = VecDeque::new();
        }
    }
}

/// Room for this many notifications is kept when the log runs empty.
const KEPT: usize = 4096;

impl Notification {
    fn is_for(&self, id: HandlerId, options: HandlerOptions) -> bool {
        let wanted = match self.what {
            What::Received(..) | What::Resynced(_) => options.received,
            What::Changed(_) => options.changes,
        };
        wanted && self.only.as_ref().is_none_or(|only| only.contains(&id))
    }
}

/// A handler that panics loses what it was being told (`HandleCrash`), where panics unwind: in a browser they end
/// the page, and there only errors are caught.
fn guarded(call: &mut dyn FnMut() -> Handled) -> Handled {
    #[cfg(panic = "unwind")]
    {
        let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(call));
        caught.unwrap_or_else(|_| Err(HandlerError(String::from("the handler panicked"))))
    }
    #[cfg(not(panic = "unwind"))]
    call()
}
