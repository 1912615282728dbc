//! The kinds that have columns of their own, as data, and the decoders that turn their objects into cells.
//!
//! The columns and their rules are those of the API server's own tables, `pkg/printers/internalversion/printers.go`
//! in kubernetes, at 1.35; `tests/it/columns.rs` holds them to what a server printed. A kind's file names the
//! function there that it follows.

pub(in crate::table) mod json;
pub(in crate::table) mod parts;
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
    /// How the page calls it, in links and handles: the plural, with its group where another kind has it too or may
    /// have it one day (`widgets.example.org`).
    pub name: &'static str,
    /// kubectl's short names: `po`. The singular as well, where it is not the kind in lower case.
    pub short_names: &'static [&'static str],
    /// The heading in the rail: Workloads, Network, Cluster; for a custom resource its group.
    pub heading: &'static str,
    /// How the rail and the title call it: `Pods`.
    pub title: &'static str,
    /// The columns after NAMESPACE and NAME, in order.
    pub columns: &'static [Column],
    /// Reads an object into as many cells as there are columns.
    pub decode: Decode,
}

impl PartialEq for Kind {
    /// Whether it is the same resource with the same columns.
    fn eq(&self, other: &Kind) -> bool {
        self.resource == other.resource && self.columns == other.columns
    }
}

impl Kind {
    /// Whether `kubectl get` begins a row with the name. It does not where NAME is among the columns: an Event's
    /// name says nothing, and stands last, on demand. A definition may call a column so, too, beside the name.
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

/// Every kind that has columns of its own, in the rail's order.
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

/// The kind of these that `kubectl get` would understand by `name`.
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
    fn only_events_hide_their_names() {
        for kind in KINDS {
            assert_eq!(kind.leads_with_name(), kind.title != "Events");
        }
    }
}
