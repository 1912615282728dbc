//! Sends each event to every watcher, in order. A watcher gets the events since it was added, and every event that could not
//! be delivered is counted.

use std::collections::{BTreeMap, VecDeque};

/// What happens to an event when a watcher's queue is full. apimachinery can also have the sender wait
/// (`WaitIfChannelFull`). Here no call blocks, and [`FullChannelBehavior::RefuseIfChannelFull`] lets the sender try again
/// later instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FullChannelBehavior {
    /// That watcher misses the event, and its miss is counted. The others get it.
    DropIfChannelFull,
    /// No watcher gets the event, and the sender gets it back.
    RefuseIfChannelFull,
}

/// Names a watcher. No other watcher of the same broadcaster ever has the same name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WatcherId(u64);

/// What a watcher finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next<E> {
    /// The next event.
    Event(E),
    /// Nothing for now.
    Empty,
    /// Nothing, now or later: the watcher was stopped, or the broadcaster was shut down and everything that was queued has
    /// been delivered.
    Ended,
}

/// The broadcaster was shut down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("broadcaster already stopped")]
pub struct Stopped;

/// An event was not taken, and no watcher got it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotTaken<E> {
    /// The broadcaster was shut down.
    #[error("broadcaster already stopped")]
    Stopped(E),
    /// A watcher's queue is full, and the broadcaster does not drop.
    #[error("a watcher's queue is full")]
    Full(E),
}

/// What became of the events. An event is counted once for each watcher that there was when it was sent. At every moment
/// `sent` is the sum of `delivered`, `dropped`, `discarded` and what is queued.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Events meant for a watcher.
    pub sent: u64,
    /// Events that the watcher took.
    pub delivered: u64,
    /// Events that the watcher missed because its queue was full.
    pub dropped: u64,
    /// Events that still waited when the watcher was stopped.
    pub discarded: u64,
}

#[derive(Clone, Debug)]
struct Watcher<E> {
    queue: VecDeque<E>,
    capacity: usize,
    dropped: u64,
}

/// The broadcaster (apimachinery `pkg/watch/mux.go`).
#[derive(Clone, Debug)]
pub struct Broadcaster<E> {
    watchers: BTreeMap<WatcherId, Watcher<E>>,
    behavior: FullChannelBehavior,
    stopped: bool,
    watched: u64,
    tally: Tally,
}

impl<E: Clone> Broadcaster<E> {
    /// A broadcaster without watchers.
    pub fn new(behavior: FullChannelBehavior) -> Self {
        Broadcaster { watchers: BTreeMap::new(), behavior, stopped: false, watched: 0, tally: Tally::default() }
    }

    /// Adds a watcher, which gets what is sent from now on. Its queue holds `capacity` events, at least one.
    pub fn watch(&mut self, capacity: usize) -> Result<WatcherId, Stopped> {
        if self.stopped {
            return Err(Stopped);
        }
        self.watched += 1;
        let id = WatcherId(self.watched);
        self.watchers.insert(id, Watcher { queue: VecDeque::new(), capacity: capacity.max(1), dropped: 0 });
        Ok(id)
    }

    /// Sends an event to every watcher.
    pub fn action(&mut self, event: E) -> Result<(), NotTaken<E>> {
        if self.stopped {
            return Err(NotTaken::Stopped(event));
        }
        let is_full = |watcher: &Watcher<E>| watcher.queue.len() >= watcher.capacity;
        if self.behavior == FullChannelBehavior::RefuseIfChannelFull && self.watchers.values().any(is_full) {
            return Err(NotTaken::Full(event));
        }
        for watcher in self.watchers.values_mut() {
            self.tally.sent += 1;
            if is_full(watcher) {
                watcher.dropped += 1;
                self.tally.dropped += 1;
            } else {
                watcher.queue.push_back(event.clone());
            }
        }
        Ok(())
    }

    /// Takes a watcher's next event. A watcher that does not exist, or was stopped, has ended.
    pub fn next(&mut self, id: WatcherId) -> Next<E> {
        let Some(watcher) = self.watchers.get_mut(&id) else { return Next::Ended };
        if let Some(event) = watcher.queue.pop_front() {
            self.tally.delivered += 1;
            return Next::Event(event);
        }
        if self.stopped {
            self.watchers.remove(&id);
            return Next::Ended;
        }
        Next::Empty
    }

    /// Ends a watcher, and discards what waits for it; doing so again changes nothing. Returns how many events were
    /// discarded.
    pub fn stop_watching(&mut self, id: WatcherId) -> usize {
        let count = self.watchers.remove(&id).map_or(0, |watcher| watcher.queue.len());
        self.tally.discarded += count as u64;
        count
    }

    /// From now on no event is taken and nobody can begin to watch. What is queued can still be taken; then the
    /// watchers end. Doing so again changes nothing.
    pub fn shutdown(&mut self) {
        self.stopped = true;
    }

    /// How many events wait for a watcher.
    pub fn queued(&self, id: WatcherId) -> usize {
        self.watchers.get(&id).map_or(0, |watcher| watcher.queue.len())
    }

    /// How many events a watcher has missed. 0 if the watcher has ended; [`Broadcaster::tally`] still counts what it missed.
    pub fn dropped(&self, id: WatcherId) -> u64 {
        self.watchers.get(&id).map_or(0, |watcher| watcher.dropped)
    }

    /// What became of the events of all watchers, including those that have ended.
    pub fn tally(&self) -> Tally {
        self.tally
    }

    /// Whether every event is in exactly one place.
    pub fn is_balanced(&self) -> bool {
        let Tally { sent, delivered, dropped, discarded } = self.tally;
        let queued: usize = self.watchers.values().map(|watcher| watcher.queue.len()).sum();
        sent == delivered + dropped + discarded + queued as u64
    }
}

#[cfg(test)]
mod tests {
    use super::FullChannelBehavior::{DropIfChannelFull, RefuseIfChannelFull};
    use super::*;

    /// Plays words on a broadcaster. `w2` adds a watcher with room for two; `+a` sends (`full` or `stopped` if it is
    /// not taken); `>1` takes what the first watcher finds; `-1` stops it; `X` shuts down.
    fn play(behavior: FullChannelBehavior, words: &str) -> (String, Broadcaster<&str>) {
        let mut broadcaster = Broadcaster::new(behavior);
        let mut seen: Vec<String> = Vec::new();
        for word in words.split(' ') {
            let (sign, rest) = word.split_at(1);
            let number = rest.parse().unwrap_or(0);
            match sign {
                "w" => seen.extend(broadcaster.watch(number as usize).err().map(|_| String::from("stopped"))),
                "+" => seen.extend(broadcaster.action(rest).err().map(|refused| match refused {
                    NotTaken::Stopped(event) => format!("stopped:{event}"),
                    NotTaken::Full(event) => format!("full:{event}"),
                })),
                ">" => seen.push(match broadcaster.next(WatcherId(number)) {
                    Next::Event(event) => event.to_owned(),
                    Next::Empty => String::from("."),
                    Next::Ended => String::from("end"),
                }),
                "-" => drop(broadcaster.stop_watching(WatcherId(number))),
                _ => broadcaster.shutdown(),
            }
            assert!(broadcaster.is_balanced(), "{words} at {word}");
        }
        (seen.join(" "), broadcaster)
    }

    fn check(behavior: FullChannelBehavior, words: &str, expected: &str) {
        assert_eq!(play(behavior, words).0, expected, "{words}");
    }

    #[test]
    fn every_watcher_sees_what_comes_after_it_in_order() {
        check(DropIfChannelFull, "w9 +a w9 +b +c >1 >1 >1 >1 >2 >2 >2", "a b c . b c .");
    }

    /// 74. TestBroadcasterDropIfChannelFull.
    #[test]
    fn full_watcher_is_skipped_alone() {
        let (seen, broadcaster) = play(DropIfChannelFull, "w1 w2 +a +b +c >1 >1 >2 >2 >2 +d >1 >2");
        assert_eq!(seen, "a . a b . d d");
        assert_eq!([1, 2].map(|id| broadcaster.dropped(WatcherId(id))), [2, 1]);
        assert_eq!(broadcaster.tally(), Tally { sent: 8, delivered: 5, dropped: 3, discarded: 0 });
        check(DropIfChannelFull, "w1 w1 +a +b X >1 >1 >2 >2", "a end a end");
    }

    #[test]
    fn refusal_gives_the_event_back_and_reaches_nobody() {
        check(RefuseIfChannelFull, "w1 w9 +a +b >1 +b >1 >2 >2 >2", "full:b a b a b .");
        // Whoever stops no longer stands in the way.
        check(RefuseIfChannelFull, "w1 w9 +a -1 +b >2 >2", "a b");
    }

    #[test]
    fn shutdown_delivers_what_is_queued_then_ends() {
        check(DropIfChannelFull, "w9 w9 +a +b X >1 >1 >1 >1 X >2", "a b end end a");
    }

    #[test]
    fn nothing_is_taken_after_shutdown() {
        check(DropIfChannelFull, "w9 X +a w9 >1", "stopped:a stopped end");
        check(RefuseIfChannelFull, "w1 +a X +b", "stopped:b");
    }

    #[test]
    fn stopping_is_idempotent_and_what_it_discards_is_counted() {
        let (seen, mut broadcaster) = play(DropIfChannelFull, "w9 w9 +a +b >1 -1 -1 >1 >2 X -1 -2 -7 >2");
        assert_eq!(seen, "a end a end");
        assert_eq!(broadcaster.tally(), Tally { sent: 4, delivered: 2, dropped: 0, discarded: 2 });
        assert_eq!(broadcaster.stop_watching(WatcherId(2)), 0);
    }
}
