//! What one cache holds: the current objects of a resource, and its recent events.

use std::sync::Arc;

use tokio::time::Instant;

use super::event::{Event, EventType};
use super::objects::{Entry, Objects};
use super::ring::Ring;
use crate::resources::object::Object;
use crate::resources::resource::Resource;
use crate::storage::{Change, KeyValue};

/// Objects and events, and the revision up to which they are complete.
#[derive(Debug)]
pub struct WatchCache {
    resource: Arc<Resource>,
    pub objects: Objects,
    /// The events.
    pub ring: Ring,
    /// The revision up to which the cache is complete.
    pub revision: u64,
}

impl WatchCache {
    /// An empty cache.
    pub fn new(resource: Arc<Resource>) -> Self {
        Self { objects: Objects::new(&resource), ring: Ring::new(0), revision: 0, resource }
    }

    /// Replaces all objects by those of a list. A watch cannot resume from before that list.
    pub fn replace(&mut self, values: Vec<KeyValue>, revision: u64) {
        self.objects.clear();
        for one in values {
            if let Some(object) = Object::decode(&self.resource, one.value, one.revision) {
                self.objects.insert(Arc::new(object));
            }
        }
        self.ring.replace(revision);
        self.revision = revision;
    }

    /// Applies a change; returns the event for it. A value that is not an object of this program gives none.
    pub fn apply(&mut self, change: Change) -> Option<Arc<Event>> {
        // A change that is older than the list is part of the list.
        if change.revision <= self.revision {
            return None;
        }
        self.revision = change.revision;
        let decode = |raw| Object::decode(&self.resource, raw, change.revision).map(Arc::new);
        let (event_type, entry, previous) = match (change.value, change.previous) {
            (Some(raw), _) => {
                let (entry, previous) = self.objects.insert(decode(raw)?);
                let event_type = if previous.is_some() { EventType::Modified } else { EventType::Added };
                (event_type, entry, previous)
            }
            // A deletion carries the last state, under the revision of the deletion.
            (None, Some(last)) => {
                let last = decode(last.value)?;
                let previous = self.objects.remove(&last.key);
                let value = previous.as_ref().and_then(|previous| previous.value.clone());
                (EventType::Deleted, Entry { object: last, value }, previous)
            }
            (None, None) => return None,
        };
        let (previous, before) = previous.map_or((None, None), |entry| (Some(entry.object), entry.value));
        let values = [entry.value, before];
        let event = Arc::new(Event { event_type, object: entry.object, previous, values, at: Instant::now() });
        self.ring.push(Arc::clone(&event));
        Some(event)
    }
}
