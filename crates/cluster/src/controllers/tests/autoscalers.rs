//! HorizontalPodAutoscalers: the number of Pods for a simulated load.

use super::*;
use crate::controllers::horizontal_pod_autoscaler::HorizontalPodAutoscalers;

const AUTOSCALERS: &str = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers";
const WEB: &str = "/apis/apps/v1/namespaces/default/deployments/web";

async fn start(replicas: usize, load: Option<&str>, more: &Value) -> Cluster {
    let cluster = Cluster::start(|manager| manager.add::<HorizontalPodAutoscalers>()).await;
    let deployment = json!({"metadata": {"name": "web"}, "spec": spec("web", replicas)});
    cluster.create("/apis/apps/v1/namespaces/default/deployments", &deployment).await;
    let target = json!({"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"});
    let mut autoscaler = json!({"metadata": {"name": "web"}, "spec": {"scaleTargetRef": target, "maxReplicas": 10}});
    if let Some(load) = load {
        autoscaler["metadata"]["annotations"] = json!({"kubechurn.dev/load": load});
    }
    for (field, value) in more.as_object().into_iter().flatten() {
        autoscaler["spec"][field] = value.clone();
    }
    cluster.create(AUTOSCALERS, &autoscaler).await;
    cluster
}

fn conditions(autoscaler: &Value) -> Vec<String> {
    let all = autoscaler["status"]["conditions"].as_array().into_iter().flatten();
    all.map(|one| format!("{}={} {}", one["type"], one["status"], one["reason"]).replace('"', "")).collect()
}

#[tokio::test]
async fn a_load_is_shared_by_as_many_as_it_wants() {
    // The work of five Pods for two Pods, with a target of 80 %.
    let cluster = start(2, Some("400..400/8s"), &Value::Null).await;
    cluster.eventually(WEB, "5 replicas", |web| web["spec"]["replicas"] == 5).await;
    let path = format!("{AUTOSCALERS}/web");
    let steady = |one: &Value| one["status"]["currentReplicas"] == 5 && one["status"]["desiredReplicas"] == 5;
    let autoscaler = cluster.eventually(&path, "steady", steady).await;
    assert_eq!(autoscaler["status"]["currentMetrics"][0]["resource"]["current"]["averageUtilization"], 80);
    assert_eq!(
        conditions(&autoscaler),
        [
            "AbleToScale=True ReadyForNewScale",
            "ScalingActive=True ValidMetricFound",
            "ScalingLimited=False DesiredWithinRange"
        ]
    );
    assert!(autoscaler["status"]["lastScaleTime"].is_string());
    let server = cluster.stop().await;
    let message = "New size: 5; reason: cpu resource utilization (percentage of request) above target";
    assert_eq!(events(&server, "SuccessfulRescale", "web").await, [message]);
}

#[tokio::test]
async fn bounds_hold_and_a_window_makes_going_down_wait() {
    let at_once = json!({"behavior": {"scaleDown": {"stabilizationWindowSeconds": 0}}, "minReplicas": 2});
    let cluster = start(6, Some("10..10/8s"), &at_once).await;
    cluster.eventually(WEB, "the least", |web| web["spec"]["replicas"] == 2).await;
    let path = format!("{AUTOSCALERS}/web");
    let limited = |one: &Value| conditions(one).contains(&"ScalingLimited=True TooFewReplicas".to_owned());
    cluster.eventually(&path, "limited", limited).await;
    cluster.patch(&path, &json!({"spec": {"maxReplicas": 1, "minReplicas": 1}})).await;
    cluster.eventually(WEB, "the most", |web| web["spec"]["replicas"] == 1).await;
    cluster.stop().await;
}

#[tokio::test]
async fn without_a_load_there_are_no_metrics() {
    let cluster = start(2, None, &Value::Null).await;
    let told = |one: &Value| conditions(one).contains(&"ScalingActive=False FailedGetResourceMetric".to_owned());
    cluster.eventually(&format!("{AUTOSCALERS}/web"), "told", told).await;
    let (_, web) = cluster.server.get(WEB).await;
    assert_eq!(web["spec"]["replicas"], 2);
    cluster.stop().await;
}
