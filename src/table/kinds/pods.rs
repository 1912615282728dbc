//! Pods: the columns of `printPod` (kubernetes `pkg/printers/internalversion/printers.go`).

use serde::Deserialize;

use super::Kind;
use super::parts::{Count, First, NONE, Structure, parse, structure, structures, text_or};
use super::pod_status::{ContainerStatus, summarise};
use crate::api::cell::{Cell, Tone};
use crate::api::object::{Decode, DecodeError, Meta, Object};
use crate::api::resource::ApiResource;
use crate::api::text::Text;
use crate::api::time::Timestamp;
use crate::table::column::Column;

/// Pods, in the rail under Workloads.
pub const KIND: Kind = Kind {
    resource: ApiResource { group: "", version: "v1", plural: "pods", kind: "Pod", namespaced: true },
    name: "pods",
    short_names: &["po"],
    heading: "Workloads",
    title: "Pods",
    columns: &[
        Column::words("READY"),
        Column::words("STATUS"),
        Column::figures("RESTARTS"),
        Column::figures("AGE"),
        Column::words("IP").on_demand(),
        Column::words("NODE").on_demand(),
        Column::words("NOMINATED NODE").on_demand(),
        Column::words("READINESS GATES").on_demand(),
    ],
    decode: Decode(&decode),
};

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Pod<'a> {
    #[serde(borrow, deserialize_with = "structure")]
    pub metadata: Meta<'a>,
    #[serde(borrow, deserialize_with = "structure")]
    pub spec: Spec<'a>,
    #[serde(borrow, deserialize_with = "structure")]
    pub status: Status<'a>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Spec<'a> {
    pub containers: Count,
    #[serde(borrow, deserialize_with = "structures")]
    pub init_containers: Vec<InitContainer<'a>>,
    #[serde(borrow)]
    node_name: Text<'a>,
    #[serde(borrow, deserialize_with = "structures")]
    readiness_gates: Vec<ReadinessGate<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct InitContainer<'a> {
    #[serde(borrow)]
    pub name: Text<'a>,
    #[serde(borrow)]
    restart_policy: Text<'a>,
}

impl InitContainer<'_> {
    /// Whether it starts first and then keeps running beside the containers.
    pub fn is_sidecar(&self) -> bool {
        &*self.restart_policy == "Always"
    }
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct ReadinessGate<'a> {
    #[serde(borrow)]
    condition_type: Text<'a>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Status<'a> {
    #[serde(borrow)]
    pub phase: Text<'a>,
    #[serde(borrow)]
    pub reason: Text<'a>,
    #[serde(borrow, deserialize_with = "structures")]
    pub conditions: Vec<Condition<'a>>,
    #[serde(borrow, deserialize_with = "structures")]
    pub init_container_statuses: Vec<ContainerStatus<'a>>,
    #[serde(borrow, deserialize_with = "structures")]
    pub container_statuses: Vec<ContainerStatus<'a>>,
    #[serde(borrow, rename = "podIP")]
    pod_ip: Text<'a>,
    #[serde(borrow, rename = "podIPs")]
    pod_ips: First<Structure<PodIp<'a>>>,
    #[serde(borrow)]
    nominated_node_name: Text<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct PodIp<'a> {
    #[serde(borrow)]
    ip: Text<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Condition<'a> {
    #[serde(borrow, rename = "type")]
    pub kind: Text<'a>,
    #[serde(borrow)]
    status: Text<'a>,
    #[serde(borrow)]
    pub reason: Text<'a>,
}

impl Status<'_> {
    /// Whether the first condition of the type `kind` is true.
    pub fn condition(&self, kind: &str) -> bool {
        self.conditions.iter().find(|condition| *condition.kind == *kind).is_some_and(|found| &*found.status == "True")
    }

    /// Whether any Ready condition is true. There is one at most; `hasPodReadyCondition` looks at all.
    pub fn is_ready(&self) -> bool {
        self.conditions.iter().any(|condition| &*condition.kind == "Ready" && &*condition.status == "True")
    }

    /// The first address. Servers send both fields, of which the single one counts (`conversion.go` in
    /// kubernetes `pkg/apis/core/v1`).
    fn ip(&self) -> &str {
        match &self.pod_ips.0 {
            Some(Structure(first)) if self.pod_ip.is_empty() => &first.ip,
            _ => &self.pod_ip,
        }
    }
}

/// Reads a Pod.
///
/// # Errors
///
/// When the text is not a Pod's or has no name.
pub fn decode(text: &str) -> Result<Object, DecodeError> {
    let pod: Pod<'_> = parse(text)?;
    let summary = summarise(&pod);
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

/// How alarming a Pod's STATUS is.
///
/// The words for what goes well and for what is on its way are few and listed. The others come from the kubelet
/// or a controller and name what went wrong (kubernetes `pkg/kubelet/container/sync_result.go`, `images/types.go`,
/// `eviction`), and new ones appear with every release, so that a word unknown here is a failure.
pub fn tone(status: &str) -> Tone {
    match status {
        "" => Tone::Plain,
        "Running" | "Completed" | "Succeeded" | "ExitCode:0" => Tone::Good,
        "Pending" | "ContainerCreating" | "PodInitializing" | "Terminating" | "SchedulingGated" => Tone::Wait,
        _ => match status.strip_prefix("Init:") {
            // `Init:1/2` counts the init containers that are done.
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
