//! The events of one resource that are still kept: what watches resume from and old pages are undone with.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::object::Object;

/// Events younger than this are kept while there is room: etcd's usual compaction interval.
const KEPT_FOR: Duration = Duration::from_secs(300);
/// At least so many are kept, however old.
const KEPT_LEAST: usize = 100;
/// At most so many are kept: about 130 MB of Pods.
const KEPT_MOST: usize = 32_768;

/// What a write did to an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventType {
    /// It is new.
    Added,
    /// It has a new version.
    Modified,
    /// It is gone.
    Deleted,
}

impl EventType {
    /// The type as the wire spells it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Added => "ADDED",
            Self::Modified => "MODIFIED",
            Self::Deleted => "DELETED",
        }
    }
}

/// One write.
#[derive(Debug)]
pub struct Event {
    /// What it did.
    pub event_type: EventType,
    /// The object after it; for a deletion the last state, under the deletion's revision.
    pub object: Arc<Object>,
    /// The object before it.
    pub previous: Option<Arc<Object>>,
    at: Instant,
}

/// The events of one resource, oldest first.
#[derive(Debug)]
pub struct Ring {
    events: VecDeque<Arc<Event>>,
    /// The newest revision whose event is gone. A watcher that had not seen it yet has a gap.
    evicted: u64,
    /// New watches may start from here on. Compaction moves it without taking events from running watches.
    oldest: u64,
}

/// The events that a watcher asked for are gone.
#[derive(Debug, PartialEq)]
pub struct Gap;

impl Ring {
    /// A ring that knows nothing before `revision`.
    pub fn new(revision: u64) -> Self {
        Self { events: VecDeque::new(), evicted: revision, oldest: revision }
    }

    /// Forgets everything: what happened up to `revision` is the initial state.
    pub fn reset(&mut self, revision: u64) {
        *self = Self::new(revision);
    }

    /// The oldest resourceVersion that a new watch may start from.
    pub fn oldest(&self) -> u64 {
        self.oldest
    }

    /// Refuses new watches from before `revision`.
    pub fn compact(&mut self, revision: u64) {
        self.oldest = self.oldest.max(revision);
    }

    /// Takes in a write.
    pub fn push(&mut self, event_type: EventType, object: Arc<Object>, previous: Option<Arc<Object>>) {
        let now = Instant::now();
        self.events.push_back(Arc::new(Event { event_type, object, previous, at: now }));
        while let Some(first) = self.events.front() {
            let stale = self.events.len() > KEPT_LEAST && now.duration_since(first.at) > KEPT_FOR;
            if !stale && self.events.len() <= KEPT_MOST {
                break;
            }
            self.evicted = first.object.revision;
            self.oldest = self.oldest.max(self.evicted);
            self.events.pop_front();
        }
    }

    /// Up to `limit` events after `revision`, and how many there are in all.
    pub fn after(&self, revision: u64, limit: usize) -> Result<(Vec<Arc<Event>>, usize), Gap> {
        if revision < self.evicted {
            return Err(Gap);
        }
        let start = self.position_after(revision);
        Ok((self.events.range(start..).take(limit).cloned().collect(), self.events.len() - start))
    }

    /// The state at `revision` of every object that changed since; `None` for those that did not exist yet.
    pub fn undo_to(&self, revision: u64) -> Result<BTreeMap<Arc<str>, Option<Arc<Object>>>, Gap> {
        if revision < self.evicted {
            return Err(Gap);
        }
        let mut before = BTreeMap::new();
        for event in self.events.range(self.position_after(revision)..) {
            before.entry(Arc::clone(&event.object.key)).or_insert_with(|| event.previous.clone());
        }
        Ok(before)
    }

    fn position_after(&self, revision: u64) -> usize {
        self.events.partition_point(|event| event.object.revision <= revision)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::builtin::PODS;
    use super::super::object::Draft;
    use super::*;

    fn pod(revision: u64) -> Arc<Object> {
        let draft = Draft::from_value(json!({"metadata": {"name": "web", "namespace": "shop"}, "spec": {}})).unwrap();
        Arc::new(draft.into_object(&PODS, revision))
    }

    #[test]
    fn a_full_ring_gives_up_its_oldest_and_says_so() {
        let (mut ring, first) = (Ring::new(10), pod(10));
        for revision in 11..=11 + KEPT_MOST as u64 {
            ring.push(EventType::Modified, Arc::new(first.at_revision(revision)), None);
        }
        assert_eq!(ring.oldest(), 11);
        assert_eq!(ring.after(10, 1).err(), Some(Gap));
        let (events, all) = ring.after(11, 1).unwrap();
        assert_eq!((events[0].object.revision, all), (12, KEPT_MOST));
    }

    #[test]
    fn compaction_refuses_new_watches_but_keeps_running_ones() {
        let mut ring = Ring::new(10);
        ring.push(EventType::Added, pod(11), None);
        ring.compact(11);
        assert_eq!(ring.oldest(), 11);
        assert_eq!(ring.after(10, 9).unwrap().1, 1);
    }
}
