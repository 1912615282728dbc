//! How much time the dispatching of one cache may spend on watchers that do not keep up.

use std::time::Duration;

use tokio::time::Instant;

/// How much is refilled per second (`refreshPerSecond`).
const REFRESH_PER_SECOND: Duration = Duration::from_millis(50);
/// The most that is ever saved up (`maxBudget`).
const MAX_BUDGET: Duration = Duration::from_millis(100);

/// The budget that is left.
#[derive(Debug)]
pub struct TimeBudget {
    available: Duration,
    at: Instant,
}

impl TimeBudget {
    /// A full budget.
    pub fn new(now: Instant) -> Self {
        Self { available: MAX_BUDGET, at: now }
    }

    /// Takes all that is left.
    pub fn take(&mut self, now: Instant) -> Duration {
        let refreshed = now.duration_since(self.at).as_secs_f64() * REFRESH_PER_SECOND.as_secs_f64();
        let available = self.available + Duration::from_secs_f64(refreshed.min(MAX_BUDGET.as_secs_f64()));
        *self = Self { available: Duration::ZERO, at: now };
        available.min(MAX_BUDGET)
    }

    /// Gives back what was taken and not used.
    pub fn return_unused(&mut self, unused: Duration) {
        self.available = (self.available + unused).min(MAX_BUDGET);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 87. TestTimeBudget: 50 ms are refilled per second, 100 ms are never exceeded, and unused time is given back.
    #[test]
    fn the_budget_is_refilled_capped_and_given_back() {
        let mut now = Instant::now();
        let mut budget = TimeBudget::new(now);
        for (seconds, given_back, expected) in
            [(0, 0, 100), (0, 0, 0), (1, 0, 50), (1, 30, 80), (60, 0, 100), (0, 100, 100), (0, 300, 100), (1, 0, 50)]
        {
            now += Duration::from_secs(seconds);
            budget.return_unused(Duration::from_millis(given_back));
            assert_eq!(budget.take(now).as_millis(), expected, "{seconds} s later, {given_back} ms given back");
        }
    }
}
