//! The Cacher of each resource: it lists and follows the storage once, and serves all lists and watches from that.
//!
//! ```text
//! storage ─► watch cache: objects, ring of events ─► dispatch ─► input of a watcher (bounded) ─► frames
//!                     └── snapshot, or the events since a revision ───────────────────────────────┘
//! ```
//!
//! An event is dispatched under the same lock under which the cache takes it in, and a watcher is registered under
//! that lock, too. So what a watcher starts with and what is dispatched to it join without a gap or an overlap, and
//! who has nothing waiting has been told everything up to the cache's revision. Nobody waits under the lock.

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
const FRESHNESS_WAIT: Duration = Duration::from_secs(3);
/// How often the storage is asked meanwhile how far it is (`progressRequestPeriod`).
const PROGRESS_EVERY: Duration = Duration::from_millis(100);
/// How often the storage is asked anyway, so that bookmarks lead on where nothing happens.
const STORAGE_BOOKMARK_EVERY: Duration = Duration::from_secs(1);
/// A storage that cannot be listed is asked again after this.
const RETRY: Duration = Duration::from_millis(500);

/// The cache of one resource, and its watchers.
#[derive(Debug)]
pub struct Cacher {
    resource: Arc<Resource>,
    storage: Arc<dyn Storage>,
    state: Mutex<State>,
    /// The revision up to which it knows everything; 0 while it is not ready.
    reached: watch::Sender<u64>,
    task: Mutex<Option<AbortHandle>>,
}

#[derive(Debug)]
struct State {
    cache: WatchCache,
    watchers: Watchers,
    /// Since when it has lost the storage; `None` before the first attempt, too.
    unready_since: Option<Instant>,
    /// Its resource is no longer served.
    closed: bool,
}

/// It does not know the state of the storage at the moment.
#[derive(Debug, PartialEq)]
pub struct NotReady {
    /// How long it has been so.
    pub downtime: Duration,
}

/// What a new watcher starts with.
#[derive(Debug)]
struct Registered {
    input: Arc<CacheWatcher>,
    /// The revision that it starts from.
    revision: u64,
    /// The objects at that moment, if they were asked for, in key order and not filtered.
    state: Vec<Arc<Object>>,
    /// The events since the revision that was asked for.
    replay: Interval,
}

impl Registered {
    /// What a watcher starts with that has failed.
    fn nothing() -> Self {
        let input = CacheWatcher::new(None, 0, false);
        input.stop();
        Self { input, revision: 0, state: Vec::new(), replay: Interval::empty() }
    }
}

/// Where a watcher starts.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Since {
    /// The objects as they are.
    State,
    /// Nothing.
    Now,
    /// What happened after a revision.
    Revision(u64),
}

impl Cacher {
    /// Begins to follow a resource.
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
            // A storage that has begun anew can be listed at once; one that can only be listed would be, without end.
            if !matches!(error, StorageError::Compacted(_)) {
                tokio::time::sleep(RETRY).await;
            }
        }
    }

    /// It has lost the storage: its watchers end, and come back when it is ready again.
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

    /// Follows the storage until it fails. A watch that only ends is begun again where it was.
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
        let mut progress = tokio::time::interval(STORAGE_BOOKMARK_EVERY);
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

    /// The revision up to which it knows everything.
    pub fn revision(&self) -> u64 {
        self.lock().cache.revision
    }

    /// The oldest revision that a watch may start from.
    pub fn oldest(&self) -> u64 {
        self.lock().cache.ring.oldest()
    }

    /// Waits for the first list, for as long as for any revision. One that has lost the storage says so at once.
    pub async fn ready(&self) -> Result<(), NotReady> {
        let unready_since = self.lock().unready_since;
        if let Some(since) = unready_since {
            return Err(NotReady { downtime: since.elapsed() });
        }
        let mut reached = self.reached.subscribe();
        let listed = tokio::time::timeout(FRESHNESS_WAIT, reached.wait_for(|reached| *reached > 0)).await;
        if listed.is_ok() { Ok(()) } else { Err(NotReady { downtime: FRESHNESS_WAIT }) }
    }

    /// Waits until it knows everything up to a revision, for as long as the real server does; tells whether it does.
    pub async fn wait_until_fresh(&self, revision: u64) -> bool {
        let mut reached = self.reached.subscribe();
        let is_fresh = |reached: &u64| *reached > 0 && *reached >= revision;
        let arrived = async {
            loop {
                match tokio::time::timeout(PROGRESS_EVERY, reached.wait_for(is_fresh)).await {
                    Ok(result) => return result.is_ok(),
                    Err(_) => self.storage.request_progress(revision),
                }
            }
        };
        if !is_fresh(&self.reached.borrow()) {
            self.storage.request_progress(revision);
        }
        tokio::time::timeout(FRESHNESS_WAIT, arrived).await.unwrap_or(false)
    }

    /// Its revision and its objects at that, in key order.
    pub fn snapshot(&self, filter: &Filter) -> (u64, Vec<Arc<Object>>) {
        let state = self.lock();
        let (revision, mut objects) = (state.cache.revision, state.cache.objects.candidates(filter));
        drop(state);
        objects.retain(|object| filter.matches(object));
        (revision, objects)
    }

    /// Takes in a watcher.
    ///
    /// # Errors
    ///
    /// The revision that it asks for, and the oldest that a watch may start from, if the former is too old.
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

    /// How many watchers it has.
    #[cfg(test)]
    pub fn watchers(&self) -> usize {
        self.lock().watchers.len()
    }

    /// Refuses new watches from before `revision`.
    pub fn compact(&self, revision: u64) {
        self.lock().cache.ring.refuse(revision);
    }

    /// Ends its watches after the last event that there is: the resource is no longer served.
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
        // No code panics between two changes that belong together, so a poisoned state is a whole one.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Never resolves without a moment to wait for.
async fn sleep_until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}
