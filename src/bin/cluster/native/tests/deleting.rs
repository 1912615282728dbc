//! Deletions: how long they take, what holds them, and what goes with them.

use super::socket::{Frame, watch};
use super::*;

const MAPS: &str = "/api/v1/namespaces/default/configmaps";

impl Server {
    async fn delete_with(&self, path: &str, options: Value) -> (u16, Value) {
        self.send(self.client.delete(self.url(path)).body(options.to_string())).await
    }

    /// Creates a ConfigMap that is owned by others.
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

    /// Waits until the ConfigMaps of `default` are these.
    async fn maps_become(&self, expected: &[&str]) {
        let mut newest = self.app.storage.newest();
        within(async {
            loop {
                let (_, list) = self.get(MAPS).await;
                let left: Vec<&str> = names(&list).into_iter().filter(|name| *name != "kube-root-ca.crt").collect();
                if left == expected {
                    return;
                }
                newest.changed().await.unwrap();
            }
        })
        .await;
    }
}

#[tokio::test]
async fn a_running_pod_terminates_first() {
    let server = serve(quiet()).await;
    let (_, list) = server.get("/api/v1/pods").await;
    let pod = &list["items"][0]["metadata"];
    let text = |field: &str| pod[field].as_str().unwrap();
    let path = format!("/api/v1/namespaces/{}/pods/{}", text("namespace"), text("name"));
    let mut socket = watch(&server, &format!("/api/v1/pods?watch=1&resourceVersion={}", revision(&list))).await;
    let (status, leaving) = server.delete(&path).await;
    assert_eq!((status, &leaving["kind"]), (200, &json!("Pod")));
    assert_eq!(leaving["metadata"]["deletionGracePeriodSeconds"], 30);
    assert!(leaving["metadata"]["deletionTimestamp"].is_string());
    assert_eq!(socket.summary().await.0, "MODIFIED");
    assert_eq!(socket.summary().await, ("DELETED".to_owned(), text("name").to_owned(), revision(&list) + 2));
    assert_eq!(server.delete(&path).await.0, 404);
    // Without a node, nothing stops it; and so it is with those that are told to go at once.
    let (_, unplaced) = server.post("/api/v1/namespaces/default/pods", &json!({"metadata": {"name": "x"}})).await;
    assert_eq!(unplaced["status"]["phase"], "Pending");
    assert_eq!(server.delete("/api/v1/namespaces/default/pods/x").await.1["status"], "Success");
    let other = &list["items"][1]["metadata"];
    let path =
        format!("/api/v1/namespaces/{}/pods/{}", other["namespace"].as_str().unwrap(), other["name"].as_str().unwrap());
    assert_eq!(server.delete_with(&path, json!({"gracePeriodSeconds": 0})).await.1["status"], "Success");
}

#[tokio::test]
async fn preconditions_and_dry_runs() {
    let server = serve(quiet()).await;
    server.config_map("one", "web").await;
    let path = format!("{MAPS}/one");
    let before = server.app.storage.revision();
    for (options, code) in [
        (json!({"preconditions": {"uid": "other"}}), 409),
        (json!({"preconditions": {"resourceVersion": "1"}}), 409),
        (json!({"propagationPolicy": "Sideways"}), 400),
        (json!({"dryRun": ["Some"]}), 400),
        (json!({"dryRun": ["All"]}), 200),
        (json!([]), 400),
    ] {
        assert_eq!(server.delete_with(&path, options.clone()).await.0, code, "{options}");
    }
    assert_eq!(server.delete(&format!("{MAPS}?dryRun=All")).await.0, 200);
    assert_eq!((server.app.storage.revision(), server.get(&path).await.0), (before, 200));
}

#[tokio::test]
async fn what_is_owned_follows() {
    let server = serve(quiet()).await;
    let root = server.owned("root", &[]).await;
    let other = server.owned("other", &[]).await;
    let child = server.owned("child", &[&root]).await;
    server.owned("grandchild", &[&child]).await;
    server.owned("shared", &[&root, &other]).await;
    server.delete(&format!("{MAPS}/root")).await;
    server.maps_become(&["other", "shared"]).await;
    let (_, shared) = server.get(&format!("{MAPS}/shared")).await;
    assert_eq!(shared["metadata"]["ownerReferences"].as_array().unwrap().len(), 1);
    // Whoever comes after its owner has gone does not stay.
    server.owned("late", &[&root]).await;
    server.maps_become(&["other", "shared"]).await;
    // Of an owner whose kind nobody serves, nobody can tell.
    let stranger = json!({"apiVersion": "example.org/v1", "kind": "Nothing", "name": "x", "uid": "x"});
    let body = json!({"metadata": {"name": "strange", "ownerReferences": [stranger]}});
    assert_eq!(server.post(MAPS, &body).await.0, 201);
    server.owned("late", &[&root]).await;
    server.maps_become(&["other", "shared", "strange"]).await;
}

#[tokio::test]
async fn foreground_waits_for_what_is_owned_and_orphans_stay() {
    let server = serve(quiet()).await;
    let root = server.owned("root", &[]).await;
    let child = server.owned("child", &[&root]).await;
    let held = json!({"metadata": {"finalizers": ["example.org/hold"]}});
    server.patch(&format!("{MAPS}/child"), &held).await;
    let (_, waiting) = server.delete_with(&format!("{MAPS}/root"), json!({"propagationPolicy": "Foreground"})).await;
    assert_eq!(waiting["metadata"]["finalizers"], json!(["foregroundDeletion"]));
    // The child is told, and holds both until it is let go.
    let mut newest = server.app.storage.newest();
    let told = || server.app.storage.get(&super::super::builtin::CONFIG_MAPS, "default/child").unwrap();
    within(newest.wait_for(|_| told().metadata().contains("deletionTimestamp"))).await.unwrap();
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

#[tokio::test]
async fn a_namespace_takes_its_content_with_it() {
    let server = serve(quiet()).await;
    let (_, created) = server.post("/api/v1/namespaces", &json!({"metadata": {"name": "tmp"}})).await;
    assert_eq!(
        (&created["status"]["phase"], &created["spec"]["finalizers"]),
        (&json!("Active"), &json!(["kubernetes"]))
    );
    let map = json!({"metadata": {"name": "one", "finalizers": ["example.org/hold"]}});
    server.post("/api/v1/namespaces/tmp/configmaps", &map).await;
    assert_eq!(server.delete("/api/v1/namespaces/default").await.0, 403);
    let (_, leaving) = server.delete("/api/v1/namespaces/tmp").await;
    assert_eq!(leaving["status"]["phase"], "Terminating");
    let (status, refused) = server.post("/api/v1/namespaces/tmp/secrets", &json!({"metadata": {"name": "x"}})).await;
    assert_eq!((status, &refused["reason"]), (403, &json!("Forbidden")));
    let mut socket = watch(&server, "/api/v1/namespaces?watch=1&fieldSelector=metadata.name%3Dtmp").await;
    assert_eq!(socket.summary().await.0, "ADDED");
    server.patch("/api/v1/namespaces/tmp/configmaps/one", &json!({"metadata": {"finalizers": []}})).await;
    assert_eq!(socket.summary().await.0, "DELETED");
    assert_eq!(names(&server.get("/api/v1/configmaps?fieldSelector=metadata.namespace%3Dtmp").await.1), [""; 0]);
}

#[tokio::test]
async fn a_collection() {
    let server = serve(quiet()).await;
    for (name, app) in [("one", "web"), ("two", "web"), ("three", "db")] {
        server.config_map(name, app).await;
    }
    let (status, gone) = server.delete(&format!("{MAPS}?labelSelector=app%3Dweb")).await;
    assert_eq!((status, names(&gone)), (200, vec!["one", "two"]));
    server.maps_become(&["three"]).await;
}

#[tokio::test]
async fn a_definition_goes_with_its_objects_and_ends_its_watches() {
    let server = serve(quiet()).await;
    let definition = json!({"metadata": {"name": "widgets.example.org"}, "spec": {"group": "example.org",
        "scope": "Namespaced", "names": {"plural": "widgets", "kind": "Widget"},
        "versions": [{"name": "v1", "served": true, "storage": true}, {"name": "v2", "served": true, "storage": false}]}});
    const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    let one = "/apis/example.org/v1/namespaces/default/widgets";
    let gone = server.get("/apis/example.org/v1/widgets").await;
    assert_eq!(gone, (404, Value::String("404 page not found\n".to_owned())));
    let (status, created) = server.post(DEFINITIONS, &definition).await;
    assert_eq!((status, &created["status"]["conditions"][1]["type"]), (201, &json!("Established")));
    let widget = json!({"apiVersion": "example.org/v1", "kind": "Widget", "metadata": {"name": "one"}, "size": 1});
    assert_eq!(server.post(one, &widget).await.0, 201);
    // Every version shows the same object under its own name.
    let (_, other) = server.get("/apis/example.org/v2/widgets").await;
    let item = &other["items"][0];
    assert_eq!(
        (&item["apiVersion"], &item["kind"], &item["size"]),
        (&json!("example.org/v2"), &json!("Widget"), &json!(1))
    );
    let (_, groups) = server.get("/apis/example.org").await;
    assert_eq!(groups["versions"].as_array().unwrap().len(), 2);

    let mut socket = watch(&server, "/apis/example.org/v1/widgets?watch=1").await;
    assert_eq!(socket.summary().await.0, "ADDED");
    assert_eq!(server.delete(&format!("{DEFINITIONS}/widgets.example.org")).await.0, 200);
    assert_eq!(socket.summary().await.0, "DELETED");
    assert_eq!(socket.next().await, Frame::Close(1000, String::new()));
    assert_eq!(server.get("/apis/example.org/v1/widgets").await, gone);
    assert_eq!(server.get(&format!("{DEFINITIONS}/widgets.example.org")).await.0, 404);
}

#[tokio::test]
async fn a_definition_that_comes_back_at_once_is_another() {
    let server = serve(quiet()).await;
    const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    let definition = json!({"kind": "CustomResourceDefinition", "apiVersion": "apiextensions.k8s.io/v1",
        "metadata": {"name": "widgets.example.org"}, "spec": {"group": "example.org", "scope": "Cluster",
            "names": {"plural": "widgets", "kind": "Widget"},
            "versions": [{"name": "v1", "served": true, "storage": true}]}});
    let mut socket = watch(&server, &format!("{DEFINITIONS}?watch=1")).await;
    for _ in 0..20 {
        assert_eq!(server.post(DEFINITIONS, &definition).await.0, 201);
        assert_eq!(socket.summary().await.0, "ADDED");
        let widget = json!({"metadata": {"name": "one"}});
        assert_eq!(server.post("/apis/example.org/v1/widgets", &widget).await.0, 201);
        assert_eq!(server.delete("/apis/example.org/v1/widgets/one").await.0, 200);
        assert_eq!(server.delete(&format!("{DEFINITIONS}/widgets.example.org")).await.0, 200);
        assert_eq!(socket.summary().await.0, "MODIFIED");
        assert_eq!(socket.summary().await.0, "DELETED");
    }
    assert_eq!(server.post("/_control/put", &definition).await.0, 200);
    assert_eq!(names(&server.get("/apis/example.org/v1/widgets").await.1), [""; 0]);
}
