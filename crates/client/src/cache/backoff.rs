//! How long to wait before the next attempt.

/// The time and a random number, which the client cannot get for itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moment {
    /// Milliseconds on a clock that never runs backwards.
    pub now: f64,
    /// Uniform in [0, 1).
    pub random: f64,
}

/// The first wait before jitter, in milliseconds. All constants are client-go's (`reflector.go`,
/// `NewReflectorWithOptions`).
const FIRST: f64 = 800.0;
/// The longest wait before jitter, in milliseconds.
const LONGEST: f64 = 30_000.0;
/// The waits begin short again this long after they last began, in milliseconds, even if every attempt still fails.
const RESET: f64 = 120_000.0;

/// Exponential waits with jitter: 0.8 s, doubling to 30 s, each times a number in [1, 2).
#[derive(Clone, Debug, Default)]
pub struct Backoff {
    step: u32,
    began: Option<f64>,
}

impl Backoff {
    /// The next wait, in milliseconds.
    pub fn next(&mut self, moment: Moment) -> f64 {
        if self.began.is_none_or(|began| moment.now - began >= RESET) {
            *self = Backoff { step: 0, began: Some(moment.now) };
        }
        let base = (FIRST * f64::from(1_u32 << self.step.min(16))).min(LONGEST);
        self.step += 1;
        base * (1.0 + moment.random)
    }

    /// The same failure goes on for a reason that time alone does not end: the waits do not begin short again now.
    pub fn goes_on(&mut self, moment: Moment) {
        self.began = self.began.map(|_| moment.now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_to_thirty_seconds_and_begin_anew_after_two_minutes() {
        let mut backoff = Backoff::default();
        let waits = |backoff: &mut Backoff, now, random, count| -> Vec<f64> {
            (0..count).map(|_| backoff.next(Moment { now, random })).collect()
        };
        assert_eq!(
            waits(&mut backoff, 0.0, 0.0, 8),
            [800.0, 1600.0, 3200.0, 6400.0, 12_800.0, 25_600.0, 30_000.0, 30_000.0]
        );
        assert_eq!(waits(&mut backoff, 119_999.0, 0.5, 1), [45_000.0]);
        assert_eq!(waits(&mut backoff, 120_000.0, 0.5, 2), [1200.0, 2400.0]);
        backoff.goes_on(Moment { now: 239_999.0, random: 0.0 });
        assert_eq!(waits(&mut backoff, 240_000.0, 0.0, 1), [3200.0]);
    }
}
