//! One change of one object, as the watch cache keeps it and hands it to its watchers.

use std::sync::{Arc, OnceLock};

use axum::extract::ws::Utf8Bytes;
use tokio::time::Instant;

use crate::resources::object::Object;

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
    /// The word for it in a watch.
    pub fn word(self) -> &'static str {
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
    /// The trigger's value of the object, and of the one before; `None` where the resource has no trigger.
    pub values: [Option<Arc<str>>; 2],
    /// When the cache heard of it.
    pub at: Instant,
}

impl Event {
    /// The revision of the write.
    pub fn revision(&self) -> u64 {
        self.object.revision
    }

    /// Whether a watch that asks for one value of the trigger has anything to do with it.
    pub fn concerns(&self, value: &str) -> bool {
        self.values.iter().flatten().any(|own| **own == *value)
    }
}

/// An event on its way to the watchers. The text is dropped with the last of them that waits for it, so that the
/// events that are kept for later watches take the room of their objects alone.
#[derive(Debug)]
pub struct Delivery {
    /// What happened.
    pub event: Arc<Event>,
    /// The frame that says so of the whole object, once somebody has asked for it.
    pub text: OnceLock<Utf8Bytes>,
}

impl Delivery {
    /// An event that nobody has written down yet.
    pub fn new(event: Arc<Event>) -> Self {
        Self { event, text: OnceLock::new() }
    }
}
