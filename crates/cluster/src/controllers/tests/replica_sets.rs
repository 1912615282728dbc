//! ReplicaSets: never too many Pods, and never too few.

use super::*;
use crate::controllers::replica_set::ReplicaSets;

async fn start() -> Cluster {
    Cluster::start(|manager| manager.add::<ReplicaSets>()).await
}

fn web(replicas: usize) -> Value {
    json!({"metadata": {"name": "web"}, "spec": spec("web", replicas)})
}

fn count(number: usize) -> impl Fn(&Value) -> bool {
    move |list: &Value| items(list).len() == number
}

const WEB_PODS: &str = "/api/v1/namespaces/default/pods?labelSelector=app%3Dweb";

#[tokio::test]
async fn creates_what_is_missing_and_no_more() {
    let cluster = start().await;
    let set = cluster.create(REPLICA_SETS, &web(5)).await;
    let set_path = format!("{REPLICA_SETS}/web");
    cluster.eventually(&set_path, "5 replicas", |set| set["status"]["replicas"] == 5).await;
    let pods = cluster.eventually(WEB_PODS, "5 Pods", count(5)).await;
    let pod = &items(&pods)[0];
    let owner = json!([{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web",
        "uid": set["metadata"]["uid"], "controller": true, "blockOwnerDeletion": true}]);
    assert_eq!(pod["metadata"]["ownerReferences"], owner);
    assert!(pod["metadata"]["name"].as_str().unwrap().starts_with("web-"));
    assert_eq!(pod["metadata"]["managedFields"][0]["manager"], "kube-controller-manager");

    for pod in &items(&pods)[..3] {
        cluster.make_ready(pod).await;
    }
    let set = cluster.eventually(&set_path, "3 ready", |set| set["status"]["readyReplicas"] == 3).await;
    let expected = json!({"replicas": 5, "fullyLabeledReplicas": 5, "readyReplicas": 3, "availableReplicas": 3,
        "observedGeneration": 1});
    assert_eq!(set["status"], expected);

    // The two Pods that are not ready are deleted first.
    cluster.patch(&set_path, &json!({"spec": {"replicas": 3}})).await;
    let set = cluster.eventually(&set_path, "3 replicas", |set| set["status"]["replicas"] == 3).await;
    assert_eq!((&set["status"]["readyReplicas"], &set["status"]["observedGeneration"]), (&json!(3), &json!(2)));
    let left = cluster.eventually(WEB_PODS, "3 Pods", count(3)).await;
    assert!(items(&left).iter().all(|pod| pod["status"]["phase"] == "Running"));

    // A Pod that a user deletes and a Pod that fails are both replaced. The failed Pod itself stays.
    let name = |at: usize| items(&left)[at]["metadata"]["name"].as_str().unwrap().to_owned();
    cluster.server.delete(&format!("{PODS}/{}", name(0))).await;
    cluster.patch(&format!("{PODS}/{}/status", name(1)), &json!({"status": {"phase": "Failed"}})).await;
    cluster.eventually(WEB_PODS, "3 Pods and the failed one", count(4)).await;
    cluster.eventually(&set_path, "3 replicas", |set| set["status"]["replicas"] == 3).await;

    let writes = cluster.server.get("/_control/log?resource=pods").await.1;
    let created = writes
        .as_array()
        .unwrap()
        .iter()
        .filter(|write| write["type"] == "ADDED" && write["key"].as_str().unwrap().starts_with("default/web-"));
    assert_eq!(created.count(), 7, "never one too many");
    let server = cluster.stop().await;
    let (_, list) = server.get("/api/v1/namespaces/default/events").await;
    let count = |reason: &str| items(&list).iter().filter(|event| event["reason"] == reason).count();
    assert_eq!((count("SuccessfulCreate"), count("SuccessfulDelete")), (7, 2), "{list:#}");
    let event = items(&list).iter().find(|event| event["reason"] == "SuccessfulCreate").unwrap();
    assert_eq!(event["source"]["component"], "replicaset-controller");
    assert!(event["message"].as_str().unwrap().starts_with("Created pod: web-"), "{event}");
    assert_eq!(
        (&event["involvedObject"]["kind"], &event["involvedObject"]["name"]),
        (&json!("ReplicaSet"), &json!("web"))
    );
}

#[tokio::test]
async fn orphans_are_adopted_and_strangers_released() {
    let cluster = start().await;
    let pod = |name: &str, app: &str| json!({"metadata": {"name": name, "labels": {"app": app}}, "spec": {"containers": [{"name": "main", "image": "x"}]}});
    cluster.create(PODS, &pod("one", "web")).await;
    cluster.create(PODS, &pod("other", "db")).await;
    cluster.create(REPLICA_SETS, &web(2)).await;
    cluster.eventually(&format!("{REPLICA_SETS}/web"), "2 replicas", |set| set["status"]["replicas"] == 2).await;
    cluster.eventually(WEB_PODS, "2 Pods", count(2)).await;
    let owner = |pod: &Value| pod["metadata"]["ownerReferences"][0]["kind"].clone();
    cluster.eventually(&format!("{PODS}/one"), "adopted", |pod| owner(pod) == "ReplicaSet").await;
    let (_, other) = cluster.server.get(&format!("{PODS}/other")).await;
    assert_eq!(owner(&other), Value::Null);

    cluster.patch(&format!("{PODS}/one"), &json!({"metadata": {"labels": {"app": "mine"}}})).await;
    cluster.eventually(&format!("{PODS}/one"), "released", |pod| owner(pod).is_null()).await;
    cluster.eventually(WEB_PODS, "2 Pods again", count(2)).await;
    cluster.stop().await;
}

#[tokio::test]
async fn pods_become_available_by_time_alone() {
    let cluster = start().await;
    let mut set = web(1);
    set["spec"]["minReadySeconds"] = 2.into();
    cluster.create(REPLICA_SETS, &set).await;
    let pods = cluster.eventually(WEB_PODS, "a Pod", count(1)).await;
    cluster.make_ready(&items(&pods)[0]).await;
    let path = format!("{REPLICA_SETS}/web");
    let set = cluster.eventually(&path, "ready", |set| set["status"]["readyReplicas"] == 1).await;
    assert_eq!(set["status"].get("availableReplicas"), None);
    cluster.eventually(&path, "available", |set| set["status"]["availableReplicas"] == 1).await;
    cluster.stop().await;
}

#[tokio::test]
async fn what_cannot_be_created_is_recorded_and_tried_again() {
    let cluster = start().await;
    let mut set = web(2);
    // A number is not a valid value of a label, which only shows when a Pod is created.
    set["spec"]["template"]["metadata"]["labels"]["number"] = 7.into();
    cluster.create(REPLICA_SETS, &set).await;
    let path = format!("{REPLICA_SETS}/web");
    let reason = |set: &Value| set["status"]["conditions"][0]["reason"].clone();
    let set = cluster.eventually(&path, "failed", |set| reason(set) == "FailedCreate").await;
    assert_eq!(
        (&set["status"]["conditions"][0]["type"], &set["status"]["replicas"]),
        (&json!("ReplicaFailure"), &json!(0))
    );
    let about = "/api/v1/namespaces/default/events?fieldSelector=reason%3DFailedCreate,type%3DWarning";
    let is_repeated = |list: &Value| items(list).first().is_some_and(|one| one["count"].as_u64() > Some(2));
    let events = cluster.eventually(about, "recorded more than twice", is_repeated).await;
    assert!(items(&events)[0]["message"].as_str().unwrap().starts_with("Error creating: "), "{events}");

    cluster.patch(&path, &json!({"spec": {"template": {"metadata": {"labels": {"number": "7"}}}}})).await;
    let set = cluster.eventually(&path, "2 replicas", |set| set["status"]["replicas"] == 2).await;
    assert_eq!(reason(&set), Value::Null);
    cluster.stop().await;
}

#[tokio::test]
async fn faults_for_others_are_none_for_controllers() {
    let cluster = start().await;
    for order in ["forbid?verb=watch&resource=pods", "forbid?verb=list&resource=replicasets", "cut"] {
        cluster.server.control(order).await;
    }
    cluster.create(REPLICA_SETS, &web(1)).await;
    cluster.eventually(WEB_PODS, "a Pod", count(1)).await;
    assert_eq!(cluster.server.get(REPLICA_SETS).await.0, 403, "others are forbidden");
    cluster.server.control("stall?on=true").await;
    // Stopping writes the remaining Events while no other work is done.
    let server = cluster.stop().await;
    server.control("stall?on=false").await;
}
