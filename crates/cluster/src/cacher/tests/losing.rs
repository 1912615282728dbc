//! A cache that loses its storage and gets it back.

use futures::future::BoxFuture;

use super::*;
use crate::storage::{Changes, KeyValue, Range};

/// What is wrong with the storage.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Health {
    Well,
    /// Watches end; everything else works.
    Ended,
    /// Watches fail, and every other request, too.
    Lost,
}

/// A storage that a test can make fail.
#[derive(Debug)]
struct Flaky {
    inner: Arc<Memory>,
    health: watch::Sender<Health>,
}

impl Flaky {
    fn well(&self) -> Result<(), StorageError> {
        if *self.health.borrow() == Health::Lost { Err(lost()) } else { Ok(()) }
    }
}

fn lost() -> StorageError {
    StorageError::Unavailable("it is lost".to_owned())
}

impl Storage for Flaky {
    fn revision(&self) -> BoxFuture<'_, Result<u64, StorageError>> {
        self.inner.revision()
    }

    fn seen(&self) -> watch::Receiver<u64> {
        self.inner.seen()
    }

    fn get<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<Option<KeyValue>, StorageError>> {
        self.inner.get(key)
    }

    fn range<'a>(&'a self, request: &'a RangeRequest) -> BoxFuture<'a, Result<Range, StorageError>> {
        async move {
            self.well()?;
            self.inner.range(request).await
        }
        .boxed()
    }

    fn txn<'a>(&'a self, key: &'a str, expected: u64, write: Write) -> BoxFuture<'a, Result<Txn, StorageError>> {
        self.inner.txn(key, expected, write)
    }

    fn watch<'a>(&'a self, prefix: &'a str, after: u64) -> BoxFuture<'a, Result<Changes, StorageError>> {
        async move {
            self.well()?;
            let mut health = self.health.subscribe();
            let mut inner = self.inner.watch(prefix, after).await?;
            let (items, changes) = tokio::sync::mpsc::unbounded_channel();
            tokio::spawn(async move {
                loop {
                    tokio::select! {
                        biased;
                        _ = health.changed() => {
                            if *health.borrow() == Health::Lost {
                                let _ = items.send(WatchItem::Failed(lost()));
                            }
                            return;
                        }
                        item = inner.recv() => match item {
                            Some(item) => drop(items.send(item)),
                            None => return,
                        },
                    }
                }
            });
            Ok(changes)
        }
        .boxed()
    }

    fn request_progress(&self, revision: u64) {
        self.inner.request_progress(revision);
    }

    fn compact(&self, revision: u64) -> BoxFuture<'_, Result<(), StorageError>> {
        self.inner.compact(revision)
    }
}

async fn cluster() -> (Arc<Flaky>, Cluster) {
    let storage = Arc::new(Memory::new(10));
    let flaky = Arc::new(Flaky { inner: Arc::clone(&storage), health: watch::Sender::new(Health::Well) });
    let cacher = Cacher::start(Arc::clone(&flaky) as Arc<dyn Storage>, Arc::clone(&PODS));
    assert_eq!(cacher.ready().await, Ok(()));
    (flaky, Cluster { storage, cacher })
}

/// 89. TestCacherDontMissEventsOnReinitialization: watches end when the storage is lost and work again when it is back.
/// A client that missed an event meanwhile gets 410; any other client resumes.
#[tokio::test(start_paused = true)]
async fn reinitialisation_loses_no_events() {
    for missed in [0, 3] {
        let (storage, cluster) = cluster().await;
        let mut watcher = cluster.watch(Start::After(10));
        let newest = cluster.flood(2, |index| format!("a{index}")).await;
        storage.health.send_replace(Health::Lost);
        for index in 0..missed {
            cluster.put(&format!("b{index}"), "").await;
        }
        assert_eq!(rest(&mut watcher).await, ["ADDED a0 11", "ADDED a1 12"], "it ends without an ERROR");
        let again = cluster.watch(Start::After(newest));
        assert_eq!(rest(&mut { again }).await, [""; 0], "one that comes at that moment ends, too");
        tokio::time::sleep(Duration::from_secs(20)).await;
        let not_ready = cluster.cacher.ready().await.expect_err("it cannot list");
        assert_eq!(not_ready.downtime.as_secs(), 20);

        storage.health.send_replace(Health::Well);
        while cluster.cacher.ready().await.is_err() {
            tokio::time::sleep(RETRY).await;
        }
        let mut watcher = cluster.watch(Start::After(newest));
        if missed > 0 {
            assert_eq!(rest(&mut watcher).await, ["ERROR 410"]);
            assert_eq!(cluster.cacher.snapshot(&Filter::default()).1.len(), 2 + missed, "the list has what was missed");
            continue;
        }
        cluster.put("c", "").await;
        assert_eq!(frames(&mut watcher, 1).await, ["ADDED c 13"]);
    }
}

/// A watch of the storage that merely ends is no loss: the next watch begins at the same revision, and the watchers
/// notice nothing.
#[tokio::test(start_paused = true)]
async fn a_watch_of_the_storage_that_only_ends_is_begun_again() {
    let (storage, cluster) = cluster().await;
    let mut watcher = cluster.watch(Start::After(10));
    let mut expected = Vec::new();
    for round in 0..3 {
        let revision = cluster.flood(1, |_| format!("a{round}")).await;
        storage.health.send_replace(Health::Ended);
        cluster.put(&format!("b{round}"), "").await;
        expected.extend([format!("ADDED a{round} {revision}"), format!("ADDED b{round} {}", revision + 1)]);
        assert!(cluster.cacher.wait_until_fresh(revision + 1).await);
    }
    assert_eq!(frames(&mut watcher, 6).await, expected);
}
