//! The scheduler and the kubelets: what happens to a Pod that a user creates.

use super::*;
use crate::controllers::kubelet::Kubelets;
use crate::controllers::pace::Pace;
use crate::controllers::scheduler::Scheduler;

/// A cluster with a pace so fast that no test has to wait.
async fn start() -> Cluster {
    let pace = Pace { containers: 0.01, back_off: 0.005, ..Pace::default() };
    let options = Options { seed: 1, pace, ..Options::default() };
    Cluster::start_with(options, |manager| {
        manager.add::<Scheduler>();
        manager.add::<Kubelets>();
    })
    .await
}

fn pod(name: &str, spec: Value) -> Value {
    let mut pod =
        json!({"metadata": {"name": name}, "spec": {"containers": [{"name": "main", "image": "nginx:1.27"}]}});
    for (field, value) in spec.as_object().into_iter().flatten() {
        pod["spec"][field] = value.clone();
    }
    pod
}

fn path(name: &str) -> String {
    format!("{PODS}/{name}")
}

fn is_ready(pod: &Value) -> bool {
    condition(pod, "Ready")["status"] == "True"
}

fn condition<'a>(pod: &'a Value, kind: &str) -> &'a Value {
    let all = pod["status"]["conditions"].as_array().map(Vec::as_slice).unwrap_or_default();
    all.iter().find(|one| one["type"] == kind).unwrap_or(&Value::Null)
}

/// Waits until the Events of a Pod have these reasons in this order; other reasons in between are ignored.
async fn has_events(cluster: &Cluster, name: &str, reasons: &[&str]) {
    let events = "/api/v1/namespaces/default/events";
    let has_all = |list: &Value| {
        let mut about: Vec<&Value> =
            items(list).iter().filter(|event| event["involvedObject"]["name"] == name).collect();
        about.sort_by_key(|event| event["metadata"]["name"].as_str().unwrap().to_owned());
        let mut all = about.iter().map(|event| event["reason"].as_str().unwrap());
        reasons.iter().all(|reason| all.any(|seen| seen == *reason))
    };
    cluster.eventually(events, &format!("{reasons:?} of {name}"), has_all).await;
}

#[tokio::test]
async fn a_pod_is_scheduled_runs_and_goes() {
    let cluster = start().await;
    cluster.create(PODS, &pod("web", json!({}))).await;
    let web = cluster.eventually(&path("web"), "ready", is_ready).await;
    // Each program writes its own Events.
    let is_started = |list: &Value| items(list).iter().any(|event| event["reason"] == "Started");
    let written = cluster.eventually("/api/v1/namespaces/default/events", "the Event of its start", is_started).await;
    let writer = |reason: &str| {
        let event = items(&written).iter().find(|event| event["reason"] == reason);
        event.map(|event| event["metadata"]["managedFields"][0]["manager"].clone())
    };
    assert_eq!(["Scheduled", "Started"].map(writer), ["kube-scheduler", "kubelet"].map(|name| Some(json!(name))));
    let status = &web["status"];
    assert_eq!((&status["phase"], &status["qosClass"]), (&json!("Running"), &json!("BestEffort")));
    let kinds: Vec<&str> =
        status["conditions"].as_array().unwrap().iter().map(|one| one["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled"]);
    let since = condition(&web, "Ready")["lastTransitionTime"].clone();
    let ready = json!({"type": "Ready", "status": "True", "observedGeneration": 1, "lastProbeTime": null,
        "lastTransitionTime": since});
    assert_eq!(condition(&web, "Ready"), &ready);
    let container = &status["containerStatuses"][0];
    assert_eq!(
        (&container["ready"], &container["started"], &container["restartCount"], &container["image"]),
        (&json!(true), &json!(true), &json!(0), &json!("docker.io/library/nginx:1.27"))
    );
    assert!(container["state"]["running"]["startedAt"].is_string(), "{container}");
    assert_eq!(status["podIPs"], json!([{"ip": status["podIP"]}]));
    let (_, node) = cluster.server.get(&format!("/api/v1/nodes/{}", web["spec"]["nodeName"].as_str().unwrap())).await;
    assert_eq!(status["hostIP"], node["status"]["addresses"][0]["address"]);
    assert_eq!(web["spec"]["tolerations"].as_array().unwrap().len(), 2);
    has_events(&cluster, "web", &["Scheduled", "Pulling", "Pulled", "Created", "Started"]).await;
    let assigned = format!("Successfully assigned default/web to {}", web["spec"]["nodeName"].as_str().unwrap());
    assert_eq!(events(&cluster.server, "Scheduled", "web").await, [assigned]);

    let (code, leaving) = cluster.server.delete(&path("web")).await;
    assert_eq!((code, &leaving["metadata"]["deletionGracePeriodSeconds"]), (200, &json!(30)));
    cluster.eventually(&path("web"), "gone", |pod| pod["code"] == 404).await;
    has_events(&cluster, "web", &["Started", "Killing"]).await;
    assert_eq!(events(&cluster.server, "Killing", "web").await, ["Stopping container main"]);

    // The new Pod has the same name, and its image is already on the node.
    cluster.create(PODS, &pod("web", json!({}))).await;
    cluster.eventually(&path("web"), "ready", is_ready).await;
    cluster.stop().await;
}

#[tokio::test]
async fn init_containers_run_one_by_one_and_a_pod_that_ends_says_how() {
    let cluster = start().await;
    let init = |name: &str| json!({"name": name, "image": "busybox:1", "command": ["sh", "-c", "sleep 5"]});
    let spec = json!({"initContainers": [init("one"), init("two")], "restartPolicy": "Never",
        "containers": [{"name": "main", "image": "busybox:1", "command": ["sh", "-c", "sleep 3; exit 4"]}]});
    cluster.create(PODS, &pod("task", spec)).await;
    let done = cluster.eventually(&path("task"), "failed", |pod| pod["status"]["phase"] == "Failed").await;
    let ended = &done["status"]["containerStatuses"][0]["state"]["terminated"];
    assert_eq!((&ended["exitCode"], &ended["reason"]), (&json!(4), &json!("Error")));
    for init in done["status"]["initContainerStatuses"].as_array().unwrap() {
        assert_eq!((&init["state"]["terminated"]["reason"], &init["ready"]), (&json!("Completed"), &json!(true)));
    }
    assert_eq!(condition(&done, "Initialized")["status"], "True");
    assert_eq!(condition(&done, "Ready")["reason"], "PodFailed");
    has_events(
        &cluster,
        "task",
        &["Pulling", "Pulled", "Created", "Started", "Pulled", "Created", "Started", "Pulled", "Started"],
    )
    .await;
    let present = "Container image \"busybox:1\" already present on machine and can be accessed by the pod";
    assert!(events(&cluster.server, "Pulled", "task").await.contains(&present.to_owned()));
    // A Pod that has ended is deleted at once.
    assert_eq!(cluster.server.delete(&path("task")).await.1["status"], "Success");
    cluster.stop().await;
}

#[tokio::test]
async fn a_container_that_fails_is_restarted_later_and_later() {
    let cluster = start().await;
    cluster
        .create(
            PODS,
            &pod("crash", json!({"containers": [{"name": "main", "image": "app:1", "command": ["/bin/false"]}]})),
        )
        .await;
    let backs_off = |pod: &Value| {
        let status = &pod["status"]["containerStatuses"][0];
        status["state"]["waiting"]["reason"] == "CrashLoopBackOff" && status["restartCount"].as_u64() >= Some(2)
    };
    let crash = cluster.eventually(&path("crash"), "in back-off", backs_off).await;
    let status = &crash["status"]["containerStatuses"][0];
    assert_eq!(
        (&status["lastState"]["terminated"]["exitCode"], &crash["status"]["phase"]),
        (&json!(1), &json!("Running"))
    );
    let message = status["state"]["waiting"]["message"].as_str().unwrap();
    let uid = crash["metadata"]["uid"].as_str().unwrap();
    assert!(
        message.starts_with("back-off ")
            && message.ends_with(&format!("ms restarting failed container=main pod=crash_default({uid})")),
        "{message}"
    );
    assert_eq!(condition(&crash, "Ready")["message"], "containers with unready status: [main]");
    has_events(&cluster, "crash", &["Started", "BackOff"]).await;
    cluster.server.delete(&path("crash")).await;
    cluster.eventually(&path("crash"), "gone", |pod| pod["code"] == 404).await;
    cluster.stop().await;
}

#[tokio::test]
async fn an_image_that_is_not_there_is_asked_for_again() {
    let cluster = start().await;
    cluster.create(PODS, &pod("typo", json!({"containers": [{"name": "main", "image": "nginx:typo"}]}))).await;
    let waits = |reason: &'static str| {
        move |pod: &Value| pod["status"]["containerStatuses"][0]["state"]["waiting"]["reason"] == reason
    };
    let back_off = cluster.eventually(&path("typo"), "backing off", waits("ImagePullBackOff")).await;
    assert_eq!(back_off["status"]["phase"], "Pending");
    has_events(&cluster, "typo", &["Pulling", "Failed", "BackOff"]).await;
    let again = |list: &Value| {
        let pulls = |event: &Value| event["reason"] == "Pulling" && event["involvedObject"]["name"] == "typo";
        items(list).iter().any(|event| pulls(event) && event["count"].as_u64() > Some(1))
    };
    cluster.eventually("/api/v1/namespaces/default/events", "pulled again", again).await;
    let failed = events(&cluster.server, "Failed", "typo").await;
    assert!(failed.iter().any(|message| message == "Error: ErrImagePull"), "{failed:?}");
    assert!(
        failed
            .iter()
            .any(|message| message.starts_with("Failed to pull image \"nginx:typo\": rpc error: code = NotFound"))
    );
    cluster.server.delete(&path("typo")).await;
    cluster.eventually(&path("typo"), "gone", |pod| pod["code"] == 404).await;
    cluster.stop().await;
}

#[tokio::test]
async fn annotations_make_a_container_fail() {
    let cluster = start().await;
    let annotated = |name: &str, annotations: Value| {
        let mut pod = pod(name, json!({}));
        pod["metadata"]["annotations"] = annotations;
        pod
    };
    cluster.create(PODS, &annotated("oom", json!({"demo.kubechurn.dev/oom-after": "1s"}))).await;
    cluster.create(PODS, &annotated("sick", json!({"demo.kubechurn.dev/fail-live": "1s"}))).await;
    cluster.create(PODS, &annotated("never", json!({"demo.kubechurn.dev/fail-ready": "always"}))).await;
    cluster.create(PODS, &annotated("flaps", json!({"demo.kubechurn.dev/fail-ready": "30s"}))).await;
    let last = |reason: &'static str| {
        move |pod: &Value| pod["status"]["containerStatuses"][0]["lastState"]["terminated"]["reason"] == reason
    };
    let oom = cluster.eventually(&path("oom"), "killed", last("OOMKilled")).await;
    assert_eq!(oom["status"]["containerStatuses"][0]["lastState"]["terminated"]["exitCode"], 137);
    cluster.eventually(&path("sick"), "restarted", last("Error")).await;
    has_events(&cluster, "sick", &["Started", "Unhealthy", "Killing"]).await;
    has_events(&cluster, "never", &["Unhealthy"]).await;
    let (_, never) = cluster.server.get(&path("never")).await;
    assert_eq!((&never["status"]["phase"], is_ready(&never)), (&json!("Running"), false));
    cluster.eventually(&path("flaps"), "ready", is_ready).await;
    cluster.eventually(&path("flaps"), "not ready", |pod| !is_ready(pod)).await;
    cluster.eventually(&path("flaps"), "ready again", is_ready).await;
    cluster.stop().await;
}
