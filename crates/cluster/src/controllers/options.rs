//! How kube-controller-manager is started.

use tokio::time::Duration;

use super::fleet::Fleet;
use super::leader_election::Timing;
use super::pace::Pace;

/// How the manager is started.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// What waits are spread by.
    pub seed: u64,
    /// How the managers of several servers over one storage agree on who runs the controllers; `None` asks nobody.
    pub lease: Option<Timing>,
    /// Which nodes are made to fail.
    pub fleet: Fleet,
    /// How fast the fake nodes live.
    pub pace: Pace,
    /// For how long changes of Pods are gathered before their Services' endpoints are written.
    pub endpoint_updates_batch_period: BatchPeriod,
}

/// For how long changes of Pods are gathered before a Service is looked at (`--endpointslice-updates-batch-period`,
/// `--endpoint-updates-batch-period`), so that a rollout is not a write for every step of every Pod. Unlike the real
/// default, it is not 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BatchPeriod(pub Duration);

impl Default for BatchPeriod {
    fn default() -> Self {
        Self(Duration::from_millis(250))
    }
}
