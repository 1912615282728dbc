//! Two servers on one etcd.

use futures::future::join_all;

use super::super::socket::watch;
use super::super::{names, revision, within};
use super::*;

/// Two servers on one etcd.
async fn two() -> (TestEtcd, Server, Server) {
    let etcd = TestEtcd::start().await;
    let (one, two) = tokio::join!(serve_on(&etcd), serve_on(&etcd));
    (etcd, one, two)
}

#[tokio::test]
async fn what_one_writes_the_other_lists_and_watches() {
    let (_etcd, one, two) = two().await;
    let (_, list) = two.get(CONFIG_MAPS).await;
    let mut socket = watch(&two, &format!("{CONFIG_MAPS}?watch=1&resourceVersion={}", revision(&list))).await;
    for name in ["a", "b", "c"] {
        let written = one.config_map(name, "web").await;
        // A list includes the writes of the other server: it waits until the cache has them.
        let (_, list) = two.get(CONFIG_MAPS).await;
        assert!(names(&list).contains(&name) && revision(&list) >= written, "{name}");
        assert_eq!(socket.summary().await, ("ADDED".to_owned(), name.to_owned(), written));
    }
    assert_eq!(one.delete(&format!("{CONFIG_MAPS}/a")).await.0, 200);
    assert_eq!(socket.event().await["type"], "DELETED");
    assert_eq!(two.get(&format!("{CONFIG_MAPS}/a")).await.0, 404);
    // Both started on an empty etcd, and together created one cluster.
    for path in ["/api/v1/pods", "/api/v1/namespaces", "/api/v1/nodes"] {
        assert_eq!(one.get(path).await.1["items"], two.get(path).await.1["items"], "{path}");
    }
}

#[tokio::test]
async fn a_list_of_what_nobody_touches_is_as_new_as_a_write_elsewhere() {
    let (_etcd, one, two) = two().await;
    for round in 0..20 {
        let written = one.config_map(&format!("map-{round}"), "web").await;
        let (_, list) = two.get("/apis/apps/v1/daemonsets").await;
        assert!(revision(&list) >= written, "{round}: {list}");
    }
}

#[tokio::test]
async fn of_two_writes_from_one_version_one_is_a_conflict() {
    const WRITES: usize = 20;
    let (_etcd, one, two) = two().await;
    one.config_map("one", "web").await;
    let path = format!("{CONFIG_MAPS}/one");
    for round in 0..WRITES {
        let (_, object) = one.get(&path).await;
        let replace = |server: &Server, by: &str| {
            let mut object = object.clone();
            object["data"] = json!({"by": by, "round": round.to_string()});
            server.client.put(server.url(&path)).body(object.to_string())
        };
        let (by_one, by_two) = (replace(&one, "one"), replace(&two, "two"));
        let ((first, won), (second, _)) = tokio::join!(one.send(by_one), two.send(by_two));
        let mut codes = [first, second];
        codes.sort();
        assert_eq!(codes, [200, 409], "{won}");
    }
    // Patches without a version apply to any version; these go through both servers at the same time.
    let patches = (0..WRITES).map(|index| {
        let server = if index % 2 == 0 { &one } else { &two };
        let (path, patch) = (path.clone(), json!({"data": {format!("key-{index}"): "x"}}));
        async move { server.patch(&path, &patch).await.0 }
    });
    assert!(join_all(patches).await.iter().all(|status| *status == 200));
    let (_, object) = two.get(&path).await;
    let kept = object["data"].as_object().unwrap().keys().filter(|key| key.starts_with("key-")).count();
    assert_eq!(kept, WRITES);
}

#[tokio::test]
async fn what_one_defines_the_other_serves_until_it_is_gone() {
    let (_etcd, one, two) = two().await;
    for round in 0..3 {
        assert_eq!(one.post(DEFINITIONS, &widgets()).await.0, 201);
        within(async { while two.get(WIDGETS).await.0 != 200 {} }).await;
        let (_, group) = two.get("/apis/example.org/v1").await;
        assert_eq!(group["resources"][0]["kind"], "Widget");
        assert_eq!(two.post(WIDGETS, &named("one")).await.0, 201, "{round}");
        assert_eq!(names(&one.get(WIDGETS).await.1), ["one"]);
        let (_, list) = two.get(WIDGETS).await;
        let mut socket = watch(&two, &format!("{WIDGETS}?watch=1&resourceVersion={}", revision(&list))).await;
        assert_eq!(one.delete(&format!("{DEFINITIONS}/widgets.example.org")).await.0, 200);
        assert_eq!(socket.event().await["type"], "DELETED");
        within(async { while two.get(WIDGETS).await.0 != 404 {} }).await;
        within(async { while one.get(WIDGETS).await.0 != 404 {} }).await;
    }
}
