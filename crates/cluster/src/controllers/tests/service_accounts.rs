//! The ServiceAccount that every Namespace has for its Pods: that it is created, and created again.

use super::*;
use crate::controllers::namespace::Namespaces;
use crate::controllers::service_account::ServiceAccounts;

const ACCOUNT: &str = "serviceaccounts/default";

fn path(namespace: &str, object: &str) -> String {
    format!("/api/v1/namespaces/{namespace}/{object}")
}

fn start_on(server: Server) -> Cluster {
    Cluster::start_on(server, Options { seed: 1, ..Options::default() }, |manager| {
        manager.add::<ServiceAccounts>();
        manager.add::<Namespaces>();
    })
}

#[tokio::test]
async fn every_namespace_has_an_account() {
    let cluster = start_on(serve(quiet()).await);
    cluster.create("/api/v1/namespaces", &json!({"metadata": {"name": "tmp"}})).await;
    let (_, all) = cluster.server.get("/api/v1/namespaces").await;
    for namespace in names(&all) {
        let is_there = |object: &Value| object["metadata"]["namespace"] == namespace;
        cluster.eventually(&path(namespace, ACCOUNT), "there", is_there).await;
    }
    cluster.stop().await;
}

#[tokio::test]
async fn an_account_that_is_deleted_comes_back() {
    let cluster = start_on(serve(quiet()).await);
    let path = path("default", ACCOUNT);
    let first = cluster.eventually(&path, "there", |object| object["metadata"]["uid"].is_string()).await;
    assert_eq!(cluster.server.delete(&path).await.0, 200);
    let again = |object: &Value| {
        let uid = &object["metadata"]["uid"];
        uid.is_string() && *uid != first["metadata"]["uid"]
    };
    cluster.eventually(&path, "there again", again).await;
    cluster.stop().await;
}

#[tokio::test]
async fn a_namespace_that_goes_gets_nothing_more() {
    let cluster = start_on(serve(quiet()).await);
    cluster.create("/api/v1/namespaces", &json!({"metadata": {"name": "tmp"}})).await;
    let held = json!({"metadata": {"name": "held", "finalizers": ["example.org/hold"]}});
    cluster.create(&path("tmp", "secrets"), &held).await;
    let tmp = "/api/v1/namespaces/tmp";
    cluster.eventually(&path("tmp", ACCOUNT), "there", |object| object["metadata"]["uid"].is_string()).await;
    cluster.server.delete(tmp).await;
    cluster.eventually(&path("tmp", ACCOUNT), "gone", |object| object["code"] == 404).await;
    // A later Namespace is synced after the earlier ones, which shows that their syncs are over.
    cluster.create("/api/v1/namespaces", &json!({"metadata": {"name": "later"}})).await;
    cluster.eventually(&path("later", ACCOUNT), "there", |object| object["metadata"]["uid"].is_string()).await;
    assert_eq!(cluster.server.get(&path("tmp", ACCOUNT)).await.0, 404);
    cluster.patch(&path("tmp", "secrets/held"), &json!({"metadata": {"finalizers": null}})).await;
    cluster.patch(tmp, &json!({"metadata": {"annotations": {"a": "b"}}})).await;
    cluster.eventually(tmp, "gone", |namespace| namespace["code"] == 404).await;
    cluster.stop().await;
}
