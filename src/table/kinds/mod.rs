//! The kinds that have columns of their own, as data.

use crate::api::object::Decode;
use crate::api::resource::ApiResource;
use crate::table::column::Column;

/// A kind: where it is served, what its rows show, and how an object becomes a row.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    /// Path, names and scope.
    pub resource: ApiResource,
    /// The heading in the rail: Workloads, Network, Cluster.
    pub group: &'static str,
    /// How the rail and the title call it: `Pods`.
    pub title: &'static str,
    /// The columns after NAMESPACE and NAME, in order.
    pub columns: &'static [Column],
    /// Reads an object into as many cells as there are columns.
    pub decode: Decode,
}

/// Every kind, in the rail's order.
pub const KINDS: &[Kind] = &[];
