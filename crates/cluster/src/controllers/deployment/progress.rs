//! Whether a rollout progresses, is complete, or is stuck (`pkg/controller/deployment/progress.go`, `util`).

use serde_json::{Value, json};

use super::super::object;
use super::replicas::wanted;
use crate::clock::timestamp;
use crate::resources::conditions;

/// The type of the condition that reports progress.
pub const PROGRESSING: &str = "Progressing";
/// The reason for a complete rollout: all desired replicas exist and are available.
const AVAILABLE: &str = "NewReplicaSetAvailable";
/// The reason while the rollout progresses.
const UPDATED: &str = "ReplicaSetUpdated";
/// The reason after too long without progress.
pub const TIMED_OUT: &str = "ProgressDeadlineExceeded";
/// The reason while the rollout is paused.
pub const PAUSED: &str = "DeploymentPaused";
/// The reason after a pause.
pub const RESUMED: &str = "DeploymentResumed";

/// The seconds that may pass without progress; `None` if there is no limit.
pub fn deadline(deployment: &Value) -> Option<i64> {
    object::number(deployment, "/spec/progressDeadlineSeconds").filter(|seconds| *seconds != i64::from(i32::MAX))
}

/// The reason of the condition Progressing; empty if there is none.
pub fn reason(status: &Value) -> &str {
    find(status, PROGRESSING).map_or("", |condition| object::text(condition, "/reason"))
}

/// A condition as of `now`, in seconds since 1970.
pub fn condition(kind: &str, status: &str, reason: &str, message: &str, now: i64) -> Value {
    let now = timestamp(now);
    json!({"type": kind, "status": status, "lastUpdateTime": now, "lastTransitionTime": now, "reason": reason,
        "message": message})
}

/// Sets a condition. A condition with the same status and reason stays as it is; one with the same status keeps its
/// `lastTransitionTime` (`SetDeploymentCondition`).
pub fn set(status: &mut Value, mut condition: Value) {
    let known = find(status, object::text(&condition, "/type")).cloned();
    if let Some(known) = &known
        && known["status"] == condition["status"]
    {
        if known["reason"] == condition["reason"] {
            return;
        }
        object::set(&mut condition, &["lastTransitionTime"], known["lastTransitionTime"].clone());
    }
    put(status, condition);
}

/// Removes a condition.
pub fn remove(status: &mut Value, kind: &str) {
    if let Some(conditions) = status.get_mut("conditions").and_then(Value::as_array_mut) {
        conditions.retain(|condition| condition["type"] != kind);
    }
}

fn put(status: &mut Value, condition: Value) {
    remove(status, object::text(&condition, "/type"));
    match status.get_mut("conditions").and_then(Value::as_array_mut) {
        Some(conditions) => conditions.push(condition),
        None => object::set(status, &["conditions"], json!([condition])),
    }
}

fn find<'a>(status: &'a Value, kind: &str) -> Option<&'a Value> {
    conditions::find(&status["conditions"], kind)
}

/// Whether all desired replicas are of the newest template and available (`DeploymentComplete`).
pub fn is_complete(deployment: &Value, status: &Value) -> bool {
    let wanted = wanted(deployment);
    let is_wanted = |field: &str| status[field].as_i64().unwrap_or_default() == wanted;
    ["updatedReplicas", "replicas", "availableReplicas"].into_iter().all(is_wanted)
        && status["observedGeneration"].as_i64() >= object::number(deployment, "/metadata/generation")
}

/// Whether there are more desired replicas than before, or fewer old ones (`DeploymentProgressing`).
fn is_progress(before: &Value, after: &Value) -> bool {
    let number = |status: &Value, field: &str| status[field].as_i64().unwrap_or_default();
    let old = |status: &Value| number(status, "replicas") - number(status, "updatedReplicas");
    let grew = |field: &str| number(after, field) > number(before, field);
    ["updatedReplicas", "readyReplicas", "availableReplicas"].into_iter().any(grew) || old(after) < old(before)
}

/// Whether the last progress is longer ago than the deadline allows (`DeploymentTimedOut`).
fn is_timed_out(status: &Value, deadline: i64, now: i64) -> bool {
    match (reason(status), find(status, PROGRESSING)) {
        (AVAILABLE, _) | (_, None) => false,
        (TIMED_OUT, _) => true,
        (_, Some(condition)) => {
            object::time(condition, "/lastUpdateTime").is_some_and(|since| since.0.saturating_add(deadline) < now)
        }
    }
}

/// Sets the condition Progressing in a new status. `new` is the name of the ReplicaSet of the newest template.
pub fn set_progressing(deployment: &Value, status: &mut Value, new: Option<&str>, now: i64) {
    let before = &deployment["status"];
    let Some(deadline) = deadline(deployment) else { return remove(status, PROGRESSING) };
    // A complete rollout does not begin again because a Pod fails.
    if status["replicas"] == status["updatedReplicas"] && reason(before) == AVAILABLE {
        return;
    }
    let who = match new {
        Some(name) => format!("ReplicaSet {name:?}"),
        None => format!("Deployment {:?}", object::name(deployment)),
    };
    if is_complete(deployment, status) {
        let message = format!("{who} has successfully progressed.");
        set(status, condition(PROGRESSING, "True", AVAILABLE, &message, now));
    } else if is_progress(before, status) {
        let mut condition = condition(PROGRESSING, "True", UPDATED, &format!("{who} is progressing."), now);
        // The condition is replaced even where the reason is the same, because its time is that of the last progress.
        if let Some(known) = find(before, PROGRESSING).filter(|known| known["status"] == "True") {
            object::set(&mut condition, &["lastTransitionTime"], known["lastTransitionTime"].clone());
        }
        put(status, condition);
    } else if is_timed_out(status, deadline, now) {
        let message = format!("{who} has timed out progressing.");
        set(status, condition(PROGRESSING, "False", TIMED_OUT, &message, now));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: i64 = 1_795_248_864;

    /// Checks a Deployment of 3 replicas whose reason was `reason_before`, set `ago` seconds ago. `before` and `after`
    /// are the numbers of replicas, updated replicas and available replicas; `expected` is the reason after the change.
    fn check(reason_before: &str, ago: i64, before: [i64; 3], after: [i64; 3], expected: &str) {
        let status = |numbers: [i64; 3]| {
            let [replicas, updated, available] = numbers;
            let mut status = json!({"replicas": replicas, "updatedReplicas": updated, "availableReplicas": available,
                "observedGeneration": 1});
            if !reason_before.is_empty() {
                set(&mut status, condition(PROGRESSING, "True", reason_before, "", NOW - ago));
            }
            status
        };
        let deployment = json!({"metadata": {"name": "web", "generation": 1}, "status": status(before),
            "spec": {"replicas": 3, "progressDeadlineSeconds": 60}});
        let mut after = status(after);
        set_progressing(&deployment, &mut after, Some("web-1"), NOW);
        assert_eq!(reason(&after), expected, "{reason_before} {ago}");
        if expected == UPDATED {
            let condition = find(&after, PROGRESSING).unwrap();
            assert_eq!(object::time(condition, "/lastUpdateTime").unwrap().0, NOW, "progress is timed");
        }
    }

    #[test]
    fn progress_is_distinguished_from_waiting() {
        check("", 0, [0, 0, 0], [1, 1, 0], UPDATED);
        check("NewReplicaSetCreated", 5, [3, 0, 3], [4, 1, 3], UPDATED);
        check(UPDATED, 59, [4, 1, 3], [4, 2, 3], UPDATED);
        check("NewReplicaSetCreated", 60, [3, 1, 2], [3, 1, 2], "NewReplicaSetCreated");
        check("NewReplicaSetCreated", 61, [3, 1, 2], [3, 1, 2], TIMED_OUT);
        check(TIMED_OUT, 0, [3, 1, 2], [3, 1, 2], TIMED_OUT);
        check(TIMED_OUT, 0, [3, 1, 2], [3, 1, 3], UPDATED);
        check(UPDATED, 99, [3, 3, 2], [3, 3, 3], AVAILABLE);
        check(AVAILABLE, 999, [3, 3, 3], [3, 3, 2], AVAILABLE);
        check(AVAILABLE, 999, [3, 3, 3], [4, 1, 3], AVAILABLE);
    }

    #[test]
    fn only_another_status_is_a_transition() {
        let mut status = json!({});
        for (word, reason, at, transition, update) in
            [("True", "A", 1, 1, 1), ("True", "A", 2, 1, 1), ("True", "B", 3, 1, 3), ("False", "B", 4, 4, 4)]
        {
            set(&mut status, condition("Available", word, reason, "", at));
            let condition = find(&status, "Available").unwrap();
            let times = (condition["lastTransitionTime"].clone(), condition["lastUpdateTime"].clone());
            assert_eq!(times, (timestamp(transition).into(), timestamp(update).into()), "{word} {reason}");
        }
        remove(&mut status, "Available");
        assert_eq!(status, json!({"conditions": []}));
    }
}
