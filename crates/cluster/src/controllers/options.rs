//! The options of kube-controller-manager.

use super::failed_nodes::FailedNodes;
use super::pace::Pace;

/// How the manager is started.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The seed of the jitter of waits.
    pub seed: u64,
    /// The nodes that are made to fail.
    pub failed_nodes: FailedNodes,
    /// How fast the simulated kubelets work.
    pub pace: Pace,
}
