//! Nodes that fail, and nodes that are drained for repair.

use axum::http::Method;
use serde_json::{Value, json};

use super::{Stage, text};
use crate::client::resources::{NODES, PODS};
use crate::client::rest::{Patch, object_path};

/// Fails or drains nodes, and restores them, until it is dropped.
pub async fn play(mut stage: Stage) {
    stage.rest(12_000, 18_000).await;
    loop {
        fail(&mut stage).await;
        stage.rest(30_000, 60_000).await;
        drain(&mut stage).await;
        stage.rest(30_000, 60_000).await;
    }
}

/// Makes a node fail, and then recover.
async fn fail(stage: &mut Stage) {
    let Some(node) = stage.one_of(&NODES, |node| node["spec"]["unschedulable"] != true).await else { return };
    let name = text(&node, "/metadata/name");
    let order = |down: bool| format!("/_control/node?name={name}&down={down}");
    if stage.client.request(Method::POST, &order(true), "", String::new()).await.is_ok() {
        stage.rest(60_000, 90_000).await;
        let _ = stage.client.request(Method::POST, &order(false), "", String::new()).await;
    }
}

/// Drains a node like `kubectl drain`, and uncordons it when it is repaired.
async fn drain(stage: &mut Stage) {
    stage.client = stage.client.with_user_agent("kubectl");
    let Some(node) = stage.one_of(&NODES, |node| node["spec"]["unschedulable"] != true).await else { return };
    let name = text(&node, "/metadata/name");
    let cordon = |on: Value| json!({"spec": {"unschedulable": on}});
    if stage.client.patch(&NODES, "", name, "", Patch::Strategic(&cordon(true.into()))).await.is_err() {
        return;
    }
    for pod in stage.list(&PODS).await {
        let is_daemon = text(&pod, "/metadata/ownerReferences/0/kind") == "DaemonSet";
        if text(&pod, "/spec/nodeName") == name && !is_daemon {
            let (namespace, pod) = (text(&pod, "/metadata/namespace"), text(&pod, "/metadata/name"));
            let eviction = json!({"apiVersion": "policy/v1", "kind": "Eviction",
                "metadata": {"namespace": namespace, "name": pod}});
            let uri = object_path(&PODS, namespace, pod, "eviction");
            // A Pod that may not be evicted now stays; a real drain would wait for it.
            let _ = stage.client.request(Method::POST, &uri, "application/json", eviction.to_string()).await;
            stage.rest(200, 800).await;
        }
    }
    stage.rest(15_000, 25_000).await;
    let _ = stage.client.patch(&NODES, "", name, "", Patch::Strategic(&cordon(Value::Null))).await;
}
