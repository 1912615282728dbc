//! What one cache knows: the objects of a resource as they are, and what happened to them lately.

use std::sync::Arc;

use tokio::time::Instant;

use super::event::{Event, EventType};
use super::objects::{Entry, Objects};
use super::ring::Ring;
use crate::resources::object::Object;
use crate::resources::resource::Resource;
use crate::storage::{Change, KeyValue};

/// Objects, events, and up to which revision they tell everything.
#[derive(Debug)]
pub struct WatchCache {
    resource: Arc<Resource>,
    /// The objects.
    pub objects: Objects,
    /// The events.
    pub ring: Ring,
    /// Everything up to here is known.
    pub revision: u64,
}

impl WatchCache {
    /// A cache that knows nothing.
    pub fn new(resource: Arc<Resource>) -> Self {
        Self { objects: Objects::new(&resource), ring: Ring::new(0), revision: 0, resource }
    }

    /// Takes a list of all objects for what there is. There is nothing to resume from before it.
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

    /// Takes in a change; answers the event that it makes. A value that is none of this program's makes none.
    pub fn apply(&mut self, change: Change) -> Option<Arc<Event>> {
        // What is older than the list is in the list.
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
            // A deletion tells the last state, as of its own revision.
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
