//! Pods: the columns of `printPod` (kubernetes `pkg/printers/internalversion/printers.go`).

use kubechurn_client::api::cell::Cell;
use kubechurn_client::api::object::{Decode, DecodeError, Object};
use kubechurn_client::api::resource::ApiResource;
use kubechurn_client::api::time::Timestamp;

use super::Kind;
use super::parts::{NONE, parse, text_or};
use super::pod::{Pod, Spec, Status};
use super::pod_status::summarise;
use crate::column::{Column, StatePart};
use crate::state;

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
        Cell::Status((&*summary.word).into(), state::pod(&summary.word)),
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
