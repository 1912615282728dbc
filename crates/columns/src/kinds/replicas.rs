//! Deployments and ReplicaSets: the columns of `printDeployment` and `printReplicaSet` (kubernetes
//! `pkg/printers/internalversion/printers.go`).

use kubechurn_client::api::object::Decode;
use kubechurn_client::api::resource::ApiResource;

use super::Kind;
use super::printed::{AGE, Printed, columns, figures, number, read, words};
use super::selector;
use super::template::{images, names};
use super::workloads::{TEMPLATE, desired, ready};
use crate::column::StatePart;

/// Deployments, in the sidebar under Workloads.
pub const DEPLOYMENTS: Kind = Kind {
    resource: ApiResource {
        group: "apps",
        version: "v1",
        plural: "deployments",
        kind: "Deployment",
        namespaced: true,
        cluster: "",
    },
    name: "deployments",
    short_names: &["deploy"],
    heading: "Workloads",
    title: "Deployments",
    columns: &columns(&DEPLOYMENT),
    decode: Decode(&|text| read(text, &DEPLOYMENT)),
};

const DEPLOYMENT: [Printed; 7] = [
    words("READY", &["status readyReplicas", "spec replicas"], ready).of_state(StatePart::Word),
    figures("UP-TO-DATE", &["status updatedReplicas"], number),
    figures("AVAILABLE", &["status availableReplicas"], number),
    AGE,
    words("CONTAINERS", TEMPLATE, names).on_demand(),
    words("IMAGES", TEMPLATE, images).on_demand(),
    words("SELECTOR", &["spec selector"], selector::bare_cell).on_demand(),
];

/// ReplicaSets, in the sidebar under Workloads.
pub const REPLICA_SETS: Kind = Kind {
    resource: ApiResource {
        group: "apps",
        version: "v1",
        plural: "replicasets",
        kind: "ReplicaSet",
        namespaced: true,
        cluster: "",
    },
    name: "replicasets",
    short_names: &["rs"],
    heading: "Workloads",
    title: "ReplicaSets",
    columns: &columns(&REPLICA_SET),
    decode: Decode(&|text| read(text, &REPLICA_SET)),
};

const REPLICA_SET: [Printed; 7] = [
    figures("DESIRED", &["spec replicas"], desired).of_state(StatePart::Whole),
    figures("CURRENT", &["status replicas"], number),
    figures("READY", &["status readyReplicas"], number).of_state(StatePart::Part),
    AGE,
    words("CONTAINERS", TEMPLATE, names).on_demand(),
    words("IMAGES", TEMPLATE, images).on_demand(),
    words("SELECTOR", &["spec selector"], selector::cell).on_demand(),
];
