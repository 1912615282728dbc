//! A memory backend that can be restarted like a cluster whose etcd is restored from a backup: the same objects under
//! lower revisions, and no history.

use std::sync::{PoisonError, RwLock, RwLockReadGuard};

use futures::FutureExt;
use futures::future::{BoxFuture, ready};
use tokio::sync::watch;

use super::memory::Memory;
use super::{Changes, KeyValue, ROOT, Range, RangeRequest, Storage, StorageError, Txn, Write};

/// The current memory backend.
#[derive(Debug)]
pub struct RestartableMemory {
    current: RwLock<Memory>,
    /// The channel for the newest revision, which all backends share.
    seen: watch::Sender<u64>,
}

impl RestartableMemory {
    /// An empty storage whose history starts at `revision`.
    pub fn new(revision: u64) -> Self {
        let seen = watch::Sender::new(revision);
        Self { current: RwLock::new(Memory::notifying(seen.clone(), revision)), seen }
    }

    /// Restarts: each object is written again, in the order of the last changes, with the revisions after `revision`.
    /// Everything before is compacted. Every watch fails with the oldest revision that is then known, which is
    /// returned.
    pub fn restart(&self, revision: u64) -> Result<u64, StorageError> {
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        let mut all = now(current.range(&RangeRequest::prefix(ROOT)))?.values;
        all.sort_by_key(|one| one.revision);
        let anew = Memory::notifying(self.seen.clone(), revision);
        let mut newest = revision;
        for one in all {
            if let Txn::Written(written) = now(anew.txn(&one.key, 0, Write::Put(one.value)))? {
                newest = written;
            }
        }
        now(anew.compact(newest))?;
        self.seen.send_replace(newest);
        std::mem::replace(&mut *current, anew).fail_watches(&StorageError::Compacted(newest));
        Ok(newest)
    }

    fn read(&self) -> RwLockReadGuard<'_, Memory> {
        self.current.read().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The answer of the memory backend, which comes at once. So the call happens under the lock, and no write is
/// acknowledged by a backend that was replaced.
fn now<T>(answer: BoxFuture<'_, Result<T, StorageError>>) -> Result<T, StorageError> {
    answer.now_or_never().unwrap_or_else(|| Err(StorageError::Unavailable("memory does not answer".to_owned())))
}

impl Storage for RestartableMemory {
    fn revision(&self) -> BoxFuture<'_, Result<u64, StorageError>> {
        ready(now(self.read().revision())).boxed()
    }

    fn seen(&self) -> watch::Receiver<u64> {
        self.seen.subscribe()
    }

    fn get<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<Option<KeyValue>, StorageError>> {
        ready(now(self.read().get(key))).boxed()
    }

    fn range<'a>(&'a self, request: &'a RangeRequest) -> BoxFuture<'a, Result<Range, StorageError>> {
        ready(now(self.read().range(request))).boxed()
    }

    fn txn<'a>(&'a self, key: &'a str, expected: u64, write: Write) -> BoxFuture<'a, Result<Txn, StorageError>> {
        ready(now(self.read().txn(key, expected, write))).boxed()
    }

    fn watch<'a>(&'a self, prefix: &'a str, after: u64) -> BoxFuture<'a, Result<Changes, StorageError>> {
        ready(now(self.read().watch(prefix, after))).boxed()
    }

    fn request_progress(&self, revision: u64) {
        self.read().request_progress(revision);
    }

    fn compact(&self, revision: u64) -> BoxFuture<'_, Result<(), StorageError>> {
        ready(now(self.read().compact(revision))).boxed()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{WatchItem, tests};
    use super::*;

    #[tokio::test]
    async fn it_does_what_a_storage_does() {
        let storage = RestartableMemory::new(1000);
        tests::transactions(&storage).await;
        tests::ranges(&storage).await;
        tests::watches(&storage).await;
        tests::compaction(&storage).await;
    }

    #[tokio::test]
    async fn objects_stay_in_order_and_watches_fail() {
        let storage = RestartableMemory::new(1000);
        let put = async |key: &str, expected| {
            let key = format!("{ROOT}{key}");
            match storage.txn(&key, expected, Write::Put("{}".into())).await {
                Ok(Txn::Written(revision)) => revision,
                other => panic!("{key}: {other:?}"),
            }
        };
        let first = put("a", 0).await;
        put("b", 0).await;
        put("a", first).await;
        let mut changes = storage.watch(ROOT, 1003).await.unwrap();
        assert_eq!(storage.restart(10), Ok(12));
        assert_eq!(changes.recv().await, Some(WatchItem::Failed(StorageError::Compacted(12))));
        assert_eq!(changes.recv().await, None);
        let range = storage.range(&RangeRequest::prefix(ROOT)).await.unwrap();
        let found: Vec<(&str, u64)> = range.values.iter().map(|one| (&*one.key, one.revision)).collect();
        // The object that was changed last has the highest revision.
        assert_eq!(found, [("/registry/a", 12), ("/registry/b", 11)]);
        assert_eq!((range.revision, *storage.seen().borrow()), (12, 12));
        assert_eq!(storage.watch(ROOT, 11).await.err(), Some(StorageError::Compacted(12)));
        assert_eq!(put("c", 0).await, 13);
    }
}
