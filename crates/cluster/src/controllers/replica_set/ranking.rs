//! Which Pods are deleted first when there are too many (`ActivePodsWithRanks` in
//! `pkg/controller/controller_utils.go`).

use std::cmp::Reverse;
use std::collections::HashMap;

use serde_json::Value;

use super::super::{object, pod};

/// The annotation with which users set the cost of a Pod's deletion.
const DELETION_COST: &str = "controller.kubernetes.io/pod-deletion-cost";

/// The sort key of a Pod: the first field that differs decides, and the lowest rank is deleted first.
///
/// In Kubernetes, times that differ but have the same order of magnitude are decided at once by uid, which is not a
/// consistent order: one Pod may come before a second, that before a third, and the third before the first. Here the
/// fields after the time are compared first, and the uid last.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    /// Pods without a node come first.
    is_assigned: bool,
    /// Pending, then unknown, then running.
    phase: u8,
    is_ready: bool,
    cost: i32,
    /// Pods come first that share their node with more related Pods.
    related: Reverse<usize>,
    /// Pods come first that have been ready for a shorter time, by order of magnitude.
    ready_for: Option<u32>,
    /// Pods with more restarts come first.
    restarts: Reverse<i64>,
    /// Younger Pods come first, by order of magnitude.
    age: Option<u32>,
    uid: String,
}

/// The `count` Pods of `pods` that are to be deleted, the least valuable first. `related` is the number of related Pods
/// on each node; `now` is in seconds since 1970.
pub fn first_to_go<'a>(pods: &'a [Value], related: &HashMap<String, usize>, count: usize, now: i64) -> Vec<&'a Value> {
    let mut ranked: Vec<(Rank, &Value)> = pods.iter().map(|pod| (rank(pod, related, now), pod)).collect();
    ranked.sort_by(|(one, _), (other, _)| one.cmp(other));
    ranked.into_iter().take(count).map(|(_, pod)| pod).collect()
}

fn rank(pod: &Value, related: &HashMap<String, usize>, now: i64) -> Rank {
    let node = object::text(pod, "/spec/nodeName");
    let is_ready = pod::is_ready(pod);
    Rank {
        is_assigned: !node.is_empty(),
        phase: match object::text(pod, "/status/phase") {
            "Pending" => 0,
            "Running" => 2,
            _ => 1,
        },
        is_ready,
        cost: object::annotation(pod, DELETION_COST).and_then(|cost| cost.parse().ok()).unwrap_or_default(),
        related: Reverse(related.get(node).copied().unwrap_or_default()),
        ready_for: pod::ready_since(pod).map(|since| magnitude(now - since.0)),
        restarts: Reverse(pod::most_restarts(pod)),
        age: object::time(pod, "/metadata/creationTimestamp").map(|created| magnitude(now - created.0)),
        uid: object::uid(pod).to_owned(),
    }
}

/// The order of magnitude of a duration in seconds: the binary logarithm of its nanoseconds; 0 for no duration
/// (`logarithmicRankDiff`).
fn magnitude(seconds: i64) -> u32 {
    u64::try_from(seconds).unwrap_or_default().saturating_mul(1_000_000_000).checked_ilog2().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::clock::timestamp;

    const NOW: i64 = 1_795_248_864;

    /// A running Pod that has been ready for an hour, on a node of its own.
    fn pod(uid: &str) -> Value {
        json!({"metadata": {"uid": uid, "creationTimestamp": timestamp(NOW - 3600)}, "spec": {"nodeName": uid},
            "status": {"phase": "Running", "conditions":
                [{"type": "Ready", "status": "True", "lastTransitionTime": timestamp(NOW - 3600)}]}})
    }

    /// Checks that a changed Pod comes before an unchanged one, whatever their uids.
    fn goes_first(what: &str, change: impl Fn(&mut Value)) {
        for (changed, other) in [("a", "b"), ("b", "a")] {
            let mut worse = pod(changed);
            change(&mut worse);
            let pods = [pod(other), worse];
            let related = HashMap::from([("full".to_owned(), 2), ("a".to_owned(), 1), ("b".to_owned(), 1)]);
            let first = first_to_go(&pods, &related, 1, NOW);
            assert_eq!(object::uid(first[0]), changed, "{what}");
        }
    }

    #[test]
    fn the_one_whose_loss_is_least_goes_first() {
        goes_first("not assigned", |pod| pod["spec"]["nodeName"] = "".into());
        goes_first("pending", |pod| pod["status"]["phase"] = "Pending".into());
        goes_first("unknown", |pod| pod["status"]["phase"] = "Unknown".into());
        goes_first("not ready", |pod| pod["status"]["conditions"][0]["status"] = "False".into());
        goes_first("cheaper", |pod| pod["metadata"]["annotations"] = json!({DELETION_COST: "-1"}));
        goes_first("doubled up", |pod| pod["spec"]["nodeName"] = "full".into());
        let ready = |seconds: i64| timestamp(NOW - seconds);
        goes_first("ready for less time", |pod| {
            pod["status"]["conditions"][0]["lastTransitionTime"] = ready(60).into();
        });
        goes_first("restarted", |pod| pod["status"]["containerStatuses"] = json!([{"restartCount": 1}]));
        goes_first("younger", |pod| pod["metadata"]["creationTimestamp"] = ready(60).into());
        goes_first("pending though cheap to keep", |pod| {
            pod["status"]["phase"] = "Pending".into();
            pod["metadata"]["annotations"] = json!({DELETION_COST: "100"});
        });
    }

    #[test]
    fn seconds_of_the_same_magnitude_do_not_decide() {
        let mut younger = pod("b");
        younger["status"]["conditions"][0]["lastTransitionTime"] = timestamp(NOW - 3000).into();
        let pods = [younger, pod("a")];
        assert_eq!(object::uid(first_to_go(&pods, &HashMap::new(), 1, NOW)[0]), "a");
        assert_eq!(first_to_go(&pods, &HashMap::new(), 3, NOW).len(), 2);
    }
}
