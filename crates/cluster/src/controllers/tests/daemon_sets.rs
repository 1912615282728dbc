//! DaemonSets: a Pod on every eligible Node.

use super::kubelet::{BROKEN, Kubelet};
use super::*;
use crate::controllers::daemon_set::DaemonSets;

const LOG: &str = "/apis/apps/v1/namespaces/default/daemonsets/log";
const LOG_PODS: &str = "/api/v1/namespaces/default/pods?labelSelector=app%3Dlog";
const LOG_REVISIONS: &str = "/apis/apps/v1/namespaces/default/controllerrevisions?labelSelector=app%3Dlog";
const NODES: &str = "/api/v1/nodes";

/// A DaemonSet for the Nodes of these tests, even if there are other Nodes.
fn log(strategy: &Value) -> Value {
    let mut set = json!({"metadata": {"name": "log"}, "spec": spec("log", 0)});
    set["spec"].as_object_mut().unwrap().remove("replicas");
    set["spec"]["template"]["spec"]["nodeSelector"] = json!({"test": "yes"});
    set["spec"]["updateStrategy"] = strategy.clone();
    set
}

/// A cluster with Nodes `n-0` to `n-2`, and with a kubelet that makes every Pod ready at once.
async fn start() -> Cluster {
    let cluster = Cluster::start(|manager| {
        manager.add::<DaemonSets>();
        manager.add::<Kubelet>();
    })
    .await;
    for number in 0..3 {
        cluster.create(NODES, &node(number)).await;
    }
    cluster
}

fn node(number: usize) -> Value {
    json!({"metadata": {"name": format!("n-{number}"), "labels": {"test": "yes"}}, "spec": {}})
}

fn ready(number: usize) -> impl Fn(&Value) -> bool {
    move |set| {
        let status = &set["status"];
        status["observedGeneration"] == set["metadata"]["generation"]
            && status["numberAvailable"] == number
            && status["updatedNumberScheduled"] == number
    }
}

fn image(name: &str) -> Value {
    json!({"spec": {"template": {"spec": {"containers": [{"name": "main", "image": name}]}}}})
}

/// The Nodes that have a Pod with an image, in order.
fn on<'a>(list: &'a Value, image: &str) -> Vec<&'a str> {
    let term = "/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms/0\
                /matchFields/0/values/0";
    let pods = items(list).iter().filter(|pod| pod["spec"]["containers"][0]["image"] == image);
    let mut nodes: Vec<&str> = pods.map(|pod| pod.pointer(term).and_then(Value::as_str).unwrap()).collect();
    nodes.sort_unstable();
    nodes
}

/// The largest number of Pods at a time, and the smallest one since there were three.
async fn extremes(server: &Server) -> (i64, i64) {
    let (_, log) = server.get("/_control/log?resource=pods").await;
    let (mut now, mut most, mut fewest) = (0_i64, 0, 3);
    let is_ours = |write: &&Value| write["key"].as_str().is_some_and(|key| key.starts_with("default/log-"));
    for write in log.as_array().unwrap().iter().filter(is_ours) {
        now += match write["type"].as_str() {
            Some("ADDED") => 1,
            Some("DELETED") => -1,
            _ => 0,
        };
        most = most.max(now);
        if most >= 3 {
            fewest = fewest.min(now);
        }
    }
    (most, fewest)
}

#[tokio::test]
async fn pods_come_and_go_with_nodes() {
    let cluster = start().await;
    cluster.create(DAEMON_SETS, &log(&Value::Null)).await;
    let set = cluster.eventually(LOG, "3 available", ready(3)).await;
    let expected = json!({"currentNumberScheduled": 3, "numberMisscheduled": 0, "desiredNumberScheduled": 3,
        "numberReady": 3, "observedGeneration": 1, "updatedNumberScheduled": 3, "numberAvailable": 3});
    assert_eq!(set["status"], expected);
    let (_, pods) = cluster.server.get(LOG_PODS).await;
    let image = "registry.example/app:1";
    assert_eq!(on(&pods, image), ["n-0", "n-1", "n-2"]);
    let pod = &items(&pods)[0];
    assert_eq!(pod["metadata"]["ownerReferences"][0]["kind"], "DaemonSet");
    let (_, revisions) = cluster.server.get(LOG_REVISIONS).await;
    let hash = &items(&revisions)[0]["metadata"]["labels"]["controller-revision-hash"];
    assert_eq!(&pod["metadata"]["labels"]["controller-revision-hash"], hash);

    cluster.create(NODES, &node(3)).await;
    cluster.eventually(LOG, "4 available", ready(4)).await;
    let label = json!({"metadata": {"labels": {"test": "no"}}});
    cluster.patch(&format!("{NODES}/n-0"), &label).await;
    cluster.eventually(LOG_PODS, "none on the first", |pods| on(pods, image) == ["n-1", "n-2", "n-3"]).await;
    // A Pod stays on its Node when a taint is added later, but no longer counts; a taint that evicts deletes the Pod.
    let taint = |effect: &str| json!({"spec": {"taints": [{"key": "own", "effect": effect}]}});
    cluster.patch(&format!("{NODES}/n-1"), &taint("NoSchedule")).await;
    cluster.eventually(LOG, "misscheduled", |set| set["status"]["numberMisscheduled"] == 1).await;
    cluster.patch(&format!("{NODES}/n-1"), &taint("NoExecute")).await;
    cluster.eventually(LOG_PODS, "none on the second", |pods| on(pods, image) == ["n-2", "n-3"]).await;
    cluster.eventually(LOG, "2 available", ready(2)).await;

    // A Pod that a user deletes is replaced.
    let (_, pods) = cluster.server.get(LOG_PODS).await;
    let old: Vec<String> = names(&pods).into_iter().map(str::to_owned).collect();
    cluster.server.delete(&format!("{PODS}/{}", old[0])).await;
    let replaced = |pods: &Value| on(pods, image).len() == 2 && !names(pods).contains(&&*old[0]);
    cluster.eventually(LOG_PODS, "replaced", replaced).await;
    let server = cluster.stop().await;
    assert_eq!(events(&server, "SuccessfulCreate", "log").await.len(), 5);
    assert_eq!(events(&server, "SuccessfulDelete", "log").await.len(), 2);
}

#[tokio::test]
async fn an_update_goes_node_by_node_and_back() {
    let cluster = start().await;
    cluster.create(DAEMON_SETS, &log(&Value::Null)).await;
    cluster.eventually(LOG, "3 available", ready(3)).await;
    cluster.patch(LOG, &image("two")).await;
    cluster.eventually(LOG, "3 updated", ready(3)).await;
    assert_eq!(extremes(&cluster.server).await, (3, 2), "one at a time");
    // An update that does not work stops at the first Node.
    cluster.patch(LOG, &image(BROKEN)).await;
    let stuck = |set: &Value| {
        set["status"]["observedGeneration"] == 3
            && set["status"]["updatedNumberScheduled"] == 1
            && set["status"]["numberAvailable"] == 2
    };
    let set = cluster.eventually(LOG, "stuck", stuck).await;
    assert_eq!(set["status"]["numberUnavailable"], 1);
    // A return to the first template makes that the newest revision.
    cluster.patch(LOG, &image("registry.example/app:1")).await;
    cluster.eventually(LOG, "3 as they were", ready(3)).await;
    let (_, revisions) = cluster.server.get(LOG_REVISIONS).await;
    let mut numbers: Vec<i64> = items(&revisions).iter().filter_map(|one| one["revision"].as_i64()).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, [2, 3, 4]);
    cluster.stop().await;
}

#[tokio::test]
async fn with_a_surge_new_pods_come_before_old_ones_go() {
    let cluster = start().await;
    let surge = json!({"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}});
    cluster.create(DAEMON_SETS, &log(&surge)).await;
    cluster.eventually(LOG, "3 available", ready(3)).await;
    cluster.patch(LOG, &image("two")).await;
    cluster.eventually(LOG, "3 updated", ready(3)).await;
    cluster
        .eventually(LOG_PODS, "the old ones gone", |pods| on(pods, "two").len() == 3 && items(pods).len() == 3)
        .await;
    assert_eq!(extremes(&cluster.server).await, (4, 3));
    cluster.stop().await;
}

#[tokio::test]
async fn on_delete_waits_for_the_user() {
    let cluster = start().await;
    cluster.create(DAEMON_SETS, &log(&json!({"type": "OnDelete"}))).await;
    cluster.eventually(LOG, "3 available", ready(3)).await;
    cluster.patch(LOG, &image("two")).await;
    cluster.eventually(LOG, "observed", |set| set["status"]["observedGeneration"] == 2).await;
    let (_, pods) = cluster.server.get(LOG_PODS).await;
    cluster.server.delete(&format!("{PODS}/{}", names(&pods)[0])).await;
    cluster.eventually(LOG_PODS, "one updated", |pods| on(pods, "two").len() == 1 && items(pods).len() == 3).await;
    cluster.stop().await;
}
