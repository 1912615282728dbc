//! Rules about where a watch starts.

use serde_json::json;

use super::*;

/// 23. RunTestWatchError: a watch from before the oldest event opens, sends 410, and ends regularly.
#[tokio::test]
async fn an_expired_version_opens_says_410_and_ends() {
    let server = serve(quiet()).await;
    for transport in BOTH {
        let events = watch(&server, transport, "/api/v1/pods?watch=true&resourceVersion=1").await.rest().await;
        let [event] = &events[..] else { panic!("{transport:?}: {events:?}") };
        assert_eq!((&event["type"], &event["object"]["kind"]), (&json!("ERROR"), &json!("Status")), "{transport:?}");
        let (code, reason) = (&event["object"]["code"], &event["object"]["reason"]);
        assert_eq!((code, reason), (&json!(410), &json!("Expired")), "{transport:?}");
        let message = format!("too old resource version: 1 ({})", newest(&server).await);
        assert_eq!(event["object"]["message"], message, "{transport:?}");
    }
}

/// 27. A watch from a future version waits silently; with initial events the answer is 504 after 3 s.
#[tokio::test]
async fn a_version_too_large_is_silence_or_504() {
    let server = serve(quiet()).await;
    let ahead = newest(&server).await + 1_000_000;
    let plain = format!("{CONFIG_MAPS}?watch=true&allowWatchBookmarks=true&resourceVersion={ahead}&timeoutSeconds=3");
    let initial = format!("{plain}&sendInitialEvents=true&resourceVersionMatch=NotOlderThan");
    let check = async |transport| {
        let begun = tokio::time::Instant::now();
        let mut silent = watch(&server, transport, &plain).await;
        server.config_map(&format!("{transport:?}").to_lowercase(), "web").await;
        let (silence, events) =
            tokio::join!(silent.rest(), async { watch(&server, transport, &initial).await.rest().await });
        assert_eq!(summary(&silence), [""; 0], "{transport:?}");
        let [event] = &events[..] else { panic!("{transport:?}: {events:?}") };
        assert_eq!((&event["type"], &event["object"]["code"]), (&json!("ERROR"), &json!(504)), "{transport:?}");
        let cause = &event["object"]["details"]["causes"][0]["reason"];
        assert_eq!(cause, "ResourceVersionTooLarge", "{transport:?}");
        assert!(begun.elapsed().as_secs() >= 3, "{transport:?}: the server waits for the version first");
    };
    tokio::join!(check(BOTH[0]), check(BOTH[1]));
}
