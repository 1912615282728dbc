//! Whether a container is restarted, and after what delay (`kuberuntime_manager.go`).

use std::time::Duration;

use super::super::pace::Pace;
use super::behaviour::Role;

/// The first delay and the longest one, in seconds (`backOffPeriod`, `MaxContainerBackOff`).
const BACK_OFF: (f64, f64) = (10.0, 300.0);
/// Whether a container is restarted after it ended with this exit code.
pub fn is_restarted(role: Role, policy: &str, code: i64) -> bool {
    match role {
        Role::Sidecar => true,
        // An init container must succeed once, so Always means the same as OnFailure.
        Role::Init => policy != "Never" && code != 0,
        Role::First | Role::Other => policy == "Always" || (policy == "OnFailure" && code != 0),
    }
}

/// The delay after `before` earlier delays.
pub fn back_off(before: u32, factor: f64) -> Duration {
    let seconds = (BACK_OFF.0 * 2_f64.powi(before.min(10) as i32)).min(BACK_OFF.1);
    Pace::seconds(factor, seconds)
}
