//! Rules about how a watch ends.

use std::time::Duration;

use serde_json::json;
use tokio::time::Instant;

use super::*;

/// 22. TestWatchHTTPTimeout: the timeout is a regular end, and comes at the requested time.
#[tokio::test]
async fn the_timeout_is_an_ordinary_end() {
    let server = serve(quiet()).await;
    for transport in BOTH {
        let begun = Instant::now();
        let path = format!("{CONFIG_MAPS}?watch=true&timeoutSeconds=1&resourceVersion={}", newest(&server).await);
        assert_eq!(watch(&server, transport, &path).await.next().await, Item::End, "{transport:?}");
        assert!(begun.elapsed() >= Duration::from_secs(1), "{transport:?}: {:?}", begun.elapsed());
    }
}

/// 28. RunTestWatchDispatchBookmarkEvents: a client that asked for bookmarks gets one about 2 s before the end.
#[tokio::test]
async fn a_bookmark_comes_before_the_deadline() {
    let server = serve(quiet()).await;
    let start = newest(&server).await;
    // A bookmark is only sent for a revision that is newer than the start.
    let written = server.config_map("one", "web").await;
    let check = async |transport, bookmarks: bool| {
        let path = format!("{CONFIG_MAPS}?watch=true&resourceVersion={start}&timeoutSeconds=3");
        let mut watching = watch(&server, transport, &format!("{path}&allowWatchBookmarks={bookmarks}")).await;
        assert_eq!(watching.summary().await, ("ADDED".to_owned(), "one".to_owned(), written), "{transport:?}");
        if bookmarks {
            let event = watching.event().await;
            assert_eq!((&event["type"], revision(&event["object"])), (&json!("BOOKMARK"), written), "{transport:?}");
            assert_eq!(event["object"]["metadata"].get("annotations"), None, "{transport:?}: no initial events end");
        }
        let since = Instant::now();
        assert_eq!(watching.next().await, Item::End, "{transport:?}");
        assert!(since.elapsed() > Duration::from_secs(1), "{transport:?}: in time to be of use");
    };
    tokio::join!(check(BOTH[0], true), check(BOTH[0], false), check(BOTH[1], true), check(BOTH[1], false));
}

/// More than fits into the buffers between a write and a client that does not read: those of TCP and of the watch.
const FLOOD: usize = 400;

/// 29. TestDispatchEventWillNotBeBlockedByTimedOutWatcher: a client that does not read is ended regularly after the
/// frames that were already sent. Meanwhile a client that reads misses nothing, and the ended client resumes without a
/// gap.
#[tokio::test]
async fn a_stalled_reader_is_cut_and_resumes_without_a_gap() {
    let server = serve(quiet()).await;
    let start = server.config_map("one", "web").await;
    let path = |revision: u64| format!("{CONFIG_MAPS}?watch=true&resourceVersion={revision}");
    let mut stalled = [watch(&server, BOTH[0], &path(start)).await, watch(&server, BOTH[1], &path(start)).await];
    let mut reading = watch(&server, Transport::Http, &path(start)).await;
    let last = start + FLOOD as u64;
    let flood = async {
        let text = "x".repeat(64 * 1024);
        for count in 0..FLOOD {
            let change = json!({"data": {"count": count.to_string(), "text": text}});
            assert_eq!(server.patch(&format!("{CONFIG_MAPS}/one"), &change).await.0, 200);
        }
    };
    let follow = async {
        for revision in start + 1..=last {
            assert_eq!(reading.summary().await.2, revision, "nobody else's stall is noticed");
        }
    };
    tokio::join!(flood, follow);
    for (transport, stalled) in BOTH.into_iter().zip(&mut stalled) {
        let mut seen = start;
        loop {
            match stalled.next().await {
                Item::Event(event) => {
                    assert_eq!(revision(&event["object"]), seen + 1, "{transport:?}");
                    seen += 1;
                }
                end => break assert_eq!(end, Item::End, "{transport:?} after {seen}"),
            }
        }
        assert!(seen < last, "{transport:?}: it was cut before the end of {last}");
        let mut resumed = watch(&server, transport, &path(seen)).await;
        for revision in seen + 1..=last {
            assert_eq!(resumed.summary().await.2, revision, "{transport:?}");
        }
    }
}
