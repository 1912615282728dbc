//! Nodes that fail, and nodes that are drained for repair.

use axum::http::Method;
use serde_json::{Value, json};

use super::{Environment, text};
use crate::client::resources::{NODES, PODS};
use crate::client::rest::{Patch, object_path};

/// Fails or drains nodes, and restores them, until it is dropped.
pub async fn play(mut environment: Environment) {
    environment.rest(12_000, 18_000).await;
    loop {
        fail(&mut environment).await;
        environment.rest(30_000, 60_000).await;
        drain(&mut environment).await;
        environment.rest(30_000, 60_000).await;
    }
}

/// Makes a node fail, and then recover.
async fn fail(environment: &mut Environment) {
    let Some(node) = environment.one_of(&NODES, |node| node["spec"]["unschedulable"] != true).await else { return };
    let name = text(&node, "/metadata/name");
    let order = |down: bool| format!("/_control/node?name={name}&down={down}");
    if environment.client.request(Method::POST, &order(true), "", String::new()).await.is_ok() {
        environment.rest(60_000, 90_000).await;
        let _ = environment.client.request(Method::POST, &order(false), "", String::new()).await;
    }
}

/// Drains a node like `kubectl drain`, and uncordons it when it is repaired.
async fn drain(environment: &mut Environment) {
    environment.client = environment.client.person("carol", "kubectl").impersonating("on-call");
    let Some(node) = environment.one_of(&NODES, |node| node["spec"]["unschedulable"] != true).await else { return };
    let name = text(&node, "/metadata/name");
    let cordon = |on: Value| json!({"spec": {"unschedulable": on}});
    if environment.client.patch(&NODES, "", name, Patch::Strategic(&cordon(true.into()))).await.is_err() {
        return;
    }
    for pod in environment.list(&PODS).await {
        let is_daemon = text(&pod, "/metadata/ownerReferences/0/kind") == "DaemonSet";
        if text(&pod, "/spec/nodeName") == name && !is_daemon {
            let (namespace, pod) = (text(&pod, "/metadata/namespace"), text(&pod, "/metadata/name"));
            let eviction = json!({"apiVersion": "policy/v1", "kind": "Eviction",
                "metadata": {"namespace": namespace, "name": pod}});
            let uri = object_path(&PODS, namespace, pod, "eviction");
            // A Pod that may not be evicted now stays; a real drain would wait for it.
            let _ = environment.client.request(Method::POST, &uri, "application/json", eviction.to_string()).await;
            environment.rest(200, 800).await;
        }
    }
    environment.rest(15_000, 25_000).await;
    let _ = environment.client.patch(&NODES, "", name, Patch::Strategic(&cordon(Value::Null))).await;
}
