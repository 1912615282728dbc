//! Deletes Events some time after their last write (kube-apiserver's `--event-ttl`, which
//! `pkg/registry/core/event/storage/storage.go` passes to etcd), and earlier if there are too many, so that a demo that
//! runs for days does not fill the memory.
//!
//! A real server leaves this to a lease of etcd. Here each server deletes the Events that are due, unless they were
//! written again meanwhile. If two servers share a storage, one of them is faster, and the other finds nothing to do.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use kubechurn_client::api::time::Timestamp;
use serde_json::Value;
use tokio::time::Instant;

use crate::clock;
use crate::resources::builtin::EVENTS;
use crate::storage::{RangeRequest, Storage, StorageError, WatchItem, Write};

/// The delay before a storage that failed is asked again.
const RETRY: Duration = Duration::from_millis(500);

/// Which Events are kept.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// How long an Event is kept after its last write.
    pub ttl: Duration,
    /// The largest number of Events; the oldest are deleted first.
    pub most: usize,
}

impl Default for Limits {
    /// One hour as in real clusters, and a number that takes some tens of megabytes.
    fn default() -> Self {
        Self { ttl: Duration::from_secs(3600), most: 20_000 }
    }
}

/// Deletes the Events that are too old or too many; never returns.
pub async fn run(storage: Arc<dyn Storage>, limits: Limits) {
    loop {
        if let Err(error) = follow(&*storage, limits).await
            && !matches!(error, StorageError::Compacted(_))
        {
            eprintln!("cluster: Events do not expire for the moment: {error}");
        }
        tokio::time::sleep(RETRY).await;
    }
}

/// Lists and watches the Events until the watch ends.
async fn follow(storage: &dyn Storage, limits: Limits) -> Result<(), StorageError> {
    let prefix = EVENTS.prefix();
    let range = storage.range(&RangeRequest::prefix(&prefix)).await?;
    let mut schedule = Schedule::default();
    // The times in the listed Events come from other clocks, and the clock of this server may be skewed by a fault.
    let (now, seconds) = (Instant::now(), clock::unskewed().seconds());
    for one in range.values {
        schedule.put(one.key, one.revision, now + limits.ttl.saturating_sub(age(&one.value, seconds)));
    }
    let mut changes = storage.watch(&prefix, range.revision).await?;
    loop {
        let next = schedule.next(limits.most);
        tokio::select! {
            // Writes and deletions by others are handled before anything is deleted here.
            biased;
            item = changes.recv() => match item {
                Some(WatchItem::Change(change)) => match change.value {
                    Some(_) => schedule.put(change.key, change.revision, Instant::now() + limits.ttl),
                    None => schedule.remove(&change.key),
                },
                Some(WatchItem::Progress(_)) => {}
                Some(WatchItem::Failed(error)) => return Err(error),
                None => return Ok(()),
            },
            () = clock::sleep_until(next) => if let Some((key, revision)) = schedule.pop() {
                // If another client was faster, the watch will report its write.
                storage.txn(&key, revision, Write::Delete).await?;
            },
        }
    }
}

/// The time since the last write of an Event, from the newest of its times; times in the future count as now.
fn age(text: &str, now: i64) -> Duration {
    let event: Value = serde_json::from_str(text).unwrap_or_default();
    let times = ["/metadata/creationTimestamp", "/lastTimestamp", "/eventTime", "/series/lastObservedTime"];
    let times = times.iter().filter_map(|time| Timestamp::parse_set(event.pointer(time)?.as_str()?));
    let age = times.map(|time| now.saturating_sub(time.0)).min().unwrap_or_default();
    Duration::from_secs(u64::try_from(age).unwrap_or_default())
}

/// When each Event is to be deleted.
#[derive(Debug, Default)]
struct Schedule {
    /// The time, revision and key of each Event.
    due: BTreeSet<(Instant, u64, Arc<str>)>,
    /// The entry of each key in `due`.
    places: HashMap<Arc<str>, (Instant, u64)>,
}

impl Schedule {
    /// Adds an Event that was written at this revision.
    fn put(&mut self, key: Arc<str>, revision: u64, due: Instant) {
        self.remove(&key);
        self.due.insert((due, revision, Arc::clone(&key)));
        self.places.insert(key, (due, revision));
    }

    /// Removes an Event that was deleted.
    fn remove(&mut self, key: &Arc<str>) {
        if let Some((due, revision)) = self.places.remove(key) {
            self.due.remove(&(due, revision, Arc::clone(key)));
        }
    }

    /// When [`Self::pop`] must be called: at once if there are more than `most`.
    fn next(&self, most: usize) -> Option<Instant> {
        let (due, ..) = self.due.first()?;
        Some(if self.places.len() > most { Instant::now() } else { *due })
    }

    /// Removes the first entry; returns its key and revision.
    fn pop(&mut self) -> Option<(Arc<str>, u64)> {
        let (_, revision, key) = self.due.pop_first()?;
        self.places.remove(&key);
        Some((key, revision))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::storage::memory::Memory;

    const MINUTE: Duration = Duration::from_secs(60);
    const LIMITS: Limits = Limits { ttl: Duration::from_secs(3600), most: 3 };

    fn key(name: &str) -> String {
        format!("{}default/{name}", EVENTS.prefix())
    }

    async fn write(storage: &dyn Storage, name: &str, event: Value) {
        let newest = storage.get(&key(name)).await.expect("memory answers");
        let put = Write::Put(event.to_string().into());
        storage.txn(&key(name), newest.map_or(0, |one| one.revision), put).await.expect("memory answers");
    }

    /// The Events that are left after another wait.
    async fn left_after(storage: &dyn Storage, while_: Duration) -> Vec<String> {
        if !while_.is_zero() {
            tokio::time::sleep(while_).await;
        }
        let range = storage.range(&RangeRequest::prefix(&key(""))).await.expect("memory answers");
        range.values.iter().map(|one| one.key.rsplit('/').next().unwrap_or_default().to_owned()).collect()
    }

    #[tokio::test(start_paused = true)]
    async fn an_event_goes_an_hour_after_its_last_write() {
        let storage: Arc<dyn Storage> = Arc::new(Memory::new(10));
        let mut changes = storage.watch(&key(""), 10).await.expect("memory answers");
        // Both servers try to delete the same Event, and one of them succeeds.
        let tasks = [(); 2].map(|()| tokio::spawn(run(Arc::clone(&storage), LIMITS)));
        assert_eq!(left_after(&*storage, MINUTE).await, [""; 0]);
        for name in ["a", "b", "c"] {
            write(&*storage, name, json!({})).await;
        }
        assert_eq!(left_after(&*storage, 30 * MINUTE).await, ["a", "b", "c"]);
        write(&*storage, "b", json!({"count": 2})).await;
        storage.txn(&key("c"), 13, Write::Delete).await.expect("memory answers");
        write(&*storage, "c", json!({})).await;
        assert_eq!(left_after(&*storage, 29 * MINUTE).await, ["a", "b", "c"]);
        assert_eq!(left_after(&*storage, 2 * MINUTE).await, ["b", "c"]);
        assert_eq!(left_after(&*storage, 28 * MINUTE).await, ["b", "c"]);
        assert_eq!(left_after(&*storage, 2 * MINUTE).await, [""; 0]);
        let mut deletions = Vec::new();
        while let Ok(WatchItem::Change(change)) = changes.try_recv() {
            deletions
                .extend(change.value.is_none().then(|| change.key.rsplit('/').next().unwrap_or_default().to_owned()));
        }
        assert_eq!(deletions, ["c", "a", "b", "c"]);
        tasks.iter().for_each(|task| task.abort());
    }

    #[tokio::test(start_paused = true)]
    async fn of_too_many_the_oldest_go() {
        let storage: Arc<dyn Storage> = Arc::new(Memory::new(10));
        let task = tokio::spawn(run(Arc::clone(&storage), LIMITS));
        for (name, expected) in [
            ("a", &["a"][..]),
            ("b", &["a", "b"]),
            ("c", &["a", "b", "c"]),
            ("a", &["a", "b", "c"]),
            ("d", &["a", "c", "d"]),
            ("e", &["a", "d", "e"]),
        ] {
            write(&*storage, name, json!({})).await;
            assert_eq!(left_after(&*storage, Duration::from_secs(1)).await, expected, "after {name}");
        }
        task.abort();
    }

    #[tokio::test]
    async fn a_flood_does_not_put_it_off() {
        let storage: Arc<dyn Storage> = Arc::new(Memory::new(10));
        let task = tokio::spawn(run(Arc::clone(&storage), LIMITS));
        for number in 100..200 {
            write(&*storage, &number.to_string(), json!({})).await;
            // The task gets its turn, and hardly any time passes: on a paused clock a timer would take none.
            tokio::task::yield_now().await;
        }
        assert_eq!(left_after(&*storage, Duration::ZERO).await, ["197", "198", "199"]);
        task.abort();
    }

    #[tokio::test(start_paused = true)]
    async fn what_was_there_before_is_as_old_as_it_says() {
        let ago = |minutes: i64| clock::timestamp(clock::unskewed().seconds() - minutes * 60);
        let storage: Arc<dyn Storage> = Arc::new(Memory::new(10));
        for (name, event) in [
            ("counted", json!({"metadata": {"creationTimestamp": ago(90)}, "lastTimestamp": ago(30)})),
            ("old", json!({"metadata": {"creationTimestamp": ago(90)}, "lastTimestamp": null})),
            ("silent", json!("no Event")),
        ] {
            write(&*storage, name, event).await;
        }
        let task = tokio::spawn(run(Arc::clone(&storage), LIMITS));
        assert_eq!(left_after(&*storage, 28 * MINUTE).await, ["counted", "silent"]);
        assert_eq!(left_after(&*storage, 4 * MINUTE).await, ["silent"]);
        assert_eq!(left_after(&*storage, 29 * MINUTE).await, [""; 0]);
        task.abort();
    }

    #[test]
    fn ages() {
        let check = |event: Value, expected: u64| {
            let now = Timestamp::parse("2026-11-21T08:00:00Z").map(|time| time.0).expect("it is a time");
            assert_eq!(age(&event.to_string(), now).as_secs(), expected, "{event}");
        };
        check(json!({"metadata": {"creationTimestamp": "2026-11-21T07:59:00Z"}}), 60);
        check(
            json!({"metadata": {"creationTimestamp": "2026-11-21T07:00:00Z"}, "eventTime": "2026-11-21T07:59:50.000000Z"}),
            10,
        );
        check(
            json!({"lastTimestamp": "2026-11-21T07:00:00Z", "series": {"lastObservedTime": "2026-11-21T07:59:58Z"}}),
            2,
        );
        check(json!({"lastTimestamp": "2027-01-01T00:00:00Z"}), 0);
        check(json!({"lastTimestamp": 7}), 0);
        check(json!({}), 0);
    }
}
