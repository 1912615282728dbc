//! How fast the fake nodes live: factors on the times that Kubernetes has, for demos and tests.

use std::time::Duration;

/// Factors of times; 1 is as in Kubernetes, 0.1 is ten times as fast.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pace {
    /// What containers take: to pull, start, run to their end and stop; and their probes' delays and periods.
    pub containers: f64,
    /// What kubelets and the scheduler wait before they try again: CrashLoopBackOff, ImagePullBackOff.
    pub back_off: f64,
    /// How often Leases are renewed (10 s), and for how long a silent node is believed to be well (40 s).
    pub heartbeats: f64,
    /// How long Pods stay on a node that has failed (their `tolerationSeconds`, 300 s if they do not say).
    pub tolerations: f64,
}

impl Default for Pace {
    fn default() -> Self {
        Self { containers: 1.0, back_off: 1.0, heartbeats: 1.0, tolerations: 1.0 }
    }
}

impl Pace {
    /// The pace at which a demo is worth watching: containers take as long as they do, but nobody waits minutes for
    /// what comes after a failure. A node that falls silent is given up after 20 s, and its Pods go after 30 s more.
    pub const DEMO: Self = Self { containers: 1.0, back_off: 0.5, heartbeats: 0.5, tolerations: 0.1 };

    /// So many seconds at one of the factors.
    pub fn seconds(factor: f64, seconds: f64) -> Duration {
        Duration::from_secs_f64((seconds * factor).clamp(0.0, 1e9))
    }
}
