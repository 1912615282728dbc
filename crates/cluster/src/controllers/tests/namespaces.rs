//! Namespaces: how one is emptied, its conditions meanwhile, and when it is deleted.

use super::*;
use crate::controllers::namespace::Namespaces;

async fn start() -> Cluster {
    Cluster::start(|manager| manager.add::<Namespaces>()).await
}

const TMP: &str = "/api/v1/namespaces/tmp";

/// The reasons of the conditions of a Namespace that are True.
fn problems(namespace: &Value) -> Vec<&str> {
    let conditions = namespace["status"]["conditions"].as_array().into_iter().flatten();
    conditions.filter(|one| one["status"] == "True").filter_map(|one| one["reason"].as_str()).collect()
}

#[tokio::test]
async fn a_namespace_takes_its_content_with_it() {
    let cluster = start().await;
    let server = &cluster.server;
    let created = cluster.create("/api/v1/namespaces", &json!({"metadata": {"name": "tmp"}})).await;
    assert_eq!(created["status"]["phase"], "Active");
    assert_eq!(created["spec"]["finalizers"], json!(["kubernetes"]));
    assert_eq!(created["metadata"]["labels"]["kubernetes.io/metadata.name"], "tmp");
    let map = json!({"metadata": {"name": "one", "finalizers": ["example.org/hold"]}});
    cluster.create(&format!("{TMP}/configmaps"), &map).await;
    cluster.create(&format!("{TMP}/secrets"), &json!({"metadata": {"name": "two"}})).await;
    assert_eq!(server.delete("/api/v1/namespaces/default").await.0, 403);
    let (_, leaving) = server.delete(TMP).await;
    assert_eq!(leaving["status"]["phase"], "Terminating");
    assert_eq!(leaving["metadata"].get("deletionGracePeriodSeconds"), None);
    let (status, refused) = server.post(&format!("{TMP}/secrets"), &json!({"metadata": {"name": "x"}})).await;
    assert_eq!((status, &refused["reason"]), (403, &json!("Forbidden")));

    let namespace = cluster.eventually(TMP, "problems", |namespace| !problems(namespace).is_empty()).await;
    assert_eq!(problems(&namespace), ["SomeResourcesRemain", "SomeFinalizersRemain"]);
    let message = &namespace["status"]["conditions"][3]["message"];
    assert_eq!(message, "Some resources are remaining: configmaps. has 1 resource instances");
    assert!(items(&server.get(&format!("{TMP}/secrets")).await.1).is_empty());
    cluster.patch(&format!("{TMP}/configmaps/one"), &json!({"metadata": {"finalizers": []}})).await;
    // A change leads to a sync before the scheduled one.
    server.patch(TMP, &json!({"metadata": {"annotations": {"a": "b"}}})).await;
    cluster.eventually(TMP, "gone", |namespace| namespace["code"] == 404).await;
    let (_, left) = server.get("/api/v1/configmaps?fieldSelector=metadata.namespace%3Dtmp").await;
    assert!(items(&left).is_empty());
    cluster.stop().await;
}

#[tokio::test]
async fn pods_go_before_everything_else() {
    let cluster = start().await;
    cluster.create("/api/v1/namespaces", &json!({"metadata": {"name": "tmp"}})).await;
    let pod = json!({"metadata": {"name": "pod", "finalizers": ["example.org/hold"]},
        "spec": {"containers": [{"name": "main", "image": "x"}]}});
    cluster.create(&format!("{TMP}/pods"), &pod).await;
    cluster.create(&format!("{TMP}/configmaps"), &json!({"metadata": {"name": "one"}})).await;
    cluster.server.delete(TMP).await;
    let has_conditions = |namespace: &Value| namespace["status"]["conditions"].is_array();
    let namespace = cluster.eventually(TMP, "conditions", has_conditions).await;
    // While Pods are ending, the conditions report no problem.
    assert_eq!(problems(&namespace), [""; 0]);
    let types: Vec<&Value> =
        namespace["status"]["conditions"].as_array().unwrap().iter().map(|one| &one["type"]).collect();
    assert_eq!(
        types,
        [
            "NamespaceDeletionDiscoveryFailure",
            "NamespaceDeletionGroupVersionParsingFailure",
            "NamespaceDeletionContentFailure",
            "NamespaceContentRemaining",
            "NamespaceFinalizersRemaining"
        ]
    );
    assert_eq!(cluster.server.get(&format!("{TMP}/configmaps/one")).await.0, 200);
    cluster.patch(&format!("{TMP}/pods/pod"), &json!({"metadata": {"finalizers": []}})).await;
    cluster.server.patch(TMP, &json!({"metadata": {"annotations": {"a": "b"}}})).await;
    cluster.eventually(TMP, "gone", |namespace| namespace["code"] == 404).await;
    cluster.stop().await;
}

#[tokio::test]
async fn only_finalize_releases_a_namespace() {
    // This server has no controllers.
    let server = serve(quiet()).await;
    let held = json!({"metadata": {"name": "tmp", "finalizers": ["example.org/hold"]}});
    assert_eq!(server.post("/api/v1/namespaces", &held).await.0, 201);
    let finalize = format!("{TMP}/finalize");
    for (verb, status) in [("GET", 405), ("PATCH", 405), ("DELETE", 405)] {
        let answer = match verb {
            "GET" => server.get(&finalize).await,
            "PATCH" => server.patch(&finalize, &json!({})).await,
            _ => server.delete(&finalize).await,
        };
        assert_eq!(answer.0, status, "{verb}: {answer:?}");
    }
    server.delete(TMP).await;
    let (status, namespace) = server.patch(TMP, &json!({"spec": {"finalizers": []}})).await;
    assert_eq!((status, &namespace["spec"]["finalizers"]), (200, &json!(["kubernetes"])));
    let mut empty = namespace.clone();
    empty["spec"]["finalizers"] = json!([]);
    empty["metadata"]["labels"]["x"] = "y".into();
    let (status, namespace) = server.put(&finalize, &empty).await;
    assert_eq!((status, &namespace["spec"]["finalizers"]), (200, &json!([])), "{namespace}");
    assert_eq!(namespace["metadata"]["labels"].get("x"), None);
    assert_eq!(server.get(TMP).await.0, 200, "its own finalizer holds it");
    server.patch(TMP, &json!({"metadata": {"finalizers": null}})).await;
    assert_eq!(server.get(TMP).await.0, 404);
}
