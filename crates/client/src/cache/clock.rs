//! One clock that is made of two: the monotonic clock, which never runs backwards but stops while some machines sleep, and
//! the wall clock, which goes on while they sleep but may be set.

/// If the wall clock is ahead by more than this, in milliseconds, the monotonic clock has stood still, or the wall clock was
/// set forward. A smaller difference is drift.
const JUMP: f64 = 1_000.0;

/// A time of that many milliseconds in whole microseconds: the next one, unless the time is one but for what a number of this size
/// cannot hold. A recording has no finer times, and so what is shown of a time is the same where the recording is opened.
pub fn whole_microseconds(at: f64) -> f64 {
    (at * 1_000.0).ceil() / 1_000.0
}

/// A clock that counts the time for which a machine slept, and never runs backwards. All times are milliseconds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Clock {
    /// How far this clock is ahead of the monotonic one.
    ahead: f64,
    last: f64,
    /// By how much this clock has jumped since [`Clock::take_jump`].
    jumped: f64,
}

impl Clock {
    /// The time, in milliseconds since 1970 and in [`whole_microseconds`]. `monotonic` is the time by the monotonic clock, which once
    /// agreed with the wall clock; `wall` is the time by the wall clock.
    ///
    /// If the wall clock is set back, this clock goes on as before, and is ahead until the wall clock has caught up.
    pub fn read(&mut self, monotonic: f64, wall: f64) -> f64 {
        let behind = wall - (monotonic + self.ahead);
        if behind > JUMP {
            self.ahead += behind;
            self.jumped += behind;
        }
        self.last = self.last.max(whole_microseconds(monotonic + self.ahead));
        self.last
    }

    /// By how much this clock jumped forward since the last call.
    pub fn take_jump(&mut self) -> f64 {
        std::mem::take(&mut self.jumped)
    }

    /// What to add to a time of this clock to get the time of day: 0, unless the wall clock was set back.
    pub fn to_wall(&self, wall: f64) -> f64 {
        let ahead = self.last - wall;
        if ahead > JUMP { -ahead } else { 0.0 }
    }
}

/// How long a timer is to wait that must come in `wait` milliseconds, or `None` if the timer that runs comes in time. `runs_until`
/// is when that one comes, and `monotonic` is the time, both by the monotonic clock, by which timers run: a [`Clock`] that jumps
/// brings a deadline nearer, and no timer.
pub fn timer(runs_until: Option<f64>, monotonic: f64, wait: f64) -> Option<f64> {
    let wait = wait.max(0.0);
    match runs_until {
        // Also one that is late: it comes when the thread is free, and to set it anew for each frame would have it never come. A
        // millisecond is for what rounding takes from times since 1970.
        Some(until) if until <= monotonic + wait + 1.0 => None,
        _ => Some(wait),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timer_that_runs_is_kept_where_it_comes_in_time() {
        assert_eq!(timer(None, 100.0, 50.0), Some(50.0));
        assert_eq!(timer(None, 100.0, -50.0), Some(0.0));
        assert_eq!(timer(Some(150.0), 100.0, 50.0), None);
        assert_eq!(timer(Some(150.0), 100.0, 49.5), None);
        assert_eq!(timer(Some(120.0), 100.0, 50.0), None);
        assert_eq!(timer(Some(200.0), 100.0, 50.0), Some(50.0));
        assert_eq!(timer(Some(100.0), 9_000.0, 50.0), None);
    }

    #[test]
    fn a_deadline_that_a_jump_brings_nearer_is_kept() {
        let mut clock = Clock::default();
        let deadline = clock.read(1_000.0, 1_000.0) + 10_000.0;
        let runs_until = 1_000.0 + timer(None, 1_000.0, 10_000.0).unwrap();
        let now = clock.read(1_100.0, 6_100.0);
        assert_eq!(timer(Some(runs_until), 1_100.0, deadline - now), Some(4_900.0), "5 s of sleep");
        let now = clock.read(1_200.0, 1_200.0 + 2.0 * HOUR);
        assert_eq!(timer(Some(runs_until), 1_200.0, deadline - now), Some(0.0), "two hours of sleep");
    }

    #[test]
    fn its_times_are_those_that_a_recording_has() {
        let mut clock = Clock::default();
        for step in 0..100_000 {
            let at = 1.795_723_590_480_123e12 + f64::from(step) * 0.000_37;
            let now = clock.read(at, at);
            // Since 1970 a number has steps of about 0.25 microseconds.
            assert!((-0.000_25..0.001_25).contains(&(now - at)), "{at} is {now}");
            let written = (now * 1_000.0).ceil() as i64;
            assert_eq!(written as f64 / 1_000.0, now, "written and read again");
            assert_eq!(whole_microseconds(now), now);
        }
    }

    const HOUR: f64 = 3_600_000.0;

    #[test]
    fn two_hours_of_sleep_are_taken_in() {
        let mut clock = Clock::default();
        assert_eq!((clock.read(1_000.0, 1_000.0), clock.take_jump()), (1_000.0, 0.0));
        assert_eq!(clock.read(2_000.0, 2_000.0 + 2.0 * HOUR), 2_000.0 + 2.0 * HOUR);
        assert_eq!((clock.take_jump(), clock.take_jump()), (2.0 * HOUR, 0.0));
        assert_eq!(clock.read(2_250.0, 2_250.0 + 2.0 * HOUR), 2_250.0 + 2.0 * HOUR);
        assert_eq!((clock.take_jump(), clock.to_wall(2_250.0 + 2.0 * HOUR)), (0.0, 0.0));
    }

    #[test]
    fn a_wall_clock_that_is_set_back_stops_nothing_and_the_time_of_day_follows_it() {
        let mut clock = Clock::default();
        clock.read(5.0 * HOUR, 5.0 * HOUR);
        assert_eq!(clock.read(5.0 * HOUR + 10.0, 2.0 * HOUR + 10.0), 5.0 * HOUR + 10.0);
        assert_eq!(clock.to_wall(2.0 * HOUR + 10.0), -3.0 * HOUR);
        // And set right again: it is no jump, for the clock was never behind.
        assert_eq!(clock.read(5.0 * HOUR + 20.0, 5.0 * HOUR + 20.0), 5.0 * HOUR + 20.0);
        assert_eq!((clock.take_jump(), clock.to_wall(5.0 * HOUR + 20.0)), (0.0, 0.0));
    }

    #[test]
    fn it_never_runs_backwards_whatever_the_two_say() {
        let mut clock = Clock::default();
        let mut random = 1_u64;
        let mut last = 0.0;
        for _ in 0..100_000 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let (monotonic, wall) = ((random >> 40) as f64, (random >> 20 & 0xff_ffff) as f64 * 1e3);
            let now = clock.read(monotonic, wall);
            assert!(now >= last, "{last} to {now}");
            last = now;
        }
    }

    #[test]
    fn drift_is_no_jump() {
        let mut clock = Clock::default();
        assert_eq!((clock.read(10_000.0, 10_900.0), clock.take_jump()), (10_000.0, 0.0));
        assert_eq!(clock.to_wall(9_100.0), 0.0);
    }
}
