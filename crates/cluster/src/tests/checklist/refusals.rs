//! Rules about watches that are refused: a plain request gets the same answer as the refused upgrade.

use serde_json::{Value, json};

use super::*;

/// Asks over both transports; both must be refused with the same answer, which is returned.
async fn refused(server: &Server, path: &str) -> (u16, Value) {
    let [one, other] = [open(server, BOTH[0], path).await.err(), open(server, BOTH[1], path).await.err()];
    assert_eq!(one, other, "{path}");
    let refused = one.unwrap_or_else(|| panic!("{path} is accepted"));
    (refused.status, refused.status())
}

/// 24. A browser cannot see why an upgrade fails; the same query over HTTP shows the reason.
#[tokio::test]
async fn a_probe_names_the_reason_of_a_refused_upgrade() {
    let server = serve(quiet()).await;
    server.control("forbid?verb=watch&resource=pods").await;
    server.control("fault?status=429&verb=watch&resource=secrets").await;
    for (path, code, reason) in [
        ("/api/v1/pods?watch=true", 403, json!("Forbidden")),
        ("/api/v1/secrets?watch=true", 429, json!("TooManyRequests")),
        ("/api/v1/nosuch?watch=true", 404, json!("NotFound")),
        ("/api/v1/nodes?watch=true&resourceVersion=abc", 500, Value::Null),
    ] {
        let (status, answer) = refused(&server, path).await;
        assert_eq!((status, &answer["code"], &answer["reason"]), (code, &json!(code), &reason), "{path}");
    }
    // Listing is a different permission, so the probe has to ask for the watch itself.
    assert_eq!(server.get("/api/v1/pods").await.0, 200);
}

/// 25. `validation.go`: initial events must be asked for together with a match.
#[tokio::test]
async fn initial_events_without_a_match_are_422() {
    let server = serve(quiet()).await;
    for (query, field) in [
        ("sendInitialEvents=true", "resourceVersionMatch"),
        ("sendInitialEvents=false", "resourceVersionMatch"),
        ("sendInitialEvents=true&resourceVersionMatch=Exact&resourceVersion=1", "resourceVersionMatch"),
        ("resourceVersionMatch=NotOlderThan", "resourceVersionMatch"),
    ] {
        let (status, answer) = refused(&server, &format!("/api/v1/pods?watch=true&{query}")).await;
        assert_eq!((status, &answer["reason"]), (422, &json!("Invalid")), "{query}");
        let cause = &answer["details"]["causes"][0];
        assert_eq!((&cause["reason"], &cause["field"]), (&json!("FieldValueForbidden"), &json!(field)), "{query}");
    }
}

/// 26. TestWatchList: a server without the feature refuses initial events, and a list followed by a watch still works.
#[tokio::test]
async fn initial_events_unsupported_leave_lists_and_watches() {
    let server = serve(quiet()).await;
    server.config_map("one", "web").await;
    let streaming = format!(
        "{CONFIG_MAPS}?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
    );
    server.control("watchlist?on=false").await;
    let (status, answer) = refused(&server, &streaming).await;
    let cause = &answer["details"]["causes"][0];
    assert_eq!((status, &answer["reason"], &cause["field"]), (422, &json!("Invalid"), &json!("sendInitialEvents")));
    for transport in BOTH {
        let path = format!("{CONFIG_MAPS}?watch=true&allowWatchBookmarks=true");
        let (_, list) = server.get(CONFIG_MAPS).await;
        let mut watching = watch(&server, transport, &format!("{path}&resourceVersion={}", revision(&list))).await;
        let name = format!("{transport:?}").to_lowercase();
        let written = server.config_map(&name, "web").await;
        assert_eq!(watching.summary().await, ("ADDED".to_owned(), name, written), "{transport:?}");
        // Such a server sends no bookmark after its initial events.
        let events = watch(&server, transport, &format!("{path}&timeoutSeconds=1")).await.rest().await;
        assert!(events.iter().all(|event| event["type"] == "ADDED"), "{transport:?}: {events:?}");
    }
    server.control("watchlist?on=true").await;
    for transport in BOTH {
        let mut watching = watch(&server, transport, &streaming).await;
        while watching.event().await["type"] != "BOOKMARK" {}
    }
}
