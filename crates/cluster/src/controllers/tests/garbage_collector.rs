//! The garbage collector: which objects are deleted with their owner, which before it, and which stay.

use super::*;
use crate::controllers::garbage_collector::GarbageCollector;

const MAPS: &str = "/api/v1/namespaces/default/configmaps";

async fn start() -> Cluster {
    Cluster::start(|manager| manager.add::<GarbageCollector>()).await
}

impl Server {
    /// Creates a ConfigMap with these owners.
    async fn owned(&self, name: &str, owners: &[&Value]) -> Value {
        let owners: Vec<Value> = owners
            .iter()
            .map(|owner| {
                json!({"apiVersion": "v1", "kind": "ConfigMap", "name": owner["metadata"]["name"],
                    "uid": owner["metadata"]["uid"], "blockOwnerDeletion": true})
            })
            .collect();
        let body = json!({"metadata": {"name": name, "ownerReferences": owners}});
        let (status, object) = self.post(MAPS, &body).await;
        assert_eq!(status, 201, "{object}");
        object
    }

    /// Waits until the ConfigMaps of `default` have these names.
    async fn maps_become(&self, expected: &[&str]) {
        let are = |list: &Value| {
            let names = items(list).iter().filter_map(|map| map["metadata"]["name"].as_str());
            names.filter(|name| *name != "kube-root-ca.crt").collect::<Vec<_>>() == expected
        };
        eventually(self, MAPS, &format!("{expected:?}"), are).await;
    }
}

#[tokio::test]
async fn what_is_owned_follows() {
    let cluster = start().await;
    let server = &cluster.server;
    let root = server.owned("root", &[]).await;
    let other = server.owned("other", &[]).await;
    let child = server.owned("child", &[&root]).await;
    server.owned("grandchild", &[&child]).await;
    server.owned("shared", &[&root, &other]).await;
    server.delete(&format!("{MAPS}/root")).await;
    server.maps_become(&["other", "shared"]).await;
    let (_, shared) = server.get(&format!("{MAPS}/shared")).await;
    assert_eq!(shared["metadata"]["ownerReferences"].as_array().unwrap().len(), 1);
    // A dependent that is created after the deletion of its owner is deleted.
    server.owned("late", &[&root]).await;
    server.maps_become(&["other", "shared"]).await;
    // A dependent stays if no resource serves the kind of its owner.
    let stranger = json!({"apiVersion": "example.org/v1", "kind": "Nothing", "name": "x", "uid": "x"});
    let body = json!({"metadata": {"name": "strange", "ownerReferences": [stranger]}});
    assert_eq!(server.post(MAPS, &body).await.0, 201);
    server.owned("late", &[&root]).await;
    server.maps_become(&["other", "shared", "strange"]).await;
}

#[tokio::test]
async fn foreground_waits_for_what_is_owned_and_orphans_stay() {
    let cluster = start().await;
    let server = &cluster.server;
    let root = server.owned("root", &[]).await;
    let child = server.owned("child", &[&root]).await;
    let held = json!({"metadata": {"finalizers": ["example.org/hold"]}});
    server.patch(&format!("{MAPS}/child"), &held).await;
    let (_, waiting) = server.delete_with(&format!("{MAPS}/root"), json!({"propagationPolicy": "Foreground"})).await;
    assert_eq!(waiting["metadata"]["finalizers"], json!(["foregroundDeletion"]));
    // The child is being deleted, and keeps both objects until its finalizer is removed.
    let is_deleted = |child: &Value| child["metadata"]["deletionTimestamp"].is_string();
    cluster.eventually(&format!("{MAPS}/child"), "deleted", is_deleted).await;
    assert_eq!(server.get(&format!("{MAPS}/root")).await.0, 200);
    server.patch(&format!("{MAPS}/child"), &json!({"metadata": {"finalizers": null}})).await;
    server.maps_become(&[]).await;

    let root = server.owned("root", &[]).await;
    assert_ne!(root["metadata"]["uid"], child["metadata"]["uid"]);
    server.owned("child", &[&root]).await;
    server.delete_with(&format!("{MAPS}/root?propagationPolicy=Orphan"), Value::Null).await;
    server.maps_become(&["child"]).await;
    assert!(
        server.get(&format!("{MAPS}/child")).await.1["metadata"]
            .get("ownerReferences")
            .is_none_or(|all| *all == json!([]))
    );
}

/// The definition of Widgets, in two versions.
fn definition() -> Value {
    json!({"metadata": {"name": "widgets.example.org"}, "spec": {"group": "example.org", "scope": "Namespaced",
        "names": {"plural": "widgets", "kind": "Widget"}, "versions": [
            {"name": "v2", "served": true, "storage": true}, {"name": "v1", "served": true, "storage": false}]}})
}

#[tokio::test]
async fn custom_resources_own_and_are_owned() {
    let cluster = start().await;
    let server = &cluster.server;
    cluster.create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", &definition()).await;
    let widget = |name: &str, owners: Value| json!({"metadata": {"name": name, "ownerReferences": owners}});
    const WIDGETS: &str = "/apis/example.org/v2/namespaces/default/widgets";
    let root = cluster.create(WIDGETS, &widget("root", json!([]))).await;
    // An owner reference may use any version.
    let owner = |version: &str| {
        json!([{"apiVersion": format!("example.org/{version}"), "kind": "Widget", "name": "root",
            "uid": root["metadata"]["uid"]}])
    };
    cluster.create(WIDGETS, &widget("child", owner("v1"))).await;
    cluster.create(MAPS, &widget("map", owner("v2"))).await;
    server.delete(&format!("{WIDGETS}/root")).await;
    server.maps_become(&[]).await;
    cluster.eventually(WIDGETS, "no Widgets", |list| items(list).is_empty()).await;
    cluster.stop().await;
}

#[tokio::test]
async fn what_a_definition_takes_with_it_takes_what_it_owned() {
    let cluster = start().await;
    let definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    cluster.create(definitions, &definition()).await;
    let server = &cluster.server;
    for name in ["first", "second"] {
        let path = "/apis/example.org/v2/namespaces/default/widgets";
        let root = cluster.create(path, &json!({"metadata": {"name": name}})).await;
        let owner = json!({"apiVersion": "example.org/v2", "kind": "Widget", "name": name,
            "uid": root["metadata"]["uid"]});
        cluster.create(MAPS, &json!({"metadata": {"name": name, "ownerReferences": [owner]}})).await;
    }
    // The deletion of the first Widget's ConfigMap shows that the collector knows Widgets.
    server.delete("/apis/example.org/v2/namespaces/default/widgets/first").await;
    server.maps_become(&["second"]).await;
    server.delete(&format!("{definitions}/widgets.example.org")).await;
    server.maps_become(&[]).await;
    cluster.stop().await;
}

#[tokio::test]
async fn hundreds_of_dependents_go_with_one_owner() {
    let cluster = start().await;
    let server = &cluster.server;
    let root = server.owned("root", &[]).await;
    let owner = json!([{"apiVersion": "v1", "kind": "ConfigMap", "name": "root", "uid": root["metadata"]["uid"]}]);
    for number in 0..300 {
        let map = json!({"metadata": {"name": format!("map-{number}"), "ownerReferences": owner}});
        cluster.create(MAPS, &map).await;
    }
    server.delete(&format!("{MAPS}/root")).await;
    server.maps_become(&[]).await;
    cluster.stop().await;
}

#[tokio::test]
async fn an_owner_in_another_namespace_is_none_and_a_namespaced_owner_of_a_node_is_not_reported() {
    let cluster = start().await;
    let server = &cluster.server;
    let root = server.owned("root", &[]).await;
    let owner = json!([{"apiVersion": "v1", "kind": "ConfigMap", "name": "root", "uid": root["metadata"]["uid"]}]);
    cluster.create("/api/v1/namespaces", &json!({"metadata": {"name": "other", "ownerReferences": owner}})).await;
    let far = "/api/v1/namespaces/other/configmaps";
    cluster.create(far, &json!({"metadata": {"name": "far", "ownerReferences": owner}})).await;
    cluster.eventually(far, "nothing", |list| items(list).is_empty()).await;
    assert_eq!(server.get("/api/v1/namespaces/other").await.0, 200);
    let warned = |list: &Value| items(list).iter().any(|event| event["reason"] == "OwnerRefInvalidNamespace");
    cluster.eventually("/api/v1/namespaces/other/events", "a warning", warned).await;
    cluster.stop().await;
}
