//! The clock of an API server, as its answers show it: each has a `Date` header. Ages are by that clock, because `kubectl`'s
//! are computed where the objects' times were written, and the clock of this machine may be wrong by hours.

use crate::api::time::Timestamp;

/// A smaller difference of two clocks is not worth a word, in milliseconds.
const WORTH_A_WORD: f64 = 5_000.0;
/// A `Date` header shows whole seconds: the time was later, by up to so many milliseconds.
const WHOLE_SECOND: f64 = 1_000.0;

/// What is known of a server's clock. All times are milliseconds since 1970.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ServerClock {
    /// By how much the server's clock is ahead of this machine's: at least, and at most. `None` while no answer has said.
    ahead: Option<(f64, f64)>,
}

impl ServerClock {
    /// An answer has this `Date` header. It was asked for and came at these times by this machine's clock.
    ///
    /// The server wrote the date between the two. So each answer bounds the difference, and all of them together bound it
    /// better. Where they contradict each other, one of the clocks was set, and the newest answer counts.
    pub fn answered(&mut self, date: &str, asked: f64, came: f64) {
        let Some(Timestamp(seconds)) = Timestamp::parse_http(date).filter(|_| asked <= came) else { return };
        let date = seconds as f64 * 1_000.0;
        let (least, most) = (date - came, date + WHOLE_SECOND - asked);
        let bounds = self.ahead.map(|(known_least, known_most)| (known_least.max(least), known_most.min(most)));
        self.ahead = Some(bounds.filter(|(least, most)| least <= most).unwrap_or((least, most)));
    }

    /// By how many milliseconds the server's clock is ahead of this machine's: 0 if both may be right, or if nothing is
    /// known. An answer is written when it is sent, however long it was waited for.
    pub fn ahead(&self) -> f64 {
        match self.ahead {
            Some((least, most)) if least > 0.0 || most < 0.0 => (least + most.min(least + WHOLE_SECOND)) / 2.0,
            _ => 0.0,
        }
    }

    /// The server's time, while this machine's clock shows `wall`.
    pub fn time(&self, wall: f64) -> Timestamp {
        Timestamp(((wall + self.ahead()) / 1_000.0).floor() as i64)
    }

    /// By how many seconds the server's clock is ahead of this machine's, if that is worth a word: minutes are rounded.
    pub fn difference(&self) -> Option<i64> {
        let ahead = self.ahead();
        let seconds = (ahead / 1_000.0).round();
        let seconds = if seconds.abs() < 120.0 { seconds } else { (seconds / 60.0).round() * 60.0 };
        (ahead.abs() > WORTH_A_WORD).then_some(seconds as i64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DATE: &str = "Sat, 21 Nov 2026 08:13:27 GMT";
    /// That time.
    const AT: f64 = 1_795_248_807_000.0;
    const HOUR: f64 = 3_600_000.0;

    #[test]
    fn an_answer_shows_the_difference_of_the_clocks() {
        for off in [-72.0 * HOUR, -6.0 * HOUR, -72_000.0, 72_000.0, 6.0 * HOUR] {
            let mut clock = ServerClock::default();
            // The server answers at 27.4 s, after 0.1 s.
            clock.answered(DATE, AT + 300.0 + off, AT + 400.0 + off);
            let wall = AT + 1_400.0 + off;
            assert!((clock.time(wall).0 - 1_795_248_808).abs() <= 1, "{off}: {:?}", clock.time(wall));
            assert_eq!(clock.difference(), Some((-off / 1_000.0) as i64), "{off}");
        }
    }

    #[test]
    fn clocks_that_agree_are_left_as_they_are() {
        let mut clock = ServerClock::default();
        assert_eq!((clock.ahead(), clock.difference(), clock.time(AT)), (0.0, None, Timestamp(1_795_248_807)));
        clock.answered(DATE, AT + 300.0, AT + 400.0);
        assert_eq!((clock.ahead(), clock.difference()), (0.0, None));
        // Three seconds are corrected without a word.
        let mut clock = ServerClock::default();
        clock.answered(DATE, AT - 2_700.0, AT - 2_600.0);
        assert_eq!((clock.difference(), clock.time(AT - 2_000.0)), (None, Timestamp(1_795_248_808)));
    }

    #[test]
    fn a_slow_answer_makes_no_difference() {
        let mut clock = ServerClock::default();
        clock.answered(DATE, AT - 30_000.0, AT + 400.0);
        assert_eq!(clock.ahead(), 0.0);
        let mut clock = ServerClock::default();
        clock.answered(DATE, AT - 30_000.0 - 6.0 * HOUR, AT + 400.0 - 6.0 * HOUR);
        assert!((clock.ahead() - 6.0 * HOUR).abs() <= 1_000.0, "{clock:?}");
    }

    #[test]
    fn answers_narrow_the_difference_until_a_clock_is_set() {
        let mut clock = ServerClock::default();
        clock.answered(DATE, AT - 10_000.0, AT - 9_000.0);
        clock.answered("Sat, 21 Nov 2026 08:13:28 GMT", AT - 9_200.0, AT - 9_100.0);
        assert_eq!(clock.ahead, Some((10_100.0, 11_000.0)));
        clock.answered("Sat, 21 Nov 2026 08:13:30 GMT", AT + 3_000.0, AT + 3_100.0);
        assert_eq!((clock.ahead, clock.ahead()), (Some((-100.0, 1_000.0)), 0.0), "the clock was set right");
    }

    #[test]
    fn what_is_no_date_changes_nothing() {
        let mut clock = ServerClock::default();
        for date in ["", "now", "2026-11-21T08:13:27Z", "Sat, 21 Nov 2026 08:13:27", "Sat, 99 Nov 2026 08:13:27 GMT"] {
            clock.answered(date, AT, AT);
        }
        clock.answered(DATE, AT + 1.0, AT);
        assert_eq!(clock, ServerClock::default());
    }
}
