//! What came last of a log, so that nothing is shown twice when the log is asked for again.
//!
//! A server answers from a whole second on (`sinceTime`), and a second may have many lines, some with the same time and text. So
//! what came in the last seconds is remembered, line by line, and of each line as many are left out as came before. A line
//! that is older than others before it, as two streams of a container make them, is not lost in this way.

use std::collections::VecDeque;
use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashMap, FxHasher};

use crate::logs::reader::ReadLine;
use crate::logs::stamp::SECOND;

/// From how many seconds before the newest line on the log is asked for again.
const BEFORE: i64 = 1;

/// What came last.
#[derive(Debug, Default)]
pub struct Resumed {
    /// The lines from [`Resumed::since`] on: their times, and a digest of each.
    recent: VecDeque<(i64, u64)>,
    newest: Option<i64>,
    /// While a log comes again: how often each of its lines came before.
    again: FxHashMap<u64, u32>,
    /// The line that came last before the log was asked for again, as long as it has not come again.
    awaited: Option<u64>,
}

/// What a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Came {
    /// It has not come before.
    New,
    /// It came before.
    Again,
    /// It is new, and the line that came last before has not come again: lines between the two may be missing.
    NewAfterGap,
}

impl Resumed {
    /// The whole second from which on the log is to be asked for, in nanoseconds; `None` where no line with a time came.
    pub fn since(&self) -> Option<i64> {
        self.newest.map(|newest| (newest.div_euclid(SECOND) - BEFORE) * SECOND)
    }

    /// The log is asked for again. `same` is whether it is that of the same container run, which has no gap.
    pub fn begin(&mut self, same: bool) {
        self.again.clear();
        for (_, digest) in &self.recent {
            *self.again.entry(*digest).or_default() += 1;
        }
        self.awaited = self.recent.back().map(|(_, digest)| *digest).filter(|_| same);
    }

    /// A line came.
    pub fn take(&mut self, line: &ReadLine) -> Came {
        let digest = digest(line);
        if let Some(count) = self.again.get_mut(&digest).filter(|count| **count > 0) {
            *count -= 1;
            if self.awaited == Some(digest) {
                self.awaited = None;
            }
            return Came::Again;
        }
        let came = match (line.time, self.newest) {
            // What is older than the last line was overtaken by it, and is no gap.
            (Some(time), Some(newest)) if time > newest && self.awaited.take().is_some() => Came::NewAfterGap,
            _ => Came::New,
        };
        // A line without a time cannot be asked for by its time.
        if let Some(time) = line.time {
            self.newest = Some(self.newest.map_or(time, |newest| newest.max(time)));
            self.recent.push_back((time, digest));
            let since = self.since().unwrap_or(i64::MIN);
            while self.recent.front().is_some_and(|(time, _)| *time < since) {
                self.recent.pop_front();
            }
        }
        came
    }
}

fn digest(line: &ReadLine) -> u64 {
    let mut hasher = FxHasher::default();
    (line.time, &line.text, line.cut).hash(&mut hasher);
    hasher.finish()
}
