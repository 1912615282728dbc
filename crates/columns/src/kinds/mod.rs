//! The kinds that the page itself has columns for, as data, and the decoders that turn their objects into cells.
//!
//! The columns and their rules are those of the API server's own tables, `pkg/printers/internalversion/printers.go` in
//! kubernetes, at 1.36. `crates/model/tests/it/columns.rs` compares them with what a server printed. Each kind's file
//! names the functions that it follows. Where servers since 1.32 printed a kind in another way, [`BEFORE`] says so.

mod conditions;
pub(crate) mod parts;
mod pod;
mod pod_status;
mod printed;
mod selector;
mod template;

pub mod access;
pub mod autoscalers;
pub mod config;
pub mod control;
pub mod events;
pub mod jobs;
pub mod namespaces;
pub mod network;
pub mod nodes;
pub mod pods;
pub mod replicas;
pub mod services;
pub mod storage;
pub mod workloads;

use kubechurn_client::api::object::Decode;
use kubechurn_client::api::release::Release;
use kubechurn_client::api::resource::ApiResource;

use crate::column::Column;

/// A kind: where it is served, what its rows show, and how an object becomes a row.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    /// Path, names and scope.
    pub resource: ApiResource,
    /// The page's name for the kind, in links and in `data-testid`: the plural, with its group if another kind has the
    /// same plural or may get it (`widgets.example.org`).
    pub name: &'static str,
    /// kubectl's short names, such as `po`; also the singular, if it is not the kind in lower case.
    pub short_names: &'static [&'static str],
    /// The heading in the sidebar: Workloads, Network, Config, Storage, Access or Cluster; for a custom resource its
    /// group.
    pub heading: &'static str,
    /// The name in the sidebar and in the title, such as `Pods`.
    pub title: &'static str,
    /// The columns after NAMESPACE and NAME, in order.
    pub columns: &'static [Column],
    /// Reads an object into as many cells as there are columns.
    pub decode: Decode,
}

impl PartialEq for Kind {
    /// Whether both are the same resource with the same columns.
    fn eq(&self, other: &Kind) -> bool {
        self.resource == other.resource && self.columns == other.columns
    }
}

impl Kind {
    /// Whether `kubectl get` begins a row with the name. It does not if NAME is among the columns: an Event's name says
    /// nothing, and is shown last and only on demand; a StorageClass's NAME also says whether it is the default. A
    /// definition may give a column that title too, in addition to the name.
    pub fn leads_with_name(&self) -> bool {
        self.columns.iter().all(|column| column.title != "NAME" || !column.source.is_empty())
    }

    /// Whether kubectl would understand `name` as this kind: plural, singular, short name or kind, each alone or
    /// followed by a dot and the group, or the version and the group.
    pub fn is_called(&self, name: &str) -> bool {
        let (word, group) = name.split_once('.').map_or((name, None), |(word, group)| (word, Some(group)));
        let resource = &self.resource;
        let in_group = group.is_none_or(|group| {
            let after_version = group.strip_prefix(resource.version).map(|rest| rest.strip_prefix('.').unwrap_or(rest));
            group == resource.group || after_version == Some(resource.group)
        });
        let is_short = || self.short_names.iter().any(|short| word.eq_ignore_ascii_case(short));
        let names = [resource.plural, resource.kind];
        in_group && (names.iter().any(|own| word.eq_ignore_ascii_case(own)) || is_short())
    }
}

/// Every kind that the page itself has columns for, in the sidebar's order.
pub const KINDS: &[Kind] = &[
    pods::KIND,
    replicas::DEPLOYMENTS,
    replicas::REPLICA_SETS,
    workloads::STATEFUL_SETS,
    workloads::DAEMON_SETS,
    jobs::KIND,
    workloads::CRON_JOBS,
    autoscalers::KIND,
    workloads::DISRUPTION_BUDGETS,
    workloads::CONTROLLER_REVISIONS,
    workloads::REPLICATION_CONTROLLERS,
    workloads::POD_TEMPLATES,
    services::KIND,
    network::INGRESSES,
    network::ENDPOINT_SLICES,
    network::ENDPOINTS,
    network::NETWORK_POLICIES,
    network::INGRESS_CLASSES,
    network::SERVICE_CIDRS,
    network::IP_ADDRESSES,
    config::CONFIG_MAPS,
    config::SECRETS,
    config::RESOURCE_QUOTAS,
    config::LIMIT_RANGES,
    config::PRIORITY_CLASSES,
    config::RUNTIME_CLASSES,
    config::MUTATING_WEBHOOKS,
    config::VALIDATING_WEBHOOKS,
    config::VALIDATING_POLICIES,
    config::VALIDATING_POLICY_BINDINGS,
    storage::CLAIMS,
    storage::VOLUMES,
    storage::STORAGE_CLASSES,
    storage::ATTRIBUTES_CLASSES,
    storage::ATTACHMENTS,
    storage::DRIVERS,
    storage::DRIVER_NODES,
    storage::CAPACITIES,
    access::SERVICE_ACCOUNTS,
    access::ROLES,
    access::ROLE_BINDINGS,
    access::CLUSTER_ROLES,
    access::CLUSTER_ROLE_BINDINGS,
    access::SIGNING_REQUESTS,
    nodes::KIND,
    events::KIND,
    namespaces::KIND,
    events::EVENTS_K8S_IO,
    control::LEASES,
    control::DEFINITIONS,
    control::API_SERVICES,
    control::FLOW_SCHEMAS,
    control::PRIORITY_LEVELS,
    control::DEVICE_CLASSES,
    control::RESOURCE_CLAIMS,
    control::CLAIM_TEMPLATES,
    control::RESOURCE_SLICES,
];

/// The newest release whose columns are known here.
pub const NEWEST: Release = Release { major: 1, minor: 37 };

/// Kinds that servers printed in another way before release 1.x: the minor number x, and the kind as it was printed.
pub const BEFORE: &[(u32, Kind)] = &[
    // GROUP, SCOPE and VERSIONS are printed since kubernetes pull request 131599.
    (37, control::DEFINITIONS_BEFORE_1_37),
    // The name of the default IngressClass is marked since kubernetes pull request 134422.
    (36, network::INGRESS_CLASSES_BEFORE_1_36),
    // The Secrets of ServiceAccounts are not counted since kubernetes pull request 117160.
    (35, access::SERVICE_ACCOUNTS_BEFORE_1_35),
    // The kernel version includes the architecture since kubernetes pull request 132402.
    (35, nodes::BEFORE_1_35),
    // STATUS shows that a Job's success is decided since kubernetes pull request 132832.
    (34, jobs::BEFORE_1_34),
    // AGE is the last column since kubernetes pull request 129419.
    (33, config::RESOURCE_QUOTAS_BEFORE_1_33),
];

/// The kinds of [`KINDS`] as a server of this release prints them; as the newest release prints them if the release is
/// not known.
pub fn printed_by(release: Option<Release>) -> impl Iterator<Item = &'static Kind> {
    KINDS.iter().map(move |kind| {
        let before = BEFORE.iter().filter(|(minor, before)| {
            before.resource == kind.resource && release.is_some_and(|own| own < Release { major: 1, minor: *minor })
        });
        before.min_by_key(|(minor, _)| *minor).map_or(kind, |(_, before)| before)
    })
}

/// The kind in [`KINDS`] that `kubectl get` would understand by `name`.
pub fn kind(name: &str) -> Option<&'static Kind> {
    KINDS.iter().find(|kind| kind.is_called(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_go_by_plural_singular_and_short_name() {
        for (names, expected) in [
            (["pods", "pod", "po"], "Pods"),
            (["deployments", "deployment", "deploy"], "Deployments"),
            (["replicasets", "replicaset", "rs"], "ReplicaSets"),
            (["jobs", "job", "Job"], "Jobs"),
            (["services", "service", "svc"], "Services"),
            (["nodes", "node", "no"], "Nodes"),
            (["events", "event", "ev"], "Events"),
            (["namespaces", "namespace", "ns"], "Namespaces"),
        ] {
            for name in names {
                assert_eq!(kind(name).map(|kind| kind.title), Some(expected), "{name}");
            }
        }
        assert!(kind("").is_none() && kind("podz").is_none() && kind("pods.apps").is_none());
        for name in ["deployments.apps", "deploy.apps", "Deployment.v1.apps", "DEPLOY"] {
            assert_eq!(kind(name).map(|kind| kind.title), Some("Deployments"), "{name}");
        }
        assert_eq!(kind("pods.v1.").or(kind("pods.v1")).map(|kind| kind.title), Some("Pods"));
    }

    #[test]
    fn names_lead_but_where_they_are_a_column() {
        let own: Vec<&str> = KINDS.iter().filter(|kind| !kind.leads_with_name()).map(|kind| kind.name).collect();
        assert_eq!(
            own,
            ["ingressclasses", "storageclasses", "volumeattributesclasses", "events", "events.events.k8s.io"]
        );
    }

    #[test]
    fn a_server_s_release_decides_what_it_prints() {
        let columns = |minor: Option<u32>, name: &str| {
            let release = minor.map(|minor| Release { major: 1, minor });
            let kind = printed_by(release).find(|kind| kind.name == name).unwrap();
            kind.columns.iter().map(|column| column.title).collect::<Vec<_>>().join(" ")
        };
        let definitions = ["CREATED AT", "GROUP SCOPE VERSIONS CREATED AT"];
        for (minor, accounts, quotas, classes, definitions) in [
            (Some(32), "SECRETS AGE", "AGE REQUEST LIMIT", "CONTROLLER PARAMETERS AGE", definitions[0]),
            (Some(33), "SECRETS AGE", "REQUEST LIMIT AGE", "CONTROLLER PARAMETERS AGE", definitions[0]),
            (Some(34), "SECRETS AGE", "REQUEST LIMIT AGE", "CONTROLLER PARAMETERS AGE", definitions[0]),
            (Some(35), "AGE", "REQUEST LIMIT AGE", "CONTROLLER PARAMETERS AGE", definitions[0]),
            (Some(36), "AGE", "REQUEST LIMIT AGE", "NAME CONTROLLER PARAMETERS AGE", definitions[0]),
            (Some(37), "AGE", "REQUEST LIMIT AGE", "NAME CONTROLLER PARAMETERS AGE", definitions[1]),
            (Some(38), "AGE", "REQUEST LIMIT AGE", "NAME CONTROLLER PARAMETERS AGE", definitions[1]),
            (None, "AGE", "REQUEST LIMIT AGE", "NAME CONTROLLER PARAMETERS AGE", definitions[1]),
        ] {
            let kinds = ["serviceaccounts", "resourcequotas", "ingressclasses", "customresourcedefinitions"];
            let printed = kinds.map(|name| columns(minor, name));
            assert_eq!(printed, [accounts, quotas, classes, definitions], "{minor:?}");
        }
        assert!(BEFORE.iter().all(|(minor, _)| *minor <= NEWEST.minor), "the newest release is known");
        assert!(printed_by(None).eq(KINDS) && printed_by(Some(Release { major: 2, minor: 0 })).eq(KINDS));
        for (_, before) in BEFORE {
            let now = kind(before.name).unwrap();
            assert_eq!((before.title, before.resource), (now.title, now.resource));
        }
    }

    #[test]
    fn a_definition_s_versions_are_those_that_are_served() {
        let text = r#"{"metadata":{"name":"foos.a.b","creationTimestamp":"2026-05-03T16:36:32Z"},"spec":{"group":"a.b",
            "scope":"Namespaced","versions":[{"name":"v1beta1","served":true},{"name":"v1","served":true,"schema":{"served":[]}},
            {"name":"v1alpha1","served":false},{"name":"v0"},null]}}"#;
        let cells = |text: &str| {
            let object = (control::DEFINITIONS.decode.0)(text).unwrap();
            object.cells.iter().map(|cell| cell.text().unwrap_or_default().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(cells(text), ["a.b", "Namespaced", "v1,v1beta1", "2026-05-03T16:36:32Z"]);
        assert_eq!(cells(r#"{"metadata":{"name":"a"}}"#)[..3], ["", "", ""]);
    }

    #[test]
    fn every_kind_has_a_name_and_a_heading_of_its_own() {
        let mut headings: Vec<&str> = Vec::new();
        for (at, known) in KINDS.iter().enumerate() {
            assert_eq!(kind(known.name), Some(known), "{}", known.name);
            assert!(known.name.starts_with(known.resource.plural) && !known.columns.is_empty(), "{}", known.name);
            let others = &KINDS[at + 1..];
            assert!(
                others.iter().all(|other| (other.name, other.title) != (known.name, known.title)),
                "{}",
                known.name
            );
            assert!(others.iter().all(|other| other.resource != known.resource), "{}", known.name);
            // A set of a kind's columns has 32 bits.
            assert!(known.columns.len() <= 32);
            if headings.last() != Some(&known.heading) {
                headings.push(known.heading);
            }
        }
        assert_eq!(headings, ["Workloads", "Network", "Config", "Storage", "Access", "Cluster"]);
    }

    #[test]
    fn short_names_are_kubectl_s() {
        let short = "po deploy rs sts ds cj hpa pdb rc svc ing ep netpol ip cm quota limits pc pvc pv sc vac sa csr no \
                     ev ns ev crd crds";
        let ours: Vec<&str> = KINDS.iter().flat_map(|kind| kind.short_names).copied().collect();
        assert_eq!(ours, short.split_whitespace().collect::<Vec<_>>());
    }
}
