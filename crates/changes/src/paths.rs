//! Which field of a change says most.

use kubechurn_client::api::cell::Tone;
use kubechurn_client::json;
use kubechurn_columns::state;

/// The path under which a Pod's state is kept, after the table's column: it is made of several fields.
pub(crate) const POD_STATUS: &str = "STATUS";
/// The field that is set when an object is asked to go.
pub(crate) const DELETION: &str = "metadata.deletionTimestamp";

/// The path as it is shown.
pub(crate) fn shown(path: &str) -> &str {
    if path == POD_STATUS { "status" } else { path }
}

/// The type of the condition to which a path leads, and the rest of the path: `Ready` and `.status`.
pub(crate) fn condition(path: &str) -> Option<(&str, &str)> {
    path.strip_prefix("status.conditions[")?.split_once(']')
}

/// The old and the new text of a field, with the zero in the place of a count that a server leaves out where it is zero.
pub fn with_zero<'a>(path: &str, sides: [Option<&'a str>; 2]) -> [Option<&'a str>; 2] {
    let is_number = |json: &str| json::integer(json).is_some();
    let [old, new] = sides;
    match is_count(path) && old.or(new).is_some_and(is_number) {
        true => sides.map(|side| side.or(Some("0"))),
        false => sides,
    }
}

/// Whether a field is a count that the server leaves out where it is zero.
fn is_count(path: &str) -> bool {
    const COUNTS: [&str; 15] = [
        "replicas",
        "fullyLabeledReplicas",
        "readyReplicas",
        "availableReplicas",
        "unavailableReplicas",
        "updatedReplicas",
        "currentReplicas",
        "terminatingReplicas",
        "numberAvailable",
        "numberUnavailable",
        "updatedNumberScheduled",
        "active",
        "ready",
        "succeeded",
        "failed",
    ];
    path.strip_prefix("status.").is_some_and(|name| COUNTS.contains(&name))
}

/// Whether a field counts Pods that are as they should be.
pub(crate) fn is_readiness(path: &str) -> bool {
    matches!(
        path.strip_prefix("status."),
        Some("readyReplicas" | "availableReplicas" | "numberReady" | "numberAvailable" | "currentHealthy")
    )
}

/// How little a condition says: first those that sum up the object, then what turned out badly.
fn rank_of_condition(kind: &str, (name, member): (&str, &str), new: &str) -> u8 {
    let is_sum = matches!(name, "Ready" | "Available" | "Complete" | "Failed" | "Progressing");
    match member {
        // Whether a Node is ready decides about all that is on it.
        ".status" | "" if kind == "Node" && name == "Ready" => 3,
        ".status" | "" if is_sum => 10,
        ".status" if matches!(state::condition(kind, name, new), Tone::Bad | Tone::Wait) => 11,
        ".status" | "" => 12,
        ".reason" if is_sum => 13,
        ".reason" => 14,
        ".message" => 16,
        member if member.ends_with("Time") => 26,
        _ => 15,
    }
}

/// How little a field says: the fields of a change are shown in this order. `new` is the value that the field has now.
pub fn rank(kind: &str, path: &str, new: &str) -> u8 {
    let ends = |name: &str| path.ends_with(name);
    if let Some(condition) = condition(path) {
        return rank_of_condition(kind, condition, new);
    }
    if path == POD_STATUS {
        return 0;
    }
    if path == "status.phase" {
        return 1;
    }
    if ends(".state.waiting.reason") || ends(".state.terminated.reason") {
        return 2;
    }
    if path == DELETION {
        return 3;
    }
    if let Some(spec) = path.strip_prefix("spec.") {
        return match spec {
            "replicas" => 4,
            _ if ends(".image") => 4,
            _ => 5,
        };
    }
    if let Some(metadata) = path.strip_prefix("metadata.") {
        let is_users = metadata.starts_with("labels") || metadata.starts_with("annotations");
        let is_servers = ["deployment.kubernetes.io/", "last-change-trigger-time", "last-applied-configuration"];
        return match metadata {
            "deletionGracePeriodSeconds" => 31,
            _ if is_users && !is_servers.iter().any(|name| path.contains(name)) => 20,
            _ => 30,
        };
    }
    if matches!(path, "lastTimestamp" | "firstTimestamp" | "eventTime" | "series.lastObservedTime") {
        return 26;
    }
    if kind == "Event" {
        return match path {
            "reason" => 6,
            "message" | "note" => 7,
            _ => 8,
        };
    }
    let Some(status) = path.strip_prefix("status.") else { return if path == "status" { 15 } else { 6 } };
    match status {
        "readyReplicas" | "updatedReplicas" | "succeeded" | "failed" | "active" => 8,
        "availableReplicas" | "replicas" | "currentReplicas" | "desiredReplicas" | "ready" => 9,
        _ if ends(".restartCount") => 7,
        _ if ends("Time") || ends("startedAt") || ends("finishedAt") => 26,
        _ if ends("].message") || ends("Replicas") => 16,
        _ => 15,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_says_most_comes_first() {
        let order = [
            POD_STATUS,
            "status.phase",
            "status.containerStatuses[web].state.waiting.reason",
            "metadata.deletionTimestamp",
            "spec.replicas",
            "spec.paused",
            "data.x",
            "status.containerStatuses[web].restartCount",
            "status.readyReplicas",
            "status.replicas",
            "status.conditions[Ready].status",
            "status.conditions[Ready].reason",
            "status.hostIP",
            "status.conditions[Ready].message",
            "metadata.annotations.x",
            "status.startTime",
            r#"metadata.annotations["deployment.kubernetes.io/revision"]"#,
        ];
        let rank = |path: &str| rank("Pod", path, "True");
        assert!(order.windows(2).all(|pair| rank(pair[0]) < rank(pair[1])), "{:?}", order.map(rank));
    }

    #[test]
    fn what_sums_up_comes_before_what_turned_out_badly() {
        let check = |kind: &str, order: &[(&str, &str)]| {
            let rank = |(name, new): &(&str, &str)| rank(kind, &format!("status.conditions[{name}].status"), new);
            let ranks: Vec<u8> = order.iter().map(rank).collect();
            assert!(ranks.is_sorted_by(|one, two| one < two), "{kind}: {ranks:?}");
        };
        check("Node", &[("Ready", "Unknown"), ("MemoryPressure", "True"), ("DiskPressure", "False")]);
        check("Deployment", &[("Available", "True"), ("ReplicaFailure", "True"), ("Other", "True")]);
        check("Gateway", &[("Ready", "False"), ("Programmed", "False"), ("Accepted", "True")]);
        // A Node that is lost says so before its taints do, and what is asked for comes before all conditions.
        let ready = "status.conditions[Ready].status";
        assert!(rank("Node", ready, "Unknown") < rank("Node", "spec.taints", ""));
        assert!(rank("Gateway", "spec.replicas", "1") < rank("Gateway", ready, "False"));
    }
}
