//! Events go some time after their last write (kube-apiserver's `--event-ttl`, which
//! `pkg/registry/core/event/storage/storage.go` hands to etcd), and before that where there are too many: a demo that
//! runs for days is not to fill the memory.
//!
//! A real server leaves the time to a lease of etcd's. Here each server deletes what is due, unless it was written
//! again meanwhile. Of two servers on one storage one is faster, and the other finds nothing to do.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use kubechurn_client::api::time::Timestamp;
use serde_json::Value;
use tokio::time::Instant;

use crate::clock;
use crate::resources::builtin::EVENTS;
use crate::storage::{RangeRequest, Storage, StorageError, WatchItem, Write};

/// A storage that fails is asked again after this.
const RETRY: Duration = Duration::from_millis(500);

/// Which Events are kept.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// How long after its last write.
    pub ttl: Duration,
    /// How many; of more the oldest go.
    pub most: usize,
}

impl Default for Limits {
    /// An hour as in real clusters, and what takes some tens of megabytes.
    fn default() -> Self {
        Self { ttl: Duration::from_secs(3600), most: 20_000 }
    }
}

/// Deletes the Events that are too old or too many, for ever.
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

/// Lists the Events and follows them until the watch ends.
async fn follow(storage: &dyn Storage, limits: Limits) -> Result<(), StorageError> {
    let prefix = EVENTS.prefix();
    let range = storage.range(&RangeRequest::prefix(&prefix)).await?;
    let mut schedule = Schedule::default();
    // The stamps of what is listed were made by whichever clock; a fault may have made this server's wrong.
    let (now, seconds) = (Instant::now(), clock::unskewed().seconds());
    for one in range.values {
        schedule.put(one.key, one.revision, now + limits.ttl.saturating_sub(age(&one.value, seconds)));
    }
    let mut changes = storage.watch(&prefix, range.revision).await?;
    loop {
        let next = schedule.next(limits.most);
        tokio::select! {
            // What is written again, or deleted by others, is known before anything is deleted here.
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
            () = sleep_until(next) => if let Some((key, revision)) = schedule.pop() {
                // Where somebody was faster, the watch is about to say what they did.
                storage.txn(&key, revision, Write::Delete).await?;
            },
        }
    }
}

/// Never resolves without a moment to wait for, and at once if it has passed: a timer takes a millisecond even then, and
/// each write of a flood would begin it anew.
async fn sleep_until(moment: Option<Instant>) {
    match moment {
        Some(moment) if moment <= Instant::now() => {}
        Some(moment) => tokio::time::sleep_until(moment).await,
        None => std::future::pending().await,
    }
}

/// How long ago an Event says that it was last written: the newest of its times, none of which lies ahead.
fn age(text: &str, now: i64) -> Duration {
    let event: Value = serde_json::from_str(text).unwrap_or_default();
    let times = ["/metadata/creationTimestamp", "/lastTimestamp", "/eventTime", "/series/lastObservedTime"];
    let times = times.iter().filter_map(|time| Timestamp::parse_set(event.pointer(time)?.as_str()?));
    let age = times.map(|time| now.saturating_sub(time.0)).min().unwrap_or_default();
    Duration::from_secs(u64::try_from(age).unwrap_or_default())
}

/// Which Event goes when.
#[derive(Debug, Default)]
struct Schedule {
    /// Moment, revision and key of each.
    due: BTreeSet<(Instant, u64, Arc<str>)>,
    /// Where each key stands in `due`.
    places: HashMap<Arc<str>, (Instant, u64)>,
}

impl Schedule {
    /// An Event was written, at this revision.
    fn put(&mut self, key: Arc<str>, revision: u64, due: Instant) {
        self.remove(&key);
        self.due.insert((due, revision, Arc::clone(&key)));
        self.places.insert(key, (due, revision));
    }

    /// An Event is gone.
    fn remove(&mut self, key: &Arc<str>) {
        if let Some((due, revision)) = self.places.remove(key) {
            self.due.remove(&(due, revision, Arc::clone(key)));
        }
    }

    /// When [`Self::pop`] is to be called: at once if there are more than `most`.
    fn next(&self, most: usize) -> Option<Instant> {
        let (due, ..) = self.due.first()?;
        Some(if self.places.len() > most { Instant::now() } else { *due })
    }

    /// Takes out who goes first; answers key and revision.
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

    /// What is left after another while.
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
        // Two servers have the same opinion, and it happens once.
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
            // It has its turn, and hardly any time: paused, a timer would need none.
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
