//! The control endpoints, and the scenarios that they steer.

use super::socket::{Frame, open, watch};
use super::*;
use crate::controllers::garbage_collector::GarbageCollector;
use crate::controllers::tests::run;

#[tokio::test]
async fn forbidden_verbs() {
    let server = serve(quiet()).await;
    let mut socket = watch(&server, "/api/v1/pods?watch=true&resourceVersion=0").await;
    server.control("forbid?verb=watch&resource=pods").await;
    while let Frame::Text(_) = socket.next().await {}
    let words =
        "pods is forbidden: User \"demo\" cannot watch resource \"pods\" in API group \"\" at the cluster scope";
    let (status, answer) = server.get("/api/v1/pods?watch=true").await;
    assert_eq!((status, &answer["message"], &answer["reason"]), (403, &json!(words), &json!("Forbidden")));
    let response = open(&server, "/api/v1/pods?watch=true", Some("http://localhost")).await.err().unwrap();
    assert!(response.starts_with("HTTP/1.1 403 ") && response.contains("cannot watch resource"), "{response}");
    assert_eq!(server.get("/api/v1/pods").await.0, 200);
    server.control("allow?verb=watch&resource=pods").await;
    watch(&server, "/api/v1/pods?watch=true").await;

    server.control("forbid?verb=list&resource=deployments").await;
    let (_, answer) = server.get("/apis/apps/v1/namespaces/shop/deployments").await;
    let words = "deployments.apps is forbidden: User \"demo\" cannot list resource \"deployments\" in API group \"apps\" \
                 in the namespace \"shop\"";
    assert_eq!(answer["message"], words);
}

#[tokio::test]
async fn cut_and_compact() {
    let server = serve(quiet()).await;
    let revision = server.app.api.store.revision();
    let mut socket = watch(&server, &format!("/api/v1/configmaps?watch=1&resourceVersion={revision}")).await;
    server.config_map("one", "web").await;
    assert_eq!(socket.summary().await.1, "one");
    server.control("compact").await;
    server.config_map("two", "web").await;
    assert_eq!(socket.summary().await.1, "two", "a running watch survives a compaction");
    server.control("cut").await;
    assert_eq!(socket.next().await, Frame::Gone);
    let mut late = watch(&server, &format!("/api/v1/configmaps?watch=1&resourceVersion={revision}")).await;
    assert_eq!(late.event().await["object"]["reason"], "Expired");
}

#[tokio::test]
async fn put_takes_any_name() {
    let server = serve(quiet()).await;
    let revision = server.app.api.store.revision();
    let mut socket = watch(&server, &format!("/api/v1/pods?watch=1&resourceVersion={revision}")).await;
    let name = "<img src=x onerror=\"alert(1)\">/../\u{202e}";
    let pod = json!({"kind": "Pod", "apiVersion": "v1", "metadata": {"name": name, "namespace": "shop"}, "spec": {}});
    assert_eq!(server.post("/_control/put", &pod).await.0, 200);
    assert_eq!(socket.summary().await, ("ADDED".to_owned(), name.to_owned(), revision + 1));
    assert_eq!(server.post("/_control/put", &pod).await.0, 200);
    assert_eq!(socket.summary().await, ("MODIFIED".to_owned(), name.to_owned(), revision + 2));
    let (_, log) = server.get("/_control/log?resource=pods").await;
    let last = log.as_array().unwrap().last().unwrap();
    assert_eq!((&last["type"], &last["key"]), (&json!("MODIFIED"), &json!(format!("shop/{name}"))));
    assert_eq!(server.post("/_control/put", &json!({"kind": "Nothing"})).await.0, 400);
    assert_eq!(server.post("/_control/nosuch", &Value::Null).await.0, 404);
    assert_eq!(server.get("/_control/cut").await.0, 405);
    assert_eq!(server.post("/_control/rate?value=much", &Value::Null).await.0, 400);
}

#[tokio::test]
async fn a_stall_holds_everything_back_until_it_ends() {
    let server = serve(quiet()).await;
    let revision = server.app.api.store.revision();
    let mut socket = watch(&server, &format!("/api/v1/configmaps?watch=1&resourceVersion={revision}")).await;
    server.control("stall?on=true").await;
    let create = server.config_map("one", "web");
    let release = server.control("stall?on=false");
    let (revision, _) = tokio::join!(create, release);
    assert_eq!(socket.summary().await, ("ADDED".to_owned(), "one".to_owned(), revision));
}

#[tokio::test]
async fn the_rate_and_what_it_stirs_up() {
    // In memory, because the storm writes to no other backend.
    let server = serve_from_memory(Args { pods: 30, ..quiet() }).await;
    let quiet = server.app.api.store.revision();
    server.control("rate?value=2000").await;
    let mut newest = server.app.api.store.newest();
    within(newest.wait_for(|newest| *newest > quiet + 3000)).await.unwrap();
    let stopped = server.control("rate?value=0").await;
    assert_eq!(stopped["revision"], server.app.api.store.revision());

    // The log, replayed, gives the state: no write is missing from it.
    let (_, log) = server.get("/_control/log?resource=pods").await;
    let mut keys = std::collections::BTreeMap::new();
    for entry in log.as_array().unwrap() {
        let key = entry["key"].as_str().unwrap();
        if entry["type"] == "DELETED" {
            keys.remove(key)
        } else {
            keys.insert(key, entry["uid"].as_str().unwrap())
        };
    }
    let (_, list) = server.get("/api/v1/pods").await;
    let items = list["items"].as_array().unwrap();
    let text = |item: &Value, field: &str| item["metadata"][field].as_str().unwrap().to_owned();
    let listed: std::collections::BTreeMap<String, String> = items
        .iter()
        .map(|item| (format!("{}/{}", text(item, "namespace"), text(item, "name")), text(item, "uid")))
        .collect();
    let replayed = keys.iter().map(|(key, uid)| ((*key).to_owned(), (*uid).to_owned())).collect();
    assert_eq!(listed, replayed);
    // The autoscaler at most doubles a workload and adds one, and a rollout in progress leaves two generations. What
    // must not happen is that Pods pile up: 3,000 writes would create several hundred.
    assert!((10..=150).contains(&listed.len()), "{} Pods of about 30", listed.len());
    let (_, events) = server.get("/api/v1/events").await;
    assert!((1..=1001).contains(&names(&events).len()));
    let (_, sets) = server.get("/apis/apps/v1/replicasets").await;
    for item in items.iter().filter(|item| item["metadata"]["ownerReferences"][0]["kind"] == "ReplicaSet") {
        let owner = item["metadata"]["ownerReferences"][0]["name"].as_str().unwrap();
        assert!(names(&sets).contains(&owner), "{owner} owns a Pod");
    }
}

#[tokio::test]
async fn what_somebody_deletes_does_not_come_back() {
    // In memory, because the storm writes to no other backend.
    let server = serve_from_memory(Args { pods: 30, ..quiet() }).await;
    let _collector = run(&server, |manager| manager.add::<GarbageCollector>());
    let (_, list) = server.get("/apis/apps/v1/namespaces/shop/deployments").await;
    let name = names(&list)[0].to_owned();
    server.control("rate?value=500").await;
    assert_eq!(server.delete(&format!("/apis/apps/v1/namespaces/shop/deployments/{name}")).await.0, 200);
    let mut newest = server.app.api.store.newest();
    let then = server.app.api.store.revision();
    within(newest.wait_for(|newest| *newest > then + 1000)).await.unwrap();
    server.control("rate?value=0").await;
    // Without kubelets, the deletion of its Pods does not finish.
    let is_being_deleted = |pod: &Value| pod["metadata"]["deletionTimestamp"].is_string();
    within(async {
        for (path, may_leave) in
            [("/apis/apps/v1/namespaces/shop/replicasets", false), ("/api/v1/namespaces/shop/pods", true)]
        {
            let path = format!("{path}?labelSelector=app%3D{name}");
            let stays = |one: &Value| !(may_leave && is_being_deleted(one));
            while server.get(&path).await.1["items"].as_array().unwrap().iter().any(stays) {
                newest.changed().await.unwrap();
            }
        }
    })
    .await;
    let (_, list) = server.get("/apis/apps/v1/namespaces/shop/deployments").await;
    assert!(!names(&list).contains(&&*name));
}
