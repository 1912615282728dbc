//! Requests that are refused before they are handled: for every verb that writes, and for control requests.

use serde_json::json;

use super::*;

const ONE: &str = "/api/v1/namespaces/default/configmaps/one";

/// Every verb that writes, with its path and body.
fn writes() -> Vec<(&'static str, &'static str, String)> {
    let object = json!({"metadata": {"name": "two"}, "data": {"a": "c"}}).to_string();
    let same = json!({"metadata": {"name": "one"}, "data": {"a": "c"}}).to_string();
    vec![
        ("POST", CONFIG_MAPS, object.clone()),
        ("PUT", ONE, same),
        ("PATCH", ONE, json!({"data": {"a": "c"}}).to_string()),
        ("DELETE", ONE, String::new()),
        ("DELETE", CONFIG_MAPS, String::new()),
        ("PATCH", "/api/v1/namespaces/default/status", json!({"status": {"phase": "Odd"}}).to_string()),
        (
            "POST",
            "/_control/put",
            json!({"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "x"}}).to_string(),
        ),
        ("POST", "/_control/fault?status=500", String::new()),
        ("POST", "/_control/compact", String::new()),
        ("POST", "/_control/restart?revision=5", String::new()),
        ("DELETE", "/_control/faults", String::new()),
    ]
}

#[tokio::test]
async fn strangers_change_nothing() {
    let server = serve(quiet()).await;
    server.config_map("one", "web").await;
    let before = server.app.api.store.revision();
    for (header, value) in [
        ("host", "evil.example"),
        ("host", "127.0.0.1.evil.example"),
        ("origin", "http://evil.example"),
        ("origin", "https://localhost.evil.example"),
        ("origin", "null"),
    ] {
        for (method, path, body) in writes() {
            let request = server.client.request(method.parse().unwrap(), server.url(path)).body(body);
            let (status, answer) = server.send(request.header(header, value)).await;
            assert_eq!(
                (status, &answer["reason"]),
                (403, &json!("Forbidden")),
                "{method} {path} from {header}: {value}"
            );
        }
    }
    assert_eq!(server.app.api.store.revision(), before);
    assert_eq!(server.get("/_control/faults").await.1, json!({"rules": [], "orders": {}}));
}

#[tokio::test]
async fn bad_bodies_change_nothing_by_any_verb() {
    let server = serve(quiet()).await;
    server.config_map("one", "web").await;
    let before = server.app.api.store.revision();
    let large = format!(r#"{{"metadata": {{"name": "one"}}, "data": {{"a": "{}"}}}}"#, "x".repeat(4 << 20));
    let pod = json!({"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "one"}}).to_string();
    let illegal = json!({"metadata": {"name": "../Not A Name"}}).to_string();
    let bodies = [
        ("no JSON", "{\"metadata\":".to_owned(), vec![400]),
        ("a wrong kind", pod, vec![400]),
        ("an illegal name", illegal, vec![400, 422]),
        ("4 MiB", large, vec![413]),
    ];
    for (what, body, expected) in &bodies {
        for (method, path, _) in writes() {
            let takes_a_body = !path.starts_with("/_control/") || path == "/_control/put";
            // The options of a deletion have a kind of their own, and no name.
            let fits = method == "DELETE" && !["no JSON", "4 MiB"].contains(what);
            if !takes_a_body || fits || (path == "/_control/put" && *what != "no JSON" && *what != "4 MiB") {
                continue;
            }
            let request = server.client.request(method.parse().unwrap(), server.url(path)).body(body.clone());
            let (status, answer) = server.send(request).await;
            assert!(expected.contains(&status), "{method} {path} with {what}: {status} {answer}");
            assert_eq!(answer["kind"], "Status", "{method} {path} with {what}");
        }
    }
    assert_eq!(server.app.api.store.revision(), before);
}
