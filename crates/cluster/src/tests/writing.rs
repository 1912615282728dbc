//! Writes: their answers, their refusals, and that a refused write changes nothing.

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
    assert_eq!(server.app.api.store.revision(), first + 3);
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
    let before = server.app.api.store.revision();
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
    let definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    let definition = json!({"metadata": {"name": "widgets.example.org"}, "spec": {"group": "example.org"}});
    assert_eq!(server.post(definitions, &definition).await.0, 422);
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
    assert_eq!(server.app.api.store.revision(), before);
}

#[tokio::test]
async fn bodies_that_are_no_objects_change_nothing() {
    let server = serve(quiet()).await;
    server.config_map("one", "web").await;
    let before = server.app.api.store.revision();
    let deep = |open: &str, close: &str, levels: usize| format!("{}1{}", open.repeat(levels), close.repeat(levels));
    let large = format!(r#"{{"metadata": {{"name": "x"}}, "data": {{"a": "{}"}}}}"#, "x".repeat(4 << 20));
    let deep_object = |levels| format!(r#"{{"metadata": {{"name": "x"}}, "data": {}}}"#, deep("{\"a\":", "}", levels));
    let bodies = [
        (String::new(), 400),
        ("{".to_owned(), 400),
        ("<html>".to_owned(), 400),
        ("null".to_owned(), 400),
        ("kind: ConfigMap".to_owned(), 400),
        ("k8s\0nonsense".to_owned(), 400),
        (deep("[", "]", 100_000), 400),
        (deep_object(100), 400),
        (large, 413),
    ];
    for (body, expected) in bodies {
        for (request, what) in [
            (server.client.post(server.url(PATH)), "POST"),
            (server.client.put(server.url(&format!("{PATH}/one"))), "PUT"),
            (server.client.patch(server.url(&format!("{PATH}/one"))), "PATCH"),
            (server.client.post(server.url("/_control/put")), "put"),
        ] {
            let (status, answer) = server.send(request.body(body.clone())).await;
            assert_eq!(
                (status, &answer["kind"]),
                (expected, &json!("Status")),
                "{what} {}",
                &body[..body.len().min(40)]
            );
        }
    }
    for (media_type, status) in [
        ("application/yaml", 415),
        ("application/cbor", 415),
        ("application/json; charset=utf-8", 400),
        ("application/json-patch+json", 415),
    ] {
        let request = server.client.post(server.url(PATH)).header("content-type", media_type).body("[]");
        assert_eq!(server.send(request).await.0, status, "{media_type}");
    }
    assert_eq!(server.app.api.store.revision(), before);
    // An object with the largest allowed depth can be written again and again.
    let body = deep_object(97);
    assert_eq!(server.send(server.client.post(server.url(PATH)).body(body)).await.0, 201);
    assert_eq!(server.patch(&format!("{PATH}/x"), &json!({"metadata": {"labels": {"a": "b"}}})).await.0, 200);
}

#[tokio::test]
async fn hostile_shapes_are_answered() {
    let server = serve(quiet()).await;
    let shapes =
        [json!(null), json!(1), json!("x"), json!([]), json!([1, "x", null, {}]), json!({}), json!({"a": null})];
    for (path, fields) in [
        ("/api/v1/namespaces/default/pods", &["spec", "status"][..]),
        ("/api/v1/namespaces/default/services", &["spec"]),
        ("/api/v1/namespaces/default/secrets", &["data", "stringData"]),
        ("/apis/apps/v1/namespaces/default/deployments", &["spec"]),
        ("/apis/batch/v1/namespaces/default/jobs", &["spec"]),
        ("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", &["spec", "status"]),
    ] {
        for (number, shape) in shapes.iter().enumerate() {
            for field in fields {
                for inner in ["", "containers", "template", "ports", "replicas", "selector", "names", "versions"] {
                    let value = if inner.is_empty() { shape.clone() } else { json!({ inner: shape }) };
                    let name = format!("x-{number}-{field}-{inner}x").to_lowercase();
                    let mut object = json!({"metadata": {"name": name, "managedFields": shape}, (*field): value});
                    if *field == "stringData" && inner.is_empty() {
                        object["data"] = shape.clone();
                    }
                    let (status, answer) = server.post(path, &object).await;
                    assert!([201, 400, 422].contains(&status), "{path} {object}: {status} {answer}");
                    if status == 201 {
                        let (status, answer) = server.patch(&format!("{path}/{name}"), &json!({"spec": shape})).await;
                        assert!([200, 400, 422].contains(&status), "{path} {object}: {status} {answer}");
                    }
                }
            }
        }
        let table =
            server.client.get(server.url(path)).header("accept", "application/json;as=Table;v=v1;g=meta.k8s.io");
        assert_eq!(server.send(table).await.0, 200, "{path}");
    }
    // Owners must have an identity, and finalizers must be strings.
    for metadata in [
        json!({"name": "x", "ownerReferences": [1]}),
        json!({"name": "x", "ownerReferences": {"uid": "x"}}),
        json!({"name": "x", "finalizers": "x"}),
        json!({"name": "x", "finalizers": [1]}),
    ] {
        assert_eq!(server.post(PATH, &json!({ "metadata": metadata })).await.0, 400, "{metadata}");
    }
}

const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/default/deployments";

/// Creates a Deployment `web` with two Pods.
async fn deployment(server: &Server) -> Value {
    let spec = json!({"replicas": 2, "selector": {"matchLabels": {"app": "web"}}, "template": {
        "metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "web", "image": "web"}]}}});
    let body = json!({"metadata": {"name": "web"}, "spec": spec, "status": {"replicas": 9}});
    let (status, created) = server.post(DEPLOYMENTS, &body).await;
    assert_eq!((status, &created["metadata"]["generation"], created.get("status")), (201, &json!(1), None));
    created
}

#[tokio::test]
async fn the_scale_is_a_part_of_its_own() {
    let server = serve(quiet()).await;
    deployment(&server).await;
    let path = format!("{DEPLOYMENTS}/web/scale");
    server.patch(&format!("{DEPLOYMENTS}/web/status"), &json!({"status": {"replicas": 1}})).await;
    let (_, scale) = server.get(&path).await;
    assert_eq!((&scale["kind"], &scale["spec"]["replicas"]), (&json!("Scale"), &json!(2)));
    assert_eq!(scale["status"], json!({"replicas": 1, "selector": "app=web"}));
    let put = |body: Value| server.send(server.client.put(server.url(&path)).body(body.to_string()));
    let (status, wider) = put(json!({"metadata": {"name": "web"}, "spec": {"replicas": 5}})).await;
    assert_eq!((status, &wider["spec"]["replicas"]), (200, &json!(5)));
    let stale = json!({"metadata": {"resourceVersion": "1"}, "spec": {"replicas": 5}});
    assert_eq!(put(stale).await.0, 409);
    for wrong in [json!(-1), json!("x"), json!(1.5), json!(1_u64 << 40)] {
        assert_eq!(server.patch(&path, &json!({"spec": {"replicas": wrong}})).await.0, 422, "{wrong}");
    }
    let (_, whole) = server.get(&format!("{DEPLOYMENTS}/web")).await;
    assert_eq!((&whole["spec"]["replicas"], &whole["metadata"]["generation"]), (&json!(5), &json!(2)));
    assert_eq!(server.get("/api/v1/namespaces/default/configmaps/kube-root-ca.crt/scale").await.0, 404);
}

#[tokio::test]
async fn the_status_and_the_rest_do_not_touch_each_other() {
    let server = serve(quiet()).await;
    deployment(&server).await;
    let path = format!("{DEPLOYMENTS}/web");
    let both = json!({"metadata": {"labels": {"a": "b"}}, "spec": {"replicas": 3}, "status": {"replicas": 1}});
    let (_, status) = server.patch(&format!("{path}/status"), &both).await;
    assert_eq!((&status["spec"]["replicas"], &status["status"]["replicas"]), (&json!(2), &json!(1)));
    assert!(status["metadata"].get("labels").is_none());
    let (_, whole) = server.patch(&path, &json!({"spec": {"replicas": 3}, "status": {"replicas": 7}})).await;
    assert_eq!((&whole["spec"]["replicas"], &whole["status"]["replicas"]), (&json!(3), &json!(1)));
    let managers = whole["metadata"]["managedFields"].as_array().unwrap();
    let of_status = managers.iter().find(|one| one["subresource"] == "status").unwrap();
    assert_eq!(of_status["fieldsV1"], json!({"f:status": {"f:replicas": {}}}));
    assert!(of_status["time"].is_string());
}

#[tokio::test]
async fn who_writes_is_noted() {
    let server = serve(quiet()).await;
    deployment(&server).await;
    let managers = async |request: reqwest::RequestBuilder| {
        let (status, object) = server.send(request).await;
        assert_eq!(status, 200, "{object}");
        let all = object["metadata"]["managedFields"].as_array().unwrap().clone();
        all.iter().map(|one| one["manager"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let patch = |query: &str, label: &str| {
        let body = json!({"metadata": {"labels": {label: "x"}, "managedFields": []}});
        server.client.patch(server.url(&format!("{DEPLOYMENTS}/web?{query}"))).body(body.to_string())
    };
    assert_eq!(managers(patch("fieldManager=me", "a")).await, ["unknown", "me"]);
    assert_eq!(managers(patch("", "b").header("user-agent", "tool/1.0 (x)")).await, ["unknown", "me", "tool"]);
    assert_eq!(managers(patch("", "b").header("user-agent", "other/1")).await, ["unknown", "me", "tool"]);
}

#[tokio::test]
async fn dry_runs_answer_and_write_nothing() {
    let server = serve(quiet()).await;
    deployment(&server).await;
    let before = server.app.api.store.revision();
    let path = format!("{DEPLOYMENTS}/web?dryRun=All");
    let (status, patched) = server.patch(&path, &json!({"spec": {"replicas": 7}})).await;
    assert_eq!((status, &patched["spec"]["replicas"]), (200, &json!(7)));
    let map = json!({"metadata": {"generateName": "one-"}});
    let (status, created) = server.post(&format!("{PATH}?dryRun=All"), &map).await;
    assert_eq!(status, 201);
    assert!(created["metadata"]["name"].as_str().unwrap().starts_with("one-"));
    assert_eq!(server.post(&format!("{DEPLOYMENTS}?dryRun=All"), &json!({"metadata": {"name": "web"}})).await.0, 409);
    assert_eq!(server.post(&format!("{PATH}?dryRun=Some"), &map).await.0, 400);
    assert_eq!(server.app.api.store.revision(), before);
}

#[tokio::test]
async fn what_does_not_change_is_held() {
    let server = serve(quiet()).await;
    deployment(&server).await;
    let path = format!("{DEPLOYMENTS}/web");
    let (status, refused) = server.patch(&path, &json!({"spec": {"selector": {"matchLabels": {"app": "x"}}}})).await;
    assert_eq!((status, &refused["details"]["causes"][0]["field"]), (422, &json!("spec.selector")));
    let own =
        json!({"metadata": {"creationTimestamp": "2000-01-01T00:00:00Z", "generation": 99, "deletionTimestamp": "x"}});
    let (before, (status, after)) = (server.get(&path).await.1, server.patch(&path, &own).await);
    assert_eq!((status, &after), (200, &before));
    for (version, code) in [("1".to_owned(), 409), (revision(&before).to_string(), 200)] {
        let patch = json!({"metadata": {"resourceVersion": version, "labels": {"a": "b"}}});
        assert_eq!(server.patch(&path, &patch).await.0, code);
    }
    // Many names are generated at the same moment, and all are distinct.
    for _ in 0..50 {
        assert_eq!(server.post(PATH, &json!({"metadata": {"generateName": "many-"}})).await.0, 201);
    }
}

#[tokio::test]
async fn a_webhook_that_does_not_answer_refuses_the_pods_that_it_is_asked_of() {
    let server = serve(quiet()).await;
    let path = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
    let webhook = |change: Value| {
        let mut webhook = json!({"name": "pods.example.com", "timeoutSeconds": 3,
            "clientConfig": {"service": {"namespace": "default", "name": "policies", "path": "/pods"}},
            "objectSelector": {"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["free"]}]},
            "rules": [{"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"]}]});
        change.as_object().into_iter().flatten().for_each(|(name, value)| webhook[name] = value.clone());
        json!({"metadata": {"name": "rules"}, "webhooks": [webhook]})
    };
    let create = async |name: &str, app: &str| {
        let pod = json!({"metadata": {"name": name, "labels": {"app": app}}, "spec": {"containers": [{"name": "c", "image": "x"}]}});
        server.post("/api/v1/namespaces/default/pods", &pod).await
    };
    let (status, created) = server.post(path, &webhook(json!({}))).await;
    assert_eq!((status, &created["metadata"]["generation"]), (201, &json!(1)));
    let (status, refused) = create("a", "web").await;
    let words = "Internal error occurred: failed calling webhook \"pods.example.com\": failed to call webhook: \
        Post \"https://policies.default.svc:443/pods?timeout=3s\": service \"policies\" not found";
    assert_eq!((status, &refused["message"], &refused["reason"]), (500, &json!(words), &json!("InternalError")));
    assert_eq!(create("b", "free").await.0, 201, "it is not asked of this one");
    let (status, _) = server.post("/api/v1/namespaces/default/configmaps", &json!({"metadata": {"name": "c"}})).await;
    assert_eq!(status, 201, "it is asked of Pods alone");
    for (name, change) in [
        ("c", json!({"failurePolicy": "Ignore"})),
        ("d", json!({"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "kube-system"}}})),
        (
            "e",
            json!({"rules": [{"operations": ["DELETE"], "apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*"]}]}),
        ),
    ] {
        let body = webhook(change).to_string();
        let (status, _) = server.send(server.client.put(server.url(&format!("{path}/rules"))).body(body)).await;
        assert_eq!((status, create(name, "web").await.0), (200, 201), "{name}");
    }
}
