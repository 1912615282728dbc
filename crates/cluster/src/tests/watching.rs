//! Watches over WebSocket and HTTP, with every kind of start and end.

use super::socket::{Frame, open, watch};
use super::*;

const CONFIG_MAPS: &str = "/api/v1/namespaces/default/configmaps?watch=true";

#[tokio::test]
async fn from_a_revision() {
    let server = serve(quiet()).await;
    let first = server.config_map("one", "web").await;
    let mut socket = watch(&server, &format!("{CONFIG_MAPS}&resourceVersion={first}")).await;
    server.config_map("two", "web").await;
    server.patch("/api/v1/namespaces/default/configmaps/two", &json!({"data": {"a": "c"}})).await;
    server.delete("/api/v1/namespaces/default/configmaps/two").await;
    for (index, event_type) in ["ADDED", "MODIFIED", "DELETED"].into_iter().enumerate() {
        let expected = (event_type.to_owned(), "two".to_owned(), first + 1 + index as u64);
        assert_eq!(socket.summary().await, expected);
    }
}

#[tokio::test]
async fn from_an_expired_revision() {
    let server = serve(quiet()).await;
    let mut socket = watch(&server, "/api/v1/pods?watch=true&resourceVersion=1").await;
    let oldest = server.app.api.store.revision();
    let expected = format!(
        "{{\"type\":\"ERROR\",\"object\":{{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{{}},\"status\":\"Failure\",\
         \"message\":\"too old resource version: 1 ({oldest})\",\"reason\":\"Expired\",\"code\":410}}}}\n"
    );
    assert_eq!(socket.next().await, Frame::Text(expected));
    assert_eq!(socket.next().await, Frame::Close(1000, String::new()));
}

#[tokio::test]
async fn a_restart_at_a_higher_revision_expires_old_watches() {
    // In memory, because an etcd continues to count; `etcd/restarting.rs` restarts servers on an etcd.
    let before = serve_from_memory(quiet()).await;
    let old = before.app.api.store.revision();
    let after = serve_from_memory(Args { first_revision: 1_000_000, ..quiet() }).await;
    let mut socket = watch(&after, &format!("/api/v1/pods?watch=true&resourceVersion={old}")).await;
    assert_eq!(socket.event().await["object"]["code"], 410);
}

#[tokio::test]
async fn initial_events_come_in_key_order_and_end_with_a_bookmark() {
    let server = serve(quiet()).await;
    let (_, list) = server.get("/api/v1/pods").await;
    let path =
        "/api/v1/pods?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
    let mut socket = watch(&server, path).await;
    for name in names(&list) {
        let event = socket.event().await;
        assert_eq!((&event["type"], &event["object"]["metadata"]["name"]), (&json!("ADDED"), &json!(name)));
        assert_eq!((&event["object"]["kind"], &event["object"]["apiVersion"]), (&json!("Pod"), &json!("v1")));
    }
    let expected = format!(
        "{{\"type\":\"BOOKMARK\",\"object\":{{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{{\"resourceVersion\":\"{}\",\
         \"annotations\":{{\"k8s.io/initial-events-end\":\"true\"}}}},\"spec\":{{\"containers\":null}},\"status\":{{}}}}}}\n",
        revision(&list)
    );
    assert_eq!(socket.next().await, Frame::Text(expected));
}

#[tokio::test]
async fn entering_and_leaving_a_selection() {
    let server = serve(quiet()).await;
    let path = format!("{CONFIG_MAPS}&labelSelector=app%3Dweb&resourceVersion={}", server.app.api.store.revision());
    let mut socket = watch(&server, &path).await;
    let first = server.config_map("one", "db").await;
    for app in ["web", "web2", "web"] {
        let (status, _) = server
            .patch("/api/v1/namespaces/default/configmaps/one", &json!({"metadata": {"labels": {"app": app}}}))
            .await;
        assert_eq!(status, 200);
    }
    server.delete("/api/v1/namespaces/default/configmaps/one").await;
    assert_eq!(socket.summary().await, ("ADDED".to_owned(), "one".to_owned(), first + 1));
    let left = socket.event().await;
    assert_eq!((&left["type"], revision(&left["object"])), (&json!("DELETED"), first + 2));
    assert_eq!(left["object"]["metadata"]["labels"]["app"], "web", "the object as it was before it left");
    assert_eq!(socket.summary().await, ("ADDED".to_owned(), "one".to_owned(), first + 3));
    assert_eq!(socket.summary().await, ("DELETED".to_owned(), "one".to_owned(), first + 4));
}

#[tokio::test]
async fn the_timeout_ends_it_after_a_last_bookmark() {
    let server = serve(quiet()).await;
    let path = format!(
        "/api/v1/nodes?watch=true&resourceVersion={}&allowWatchBookmarks=true&timeoutSeconds=3",
        server.app.api.store.revision()
    );
    let mut socket = watch(&server, &path).await;
    let newest = server.config_map("one", "web").await;
    assert_eq!(socket.summary().await, ("BOOKMARK".to_owned(), String::new(), newest));
    assert_eq!(socket.next().await, Frame::Close(1000, String::new()));
}

#[tokio::test]
async fn bookmarks_come_regularly_and_lead_on() {
    let server = serve(Args { bookmark_every: std::time::Duration::from_millis(50), ..quiet() }).await;
    let start = server.app.api.store.revision();
    let mut socket =
        watch(&server, &format!("/api/v1/nodes?watch=1&resourceVersion={start}&allowWatchBookmarks=1")).await;
    // A write to another resource advances the bookmark of this one.
    let newest = server.config_map("one", "web").await;
    while socket.summary().await.2 < newest {}
}

#[tokio::test]
async fn from_the_future() {
    let server = serve(quiet()).await;
    let path = "/api/v1/nodes?watch=1&sendInitialEvents=1&resourceVersionMatch=NotOlderThan&resourceVersion=99999999";
    let mut socket = watch(&server, path).await;
    let event = socket.event().await;
    assert_eq!((&event["type"], &event["object"]["code"]), (&json!("ERROR"), &json!(504)));
    assert_eq!(event["object"]["details"]["retryAfterSeconds"], 1);
    assert_eq!(socket.next().await, Frame::Close(1000, String::new()));
    let mut silent = watch(&server, &format!("{CONFIG_MAPS}&resourceVersion=99999999&timeoutSeconds=1")).await;
    server.config_map("one", "web").await;
    assert_eq!(silent.next().await, Frame::Close(1000, String::new()));
}

#[tokio::test]
async fn refused_before_the_upgrade() {
    let server = serve(quiet()).await;
    let origin = Some("http://localhost");
    for (query, origin, status, words) in [
        ("watch=1", None, "403", ""),
        ("watch=1", Some("null"), "403", ""),
        ("watch=1", Some("http://evil.example"), "403", "\"reason\":\"Forbidden\""),
        ("watch=1&resourceVersion=abc", origin, "500", "parsing \\\"abc\\\": invalid syntax\",\"code\":500}"),
        ("watch=1&sendInitialEvents=true", origin, "422", "sendInitialEvents requires setting resourceVersionMatch"),
        ("watch=1&fieldSelector=spec.nosuch%3Dx", origin, "400", "field label not supported: spec.nosuch"),
    ] {
        let response = open(&server, &format!("/api/v1/pods?{query}"), origin).await.err().unwrap();
        assert!(response.starts_with(&format!("HTTP/1.1 {status} ")), "{query}: {response}");
        assert!(response.contains(words), "{query}: {response}");
        assert!(!words.is_empty() || response.ends_with("\r\n\r\n"), "{query}: the body is empty: {response}");
    }
}

#[tokio::test]
async fn over_http_events_are_lines() {
    let server = serve(quiet()).await;
    let path = format!("{CONFIG_MAPS}&resourceVersion={}", server.app.api.store.revision());
    let mut response = within(server.client.get(server.url(&path)).send()).await.unwrap();
    assert_eq!(response.headers()["content-type"], "application/json");
    for name in ["one", "two"] {
        server.config_map(name, "web").await;
        let line = within(response.chunk()).await.unwrap().unwrap();
        assert_eq!(line.iter().filter(|byte| **byte == b'\n').count(), 1);
        let event: Value = serde_json::from_slice(&line).unwrap();
        assert_eq!(event["object"]["metadata"]["name"], name);
    }
    server.control("cut").await;
    assert!(within(response.chunk()).await.is_err(), "a cut connection is torn, not ended");
}

#[tokio::test]
async fn a_watch_that_falls_behind_is_closed_without_a_gap() {
    let server = serve(quiet()).await;
    let start = server.app.api.store.revision();
    let mut socket = watch(&server, &format!("{CONFIG_MAPS}&resourceVersion={start}")).await;
    let mut last = server.config_map("first", "web").await;
    assert_eq!(socket.summary().await.1, "first");
    let other = watch(&server, "/api/v1/configmaps?watch=true").await;
    server.control("stall?on=true").await;
    let resource = &crate::resources::builtin::CONFIG_MAPS;
    let cacher = server.app.api.store.cacher(resource);
    let mut count = 0;
    within(async {
        while cacher.watchers() > 0 {
            let value = json!({"metadata": {"name": format!("c{count:06}"), "namespace": "default"}, "data": {}});
            let draft = crate::resources::object::Draft::from_value(value).unwrap();
            server.app.api.store.create(resource, draft).await.unwrap();
            count += 1;
            tokio::task::yield_now().await;
        }
    })
    .await;
    drop(other);
    server.control("stall?on=false").await;
    assert_eq!(socket.next().await, Frame::Close(1000, String::new()));
    let mut socket = watch(&server, &format!("{CONFIG_MAPS}&resourceVersion={last}")).await;
    for index in 0..count {
        let (event_type, name, revision) = socket.summary().await;
        assert_eq!((event_type, name), ("ADDED".to_owned(), format!("c{index:06}")));
        assert!(revision > last);
        last = revision;
    }
}
