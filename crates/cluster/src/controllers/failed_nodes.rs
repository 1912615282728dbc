//! Which nodes are made to fail.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

/// The failed nodes, shared by all clones. The kubelet of a failed node renews no Lease, reports nothing and stops
/// nothing, while the containers on the node keep running.
#[derive(Debug, Clone, Default)]
pub struct FailedNodes(Arc<State>);

#[derive(Debug, Default)]
struct State {
    down: Mutex<BTreeSet<String>>,
    /// Counts the changes.
    changes: watch::Sender<u64>,
}

impl FailedNodes {
    /// Makes a node fail, by its name. The node need not exist.
    pub fn fail(&self, node: &str) {
        self.lock().insert(node.to_owned());
        self.0.changes.send_modify(|count| *count += 1);
    }

    /// Ends the failure of a node. Whatever happened to its Pods meanwhile takes effect then.
    pub fn recover(&self, node: &str) {
        self.lock().remove(node);
        self.0.changes.send_modify(|count| *count += 1);
    }

    /// Whether a node has failed.
    pub fn is_down(&self, node: &str) -> bool {
        self.lock().contains(node)
    }

    /// The nodes that have failed, by name.
    pub fn failed(&self) -> Vec<String> {
        self.lock().iter().cloned().collect()
    }

    /// A receiver that changes whenever a node fails or recovers.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.0.changes.subscribe()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.0.down.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
