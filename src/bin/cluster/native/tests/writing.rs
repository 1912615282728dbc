//! Writes: what they answer, what they refuse, and that a refusal changes nothing.

use super::*;

const PATH: &str = "/api/v1/namespaces/default/configmaps";

#[tokio::test]
async fn a_life() {
    let server = serve(quiet()).await;
    let first = server.config_map("one", "web").await;
    let path = format!("{PATH}/one");
    let (_, patched) = server.patch(&path, &json!({"data": {"a": null, "c": "d"}, "metadata": {"uid": null}})).await;
    assert_eq!((&patched["data"], revision(&patched)), (&json!({"c": "d"}), first + 1));
    assert!(patched["metadata"]["uid"].is_string());
    let (_, same) = server.patch(&path, &json!({"data": {"c": "d"}})).await;
    assert_eq!(revision(&same), first + 1, "a patch that changes nothing writes nothing");

    let put = |body: Value| server.send(server.client.put(server.url(&path)).body(body.to_string()));
    let (status, stale) = put(json!({"metadata": {"name": "one", "resourceVersion": first.to_string()}})).await;
    assert_eq!((status, &stale["reason"]), (409, &json!("Conflict")));
    let (status, replaced) = put(json!({"metadata": {"name": "one"}, "data": {"x": "y"}})).await;
    assert_eq!((status, &replaced["data"]), (200, &json!({"x": "y"})));
    assert_eq!(replaced["metadata"]["uid"], patched["metadata"]["uid"]);
    assert!(replaced["metadata"].get("labels").is_none());

    let (status, deleted) = server.delete(&path).await;
    assert_eq!((status, &deleted["status"]), (200, &json!("Success")));
    let (status, missing) = server.get(&path).await;
    assert_eq!((status, &missing["message"]), (404, &json!("configmaps \"one\" not found")));
    assert_eq!(server.app.storage.revision(), first + 3);
}

#[tokio::test]
async fn status_and_generation() {
    let server = serve(quiet()).await;
    let (_, list) = server.get("/apis/apps/v1/deployments").await;
    let metadata = &list["items"][0]["metadata"];
    let text = |field: &str| metadata[field].as_str().unwrap();
    let path = format!("/apis/apps/v1/namespaces/{}/deployments/{}", text("namespace"), text("name"));
    let (_, scaled) = server.patch(&path, &json!({"spec": {"replicas": 42}})).await;
    assert_eq!((&scaled["spec"]["replicas"], &scaled["metadata"]["generation"]), (&json!(42), &json!(2)));
    let (_, status) = server.patch(&format!("{path}/status"), &json!({"status": {"replicas": 41}})).await;
    assert_eq!((&status["status"]["replicas"], &status["metadata"]["generation"]), (&json!(41), &json!(2)));
}

#[tokio::test]
async fn refusals_change_nothing() {
    let server = serve(quiet()).await;
    server.config_map("one", "web").await;
    let before = server.app.storage.revision();
    let nowhere = "/api/v1/namespaces/nowhere/configmaps";
    for (path, body, status, reason) in [
        (PATH, json!({"metadata": {"name": "one"}}), 409, "AlreadyExists"),
        (PATH, json!({"metadata": {"name": "Not A Name"}}), 422, "Invalid"),
        (PATH, json!({"metadata": {}}), 422, "Invalid"),
        (PATH, json!({"metadata": {"name": 7}}), 400, "BadRequest"),
        (PATH, json!({"metadata": {"name": "x", "labels": {"a": 1}}}), 400, "BadRequest"),
        (PATH, json!({"metadata": {"name": "x", "namespace": "shop"}}), 400, "BadRequest"),
        (PATH, json!({"kind": "Pod", "metadata": {"name": "x"}}), 400, "BadRequest"),
        (PATH, json!([]), 400, "BadRequest"),
        (nowhere, json!({"metadata": {"name": "x"}}), 404, "NotFound"),
    ] {
        let (code, answer) = server.post(path, &body).await;
        assert_eq!((code, &answer["reason"]), (status, &json!(reason)), "{body}");
    }
    for (name, patch, status) in [
        ("one", json!({"metadata": null}), 400),
        ("one", json!({"metadata": {"name": "two"}}), 400),
        ("one", json!({"metadata": {"labels": "x"}}), 400),
        ("one", json!("text"), 400),
        ("two", json!({}), 404),
    ] {
        assert_eq!(server.patch(&format!("{PATH}/{name}"), &patch).await.0, status, "{patch}");
    }
    assert_eq!(server.delete("/api/v1/configmaps").await.0, 405);
    assert_eq!(server.delete("/api/v1/namespaces").await.0, 405);
    assert_eq!(server.app.storage.revision(), before);
}
