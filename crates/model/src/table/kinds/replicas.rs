//! Deployments and ReplicaSets: the columns of `printDeployment` and `printReplicaSet` (kubernetes
//! `pkg/printers/internalversion/printers.go`).

use serde::Deserialize;

use kubechurn_client::api::cell::Cell;
use kubechurn_client::api::object::{Decode, DecodeError, Meta, Object};
use kubechurn_client::api::resource::ApiResource;
use kubechurn_client::api::time::Timestamp;

use super::Kind;
use super::parts::{optional, or_default, parse, structure};
use super::selector::{self, LabelSelector};
use super::template::Template;
use crate::table::column::Column;

/// Deployments, in the sidebar under Workloads.
pub const DEPLOYMENTS: Kind = Kind {
    resource: ApiResource { group: "apps", version: "v1", plural: "deployments", kind: "Deployment", namespaced: true },
    name: "deployments",
    short_names: &["deploy"],
    heading: "Workloads",
    title: "Deployments",
    columns: &[
        Column::words("READY"),
        Column::figures("UP-TO-DATE"),
        Column::figures("AVAILABLE"),
        Column::figures("AGE"),
        Column::words("CONTAINERS").on_demand(),
        Column::words("IMAGES").on_demand(),
        Column::words("SELECTOR").on_demand(),
    ],
    decode: Decode(&decode_deployment),
};

/// ReplicaSets, in the sidebar under Workloads.
pub const REPLICA_SETS: Kind = Kind {
    resource: ApiResource { group: "apps", version: "v1", plural: "replicasets", kind: "ReplicaSet", namespaced: true },
    name: "replicasets",
    short_names: &["rs"],
    heading: "Workloads",
    title: "ReplicaSets",
    columns: &[
        Column::figures("DESIRED"),
        Column::figures("CURRENT"),
        Column::figures("READY"),
        Column::figures("AGE"),
        Column::words("CONTAINERS").on_demand(),
        Column::words("IMAGES").on_demand(),
        Column::words("SELECTOR").on_demand(),
    ],
    decode: Decode(&decode_replica_set),
};

/// The fields that both kinds have, with the same meanings.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Workload<'a> {
    #[serde(borrow, deserialize_with = "structure")]
    metadata: Meta<'a>,
    #[serde(borrow, deserialize_with = "structure")]
    spec: Spec<'a>,
    #[serde(deserialize_with = "structure")]
    status: Status,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Spec<'a> {
    replicas: Option<i64>,
    #[serde(borrow, deserialize_with = "optional")]
    selector: Option<LabelSelector<'a>>,
    #[serde(deserialize_with = "structure")]
    template: Template,
}

impl Spec<'_> {
    /// Unset means 1 (`SetDefaults_Deployment`, kubernetes `pkg/apis/apps/v1/defaults.go`).
    fn desired(&self) -> i64 {
        self.replicas.unwrap_or(1)
    }
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Status {
    #[serde(deserialize_with = "or_default")]
    replicas: i64,
    #[serde(deserialize_with = "or_default")]
    ready_replicas: i64,
    #[serde(deserialize_with = "or_default")]
    updated_replicas: i64,
    #[serde(deserialize_with = "or_default")]
    available_replicas: i64,
}

/// Reads a Deployment.
///
/// # Errors
///
/// When the text is not a Deployment's or has no name.
pub fn decode_deployment(text: &str) -> Result<Object, DecodeError> {
    let Workload { metadata, spec, status } = parse(text)?;
    let desired = spec.desired();
    let [containers, images] = spec.template.into_cells();
    let cells = [
        Cell::Ratio(status.ready_replicas, desired),
        Cell::Number(status.updated_replicas),
        Cell::Number(status.available_replicas),
        Cell::Age(Timestamp::parse_set(&metadata.creation_timestamp)),
        containers,
        images,
        selector::bare_cell(spec.selector.as_ref()),
    ];
    metadata.into_object(&cells).ok_or(DecodeError::NoName)
}

/// Reads a ReplicaSet.
///
/// # Errors
///
/// When the text is not a ReplicaSet's or has no name.
pub fn decode_replica_set(text: &str) -> Result<Object, DecodeError> {
    let Workload { metadata, spec, status } = parse(text)?;
    let desired = spec.desired();
    let [containers, images] = spec.template.into_cells();
    let cells = [
        Cell::Number(desired),
        Cell::Number(status.replicas),
        Cell::Number(status.ready_replicas),
        Cell::Age(Timestamp::parse_set(&metadata.creation_timestamp)),
        containers,
        images,
        selector::cell(spec.selector.as_ref()),
    ];
    metadata.into_object(&cells).ok_or(DecodeError::NoName)
}
