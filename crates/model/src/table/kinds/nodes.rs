//! Nodes: the columns of `printNode` (kubernetes `pkg/printers/internalversion/printers.go`).

use serde::Deserialize;

use kubechurn_client::api::cell::{Cell, Tone};
use kubechurn_client::api::object::{Decode, DecodeError, Meta, Object};
use kubechurn_client::api::owner::Owner;
use kubechurn_client::api::resource::ApiResource;
use kubechurn_client::api::sort::sort;
use kubechurn_client::api::text::Text;
use kubechurn_client::api::time::Timestamp;

use super::Kind;
use super::parts::{Labels, NONE, or_default, parse, push_after_comma, structure, structures, text_or};
use crate::table::column::Column;

/// Nodes, in the sidebar under Cluster.
pub const KIND: Kind = Kind {
    resource: ApiResource { group: "", version: "v1", plural: "nodes", kind: "Node", namespaced: false },
    name: "nodes",
    short_names: &["no"],
    heading: "Cluster",
    title: "Nodes",
    columns: &[
        Column::words("STATUS"),
        Column::words("ROLES"),
        Column::figures("AGE"),
        Column::words("VERSION"),
        Column::words("INTERNAL-IP").on_demand(),
        Column::words("EXTERNAL-IP").on_demand(),
        Column::words("OS-IMAGE").on_demand(),
        Column::words("KERNEL-VERSION").on_demand(),
        Column::words("CONTAINER-RUNTIME").on_demand(),
    ],
    decode: Decode(&decode),
};

/// Nodes before 1.35: KERNEL-VERSION did not include the architecture.
pub const BEFORE_1_35: Kind = Kind { decode: Decode(&|text| decode_as(text, false)), ..KIND };

#[derive(Default, Deserialize)]
#[serde(default)]
struct Node<'a> {
    #[serde(borrow, deserialize_with = "structure")]
    metadata: LabelledMeta<'a>,
    #[serde(deserialize_with = "structure")]
    spec: Spec,
    #[serde(borrow, deserialize_with = "structure")]
    status: Status<'a>,
}

/// [`Meta`] and the labels, which hold a Node's roles. `#[serde(flatten)]` is avoided, because it would copy the
/// fields.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct LabelledMeta<'a> {
    #[serde(borrow)]
    name: Text<'a>,
    #[serde(borrow)]
    uid: Text<'a>,
    #[serde(borrow)]
    resource_version: Text<'a>,
    #[serde(borrow)]
    creation_timestamp: Text<'a>,
    #[serde(borrow)]
    owner_references: Option<Vec<Owner<'a>>>,
    #[serde(borrow)]
    labels: Labels<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Spec {
    #[serde(deserialize_with = "or_default")]
    unschedulable: bool,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Status<'a> {
    #[serde(borrow, deserialize_with = "structures")]
    conditions: Vec<Typed<'a>>,
    #[serde(borrow, deserialize_with = "structures")]
    addresses: Vec<Typed<'a>>,
    #[serde(borrow, deserialize_with = "structure")]
    node_info: NodeInfo<'a>,
}

/// A condition, which has a status, or an address.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Typed<'a> {
    #[serde(borrow, rename = "type")]
    kind: Text<'a>,
    #[serde(borrow)]
    status: Text<'a>,
    #[serde(borrow)]
    address: Text<'a>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct NodeInfo<'a> {
    #[serde(borrow)]
    kubelet_version: Text<'a>,
    #[serde(borrow)]
    os_image: Text<'a>,
    #[serde(borrow)]
    kernel_version: Text<'a>,
    #[serde(borrow)]
    architecture: Text<'a>,
    #[serde(borrow)]
    container_runtime_version: Text<'a>,
}

impl Status<'_> {
    /// STATUS. If there are several Ready conditions, the last one counts.
    fn word(&self, unschedulable: bool) -> &'static str {
        let ready = self.conditions.iter().rfind(|condition| &*condition.kind == "Ready");
        match (ready.map(|ready| &*ready.status), unschedulable) {
            (Some("True"), false) => "Ready",
            (Some("True"), true) => "Ready,SchedulingDisabled",
            (Some(_), false) => "NotReady",
            (Some(_), true) => "NotReady,SchedulingDisabled",
            (None, false) => "Unknown",
            (None, true) => "Unknown,SchedulingDisabled",
        }
    }

    fn address(&self, kind: &str) -> Cell {
        match self.addresses.iter().find(|address| *address.kind == *kind) {
            Some(found) => Cell::Text((&*found.address).into()),
            None => NONE,
        }
    }
}

impl NodeInfo<'_> {
    /// KERNEL-VERSION, with the architecture if `told` is true.
    fn kernel(&self, told: bool) -> Cell {
        if !told || self.kernel_version.is_empty() || self.architecture.is_empty() {
            text_or(&self.kernel_version, "<unknown>")
        } else {
            Cell::Text(format!("{} ({})", &*self.kernel_version, &*self.architecture).into())
        }
    }
}

/// ROLES: the labels `node-role.kubernetes.io/ROLE` and `kubernetes.io/role=ROLE` (`findNodeRoles`).
fn roles(labels: &Labels<'_>) -> Cell {
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
    if joined.is_empty() { NONE } else { Cell::Text(joined.into()) }
}

/// How alarming a Node's STATUS is.
pub fn tone(status: &str) -> Tone {
    match status {
        "Ready" => Tone::Good,
        "Ready,SchedulingDisabled" => Tone::Wait,
        "" => Tone::Plain,
        _ => Tone::Bad,
    }
}

/// Reads a Node.
///
/// # Errors
///
/// When the text is not a Node's or has no name.
pub fn decode(text: &str) -> Result<Object, DecodeError> {
    decode_as(text, true)
}

fn decode_as(text: &str, architecture: bool) -> Result<Object, DecodeError> {
    let Node { metadata, spec, status } = parse(text)?;
    let word = status.word(spec.unschedulable);
    let info = &status.node_info;
    let cells = [
        Cell::Status(word.into(), tone(word)),
        roles(&metadata.labels),
        Cell::Age(Timestamp::parse_set(&metadata.creation_timestamp)),
        Cell::Text((&*info.kubelet_version).into()),
        status.address("InternalIP"),
        status.address("ExternalIP"),
        text_or(&info.os_image, "<unknown>"),
        info.kernel(architecture),
        text_or(&info.container_runtime_version, "<unknown>"),
    ];
    let LabelledMeta { name, uid, resource_version, creation_timestamp, owner_references, .. } = metadata;
    let metadata = Meta { name, uid, resource_version, creation_timestamp, owner_references, ..Meta::default() };
    metadata.into_object(&cells).ok_or(DecodeError::NoName)
}
