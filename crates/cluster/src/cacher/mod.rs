//! The Cacher of each resource: it lists and follows the storage once, and serves all lists and watches from that.
//!
//! ```text
//! storage ─► watch cache: objects, ring of events ─► dispatch ─► input of a watcher (bounded) ─► frames
//!                     └── snapshot, or the events since a revision ───────────────────────────────┘
//! ```
//!
//! An event is dispatched under the same lock under which the cache applies it, and a watcher is registered under that
//! lock, too. So there is neither a gap nor an overlap between the state that a watcher starts with and the events that
//! are dispatched to it, and a watcher whose buffer is empty has received everything up to the revision of the cache.
//! Nothing waits while it holds the lock.

pub mod cache_watcher;
pub mod compactor;
pub mod event;
pub mod frame;
pub mod objects;
pub mod ring;
pub mod switches;
pub mod time_budget;
pub mod trigger;
pub mod watch_cache;
pub mod watcher;
pub mod watchers;

#[cfg(test)]
mod tests;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::AbortHandle;
use tokio::time::Instant;

use crate::clock::sleep_until;
use crate::resources::object::Object;
use crate::resources::resource::Resource;
use crate::resources::selector::Filter;
use crate::storage::{RangeRequest, Storage, StorageError, WatchItem};
use cache_watcher::{CacheWatcher, Indexed, channel_size};
use event::Event;
use ring::{Interval, Invalidated};
use trigger::Trigger;
use watch_cache::WatchCache;
use watchers::Watchers;

/// How long a request waits for a revision that is still to come (`blockTimeout`).
const BLOCK_TIMEOUT: Duration = Duration::from_secs(3);
/// How often the storage is asked for its progress while a request waits (`progressRequestPeriod`).
const PROGRESS_REQUEST_PERIOD: Duration = Duration::from_millis(100);
/// How often the storage is asked for its progress at all times, so that bookmarks advance even if nothing changes.
const STORAGE_BOOKMARK_PERIOD: Duration = Duration::from_secs(1);
/// How long to wait before a storage that could not be listed is asked again.
const RETRY: Duration = Duration::from_millis(500);

/// The cache of one resource, and its watchers.
#[derive(Debug)]
pub struct Cacher {
    resource: Arc<Resource>,
    storage: Arc<dyn Storage>,
    state: Mutex<State>,
    /// The revision up to which the cache is complete; 0 while it is not ready.
    reached: watch::Sender<u64>,
    task: Mutex<Option<AbortHandle>>,
}

#[derive(Debug)]
struct State {
    cache: WatchCache,
    watchers: Watchers,
    /// Since when the storage is lost; `None` also before the first attempt.
    unready_since: Option<Instant>,
    /// Whether the resource is no longer served.
    closed: bool,
}

/// The cache does not know the current state of the storage.
#[derive(Debug, PartialEq)]
pub struct NotReady {
    /// For how long the cache has not been ready.
    pub downtime: Duration,
}

/// What a new watcher starts with.
#[derive(Debug)]
struct Registered {
    input: Arc<CacheWatcher>,
    /// The revision that the watcher starts from.
    revision: u64,
    /// The objects at that revision if they were asked for, in key order and not filtered.
    state: Vec<Arc<Object>>,
    /// The events since the revision that the watcher asked for.
    replay: Interval,
}

impl Registered {
    /// What a watcher starts with that has failed already.
    fn nothing() -> Self {
        let input = CacheWatcher::new(None, 0, false);
        input.stop();
        Self { input, revision: 0, state: Vec::new(), replay: Interval::empty() }
    }
}

/// Where a watcher starts.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Since {
    /// With the objects as they are now.
    State,
    /// With the next event.
    Now,
    /// With the events after a revision.
    Revision(u64),
}

impl Cacher {
    /// Starts to list and watch a resource in the storage.
    pub fn start(storage: Arc<dyn Storage>, resource: Arc<Resource>) -> Arc<Self> {
        let (cache, watchers) = (WatchCache::new(Arc::clone(&resource)), Watchers::new(Instant::now()));
        let state = Mutex::new(State { cache, watchers, unready_since: None, closed: false });
        let cacher =
            Arc::new(Self { resource, storage, state, reached: watch::Sender::new(0), task: Mutex::default() });
        let task = tokio::spawn(Arc::clone(&cacher).run()).abort_handle();
        *cacher.task.lock().unwrap_or_else(PoisonError::into_inner) = Some(task);
        cacher
    }

    async fn run(self: Arc<Self>) {
        loop {
            let error = match self.list().await {
                Ok(()) => self.follow().await,
                Err(error) => error,
            };
            self.lose(&error);
            // A storage that answers "compacted" can be listed again at once. For any other error an immediate retry
            // could loop forever.
            if !matches!(error, StorageError::Compacted(_)) {
                tokio::time::sleep(RETRY).await;
            }
        }
    }

    /// Called when the storage is lost: the watchers end, and clients can watch again once the cache is ready.
    fn lose(&self, error: &StorageError) {
        self.reached.send_replace(0);
        let mut state = self.lock();
        if state.unready_since.is_none() {
            eprintln!("cluster: the cache of {} begins anew: {error}", self.resource.qualified());
            state.unready_since = Some(Instant::now());
        }
        state.watchers.close();
    }

    async fn list(&self) -> Result<(), StorageError> {
        let range = self.storage.range(&RangeRequest::prefix(&self.resource.prefix())).await?;
        let mut state = self.lock();
        state.cache.replace(range.values, range.revision);
        state.unready_since = None;
        drop(state);
        self.reached.send_replace(range.revision);
        Ok(())
    }

    /// Watches the storage until that fails. A watch that merely ends is opened again at the revision that it had
    /// reached.
    async fn follow(&self) -> StorageError {
        loop {
            let before = self.revision();
            if let Err(error) = self.watch(before).await {
                return error;
            }
            if self.revision() == before {
                return StorageError::Unavailable("a watch has ended without a word".to_owned());
            }
        }
    }

    async fn watch(&self, revision: u64) -> Result<(), StorageError> {
        let mut changes = self.storage.watch(&self.resource.prefix(), revision).await?;
        let mut progress = tokio::time::interval(STORAGE_BOOKMARK_PERIOD);
        let mut deadline = None;
        loop {
            tokio::select! {
                item = changes.recv() => {
                    let mut state = self.lock();
                    match item {
                        Some(WatchItem::Change(change)) => {
                            if let Some(event) = state.cache.apply(change) {
                                let at = event.at;
                                state.watchers.dispatch(event, at);
                            }
                        }
                        Some(WatchItem::Progress(revision)) => {
                            state.cache.revision = state.cache.revision.max(revision);
                        }
                        Some(WatchItem::Failed(error)) => return Err(error),
                        None => return Ok(()),
                    }
                    deadline = state.watchers.deadline();
                    let revision = state.cache.revision;
                    drop(state);
                    self.reached.send_if_modified(|reached| std::mem::replace(reached, revision) != revision);
                }
                _ = progress.tick() => self.storage.request_progress(0),
                () = sleep_until(deadline) => {
                    let mut state = self.lock();
                    state.watchers.settle(Instant::now());
                    deadline = state.watchers.deadline();
                }
            }
        }
    }

    /// The revision up to which the cache is complete.
    pub fn revision(&self) -> u64 {
        self.lock().cache.revision
    }

    /// The oldest revision that a watch may start from.
    pub fn oldest(&self) -> u64 {
        self.lock().cache.ring.oldest()
    }

    /// Waits for the first list, at most as long as for a revision. If the storage is lost, the error comes at once.
    pub async fn ready(&self) -> Result<(), NotReady> {
        let unready_since = self.lock().unready_since;
        if let Some(since) = unready_since {
            return Err(NotReady { downtime: since.elapsed() });
        }
        let mut reached = self.reached.subscribe();
        let listed = tokio::time::timeout(BLOCK_TIMEOUT, reached.wait_for(|reached| *reached > 0)).await;
        if listed.is_ok() { Ok(()) } else { Err(NotReady { downtime: BLOCK_TIMEOUT }) }
    }

    /// Waits until the cache is complete up to a revision, for as long as the real server does; returns whether it is.
    pub async fn wait_until_fresh(&self, revision: u64) -> bool {
        let mut reached = self.reached.subscribe();
        let is_fresh = |reached: &u64| *reached > 0 && *reached >= revision;
        let arrived = async {
            loop {
                match tokio::time::timeout(PROGRESS_REQUEST_PERIOD, reached.wait_for(is_fresh)).await {
                    Ok(result) => return result.is_ok(),
                    Err(_) => self.storage.request_progress(revision),
                }
            }
        };
        if !is_fresh(&self.reached.borrow()) {
            self.storage.request_progress(revision);
        }
        tokio::time::timeout(BLOCK_TIMEOUT, arrived).await.unwrap_or(false)
    }

    /// The revision of the cache, and its objects at that revision in key order.
    pub fn snapshot(&self, filter: &Filter) -> (u64, Vec<Arc<Object>>) {
        let state = self.lock();
        let (revision, mut objects) = (state.cache.revision, state.cache.objects.candidates(filter));
        drop(state);
        objects.retain(|object| filter.matches(object));
        (revision, objects)
    }

    /// Registers a watcher.
    ///
    /// # Errors
    ///
    /// The revision that was asked for and the oldest that a watch may start from, if the former is too old.
    fn register(&self, since: Since, filter: &Filter, owes_end_bookmark: bool) -> Result<Registered, (u64, u64)> {
        let trigger = Trigger::of(&self.resource);
        let value: Option<Box<str>> = trigger.and_then(|trigger| trigger.asked(filter)).map(Into::into);
        let indexed = match (trigger, &value) {
            (None, _) => Indexed::No,
            (Some(_), None) => Indexed::WithoutValue,
            (Some(_), Some(_)) => Indexed::WithValue,
        };
        let mut state = self.lock();
        let (revision, replay) = match since {
            Since::Revision(revision) => {
                (revision, state.cache.ring.since(revision).map_err(|oldest| (revision, oldest))?)
            }
            Since::State | Since::Now => (state.cache.revision, Interval::empty()),
        };
        let objects = if since == Since::State { state.cache.objects.candidates(filter) } else { Vec::new() };
        let size = channel_size(state.cache.ring.capacity(), indexed);
        let input = CacheWatcher::new(value, size, owes_end_bookmark);
        if state.closed || state.unready_since.is_some() {
            input.stop();
        } else {
            state.watchers.add(&input);
        }
        Ok(Registered { input, revision, state: objects, replay })
    }

    fn forget(&self, watcher: &Arc<CacheWatcher>) {
        self.lock().watchers.remove(watcher);
    }

    fn read(&self, interval: &mut Interval, limit: usize) -> Result<Vec<Arc<Event>>, Invalidated> {
        self.lock().cache.ring.read(interval, limit)
    }

    /// The number of watchers.
    #[cfg(test)]
    pub fn watchers(&self) -> usize {
        self.lock().watchers.len()
    }

    /// Refuses new watches from before `revision`.
    pub fn compact(&self, revision: u64) {
        self.lock().cache.ring.refuse(revision);
    }

    /// Ends the watches of a resource that is no longer served, after the last event that is queued.
    pub fn close(self: Arc<Self>) {
        tokio::spawn(async move {
            if let Ok(newest) = self.storage.revision().await {
                self.wait_until_fresh(newest).await;
            }
            if let Some(task) = &*self.task.lock().unwrap_or_else(PoisonError::into_inner) {
                task.abort();
            }
            let mut state = self.lock();
            state.closed = true;
            state.watchers.close();
        });
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // No code panics between two changes that belong together, so the state behind a poisoned lock is consistent.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
