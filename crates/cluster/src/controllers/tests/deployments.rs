//! Deployments: the number of Pods stays within its limits during a rollout.

use super::kubelet::{BROKEN, Kubelet};
use super::*;
use crate::controllers::deployment::Deployments;
use crate::controllers::object;
use crate::controllers::replica_set::ReplicaSets;

const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/default/deployments";
const WEB: &str = "/apis/apps/v1/namespaces/default/deployments/web";
const WEB_SETS: &str = "/apis/apps/v1/namespaces/default/replicasets?labelSelector=app%3Dweb";

async fn start() -> Cluster {
    Cluster::start(|manager| {
        manager.add::<Deployments>();
        manager.add::<ReplicaSets>();
        manager.add::<Kubelet>();
    })
    .await
}

/// A Deployment `web` with these changes in its spec.
fn web(replicas: usize, spec_changes: Value) -> Value {
    let mut spec = spec("web", replicas);
    spec.as_object_mut().unwrap().extend(spec_changes.as_object().unwrap().clone());
    json!({"metadata": {"name": "web"}, "spec": spec})
}

/// A patch that sets the image.
fn image(image: &str) -> Value {
    json!({"spec": {"template": {"spec": {"containers": [{"name": "main", "image": image}]}}}})
}

/// The reason of a condition.
fn reason<'a>(deployment: &'a Value, condition: &str) -> &'a str {
    let conditions = deployment["status"]["conditions"].as_array().map(Vec::as_slice).unwrap_or_default();
    let found = conditions.iter().find(|one| one["type"] == condition);
    found.and_then(|one| one["reason"].as_str()).unwrap_or_default()
}

/// Whether `kubectl rollout status` would report the rollout as complete.
fn is_rolled_out(replicas: usize) -> impl Fn(&Value) -> bool {
    move |deployment: &Value| {
        let status = &deployment["status"];
        let all = ["replicas", "updatedReplicas", "availableReplicas"];
        status["observedGeneration"] == deployment["metadata"]["generation"]
            && all.iter().all(|field| status[field].as_u64().unwrap_or_default() == replicas as u64)
            && reason(deployment, "Progressing") == "NewReplicaSetAvailable"
    }
}

fn revision_of(object: &Value) -> &str {
    object["metadata"]["annotations"]["deployment.kubernetes.io/revision"].as_str().unwrap_or_default()
}

/// The revision and the desired replicas of each ReplicaSet, by revision.
fn sizes(list: &Value) -> Vec<(&str, u64)> {
    let size = |set: &Value| set["spec"]["replicas"].as_u64().unwrap();
    let mut sizes: Vec<(&str, u64)> = items(list).iter().map(|set| (revision_of(set), size(set))).collect();
    sizes.sort_unstable();
    sizes
}

/// The number of Pods of `web` after each creation or deletion.
async fn alive(server: &Server) -> Vec<i64> {
    let (_, log) = server.get("/_control/log?resource=pods").await;
    let ours =
        log.as_array().unwrap().iter().filter(|write| write["key"].as_str().unwrap().starts_with("default/web-"));
    let steps = ours.filter_map(|write| match write["type"].as_str().unwrap() {
        "ADDED" => Some(1),
        "DELETED" => Some(-1),
        _ => None,
    });
    steps.scan(0, |count, step| Some(*count + step).inspect(|now| *count = *now)).collect()
}

#[tokio::test]
async fn a_rollout_and_its_undoing() {
    let cluster = start().await;
    let strategy =
        json!({"strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}});
    cluster.create(DEPLOYMENTS, &web(3, strategy)).await;
    let deployment = cluster.eventually(WEB, "rolled out", is_rolled_out(3)).await;
    assert_eq!((revision_of(&deployment), reason(&deployment, "Available")), ("1", "MinimumReplicasAvailable"));
    let sets = cluster.eventually(WEB_SETS, "one of 3", |sets| sizes(sets) == [("1", 3)]).await;
    let first = &items(&sets)[0]["metadata"];
    let name = first["name"].as_str().unwrap();
    assert_eq!(name, format!("web-{}", first["labels"]["pod-template-hash"].as_str().unwrap()));
    assert_eq!(first["annotations"]["deployment.kubernetes.io/desired-replicas"], "3");
    assert_eq!(first["annotations"]["deployment.kubernetes.io/max-replicas"], "4");

    cluster.patch(WEB, &image("registry.example/app:2")).await;
    let deployment = cluster.eventually(WEB, "rolled out", is_rolled_out(3)).await;
    assert_eq!(revision_of(&deployment), "2");
    let sets = cluster.eventually(WEB_SETS, "the new one of 3", |sets| sizes(sets) == [("1", 0), ("2", 3)]).await;
    let second = items(&sets).iter().find(|set| revision_of(set) == "2").unwrap();
    let second = second["metadata"]["name"].as_str().unwrap().to_owned();

    // The earlier template means the earlier ReplicaSet.
    cluster.patch(WEB, &image("registry.example/app:1")).await;
    let deployment = cluster.eventually(WEB, "rolled out", is_rolled_out(3)).await;
    assert_eq!(revision_of(&deployment), "3");
    let sets = cluster.eventually(WEB_SETS, "the old one of 3", |sets| sizes(sets) == [("2", 0), ("3", 3)]).await;
    let back = items(&sets).iter().find(|set| revision_of(set) == "3").unwrap();
    assert_eq!(back["metadata"]["name"], name);
    assert_eq!(back["metadata"]["annotations"]["deployment.kubernetes.io/revision-history"], "1");

    let server = cluster.stop().await;
    // With a surge of 1 and none unavailable, there are 3 or 4 Pods from the first time that there are 3.
    let alive = alive(&server).await;
    let full = alive.iter().position(|count| *count == 3).unwrap();
    assert!(alive[full..].iter().all(|count| (3..=4).contains(count)), "{alive:?}");
    assert_eq!(alive.len(), 3 + 6 + 6, "{alive:?}");
    let messages = events(&server, "ScalingReplicaSet", "web").await;
    let mut expected = vec![format!("Scaled up replica set {name} from 0 to 3")];
    for (to, from) in [(second.as_str(), name), (name, second.as_str())] {
        for step in 0..3 {
            expected.push(format!("Scaled up replica set {to} from {step} to {}", step + 1));
            expected.push(format!("Scaled down replica set {from} from {} to {}", 3 - step, 2 - step));
        }
    }
    // From the tenth on, similar Events are combined.
    assert_eq!(messages[..9], expected[..9], "{messages:#?}");
}

#[tokio::test]
async fn a_template_that_does_not_work_stops_half_way_and_scales_in_proportion() {
    let cluster = start().await;
    let changes = json!({"progressDeadlineSeconds": 1,
        "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}});
    cluster.create(DEPLOYMENTS, &web(4, changes)).await;
    cluster.eventually(WEB, "rolled out", is_rolled_out(4)).await;
    cluster.patch(WEB, &image(BROKEN)).await;
    let is_stuck = |deployment: &Value| reason(deployment, "Progressing") == "ProgressDeadlineExceeded";
    let deployment = cluster.eventually(WEB, "stuck", is_stuck).await;
    assert_eq!(deployment["status"]["availableReplicas"], 4);
    assert_eq!(deployment["status"]["unavailableReplicas"], 1);
    cluster.eventually(WEB_SETS, "4 old, 1 new", |sets| sizes(sets) == [("1", 4), ("2", 1)]).await;

    cluster.patch(WEB, &json!({"spec": {"replicas": 8}})).await;
    cluster.eventually(WEB_SETS, "7 old, 2 new", |sets| sizes(sets) == [("1", 7), ("2", 2)]).await;

    cluster.patch(WEB, &image("registry.example/app:1")).await;
    cluster.eventually(WEB, "rolled back", is_rolled_out(8)).await;
    cluster.stop().await;
}

#[tokio::test]
async fn recreate_has_no_two_templates_at_once() {
    let cluster = start().await;
    cluster.create(DEPLOYMENTS, &web(3, json!({"strategy": {"type": "Recreate"}}))).await;
    cluster.eventually(WEB, "rolled out", is_rolled_out(3)).await;
    cluster.patch(WEB, &image("registry.example/app:2")).await;
    cluster.eventually(WEB, "rolled out", is_rolled_out(3)).await;
    let (_, log) = cluster.server.get("/_control/log?resource=pods").await;
    let ours =
        log.as_array().unwrap().iter().filter(|write| write["key"].as_str().unwrap().starts_with("default/web-"));
    let words: Vec<&str> = ours.map(|write| write["type"].as_str().unwrap()).filter(|one| *one != "MODIFIED").collect();
    assert_eq!(words, [["ADDED"; 3], ["DELETED"; 3], ["ADDED"; 3]].concat());
    cluster.stop().await;
}

#[tokio::test]
async fn a_paused_one_scales_and_waits_with_the_rest() {
    let cluster = start().await;
    cluster.create(DEPLOYMENTS, &web(2, json!({"paused": true}))).await;
    let is_paused = |deployment: &Value| reason(deployment, "Progressing") == "DeploymentPaused";
    cluster.eventually(WEB, "paused", is_paused).await;
    cluster.patch(WEB, &json!({"spec": {"paused": false}})).await;
    cluster.eventually(WEB, "rolled out", is_rolled_out(2)).await;

    cluster.patch(WEB, &json!({"spec": {"paused": true}})).await;
    let mut both = image("registry.example/app:2");
    both["spec"]["replicas"] = 3.into();
    cluster.patch(WEB, &both).await;
    cluster.eventually(WEB_SETS, "the old one of 3", |sets| sizes(sets) == [("1", 3)]).await;
    cluster
        .eventually(WEB, "none updated", |web| {
            web["status"]["observedGeneration"] == 4 && web["status"].get("updatedReplicas").is_none()
        })
        .await;
    cluster.patch(WEB, &json!({"spec": {"paused": false}})).await;
    cluster.eventually(WEB, "rolled out", is_rolled_out(3)).await;
    cluster.eventually(WEB_SETS, "the new one of 3", |sets| sizes(sets) == [("1", 0), ("2", 3)]).await;
    cluster.stop().await;
}

#[tokio::test]
async fn old_revisions_beyond_the_limit_go() {
    let cluster = start().await;
    cluster.create(DEPLOYMENTS, &web(1, json!({"revisionHistoryLimit": 1}))).await;
    cluster.eventually(WEB, "rolled out", is_rolled_out(1)).await;
    for version in 2..5 {
        cluster.patch(WEB, &image(&format!("registry.example/app:{version}"))).await;
        cluster.eventually(WEB, "rolled out", is_rolled_out(1)).await;
    }
    cluster.eventually(WEB_SETS, "two left", |sets| sizes(sets) == [("3", 0), ("4", 1)]).await;
    cluster.stop().await;
}

#[tokio::test]
async fn hostile_shapes_stop_nothing() {
    let cluster = start().await;
    let odd = [json!(null), json!("x"), json!({}), json!(i64::MAX)];
    let mut number = 0;
    for shape in &odd {
        for path in [
            &["spec"][..],
            &["spec", "selector"],
            &["spec", "selector", "matchLabels"],
            &["spec", "replicas"],
            &["spec", "template"],
            &["spec", "template", "metadata"],
            &["spec", "template", "metadata", "labels"],
            &["spec", "template", "spec"],
            &["spec", "strategy"],
            &["spec", "strategy", "rollingUpdate"],
            &["spec", "minReadySeconds"],
            &["spec", "progressDeadlineSeconds"],
            &["spec", "revisionHistoryLimit"],
        ] {
            number += 1;
            // This test is not about thousands of Pods.
            if path == ["spec", "replicas"] && *shape == json!(i64::MAX) {
                continue;
            }
            for (collection, kind) in [(DEPLOYMENTS, "deployment"), (REPLICA_SETS, "set")] {
                let app = format!("odd-{kind}-{number}");
                let mut object = json!({"metadata": {"name": app}, "spec": spec(&app, 1)});
                object::set(&mut object, path, shape.clone());
                // The server may refuse the object, and then no controller sees it.
                let (status, created) = cluster.server.post(collection, &object).await;
                assert!([201, 400, 422].contains(&status), "{created}");
                let status =
                    if number % 2 == 0 { shape.clone() } else { json!({"conditions": shape, "replicas": shape}) };
                cluster.server.patch(&format!("{collection}/{app}/status"), &json!({"status": status})).await;
            }
        }
    }
    cluster.create(DEPLOYMENTS, &web(2, json!({}))).await;
    cluster.eventually(WEB, "rolled out", is_rolled_out(2)).await;
    cluster.stop().await;
}
