//! The input of one watcher: what the cache has dispatched to it and it has not taken yet.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;
use tokio::time::Instant;

use super::event::Delivery;
use super::ring::FRESH;

/// A channel has room for at least so many events (`minWatchChanSize`).
const LEAST: usize = 10;

/// How a resource's watches are told apart when events are dispatched.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Indexed {
    /// The resource has no trigger: every watch gets every event.
    No,
    /// It has one, and the watch asks for none of its values: it gets every event.
    WithoutValue,
    /// The watch asks for one value, and gets the events of that one alone.
    WithValue,
}

/// How many events a channel of a watch has room for: about a second's worth, of what the ring keeps for 75
/// (`suggestedWatchChannelSize` in `watch_cache.go`).
pub fn channel_size(ring_capacity: usize, indexed: Indexed) -> usize {
    let most = match indexed {
        Indexed::No => 100,
        Indexed::WithoutValue => 1000,
        Indexed::WithValue => LEAST,
    };
    ring_capacity.div_ceil(FRESH.as_secs() as usize).clamp(LEAST, most)
}

/// The input, which the dispatching cache and the watcher share. Adding to it never waits: a watcher that has more than
/// it has room for is blocked, and the cache ends it if it stays so.
#[derive(Debug)]
pub struct CacheWatcher {
    /// The trigger's value that it asks for.
    pub value: Option<Box<str>>,
    /// The real server's watcher has two channels, before and after the task that makes frames of events; here the
    /// reader does that, so that one queue has the room of both.
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
    /// When it was last able to take more again.
    unblocked_at: Option<Instant>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum State {
    Open,
    /// Nothing is added any more; what is in comes out.
    Draining,
    /// Nothing comes out any more, either.
    Stopped,
}

/// What a reader finds.
#[derive(Debug)]
pub enum Taken {
    /// The next events.
    Events(Vec<Arc<Delivery>>),
    /// Nothing yet.
    Nothing,
    /// Nothing will come any more.
    End,
}

impl CacheWatcher {
    /// An empty input whose channels have room for `size` events each.
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

    /// Adds an event; tells whether this one has blocked the watcher.
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

    /// Whether it has more than it has room for; if not any more, since when.
    pub fn is_blocked(&self) -> Result<(), Option<Instant>> {
        let input = self.lock();
        if input.blocked && input.state == State::Open { Ok(()) } else { Err(input.unblocked_at) }
    }

    /// Takes up to `limit` events out.
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

    /// Resolves when something has been added, or it has ended, since the last time.
    pub async fn ready(&self) {
        self.ready.notified().await;
    }

    /// Whether nothing comes out any more.
    pub fn is_stopped(&self) -> bool {
        self.lock().state == State::Stopped
    }

    /// The bookmark that ends the initial events is on its way.
    pub fn end_bookmark_sent(&self) {
        self.lock().owes_end_bookmark = false;
    }

    /// Ends it for being too slow. With its end bookmark still unsent, what it has is sent first: the client has paid
    /// for the initial events, and goes on from there (`forget` and `setDrainInputBuffer` in `cache_watcher.go`).
    pub fn terminate(&self) {
        let drain = self.lock().owes_end_bookmark;
        if drain { self.drain() } else { self.stop() }
    }

    /// Ends it after what it has.
    pub fn drain(&self) {
        let mut input = self.lock();
        if input.state == State::Open {
            input.state = State::Draining;
        }
        drop(input);
        self.ready.notify_one();
    }

    /// Ends it at once.
    pub fn stop(&self) {
        let mut input = self.lock();
        input.state = State::Stopped;
        input.events = VecDeque::new();
        drop(input);
        self.ready.notify_one();
    }

    fn lock(&self) -> MutexGuard<'_, Input> {
        // No code panics between two changes that belong together, so a poisoned input is a whole one.
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
