//! The forms of an answer: Tables and metadata, for lists, GETs and watches; and what kubectl asks for first.

use serde_json::Value;

use super::*;
use crate::printers::form::Form;

const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";
const LIST: &str = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io";
const ONE: &str = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io";
const PATH: &str = "/api/v1/namespaces/default/configmaps";

impl Server {
    async fn get_as(&self, path: &str, accept: &str) -> (u16, Value) {
        self.send(self.client.get(self.url(path)).header("accept", accept)).await
    }

    /// The events of a watch that ends after a second.
    async fn watch_as(&self, path: &str, accept: &str) -> Vec<Value> {
        let url = self.url(&format!("{path}&timeoutSeconds=1"));
        let response = within(self.client.get(url).header("accept", accept).send()).await.unwrap();
        let text = within(response.text()).await.unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

#[tokio::test]
async fn tables_hold_as_much_of_the_object_as_is_asked_for() {
    let server = serve(quiet()).await;
    for (query, kind, data) in [
        ("", json!("PartialObjectMetadata"), Value::Null),
        ("includeObject=Metadata", json!("PartialObjectMetadata"), Value::Null),
        ("includeObject=Object", Value::Null, json!("ca.crt")),
        ("includeObject=None", Value::Null, Value::Null),
    ] {
        let (_, table) = server.get_as(&format!("{PATH}?{query}"), TABLE).await;
        assert_eq!((&table["kind"], &table["apiVersion"]), (&json!("Table"), &json!("meta.k8s.io/v1")));
        let row = &table["rows"][0];
        assert_eq!(row["cells"][0], "kube-root-ca.crt", "{query}");
        let object = &row["object"];
        assert_eq!(object.is_null(), query == "includeObject=None");
        assert_eq!(
            (object["kind"] == kind || kind.is_null(), object["data"].is_object()),
            (true, !data.is_null()),
            "{query}"
        );
    }
    let (_, one) = server.get_as(&format!("{PATH}/kube-root-ca.crt"), TABLE).await;
    let titles = one["columnDefinitions"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap());
    assert_eq!(titles.collect::<Vec<_>>(), ["Name", "Data", "Age"]);
    assert_eq!(one["rows"].as_array().unwrap().len(), 1);
    let (_, page) = server.get_as("/api/v1/pods?limit=5", TABLE).await;
    assert_eq!((page["rows"].as_array().unwrap().len(), &page["metadata"]["remainingItemCount"]), (5, &json!(7)));
    assert_eq!(server.get_as(&format!("{PATH}?includeObject=Some"), TABLE).await.0, 400);
}

#[tokio::test]
async fn metadata_alone() {
    let server = serve(quiet()).await;
    let (_, list) = server.get_as(PATH, LIST).await;
    let item = &list["items"][0];
    assert_eq!((&list["kind"], &item["kind"]), (&json!("PartialObjectMetadataList"), &json!("PartialObjectMetadata")));
    assert_eq!((names(&list), item.get("data")), (vec!["kube-root-ca.crt"], None));
    let (_, one) = server.get_as(&format!("{PATH}/kube-root-ca.crt"), ONE).await;
    assert_eq!((&one["metadata"], one.get("data")), (&item["metadata"], None));
    for event in server.watch_as(&format!("{PATH}?watch=1&resourceVersion=0&allowWatchBookmarks=1"), ONE).await {
        assert_eq!((&event["object"]["kind"], event["object"].get("data")), (&json!("PartialObjectMetadata"), None));
    }
}

#[tokio::test]
async fn a_table_s_watch_names_its_columns_once() {
    let server = serve(quiet()).await;
    server.config_map("one", "web").await;
    let events = server.watch_as(&format!("{PATH}?watch=1&allowWatchBookmarks=1"), TABLE).await;
    let types: Vec<(&Value, bool)> =
        events.iter().map(|event| (&event["type"], event["object"]["columnDefinitions"].is_array())).collect();
    assert_eq!(types, [(&json!("ADDED"), true), (&json!("ADDED"), false), (&json!("BOOKMARK"), false)]);
    assert!(events.iter().all(|event| event["object"]["kind"] == "Table"));
    assert_eq!(events[1]["object"]["rows"][0]["cells"][0], "one");
}

#[tokio::test]
async fn what_kubectl_looks_for_first() {
    let server = serve(quiet()).await;
    let (_, paths) = server.get("/openapi/v3").await;
    let url = paths["paths"]["apis/apps/v1"]["serverRelativeURL"].as_str().unwrap().to_owned();
    let (_, document) = server.get(&url).await;
    let patch = &document["paths"]["/apis/apps/v1/namespaces/{namespace}/deployments/{name}"]["patch"];
    assert_eq!(patch["x-kubernetes-group-version-kind"]["kind"], "Deployment");
    assert!(patch["parameters"].as_array().unwrap().iter().any(|one| one["name"] == "fieldValidation"));
    for path in ["/openapi/v2", "/openapi/v3/apis/nothing/v1", "/apis/apps/v9"] {
        assert_eq!(server.get(path).await.0, 404, "{path}");
    }
    let (_, groups) = server.get("/apis").await;
    let named = |name: &str| groups["groups"].as_array().unwrap().iter().any(|group| group["name"] == name);
    assert!(named("apps") && named("discovery.k8s.io") && !named(""));
    let (_, legacy) = server.get("/apis/apps/v1").await;
    let scale = legacy["resources"].as_array().unwrap().iter().find(|one| one["name"] == "deployments/scale");
    assert_eq!(scale.unwrap()["kind"], "Scale");
}

#[test]
fn bookmarks_are_empty_objects_as_the_real_server_writes_them() {
    let registry = crate::resources::registry::Registry::default();
    let mut compared = std::collections::BTreeSet::new();
    for line in include_str!("../../../../tests/fixtures/rollout.jsonl").lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        let frame = line["frame"].as_str().unwrap_or_default();
        if !frame.starts_with(r#"{"type":"BOOKMARK""#) {
            continue;
        }
        let object = serde_json::from_str::<Value>(frame).unwrap()["object"].take();
        let kind = |field: &str| object[field].as_str().unwrap();
        let Some(resource) = registry.by_kind(kind("apiVersion"), kind("kind")) else { continue };
        let metadata = object["metadata"].to_string();
        let inner = metadata.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).unwrap();
        let ours: Value = serde_json::from_str(&Form::Whole.bookmark(&resource, inner)).unwrap();
        assert_eq!(ours, object);
        compared.insert(kind("kind").to_owned());
    }
    assert_eq!(compared.len(), 11, "{compared:?}");
}
