//! The input buffer of one watcher: the events that the cache has dispatched and the watcher has not taken yet.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;
use tokio::time::Instant;

use super::event::Delivery;
use super::ring::EVENT_FRESH_DURATION;

/// A channel has room for at least this many events (`minWatchChanSize`).
const MIN_WATCH_CHANNEL_SIZE: usize = 10;

/// How the watches of a resource are told apart when events are dispatched.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Indexed {
    /// The resource has no trigger: every watch gets every event.
    No,
    /// The resource has a trigger, but the watch asks for no value of it and gets every event.
    WithoutValue,
    /// The watch asks for one value of the trigger, and gets only the events with that value.
    WithValue,
}

/// How many events the channel of a watch has room for: about as many as arrive in one second, estimated from a ring
/// that keeps 75 seconds (`suggestedWatchChannelSize` in `watch_cache.go`).
pub fn channel_size(ring_capacity: usize, indexed: Indexed) -> usize {
    let most = match indexed {
        Indexed::No => 100,
        Indexed::WithoutValue => 1000,
        Indexed::WithValue => MIN_WATCH_CHANNEL_SIZE,
    };
    ring_capacity.div_ceil(EVENT_FRESH_DURATION.as_secs() as usize).clamp(MIN_WATCH_CHANNEL_SIZE, most)
}

/// The input buffer, shared by the cache that dispatches and the watcher. Adding an event never waits: a watcher whose
/// buffer is over its room counts as blocked, and the cache ends a watcher that stays blocked.
#[derive(Debug)]
pub struct CacheWatcher {
    /// The value of the trigger that the watch asks for.
    pub value: Option<Box<str>>,
    /// How many events fit. The real server's watcher has two channels, one before and one after the task that encodes
    /// events; here the reader encodes, so this one queue has the room of both.
    room: usize,
    input: Mutex<Input>,
    ready: Notify,
}

#[derive(Debug)]
struct Input {
    events: VecDeque<Arc<Delivery>>,
    state: State,
    /// Whether the bookmark that ends the initial events is still to be sent.
    owes_end_bookmark: bool,
    blocked: bool,
    /// When the watcher last went from blocked to not blocked.
    unblocked_at: Option<Instant>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum State {
    Open,
    /// No event is added any more; the events that are already queued are still handed out.
    Draining,
    /// No event is handed out any more.
    Stopped,
}

/// What [`CacheWatcher::take`] gives.
#[derive(Debug)]
pub enum Taken {
    /// The next events.
    Events(Vec<Arc<Delivery>>),
    /// There is nothing to take at the moment.
    Nothing,
    /// There will never be anything to take again.
    End,
}

impl CacheWatcher {
    /// An empty buffer for a watcher whose channels have room for `size` events each.
    pub fn new(value: Option<Box<str>>, size: usize, owes_end_bookmark: bool) -> Arc<Self> {
        let input = Input {
            events: VecDeque::new(),
            state: State::Open,
            owes_end_bookmark,
            blocked: false,
            unblocked_at: None,
        };
        Arc::new(Self { value, room: 2 * size, input: Mutex::new(input), ready: Notify::new() })
    }

    /// Adds an event; returns whether this event has blocked the watcher.
    pub fn add(&self, delivery: &Arc<Delivery>) -> bool {
        let mut input = self.lock();
        if input.state != State::Open {
            return false;
        }
        input.events.push_back(Arc::clone(delivery));
        let is_new = !input.blocked && input.events.len() > self.room;
        input.blocked |= is_new;
        drop(input);
        self.ready.notify_one();
        is_new
    }

    /// `Ok` while the watcher is blocked; otherwise `Err` with the moment since which it is no longer blocked, if it
    /// ever was.
    pub fn is_blocked(&self) -> Result<(), Option<Instant>> {
        let input = self.lock();
        if input.blocked && input.state == State::Open { Ok(()) } else { Err(input.unblocked_at) }
    }

    /// Takes up to `limit` events.
    pub fn take(&self, limit: usize) -> Taken {
        let mut input = self.lock();
        match input.state {
            State::Stopped => return Taken::End,
            State::Draining if input.events.is_empty() => return Taken::End,
            _ if input.events.is_empty() => return Taken::Nothing,
            _ => {}
        }
        let length = input.events.len().min(limit);
        let events = input.events.drain(..length).collect();
        if input.blocked && input.events.len() <= self.room {
            input.blocked = false;
            input.unblocked_at = Some(Instant::now());
        }
        Taken::Events(events)
    }

    /// Resolves once an event has been added or the watcher was ended since the last call.
    pub async fn ready(&self) {
        self.ready.notified().await;
    }

    /// Whether no event is handed out any more.
    pub fn is_stopped(&self) -> bool {
        self.lock().state == State::Stopped
    }

    /// Notes that the bookmark that ends the initial events is on its way.
    pub fn end_bookmark_sent(&self) {
        self.lock().owes_end_bookmark = false;
    }

    /// Ends the watcher because it is too slow. If its end bookmark is still unsent, the events that are queued are
    /// sent first: the client has already received the initial events, and can resume from there (`forget` and
    /// `setDrainInputBuffer` in `cache_watcher.go`).
    pub fn terminate(&self) {
        let drain = self.lock().owes_end_bookmark;
        if drain { self.drain() } else { self.stop() }
    }

    /// Ends the watcher once its queued events have been taken.
    pub fn drain(&self) {
        let mut input = self.lock();
        if input.state == State::Open {
            input.state = State::Draining;
        }
        drop(input);
        self.ready.notify_one();
    }

    /// Ends the watcher at once.
    pub fn stop(&self) {
        let mut input = self.lock();
        input.state = State::Stopped;
        input.events = VecDeque::new();
        drop(input);
        self.ready.notify_one();
    }

    fn lock(&self) -> MutexGuard<'_, Input> {
        // No code panics between two changes that belong together, so the state behind a poisoned lock is consistent.
        self.input.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 80. TestSuggestedWatchChannelSize: a second's worth of events, within bounds that depend on the trigger.
    #[test]
    fn the_sizes_of_channels() {
        for (capacity, expected) in [
            (100, [10, 10, 10]),
            (750, [10, 10, 10]),
            (751, [11, 11, 10]),
            (1600, [22, 22, 10]),
            (7500, [100, 100, 10]),
            (51_200, [100, 683, 10]),
            (102_400, [100, 1000, 10]),
        ] {
            let sizes = [Indexed::No, Indexed::WithoutValue, Indexed::WithValue].map(|one| channel_size(capacity, one));
            assert_eq!(sizes, expected, "{capacity}");
        }
    }
}
