//! Which field of a change says most, and what a Pod's fields say together.

use std::borrow::Cow;

use crate::raw;

/// The path under which a Pod's state is kept, after the table's column: it is made of several fields.
pub(crate) const POD_STATUS: &str = "STATUS";
/// The field that is set when an object is asked to go.
pub(crate) const DELETION: &str = "metadata.deletionTimestamp";

/// The path as it is shown.
pub(crate) fn shown(path: &str) -> &str {
    if path == POD_STATUS { "status" } else { path }
}

/// How little a field says: the fields of a change are told in this order.
pub(crate) fn rank(path: &str) -> u8 {
    let ends = |name: &str| path.ends_with(name);
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
    let Some(status) = path.strip_prefix("status.") else { return if path == "status" { 12 } else { 6 } };
    match status {
        "readyReplicas" | "updatedReplicas" | "succeeded" | "failed" | "active" => 8,
        "availableReplicas" | "replicas" | "currentReplicas" | "desiredReplicas" | "ready" => 9,
        _ if ends(".restartCount") => 7,
        _ if status.starts_with("conditions[") && ends("].status") => 10,
        _ if status.starts_with("conditions[") && ends("].reason") => 11,
        _ if status.starts_with("conditions[") && ends("]") => 10,
        _ if ends("Time") || ends("startedAt") || ends("finishedAt") => 26,
        _ if ends("].message") || ends("Replicas") => 16,
        _ => 12,
    }
}

/// The word for a Pod's state: why its containers wait or ended, or its phase. Less than what a table shows as STATUS, which
/// counts containers too (`printPod` in `printers.go` of Kubernetes).
/// `is_going` says whether the Pod is asked to go.
pub(crate) fn pod_status(is_going: bool, status: &str) -> Option<Cow<'_, str>> {
    let status = &*raw::members(status)?;
    let word = |value: &str| matches!(value.as_bytes().first(), Some(b'"')) && value.len() > 2;
    for list in ["initContainerStatuses", "containerStatuses"] {
        let Some(statuses) = raw::named(status, list).and_then(raw::items) else { continue };
        for status in statuses {
            let Some(state) = raw::member(status, "state") else { continue };
            let reason = |name: &str| raw::value_at(state, &[name, "reason"]).filter(|reason| word(reason));
            let ended = reason("terminated").filter(|reason| !is_going && *reason != "\"Completed\"");
            if let Some(reason) = reason("waiting").filter(|_| !is_going).or(ended) {
                return raw::string(reason);
            }
        }
    }
    let own = raw::named(status, "reason").filter(|reason| word(reason)).and_then(raw::string);
    match own {
        Some(own) => Some(own),
        None if is_going => Some(Cow::Borrowed("Terminating")),
        None => raw::named(status, "phase").and_then(raw::string),
    }
}

/// Whether a word for a state says that something is wrong. The words are the kubelet's.
pub(crate) fn is_trouble(word: &str) -> bool {
    const WORDS: [&str; 9] = [
        "CrashLoopBackOff",
        "ImagePullBackOff",
        "OOMKilled",
        "Evicted",
        "Failed",
        "Error",
        "NodeLost",
        "ContainerStatusUnknown",
        "DeadlineExceeded",
    ];
    WORDS.contains(&word) || word.starts_with("Err") || word.ends_with("Error") || word.starts_with("Invalid")
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
        assert!(order.windows(2).all(|pair| rank(pair[0]) < rank(pair[1])), "{:?}", order.map(rank));
    }

    #[test]
    fn a_pod_has_one_word() {
        let check = |is_going: bool, status: &str, expected: Option<&str>| {
            assert_eq!(pod_status(is_going, status).as_deref(), expected, "{status}");
        };
        check(false, r#"{"phase":"Pending"}"#, Some("Pending"));
        let waiting = r#"{"phase":"Pending","containerStatuses":[{"state":{"waiting":{"reason":"ErrImagePull"}}}]}"#;
        check(false, waiting, Some("ErrImagePull"));
        check(true, waiting, Some("Terminating"));
        check(false, r#"{"phase":"Failed","reason":"Evicted"}"#, Some("Evicted"));
        check(false, r#"{"phase":7}"#, None);
        check(false, r#"[{]"#, None);
        assert!(is_trouble("ErrImagePull") && is_trouble("RunContainerError") && !is_trouble("Running"));
    }
}
