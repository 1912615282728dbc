//! The memory backend, whose contents are lost when the process ends.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::FutureExt;
use futures::future::{BoxFuture, ready};
use tokio::sync::{mpsc, watch};

use super::{Change, Changes, KeyValue, Range, RangeRequest, Storage, StorageError, Txn, WatchItem, Write, fits};

/// The history holds at most this many bytes of values; older history is compacted.
const HISTORY_BYTES: usize = 256 << 20;

/// Keys in memory.
#[derive(Debug)]
pub struct Memory {
    state: Mutex<State>,
    seen: watch::Sender<u64>,
}

#[derive(Debug)]
struct State {
    revision: u64,
    keys: BTreeMap<Arc<str>, KeyValue>,
    /// Every change after `compacted`, oldest first.
    history: VecDeque<Change>,
    history_bytes: usize,
    compacted: u64,
    watches: Vec<Watch>,
}

#[derive(Debug)]
struct Watch {
    prefix: String,
    items: mpsc::UnboundedSender<WatchItem>,
    /// The newest progress that was sent.
    progress: u64,
}

impl Memory {
    /// A storage with a channel of its own for its newest revision.
    #[cfg(test)]
    pub fn new(revision: u64) -> Self {
        Self::notifying(watch::Sender::new(revision), revision)
    }

    /// An empty storage whose history starts at `revision`, and which sends its newest revision on this channel.
    pub fn notifying(seen: watch::Sender<u64>, revision: u64) -> Self {
        let state = State {
            revision,
            keys: BTreeMap::new(),
            history: VecDeque::new(),
            history_bytes: 0,
            compacted: revision,
            watches: Vec::new(),
        };
        Self { state: Mutex::new(state), seen }
    }

    /// Ends every watch with an error.
    pub fn fail_watches(&self, error: &StorageError) {
        for watch in self.lock().watches.drain(..) {
            // A receiver that was dropped need not be notified.
            let _ = watch.items.send(WatchItem::Failed(error.clone()));
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // No code panics between two changes that belong together, so the state behind a poisoned lock is consistent.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self, key: &str, expected: u64, write: Write) -> Txn {
        let mut state = self.lock();
        let current = state.keys.get(key);
        if current.map_or(0, |current| current.revision) != expected {
            return Txn::Lost(current.cloned());
        }
        let revision = state.revision + 1;
        let key = current.map_or_else(|| Arc::from(key), |current| Arc::clone(&current.key));
        let (value, previous) = match write {
            Write::Put(value) => {
                let new = KeyValue { key: Arc::clone(&key), value: Arc::clone(&value), revision };
                (Some(value), state.keys.insert(Arc::clone(&key), new))
            }
            Write::Delete => (None, state.keys.remove(&key)),
        };
        if value.is_none() && previous.is_none() {
            return Txn::Lost(None);
        }
        state.revision = revision;
        state.publish(Change { key, revision, value, previous });
        self.seen.send_replace(revision);
        Txn::Written(revision)
    }

    fn read(&self, request: &RangeRequest) -> Result<Range, StorageError> {
        let state = self.lock();
        let at = request.at.unwrap_or(state.revision);
        if at > state.revision {
            return Err(StorageError::Future(state.revision));
        }
        if at < state.compacted {
            return Err(StorageError::Compacted(state.compacted));
        }
        let is_in = |key: &str| (request.from.as_str()..request.until.as_str()).contains(&key);
        // The value at the revision of every key of the range that has changed since.
        let mut before: BTreeMap<&str, Option<&KeyValue>> = BTreeMap::new();
        for change in state.history.range(state.position_after(at)..).filter(|change| is_in(&change.key)) {
            before.entry(&change.key).or_insert(change.previous.as_ref());
        }
        let bounds = (std::ops::Bound::Included(&*request.from), std::ops::Bound::Excluded(&*request.until));
        let mut range = Range { revision: state.revision, values: Vec::new(), count: 0 };
        let mut take = |one: &KeyValue| {
            range.count += 1;
            if request.limit == 0 || range.values.len() < request.limit {
                range.values.push(one.clone());
            }
        };
        if request.from < request.until {
            let mut before = before.into_iter().peekable();
            for (key, current) in state.keys.range::<str, _>(bounds) {
                while let Some((_, gone)) = before.next_if(|(other, _)| **other < **key) {
                    gone.into_iter().for_each(&mut take);
                }
                match before.next_if(|(other, _)| **other == **key) {
                    Some((_, then)) => then.into_iter().for_each(&mut take),
                    None => take(current),
                }
            }
            before.filter_map(|(_, gone)| gone).for_each(&mut take);
        }
        Ok(range)
    }

    fn follow(&self, prefix: &str, after: u64) -> Result<Changes, StorageError> {
        let mut state = self.lock();
        if after < state.compacted {
            return Err(StorageError::Compacted(state.compacted));
        }
        let (items, changes) = mpsc::unbounded_channel();
        for change in state.history.range(state.position_after(after)..) {
            if change.key.starts_with(prefix) {
                // The receiver exists, because it is created here.
                let _ = items.send(WatchItem::Change(change.clone()));
            }
        }
        state.watches.push(Watch { prefix: prefix.to_owned(), items, progress: 0 });
        Ok(changes)
    }
}

impl State {
    fn publish(&mut self, change: Change) {
        self.watches.retain(|watch| {
            !change.key.starts_with(&watch.prefix) || watch.items.send(WatchItem::Change(change.clone())).is_ok()
        });
        self.history_bytes += size(&change);
        self.history.push_back(change);
        while self.history_bytes > HISTORY_BYTES
            && let Some(oldest) = self.history.front().map(|change| change.revision)
        {
            self.forget(oldest);
        }
    }

    fn forget(&mut self, revision: u64) {
        self.compacted = self.compacted.max(revision);
        while let Some(change) = self.history.pop_front_if(|change| change.revision <= revision) {
            self.history_bytes -= size(&change);
        }
    }

    fn position_after(&self, revision: u64) -> usize {
        self.history.partition_point(|change| change.revision <= revision)
    }
}

/// The bytes that a change keeps from being freed: those of the value that it replaced.
fn size(change: &Change) -> usize {
    change.previous.as_ref().map_or(0, |previous| previous.value.len()) + size_of::<Change>()
}

impl Storage for Memory {
    fn revision(&self) -> BoxFuture<'_, Result<u64, StorageError>> {
        ready(Ok(self.lock().revision)).boxed()
    }

    fn seen(&self) -> watch::Receiver<u64> {
        self.seen.subscribe()
    }

    fn get<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<Option<KeyValue>, StorageError>> {
        ready(Ok(self.lock().keys.get(key).cloned())).boxed()
    }

    fn range<'a>(&'a self, request: &'a RangeRequest) -> BoxFuture<'a, Result<Range, StorageError>> {
        ready(self.read(request)).boxed()
    }

    fn txn<'a>(&'a self, key: &'a str, expected: u64, write: Write) -> BoxFuture<'a, Result<Txn, StorageError>> {
        ready(fits(key, &write).map(|()| self.write(key, expected, write))).boxed()
    }

    fn watch<'a>(&'a self, prefix: &'a str, after: u64) -> BoxFuture<'a, Result<Changes, StorageError>> {
        ready(self.follow(prefix, after)).boxed()
    }

    fn request_progress(&self, revision: u64) {
        let mut state = self.lock();
        let newest = state.revision;
        if newest >= revision {
            // There are many requests, and each watch is notified once.
            for watch in state.watches.iter_mut().filter(|watch| watch.progress < newest) {
                watch.progress = newest;
                // A watch whose receiver was dropped is removed at the next change.
                let _ = watch.items.send(WatchItem::Progress(newest));
            }
        }
    }

    fn compact(&self, revision: u64) -> BoxFuture<'_, Result<(), StorageError>> {
        let mut state = self.lock();
        let mut result = Err(StorageError::Future(state.revision));
        if revision <= state.revision {
            state.forget(revision);
            result = Ok(());
        }
        ready(result).boxed()
    }
}
