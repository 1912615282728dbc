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
    if set_down(environment, name, true).await {
        environment.rest(60_000, 90_000).await;
        set_down(environment, name, false).await;
    }
}

/// Drains a node like `kubectl drain`, and uncordons it when it is repaired.
async fn drain(environment: &mut Environment) {
    environment.client = environment.client.person("carol", "kubectl").impersonating("on-call");
    let Some(node) = environment.one_of(&NODES, |node| node["spec"]["unschedulable"] != true).await else { return };
    let name = text(&node, "/metadata/name");
    if cordon(environment, name, true).await {
        evict_all(environment, name).await;
        environment.rest(15_000, 25_000).await;
        cordon(environment, name, false).await;
    }
}

/// Has a node fail, or recover; returns false if that is not possible.
pub(super) async fn set_down(environment: &Environment, name: &str, down: bool) -> bool {
    let order = format!("/_control/node?name={name}&down={down}");
    environment.client.request(Method::POST, &order, "", String::new()).await.is_ok()
}

/// Has a node take no new Pods, or take them again; returns false if that is not possible.
pub(super) async fn cordon(environment: &Environment, name: &str, on: bool) -> bool {
    let on = if on { Value::Bool(true) } else { Value::Null };
    let patch = json!({"spec": {"unschedulable": on}});
    environment.client.patch(&NODES, "", name, Patch::Strategic(&patch)).await.is_ok()
}

/// Evicts the Pods of a node, but those of DaemonSets.
pub(super) async fn evict_all(environment: &mut Environment, name: &str) {
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
}
