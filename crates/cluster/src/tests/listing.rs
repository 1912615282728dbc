//! Lists: pages, selectors, versions, discovery, and the cluster that a seed gives.

use serde_json::Value;

use super::*;

#[tokio::test]
async fn pages_show_one_revision_and_then_expire() {
    let server = serve(quiet()).await;
    let (_, whole) = server.get("/api/v1/pods").await;
    assert_eq!(whole["items"].as_array().unwrap().len(), 12);
    assert!(whole["metadata"].get("continue").is_none());
    assert!(whole["items"][0].get("kind").is_none());

    let (_, page) = server.get("/api/v1/pods?limit=5").await;
    assert_eq!(page["metadata"]["remainingItemCount"], 7);
    // A deletion, a change and a creation between the pages do not show in the pages.
    let key = |index: usize| {
        let metadata = &whole["items"][index]["metadata"];
        let text = |field: &str| metadata[field].as_str().unwrap();
        format!("/api/v1/namespaces/{}/pods/{}", text("namespace"), text("name"))
    };
    assert_eq!(server.delete(&key(6)).await.0, 200);
    assert_eq!(server.patch(&key(7), &json!({"metadata": {"labels": {"new": "label"}}})).await.0, 200);
    let pod = json!({"metadata": {"name": "zzz"}, "spec": {}});
    assert_eq!(server.post("/api/v1/namespaces/shop/pods", &pod).await.0, 201);

    let mut items = page["items"].as_array().unwrap().clone();
    let mut token = page["metadata"]["continue"].as_str().unwrap().to_owned();
    loop {
        let (status, next) = server.get(&format!("/api/v1/pods?limit=5&continue={token}")).await;
        assert_eq!(status, 200, "{next}");
        assert_eq!(revision(&next), revision(&page));
        items.extend(next["items"].as_array().unwrap().iter().cloned());
        match next["metadata"]["continue"].as_str() {
            Some(next) => token = next.to_owned(),
            None => break,
        }
    }
    assert_eq!(Value::from(items), whole["items"]);

    server.control("compact").await;
    let (status, expired) = server.get(&format!("/api/v1/pods?limit=5&continue={token}")).await;
    assert_eq!((status, &expired["reason"]), (410, &json!("Expired")));
    let token = expired["metadata"]["continue"].as_str().unwrap();
    let (status, rest) = server.get(&format!("/api/v1/pods?continue={token}")).await;
    assert_eq!(status, 200);
    assert!(revision(&rest) > revision(&page), "an inconsistent token continues at the newest revision");
}

#[tokio::test]
async fn keys_are_in_the_order_of_etcd() {
    let server = serve(quiet()).await;
    for namespace in ["a", "a-b"] {
        server.post("/api/v1/namespaces", &json!({"metadata": {"name": namespace}})).await;
        let path = format!("/api/v1/namespaces/{namespace}/configmaps");
        assert_eq!(server.post(&path, &json!({"metadata": {"name": "of-".to_owned() + namespace}})).await.0, 201);
    }
    let (_, list) = server.get("/api/v1/configmaps").await;
    assert_eq!(names(&list)[..2], ["of-a-b", "of-a"]);
    assert_eq!(names(&server.get("/api/v1/namespaces/a/configmaps").await.1), ["of-a"]);
}

#[tokio::test]
async fn selectors() {
    let server = serve(quiet()).await;
    server.config_map("one", "web").await;
    server.config_map("two", "db").await;
    for (query, expected) in [
        ("labelSelector=app%3Dweb", vec!["one"]),
        ("labelSelector=app+in+(web,db)", vec!["one", "two"]),
        ("labelSelector=!app", vec!["kube-root-ca.crt"]),
        ("fieldSelector=metadata.name%3Dtwo", vec!["two"]),
    ] {
        let (_, list) = server.get(&format!("/api/v1/namespaces/default/configmaps?{query}")).await;
        assert_eq!(names(&list), expected, "{query}");
    }
    let (_, page) = server.get("/api/v1/configmaps?limit=1&labelSelector=app").await;
    assert!(page["metadata"].get("continue").is_some());
    assert!(page["metadata"].get("remainingItemCount").is_none());
}

#[tokio::test]
async fn versions_and_their_mistakes() {
    let server = serve(quiet()).await;
    // An etcd still has its first revision; the memory backend begins at a later one.
    server.control("compact").await;
    let then = server.config_map("one", "web").await;
    server.config_map("two", "web").await;
    let path = "/api/v1/namespaces/default/configmaps";
    let (_, exact) = server.get(&format!("{path}?resourceVersion={then}&resourceVersionMatch=Exact")).await;
    assert_eq!((names(&exact), revision(&exact)), (vec!["kube-root-ca.crt", "one"], then));
    let (_, newer) = server.get(&format!("{path}?resourceVersion={then}")).await;
    assert_eq!(names(&newer).len(), 3);
    let (_, cached) = server.get(&format!("{path}?resourceVersion=0&limit=1")).await;
    assert_eq!(names(&cached).len(), 3);
    for (query, status, message) in [
        (
            "resourceVersionMatch=Exact",
            422,
            "ListOptions.meta.k8s.io \"\" is invalid: resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided",
        ),
        (
            "resourceVersion=0&resourceVersionMatch=Exact",
            422,
            "ListOptions.meta.k8s.io \"\" is invalid: resourceVersionMatch: Forbidden: resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"",
        ),
        ("continue=%3F", 400, "continue key is not valid: unrecognized or corrupt token"),
        ("fieldSelector=spec.nosuch%3Dx", 400, "field label not supported: spec.nosuch"),
        ("labelSelector=a+in+b", 400, "unable to parse requirement: found 'b' expected: '('"),
        ("resourceVersion=1&resourceVersionMatch=Exact", 410, "The resourceVersion for the provided list is too old."),
    ] {
        let (code, answer) = server.get(&format!("{path}?{query}")).await;
        assert_eq!((code, answer["message"].as_str().unwrap()), (status, message), "{query}");
    }
    let (code, answer) = server.get(&format!("{path}?resourceVersion=99999999")).await;
    assert_eq!((code, &answer["details"]["causes"][0]["reason"]), (504, &json!("ResourceVersionTooLarge")));
}

#[tokio::test]
async fn the_same_seed_makes_the_same_cluster() {
    let identities = |list: &Value| {
        let items = list["items"].as_array().unwrap().iter();
        items.map(|item| (item["metadata"]["name"].clone(), item["metadata"]["uid"].clone())).collect::<Vec<_>>()
    };
    let (one, same) = (serve(quiet()).await, serve(quiet()).await);
    let other = serve(Args { seed: 2, ..quiet() }).await;
    for path in ["/api/v1/pods", "/api/v1/nodes", "/apis/apps/v1/replicasets", "/api/v1/services"] {
        let (_, list) = one.get(path).await;
        assert_eq!(identities(&list), identities(&same.get(path).await.1), "{path}");
        assert_ne!(identities(&list), identities(&other.get(path).await.1), "{path}");
    }
}

#[tokio::test]
async fn sizes_of_clusters() {
    for pods in [0, 1, 3, 40, 1000] {
        let server = serve(Args { pods, ..quiet() }).await;
        let (_, list) = server.get("/api/v1/pods").await;
        assert_eq!(list["items"].as_array().unwrap().len(), pods);
    }
}

#[tokio::test]
async fn a_pod_looks_like_one() {
    let server = serve(quiet()).await;
    let (_, list) = server.get("/api/v1/pods").await;
    let pod = &list["items"][0];
    assert_eq!(pod["metadata"]["ownerReferences"][0]["kind"], "ReplicaSet");
    let path = format!("/api/v1/nodes/{}", pod["spec"]["nodeName"].as_str().unwrap());
    let (_, node) = server.get(&path).await;
    assert_eq!((&node["kind"], &node["status"]["addresses"][0]["address"]), (&json!("Node"), &pod["status"]["hostIP"]));
    let size = pod.to_string().len();
    assert!((2500..5000).contains(&size), "{size} bytes");
}

#[tokio::test]
async fn discovery() {
    let server = serve(quiet()).await;
    let (_, legacy) = server.get("/apis/apps/v1").await;
    assert_eq!(legacy["resources"][0]["name"], "controllerrevisions");
    let accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";
    let response = within(server.client.get(server.url("/apis")).header("accept", accept).send()).await.unwrap();
    let content_type = response.headers()["content-type"].to_str().unwrap().to_owned();
    assert_eq!(content_type, "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList");
    let (status, answer) =
        server.send(server.client.get(server.url("/api/v1/pods")).header("accept", "text/html")).await;
    assert_eq!((status, &answer["reason"]), (406, &json!("NotAcceptable")));
    assert_eq!(server.get("/api/v1/nosuch").await.1["details"], json!({}));
}

#[tokio::test]
async fn other_hosts_and_other_origins_are_refused() {
    let server = serve(quiet()).await;
    let with = |name: &str, value: &str| server.client.get(server.url("/api/v1/pods")).header(name, value);
    for (name, value, expected) in [
        ("host", "localhost:1", 200),
        ("host", "[::1]", 200),
        ("host", "evil.example", 403),
        ("host", "127.0.0.1.evil.example", 403),
        ("origin", "http://localhost:8001", 200),
        ("origin", "https://evil.example", 403),
        ("origin", "null", 403),
    ] {
        let (status, answer) = server.send(with(name, value)).await;
        assert_eq!(status, expected, "{name}: {value}");
        assert!(status == 200 || answer["kind"] == "Status");
    }
}
