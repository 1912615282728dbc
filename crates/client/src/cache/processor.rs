//! Hands notifications to handlers, and remembers how far each handler has come: client-go's `sharedProcessor` and
//! `processorListener` (`shared_informer.go`).
//!
//! There is one log for all handlers, and each handler has a place in it: a notification is kept once, until the
//! slowest handler has taken it. So no handler waits for another, and none misses anything. The processor does not own
//! the handlers: whoever owns one lends it in the call in which it takes what waits.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::api::object::Object;
use crate::cache::delta::DeltaType;
use crate::cache::handler::{Handled, HandlerError, HandlerOptions, MINIMUM_RESYNC, ResourceEventHandler, Resynced};
use crate::cache::store::Change;

/// Names one handler of one informer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HandlerId(u32);

/// The ledger of one handler: every notification that was meant for it is in one place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HandlerLedger {
    /// Notifications that the handler took.
    pub handled: u64,
    /// Notifications that were lost to an error or a panic of the handler.
    pub failed: u64,
    /// Notifications that the handler has not taken yet.
    pub waiting: u64,
    /// Syncs that were for other handlers, whose resync was due, and deltas of the first list that the handler had not
    /// taken when the list was complete.
    pub passed_over: u64,
    /// All of these: the objects that the handler gets first when it is added, and what was logged since.
    pub meant: u64,
    /// What the handler's newest error said.
    pub complaint: Option<String>,
}

/// The log and the places of the handlers in it.
#[derive(Debug, Default)]
pub struct SharedProcessor {
    log: VecDeque<Notification>,
    /// How many notifications have left the log.
    left: u64,
    listeners: Vec<Listener>,
    made: u32,
    /// How many changes of the store, received deltas and resyncs there were.
    counts: NotificationCounts,
    /// True if the first list is complete.
    listed: bool,
    /// The end of the log when the first list had reached the store.
    synced: Option<u64>,
    /// How often to look whose resync is due, in milliseconds.
    check: Option<f64>,
    started: bool,
    /// The handlers that get Syncs now; `None` is every handler.
    syncing: Option<Arc<[HandlerId]>>,
}

/// How many notifications there were for handlers, since the informer was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NotificationCounts {
    /// Changes of the store.
    pub changes: u64,
    /// Deltas as they arrived.
    pub received: u64,
    /// Of these, those of the first list.
    pub listed: u64,
    /// Resyncs that began.
    pub resynced: u64,
}

impl NotificationCounts {
    /// Returns how many of these a handler with such options gets.
    fn for_one(self, options: HandlerOptions) -> u64 {
        let changes = if options.changes { self.changes } else { 0 };
        let deltas = match options {
            HandlerOptions { received: true, .. } => self.received + self.resynced,
            HandlerOptions { listing: true, .. } => self.listed,
            _ => 0,
        };
        changes + deltas
    }
}

#[derive(Debug)]
struct Notification {
    at: f64,
    what: What,
    /// For which handlers; `None` is for every handler.
    only: Option<Arc<[HandlerId]>>,
}

#[derive(Debug)]
enum What {
    Received(Arrival, Arc<Object>),
    Resynced(Resynced),
    Changed(Change),
}

/// The arrival of a delta.
#[derive(Clone, Copy, Debug)]
struct Arrival {
    delta_type: DeltaType,
    /// True if it is of the first list.
    listing: bool,
}

/// The objects that a handler gets first.
#[derive(Debug)]
pub enum Initial {
    /// What the store holds: each object is an addition by a list.
    Known(Vec<Arc<Object>>),
    /// What the first list has brought, which is not complete: each object is received.
    Listed(Vec<Arc<Object>>),
}

#[derive(Debug)]
struct Listener {
    id: HandlerId,
    options: HandlerOptions,
    /// The objects that the handler gets first and has not taken yet, whether they are of a list that was not complete,
    /// and when the handler was added.
    initial: VecDeque<Arc<Object>>,
    initial_is_listing: bool,
    came: f64,
    /// Its place in the log: how many notifications there were before the next one that it takes.
    next: u64,
    next_resync: Option<f64>,
    /// True if the handler gets Syncs. It does at first, and only the check for due resyncs changes that: without
    /// resyncs, every handler is notified of a relist that brings nothing new.
    syncing: bool,
    /// True if deltas of the first list were left for the next time.
    behind: bool,
    /// How many objects the handler gets first, and how many notifications there had been for it by then.
    held: u64,
    before: u64,
    ledger: HandlerLedger,
}

impl HandlerLedger {
    /// Returns whether every notification is counted in exactly one place.
    pub fn is_balanced(&self) -> bool {
        self.meant == self.handled + self.failed + self.waiting + self.passed_over
    }

    /// The sum of two ledgers, which balances if both do. The complaint is that of one of them.
    pub fn plus(self, other: HandlerLedger) -> HandlerLedger {
        HandlerLedger {
            handled: self.handled + other.handled,
            failed: self.failed + other.failed,
            waiting: self.waiting + other.waiting,
            passed_over: self.passed_over + other.passed_over,
            meant: self.meant + other.meant,
            complaint: self.complaint.or(other.complaint),
        }
    }
}

impl SharedProcessor {
    /// Adds a handler. It gets `initial` first, so that nothing is missing between that and what the log brings next.
    pub fn add(&mut self, options: HandlerOptions, initial: Initial, now: f64) -> HandlerId {
        let id = HandlerId(self.made);
        self.made += 1;
        let resync = options.resync.map(|every| every.max(MINIMUM_RESYNC));
        if !self.started {
            self.check = [self.check, resync].into_iter().flatten().reduce(f64::min);
        }
        // A handler that is added after the start does not change how often resyncs are looked for, as in client-go.
        let every = resync.and_then(|every| self.check.map(|check| every.max(check)));
        let (initial, initial_is_listing) = match initial {
            Initial::Known(objects) if options.changes => (objects, false),
            Initial::Listed(objects) if options.listing => (objects, true),
            Initial::Known(_) | Initial::Listed(_) => (Vec::new(), false),
        };
        self.listeners.push(Listener {
            id,
            options: HandlerOptions { resync: every, ..options },
            held: initial.len() as u64,
            initial: initial.into(),
            initial_is_listing,
            came: now,
            next: self.end(),
            next_resync: every.map(|every| now + every),
            syncing: true,
            behind: false,
            before: self.counts.for_one(options),
            ledger: HandlerLedger::default(),
        });
        self.who_syncs();
        id
    }

    /// Removes a handler, with all that waits for it. Returns whether it was there.
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

    /// [`SharedProcessor::deliver`] that hands over at most `limit` of the objects that the handler gets first and of the
    /// deltas of the first list, for which it asked with [`HandlerOptions::listing`]. While any of these are left, the
    /// handler gets nothing of what has happened since.
    pub fn deliver_some(&mut self, id: HandlerId, handler: &mut dyn ResourceEventHandler, limit: usize) -> usize {
        let Some(listener) = self.listeners.iter_mut().find(|listener| listener.id == id) else { return 0 };
        let mut count = 0;
        let mut notify = |ledger: &mut HandlerLedger, call: &mut dyn FnMut() -> Handled| {
            count += 1;
            match guarded(call) {
                Ok(()) => ledger.handled += 1,
                Err(HandlerError(complaint)) => {
                    ledger.failed += 1;
                    ledger.complaint = Some(complaint);
                }
            }
        };
        if self.listed && listener.initial_is_listing {
            listener.ledger.passed_over += listener.initial.len() as u64;
            listener.initial.clear();
        }
        let mut room = limit;
        for object in listener.initial.drain(..limit.min(listener.initial.len())) {
            room -= 1;
            if listener.initial_is_listing {
                notify(&mut listener.ledger, &mut || handler.received(listener.came, DeltaType::Replaced, &object));
            } else {
                let change = Change::Added { new: object, listed: true, folded: 1 };
                notify(&mut listener.ledger, &mut || handler.changed(listener.came, &change));
            }
        }
        if !listener.initial.is_empty() {
            return count;
        }
        // The memory that 150,000 objects took is given back.
        listener.initial = VecDeque::new();
        listener.behind = false;
        let from = (listener.next - self.left) as usize;
        for notification in self.log.range(from..) {
            let wants_it_as_listing = notification.is_listing() && !listener.options.received;
            if wants_it_as_listing && listener.options.listing && !self.listed {
                if room == 0 {
                    listener.behind = true;
                    break;
                }
                room -= 1;
            }
            listener.next += 1;
            if !notification.is_for(listener.id, listener.options) || (wants_it_as_listing && self.listed) {
                listener.ledger.passed_over += u64::from(notification.is_wanted(listener.options));
                continue;
            }
            notify(&mut listener.ledger, &mut || match &notification.what {
                What::Received(Arrival { delta_type, .. }, object) => {
                    handler.received(notification.at, *delta_type, object)
                }
                What::Resynced(resync) => handler.resynced(notification.at, *resync),
                What::Changed(change) => handler.changed(notification.at, change),
            });
        }
        self.trim();
        count
    }

    /// Returns whether [`SharedProcessor::deliver_some`] has left something for its next call.
    pub fn is_catching_up(&self, id: HandlerId) -> bool {
        let mut own = self.listeners.iter().filter(|listener| listener.id == id);
        own.any(|listener| !listener.initial.is_empty() || listener.behind)
    }

    /// A delta arrived.
    pub fn received(&mut self, now: f64, delta_type: DeltaType, object: &Arc<Object>) {
        let listing = !self.listed;
        self.counts.received += 1;
        self.counts.listed += u64::from(listing);
        let wants = |options: HandlerOptions| options.received || (options.listing && listing);
        if self.listeners.iter().any(|listener| wants(listener.options)) {
            let what = What::Received(Arrival { delta_type, listing }, object.clone());
            self.log.push_back(Notification { at: now, what, only: None });
        }
    }

    /// The first list is complete. What is received from now on is of the watch, or of a relist.
    pub fn listed(&mut self) {
        self.listed = true;
    }

    /// A resync began, for the handlers whose resync is due.
    pub fn resynced(&mut self, now: f64, resync: Resynced) {
        self.counts.resynced += 1;
        if self.listeners.iter().any(|listener| listener.options.received) {
            self.log.push_back(Notification { at: now, what: What::Resynced(resync), only: self.syncing.clone() });
        }
    }

    /// The store changed. Syncs are for the handlers whose resync is due (client-go, `distribute`).
    pub fn changed(&mut self, now: f64, change: Change) {
        self.counts.changes += 1;
        if self.listeners.iter().any(|listener| listener.options.changes) {
            let only = if matches!(change, Change::Synced { .. }) { self.syncing.clone() } else { None };
            self.log.push_back(Notification { at: now, what: What::Changed(change), only });
        }
    }

    /// The first list has reached the store. A handler is synced when it has taken what the log holds by now.
    pub fn synced(&mut self) {
        if self.synced.is_none() {
            self.synced = Some(self.end());
        }
    }

    /// The informer starts: from now on, handlers that are added do not change how often resyncs are looked for.
    pub fn start(&mut self) {
        self.started = true;
    }

    /// Looks whose resync is due, and remembers that. Returns whether there is any such handler (`shouldResync`).
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

    /// Returns how often a handler's resync is due, in milliseconds, if ever.
    pub fn resync_period(&self, id: HandlerId) -> Option<f64> {
        self.listeners.iter().find(|listener| listener.id == id)?.options.resync
    }

    /// Sets how often a handler's resync is due from now on, in milliseconds; `None` is never. It falls together with
    /// that of another handler of the same period, if there is one. How often resyncs are looked for changes with it;
    /// in client-go neither changes after the start.
    pub fn set_resync_period(&mut self, id: HandlerId, every: Option<f64>, now: f64) {
        let every = every.map(|every| every.max(MINIMUM_RESYNC));
        let same = self.listeners.iter().find(|other| other.id != id && other.options.resync == every);
        let next = same.and_then(|other| other.next_resync).or(every.map(|every| now + every));
        let Some(listener) = self.listeners.iter_mut().find(|listener| listener.id == id) else { return };
        (listener.options.resync, listener.next_resync) = (every, next);
        self.check = self.listeners.iter().filter_map(|listener| listener.options.resync).reduce(f64::min);
    }

    /// Returns how often [`SharedProcessor::should_resync`] is to be called, in milliseconds, if ever.
    pub fn resync_check_period(&self) -> Option<f64> {
        self.check
    }

    /// Returns whether the first list has reached this handler (`HasSynced` of its registration). `false` if it was
    /// removed.
    pub fn has_synced(&self, id: HandlerId) -> bool {
        let listener = self.listeners.iter().find(|listener| listener.id == id);
        listener
            .is_some_and(|listener| listener.initial.is_empty() && self.synced.is_some_and(|end| listener.next >= end))
    }

    /// What became of all that was meant for this handler; `None` if it was removed. What waits is counted in the log
    /// itself.
    pub fn ledger(&self, id: HandlerId) -> Option<HandlerLedger> {
        let listener = self.listeners.iter().find(|listener| listener.id == id)?;
        Some(self.ledger_of(listener))
    }

    fn ledger_of(&self, listener: &Listener) -> HandlerLedger {
        let (id, options) = (listener.id, listener.options);
        let from = (listener.next - self.left) as usize;
        let (mut waits, mut passes) = (listener.initial.len() as u64, listener.ledger.passed_over);
        for notification in self.log.range(from..).filter(|notification| notification.is_wanted(options)) {
            *if notification.is_for(id, options) { &mut waits } else { &mut passes } += 1;
        }
        let meant = listener.held + self.counts.for_one(options) - listener.before;
        HandlerLedger { waiting: waits, passed_over: passes, meant, ..listener.ledger.clone() }
    }

    /// Returns how many notifications there were for handlers.
    pub fn counts(&self) -> NotificationCounts {
        self.counts
    }

    /// Returns how many notifications wait for the slowest handler.
    pub fn waiting(&self) -> usize {
        self.log.len()
    }

    /// Returns whether the ledger of every handler balances.
    pub fn is_balanced(&self) -> bool {
        self.listeners.iter().all(|listener| self.ledger_of(listener).is_balanced())
    }

    /// Returns how many handlers there are.
    pub fn len(&self) -> usize {
        self.listeners.len()
    }

    /// Returns whether there are none.
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

    /// Drops from the log what every handler has taken.
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

/// When the log runs empty, memory for more notifications than this is given back.
const KEPT: usize = 4096;

impl Notification {
    /// Returns whether the notification is of a kind that a handler with such options asked for.
    fn is_wanted(&self, options: HandlerOptions) -> bool {
        match self.what {
            What::Received(Arrival { listing, .. }, _) => options.received || (options.listing && listing),
            What::Resynced(_) => options.received,
            What::Changed(_) => options.changes,
        }
    }

    /// Returns whether it is a delta of the first list.
    fn is_listing(&self) -> bool {
        matches!(self.what, What::Received(Arrival { listing: true, .. }, _))
    }

    fn is_for(&self, id: HandlerId, options: HandlerOptions) -> bool {
        self.is_wanted(options) && self.only.as_ref().is_none_or(|only| only.contains(&id))
    }
}

/// Calls a handler. If it panics, the notification is lost to it (client-go, `HandleCrash`). That works only where
/// panics unwind: in a browser a panic ends the page, and only errors are caught.
fn guarded(call: &mut dyn FnMut() -> Handled) -> Handled {
    #[cfg(panic = "unwind")]
    {
        let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(call));
        caught.unwrap_or_else(|_| Err(HandlerError(String::from("the handler panicked"))))
    }
    #[cfg(not(panic = "unwind"))]
    call()
}
