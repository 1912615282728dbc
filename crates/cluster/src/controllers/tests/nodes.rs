//! Nodes that fail, recover, and are cordoned and drained.

use super::*;
use crate::controllers::kubelet::Kubelets;
use crate::controllers::kubelet::heartbeat::Heartbeats;
use crate::controllers::node_lifecycle::NodeLifecycle;
use crate::controllers::node_lifecycle::taint_eviction::TaintEviction;
use crate::controllers::pace::Pace;
use crate::controllers::scheduler::Scheduler;

const NODES: &str = "/api/v1/nodes";
const LEASES: &str = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";

/// A cluster in which a node may be silent for 2 s, and in which Pods stay on a failed node for 1 s.
async fn start() -> Cluster {
    let pace = Pace { containers: 0.01, back_off: 0.005, heartbeats: 0.05, tolerations: 1.0 / 300.0 };
    Cluster::start_with(Options { seed: 1, pace, ..Options::default() }, |manager| {
        manager.add::<Scheduler>();
        manager.add::<Kubelets>();
        manager.add::<Heartbeats>();
        manager.add::<NodeLifecycle>();
        manager.add::<TaintEviction>();
    })
    .await
}

fn condition(object: &Value, kind: &str) -> Value {
    let all = object["status"]["conditions"].as_array().map(Vec::as_slice).unwrap_or_default();
    all.iter().find(|one| one["type"] == kind).cloned().unwrap_or_default()
}

fn has_taint(node: &Value, key: &str, effect: &str) -> bool {
    let all = node["spec"]["taints"].as_array().map(Vec::as_slice).unwrap_or_default();
    all.iter().any(|taint| taint["key"] == key && taint["effect"] == effect && taint["timeAdded"].is_string())
}

/// Creates a node, which its kubelet makes ready; returns its path.
async fn join(cluster: &Cluster, name: &str) -> String {
    let node = json!({"metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}}});
    cluster.create(NODES, &node).await;
    let path = format!("{NODES}/{name}");
    cluster.eventually(&path, "ready", |node| condition(node, "Ready")["status"] == "True").await;
    path
}

fn pod_on(name: &str, node: &str, tolerations: Value) -> Value {
    json!({"metadata": {"name": name, "labels": {"app": name}}, "spec": {
        "nodeSelector": {"kubernetes.io/hostname": node}, "tolerations": tolerations,
        "containers": [{"name": "main", "image": "nginx"}]}})
}

async fn runs(cluster: &Cluster, name: &str) {
    let ready = |pod: &Value| condition(pod, "Ready")["status"] == "True";
    cluster.eventually(&format!("{PODS}/{name}"), "ready", ready).await;
}

#[tokio::test]
async fn a_node_that_falls_silent_loses_its_pods_and_comes_back() {
    let cluster = start().await;
    let path = join(&cluster, "weak").await;
    cluster.eventually(&format!("{LEASES}/weak"), "held", |lease| lease["spec"]["holderIdentity"] == "weak").await;
    let stays = json!([{"operator": "Exists"}]);
    cluster.create(PODS, &pod_on("goes", "weak", json!([]))).await;
    cluster.create(PODS, &pod_on("stays", "weak", stays)).await;
    runs(&cluster, "goes").await;
    runs(&cluster, "stays").await;

    // The controllers have a `FailedNodes` of their own here, which the server's control endpoint does not know.
    cluster.failed_nodes.fail("weak");
    let node = cluster
        .eventually(&path, "silent and tainted", |node| {
            let unreachable = "node.kubernetes.io/unreachable";
            has_taint(node, unreachable, "NoExecute") && has_taint(node, unreachable, "NoSchedule")
        })
        .await;
    for kind in ["Ready", "MemoryPressure", "DiskPressure", "PIDPressure"] {
        let found = condition(&node, kind);
        assert_eq!((&found["status"], &found["reason"]), (&json!("Unknown"), &json!("NodeStatusUnknown")), "{found}");
        assert_eq!(found["message"], "Kubelet stopped posting node status.");
    }
    let unready = |pod: &Value| condition(pod, "Ready")["reason"] == "NodeNotReady";
    cluster.eventually(&format!("{PODS}/stays"), "not ready", unready).await;
    let leaving = |pod: &Value| pod["metadata"]["deletionTimestamp"].is_string();
    let gone = cluster.eventually(&format!("{PODS}/goes"), "to be deleted", leaving).await;
    assert_eq!(condition(&gone, "DisruptionTarget")["reason"], "DeletionByTaintManager");

    cluster.failed_nodes.recover("weak");
    cluster.eventually(&format!("{PODS}/goes"), "gone", |pod| pod["code"] == 404).await;
    runs(&cluster, "stays").await;
    cluster
        .eventually(&path, "ready and clean", |node| {
            condition(node, "Ready")["status"] == "True" && node["spec"].get("taints").is_none()
        })
        .await;
    let is_recorded = |reason: &'static str| {
        move |list: &Value| {
            items(list).iter().any(|one| one["reason"] == reason && one["involvedObject"]["name"] == "weak")
        }
    };
    for reason in ["RegisteredNode", "NodeNotReady", "NodeReady"] {
        cluster.eventually("/api/v1/events", reason, is_recorded(reason)).await;
    }
    let marked = |list: &Value| {
        items(list).iter().any(|one| {
            one["reason"] == "TaintManagerEviction" && one["message"] == "Marking for deletion Pod default/goes"
        })
    };
    cluster.eventually("/api/v1/events", "TaintManagerEviction", marked).await;
    cluster.stop().await;
}

#[tokio::test]
async fn a_cordoned_node_takes_no_pods_until_it_may() {
    let cluster = start().await;
    let path = join(&cluster, "tidy").await;
    cluster.patch(&path, &json!({"spec": {"unschedulable": true}})).await;
    let tainted = |node: &Value| has_taint(node, "node.kubernetes.io/unschedulable", "NoSchedule");
    cluster.eventually(&path, "tainted", tainted).await;
    cluster.create(PODS, &pod_on("waits", "tidy", json!([]))).await;
    let waits = format!("{PODS}/waits");
    let why = |pod: &Value| condition(pod, "PodScheduled")["reason"] == "Unschedulable";
    let pod = cluster.eventually(&waits, "unschedulable", why).await;
    let scheduled = condition(&pod, "PodScheduled");
    let message = scheduled["message"].as_str().unwrap();
    assert!(message.contains("nodes are available: 1 node(s) were unschedulable, "), "{message}");
    assert!(message.contains("node(s) didn't match Pod's node affinity/selector. no new claims"), "{message}");
    let same = |list: &Value| items(list).iter().any(|one| one["reason"] == "FailedScheduling");
    cluster.eventually("/api/v1/namespaces/default/events", "FailedScheduling", same).await;
    cluster.patch(&path, &json!({"spec": {"unschedulable": null}})).await;
    runs(&cluster, "waits").await;
    cluster.stop().await;
}

#[tokio::test]
async fn an_eviction_deletes_the_pod() {
    let cluster = start().await;
    join(&cluster, "old").await;
    cluster.create(PODS, &pod_on("free", "old", json!([]))).await;
    runs(&cluster, "free").await;
    let evict = async || {
        let eviction = json!({"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "free"}});
        cluster.server.post(&format!("{PODS}/free/eviction"), &eviction).await
    };
    assert_eq!(evict().await.0, 201);
    cluster.eventually(&format!("{PODS}/free"), "gone", |pod| pod["code"] == 404).await;
    assert_eq!(evict().await.0, 404);
    cluster.stop().await;
}

#[tokio::test]
async fn a_pod_is_bound_once() {
    let server = serve(quiet()).await;
    let pod = json!({"metadata": {"name": "web"}, "spec": {"containers": [{"name": "main", "image": "nginx"}]}});
    server.post(PODS, &pod).await;
    let bind = async |node: &str| {
        let binding = json!({"apiVersion": "v1", "kind": "Binding", "metadata": {"name": "web"},
            "target": {"apiVersion": "v1", "kind": "Node", "name": node}});
        server.post(&format!("{PODS}/web/binding"), &binding).await
    };
    assert_eq!(bind("").await.0, 400);
    let (code, status) = bind("a").await;
    assert_eq!((code, &status["status"]), (201, &json!("Success")));
    let (_, bound) = server.get(&format!("{PODS}/web")).await;
    assert_eq!(
        (&bound["spec"]["nodeName"], &condition(&bound, "PodScheduled")["status"]),
        (&json!("a"), &json!("True"))
    );
    let (code, status) = bind("b").await;
    let message = "Operation cannot be fulfilled on pods/binding \"web\": pod web is already assigned to node \"a\"";
    assert_eq!((code, status["message"].as_str().unwrap()), (409, message));
    assert_eq!(server.get(&format!("{PODS}/web/binding")).await.0, 405);
}
