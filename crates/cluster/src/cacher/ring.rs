//! The recent events of one resource, from which watches resume. The buffer grows while events arrive quickly and
//! shrinks when they have become rare.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use super::event::Event;

/// How long events are kept, about: a client that lists and then watches finds its start within this time
/// (`eventFreshDuration`).
pub const EVENT_FRESH_DURATION: Duration = Duration::from_secs(75);
/// The number of events that fit at first, and the least that ever fits (`defaultLowerBoundCapacity`).
const DEFAULT_LOWER_BOUND_CAPACITY: usize = 100;
/// The largest number of events that fit (`defaultUpperBoundCapacity`).
const DEFAULT_UPPER_BOUND_CAPACITY: usize = 100 * 1024;
/// The objects of the events take at most this many bytes; older events are dropped as if there were no room. The real
/// server has no such bound. It equals the bound of the storage's history, which keeps the same texts: 102,400 Pods
/// would take 400 MB.
const BYTES: usize = 256 << 20;

/// The events of one resource, oldest first.
#[derive(Debug)]
pub struct Ring {
    events: VecDeque<Arc<Event>>,
    /// How many events since the start came before the first one that is kept: the positions of intervals count from
    /// the start.
    first: u64,
    capacity: usize,
    bytes: usize,
    /// The revision of the list; nothing before it is known.
    listed: u64,
    /// The newest revision whose event has been dropped since the list.
    evicted: Option<u64>,
    /// Watches from before this revision are refused because a test asked for it.
    refused: u64,
}

/// The events between two positions, which are read from the ring block by block.
#[derive(Debug, Clone, PartialEq)]
pub struct Interval {
    next: u64,
    end: u64,
}

/// Events of an interval were dropped before they were read.
#[derive(Debug, PartialEq)]
pub struct Invalidated;

impl Interval {
    /// An interval without events.
    pub fn empty() -> Self {
        Self { next: 0, end: 0 }
    }

    /// Whether everything has been read.
    pub fn is_empty(&self) -> bool {
        self.next == self.end
    }
}

impl Ring {
    /// A ring whose list is at `revision`.
    pub fn new(revision: u64) -> Self {
        let (events, capacity) = (VecDeque::new(), DEFAULT_LOWER_BOUND_CAPACITY);
        Self { events, first: 0, capacity, bytes: 0, listed: revision, evicted: None, refused: 0 }
    }

    /// Drops all events after a new list at `revision`. Existing intervals become invalid.
    pub fn replace(&mut self, revision: u64) {
        self.first += self.events.len() as u64 + 1;
        self.events.clear();
        (self.bytes, self.listed, self.evicted, self.refused) = (0, revision, None, 0);
    }

    /// The number of events that fit.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// The oldest resourceVersion that a watch may start from: that of the list while no event has been dropped, and
    /// afterwards the one before the first event that is left.
    pub fn oldest(&self) -> u64 {
        let kept = match (self.evicted, self.events.front()) {
            (None, _) => self.listed,
            (Some(_), Some(first)) => first.revision() - 1,
            (Some(evicted), None) => evicted,
        };
        kept.max(self.refused)
    }

    /// Refuses watches from before `revision`.
    pub fn refuse(&mut self, revision: u64) {
        self.refused = self.refused.max(revision);
    }

    /// Appends the newest event.
    pub fn push(&mut self, event: Arc<Event>) {
        self.resize(&event);
        if self.events.len() == self.capacity {
            self.evict();
        }
        self.bytes += size(&event);
        self.events.push_back(event);
        while self.bytes > BYTES && self.events.len() > 1 {
            self.evict();
        }
    }

    /// Grows the ring where events arrive quickly, and shrinks it where they do not.
    fn resize(&mut self, newest: &Event) {
        if self.events.len() < self.capacity {
            return;
        }
        let age = |index: usize| self.events.get(index).map(|event| newest.at.duration_since(event.at));
        let newest_quarter = self.events.len() - self.capacity / 4;
        if age(0).is_some_and(|age| age < EVENT_FRESH_DURATION) {
            self.capacity = (self.capacity * 2).min(DEFAULT_UPPER_BOUND_CAPACITY);
        } else if age(newest_quarter).is_some_and(|age| age > EVENT_FRESH_DURATION) {
            self.capacity = (self.capacity / 2).max(DEFAULT_LOWER_BOUND_CAPACITY);
            while self.events.len() > self.capacity {
                self.evict();
            }
        }
    }

    fn evict(&mut self) {
        if let Some(event) = self.events.pop_front() {
            self.first += 1;
            self.bytes -= size(&event);
            self.evicted = Some(event.revision());
        }
    }

    /// The events after a revision that are there now.
    ///
    /// # Errors
    ///
    /// The oldest revision that a watch may start from, if `revision` is older.
    pub fn since(&self, revision: u64) -> Result<Interval, u64> {
        let oldest = self.oldest();
        if revision < oldest {
            return Err(oldest);
        }
        let before = self.events.partition_point(|event| event.revision() <= revision);
        Ok(Interval { next: self.first + before as u64, end: self.first + self.events.len() as u64 })
    }

    /// Reads up to `limit` events of an interval.
    pub fn read(&self, interval: &mut Interval, limit: usize) -> Result<Vec<Arc<Event>>, Invalidated> {
        if interval.is_empty() {
            return Ok(Vec::new());
        }
        let start = interval.next.checked_sub(self.first).ok_or(Invalidated)? as usize;
        let length = ((interval.end - interval.next) as usize).min(limit);
        interval.next += length as u64;
        Ok(self.events.range(start..start + length).cloned().collect())
    }
}

/// The bytes that an event keeps from being freed.
fn size(event: &Event) -> usize {
    event.object.raw().len() + size_of::<Event>()
}

#[cfg(test)]
mod tests {
    use tokio::time::{Instant, advance};

    use super::*;
    use crate::cacher::event::EventType;
    use crate::cacher::tests::pod;

    /// A ring after a list at revision 10, with one event per `spacing`, the first of them at revision 11.
    async fn ring(events: u64, spacing: Duration) -> Ring {
        let mut ring = Ring::new(10);
        add(&mut ring, 11..11 + events, spacing).await;
        ring
    }

    async fn add(ring: &mut Ring, revisions: std::ops::Range<u64>, spacing: Duration) {
        let object = pod("web", "", 1);
        for revision in revisions {
            let object = Arc::new(object.at_revision(revision));
            let values = [None, None];
            let event = Event { event_type: EventType::Modified, object, previous: None, values, at: Instant::now() };
            ring.push(Arc::new(event));
            if !spacing.is_zero() {
                advance(spacing).await;
            }
        }
    }

    /// The first and the last revision after `revision` and the number of events; the oldest revision, if `revision` is
    /// too old.
    fn since(ring: &Ring, revision: u64) -> Result<(u64, u64, usize), u64> {
        let mut interval = ring.since(revision)?;
        let events = ring.read(&mut interval, usize::MAX).expect("nothing has gone");
        let at = |event: Option<&Arc<Event>>| event.map_or(0, |event| event.revision());
        Ok((at(events.first()), at(events.last()), events.len()))
    }

    /// 78. TestEvents: a watch may start from the list while no event is gone, later from right before the first.
    #[tokio::test(start_paused = true)]
    async fn the_window_of_events_and_the_boundary_of_410() {
        let slow = Duration::from_secs(60);
        let mut ring = ring(100, slow).await;
        for (revision, expected) in [
            (9, Err(10)),
            (10, Ok((11, 110, 100))),
            (11, Ok((12, 110, 99))),
            (110, Ok((0, 0, 0))),
            (999, Ok((0, 0, 0))),
        ] {
            assert_eq!(since(&ring, revision), expected, "{revision}");
        }
        // One event more than fits. Revisions that belong to other resources count as seen.
        add(&mut ring, 115..116, slow).await;
        for (revision, expected) in [(10, Err(11)), (11, Ok((12, 115, 100))), (112, Ok((115, 115, 1)))] {
            assert_eq!(since(&ring, revision), expected, "{revision}");
        }
        ring.replace(200);
        for (revision, expected) in [(199, Err(200)), (200, Ok((0, 0, 0)))] {
            assert_eq!(since(&ring, revision), expected, "{revision}");
        }
        ring.refuse(300);
        assert_eq!((since(&ring, 299), since(&ring, 300)), (Err(300), Ok((0, 0, 0))));
    }

    /// 79. TestDynamicCache, TestCacheIncreaseDoesNotBreakWatch: the ring doubles while it is full of fresh events and
    /// halves when even its newest quarter is older; intervals that are being read stay valid.
    #[tokio::test(start_paused = true)]
    async fn it_grows_and_shrinks_and_growing_keeps_watches() {
        let check = async |events: u64, spacing: Duration, capacity: usize| {
            assert_eq!(ring(events, spacing).await.capacity(), capacity, "{events} every {spacing:?}");
        };
        check(100, Duration::ZERO, 100).await;
        check(101, Duration::ZERO, 200).await;
        check(101, Duration::from_millis(749), 200).await;
        check(101, Duration::from_millis(751), 100).await;
        check(801, Duration::ZERO, 1600).await;
        check(2 * DEFAULT_UPPER_BOUND_CAPACITY as u64, Duration::ZERO, DEFAULT_UPPER_BOUND_CAPACITY).await;

        let mut ring = ring(300, Duration::ZERO).await;
        let mut interval = ring.since(10).expect("all are kept");
        let first = ring.read(&mut interval, 100).expect("it is whole");
        add(&mut ring, 311..1000, Duration::ZERO).await;
        assert_eq!(ring.capacity(), 1600);
        let rest = ring.read(&mut interval, 999).expect("it is whole");
        let revisions: Vec<u64> = first.iter().chain(&rest).map(|event| event.revision()).collect();
        assert_eq!((revisions, interval.is_empty()), ((11..=310).collect(), true));
        // The ring is full again: its newest 400 of 1600 events span more than the window.
        add(&mut ring, 1000..2000, Duration::from_millis(200)).await;
        assert_eq!((ring.capacity(), ring.events.len()), (800, 800));
        add(&mut ring, 2000..4000, Duration::from_secs(75)).await;
        assert_eq!((ring.capacity(), ring.oldest()), (DEFAULT_LOWER_BOUND_CAPACITY, 3899));
    }

    #[tokio::test(start_paused = true)]
    async fn many_bytes_are_too_many_events() {
        let mut ring = Ring::new(10);
        let object = pod(&"x".repeat(8 << 20), "", 1);
        for revision in 11..51 {
            let object = Arc::new(object.at_revision(revision));
            let values = [None, None];
            let event = Event { event_type: EventType::Added, object, previous: None, values, at: Instant::now() };
            ring.push(Arc::new(event));
        }
        assert!(ring.bytes <= BYTES && ring.events.len() < 32);
        assert_eq!(ring.oldest(), 50 - ring.events.len() as u64);
    }

    /// A reader gets an error when events are dropped before it has read them.
    #[tokio::test(start_paused = true)]
    async fn an_interval_whose_events_have_gone_is_invalid() {
        let slow = Duration::from_secs(60);
        let mut ring = ring(100, slow).await;
        let (mut whole, mut rest) = (ring.since(10).expect("kept"), ring.since(110).expect("kept"));
        add(&mut ring, 111..112, slow).await;
        assert_eq!(ring.read(&mut whole, 1).err(), Some(Invalidated));
        let mut read = ring.since(110).expect("kept");
        ring.replace(500);
        assert_eq!(ring.read(&mut rest, 1).map(|events| events.len()), Ok(0), "there was nothing to read");
        assert_eq!(ring.read(&mut read, 1).err(), Some(Invalidated));
    }
}
