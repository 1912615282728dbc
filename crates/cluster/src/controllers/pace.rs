//! How fast the simulated kubelets work: factors on the times of Kubernetes, for demos and tests.

use std::time::Duration;

/// Factors on times: 1 is as in Kubernetes, 0.1 is ten times as fast.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pace {
    /// For containers: pulling, starting, running to their end and stopping, and the delays and periods of their
    /// probes.
    pub containers: f64,
    /// For the retries of kubelets and the scheduler: CrashLoopBackOff, ImagePullBackOff.
    pub back_off: f64,
    /// For heartbeats: how often Leases are renewed (10 s), and how long a silent node counts as healthy (40 s).
    pub heartbeats: f64,
    /// For how long Pods stay on a failed node (their `tolerationSeconds`, 300 s by default).
    pub tolerations: f64,
}

impl Default for Pace {
    fn default() -> Self {
        Self { containers: 1.0, back_off: 1.0, heartbeats: 1.0, tolerations: 1.0 }
    }
}

impl Pace {
    /// The pace of a demo: containers take their normal time, but the consequences of a failure do not take minutes. A
    /// silent node counts as failed after 20 s, and its Pods are deleted after another 30 s.
    pub const DEMO: Self = Self { containers: 1.0, back_off: 0.5, heartbeats: 0.5, tolerations: 0.1 };

    /// A number of seconds, multiplied by one of the factors.
    pub fn seconds(factor: f64, seconds: f64) -> Duration {
        Duration::from_secs_f64((seconds * factor).clamp(0.0, 1e9))
    }
}
