//! The nodes' machines, as far as anybody can pull their plugs: which of them are made to fail.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

/// The switches of all nodes; clones are the same ones. A node that fails falls silent: its kubelet renews no Lease,
/// reports nothing and stops nothing, while what runs on it runs on.
#[derive(Debug, Clone, Default)]
pub struct Fleet(Arc<Switches>);

#[derive(Debug, Default)]
struct Switches {
    down: Mutex<BTreeSet<String>>,
    /// Counts the changes.
    changes: watch::Sender<u64>,
}

impl Fleet {
    /// Makes a node fail, by its name; whether there is such a node is not asked.
    pub fn fail(&self, node: &str) {
        self.lock().insert(node.to_owned());
        self.0.changes.send_modify(|count| *count += 1);
    }

    /// Lets a node come back. What has happened to its Pods meanwhile happens to them then.
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

    /// Changes whenever a node fails or comes back.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.0.changes.subscribe()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.0.down.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
