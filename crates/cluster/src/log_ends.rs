//! When the last lines of logs were written.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// Of how many runs is remembered when their last lines were written.
const REMEMBERED: usize = 10_000;
/// Nanoseconds in a second.
const SECOND: i64 = 1_000_000_000;

/// When the last lines of runs were written, in nanoseconds since 1970. A Pod's status has whole seconds, and a log that is read
/// again must have the same times.
#[derive(Debug, Default)]
pub struct LogEnds(Mutex<BTreeMap<String, i64>>);

impl LogEnds {
    /// When the lines of an end were written that the status dates to a whole second: what was said before, or now, if now is
    /// within that second.
    pub fn of(&self, run: String, second: i64, now: i64) -> i64 {
        let mut ends = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if ends.len() >= REMEMBERED {
            ends.pop_first();
        }
        let is_now = (second..second + SECOND).contains(&now);
        *ends.entry(run).or_insert(if is_now { now } else { second })
    }
}
