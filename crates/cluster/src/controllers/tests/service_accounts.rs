//! The objects that every Namespace has for its Pods: that they are created, and created again.

use super::*;
use crate::controllers::namespace::Namespaces;
use crate::controllers::service_account::ServiceAccounts;
use crate::controllers::service_account::root_certificate::RootCertificates;

const ACCOUNT: &str = "serviceaccounts/default";
const CERTIFICATE: &str = "configmaps/kube-root-ca.crt";

fn path(namespace: &str, object: &str) -> String {
    format!("/api/v1/namespaces/{namespace}/{object}")
}

fn start_on(server: Server) -> Cluster {
    Cluster::start_on(server, Options { seed: 1, ..Options::default() }, |manager| {
        manager.add::<ServiceAccounts>();
        manager.add::<RootCertificates>();
        manager.add::<Namespaces>();
    })
}

#[tokio::test]
async fn every_namespace_has_an_account_and_the_certificate() {
    let server = serve(quiet()).await;
    let (_, before) = server.get(&path("shop", CERTIFICATE)).await;
    let cluster = start_on(server);
    cluster.create("/api/v1/namespaces", &json!({"metadata": {"name": "tmp"}})).await;
    let (_, all) = cluster.server.get("/api/v1/namespaces").await;
    for namespace in names(&all) {
        for object in [ACCOUNT, CERTIFICATE] {
            let is_there = |object: &Value| object["metadata"]["namespace"] == namespace;
            cluster.eventually(&path(namespace, object), "there", is_there).await;
        }
    }
    // The Namespaces are synced one at a time, `tmp` last, so the earlier ones have been synced.
    assert_eq!(cluster.server.get(&path("shop", CERTIFICATE)).await.1, before, "what is right is left alone");
    let (_, new) = cluster.server.get(&path("tmp", CERTIFICATE)).await;
    assert_eq!(new["data"], before["data"]);
    cluster.stop().await;
}

#[tokio::test]
async fn what_is_deleted_or_changed_comes_back() {
    let cluster = start_on(serve(quiet()).await);
    for object in [ACCOUNT, CERTIFICATE] {
        let path = path("default", object);
        let first = cluster.eventually(&path, "there", |object| object["metadata"]["uid"].is_string()).await;
        assert_eq!(cluster.server.delete(&path).await.0, 200);
        let again = |object: &Value| {
            let uid = &object["metadata"]["uid"];
            uid.is_string() && *uid != first["metadata"]["uid"]
        };
        cluster.eventually(&path, "there again", again).await;
    }
    let path = path("default", CERTIFICATE);
    let (_, right) = cluster.server.get(&path).await;
    cluster.patch(&path, &json!({"data": {"ca.crt": "other", "more": "x"}})).await;
    cluster.eventually(&path, "right again", |map| map["data"] == right["data"]).await;
    cluster.stop().await;
}

#[tokio::test]
async fn a_namespace_that_goes_gets_nothing_more() {
    let cluster = start_on(serve(quiet()).await);
    cluster.create("/api/v1/namespaces", &json!({"metadata": {"name": "tmp"}})).await;
    let held = json!({"metadata": {"name": "held", "finalizers": ["example.org/hold"]}});
    cluster.create(&path("tmp", "secrets"), &held).await;
    let tmp = "/api/v1/namespaces/tmp";
    for object in [ACCOUNT, CERTIFICATE] {
        cluster.eventually(&path("tmp", object), "there", |object| object["metadata"]["uid"].is_string()).await;
    }
    cluster.server.delete(tmp).await;
    for object in [ACCOUNT, CERTIFICATE] {
        cluster.eventually(&path("tmp", object), "gone", |object| object["code"] == 404).await;
    }
    // A later Namespace is synced after the earlier ones, which shows that their syncs are over.
    cluster.create("/api/v1/namespaces", &json!({"metadata": {"name": "later"}})).await;
    for object in [ACCOUNT, CERTIFICATE] {
        cluster.eventually(&path("later", object), "there", |object| object["metadata"]["uid"].is_string()).await;
        assert_eq!(cluster.server.get(&path("tmp", object)).await.0, 404, "{object}");
    }
    cluster.patch(&path("tmp", "secrets/held"), &json!({"metadata": {"finalizers": null}})).await;
    cluster.patch(tmp, &json!({"metadata": {"annotations": {"a": "b"}}})).await;
    cluster.eventually(tmp, "gone", |namespace| namespace["code"] == 404).await;
    cluster.stop().await;
}
