//! The options of kube-controller-manager.

use tokio::time::Duration;

use super::failed_nodes::FailedNodes;
use super::leader_election::Timing;
use super::pace::Pace;

/// How the manager is started.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The seed of the jitter of waits.
    pub seed: u64,
    /// The times of the leader election among the managers of several servers over one storage; `None` for no election.
    pub lease: Option<Timing>,
    /// The nodes that are made to fail.
    pub failed_nodes: FailedNodes,
    /// How fast the simulated kubelets work.
    pub pace: Pace,
    /// For how long changes of Pods are collected before the endpoints of their Services are written.
    pub endpoint_updates_batch_period: BatchPeriod,
}

/// For how long changes of Pods are collected before a Service is synced (`--endpointslice-updates-batch-period`,
/// `--endpoint-updates-batch-period`), so that a rollout does not cause a write for every step of every Pod. Unlike the
/// real default, it is not 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BatchPeriod(pub Duration);

impl Default for BatchPeriod {
    fn default() -> Self {
        Self(Duration::from_millis(250))
    }
}
