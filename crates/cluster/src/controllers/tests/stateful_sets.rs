//! StatefulSets: Pods with stable names, created and deleted in order.

use super::kubelet::{BROKEN, Kubelet};
use super::*;
use crate::controllers::stateful_set::StatefulSets;
use crate::controllers::volume_binder::VolumeBinder;

const DB: &str = "/apis/apps/v1/namespaces/default/statefulsets/db";
const DB_PODS: &str = "/api/v1/namespaces/default/pods?labelSelector=app%3Ddb";
const DB_REVISIONS: &str = "/apis/apps/v1/namespaces/default/controllerrevisions?labelSelector=app%3Ddb";

/// A StatefulSet with further fields in its spec.
fn db(replicas: usize, more: &Value) -> Value {
    let mut set = json!({"metadata": {"name": "db"}, "spec": spec("db", replicas)});
    set["spec"]["serviceName"] = "db".into();
    for (field, value) in more.as_object().into_iter().flatten() {
        set["spec"][field] = value.clone();
    }
    set
}

/// A cluster without a kubelet.
async fn start() -> Cluster {
    Cluster::start(|manager| manager.add::<StatefulSets>()).await
}

/// A cluster with a kubelet that makes every Pod ready at once.
async fn start_ready() -> Cluster {
    Cluster::start(|manager| {
        manager.add::<StatefulSets>();
        manager.add::<Kubelet>();
    })
    .await
}

fn image(name: &str) -> Value {
    json!({"spec": {"template": {"spec": {"containers": [{"name": "main", "image": name}]}}}})
}

/// The revision and the image of each Pod.
fn images(list: &Value) -> Vec<&str> {
    items(list).iter().map(|pod| pod["spec"]["containers"][0]["image"].as_str().unwrap()).collect()
}

/// The creations and deletions of Pods, in order.
async fn history(server: &Server) -> Vec<String> {
    let (_, log) = server.get("/_control/log?resource=pods").await;
    let writes = log.as_array().unwrap().iter().filter(|write| write["type"] != "MODIFIED");
    let writes = writes.filter_map(|write| {
        let name = write["key"].as_str()?.strip_prefix("default/db-")?;
        Some(format!("{}{name}", if write["type"] == "ADDED" { "+" } else { "-" }))
    });
    writes.collect()
}

#[tokio::test]
async fn one_after_the_other_up_and_down() {
    let cluster = start().await;
    cluster.create(STATEFUL_SETS, &db(3, &Value::Null)).await;
    for expected in [&["db-0"][..], &["db-0", "db-1"], &["db-0", "db-1", "db-2"]] {
        let pods = cluster.eventually(DB_PODS, "one more Pod", are(expected)).await;
        // A missing action cannot be waited for; the order of the writes is checked below.
        cluster.make_ready(items(&pods).last().unwrap()).await;
    }
    let set = cluster.eventually(DB, "3 ready", |set| set["status"]["readyReplicas"] == 3).await;
    let revision = set["status"]["updateRevision"].clone();
    let expected = json!({"observedGeneration": 1, "replicas": 3, "readyReplicas": 3, "currentReplicas": 3,
        "updatedReplicas": 3, "availableReplicas": 3, "currentRevision": revision, "updateRevision": revision,
        "collisionCount": 0});
    assert_eq!(set["status"], expected);
    let (_, pod) = cluster.server.get(&format!("{PODS}/db-2")).await;
    let labels = json!({"app": "db", "statefulset.kubernetes.io/pod-name": "db-2", "apps.kubernetes.io/pod-index": "2",
        "controller-revision-hash": revision});
    assert_eq!(pod["metadata"]["labels"], labels);
    assert_eq!((&pod["spec"]["hostname"], &pod["spec"]["subdomain"]), (&json!("db-2"), &json!("db")));

    cluster.patch(DB, &json!({"spec": {"replicas": 1}})).await;
    cluster.eventually(DB_PODS, "the first alone", are(&["db-0"])).await;
    // A Pod that fails is created anew under the same name.
    cluster.patch(&format!("{PODS}/db-0/status"), &json!({"status": {"phase": "Failed"}})).await;
    cluster.eventually(&format!("{PODS}/db-0"), "a new life", |pod| pod["status"]["phase"] == "Pending").await;
    let server = cluster.stop().await;
    assert_eq!(history(&server).await, ["+0", "+1", "+2", "-2", "-1", "-0", "+0"]);
    assert_eq!(events(&server, "SuccessfulCreate", "db").await[0], "create Pod db-0 in StatefulSet db successful");
    assert_eq!(events(&server, "SuccessfulDelete", "db").await[0], "delete Pod db-2 in StatefulSet db successful");
    assert_eq!(
        events(&server, "RecreatingFailedPod", "db").await,
        ["StatefulSet default/db is recreating failed Pod db-0"]
    );
}

#[tokio::test]
async fn in_parallel_nobody_waits() {
    let cluster = start().await;
    cluster.create(STATEFUL_SETS, &db(3, &json!({"podManagementPolicy": "Parallel", "ordinals": {"start": 5}}))).await;
    cluster.eventually(DB_PODS, "all at once", are(&["db-5", "db-6", "db-7"])).await;
    cluster.patch(DB, &json!({"spec": {"replicas": 0}})).await;
    cluster.eventually(DB_PODS, "none", are(&[])).await;
    cluster.stop().await;
}

#[tokio::test]
async fn an_update_goes_from_the_last_to_the_partition() {
    let cluster = start_ready().await;
    let partitioned = json!({"type": "RollingUpdate", "rollingUpdate": {"partition": 2}});
    cluster.create(STATEFUL_SETS, &db(4, &json!({"updateStrategy": partitioned}))).await;
    cluster.eventually(DB, "4 ready", |set| set["status"]["readyReplicas"] == 4).await;
    cluster.patch(DB, &image("two")).await;
    let done = |set: &Value| set["status"]["updatedReplicas"] == 2 && set["status"]["readyReplicas"] == 4;
    let set = cluster.eventually(DB, "2 updated", done).await;
    assert_ne!(set["status"]["currentRevision"], set["status"]["updateRevision"]);
    assert_eq!(set["status"]["currentReplicas"], 2);
    let (_, pods) = cluster.server.get(DB_PODS).await;
    let one = "registry.example/app:1";
    assert_eq!(images(&pods), [one, one, "two", "two"]);
    // A Pod below the partition is replaced with the current revision.
    cluster.server.delete(&format!("{PODS}/db-0")).await;
    let is_back = |pod: &Value| pod["status"]["phase"] == "Running" && pod["spec"]["containers"][0]["image"] == one;
    cluster.eventually(&format!("{PODS}/db-0"), "as it was", is_back).await;

    let all = json!({"spec": {"updateStrategy": {"rollingUpdate": {"partition": 0}}}});
    cluster.patch(DB, &all).await;
    let done = |set: &Value| set["status"]["currentRevision"] == set["status"]["updateRevision"];
    let set = cluster.eventually(DB, "all updated", done).await;
    assert_eq!((&set["status"]["updatedReplicas"], &set["status"]["currentReplicas"]), (&json!(4), &json!(4)));
    let server = cluster.stop().await;
    let updates = history(&server).await;
    assert_eq!(updates[..8], ["+0", "+1", "+2", "+3", "-3", "+3", "-2", "+2"]);
    assert_eq!(updates[8..], ["-0", "+0", "-1", "+1", "-0", "+0"]);
}

#[tokio::test]
async fn a_broken_update_stops_and_history_is_limited() {
    let cluster = start_ready().await;
    cluster.create(STATEFUL_SETS, &db(2, &json!({"revisionHistoryLimit": 1}))).await;
    cluster.eventually(DB, "2 ready", |set| set["status"]["readyReplicas"] == 2).await;
    cluster.patch(DB, &image(BROKEN)).await;
    let broken = |set: &Value| set["status"]["updatedReplicas"] == 1 && set["status"]["readyReplicas"] == 1;
    cluster.eventually(DB, "stuck", broken).await;
    let (_, pods) = cluster.server.get(DB_PODS).await;
    assert_eq!(images(&pods), ["registry.example/app:1", BROKEN]);
    // Only the user deletes a Pod that was never ready (kubernetes/kubernetes#67250).
    cluster.patch(DB, &image("registry.example/app:1")).await;
    cluster.server.delete(&format!("{PODS}/db-1")).await;
    cluster
        .eventually(DB, "rolled back", |set| {
            set["status"]["updatedReplicas"] == 2 && set["status"]["readyReplicas"] == 2
        })
        .await;
    let number = |list: &Value| items(list).iter().map(|one| one["revision"].as_i64().unwrap()).max();
    let revisions = cluster.eventually(DB_REVISIONS, "the first is the newest", |list| number(list) == Some(3)).await;
    assert_eq!(items(&revisions).len(), 2, "what was rolled back to keeps its name");
    for tag in ["two", "three"] {
        cluster.patch(DB, &image(tag)).await;
        let done = |set: &Value| {
            set["status"]["observedGeneration"] == set["metadata"]["generation"]
                && set["status"]["currentRevision"] == set["status"]["updateRevision"]
        };
        cluster.eventually(DB, "updated", done).await;
    }
    let kept = |list: &Value| items(list).len() == 2 && number(list) == Some(5);
    cluster.eventually(DB_REVISIONS, "the live one and one more", kept).await;
    cluster.stop().await;
}

#[tokio::test]
async fn on_delete_waits_for_the_user() {
    let cluster = start_ready().await;
    cluster.create(STATEFUL_SETS, &db(2, &json!({"updateStrategy": {"type": "OnDelete"}}))).await;
    cluster.eventually(DB, "2 ready", |set| set["status"]["readyReplicas"] == 2).await;
    cluster.patch(DB, &image("two")).await;
    cluster.eventually(DB, "observed", |set| set["status"]["observedGeneration"] == 2).await;
    cluster.server.delete(&format!("{PODS}/db-0")).await;
    let updated = |list: &Value| images(list) == ["two", "registry.example/app:1"];
    cluster.eventually(DB_PODS, "the deleted one is updated", updated).await;
    let server = cluster.stop().await;
    assert_eq!(history(&server).await, ["+0", "+1", "-0", "+0"]);
}

#[tokio::test]
async fn claims_are_bound_and_outlive_their_pods() {
    const CLAIM: &str = "/api/v1/namespaces/default/persistentvolumeclaims/data-db-0";
    let cluster = Cluster::start(|manager| {
        manager.add::<StatefulSets>();
        manager.add::<VolumeBinder>();
    })
    .await;
    let template = json!({"metadata": {"name": "data"},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "2Gi"}}}});
    cluster.create(STATEFUL_SETS, &db(1, &json!({"volumeClaimTemplates": [template]}))).await;
    let claim = cluster.eventually(CLAIM, "bound", |claim| claim["status"]["phase"] == "Bound").await;
    assert_eq!(claim["status"]["capacity"]["storage"], "2Gi");
    assert_eq!(claim["metadata"]["labels"]["app"], "db");
    let volume = format!("/api/v1/persistentvolumes/{}", claim["spec"]["volumeName"].as_str().unwrap());
    cluster.eventually(&volume, "bound", |volume| volume["status"]["phase"] == "Bound").await;
    let pod = cluster.eventually(&format!("{PODS}/db-0"), "there", |pod| pod["kind"] == "Pod").await;
    assert_eq!(pod["spec"]["volumes"], json!([{"name": "data", "persistentVolumeClaim": {"claimName": "data-db-0"}}]));

    cluster.patch(DB, &json!({"spec": {"replicas": 0}})).await;
    cluster.eventually(DB_PODS, "none", are(&[])).await;
    assert_eq!(cluster.server.get(CLAIM).await.1["metadata"]["uid"], claim["metadata"]["uid"]);
    cluster.server.delete(CLAIM).await;
    cluster.eventually(&volume, "gone", |volume| volume["code"] == 404).await;
    let server = cluster.stop().await;
    assert_eq!(
        events(&server, "SuccessfulCreate", "db").await,
        ["create Claim data-db-0 Pod db-0 in StatefulSet db success", "create Pod db-0 in StatefulSet db successful"]
    );
}
