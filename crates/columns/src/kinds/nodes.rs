//! Nodes: the columns of `printNode` (kubernetes `pkg/printers/internalversion/printers.go`).

use serde_json::Result;

use kubechurn_client::api::cell::Cell;
use kubechurn_client::api::object::Decode;
use kubechurn_client::api::resource::ApiResource;
use kubechurn_client::api::sort::sort;

use super::Kind;
use super::conditions::conditions;
use super::parts::{Labels, NONE, push_after_comma, text_or};
use super::printed::{AGE, Fields, Printed, columns, read, words};
use crate::column::StatePart;
use crate::state;

/// Nodes, in the sidebar under Cluster.
pub const KIND: Kind = Kind {
    resource: ApiResource { group: "", version: "v1", plural: "nodes", kind: "Node", namespaced: false, cluster: "" },
    name: "nodes",
    short_names: &["no"],
    heading: "Cluster",
    title: "Nodes",
    columns: &columns(&NODE),
    decode: Decode(&|text| read(text, &NODE)),
};

/// Nodes before 1.35: KERNEL-VERSION did not include the architecture.
pub const BEFORE_1_35: Kind =
    Kind { columns: &columns(&PLAIN_NODE), decode: Decode(&|text| read(text, &PLAIN_NODE)), ..KIND };

const NODE: [Printed; 9] = [
    words("STATUS", &["status conditions", "spec unschedulable"], status).of_state(StatePart::Word),
    words("ROLES", &["metadata labels"], roles),
    AGE,
    words("VERSION", &["status nodeInfo kubeletVersion"], |fields| Ok(Cell::Text((&*fields.words(0)?).into()))),
    words("INTERNAL-IP", ADDRESSES, |fields| address(fields, "InternalIP")).on_demand(),
    words("EXTERNAL-IP", ADDRESSES, |fields| address(fields, "ExternalIP")).on_demand(),
    words("OS-IMAGE", &["status nodeInfo osImage"], or_unknown).on_demand(),
    words("KERNEL-VERSION", &["status nodeInfo kernelVersion", "status nodeInfo architecture"], |fields| {
        let [version, architecture] = [fields.words(0)?, fields.words(1)?];
        match version.is_empty() || architecture.is_empty() {
            true => or_unknown(fields),
            false => Ok(Cell::Text([&*version, " (", &*architecture, ")"].concat().into())),
        }
    })
    .on_demand(),
    words("CONTAINER-RUNTIME", &["status nodeInfo containerRuntimeVersion"], or_unknown).on_demand(),
];

const PLAIN_NODE: [Printed; 9] = [
    NODE[0],
    NODE[1],
    NODE[2],
    NODE[3],
    NODE[4],
    NODE[5],
    NODE[6],
    words("KERNEL-VERSION", &["status nodeInfo kernelVersion"], or_unknown).on_demand(),
    NODE[8],
];

const ADDRESSES: &[&str] = &["status addresses"];

fn or_unknown(fields: &Fields<'_, '_>) -> Result<Cell> {
    fields.words(0).map(|words| text_or(&words, "<unknown>"))
}

/// STATUS. If there are several Ready conditions, the last one counts.
fn status(fields: &Fields<'_, '_>) -> Result<Cell> {
    let conditions = conditions(fields, 0)?;
    let ready = conditions.iter().rfind(|condition| &*condition.kind == "Ready");
    let word = match (ready.map(|ready| &*ready.status), fields.value::<bool>(1)?) {
        (Some("True"), false) => "Ready",
        (Some("True"), true) => "Ready,SchedulingDisabled",
        (Some(_), false) => "NotReady",
        (Some(_), true) => "NotReady,SchedulingDisabled",
        (None, false) => "Unknown",
        (None, true) => "Unknown,SchedulingDisabled",
    };
    Ok(Cell::Status(word.into(), state::status("Node", word)))
}

/// The first address of a type.
fn address(fields: &Fields<'_, '_>, kind: &str) -> Result<Cell> {
    let mut found = None;
    fields.each(0, &["type", "address"], &mut |one| {
        let [own, address] = [one.words(0)?, one.words(1)?];
        if *own == *kind {
            found.get_or_insert(Cell::Text((&*address).into()));
        }
        Ok(())
    })?;
    Ok(found.unwrap_or(NONE))
}

/// ROLES: the labels `node-role.kubernetes.io/ROLE` and `kubernetes.io/role=ROLE` (`findNodeRoles`).
fn roles(fields: &Fields<'_, '_>) -> Result<Cell> {
    let labels: Labels<'_> = fields.value(0)?;
    let mut roles: Vec<&str> = labels
        .0
        .iter()
        .filter_map(|(key, value)| match key.strip_prefix("node-role.kubernetes.io/") {
            None if &**key == "kubernetes.io/role" => Some(&**value),
            role => role,
        })
        .filter(|role| !role.is_empty())
        .collect();
    sort(&mut roles);
    roles.dedup();
    let mut joined = String::new();
    roles.iter().for_each(|role| push_after_comma(&mut joined, role));
    Ok(if joined.is_empty() { NONE } else { Cell::Text(joined.into()) })
}
