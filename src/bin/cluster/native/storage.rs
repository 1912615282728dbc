//! The objects, in memory, under one global revision counter; the only place that writes them.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Serialize, Serializer};
use serde_json::Value;
use tokio::sync::watch;

use super::object::{Draft, Object};
use super::random;
use super::resource::{RESOURCES, Resource};
use super::selector::Filter;
use super::watch_cache::{Event, EventType, Gap, Ring};

/// So many writes are remembered for `/_control/log`.
const LOG_LENGTH: usize = 200_000;

/// The storage. Every write takes one revision, which becomes the object's resourceVersion.
#[derive(Debug)]
pub struct Storage {
    state: Mutex<State>,
    /// Per resource, the revision of its newest write: wakes the watchers of that resource only.
    written: Vec<watch::Sender<u64>>,
    /// The newest revision of all.
    newest: watch::Sender<u64>,
    seed: u64,
}

#[derive(Debug)]
struct State {
    revision: u64,
    collections: Vec<Collection>,
    log: VecDeque<LogEntry>,
}

#[derive(Debug)]
struct Collection {
    objects: BTreeMap<Arc<str>, Arc<Object>>,
    ring: Ring,
}

/// One write, as `/_control/log` tells it.
#[derive(Debug, Clone, Serialize)]
pub struct LogEntry {
    /// The revision that the write took.
    pub revision: u64,
    /// ADDED, MODIFIED or DELETED.
    #[serde(rename = "type")]
    pub event_type: &'static str,
    /// Key of the object.
    #[serde(serialize_with = "as_text")]
    pub key: Arc<str>,
    /// Its uid.
    #[serde(serialize_with = "as_text")]
    pub uid: Arc<str>,
    #[serde(skip)]
    resource: usize,
}

fn as_text<S: Serializer>(text: &Arc<str>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(text)
}

/// Why an update did not happen.
#[derive(Debug)]
pub enum UpdateError<E> {
    /// There is no such object.
    NotFound,
    /// The change itself was refused.
    Refused(E),
}

/// Which part of a resource's objects to list.
#[derive(Debug, Default)]
pub struct ListQuery {
    /// Which objects.
    pub filter: Filter,
    /// At exactly this revision; the newest if absent.
    pub at: Option<u64>,
    /// Only keys after this one.
    pub after: Option<String>,
    /// At most so many; 0 is all.
    pub limit: usize,
}

/// A part of a list.
#[derive(Debug)]
pub struct Page {
    /// The revision that the page shows.
    pub revision: u64,
    /// The objects, in key order.
    pub objects: Vec<Arc<Object>>,
    /// How many matching objects follow.
    pub remaining: usize,
}

/// What a watcher gets when it looks for news.
#[derive(Debug)]
pub struct News {
    /// The next events, oldest first.
    pub events: Vec<Arc<Event>>,
    /// How many wait in all, these included.
    pub waiting: usize,
    /// The newest revision of the storage at that moment.
    pub revision: u64,
}

impl Storage {
    /// An empty storage whose history starts at `revision`.
    pub fn new(seed: u64, revision: u64) -> Self {
        let collection = || Collection { objects: BTreeMap::new(), ring: Ring::new(revision) };
        let collections = RESOURCES.iter().map(|_| collection()).collect();
        Self {
            state: Mutex::new(State { revision, collections, log: VecDeque::new() }),
            written: RESOURCES.iter().map(|_| watch::Sender::new(revision)).collect(),
            newest: watch::Sender::new(revision),
            seed,
        }
    }

    /// The newest revision.
    pub fn revision(&self) -> u64 {
        self.lock().revision
    }

    /// Follows the newest revision.
    pub fn newest(&self) -> watch::Receiver<u64> {
        self.newest.subscribe()
    }

    /// Follows the writes to one resource.
    pub fn written(&self, resource: &Resource) -> watch::Receiver<u64> {
        self.written[resource.index].subscribe()
    }

    /// Makes everything written so far the initial state: no watch can start before it.
    pub fn compact(&self) -> u64 {
        let mut state = self.lock();
        let revision = state.revision;
        state.collections.iter_mut().for_each(|collection| collection.ring.compact(revision));
        revision
    }

    /// Like [`Self::compact`], and drops the events: after the population, of which nobody saw the start.
    pub fn settle(&self) {
        let mut state = self.lock();
        let revision = state.revision;
        state.collections.iter_mut().for_each(|collection| collection.ring.reset(revision));
    }

    /// One object.
    pub fn get(&self, resource: &Resource, key: &str) -> Option<Arc<Object>> {
        self.lock().collections[resource.index].objects.get(key).cloned()
    }

    /// Writes a new object; `None` if its key is taken. A missing uid is made up.
    pub fn create(&self, resource: &Resource, draft: Draft) -> Option<Arc<Object>> {
        let key = resource.key(draft.meta("namespace"), draft.meta("name"));
        let mut state = self.lock();
        if state.collections[resource.index].objects.contains_key(key.as_str()) {
            return None;
        }
        Some(self.put(&mut state, resource, &key, draft))
    }

    /// Writes an object, whether or not it is there.
    pub fn upsert(&self, resource: &Resource, mut draft: Draft) -> Arc<Object> {
        let key = resource.key(draft.meta("namespace"), draft.meta("name"));
        let mut state = self.lock();
        if draft.meta("uid").is_empty()
            && let Some(current) = state.collections[resource.index].objects.get(key.as_str())
        {
            draft.metadata.insert("uid".to_owned(), Value::from(&*current.uid));
        }
        self.put(&mut state, resource, &key, draft)
    }

    /// Changes an object. Like the real server it writes nothing if the change changes nothing.
    pub fn update<E>(
        &self,
        resource: &Resource,
        key: &str,
        change: impl FnOnce(&Object, &mut Value) -> Result<(), E>,
    ) -> Result<Arc<Object>, UpdateError<E>> {
        let mut state = self.lock();
        let current = state.collections[resource.index].objects.get(key).cloned().ok_or(UpdateError::NotFound)?;
        let mut value = current.to_value();
        change(&current, &mut value).map_err(UpdateError::Refused)?;
        let Some(draft) = Draft::from_value(value) else { return Ok(current) };
        let object = Arc::new(draft.into_object(resource, state.revision + 1));
        if object.is_same_state(&current) || object.key != current.key {
            return Ok(current);
        }
        self.insert(&mut state, resource, &object);
        Ok(object)
    }

    /// Deletes an object; answers its last state under the deletion's revision.
    pub fn delete(&self, resource: &Resource, key: &str) -> Option<Arc<Object>> {
        let mut state = self.lock();
        let previous = state.collections[resource.index].objects.remove(key)?;
        state.revision += 1;
        let last = Arc::new(previous.at_revision(state.revision));
        self.publish(&mut state, resource, EventType::Deleted, &last, Some(previous));
        Some(last)
    }

    /// Lists objects, if the asked revision is still known.
    pub fn list(&self, resource: &Resource, query: &ListQuery) -> Result<Page, Gap> {
        let state = self.lock();
        let collection = &state.collections[resource.index];
        let revision = query.at.unwrap_or(state.revision);
        let mut before = if revision < state.revision {
            if revision < collection.ring.oldest() {
                return Err(Gap);
            }
            collection.ring.undo_to(revision)?
        } else {
            BTreeMap::new()
        };
        // Every key of a namespace lies between `namespace/` and `namespace0`, the next byte after the slash.
        let prefix = query.filter.namespace.as_deref().filter(|_| resource.namespaced);
        let from = query.after.clone().or_else(|| prefix.map(|namespace| format!("{namespace}/"))).unwrap_or_default();
        let until = prefix.map(|namespace| format!("{namespace}0"));
        let in_range = |key: &str| {
            key >= from.as_str()
                && query.after.as_deref() != Some(key)
                && until.as_deref().is_none_or(|until| key < until)
        };
        before.retain(|key, _| in_range(key));

        let mut page = Page { revision, objects: Vec::new(), remaining: 0 };
        let mut take = |object: &Arc<Object>| {
            if !query.filter.matches(object) {
            } else if query.limit == 0 || page.objects.len() < query.limit {
                page.objects.push(Arc::clone(object));
            } else {
                page.remaining += 1;
            }
        };
        let mut before = before.into_iter().peekable();
        let start = std::ops::Bound::Included(from.as_str());
        for (key, object) in collection.objects.range::<str, _>((start, std::ops::Bound::Unbounded)) {
            if until.as_deref().is_some_and(|until| **key >= *until) {
                break;
            }
            if !in_range(key) {
                continue;
            }
            let mut changed = false;
            while let Some((changed_key, then)) = before.next_if(|(changed_key, _)| changed_key <= key) {
                changed |= changed_key == *key;
                then.iter().for_each(&mut take);
            }
            if !changed {
                take(object);
            }
        }
        before.filter_map(|(_, then)| then).for_each(|object| take(&object));
        Ok(page)
    }

    /// The newest revision and the objects of a resource at it, in key order.
    pub fn snapshot(&self, resource: &Resource, filter: &Filter) -> (u64, Vec<Arc<Object>>) {
        let page = self.list(resource, &ListQuery { filter: filter.clone(), ..ListQuery::default() });
        page.map(|page| (page.revision, page.objects)).unwrap_or_default()
    }

    /// The oldest resourceVersion that a watch of the resource may start from.
    pub fn oldest(&self, resource: &Resource) -> u64 {
        self.lock().collections[resource.index].ring.oldest()
    }

    /// What happened to a resource after `revision`.
    pub fn news(&self, resource: &Resource, revision: u64, limit: usize) -> Result<News, Gap> {
        let state = self.lock();
        let (events, waiting) = state.collections[resource.index].ring.after(revision, limit)?;
        Ok(News { events, waiting, revision: state.revision })
    }

    /// The writes so far, of one resource or of all.
    pub fn log(&self, resource: Option<&Resource>) -> Vec<LogEntry> {
        let state = self.lock();
        let wanted = |entry: &&LogEntry| resource.is_none_or(|resource| resource.index == entry.resource);
        state.log.iter().filter(wanted).cloned().collect()
    }

    fn put(&self, state: &mut State, resource: &Resource, key: &str, mut draft: Draft) -> Arc<Object> {
        let revision = state.revision + 1;
        if draft.meta("uid").is_empty() {
            let uid = random::uid(self.seed, &format!("{}/{key}", resource.plural), revision);
            draft.metadata.insert("uid".to_owned(), uid.into());
        }
        let object = Arc::new(draft.into_object(resource, revision));
        self.insert(state, resource, &object);
        object
    }

    fn insert(&self, state: &mut State, resource: &Resource, object: &Arc<Object>) {
        state.revision = object.revision;
        let previous = state.collections[resource.index].objects.insert(Arc::clone(&object.key), Arc::clone(object));
        let event_type = if previous.is_some() { EventType::Modified } else { EventType::Added };
        self.publish(state, resource, event_type, object, previous);
    }

    fn publish(
        &self,
        state: &mut State,
        resource: &Resource,
        event_type: EventType,
        object: &Arc<Object>,
        previous: Option<Arc<Object>>,
    ) {
        if state.log.len() == LOG_LENGTH {
            state.log.pop_front();
        }
        state.log.push_back(LogEntry {
            revision: state.revision,
            event_type: event_type.as_str(),
            key: Arc::clone(&object.key),
            uid: Arc::clone(&object.uid),
            resource: resource.index,
        });
        state.collections[resource.index].ring.push(event_type, Arc::clone(object), previous);
        self.written[resource.index].send_replace(state.revision);
        self.newest.send_replace(state.revision);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // No code panics between two changes that belong together, so a poisoned state is a whole one.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
