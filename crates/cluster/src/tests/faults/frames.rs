//! Faults that affect the frames of watches, over both transports.

use std::time::{Duration, Instant};

use super::*;
use crate::args::Args;

/// Writes three objects under a fault; checks the events of a watch, and the number of strikes.
async fn check(words: &str, expected: &[&str], struck: u64) {
    for transport in BOTH {
        let server = serve(quiet()).await;
        let mut watch = Watch::open(&server, transport, &server.path_from_now().await).await;
        let id = server.fault(words).await;
        for name in ["one", "two", "three"] {
            server.config_map(name, "web").await;
        }
        let mut seen = Vec::new();
        for _ in expected {
            seen.push(watch.brief().await);
        }
        assert_eq!(
            (seen, server.struck(id).await.0),
            (expected.iter().map(|word| (*word).to_owned()).collect(), struck),
            "{transport}: {words}"
        );
    }
}

#[tokio::test]
async fn malformed() {
    check("frame=truncate,times=1", &["broken", "ADDED two", "ADDED three"], 1).await;
    check("frame=not-json,after=1,times=1", &["ADDED one", "broken", "ADDED three"], 1).await;
    check("frame=wrong-type,times=1", &["Unexpected one", "ADDED two", "ADDED three"], 1).await;
    check("frame=unknown-type,times=2", &["RENAMED one", "RENAMED two", "ADDED three"], 2).await;
}

#[tokio::test]
async fn duplicated_reordered_and_lost() {
    check("frame=duplicate,times=1", &["ADDED one", "ADDED one", "ADDED two", "ADDED three"], 1).await;
    check("frame=reorder,times=1", &["ADDED two", "ADDED one", "ADDED three"], 1).await;
    check("frame=lose,times=2", &["ADDED three"], 2).await;
    check("frame=lose,event=MODIFIED", &["ADDED one", "ADDED two", "ADDED three"], 0).await;
    check("frame=lose,namespace=default,resource=configmaps,times=1", &["ADDED two", "ADDED three"], 1).await;
    check("frame=lose,namespace=shop", &["ADDED one", "ADDED two", "ADDED three"], 0).await;
}

#[tokio::test]
async fn early_ends() {
    check("end=close,after=2", &["ADDED one", "ADDED two", "closed"], 1).await;
    check("end=drop,after=1", &["ADDED one", "gone"], 1).await;
    check("end=drop", &["gone"], 1).await;
    // A watch of another resource continues.
    check("end=drop,resource=pods", &["ADDED one", "ADDED two", "ADDED three"], 0).await;
}

#[tokio::test]
async fn delayed() {
    let began = Instant::now();
    check("frame=delay,delay-ms=100,times=1", &["ADDED one", "ADDED two", "ADDED three"], 1).await;
    assert!(began.elapsed() >= Duration::from_millis(200), "once over each transport");
}

#[tokio::test]
async fn a_watch_that_ended_early_comes_back() {
    let server = serve(quiet()).await;
    let path = server.path_from_now().await;
    let id = server.fault("end=close,after=1,times=1").await;
    server.config_map("one", "web").await;
    server.config_map("two", "web").await;
    for transport in BOTH {
        let mut watch = Watch::open(&server, transport, &path).await;
        let second = if transport == BOTH[0] { "closed" } else { "ADDED two" };
        assert_eq!((watch.brief().await, watch.brief().await), ("ADDED one".to_owned(), second.to_owned()));
    }
    assert_eq!(server.struck(id).await, (1, true));
}

#[tokio::test]
async fn frames_are_held_back_until_the_fault_is_taken_back() {
    for transport in BOTH {
        let server = serve(quiet()).await;
        let mut held = Watch::open(&server, transport, &server.path_from_now().await).await;
        let id = server.fault("stall=true,resource=configmaps,verb=watch").await;
        server.config_map("one", "web").await;
        server.has_struck(id, 1).await;
        let (_, frames) = server.get("/_control/frames?resource=configmaps").await;
        assert_eq!(frames.as_array().unwrap().len(), 0, "nothing is sent");
        server.control("clear").await;
        assert_eq!(held.brief().await, "ADDED one");
    }
}

#[tokio::test]
async fn a_stalled_watch_can_be_cut() {
    for transport in BOTH {
        let server = serve(quiet()).await;
        let mut held = Watch::open(&server, transport, &server.path_from_now().await).await;
        let id = server.fault("stall=true,resource=configmaps,verb=watch").await;
        server.config_map("one", "web").await;
        server.has_struck(id, 1).await;
        server.control("cut?resource=configmaps").await;
        assert_eq!(held.brief().await, "gone");
    }
}

#[tokio::test]
async fn the_end_bookmark_does_not_come() {
    for transport in BOTH {
        let server = serve(Args { bookmark_every: Duration::from_millis(50), ..quiet() }).await;
        let id = server.fault("frame=no-end-bookmark,times=1").await;
        let path = format!(
            "{CONFIG_MAPS}?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
        );
        for ends in [false, true] {
            let mut watch = Watch::open(&server, transport, &path).await;
            assert_eq!(watch.brief().await, "ADDED kube-root-ca.crt");
            // A regular bookmark needs a revision that is newer than the initial events.
            let elsewhere = serde_json::json!({"metadata": {"generateName": "elsewhere-"}});
            assert_eq!(server.post("/api/v1/namespaces/shop/configmaps", &elsewhere).await.0, 201);
            let Frame::Text(text) = watch.frame().await else { panic!("a bookmark") };
            assert!(text.contains("\"BOOKMARK\""), "{text}");
            assert_eq!(text.contains("k8s.io/initial-events-end"), ends, "{transport}: {text}");
        }
        assert_eq!(server.struck(id).await, (1, true));
    }
}
