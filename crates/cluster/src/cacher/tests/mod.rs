//! The rules of watches, tested on a cache over a storage in memory, with a clock that the tests move.

mod losing;

use futures::FutureExt;
use serde_json::json;

use super::frame::Frame;
use super::watcher::{Start, Step, WatchRequest, Watcher};
use super::*;
use crate::printers::form::Form;
use crate::resources::builtin::PODS;
use crate::resources::object::Draft;
use crate::resources::selector::{parse_fields, parse_labels};
use crate::storage::memory::Memory;
use crate::storage::{Txn, Write};

/// Longer than any test takes. The paused clock leaps forward whenever no task can run.
const DEADLINE: Duration = Duration::from_secs(3600);

/// A Pod of the namespace `shop`. Its label `app` is its name up to the hyphen.
pub fn pod(name: &str, node: &str, revision: u64) -> Arc<Object> {
    let app = name.split('-').next();
    let metadata = json!({"name": name, "namespace": "shop", "uid": format!("uid-{name}"), "labels": {"app": app}});
    let spec = json!({"nodeName": node});
    let draft = Draft::from_value(json!({"metadata": metadata, "spec": spec})).expect("it is an object");
    Arc::new(draft.into_object(&PODS, revision))
}

/// The filter made of a label selector and a field selector.
pub fn filter(labels: &str, fields: &str) -> Filter {
    let labels = parse_labels(labels).expect("a selector");
    Filter { namespace: None, labels, fields: parse_fields(fields, PODS.selectable).expect("a selector") }
}

/// A storage that starts at revision 10, and the cache of its Pods.
struct Cluster {
    storage: Arc<Memory>,
    cacher: Arc<Cacher>,
}

impl Cluster {
    /// A cluster with these Pods, at revision 11 and after, all of them in the cache.
    async fn with(names: &[&str]) -> Self {
        let storage = Arc::new(Memory::new(10));
        for name in names {
            put(&*storage, name, "").await;
        }
        let cacher = Cacher::start(Arc::clone(&storage) as Arc<dyn Storage>, Arc::clone(&PODS));
        assert_eq!(cacher.ready().await, Ok(()));
        Self { storage, cacher }
    }

    /// Writes a Pod; returns the revision.
    async fn put(&self, name: &str, node: &str) -> u64 {
        put(&*self.storage, name, node).await
    }

    /// Writes Pods, and waits until the cache has dispatched them.
    async fn flood(&self, count: usize, name: impl Fn(usize) -> String) -> u64 {
        let mut newest = 0;
        for index in 0..count {
            newest = self.put(&name(index), "").await;
        }
        assert!(self.cacher.wait_until_fresh(newest).await);
        newest
    }

    async fn delete(&self, name: &str) -> u64 {
        let key = PODS.storage_key(&format!("shop/{name}"));
        let known = self.storage.get(&key).await.expect("memory answers").expect("it is there");
        written(self.storage.txn(&key, known.revision, Write::Delete).await)
    }

    /// A watch of all Pods with bookmarks, for one hour.
    fn watch(&self, start: Start) -> Watcher {
        self.watch_with(start, |_| {})
    }

    fn watch_with(&self, start: Start, change: impl FnOnce(&mut WatchRequest)) -> Watcher {
        let mut request = WatchRequest {
            resource: Arc::clone(&PODS),
            form: Form::Whole,
            filter: Filter::default(),
            start,
            bookmarks: true,
            timeout: DEADLINE,
            bookmark_every: Duration::from_secs(60),
        };
        change(&mut request);
        Watcher::new(Arc::clone(&self.cacher), Arc::default(), request)
    }
}

async fn put(storage: &dyn Storage, name: &str, node: &str) -> u64 {
    let key = PODS.storage_key(&format!("shop/{name}"));
    let known = storage.get(&key).await.expect("memory answers").map_or(0, |known| known.revision);
    written(storage.txn(&key, known, Write::Put(Arc::clone(pod(name, node, 0).raw()))).await)
}

fn written(result: Result<Txn, StorageError>) -> u64 {
    match result {
        Ok(Txn::Written(revision)) => revision,
        other => panic!("{other:?}"),
    }
}

/// A frame as `TYPE name revision`, an end bookmark as `END revision`. The frame's text must agree with its fields.
fn summary(frame: &Frame) -> String {
    let event: serde_json::Value = serde_json::from_str(&frame.text).expect("a frame is JSON");
    assert_eq!(event["type"], frame.event_type);
    let metadata = &event["object"]["metadata"];
    if frame.event_type == "ERROR" {
        return format!("ERROR {}", event["object"]["code"]);
    }
    assert_eq!(metadata["resourceVersion"], frame.revision.to_string());
    let is_end = metadata["annotations"]["k8s.io/initial-events-end"] == "true";
    assert_eq!(is_end, frame.ends_initial_events);
    match (&frame.about, is_end) {
        (Some((key, _)), _) => format!("{} {} {}", frame.event_type, key.trim_start_matches("shop/"), frame.revision),
        (None, true) => format!("END {}", frame.revision),
        (None, false) => format!("BOOKMARK {}", frame.revision),
    }
}

/// The frames of the next step, or `None` at the end.
async fn next(watcher: &mut Watcher) -> Option<Vec<String>> {
    match tokio::time::timeout(DEADLINE, watcher.next()).await.expect("in time") {
        Step::Frames(frames) => Some(frames.iter().map(summary).collect()),
        Step::End => None,
        Step::Cut => panic!("nobody has cut it"),
    }
}

/// The next `count` frames.
async fn frames(watcher: &mut Watcher, count: usize) -> Vec<String> {
    let mut all = Vec::new();
    while all.len() < count {
        all.extend(next(watcher).await.unwrap_or_else(|| panic!("it ended after {all:?}")));
    }
    assert_eq!(all.len(), count, "{all:?}");
    all
}

/// All frames up to the end.
async fn rest(watcher: &mut Watcher) -> Vec<String> {
    let mut all = Vec::new();
    while let Some(frames) = next(watcher).await {
        all.extend(frames);
    }
    all
}

/// Whether the watcher has no frame to send at the moment.
fn is_silent(watcher: &mut Watcher) -> bool {
    watcher.next().now_or_never().is_none()
}

const INITIAL: Start = Start::State { end_bookmark: true };

/// 81. TestWaitUntilFreshAndListTimeout: a revision that the storage has reached without a change of this resource is
/// reached by a progress notification within 100 ms; for a revision that the storage does not have, the wait ends after
/// 3 s.
#[tokio::test(start_paused = true)]
async fn waiting_for_freshness_ends() {
    let cluster = Cluster::with(&["a"]).await;
    let elsewhere = cluster.storage.txn("/registry/core/nodes/n", 0, Write::Put(Arc::from("{}"))).await;
    let elsewhere = written(elsewhere);
    let begun = Instant::now();
    assert!(cluster.cacher.wait_until_fresh(elsewhere).await);
    assert!(begun.elapsed() <= PROGRESS_REQUEST_PERIOD, "{:?}", begun.elapsed());
    assert_eq!(cluster.cacher.revision(), elsewhere);

    let begun = Instant::now();
    assert!(!cluster.cacher.wait_until_fresh(elsewhere + 1).await);
    assert_eq!(begun.elapsed(), BLOCK_TIMEOUT);
    let (fresh, ()) = tokio::join!(cluster.cacher.wait_until_fresh(elsewhere + 1), async {
        tokio::time::sleep(BLOCK_TIMEOUT / 2).await;
        cluster.put("b", "").await;
    });
    assert!(fresh, "one that comes in time is enough");
}

/// 82. TestCacheWatcherHandlesFiltering: entering a selection is ADDED; leaving it is DELETED, with the object as it
/// was and the revision of the change; an object that stays outside causes no event.
#[tokio::test(start_paused = true)]
async fn entering_and_leaving_a_selection() {
    for replayed in [false, true] {
        let cluster = Cluster::with(&[]).await;
        let selected = || filter("", "spec.nodeName=n1,metadata.name!=other");
        let watch = || cluster.watch_with(Start::After(10), |request| request.filter = selected());
        let before = watch();
        for (name, node) in
            [("a", "n2"), ("a", "n1"), ("a", "n1"), ("other", "n1"), ("a", "n2"), ("a", "n2"), ("a", "n1")]
        {
            cluster.put(name, node).await;
        }
        let gone = cluster.delete("a").await;
        assert!(cluster.cacher.wait_until_fresh(gone).await);
        let mut watcher = if replayed { watch() } else { before };
        let step = tokio::time::timeout(DEADLINE, watcher.next()).await.expect("in time");
        let Step::Frames(frames) = step else { panic!("{step:?}") };
        let words: Vec<String> = frames.iter().map(summary).collect();
        assert_eq!(words, ["ADDED a 12", "MODIFIED a 13", "DELETED a 15", "ADDED a 17", "DELETED a 18"], "{replayed}");
        assert!(frames[2].text.contains(r#""nodeName":"n1""#), "as it was before it left: {}", frames[2].text);
    }
}

/// 83. TestWatcherNotGoingBackInTime: events that are replayed and events that are dispatched meanwhile do not overlap,
/// and a watch from a future revision gets nothing from before it, not even a bookmark.
#[tokio::test(start_paused = true)]
async fn a_watch_does_not_go_back_in_time() {
    let cluster = Cluster::with(&["a"]).await;
    let newest = cluster.flood(150, |index| format!("b{index}")).await;
    let mut watcher = cluster.watch(Start::After(11));
    let first = frames(&mut watcher, 100).await;
    cluster.flood(15, |index| format!("c{index}")).await;
    let all: Vec<String> = first.into_iter().chain(frames(&mut watcher, 65).await).collect();
    let revisions: Vec<u64> = all.iter().filter_map(|one| one.rsplit(' ').next()?.parse().ok()).collect();
    assert_eq!(revisions, (12..=newest + 15).collect::<Vec<_>>());

    let future = newest + 20;
    let mut watcher = cluster.watch(Start::After(future));
    cluster.flood(4, |index| format!("d{index}")).await;
    tokio::time::sleep(Duration::from_secs(61)).await;
    assert!(is_silent(&mut watcher), "it has not come to its start");
    cluster.flood(2, |index| format!("e{index}")).await;
    assert_eq!(frames(&mut watcher, 1).await, [format!("ADDED e1 {}", future + 1)]);
}

/// 84. TestCacheIntervalInvalidationStopsWatch: a replay whose events have been dropped ends without an ERROR.
#[tokio::test(start_paused = true)]
async fn an_invalidated_replay_ends() {
    let cluster = Cluster::with(&[]).await;
    cluster.flood(190, |index| format!("a{index}")).await;
    let mut watcher = cluster.watch(Start::After(10));
    assert_eq!(frames(&mut watcher, 100).await[99], "ADDED a99 110");
    // A ring for 200 events whose newest quarter is older than the window shrinks to 100.
    tokio::time::sleep(ring::EVENT_FRESH_DURATION * 2).await;
    cluster.flood(11, |index| format!("b{index}")).await;
    assert!(cluster.cacher.lock().cache.ring.oldest() > 110);
    assert_eq!(next(&mut watcher).await, None);
}

/// 85. TestInitialEventsEndBookmark: the state in key order, one bookmark that ends it, and regular bookmarks later.
#[tokio::test(start_paused = true)]
async fn the_end_bookmark_comes_once_and_then_regular_ones() {
    let cluster = Cluster::with(&["b", "a"]).await;
    let mut watcher = cluster.watch(INITIAL);
    let begun = Instant::now();
    assert_eq!(frames(&mut watcher, 3).await, ["ADDED a 12", "ADDED b 11", "END 12"]);
    cluster.put("c", "").await;
    assert_eq!(frames(&mut watcher, 2).await, ["ADDED c 13", "BOOKMARK 13"]);
    assert_eq!(begun.elapsed(), Duration::from_secs(60));
    // The bookmark advances even if only other resources change.
    let elsewhere = cluster.storage.txn("/registry/core/nodes/n", 0, Write::Put(Arc::from("{}"))).await;
    assert_eq!(frames(&mut watcher, 1).await, [format!("BOOKMARK {}", written(elsewhere))]);
    assert_eq!(begun.elapsed(), Duration::from_secs(120));
    // There is no end bookmark without bookmarks, without `sendInitialEvents`, or from a revision.
    let mut plain = cluster.watch_with(INITIAL, |request| request.bookmarks = false);
    assert_eq!(frames(&mut plain, 3).await.len(), 3);
    tokio::time::sleep(Duration::from_secs(61)).await;
    assert!(is_silent(&mut plain));
}

/// A bookmark comes 2 s before the deadline, if the revision has advanced.
#[tokio::test(start_paused = true)]
async fn a_last_bookmark_comes_before_the_deadline() {
    let cluster = Cluster::with(&[]).await;
    cluster.flood(1, |_| "a".to_owned()).await;
    for (start, expected) in [(10, vec!["ADDED a 11", "BOOKMARK 11"]), (11, vec![])] {
        let timeout = Duration::from_secs(30);
        let mut watcher = cluster.watch_with(Start::After(start), |request| request.timeout = timeout);
        let begun = Instant::now();
        if !expected.is_empty() {
            assert_eq!(frames(&mut watcher, expected.len()).await, expected);
            assert_eq!(begun.elapsed(), Duration::from_secs(28));
        }
        assert_eq!((next(&mut watcher).await, begun.elapsed()), (None, timeout));
    }
}

/// 86. TestCacheWatcherDraining: a slow watch that is ended before its end bookmark was sent still receives that
/// bookmark and its queued events. A slow watch whose bookmark was sent ends at once. In neither case does an event in
/// between get lost.
#[tokio::test(start_paused = true)]
async fn draining_preserves_the_end_bookmark() {
    let cluster = Cluster::with(&["a"]).await;
    let (mut owing, mut paid, mut plain) =
        (cluster.watch(INITIAL), cluster.watch(INITIAL), cluster.watch(Start::After(11)));
    assert_eq!(frames(&mut paid, 2).await, ["ADDED a 11", "END 11"]);
    assert_eq!(frames_after(&cluster, &mut plain).await, ["ADDED b 12"]);
    cluster.flood(100, |index| format!("c{index}")).await;
    tokio::time::sleep(Duration::from_millis(101)).await;
    assert_eq!(cluster.cacher.watchers(), 0);
    let sent = rest(&mut owing).await;
    assert_eq!(sent[..4], ["ADDED a 11", "END 11", "ADDED b 12", "ADDED c0 13"]);
    assert_eq!(sent[sent.len() - 1], format!("ADDED c{} {}", sent.len() - 4, sent.len() + 9));
    assert_eq!((next(&mut paid).await, next(&mut plain).await), (None, None));
    // A client that watches again from there continues without a gap.
    assert_eq!(frames(&mut cluster.watch(Start::After(12)), 100).await[0], "ADDED c0 13");
}

async fn frames_after(cluster: &Cluster, watcher: &mut Watcher) -> Vec<String> {
    cluster.put("b", "").await;
    frames(watcher, 1).await
}

/// 88. RunTestWatchDeleteEventObjectHaveLatestRV: a deletion has its own revision, in the frame and in the cache.
#[tokio::test(start_paused = true)]
async fn a_deletion_carries_the_latest_revision() {
    let cluster = Cluster::with(&["a"]).await;
    let mut watcher = cluster.watch(Start::After(11));
    cluster.put("b", "").await;
    let gone = cluster.delete("a").await;
    assert_eq!(frames(&mut watcher, 2).await, ["ADDED b 12".to_owned(), format!("DELETED a {gone}")]);
    assert_eq!(frames(&mut cluster.watch(Start::After(12)), 1).await, [format!("DELETED a {gone}")]);
}
