//! When the last lines of logs were written.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// Of how many runs is remembered when their last lines were written.
const REMEMBERED: usize = 10_000;
/// Nanoseconds in a second.
const SECOND: i64 = 1_000_000_000;

/// When the last lines of runs were written, in nanoseconds since 1970. A Pod's status has whole seconds, and a log that is read
/// again must have the same lines and times.
#[derive(Debug, Default)]
pub struct LogEnds(Mutex<BTreeMap<String, Times>>);

#[derive(Debug, Default)]
struct Times {
    /// Until when its lines were sent while it ran.
    sent: i64,
    stop: Option<i64>,
    end: Option<i64>,
}

/// What happens at the end of a run.
#[derive(Debug, Clone, Copy)]
pub enum Ends {
    /// It is asked to stop.
    Stop,
    /// It ends.
    End,
}

impl LogEnds {
    fn times<T>(&self, run: &str, with: impl FnOnce(&mut Times) -> T) -> T {
        let mut runs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !runs.contains_key(run) && runs.len() >= REMEMBERED {
            runs.pop_first();
        }
        with(runs.entry(run.to_owned()).or_default())
    }

    /// When the lines of an end were written that the status dates to a whole second: what was said before; or now, if now is
    /// within that second; and not before the lines that were sent of a run that had not ended.
    pub fn of(&self, run: &str, ends: Ends, second: i64, now: i64) -> i64 {
        let is_now = (second..second + SECOND).contains(&now);
        self.times(run, |times| {
            let known = match ends {
                Ends::Stop => &mut times.stop,
                Ends::End => &mut times.end,
            };
            *known.get_or_insert(if is_now { now } else { second }.max(times.sent))
        })
    }

    /// Remembers that the lines up to now of a run that goes on are sent.
    pub fn sent(&self, run: &str, now: i64) {
        self.times(run, |times| times.sent = times.sent.max(now));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_does_not_end_before_lines_that_were_sent() {
        let ends = LogEnds::default();
        assert_eq!(ends.of("a", Ends::End, 5 * SECOND, 5 * SECOND + 7), 5 * SECOND + 7);
        assert_eq!(ends.of("a", Ends::End, 5 * SECOND, 9 * SECOND), 5 * SECOND + 7, "it is remembered");
        ends.sent("b", 7 * SECOND + 3);
        assert_eq!(ends.of("b", Ends::Stop, 5 * SECOND, 8 * SECOND), 7 * SECOND + 3);
        ends.sent("b", 9 * SECOND);
        assert_eq!(ends.of("b", Ends::Stop, 5 * SECOND, 9 * SECOND), 7 * SECOND + 3, "it is remembered");
        assert_eq!(ends.of("b", Ends::End, 8 * SECOND, 10 * SECOND), 9 * SECOND);
        assert_eq!(ends.of("c", Ends::End, 5 * SECOND, 10 * SECOND), 5 * SECOND);
    }
}
