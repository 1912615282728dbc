//! How many Pods a load needs (`replica_calculator.go`), and how fast that number may change (`horizontal.go`).

/// A utilization that differs from the target by at most this many percent of the target changes nothing (`tolerance`).
const TOLERANCE: i64 = 10;

/// The limits of the number of replicas.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// The minimum.
    pub min: i64,
    /// The maximum.
    pub max: i64,
}

/// A recommended number of replicas, with its time in seconds since 1970.
#[derive(Debug, Clone, Copy)]
pub struct Recommendation {
    pub at: i64,
    pub replicas: i64,
}

/// The recent recommendations.
#[derive(Debug, Default)]
pub struct Recommendations(Vec<Recommendation>);

/// The number of Pods that brings the utilization to `target`, both in percent.
pub fn wanted(current: i64, utilization: i64, target: i64) -> i64 {
    let difference = (utilization - target).abs();
    if difference * 100 <= TOLERANCE * target {
        return current;
    }
    utilization.saturating_mul(current).saturating_add(target - 1) / target
}

impl Recommendations {
    /// Adds a recommendation and returns the stabilized number: no more than the lowest recommendation within
    /// `up_window`, no fewer than the highest within `down_window`, both in seconds
    /// (`stabilizeRecommendationWithBehaviors`).
    pub fn stabilize(&mut self, new: Recommendation, current: i64, up_window: i64, down_window: i64) -> i64 {
        let longest = up_window.max(down_window);
        self.0.retain(|one| one.at > new.at - longest);
        self.0.push(new);
        let within = |window: i64| self.0.iter().filter(move |one| one.at > new.at - window.max(1));
        let up = within(up_window).map(|one| one.replicas).min().unwrap_or(new.replicas);
        let down = within(down_window).map(|one| one.replicas).max().unwrap_or(new.replicas);
        current.clamp(up.min(down), down.max(up))
    }
}

/// Keeps a number within the bounds, and lets it grow at most to the double, or by four if that is more; returns the
/// limit that applied, if any (`convertDesiredReplicasWithBehaviorRate` with the default policies).
pub fn limit(current: i64, wanted: i64, bounds: Bounds) -> (i64, Option<(&'static str, &'static str)>) {
    let fastest = (current * 2).max(current + 4);
    match () {
        () if wanted > bounds.max.min(fastest) => {
            let limited = if bounds.max <= fastest {
                ("TooManyReplicas", "the desired replica count is more than the maximum replica count")
            } else {
                ("ScaleUpLimit", "the desired replica count is increasing faster than the maximum scale rate")
            };
            (bounds.max.min(fastest), Some(limited))
        }
        () if wanted < bounds.min => {
            let message = "the desired replica count is less than the minimum replica count";
            (bounds.min, Some(("TooFewReplicas", message)))
        }
        () => (wanted, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_wanted(current: i64, utilization: i64, target: i64, expected: i64) {
        assert_eq!(wanted(current, utilization, target), expected, "{current} at {utilization}% for {target}%");
    }

    #[test]
    fn pods_are_as_many_as_the_load_wants() {
        check_wanted(2, 50, 50, 2);
        check_wanted(2, 55, 50, 2);
        check_wanted(2, 56, 50, 3);
        check_wanted(4, 10, 50, 1);
        check_wanted(4, 46, 50, 4);
        check_wanted(4, 0, 50, 0);
    }

    fn check_limit(current: i64, wanted: i64, expected: i64, reason: Option<&str>) {
        let (desired, limited) = limit(current, wanted, Bounds { min: 2, max: 10 });
        assert_eq!((desired, limited.map(|(reason, _)| reason)), (expected, reason), "{current} to {wanted}");
    }

    #[test]
    fn bounds_and_speed_limit_them() {
        check_limit(3, 5, 5, None);
        check_limit(2, 7, 6, Some("ScaleUpLimit"));
        check_limit(6, 12, 10, Some("TooManyReplicas"));
        check_limit(6, 0, 2, Some("TooFewReplicas"));
    }

    #[test]
    fn scaling_down_waits_for_its_window() {
        let mut recommendations = Recommendations::default();
        let mut check = |at: i64, replicas: i64, current: i64, expected: i64| {
            let new = Recommendation { at, replicas };
            assert_eq!(recommendations.stabilize(new, current, 0, 60), expected, "{replicas} at {at}");
        };
        check(0, 5, 3, 5);
        check(30, 2, 5, 5);
        check(59, 1, 5, 5);
        check(60, 1, 5, 2);
        check(89, 1, 2, 2);
        check(90, 1, 2, 1);
        check(91, 4, 1, 4);
    }
}
