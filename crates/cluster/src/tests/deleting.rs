//! Deletions: grace periods, finalizers, and dependents.

use super::socket::{Frame, watch};
use super::*;
use crate::controllers::tests::eventually;
use crate::write::event_ttl::Limits;

const MAPS: &str = "/api/v1/namespaces/default/configmaps";

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
    // A kubelet would report that the containers have stopped; here the test does so.
    assert_eq!(server.delete_with(&path, json!({"gracePeriodSeconds": 0})).await.1["status"], "Success");
    assert_eq!(socket.summary().await, ("DELETED".to_owned(), text("name").to_owned(), revision(&list) + 2));
    assert_eq!(server.delete(&path).await.0, 404);
    // A Pod without a node is deleted at once, and so is one with a grace period of 0.
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
    let before = server.app.api.store.revision();
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
    assert_eq!((server.app.api.store.revision(), server.get(&path).await.0), (before, 200));
}

#[tokio::test]
async fn events_beyond_the_limit_are_sent_as_deleted() {
    let events = Limits { most: 1, ..Limits::default() };
    let server = serve(Args { events, ..quiet() }).await;
    let path = "/api/v1/namespaces/default/events";
    let (_, list) = server.get(path).await;
    let mut socket = watch(&server, &format!("{path}?watch=1&resourceVersion={}", revision(&list))).await;
    for name in ["one", "two"] {
        let about = json!({"kind": "Namespace", "name": "default", "namespace": "default"});
        let event = json!({"metadata": {"name": name}, "involvedObject": about});
        assert_eq!(server.post(path, &event).await.0, 201, "{name}");
    }
    for expected in [("ADDED", "one"), ("ADDED", "two"), ("DELETED", "one")] {
        let (event_type, name, _) = socket.summary().await;
        assert_eq!((&*event_type, &*name), expected);
    }
    assert_eq!(names(&server.get(path).await.1), ["two"]);
}

#[tokio::test]
async fn a_collection() {
    let server = serve(quiet()).await;
    for (name, app) in [("one", "web"), ("two", "web"), ("three", "db")] {
        server.config_map(name, app).await;
    }
    let (status, gone) = server.delete(&format!("{MAPS}?labelSelector=app%3Dweb")).await;
    assert_eq!((status, names(&gone)), (200, vec!["one", "two"]));
    assert_eq!(names(&server.get(MAPS).await.1), ["kube-root-ca.crt", "three"]);
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
    // Every version serves the same object, with its own apiVersion.
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
async fn a_definition_waits_for_objects_that_are_held_and_takes_no_new_ones() {
    let server = serve(quiet()).await;
    let definition = json!({"metadata": {"name": "widgets.example.org"}, "spec": {"group": "example.org",
        "scope": "Namespaced", "names": {"plural": "widgets", "kind": "Widget"},
        "versions": [{"name": "v1", "served": true, "storage": true}]}});
    const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    const WIDGETS: &str = "/apis/example.org/v1/namespaces/default/widgets";
    assert_eq!(server.post(DEFINITIONS, &definition).await.0, 201);
    let held = json!({"metadata": {"name": "held", "finalizers": ["example.org/hold"]}});
    assert_eq!(server.post(WIDGETS, &held).await.0, 201);
    let path = format!("{DEFINITIONS}/widgets.example.org");
    server.delete(&path).await;
    let (status, refused) = server.post(WIDGETS, &json!({"metadata": {"name": "late"}})).await;
    assert_eq!((status, &refused["reason"]), (405, &json!("MethodNotAllowed")), "{refused}");
    let is_being_deleted = |widget: &Value| widget["metadata"]["deletionTimestamp"].is_string();
    eventually(&server, &format!("{WIDGETS}/held"), "leaving", is_being_deleted).await;
    let (_, waiting) = server.get(&path).await;
    let condition = waiting["status"]["conditions"].as_array().unwrap().iter().find(|one| one["type"] == "Terminating");
    let condition = condition.map(|one| (&one["status"], &one["reason"]));
    assert_eq!(condition, Some((&json!("True"), &json!("InstanceDeletionInProgress"))));
    assert_eq!(server.patch(&format!("{WIDGETS}/held"), &json!({"metadata": {"finalizers": null}})).await.0, 200);
    eventually(&server, &path, "gone", |answer| answer["code"] == 404).await;
    assert_eq!(server.get(WIDGETS).await.0, 404);
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
        // The definition is marked, then reports that its objects are being deleted, and that they are deleted.
        for expected in ["MODIFIED", "MODIFIED", "MODIFIED", "DELETED"] {
            assert_eq!(socket.summary().await.0, expected);
        }
    }
    assert_eq!(server.post("/_control/put", &definition).await.0, 200);
    assert_eq!(names(&server.get("/apis/example.org/v1/widgets").await.1), [""; 0]);
}
