//! How many replicas a Deployment asks for, and the surge and unavailability that a rollout is allowed
//! (`pkg/controller/deployment/util/deployment_util.go`).

use serde_json::Value;

use super::super::int_or_percent::scaled;
use super::super::object;

/// The number of replicas in the spec of a Deployment or ReplicaSet.
pub fn wanted(object: &Value) -> i64 {
    object::number(object, "/spec/replicas").unwrap_or(1).clamp(0, i64::from(i32::MAX))
}

/// How many replicas a ReplicaSet has available.
pub fn available(set: &Value) -> i64 {
    object::count(set, "/status/availableReplicas")
}

/// The sum of the replicas in the specs of the ReplicaSets.
pub fn total<'a>(sets: impl IntoIterator<Item = &'a Value>) -> i64 {
    sets.into_iter().map(wanted).sum()
}

/// How many Pods there may be beyond the desired number.
pub fn max_surge(deployment: &Value) -> i64 {
    fenceposts(deployment).0
}

/// How many of the desired Pods may be unavailable.
pub fn max_unavailable(deployment: &Value) -> i64 {
    let wanted = wanted(deployment);
    if wanted == 0 { 0 } else { fenceposts(deployment).1.min(wanted) }
}

/// Converts percentages to Pods: surge is rounded up, unavailability is rounded down. If both are 0, one Pod may be
/// unavailable, because otherwise no rollout could begin (`ResolveFenceposts`).
fn fenceposts(deployment: &Value) -> (i64, i64) {
    if !is_rolling(deployment) {
        return (0, 0);
    }
    let rolling = &deployment["spec"]["strategy"]["rollingUpdate"];
    let wanted = wanted(deployment);
    let surge = scaled(&rolling["maxSurge"], wanted, true);
    let unavailable = scaled(&rolling["maxUnavailable"], wanted, false);
    (surge, if surge == 0 && unavailable == 0 { 1 } else { unavailable })
}

pub(super) fn is_rolling(deployment: &Value) -> bool {
    object::text(deployment, "/spec/strategy/type") != "Recreate"
}

/// How many replicas the new ReplicaSet may have now, where the specs of all ReplicaSets add up to `total`
/// (`NewRSNewReplicas`).
pub fn new_replicas(deployment: &Value, new: &Value, total: i64) -> i64 {
    let replicas = wanted(deployment);
    if !is_rolling(deployment) {
        return replicas;
    }
    let (has, allowed) = (wanted_or_none(new), replicas + max_surge(deployment));
    if total >= allowed { has } else { has + (allowed - total).min(replicas - has) }
}

/// The number of replicas in the spec of a ReplicaSet; 0 for one that is not created yet.
fn wanted_or_none(set: &Value) -> i64 {
    object::count(set, "/spec/replicas")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn deployment(replicas: i64, surge: impl Into<Value>, unavailable: impl Into<Value>) -> Value {
        let rolling = json!({"maxSurge": surge.into(), "maxUnavailable": unavailable.into()});
        json!({"spec": {"replicas": replicas, "strategy": {"type": "RollingUpdate", "rollingUpdate": rolling}}})
    }

    #[test]
    fn percentages_round_so_that_something_can_be_done() {
        for (deployment, surge, unavailable) in [
            (deployment(10, "25%", "25%"), 3, 2),
            (deployment(1, "25%", "25%"), 1, 0),
            (deployment(10, 0, 0), 0, 1),
            (deployment(10, "0%", "5%"), 0, 1),
            (deployment(3, 1, 5), 1, 3),
            (deployment(0, "25%", 1), 0, 0),
            (deployment(4, "junk", "-5%"), 0, 1),
            (json!({"spec": {"replicas": 4, "strategy": {"type": "Recreate"}}}), 0, 0),
        ] {
            assert_eq!((max_surge(&deployment), max_unavailable(&deployment)), (surge, unavailable), "{deployment}");
        }
    }

    #[test]
    fn the_new_one_grows_up_to_the_surge() {
        for (has, total, expected) in [(0, 10, 3), (3, 13, 3), (3, 11, 5), (9, 9, 10), (10, 10, 10), (0, 0, 10)] {
            let new = json!({"spec": {"replicas": has}});
            assert_eq!(new_replicas(&deployment(10, 3, 2), &new, total), expected, "{has} of {total}");
        }
    }
}
