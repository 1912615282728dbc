//! A server that starts on the etcd of an earlier server, and an etcd that is stopped for some time.

use super::super::socket::watch;
use super::super::{names, revision};
use super::*;

#[tokio::test]
async fn a_cluster_outlives_its_server() {
    let etcd = TestEtcd::start().await;
    let before = serve_on(&etcd).await;
    before.config_map("one", "web").await;
    assert_eq!(before.post(DEFINITIONS, &widgets()).await.0, 201);
    assert_eq!(before.post(WIDGETS, &named("one")).await.0, 201);
    let paths = ["/api/v1/namespaces", "/api/v1/pods", CONFIG_MAPS, DEFINITIONS, WIDGETS];
    let mut then = Vec::new();
    for path in paths {
        then.push(before.get(path).await.1["items"].clone());
    }
    drop(before);
    let after = serve_on(&etcd).await;
    for (path, then) in paths.into_iter().zip(then) {
        assert_eq!(after.get(path).await.1["items"], then, "{path}: it is not made up again, and is served");
    }
}

#[tokio::test]
async fn versions_go_on_and_older_watches_start_anew() {
    let etcd = TestEtcd::start().await;
    let before = serve_on(&etcd).await;
    let old = before.config_map("one", "web").await;
    let last = before.config_map("two", "web").await;
    drop(before);
    let after = serve_on(&etcd).await;
    // A restarted cache has no events from before its list, as in the real server.
    let mut socket = watch(&after, &format!("{CONFIG_MAPS}?watch=1&resourceVersion={old}")).await;
    assert_eq!(socket.event().await["object"]["reason"], "Expired");
    let (_, exact) = after.get(&format!("{CONFIG_MAPS}?resourceVersion={old}&resourceVersionMatch=Exact")).await;
    assert_eq!((names(&exact), revision(&exact)), (vec!["kube-root-ca.crt", "one"], old));
    let (_, list) = after.get(CONFIG_MAPS).await;
    assert!(revision(&list) >= last);
    let mut socket = watch(&after, &format!("{CONFIG_MAPS}?watch=1&resourceVersion={}", revision(&list))).await;
    let next = after.config_map("three", "web").await;
    assert!(next > revision(&list));
    assert_eq!(socket.summary().await, ("ADDED".to_owned(), "three".to_owned(), next));
}

#[tokio::test]
async fn a_page_s_token_outlives_the_server() {
    let etcd = TestEtcd::start().await;
    let before = serve_on(&etcd).await;
    before.config_map("one", "web").await;
    let (_, page) = before.get(&format!("{CONFIG_MAPS}?limit=1")).await;
    before.config_map("two", "web").await;
    drop(before);
    let after = serve_on(&etcd).await;
    let token = page["metadata"]["continue"].as_str().unwrap();
    let (_, rest) = after.get(&format!("{CONFIG_MAPS}?limit=1&continue={token}")).await;
    assert_eq!((names(&rest), revision(&rest)), (vec!["one"], revision(&page)), "what came later is not in it");
}

#[tokio::test]
async fn while_the_etcd_is_away_requests_fail_and_then_all_goes_on() {
    let mut etcd = TestEtcd::start().await;
    let server = serve_on(&etcd).await;
    let old = server.config_map("one", "web").await;
    etcd.stop();
    let (status, answer) = server.post(CONFIG_MAPS, &named("two")).await;
    assert_eq!((status, &answer["kind"]), (500, &json!("Status")), "{answer}");
    assert!(answer["message"].as_str().unwrap().starts_with("rpc error: code = Unavailable"), "{answer}");
    assert_eq!(server.get(&format!("{CONFIG_MAPS}/one")).await.0, 500);
    etcd.restart().await;
    super::super::within(async {
        while server.post(CONFIG_MAPS, &named("two")).await.0 != 201 {
            tokio::task::yield_now().await;
        }
        // The cache must become ready again, too.
        while server.get(CONFIG_MAPS).await.0 != 200 {
            tokio::task::yield_now().await;
        }
    })
    .await;
    let (_, list) = server.get(CONFIG_MAPS).await;
    assert_eq!(names(&list), ["kube-root-ca.crt", "one", "two"]);
    assert!(revision(&list) > old);
}

#[tokio::test]
async fn what_is_too_large_for_etcd_is_refused_in_its_words() {
    let etcd = TestEtcd::start().await;
    let server = serve_on(&etcd).await;
    let data = json!({"metadata": {"name": "large"}, "data": {"a": "x".repeat(1536 << 10)}});
    let (status, answer) = server.post("/api/v1/namespaces/default/secrets", &data).await;
    let (code, message) = (status, answer["message"].as_str().unwrap_or_default());
    assert_eq!((code, message), (500, "etcdserver: request is too large"), "{answer}");
}
