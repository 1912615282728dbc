//! Pods: the columns of `printPod` (kubernetes `pkg/printers/internalversion/printers.go`).

use kubechurn_client::api::cell::{Cell, Tone};
use kubechurn_client::api::object::{Decode, DecodeError, Object};
use kubechurn_client::api::resource::ApiResource;
use kubechurn_client::api::time::Timestamp;

use super::Kind;
use super::parts::{NONE, parse, text_or};
use super::pod::{Pod, Spec, Status};
use super::pod_status::summarise;
use crate::column::{Column, StatePart};

/// Pods, in the sidebar under Workloads.
pub const KIND: Kind = Kind {
    resource: ApiResource { group: "", version: "v1", plural: "pods", kind: "Pod", namespaced: true, cluster: "" },
    name: "pods",
    short_names: &["po"],
    heading: "Workloads",
    title: "Pods",
    columns: &[
        Column::words("READY"),
        Column::words("STATUS").of_state(StatePart::Word),
        Column::figures("RESTARTS"),
        Column::figures("AGE"),
        Column::words("IP").on_demand(),
        Column::words("NODE").on_demand(),
        Column::words("NOMINATED NODE").on_demand(),
        Column::words("READINESS GATES").on_demand(),
    ],
    decode: Decode(&decode),
};

/// Reads a Pod.
///
/// # Errors
///
/// When the text is not a Pod's or has no name.
pub fn decode(text: &str) -> Result<Object, DecodeError> {
    let pod: Pod<'_> = parse(text)?;
    let is_deleting = !pod.metadata.deletion_timestamp.is_empty();
    let summary = summarise(is_deleting, &pod.spec, &pod.status);
    let gates = &pod.spec.readiness_gates;
    let cells = [
        Cell::Ratio(summary.ready, summary.total),
        Cell::Status((&*summary.word).into(), tone(&summary.word)),
        Cell::Restarts(summary.restarts, summary.last_restart),
        Cell::Age(Timestamp::parse_set(&pod.metadata.creation_timestamp)),
        text_or(pod.status.ip(), "<none>"),
        text_or(&pod.spec.node_name, "<none>"),
        text_or(&pod.status.nominated_node_name, "<none>"),
        if gates.is_empty() {
            NONE
        } else {
            let passed = gates.iter().filter(|gate| pod.status.condition(&gate.condition_type)).count();
            Cell::Ratio(passed as i64, gates.len() as i64)
        },
    ];
    pod.metadata.into_object(&cells).ok_or(DecodeError::NoName)
}

/// The text of STATUS, of the texts of a Pod's `spec` and `status`. `is_deleting` says whether it has a `deletionTimestamp`.
///
/// # Errors
///
/// When one of the texts is not a Pod's.
pub fn status(is_deleting: bool, spec: &str, status: &str) -> Result<String, DecodeError> {
    let status: Status<'_> = parse(status)?;
    // The word depends on the spec only where there are init containers; a spec is long, and most Pods have none.
    let spec = if status.init_container_statuses.is_empty() { Spec::default() } else { parse(spec)? };
    Ok(summarise(is_deleting, &spec, &status).word.into_owned())
}

/// How alarming a Pod's STATUS is.
///
/// The words for a good state and for a passing state are few and listed here. All other words come from the kubelet or
/// a controller and name what went wrong (kubernetes `pkg/kubelet/container/sync_result.go`, `images/types.go`,
/// `eviction`). New ones appear with every release, and so an unknown word counts as a failure.
pub fn tone(status: &str) -> Tone {
    match status {
        "" => Tone::Plain,
        "Running" | "Completed" | "Succeeded" | "ExitCode:0" => Tone::Good,
        "Pending" | "ContainerCreating" | "PodInitializing" | "Terminating" | "SchedulingGated" => Tone::Wait,
        _ => match status.strip_prefix("Init:") {
            // `Init:1/2` counts the init containers that have completed.
            Some(rest) if rest.starts_with(|first: char| first.is_ascii_digit()) => Tone::Wait,
            Some(rest) if tone(rest) == Tone::Wait => Tone::Wait,
            _ => Tone::Bad,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tones_tell_waiting_from_failing() {
        let check = |expected, words: &[&str]| {
            for word in words {
                assert_eq!(tone(word), expected, "{word}");
            }
        };
        check(Tone::Good, &["Running", "Completed", "Succeeded"]);
        check(Tone::Wait, &["Pending", "ContainerCreating", "Terminating", "PodInitializing", "SchedulingGated"]);
        check(Tone::Wait, &["Init:0/2", "Init:11/12", "Init:ContainerCreating"]);
        check(Tone::Bad, &["CrashLoopBackOff", "ImagePullBackOff", "ErrImagePull", "Error", "Failed", "Evicted"]);
        check(Tone::Bad, &["OOMKilled", "NotReady", "Unknown", "Signal:9", "ExitCode:1", "NodeAffinity"]);
        check(Tone::Bad, &["Init:CrashLoopBackOff", "Init:Error", "Init:Signal:9", "Init:ExitCode:1", "Init:"]);
        check(Tone::Plain, &[""]);
    }
}
