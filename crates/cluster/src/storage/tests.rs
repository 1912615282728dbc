//! The tests that every backend must pass.

use std::sync::Arc;
use std::time::Duration;

use super::memory::Memory;
use super::{Change, Changes, KeyValue, RangeRequest, Storage, StorageError, Txn, WatchItem, Write};

/// Longer than anything here takes, on the slowest machine.
const DEADLINE: Duration = Duration::from_secs(30);

fn put(value: &str) -> Write {
    Write::Put(Arc::from(value))
}

async fn written(storage: &dyn Storage, key: &str, expected: u64, write: Write) -> u64 {
    match storage.txn(key, expected, write).await {
        Ok(Txn::Written(revision)) => revision,
        other => panic!("{key}: {other:?}"),
    }
}

async fn next(changes: &mut Changes) -> WatchItem {
    tokio::time::timeout(DEADLINE, changes.recv()).await.expect("in time").expect("the watch goes on")
}

async fn next_change(changes: &mut Changes) -> Change {
    loop {
        match next(changes).await {
            WatchItem::Change(change) => return change,
            WatchItem::Progress(_) => {}
            failed => panic!("{failed:?}"),
        }
    }
}

/// The `key=value` pairs of a range, and their number.
async fn listed(storage: &dyn Storage, request: RangeRequest) -> (Vec<String>, usize) {
    let range = storage.range(&request).await.expect("a range");
    (range.values.iter().map(|one| format!("{}={}", one.key, one.value)).collect(), range.count)
}

fn texts(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// All keys share one revision counter; a write requires the newest revision of its key, and each write takes one.
pub async fn transactions(storage: &dyn Storage) {
    let start = storage.revision().await.expect("a revision");
    let first = written(storage, "/registry/t/a", 0, put("1")).await;
    let second = written(storage, "/registry/t/b", 0, put("1")).await;
    assert!(start < first && first < second);
    let current = KeyValue { key: "/registry/t/a".into(), value: "1".into(), revision: first };
    for (expected, write) in [(0, put("2")), (second, put("2")), (second, Write::Delete)] {
        let lost = storage.txn("/registry/t/a", expected, write).await;
        assert_eq!(lost, Ok(Txn::Lost(Some(current.clone()))));
    }
    assert_eq!(storage.txn("/registry/t/none", 0, Write::Delete).await, Ok(Txn::Lost(None)));
    assert_eq!(storage.txn("/registry/t/none", first, put("1")).await, Ok(Txn::Lost(None)));
    assert_eq!(storage.get("/registry/t/a").await, Ok(Some(current)));
    assert_eq!(storage.revision().await, Ok(second), "what is lost takes no revision");
    let gone = written(storage, "/registry/t/a", first, Write::Delete).await;
    assert_eq!((storage.get("/registry/t/a").await, storage.revision().await), (Ok(None), Ok(gone)));
}

/// Ranges are sorted, limited and counted, and may be read at an older revision until that is compacted.
pub async fn ranges(storage: &dyn Storage) {
    let prefix = || RangeRequest::prefix("/registry/r/");
    let a = written(storage, "/registry/r/a", 0, put("1")).await;
    let c = written(storage, "/registry/r/c", 0, put("1")).await;
    written(storage, "/registry/r0", 0, put("beside")).await;
    let b = written(storage, "/registry/r/b", 0, put("1")).await;
    written(storage, "/registry/r/a", a, put("2")).await;
    let last = written(storage, "/registry/r/c", c, Write::Delete).await;
    let (a1, a2) = ("/registry/r/a=1", "/registry/r/a=2");
    let (b1, c1) = ("/registry/r/b=1", "/registry/r/c=1");
    let at = |revision| RangeRequest { at: Some(revision), ..prefix() };
    for (request, expected, count) in [
        (prefix(), vec![a2, b1], 2),
        (RangeRequest { limit: 1, ..prefix() }, vec![a2], 2),
        (RangeRequest { from: "/registry/r/a\0".into(), ..prefix() }, vec![b1], 1),
        (RangeRequest { from: "/registry/r/x".into(), ..prefix() }, vec![], 0),
        (at(a), vec![a1], 1),
        (at(c), vec![a1, c1], 2),
        (at(b), vec![a1, b1, c1], 3),
        (RangeRequest { limit: 2, ..at(b) }, vec![a1, b1], 3),
        (at(last), vec![a2, b1], 2),
    ] {
        assert_eq!(listed(storage, request.clone()).await, (texts(&expected), count), "{request:?}");
    }
    assert!(matches!(storage.range(&at(last + 1000)).await, Err(StorageError::Future(newest)) if newest >= last));
    storage.compact(last).await.expect("a compaction");
    assert_eq!(storage.range(&at(b)).await, Err(StorageError::Compacted(last)));
    assert_eq!(listed(storage, at(last)).await.1, 2);
}

/// A watch brings every change after its revision, in order and with the previous value, and reports progress.
pub async fn watches(storage: &dyn Storage) {
    let first = written(storage, "/registry/w/a", 0, put("1")).await;
    let second = written(storage, "/registry/w/a", first, put("2")).await;
    written(storage, "/registry/x/a", 0, put("beside")).await;
    let mut changes = storage.watch("/registry/w/", first).await.expect("a watch");
    let third = written(storage, "/registry/w/a", second, Write::Delete).await;
    let fourth = written(storage, "/registry/w/b", 0, put("1")).await;
    let a = |value: &str, revision| KeyValue { key: "/registry/w/a".into(), value: value.into(), revision };
    for (key, revision, value, previous) in [
        ("/registry/w/a", second, Some("2"), Some(a("1", first))),
        ("/registry/w/a", third, None, Some(a("2", second))),
        ("/registry/w/b", fourth, Some("1"), None),
    ] {
        let expected = Change { key: key.into(), revision, value: value.map(Arc::from), previous };
        assert_eq!(next_change(&mut changes).await, expected);
    }
    let beside = written(storage, "/registry/x/b", 0, put("beside")).await;
    storage.request_progress(beside);
    match next(&mut changes).await {
        WatchItem::Progress(revision) => assert!(revision >= beside),
        other => panic!("{other:?}"),
    }
    let mut seen = storage.seen();
    tokio::time::timeout(DEADLINE, seen.wait_for(|seen| *seen >= beside)).await.expect("in time").expect("a revision");
}

/// A watch that starts before the compaction gets that error.
pub async fn compaction(storage: &dyn Storage) {
    let first = written(storage, "/registry/c/a", 0, put("1")).await;
    let second = written(storage, "/registry/c/a", first, put("2")).await;
    let third = written(storage, "/registry/c/a", second, put("3")).await;
    storage.compact(third).await.expect("a compaction");
    match storage.watch("/registry/c/", first - 1).await {
        Err(StorageError::Compacted(_)) => {}
        Err(other) => panic!("{other:?}"),
        Ok(mut changes) => match next(&mut changes).await {
            WatchItem::Failed(StorageError::Compacted(_)) => {}
            other => panic!("{other:?}"),
        },
    }
    let mut changes = storage.watch("/registry/c/", third).await.expect("a watch");
    let fourth = written(storage, "/registry/c/a", third, put("4")).await;
    assert_eq!(next_change(&mut changes).await.revision, fourth);
}

/// A range with more keys than one answer of etcd is read at one revision.
pub async fn long_ranges(storage: &dyn Storage) {
    const KEYS: usize = 1201;
    for index in 0..KEYS {
        written(storage, &format!("/registry/l/{index:04}"), 0, put("1")).await;
    }
    let prefix = || RangeRequest::prefix("/registry/l/");
    for (limit, expected) in [(0, KEYS), (KEYS + 1, KEYS), (501, 501), (500, 500)] {
        let (values, count) = listed(storage, RangeRequest { limit, ..prefix() }).await;
        let is_sorted = values.iter().enumerate().all(|(at, one)| *one == format!("/registry/l/{at:04}=1"));
        assert!((values.len(), count) == (expected, KEYS) && is_sorted, "{limit}: {} of {count}", values.len());
    }
}

/// A write that etcd would refuse is refused with etcd's message, and the largest allowed one is accepted.
pub async fn large_writes(storage: &dyn Storage) {
    let value = |size: usize| put(&"x".repeat(size));
    let key = "/registry/large";
    let refused = Err(StorageError::Unavailable("etcdserver: request is too large".to_owned()));
    for size in [(1536 << 10) - key.len() + 1, 3 << 20] {
        assert_eq!(storage.txn(key, 0, value(size)).await, refused, "{size}");
    }
    // etcd itself needs some of the bytes.
    written(storage, key, 0, value((1536 << 10) - 512)).await;
}

/// Runs all tests on one backend.
async fn does_what_a_storage_does(storage: &dyn Storage) {
    transactions(storage).await;
    ranges(storage).await;
    watches(storage).await;
    compaction(storage).await;
    long_ranges(storage).await;
    large_writes(storage).await;
}

#[tokio::test]
async fn memory_does_what_a_storage_does() {
    does_what_a_storage_does(&Memory::new(1000)).await;
}

#[cfg(feature = "etcd")]
mod etcd {
    use super::super::etcd::Etcd;
    use super::*;
    use crate::tests::etcd::process::TestEtcd;

    #[tokio::test]
    async fn etcd_does_what_a_storage_does() {
        let etcd = TestEtcd::start().await;
        does_what_a_storage_does(&Etcd::connect(&etcd.address()).await.unwrap()).await;
    }

    #[tokio::test]
    async fn a_write_beside_the_root_does_not_hold_progress_up() {
        let etcd = TestEtcd::start().await;
        let storage = Etcd::connect(&etcd.address()).await.unwrap();
        let mut changes = storage.watch("/registry/p/", storage.revision().await.unwrap()).await.unwrap();
        let mut stranger = etcd_client::Client::connect([etcd.address()], None).await.unwrap();
        stranger.put("/elsewhere", "", None).await.unwrap();
        let newest = storage.revision().await.unwrap();
        storage.request_progress(newest);
        match next(&mut changes).await {
            WatchItem::Progress(revision) => assert!(revision >= newest),
            other => panic!("{other:?}"),
        }
        // A revision in the future causes neither progress nor a write.
        let newest = storage.revision().await.unwrap();
        storage.request_progress(newest + 2);
        written(&storage, "/registry/q/a", 0, put("1")).await;
        written(&storage, "/registry/p/a", 0, put("1")).await;
        assert!(matches!(next(&mut changes).await, WatchItem::Change(change) if change.revision == newest + 2));
        assert_eq!(next(&mut changes).await, WatchItem::Progress(newest + 2));
    }

    #[tokio::test]
    async fn a_lost_etcd_fails_watches_and_requests_until_it_is_back() {
        let mut etcd = TestEtcd::start().await;
        let storage = Etcd::connect(&etcd.address()).await.unwrap();
        let first = written(&storage, "/registry/f/a", 0, put("1")).await;
        let mut changes = storage.watch("/registry/f/", first).await.unwrap();
        etcd.stop();
        assert!(matches!(next(&mut changes).await, WatchItem::Failed(StorageError::Unavailable(_))));
        assert_eq!(changes.recv().await, None);
        let lost = storage.txn("/registry/f/a", first, put("2")).await;
        assert!(matches!(lost, Err(StorageError::Unavailable(_))), "{lost:?}");
        assert!(matches!(storage.watch("/registry/f/", first).await, Err(StorageError::Unavailable(_))));
        etcd.restart().await;
        let begun = async {
            loop {
                match storage.watch("/registry/f/", first).await {
                    Ok(changes) => return changes,
                    Err(_) => tokio::time::sleep(Duration::from_millis(10)).await,
                }
            }
        };
        let mut changes = tokio::time::timeout(DEADLINE, begun).await.expect("it comes back");
        let second = written(&storage, "/registry/f/a", first, put("2")).await;
        assert_eq!(next_change(&mut changes).await.revision, second);
    }

    #[tokio::test]
    async fn a_watch_that_begins_behind_misses_nothing_while_others_write() {
        const WRITES: usize = 300;
        let etcd = TestEtcd::start().await;
        let storage = Arc::new(Etcd::connect(&etcd.address()).await.unwrap());
        let start = storage.revision().await.unwrap();
        let writer = Arc::clone(&storage);
        let writes = tokio::spawn(async move {
            let mut revisions = Vec::new();
            for index in 0..WRITES {
                let key = format!("/registry/{}/{index}", if index % 3 == 0 { "n" } else { "m" });
                revisions.push((index % 3 > 0, written(&*writer, &key, 0, put("1")).await));
            }
            revisions.into_iter().filter_map(|(is_m, revision)| is_m.then_some(revision)).collect::<Vec<_>>()
        });
        let mut seen = storage.seen();
        let mut watches = Vec::new();
        // The watches begin at different times, all from the first revision.
        for ahead in [0, 1, 50, 100, 150, 200, 250, 299] {
            seen.wait_for(|seen| *seen >= start + ahead).await.unwrap();
            watches.push(storage.watch("/registry/m/", start).await.unwrap());
        }
        let expected = writes.await.unwrap();
        for mut changes in watches {
            for revision in &expected {
                assert_eq!(next_change(&mut changes).await.revision, *revision);
            }
        }
    }
}
