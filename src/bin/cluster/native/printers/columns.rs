//! What a Table shows of the resources that the page has no columns for: the columns of the real server's
//! `pkg/printers/internalversion/printers.go`, as data.

use kubechurn::api::time::Timestamp;
use serde_json::{Value, json};

use crate::native::printers::cells::{
    addresses, age, condition, count, each, labels, modes, number, phase, quota, some_of, some_of_text, string,
    strings, subjects, targets, text, truth, value,
};
use crate::native::resources::definition::PrinterColumn;

/// The columns of a resource's Table.
#[derive(Debug, Clone)]
pub enum Columns {
    /// The page's own, where `kubechurn::table::kinds` has the resource; else name and age.
    Page,
    /// These.
    BuiltIn(&'static [Printed]),
    /// What a CustomResourceDefinition asks for.
    Custom(Vec<PrinterColumn>),
}

/// One column, after the name.
#[derive(Debug)]
pub struct Printed {
    /// Its title.
    pub title: &'static str,
    /// `string`, `integer`, `boolean` or `date`.
    pub value_type: &'static str,
    /// Whether `kubectl get -o wide` alone shows it.
    pub wide: bool,
    /// The value that an object has in it, at a moment.
    pub cell: fn(&Value, Timestamp) -> Value,
}

const fn words(title: &'static str, cell: fn(&Value, Timestamp) -> Value) -> Printed {
    Printed { title, value_type: "string", wide: false, cell }
}

const fn figures(title: &'static str, cell: fn(&Value, Timestamp) -> Value) -> Printed {
    Printed { value_type: "integer", ..words(title, cell) }
}

const fn flag(title: &'static str, cell: fn(&Value, Timestamp) -> Value) -> Printed {
    Printed { value_type: "boolean", ..words(title, cell) }
}

const fn wide(column: Printed) -> Printed {
    Printed { wide: true, ..column }
}

/// `AGE`, which most resources end with.
pub const AGE: Printed = words("Age", |object, now| age(object, "/metadata/creationTimestamp", now));

/// A StatefulSet's.
pub const STATEFUL_SETS: &[Printed] = &[
    words("Ready", |o, _| {
        json!(format!("{}/{}", number(o, "/status/readyReplicas", 0), number(o, "/spec/replicas", 1)))
    }),
    AGE,
    wide(words("Containers", |o, _| each(o, "/spec/template/spec/containers", "name"))),
    wide(words("Images", |o, _| each(o, "/spec/template/spec/containers", "image"))),
];

/// A DaemonSet's.
pub const DAEMON_SETS: &[Printed] = &[
    figures("Desired", |o, _| json!(number(o, "/status/desiredNumberScheduled", 0))),
    figures("Current", |o, _| json!(number(o, "/status/currentNumberScheduled", 0))),
    figures("Ready", |o, _| json!(number(o, "/status/numberReady", 0))),
    figures("Up-to-date", |o, _| json!(number(o, "/status/updatedNumberScheduled", 0))),
    figures("Available", |o, _| json!(number(o, "/status/numberAvailable", 0))),
    words("Node Selector", |o, _| labels(o, "/spec/template/spec/nodeSelector")),
    AGE,
    wide(words("Containers", |o, _| each(o, "/spec/template/spec/containers", "name"))),
    wide(words("Images", |o, _| each(o, "/spec/template/spec/containers", "image"))),
    wide(words("Selector", |o, _| labels(o, "/spec/selector/matchLabels"))),
];

/// A CronJob's.
pub const CRON_JOBS: &[Printed] = &[
    words("Schedule", |o, _| text(o, "/spec/schedule", "")),
    words("Timezone", |o, _| text(o, "/spec/timeZone", "<none>")),
    flag("Suspend", |o, _| json!(if truth(o, "/spec/suspend") { "True" } else { "False" })),
    figures("Active", |o, _| json!(count(o, "/status/active"))),
    words("Last Schedule", |o, now| match o.pointer("/status/lastScheduleTime") {
        Some(_) => age(o, "/status/lastScheduleTime", now),
        None => json!("<none>"),
    }),
    AGE,
    wide(words("Containers", |o, _| each(o, "/spec/jobTemplate/spec/template/spec/containers", "name"))),
    wide(words("Images", |o, _| each(o, "/spec/jobTemplate/spec/template/spec/containers", "image"))),
    wide(words("Selector", |o, _| labels(o, "/spec/jobTemplate/spec/selector/matchLabels"))),
];

/// A ControllerRevision's.
pub const CONTROLLER_REVISIONS: &[Printed] = &[
    words("Controller", |o, _| {
        let owners = o.pointer("/metadata/ownerReferences").and_then(Value::as_array).into_iter().flatten();
        let mut controllers = owners.filter(|owner| truth(owner, "/controller"));
        let Some(owner) = controllers.next() else { return json!("<none>") };
        let group = string(owner, "/apiVersion").split_once('/').map(|(group, _)| format!(".{group}"));
        let kind = string(owner, "/kind").to_lowercase() + &group.unwrap_or_default();
        json!(format!("{kind}/{}", string(owner, "/name")))
    }),
    words("Revision", |o, _| json!(number(o, "/revision", 0))),
    AGE,
];

/// A ConfigMap's.
pub const CONFIG_MAPS: &[Printed] = &[words("Data", |o, _| json!(count(o, "/data") + count(o, "/binaryData"))), AGE];

/// A Secret's.
pub const SECRETS: &[Printed] =
    &[words("Type", |o, _| text(o, "/type", "Opaque")), words("Data", |o, _| json!(count(o, "/data"))), AGE];

/// A PersistentVolumeClaim's.
pub const CLAIMS: &[Printed] = &[
    words("Status", |o, _| phase(o, "/status/phase")),
    words("Volume", |o, _| text(o, "/spec/volumeName", "")),
    words("Capacity", |o, _| text(o, "/status/capacity/storage", "")),
    words("Access Modes", |o, _| modes(o, "/status/accessModes")),
    words("StorageClass", |o, _| text(o, "/spec/storageClassName", "")),
    words("VolumeAttributesClass", |o, _| text(o, "/spec/volumeAttributesClassName", "<unset>")),
    AGE,
    wide(words("VolumeMode", |o, _| text(o, "/spec/volumeMode", "<unset>"))),
];

/// A PersistentVolume's.
pub const VOLUMES: &[Printed] = &[
    words("Capacity", |o, _| text(o, "/spec/capacity/storage", "")),
    words("Access Modes", |o, _| modes(o, "/spec/accessModes")),
    words("Reclaim Policy", |o, _| text(o, "/spec/persistentVolumeReclaimPolicy", "")),
    words("Status", |o, _| phase(o, "/status/phase")),
    words("Claim", |o, _| match o.pointer("/spec/claimRef") {
        Some(claim) => json!(format!("{}/{}", string(claim, "/namespace"), string(claim, "/name"))),
        None => json!(""),
    }),
    words("StorageClass", |o, _| text(o, "/spec/storageClassName", "")),
    words("VolumeAttributesClass", |o, _| text(o, "/spec/volumeAttributesClassName", "<unset>")),
    words("Reason", |o, _| text(o, "/status/reason", "")),
    AGE,
    wide(words("VolumeMode", |o, _| text(o, "/spec/volumeMode", "<unset>"))),
];

/// An EndpointSlice's.
pub const ENDPOINT_SLICES: &[Printed] = &[
    words("AddressType", |o, _| text(o, "/addressType", "")),
    words("Ports", |o, _| some_of(strings(o, "/ports", "port"), "<unset>")),
    words("Endpoints", |o, _| {
        let endpoints = o.pointer("/endpoints").and_then(Value::as_array).into_iter().flatten();
        let addresses = endpoints.flat_map(|one| one["addresses"].as_array().into_iter().flatten());
        some_of(addresses.filter_map(Value::as_str).map(str::to_owned).collect(), "<unset>")
    }),
    AGE,
];

/// A Lease's.
pub const LEASES: &[Printed] = &[words("Holder", |o, _| text(o, "/spec/holderIdentity", "")), AGE];

/// An Ingress's.
pub const INGRESSES: &[Printed] = &[
    words("Class", |o, _| text(o, "/spec/ingressClassName", "<none>")),
    words("Hosts", |o, _| {
        let hosts = strings(o, "/spec/rules", "host");
        json!(if hosts.is_empty() { "*".to_owned() } else { some_of_text(hosts, "*") })
    }),
    words("Address", |o, _| {
        let balancers = o.pointer("/status/loadBalancer/ingress").and_then(Value::as_array).into_iter().flatten();
        let addresses = balancers.filter_map(|one| one["ip"].as_str().or(one["hostname"].as_str()));
        json!(addresses.collect::<Vec<_>>().join(","))
    }),
    words("Ports", |o, _| json!(if count(o, "/spec/tls") > 0 { "80, 443" } else { "80" })),
    AGE,
];

/// A NetworkPolicy's.
pub const NETWORK_POLICIES: &[Printed] =
    &[words("Pod-Selector", |o, _| labels(o, "/spec/podSelector/matchLabels")), AGE];

/// A PodDisruptionBudget's.
pub const BUDGETS: &[Printed] = &[
    words("Min Available", |o, _| text(o, "/spec/minAvailable", "N/A")),
    words("Max Unavailable", |o, _| text(o, "/spec/maxUnavailable", "N/A")),
    figures("Allowed Disruptions", |o, _| json!(number(o, "/status/disruptionsAllowed", 0))),
    AGE,
];

/// A HorizontalPodAutoscaler's.
pub const AUTOSCALERS: &[Printed] = &[
    words("Reference", |o, _| {
        let target = &o["spec"]["scaleTargetRef"];
        json!(format!("{}/{}", string(target, "/kind"), string(target, "/name")))
    }),
    words("Targets", |o, _| targets(o)),
    words("MinPods", |o, _| text(o, "/spec/minReplicas", "<unset>")),
    words("MaxPods", |o, _| json!(number(o, "/spec/maxReplicas", 0))),
    words("Replicas", |o, _| json!(number(o, "/status/currentReplicas", 0))),
    AGE,
];

/// A StorageClass's.
pub const STORAGE_CLASSES: &[Printed] = &[
    words("Provisioner", |o, _| text(o, "/provisioner", "")),
    words("ReclaimPolicy", |o, _| text(o, "/reclaimPolicy", "Delete")),
    words("VolumeBindingMode", |o, _| text(o, "/volumeBindingMode", "<unset>")),
    words("AllowVolumeExpansion", |o, _| json!(truth(o, "/allowVolumeExpansion"))),
    AGE,
];

/// A PriorityClass's.
pub const PRIORITY_CLASSES: &[Printed] = &[
    figures("Value", |o, _| json!(number(o, "/value", 0))),
    flag("Global-Default", |o, _| json!(truth(o, "/globalDefault"))),
    AGE,
    words("PreemptionPolicy", |o, _| text(o, "/preemptionPolicy", "<unset>")),
];

/// A RoleBinding's and a ClusterRoleBinding's.
pub const BINDINGS: &[Printed] = &[
    words("Role", |o, _| json!(format!("{}/{}", string(o, "/roleRef/kind"), string(o, "/roleRef/name")))),
    AGE,
    wide(words("Users", |o, _| subjects(o, "User"))),
    wide(words("Groups", |o, _| subjects(o, "Group"))),
    wide(words("ServiceAccounts", |o, _| subjects(o, "ServiceAccount"))),
];

/// Of what shows when it was created, and nothing else.
pub const CREATED_AT: &[Printed] =
    &[Printed { value_type: "date", ..words("Created At", |o, _| text(o, "/metadata/creationTimestamp", "")) }];

/// An Endpoints'.
pub const ENDPOINTS: &[Printed] = &[words("Endpoints", |o, _| addresses(o)), AGE];

/// A ResourceQuota's.
pub const QUOTAS: &[Printed] = &[words("Request", |o, _| quota(o, false)), words("Limit", |o, _| quota(o, true)), AGE];

/// A ComponentStatus's.
pub const COMPONENT_STATUSES: &[Printed] = &[
    words("Status", |o, _| match string(o, "/conditions/0/status") {
        "True" => json!("Healthy"),
        _ => json!("Unhealthy"),
    }),
    words("Message", |o, _| text(o, "/conditions/0/message", "")),
    words("Error", |o, _| text(o, "/conditions/0/error", "")),
];

/// An APIService's.
pub const API_SERVICES: &[Printed] = &[
    words("Service", |o, _| match o.pointer("/spec/service") {
        Some(service) => json!(format!("{}/{}", string(service, "/namespace"), string(service, "/name"))),
        None => json!("Local"),
    }),
    words("Available", |o, _| json!(condition(o, "Available", "Unknown"))),
    AGE,
];

/// A FlowSchema's.
pub const FLOW_SCHEMAS: &[Printed] = &[
    words("PriorityLevel", |o, _| text(o, "/spec/priorityLevelConfiguration/name", "")),
    words("MatchingPrecedence", |o, _| json!(number(o, "/spec/matchingPrecedence", 0))),
    words("DistinguisherMethod", |o, _| text(o, "/spec/distinguisherMethod/type", "<none>")),
    AGE,
    words("MissingPL", |o, _| json!(condition(o, "Dangling", "?"))),
];

/// A PriorityLevelConfiguration's.
pub const PRIORITY_LEVELS: &[Printed] = &[
    words("Type", |o, _| text(o, "/spec/type", "")),
    words("NominalConcurrencyShares", |o, _| value(o, "/spec/limited/nominalConcurrencyShares")),
    words("Queues", |o, _| value(o, "/spec/limited/limitResponse/queuing/queues")),
    words("HandSize", |o, _| value(o, "/spec/limited/limitResponse/queuing/handSize")),
    words("QueueLengthLimit", |o, _| value(o, "/spec/limited/limitResponse/queuing/queueLengthLimit")),
    AGE,
];

/// An IPAddress's.
pub const ADDRESSES: &[Printed] = &[
    words("ParentRef", |o, _| {
        let parent = &o["spec"]["parentRef"];
        let named = ["/resource", "/namespace", "/name"].map(|field| string(parent, field));
        json!(named.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("/"))
    }),
    AGE,
];

/// A ServiceCIDR's.
pub const SERVICE_RANGES: &[Printed] = &[
    words("CIDRs", |o, _| {
        let ranges = o.pointer("/spec/cidrs").and_then(Value::as_array).into_iter().flatten();
        json!(ranges.filter_map(Value::as_str).collect::<Vec<_>>().join(","))
    }),
    AGE,
];
