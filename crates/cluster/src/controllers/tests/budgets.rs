//! PodDisruptionBudgets: how many Pods may be evicted.

use super::kubelet::Kubelet;
use super::*;
use crate::controllers::disruption::Disruption;
use crate::controllers::replica_set::ReplicaSets;

const BUDGETS: &str = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";

/// Checks the status of a budget over the five Pods of a ReplicaSet: healthy, desired, allowed, expected.
async fn check(budget: Value, expected: [i64; 4]) {
    let cluster = Cluster::start(|manager| {
        manager.add::<ReplicaSets>();
        manager.add::<Kubelet>();
        manager.add::<Disruption>();
    })
    .await;
    cluster.create(REPLICA_SETS, &json!({"metadata": {"name": "web"}, "spec": spec("web", 5)})).await;
    let mut spec = budget.clone();
    spec["selector"] = json!({"matchLabels": {"app": "web"}});
    cluster.create(BUDGETS, &json!({"metadata": {"name": "web"}, "spec": spec})).await;
    let [healthy, wanted, allowed, pods] = expected;
    let path = format!("{BUDGETS}/web");
    let is_so = |one: &Value| {
        let status = &one["status"];
        status["currentHealthy"] == healthy
            && status["desiredHealthy"] == wanted
            && status["disruptionsAllowed"] == allowed
            && status["expectedPods"] == pods
    };
    let known = cluster.eventually(&path, &format!("{budget}"), is_so).await;
    let reason = if allowed > 0 { "SufficientPods" } else { "InsufficientPods" };
    assert_eq!(known["status"]["conditions"][0]["reason"], reason);
    assert_eq!(known["status"]["observedGeneration"], 1);
    cluster.stop().await;
}

#[tokio::test]
async fn what_may_be_disrupted_is_what_is_healthy_beyond_the_least() {
    check(json!({"minAvailable": 3}), [5, 3, 2, 5]).await;
    check(json!({"minAvailable": "50%"}), [5, 3, 2, 5]).await;
    check(json!({"maxUnavailable": 1}), [5, 4, 1, 5]).await;
    check(json!({"maxUnavailable": "0%"}), [5, 5, 0, 5]).await;
    check(json!({"minAvailable": 9}), [5, 9, 0, 5]).await;
}
