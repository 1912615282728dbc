//! The objects, in memory, under one global revision counter; the only place that writes them.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Serialize, Serializer};
use serde_json::Value;
use tokio::sync::watch;

use super::builtin::RESOURCES;
use super::object::{Draft, Object};
use super::random;
use super::resource::Resource;
use super::selector::Filter;
use super::watch_cache::{Event, EventType, Gap, Ring};

/// So many writes are remembered for `/_control/log`.
const LOG_LENGTH: usize = 200_000;

/// The storage. Every write takes one revision, which becomes the object's resourceVersion.
#[derive(Debug)]
pub struct Storage {
    state: Mutex<State>,
    /// The newest revision of all.
    newest: watch::Sender<u64>,
    seed: u64,
}

#[derive(Debug)]
struct State {
    revision: u64,
    /// By the ids of the resources.
    collections: BTreeMap<usize, Collection>,
    /// Who is owned by whom: the id and the key of each object, by the uid of its owner.
    dependents: HashMap<Arc<str>, BTreeSet<(usize, Arc<str>)>>,
    log: VecDeque<LogEntry>,
}

#[derive(Debug)]
struct Collection {
    objects: BTreeMap<Arc<str>, Arc<Object>>,
    ring: Ring,
    /// The revision of its newest write: wakes the watchers of this resource only.
    written: watch::Sender<u64>,
    /// Its resource is no longer served: watches end after its last event.
    closed: bool,
}

impl Collection {
    fn new(revision: u64) -> Self {
        Self {
            objects: BTreeMap::new(),
            ring: Ring::new(revision),
            written: watch::Sender::new(revision),
            closed: false,
        }
    }
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

/// What becomes of an object that is changed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Fate {
    /// The new version is written.
    Kept,
    /// It goes.
    Removed,
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
        let collections = RESOURCES.iter().map(|resource| (resource.id, Collection::new(revision))).collect();
        Self {
            state: Mutex::new(State { revision, collections, dependents: HashMap::new(), log: VecDeque::new() }),
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
        let mut state = self.lock();
        let revision = state.revision;
        state.collections.entry(resource.id).or_insert_with(|| Collection::new(revision)).written.subscribe()
    }

    /// Makes room for the objects of a resource that is new.
    pub fn open(&self, id: usize) {
        let mut state = self.lock();
        // What was closed before has told its end to whoever watched.
        state.collections.retain(|_, collection| !collection.closed);
        let revision = state.revision;
        state.collections.entry(id).or_insert_with(|| Collection::new(revision));
    }

    /// Ends the watches of a resource that is no longer served.
    pub fn close(&self, id: usize) {
        let mut state = self.lock();
        let revision = state.revision;
        let Some(collection) = state.collections.get_mut(&id) else { return };
        collection.closed = true;
        collection.written.send_replace(revision);
    }

    /// Makes everything written so far the initial state: no watch can start before it.
    pub fn compact(&self) -> u64 {
        let mut state = self.lock();
        let revision = state.revision;
        state.collections.values_mut().for_each(|collection| collection.ring.compact(revision));
        revision
    }

    /// Like [`Self::compact`], and drops the events: after the population, of which nobody saw the start.
    pub fn settle(&self) {
        let mut state = self.lock();
        let revision = state.revision;
        state.collections.values_mut().for_each(|collection| collection.ring.reset(revision));
    }

    /// One object.
    pub fn get(&self, resource: &Resource, key: &str) -> Option<Arc<Object>> {
        self.lock().object(resource.id, key).cloned()
    }

    /// What an object owns: each one's resource id and key.
    pub fn dependents(&self, uid: &str) -> Vec<(usize, Arc<str>)> {
        self.lock().dependents.get(uid).map(|all| all.iter().cloned().collect()).unwrap_or_default()
    }

    /// Writes a new object; `None` if its key is taken. A missing uid is made up.
    pub fn create(&self, resource: &Resource, draft: Draft) -> Option<Arc<Object>> {
        let key = resource.key(draft.meta("namespace"), draft.meta("name"));
        let mut state = self.lock();
        if state.object(resource.id, &key).is_some() {
            return None;
        }
        Some(self.put(&mut state, resource, &key, draft))
    }

    /// Writes an object, whether or not it is there.
    pub fn upsert(&self, resource: &Resource, mut draft: Draft) -> Arc<Object> {
        let key = resource.key(draft.meta("namespace"), draft.meta("name"));
        let mut state = self.lock();
        if draft.meta("uid").is_empty()
            && let Some(current) = state.object(resource.id, &key)
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
        let kept = |current: &Object, value: &mut Value| change(current, value).map(|()| Fate::Kept);
        self.change(resource, key, false, kept).map(|(object, _)| object)
    }

    /// Changes or removes an object, which is up to the change; answers its new or its last state. A dry run
    /// writes nothing, and answers what would have been.
    pub fn change<E>(
        &self,
        resource: &Resource,
        key: &str,
        dry_run: bool,
        change: impl FnOnce(&Object, &mut Value) -> Result<Fate, E>,
    ) -> Result<(Arc<Object>, Fate), UpdateError<E>> {
        let mut state = self.lock();
        let current = state.object(resource.id, key).cloned().ok_or(UpdateError::NotFound)?;
        let mut value = current.to_value();
        let fate = change(&current, &mut value).map_err(UpdateError::Refused)?;
        let Some(draft) = Draft::from_value(value) else { return Ok((current, Fate::Kept)) };
        let object = Arc::new(draft.into_object(resource, state.revision + 1));
        if object.key != current.key || (fate == Fate::Kept && object.is_same_state(&current)) {
            return Ok((current, Fate::Kept));
        }
        match fate {
            _ if dry_run => {}
            Fate::Kept => self.insert(&mut state, resource, &object),
            Fate::Removed => {
                state.take(resource.id, key);
                state.revision = object.revision;
                self.publish(&mut state, resource, EventType::Deleted, &object, Some(current));
            }
        }
        Ok((object, fate))
    }

    /// Deletes an object; answers its last state under the deletion's revision.
    pub fn delete(&self, resource: &Resource, key: &str) -> Option<Arc<Object>> {
        let mut state = self.lock();
        let previous = state.take(resource.id, key)?;
        state.revision += 1;
        let last = Arc::new(previous.at_revision(state.revision));
        self.publish(&mut state, resource, EventType::Deleted, &last, Some(previous));
        Some(last)
    }

    /// Lists objects, if the asked revision is still known.
    pub fn list(&self, resource: &Resource, query: &ListQuery) -> Result<Page, Gap> {
        let state = self.lock();
        let Some(collection) = state.collections.get(&resource.id) else {
            return Ok(Page { revision: state.revision, objects: Vec::new(), remaining: 0 });
        };
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
        self.lock().collections.get(&resource.id).map_or(0, |collection| collection.ring.oldest())
    }

    /// What happened to a resource after `revision`.
    pub fn news(&self, resource: &Resource, revision: u64, limit: usize) -> Result<News, Gap> {
        let state = self.lock();
        let collection = state.collections.get(&resource.id).ok_or(Gap)?;
        let (events, waiting) = collection.ring.after(revision, limit)?;
        if events.is_empty() && collection.closed {
            return Err(Gap);
        }
        Ok(News { events, waiting, revision: state.revision })
    }

    /// The writes so far, of one resource or of all.
    pub fn log(&self, resource: Option<&Resource>) -> Vec<LogEntry> {
        let state = self.lock();
        let wanted = |entry: &&LogEntry| resource.is_none_or(|resource| resource.id == entry.resource);
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
        let previous = state.put(resource.id, object);
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
            resource: resource.id,
        });
        let revision = state.revision;
        let collection = state.collections.entry(resource.id).or_insert_with(|| Collection::new(revision));
        collection.ring.push(event_type, Arc::clone(object), previous);
        collection.written.send_replace(revision);
        self.newest.send_replace(state.revision);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // No code panics between two changes that belong together, so a poisoned state is a whole one.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn object(&self, id: usize, key: &str) -> Option<&Arc<Object>> {
        self.collections.get(&id)?.objects.get(key)
    }

    /// Puts an object in its place; answers who had it.
    fn put(&mut self, id: usize, object: &Arc<Object>) -> Option<Arc<Object>> {
        let revision = self.revision;
        let collection = self.collections.entry(id).or_insert_with(|| Collection::new(revision));
        let previous = collection.objects.insert(Arc::clone(&object.key), Arc::clone(object));
        if previous.as_ref().is_none_or(|previous| previous.owners != object.owners) {
            previous.iter().for_each(|previous| self.disown(id, previous));
            for owner in &object.owners {
                let place = (id, Arc::clone(&object.key));
                self.dependents.entry(Arc::clone(owner)).or_default().insert(place);
            }
        }
        previous
    }

    fn take(&mut self, id: usize, key: &str) -> Option<Arc<Object>> {
        let object = self.collections.get_mut(&id)?.objects.remove(key)?;
        self.disown(id, &object);
        Some(object)
    }

    fn disown(&mut self, id: usize, object: &Object) {
        for owner in &object.owners {
            let Some(owned) = self.dependents.get_mut(owner) else { continue };
            owned.remove(&(id, Arc::clone(&object.key)));
            if owned.is_empty() {
                self.dependents.remove(owner);
            }
        }
    }
}
