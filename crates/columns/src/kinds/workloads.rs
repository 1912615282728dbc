//! Other kinds that run Pods or look after them: the columns of `printStatefulSet`, `printDaemonSet`, `printCronJob`,
//! `printReplicationController`, `printPodTemplate`, `printControllerRevision` and `printPodDisruptionBudget`
//! (kubernetes `pkg/printers/internalversion/printers.go`).

use serde_json::Result;

use kubechurn_client::api::cell::Cell;
use kubechurn_client::api::object::Decode;
use kubechurn_client::api::resource::ApiResource;
use kubechurn_client::api::time::Timestamp;
use kubechurn_client::json::Text;

use super::Kind;
use super::parts::{Labels, NONE, Scalar};
use super::printed::{AGE, Fields, Printed, columns, count, figures, number, read, words};
use super::selector;
use super::template::{images, names};
use crate::column::StatePart;

/// StatefulSets, in the sidebar under Workloads.
pub const STATEFUL_SETS: Kind = Kind {
    resource: apps("statefulsets", "StatefulSet"),
    name: "statefulsets",
    short_names: &["sts"],
    heading: "Workloads",
    title: "StatefulSets",
    columns: &columns(&STATEFUL_SET),
    decode: Decode(&|text| read(text, &STATEFUL_SET)),
};

const STATEFUL_SET: [Printed; 4] = [
    words("READY", &["status readyReplicas", "spec replicas"], ready).of_state(StatePart::Word),
    AGE,
    words("CONTAINERS", TEMPLATE, names).on_demand(),
    words("IMAGES", TEMPLATE, images).on_demand(),
];

/// DaemonSets, in the sidebar under Workloads.
pub const DAEMON_SETS: Kind = Kind {
    resource: apps("daemonsets", "DaemonSet"),
    name: "daemonsets",
    short_names: &["ds"],
    heading: "Workloads",
    title: "DaemonSets",
    columns: &columns(&DAEMON_SET),
    decode: Decode(&|text| read(text, &DAEMON_SET)),
};

const DAEMON_SET: [Printed; 10] = [
    figures("DESIRED", &["status desiredNumberScheduled"], number),
    figures("CURRENT", &["status currentNumberScheduled"], number),
    figures("READY", &["status numberReady"], number),
    figures("UP-TO-DATE", &["status updatedNumberScheduled"], number),
    figures("AVAILABLE", &["status numberAvailable"], number),
    words("NODE SELECTOR", &["spec template spec nodeSelector"], labels),
    AGE,
    words("CONTAINERS", TEMPLATE, names).on_demand(),
    words("IMAGES", TEMPLATE, images).on_demand(),
    words("SELECTOR", &["spec selector"], selector::cell).on_demand(),
];

/// CronJobs, in the sidebar under Workloads.
pub const CRON_JOBS: Kind = Kind {
    resource: ApiResource {
        group: "batch",
        version: "v1",
        plural: "cronjobs",
        kind: "CronJob",
        namespaced: true,
        cluster: "",
    },
    name: "cronjobs",
    short_names: &["cj"],
    heading: "Workloads",
    title: "CronJobs",
    columns: &columns(&CRON_JOB),
    decode: Decode(&|text| read(text, &CRON_JOB)),
};

const CRON_JOB: [Printed; 9] = [
    words("SCHEDULE", &["spec schedule"], |fields| fields.text("")),
    words("TIMEZONE", &["spec timeZone"], |fields| fields.text("<none>")),
    words("SUSPEND", &["spec suspend"], |fields| {
        Ok(Cell::Static(if fields.value::<bool>(0)? { "True" } else { "False" }))
    }),
    figures("ACTIVE", &["status active"], count),
    figures("LAST SCHEDULE", &["status lastScheduleTime"], |fields| match fields.is_set(0) {
        true => fields.value::<Text<'_>>(0).map(|time| Cell::Age(Timestamp::parse_set(&time))),
        false => Ok(NONE),
    }),
    AGE,
    words("CONTAINERS", JOB_TEMPLATE, names).on_demand(),
    words("IMAGES", JOB_TEMPLATE, images).on_demand(),
    words("SELECTOR", &["spec jobTemplate spec selector"], selector::cell).on_demand(),
];

/// ReplicationControllers, in the sidebar under Workloads.
pub const REPLICATION_CONTROLLERS: Kind = Kind {
    resource: ApiResource {
        group: "",
        version: "v1",
        plural: "replicationcontrollers",
        kind: "ReplicationController",
        namespaced: true,
        cluster: "",
    },
    name: "replicationcontrollers",
    short_names: &["rc"],
    heading: "Workloads",
    title: "ReplicationControllers",
    columns: &columns(&REPLICATION_CONTROLLER),
    decode: Decode(&|text| read(text, &REPLICATION_CONTROLLER)),
};

const REPLICATION_CONTROLLER: [Printed; 7] = [
    figures("DESIRED", &["spec replicas"], desired),
    figures("CURRENT", &["status replicas"], number),
    figures("READY", &["status readyReplicas"], number),
    AGE,
    words("CONTAINERS", TEMPLATE, names).on_demand(),
    words("IMAGES", TEMPLATE, images).on_demand(),
    words("SELECTOR", &["spec selector"], labels).on_demand(),
];

/// PodTemplates, in the sidebar under Workloads.
pub const POD_TEMPLATES: Kind = Kind {
    resource: ApiResource {
        group: "",
        version: "v1",
        plural: "podtemplates",
        kind: "PodTemplate",
        namespaced: true,
        cluster: "",
    },
    name: "podtemplates",
    short_names: &[],
    heading: "Workloads",
    title: "PodTemplates",
    columns: &columns(&POD_TEMPLATE),
    decode: Decode(&|text| read(text, &POD_TEMPLATE)),
};

const POD_TEMPLATE: [Printed; 3] = [
    words("CONTAINERS", &["template spec containers"], names),
    words("IMAGES", &["template spec containers"], images),
    words("POD LABELS", &["template metadata labels"], labels),
];

/// ControllerRevisions, in the sidebar under Workloads.
pub const CONTROLLER_REVISIONS: Kind = Kind {
    resource: apps("controllerrevisions", "ControllerRevision"),
    name: "controllerrevisions",
    short_names: &[],
    heading: "Workloads",
    title: "ControllerRevisions",
    columns: &columns(&CONTROLLER_REVISION),
    decode: Decode(&|text| read(text, &CONTROLLER_REVISION)),
};

const CONTROLLER_REVISION: [Printed; 3] =
    [words("CONTROLLER", &["metadata ownerReferences"], controller), figures("REVISION", &["revision"], number), AGE];

/// PodDisruptionBudgets, in the sidebar under Workloads.
pub const DISRUPTION_BUDGETS: Kind = Kind {
    resource: ApiResource {
        group: "policy",
        version: "v1",
        plural: "poddisruptionbudgets",
        kind: "PodDisruptionBudget",
        namespaced: true,
        cluster: "",
    },
    name: "poddisruptionbudgets",
    short_names: &["pdb"],
    heading: "Workloads",
    title: "PodDisruptionBudgets",
    columns: &columns(&DISRUPTION_BUDGET),
    decode: Decode(&|text| read(text, &DISRUPTION_BUDGET)),
};

const DISRUPTION_BUDGET: [Printed; 4] = [
    figures("MIN AVAILABLE", &["spec minAvailable"], share),
    figures("MAX UNAVAILABLE", &["spec maxUnavailable"], share),
    figures("ALLOWED DISRUPTIONS", &["status disruptionsAllowed"], number),
    AGE,
];

/// A kind of the group `apps`.
const fn apps(plural: &'static str, kind: &'static str) -> ApiResource {
    ApiResource { group: "apps", version: "v1", plural, kind, namespaced: true, cluster: "" }
}

/// Where the containers of a workload's Pod template are.
pub(super) const TEMPLATE: &[&str] = &["spec template spec containers"];
const JOB_TEMPLATE: &[&str] = &["spec jobTemplate spec template spec containers"];

/// How many of a workload's Pods are ready, and how many there should be. Unset means 1 (`SetDefaults_Deployment`,
/// kubernetes `pkg/apis/apps/v1/defaults.go`).
pub(super) fn ready(fields: &Fields<'_, '_>) -> Result<Cell> {
    Ok(Cell::Ratio(fields.value(0)?, fields.value::<Option<i64>>(1)?.unwrap_or(1)))
}

/// How many Pods a workload should have. Unset means 1.
pub(super) fn desired(fields: &Fields<'_, '_>) -> Result<Cell> {
    Ok(Cell::Number(fields.value::<Option<i64>>(0)?.unwrap_or(1)))
}

fn labels(fields: &Fields<'_, '_>) -> Result<Cell> {
    fields.value(0).map(Labels::into_cell)
}

/// A number of Pods, or a percentage of them.
fn share(fields: &Fields<'_, '_>) -> Result<Cell> {
    if !fields.is_set(0) {
        return Ok(Cell::Static("N/A"));
    }
    let Scalar(share) = fields.value(0)?;
    Ok(share.parse().map_or_else(|_| Cell::Text(share.into()), Cell::Number))
}

/// The owner that controls the object, such as `daemonset.apps/agent` (`formatResourceName`).
fn controller(fields: &Fields<'_, '_>) -> Result<Cell> {
    let mut found = None;
    fields.each(0, &["apiVersion", "kind", "name", "controller"], &mut |owner| {
        let (version, kind, name) = (owner.words(0)?, owner.words(1)?, owner.words(2)?);
        if owner.value::<bool>(3)? && found.is_none() {
            let group = version.split_once('/').map(|(group, _)| group).filter(|group| !group.is_empty());
            let kind = group.map_or_else(|| String::from(&*kind), |group| [&kind, ".", group].concat());
            found = Some(match kind.is_empty() {
                true => Cell::Text((&*name).into()),
                false => Cell::Text([&kind.to_lowercase(), "/", &name].concat().into()),
            });
        }
        Ok(())
    })?;
    Ok(found.unwrap_or(NONE))
}
