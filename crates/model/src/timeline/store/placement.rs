//! The placement of an object: its owners, and the node on which it is.

use std::sync::Arc;

use kubechurn_client::api::owner::{OwnerReference, Owners};
use rustc_hash::FxHashSet;

/// So many names of nodes are kept before those that no lane has any more are dropped: the largest cluster that
/// Kubernetes is tested with has 5,000 nodes.
const NODES: usize = 10_000;

/// The owners of an object, and the node on which it is.
#[derive(Clone, Debug, Default)]
pub struct Placement {
    /// The object's owners.
    pub owners: Option<Arc<Owners>>,
    /// The name of the node; `None` where there is none, or where the kind has none.
    pub node: Option<Arc<str>>,
}

impl Placement {
    /// The owner that controls the object, of which there is one at most.
    pub fn controller(&self) -> Option<&OwnerReference> {
        self.owners.as_ref()?.iter().find(|owner| owner.controller)
    }
}

/// The names of nodes, each kept once.
#[derive(Debug, Default)]
pub struct NodeNames(FxHashSet<Arc<str>>);

impl NodeNames {
    /// The kept copy of a name; `None` for an empty one.
    pub fn name(&mut self, name: &str) -> Option<Arc<str>> {
        if name.is_empty() {
            return None;
        }
        if let Some(known) = self.0.get(name) {
            return Some(Arc::clone(known));
        }
        if self.0.len() >= NODES {
            self.0.retain(|known| Arc::strong_count(known) > 1);
        }
        let name: Arc<str> = name.into();
        if self.0.len() < NODES {
            self.0.insert(Arc::clone(&name));
        }
        Some(name)
    }
}
