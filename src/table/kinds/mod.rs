//! The kinds that have columns of their own, as data, and the decoders that turn their objects into cells.
//!
//! The columns and their rules are those of the API server's own tables, `pkg/printers/internalversion/printers.go`
//! in kubernetes, at 1.35; `tests/it/columns.rs` holds them to what a server printed. A kind's file names the
//! function there that it follows.

mod json;
mod parts;
mod pod_status;
mod selector;

pub mod events;
pub mod jobs;
pub mod namespaces;
pub mod nodes;
pub mod pods;
pub mod replicas;
pub mod services;

use crate::api::object::Decode;
use crate::api::resource::ApiResource;
use crate::table::column::Column;

/// A kind: where it is served, what its rows show, and how an object becomes a row.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    /// Path, names and scope.
    pub resource: ApiResource,
    /// kubectl's short name: `po`.
    pub short: &'static str,
    /// The heading in the rail: Workloads, Network, Cluster.
    pub group: &'static str,
    /// How the rail and the title call it: `Pods`.
    pub title: &'static str,
    /// The columns after NAMESPACE and NAME, in order.
    pub columns: &'static [Column],
    /// Reads an object into as many cells as there are columns.
    pub decode: Decode,
}

impl Kind {
    /// Whether `kubectl get` begins a row with the name. It does not where NAME is among the columns: an Event's
    /// name says nothing, and stands last, on demand.
    pub fn leads_with_name(&self) -> bool {
        self.columns.iter().all(|column| column.title != "NAME")
    }

    fn is_called(&self, name: &str) -> bool {
        name == self.resource.plural || name == self.short || name.eq_ignore_ascii_case(self.resource.kind)
    }
}

/// Every kind, in the rail's order.
pub const KINDS: &[Kind] = &[
    pods::KIND,
    replicas::DEPLOYMENTS,
    replicas::REPLICA_SETS,
    jobs::KIND,
    services::KIND,
    nodes::KIND,
    events::KIND,
    namespaces::KIND,
];

/// The kind that `kubectl get` would understand by `name`: its plural, its singular or its short name.
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
        assert!(kind("").is_none() && kind("podz").is_none());
    }

    #[test]
    fn only_events_hide_their_names() {
        for kind in KINDS {
            assert_eq!(kind.leads_with_name(), kind.title != "Events");
        }
    }
}
