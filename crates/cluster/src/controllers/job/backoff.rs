//! How long a Job waits after failures before it creates Pods again (`pkg/controller/job/backoff_utils.go`).

use serde_json::Value;

use super::super::object;

/// The delay after the first failure (`DefaultJobPodFailureBackOff`), in seconds; it doubles with each further failure.
const DEFAULT_BACKOFF: i64 = 10;
/// The longest delay (`MaxJobPodFailureBackOff`), in seconds.
const MAX_BACKOFF: i64 = 600;

/// After how many seconds Pods may be created; 0 for now. The delay depends on the number of failures since the last
/// success, and on the time of the last failure. The real controller remembers both; here they are computed from the
/// Pods that still exist.
pub fn remaining<'a>(
    pods: impl Iterator<Item = &'a Value> + Clone,
    has_failed: impl Fn(&Value) -> bool,
    now: i64,
) -> i64 {
    let successes = pods.clone().filter(|pod| object::text(pod, "/status/phase") == "Succeeded");
    let success = successes.map(|pod| finish_time(pod, now)).max();
    let failures = pods.filter(|pod| has_failed(pod)).map(|pod| finish_time(pod, now));
    let failures: Vec<i64> = failures.filter(|time| success.is_none_or(|success| *time > success)).collect();
    let Some(last) = failures.iter().max() else { return 0 };
    let doublings = u32::try_from(failures.len() - 1).unwrap_or(u32::MAX).min(10);
    let wait = (DEFAULT_BACKOFF << doublings).min(MAX_BACKOFF);
    (last.saturating_add(wait) - now).max(0)
}

/// When a Pod ended: when its last container ended, or it became unready, or it was deleted (`getFinishedTime`).
fn finish_time(pod: &Value, now: i64) -> i64 {
    let containers = pod["status"]["containerStatuses"].as_array().into_iter().flatten();
    let times = containers.filter_map(|container| object::time(container, "/state/terminated/finishedAt"));
    let ended = times.map(|time| time.0).max();
    let ready = object::condition(pod, "Ready").and_then(|ready| object::time(ready, "/lastTransitionTime"));
    let deleted = object::time(pod, "/metadata/deletionTimestamp").map(|time| time.0);
    ended.or(ready.map(|time| time.0)).or(deleted).unwrap_or(now)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::clock::timestamp;

    const NOW: i64 = 1_800_000_000;

    /// Checks after how many seconds another Pod may be created, after Pods that ended so many seconds ago.
    fn check(ended: &[(&str, i64)], expected: i64) {
        let pods: Vec<Value> = ended
            .iter()
            .map(|(phase, ago)| {
                let terminated = json!({"terminated": {"finishedAt": timestamp(NOW - ago)}});
                json!({"status": {"phase": phase, "containerStatuses": [{"state": terminated}]}})
            })
            .collect();
        let has_failed = |pod: &Value| pod["status"]["phase"] == "Failed";
        assert_eq!(remaining(pods.iter(), has_failed, NOW), expected, "{ended:?}");
    }

    #[test]
    fn the_wait_doubles_with_each_failure_since_the_last_success() {
        check(&[], 0);
        check(&[("Succeeded", 1)], 0);
        check(&[("Failed", 0)], 10);
        check(&[("Failed", 4)], 6);
        check(&[("Failed", 11)], 0);
        check(&[("Failed", 60), ("Failed", 1)], 19);
        check(&[("Failed", 60), ("Succeeded", 30), ("Failed", 1)], 9);
        check(&[("Failed", 3), ("Succeeded", 1)], 0);
        check(&[("Failed", 1); 20], 599);
        check(&[("Failed", 1); 200], 599);
    }
}
