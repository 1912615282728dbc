//! The objects as the endpoints see them: written with the storage's transactions, read from the storage or the caches.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use serde_json::Value;
use tokio::sync::watch;

use crate::cacher::Cacher;
use crate::clock;
use crate::random;
use crate::resources::object::{Draft, Object};
use crate::resources::resource::Resource;
use crate::resources::selector::Filter;
use crate::status::Status;
use crate::storage::{RangeRequest, Storage, StorageError, Txn, Write};

/// A page with a selector reads the storage in growing pieces of at most this many objects (`maxLimit` in etcd3's
/// store).
const LARGEST_RANGE: usize = 10_000;

/// The objects of all resources.
#[derive(Debug)]
pub struct Store {
    storage: Arc<dyn Storage>,
    seen: watch::Receiver<u64>,
    /// The caches by the ids of their resources.
    cachers: RwLock<HashMap<usize, Arc<Cacher>>>,
}

/// What becomes of a changed object.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Fate {
    /// The new version is written.
    Kept,
    /// The object is deleted.
    Removed,
}

/// Why an update did not happen.
#[derive(Debug)]
pub enum UpdateError<E> {
    /// The object does not exist.
    NotFound,
    /// The change itself was refused.
    Refused(E),
    /// The storage failed.
    Storage(StorageError),
}

impl<E> From<StorageError> for UpdateError<E> {
    fn from(error: StorageError) -> Self {
        Self::Storage(error)
    }
}

/// Which objects of a resource to list.
#[derive(Debug, Default)]
pub struct ListQuery {
    /// Selects the objects.
    pub filter: Filter,
    /// How fresh the list must be.
    pub freshness: Freshness,
    /// Only keys after this one.
    pub after: Option<String>,
    /// The largest number of objects; 0 for all.
    pub limit: usize,
}

/// How fresh a list must be.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub enum Freshness {
    /// It must include everything that was written before the request.
    #[default]
    Consistent,
    /// It may come from the cache, but must not be older than this revision.
    NotOlderThan(u64),
    /// It must be at exactly this revision.
    Exact(u64),
}

/// A part of a list.
#[derive(Debug)]
pub struct Page {
    /// The revision of the page.
    pub revision: u64,
    /// The objects, in key order.
    pub objects: Vec<Arc<Object>>,
    /// The number of matching objects that follow.
    pub remaining: usize,
}

impl Store {
    /// The objects of a storage.
    pub fn new(storage: Arc<dyn Storage>) -> Self {
        Self { seen: storage.seen(), storage, cachers: RwLock::default() }
    }

    /// The newest revision that this process has seen.
    pub fn revision(&self) -> u64 {
        *self.seen.borrow()
    }

    /// The newest revision, which includes every write that any server acknowledged before the call.
    pub async fn current(&self) -> Result<u64, StorageError> {
        self.storage.revision().await
    }

    /// A receiver of the newest revision that this process has seen.
    #[cfg(test)]
    pub fn newest(&self) -> watch::Receiver<u64> {
        self.seen.clone()
    }

    /// The cache of a resource.
    pub fn cacher(&self, resource: &Arc<Resource>) -> Arc<Cacher> {
        if let Some(found) = self.cachers.read().unwrap_or_else(PoisonError::into_inner).get(&resource.id) {
            return Arc::clone(found);
        }
        let mut cachers = self.cachers.write().unwrap_or_else(PoisonError::into_inner);
        let start = || Cacher::start(Arc::clone(&self.storage), Arc::clone(resource));
        Arc::clone(cachers.entry(resource.id).or_insert_with(start))
    }

    /// Ends the watches of a resource that is no longer served.
    pub fn close(&self, id: usize) {
        if let Some(cacher) = self.cachers.write().unwrap_or_else(PoisonError::into_inner).remove(&id) {
            cacher.close();
        }
    }

    /// Compacts the history up to now: earlier watches and pages become too old. Returns the revision of the
    /// compaction.
    pub async fn compact(&self) -> Result<u64, StorageError> {
        let revision = self.storage.revision().await?;
        let cachers: Vec<_> = self.cachers.read().unwrap_or_else(PoisonError::into_inner).values().cloned().collect();
        cachers.iter().for_each(|cacher| cacher.compact(revision));
        self.storage.compact(revision).await?;
        Ok(revision)
    }

    /// The current version of an object.
    pub async fn get(&self, resource: &Resource, key: &str) -> Result<Option<Arc<Object>>, StorageError> {
        let found = self.storage.get(&resource.storage_key(key)).await?;
        Ok(found.and_then(|found| Object::decode(resource, found.value, found.revision)).map(Arc::new))
    }

    /// Writes a new object; `None` if its key exists. A missing uid is generated.
    pub async fn create(&self, resource: &Resource, draft: Draft) -> Result<Option<Arc<Object>>, StorageError> {
        let object = self.identified(resource, draft).into_object(resource, 0);
        let write = Write::Put(Arc::clone(object.raw()));
        match self.storage.txn(&resource.storage_key(&object.key), 0, write).await? {
            Txn::Written(revision) => Ok(Some(Arc::new(object.at_revision(revision)))),
            Txn::Lost(_) => Ok(None),
        }
    }

    /// Creates or replaces an object.
    pub async fn upsert(&self, resource: &Resource, mut draft: Draft) -> Result<Arc<Object>, StorageError> {
        let key = resource.key(draft.meta("namespace"), draft.meta("name"));
        let storage_key = resource.storage_key(&key);
        let mut current = self.storage.get(&storage_key).await?;
        loop {
            if draft.meta("uid").is_empty()
                && let Some(current) = &current
                && let Some(known) = Object::decode(resource, Arc::clone(&current.value), current.revision)
            {
                draft.metadata.insert("uid".to_owned(), Value::from(&*known.uid));
            }
            let object = self.identified(resource, draft.clone()).into_object(resource, 0);
            let expected = current.map_or(0, |current| current.revision);
            let write = Write::Put(Arc::clone(object.raw()));
            match self.storage.txn(&storage_key, expected, write).await? {
                Txn::Written(revision) => return Ok(Arc::new(object.at_revision(revision))),
                Txn::Lost(newest) => current = newest,
            }
        }
    }

    /// Changes or removes an object, as `change` decides; returns its new or its last state. `change` is called again
    /// if another write came first. If the object stays the same, nothing is written, as in the real server. A dry run
    /// writes nothing either, and returns the result that a write would have had.
    pub async fn change<E>(
        &self,
        resource: &Resource,
        key: &str,
        dry_run: bool,
        mut change: impl FnMut(&Object, &mut Value) -> Result<Fate, E>,
    ) -> Result<(Arc<Object>, Fate), UpdateError<E>> {
        let storage_key = resource.storage_key(key);
        let mut newest = self.storage.get(&storage_key).await?;
        loop {
            let current = newest.ok_or(UpdateError::NotFound)?;
            let current = Object::decode(resource, current.value, current.revision).ok_or(UpdateError::NotFound)?;
            let mut value = current.to_value();
            let fate = change(&current, &mut value).map_err(UpdateError::Refused)?;
            let Some(draft) = Draft::from_value(value) else { return Ok((Arc::new(current), Fate::Kept)) };
            let object = draft.into_object(resource, current.revision);
            if object.key != current.key || (fate == Fate::Kept && object.is_same_state(&current)) {
                return Ok((Arc::new(current), Fate::Kept));
            }
            if dry_run {
                return Ok((Arc::new(object), fate));
            }
            let write = match fate {
                Fate::Kept => Write::Put(Arc::clone(object.raw())),
                Fate::Removed => Write::Delete,
            };
            match self.storage.txn(&storage_key, current.revision, write).await? {
                Txn::Written(revision) => return Ok((Arc::new(object.at_revision(revision)), fate)),
                Txn::Lost(current) => newest = current,
            }
        }
    }

    /// Lists objects.
    pub async fn list(&self, resource: &Arc<Resource>, query: &ListQuery) -> Result<Page, Status> {
        if let (None, 0) = (&query.after, query.limit)
            && !matches!(query.freshness, Freshness::Exact(_))
        {
            return self.list_cached(resource, query).await;
        }
        let at = match query.freshness {
            Freshness::Exact(at) => at,
            Freshness::Consistent => self.storage.revision().await?,
            Freshness::NotOlderThan(_) => return self.list_cached(resource, query).await,
        };
        self.list_stored(resource, query, at).await
    }

    async fn list_cached(&self, resource: &Arc<Resource>, query: &ListQuery) -> Result<Page, Status> {
        let least = match query.freshness {
            Freshness::NotOlderThan(revision) | Freshness::Exact(revision) => revision,
            Freshness::Consistent => self.storage.revision().await?,
        };
        let cacher = self.cacher(resource);
        cacher.ready().await.map_err(|error| Status::not_ready(resource, error.downtime))?;
        if !cacher.wait_until_fresh(least).await {
            return Err(Status::too_large(least, cacher.revision()));
        }
        let (revision, objects) = cacher.snapshot(&query.filter);
        let mut page = Page { revision, objects, remaining: 0 };
        if query.limit > 0 && page.objects.len() > query.limit {
            page.remaining = page.objects.len() - query.limit;
            page.objects.truncate(query.limit);
        }
        Ok(page)
    }

    /// Reads the storage in pieces until a page is full, because a selector may leave little of each piece.
    async fn list_stored(&self, resource: &Arc<Resource>, query: &ListQuery, at: u64) -> Result<Page, Status> {
        let mut prefix = resource.prefix();
        if let Some(namespace) = query.filter.namespace.as_deref().filter(|_| resource.namespaced) {
            prefix = format!("{prefix}{namespace}/");
        }
        let mut request = RangeRequest { at: Some(at), limit: query.limit, ..RangeRequest::prefix(&prefix) };
        if let Some(after) = &query.after {
            request.from = request.from.max(resource.storage_key(after) + "\0");
        }
        let mut page = Page { revision: at, objects: Vec::new(), remaining: 0 };
        loop {
            let range = self.storage.range(&request).await.map_err(|error| match error {
                StorageError::Future(newest) => Status::too_large(at, newest),
                other => other.into(),
            })?;
            let read = range.values.len();
            let last = range.values.last().map(|one| format!("{}\0", one.key));
            for (index, one) in range.values.into_iter().enumerate() {
                let Some(object) = Object::decode(resource, one.value, one.revision) else { continue };
                if query.filter.matches(&object) {
                    page.objects.push(Arc::new(object));
                }
                if query.limit > 0 && page.objects.len() == query.limit {
                    page.remaining = range.count - index - 1;
                    return Ok(page);
                }
            }
            match last {
                Some(last) if read < range.count => {
                    request.from = last;
                    request.limit = (2 * request.limit).min(LARGEST_RANGE);
                }
                _ => return Ok(page),
            }
        }
    }

    fn identified(&self, resource: &Resource, mut draft: Draft) -> Draft {
        if draft.meta("uid").is_empty() {
            let key = resource.key(draft.meta("namespace"), draft.meta("name"));
            let uid = random::uid(clock::time().0 as u64, &format!("{}/{key}", resource.plural), self.revision());
            draft.metadata.insert("uid".to_owned(), uid.into());
        }
        draft
    }
}
