//! One change of one object, as the watch cache keeps it and hands it to its watchers.

use std::sync::{Arc, OnceLock};

use axum::extract::ws::Utf8Bytes;
use tokio::time::Instant;

use crate::resources::object::Object;

/// What a write did to an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventType {
    /// The object is new.
    Added,
    /// The object has a new version.
    Modified,
    /// The object is deleted.
    Deleted,
}

impl EventType {
    /// The type's name in a watch event.
    pub fn word(self) -> &'static str {
        match self {
            Self::Added => "ADDED",
            Self::Modified => "MODIFIED",
            Self::Deleted => "DELETED",
        }
    }
}

/// One write to one object.
#[derive(Debug)]
pub struct Event {
    /// What the write did.
    pub event_type: EventType,
    /// The object after the write; for a deletion the last state, under the revision of the deletion.
    pub object: Arc<Object>,
    /// The object before the write.
    pub previous: Option<Arc<Object>>,
    /// The value of the trigger in the object, and in the object before it; `None` where the resource has no trigger.
    pub values: [Option<Arc<str>>; 2],
    /// When the cache received the write.
    pub at: Instant,
}

impl Event {
    /// The revision of the write.
    pub fn revision(&self) -> u64 {
        self.object.revision
    }

    /// Whether the event is of interest to a watch that asks for one value of the trigger.
    pub fn concerns(&self, value: &str) -> bool {
        self.values.iter().flatten().any(|own| **own == *value)
    }
}

/// An event on its way to the watchers. Its text is dropped when the last watcher that waits for it has taken it, so
/// that the events that are kept for later watches occupy only the memory of their objects.
#[derive(Debug)]
pub struct Delivery {
    pub event: Arc<Event>,
    /// The frame for the whole object, made when the first watcher asks for it.
    pub text: OnceLock<Utf8Bytes>,
}

impl Delivery {
    /// An event whose frame has not been made yet.
    pub fn new(event: Arc<Event>) -> Self {
        Self { event, text: OnceLock::new() }
    }
}
