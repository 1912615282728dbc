//! Each scenario on a running cluster with controllers and kubelets: its effects must appear.

mod agreement;
mod audit;
mod findings;
mod incidents;
mod truth;
mod why;

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use super::Scenario;
use crate::args::Args;
use crate::client::rest::Client;
use crate::controllers;
use crate::server;
use crate::tests::{Server, quiet, serve};

/// Longer than any scenario needs, also beside much else: at a load of 15 on two cores a drained node came back after 80 s.
const DEADLINE: Duration = Duration::from_secs(300);

/// A cluster of about sixty Pods on which scenarios run.
async fn play(scenarios: &[Scenario]) -> (Server, controllers::manager::Controllers) {
    let server = serve(Args { pods: 60, scenarios: scenarios.to_vec(), ..quiet() }).await;
    let router = || server::router(Arc::clone(&server.app));
    let options = controllers::options::Options {
        seed: 1,
        failed_nodes: server.app.control.failed_nodes.clone(),
        ..Default::default()
    };
    let controllers = controllers::start(router(), options).unwrap();
    server.app.control.runner.begin(Client::new(router(), "kubectl"), scenarios);
    (server, controllers)
}

/// Runs a scenario until an item of a list satisfies `wanted`; returns the item.
async fn check(scenario: Scenario, path: &str, what: &str, wanted: impl Fn(&Value) -> bool) -> Value {
    let (server, _controllers) = play(&[scenario]).await;
    eventually(&server, path, what, wanted).await
}

async fn eventually(server: &Server, path: &str, what: &str, wanted: impl Fn(&Value) -> bool) -> Value {
    let mut newest = server.app.api.store.newest();
    let found = tokio::time::timeout(DEADLINE, async {
        loop {
            newest.mark_unchanged();
            let (_, list) = server.get(path).await;
            let items = list["items"].as_array().cloned().unwrap_or_default();
            if let Some(found) = items.into_iter().find(&wanted) {
                return found;
            }
            newest.changed().await.unwrap();
        }
    });
    found.await.unwrap_or_else(|_| panic!("{path}: never {what}"))
}

fn text<'a>(object: &'a Value, pointer: &str) -> &'a str {
    object.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

/// Whether a manager has written a part of an object.
fn is_written_by(object: &Value, manager: &str) -> bool {
    let entries = object["metadata"]["managedFields"].as_array().into_iter().flatten();
    entries.into_iter().any(|entry| entry["manager"] == manager)
}

const DEPLOYMENTS: &str = "/apis/apps/v1/deployments";

#[tokio::test]
async fn something_worth_seeing_happens_within_ten_seconds() {
    let (server, _controllers) = play(&Scenario::MIXED).await;
    let began = std::time::Instant::now();
    let is_new = |pod: &Value| pod["status"]["phase"] == "Pending";
    eventually(&server, "/api/v1/pods", "a new Pod", is_new).await;
    // A slow machine may take three times as long as intended.
    assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
}

#[tokio::test]
async fn a_rollout_makes_a_second_replica_set_and_ends() {
    let is_done = |one: &Value| {
        text(one, "/metadata/annotations/deployment.kubernetes.io~1revision") == "2"
            && is_written_by(one, "kubectl-set")
            && one["status"]["updatedReplicas"] == one["spec"]["replicas"]
    };
    check(Scenario::Rollout, DEPLOYMENTS, "rolled out", is_done).await;
}

#[tokio::test]
async fn a_crash_loop_backs_off() {
    let backs_off = |pod: &Value| {
        text(pod, "/status/containerStatuses/0/state/waiting/reason") == "CrashLoopBackOff"
            && text(pod, "/spec/containers/0/command/0") == "sh"
    };
    check(Scenario::CrashLoop, "/api/v1/pods", "in a crash loop", backs_off).await;
}

#[tokio::test]
async fn a_failed_node_is_unknown() {
    let is_unknown = |node: &Value| {
        let conditions = node["status"]["conditions"].as_array().into_iter().flatten();
        conditions.into_iter().any(|one| one["type"] == "Ready" && one["status"] == "Unknown")
    };
    check(Scenario::NodeFailure, "/api/v1/nodes", "unknown", is_unknown).await;
}

#[tokio::test]
async fn a_config_map_that_its_pods_crash_over_is_released_and_rolled_back() {
    let (server, _controllers) = play(&[Scenario::BadConfig]).await;
    let size = |map: &Value| text(map, "/data/CACHE_MEGABYTES").to_owned();
    let bad = eventually(&server, "/api/v1/configmaps", "changed", |map| size(map) == "512MB").await;
    assert!(is_written_by(&bad, "helm"), "{bad}");
    let fails = |pod: &Value| {
        text(pod, "/spec/containers/0/envFrom/0/configMapRef/name") == text(&bad, "/metadata/name")
            && text(pod, "/status/containerStatuses/0/state/waiting/reason") == "CrashLoopBackOff"
    };
    let pod = eventually(&server, "/api/v1/pods", "in a crash loop", fails).await;
    assert_eq!(pod.pointer("/status/containerStatuses/0/lastState/terminated/exitCode"), Some(&1.into()));
    eventually(&server, "/api/v1/configmaps", "changed back", |map| size(map) == "256").await;
    let (hash, name) = ("/spec/template/metadata/annotations/checksum~1config", text(&bad, "/metadata/name"));
    let bad_hash = text(&pod, "/metadata/annotations/checksum~1config").to_owned();
    let is_back = |one: &Value| {
        let is_it = format!("{}-config", text(one, "/metadata/name")) == name;
        is_it && text(one, hash) != bad_hash && one["status"]["updatedReplicas"] == one["spec"]["replicas"]
    };
    eventually(&server, DEPLOYMENTS, "rolled back", is_back).await;
}

#[tokio::test]
async fn a_failed_node_is_drained_and_comes_back() {
    let (server, _controllers) = play(&[Scenario::NodeRepair]).await;
    let is_unknown = |node: &Value| {
        let conditions = node["status"]["conditions"].as_array().into_iter().flatten();
        conditions.into_iter().any(|one| one["type"] == "Ready" && one["status"] == "Unknown")
    };
    let is_cordoned = |node: &Value| node["spec"]["unschedulable"] == true;
    let node = eventually(&server, "/api/v1/nodes", "cordoned", is_cordoned).await;
    assert!(is_unknown(&node) && is_written_by(&node, "kubectl"), "{node}");
    let name = text(&node, "/metadata/name").to_owned();
    let is_evicted = |pod: &Value| {
        let conditions = pod["status"]["conditions"].as_array().into_iter().flatten();
        let is_why = conditions.into_iter().any(|one| one["reason"] == "EvictionByEvictionAPI");
        text(pod, "/spec/nodeName") == name && is_why
    };
    eventually(&server, "/api/v1/pods", "evicted", is_evicted).await;
    let is_back = |one: &Value| text(one, "/metadata/name") == name && !is_cordoned(one) && !is_unknown(one);
    eventually(&server, "/api/v1/nodes", "back", is_back).await;
}

#[tokio::test]
async fn an_autoscaler_goes_up_and_down() {
    let (server, _controllers) = play(&[Scenario::AutoscalerFlap]).await;
    let scaled = |one: &Value| is_written_by(one, "horizontal-pod-autoscaler");
    let up = eventually(&server, DEPLOYMENTS, "scaled", scaled).await;
    let (uid, most) = (text(&up, "/metadata/uid").to_owned(), up["spec"]["replicas"].as_u64());
    let is_less = |one: &Value| text(one, "/metadata/uid") == uid && one["spec"]["replicas"].as_u64() < most;
    eventually(&server, DEPLOYMENTS, "scaled down", is_less).await;
}

#[tokio::test]
async fn two_controllers_fight_over_one_field() {
    let (server, _controllers) = play(&[Scenario::HotLoop]).await;
    let tier = |one: &Value| text(one, "/metadata/annotations/mesh.example~1tier").to_owned();
    let first = eventually(&server, DEPLOYMENTS, "fought over", |one| !tier(one).is_empty()).await;
    let uid = text(&first, "/metadata/uid").to_owned();
    for _ in 0..2 {
        for value in ["gold", "silver"] {
            let is_so = |one: &Value| text(one, "/metadata/uid") == uid && tier(one) == value;
            eventually(&server, DEPLOYMENTS, value, is_so).await;
        }
    }
}

#[tokio::test]
async fn a_calm_day_has_jobs_and_edits() {
    let (server, _controllers) = play(&[Scenario::Calm]).await;
    let by = |manager: &'static str| move |one: &Value| is_written_by(one, manager);
    eventually(&server, "/apis/batch/v1/jobs", "run", by("cron-runner")).await;
    eventually(&server, "/api/v1/configmaps", "edited", by("config-operator")).await;
}

#[tokio::test]
async fn the_same_seed_begins_the_same_way() {
    let mut names = Vec::new();
    for _ in 0..2 {
        let rolled = |one: &Value| is_written_by(one, "kubectl-set");
        let one = check(Scenario::Rollout, DEPLOYMENTS, "rolled out", rolled).await;
        names.push((
            text(&one, "/metadata/name").to_owned(),
            text(&one, "/spec/template/spec/containers/0/image").to_owned(),
        ));
    }
    assert_eq!(names[0], names[1]);
}

fn names_of(text: &str) -> Option<String> {
    Scenario::parse_list(text).map(|all| all.iter().map(|one| one.name()).collect::<Vec<_>>().join(" "))
}

#[test]
fn load_stands_alone() {
    for (text, expected) in [
        ("mixed", Some("calm rollout crashloop node-failure autoscaler-flap")),
        ("hot-loop, calm,calm", Some("calm hot-loop")),
        ("storm", Some("storm")),
        ("storm,calm", None),
        ("storm,scale", None),
        ("", None),
        ("havoc", None),
    ] {
        assert_eq!(names_of(text).as_deref(), expected, "{text}");
    }
}
