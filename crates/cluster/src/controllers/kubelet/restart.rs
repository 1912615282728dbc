//! Whether a container is restarted, and after how long (`kuberuntime_manager.go`).

use std::time::Duration;

use super::super::pace::Pace;
use super::behaviour::Role;

/// A first back-off, in seconds, and the longest (`backOffPeriod`, `MaxContainerBackOff`).
const BACK_OFF: (f64, f64) = (10.0, 300.0);
/// Whether a container that ended with a code is restarted.
pub fn is_restarted(role: Role, policy: &str, code: i64) -> bool {
    match role {
        Role::Sidecar => true,
        // For what must succeed, Always is as good as OnFailure.
        Role::Init => policy != "Never" && code != 0,
        Role::First | Role::Other => policy == "Always" || (policy == "OnFailure" && code != 0),
    }
}

/// How long to wait after so many waits.
pub fn back_off(before: u32, factor: f64) -> Duration {
    let seconds = (BACK_OFF.0 * 2_f64.powi(before.min(10) as i32)).min(BACK_OFF.1);
    Pace::seconds(factor, seconds)
}
