//! How objects were after so many versions had been received: the newest version of each at or before that.

use hashbrown::HashMap;
use kubechurn_client::cache::delta::DeltaType;
use rustc_hash::FxBuildHasher;

use crate::lives::{Life, Number};
use crate::log::{Log, Record};

/// What is known of an object at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Then {
    /// It had not come yet, or was gone.
    Absent,
    /// It was as in the version with this number, which is kept.
    Version(u64),
    /// It existed, and its version is not kept.
    Evicted,
}

/// How an object was at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Past {
    /// How it was.
    pub then: Then,
    /// The number of its newest version then, whether it is kept or not; where that is not known, the greatest that it may be.
    pub sequence: u64,
    /// Whether nothing was received of it since: then it is still so.
    pub is_newest: bool,
}

/// How an object was after so many versions were received; `None` where nothing had been received of it.
///
/// Each log leads back to the newest version in it before the moment, or to where its older ones were dropped. The newest of
/// these is the object's version. If it was dropped, an older one that is kept in another log does not stand for it. `steps` are
/// those of the moment, where they are known.
#[inline(never)]
pub(crate) fn of(life: &Life, logs: &[Log; 3], received: u64, steps: Option<&Steps<'_>>) -> Option<Past> {
    if received <= life.first {
        return None;
    }
    let is_newest = life.last < received;
    let each: [Option<Newest<'_>>; 3] = std::array::from_fn(|at| {
        let newest = life.newest[at]?.get();
        match steps.filter(|_| newest >= received) {
            Some(steps) => step_before(&logs[at], steps.0.get(&life.number).and_then(|first| first[at]), received),
            None => newest_before(&logs[at], newest, received),
        }
    });
    let newest = each.iter().flatten().max_by_key(|newest| newest.sequence);
    let is_end = |newest: &Newest<'_>| match newest.record {
        Some(record) => record.delta_type == DeltaType::Deleted,
        None => newest.is_exact && life.dropped_end == Number::of(newest.sequence),
    };
    // After its end, an object comes back by a change. So it has ended, whatever was dropped that may have come since.
    let known = each.iter().flatten().filter(|newest| newest.is_exact).max_by_key(|newest| newest.sequence);
    let then = match newest {
        _ if is_newest && life.is_gone => Then::Absent,
        _ if known.is_some_and(is_end) => Then::Absent,
        Some(Newest { record: Some(record), .. }) if !record.is_missing => Then::Version(record.sequence),
        _ => Then::Evicted,
    };
    let last = if is_newest { Some(life.last) } else { newest.map(|newest| newest.sequence) };
    Some(Past { then, sequence: last.unwrap_or(received - 1), is_newest })
}

/// The newest version in a log before a moment.
struct Newest<'a> {
    /// Its number, or the greatest that it may have.
    sequence: u64,
    /// Whether the number is known.
    is_exact: bool,
    /// Its record, if it is kept.
    record: Option<&'a Record>,
}

/// The newest version in a log before a moment, on the way back from the newest of all; `None` where there was none.
fn newest_before(log: &Log, newest: u64, received: u64) -> Option<Newest<'_>> {
    let mut sequence = newest;
    loop {
        let record = log.record(sequence);
        if sequence < received {
            return Some(Newest { sequence, is_exact: true, record });
        }
        match record {
            Some(record) => sequence = record.previous()?,
            None => return Some(Newest { sequence: received - 1, is_exact: false, record: None }),
        }
    }
}

/// Of each object of which something came after a moment, the first such version in each log: the way back from the newest is
/// long where much came since.
pub(crate) struct Steps<'a>(HashMap<u32, [Option<&'a Record>; 3], FxBuildHasher>);

impl<'a> Steps<'a> {
    #[inline(never)]
    pub(crate) fn since(logs: &'a [Log; 3], received: u64) -> Steps<'a> {
        let mut first: HashMap<u32, [Option<&Record>; 3], FxBuildHasher> = HashMap::default();
        for (at, log) in logs.iter().enumerate() {
            for record in log.between(received, u64::MAX) {
                first.entry(record.life).or_default()[at].get_or_insert(record);
            }
        }
        Steps(first)
    }
}

/// The newest version in a log before a moment, on the way back from the first one after it that is kept.
fn step_before<'a>(log: &'a Log, first: Option<&'a Record>, received: u64) -> Option<Newest<'a>> {
    let lost = Newest { sequence: received - 1, is_exact: false, record: None };
    let Some(first) = first else { return Some(lost) };
    let sequence = first.previous()?;
    let record = log.record(sequence);
    Some(if sequence < received { Newest { sequence, is_exact: true, record } } else { lost })
}

/// What three logs have, in the order in which it was received.
#[derive(Debug)]
pub(crate) struct Merged<I>(pub(crate) [I; 3]);

impl<'a, I: DoubleEndedIterator<Item = &'a Record> + Clone> Iterator for Merged<I> {
    type Item = &'a Record;

    fn next(&mut self) -> Option<&'a Record> {
        let heads = self.0.each_ref().map(|part| part.clone().next().map_or(u64::MAX, |record| record.sequence));
        let first = (0..3).min_by_key(|at| heads[*at])?;
        self.0[first].next()
    }
}

impl<'a, I: DoubleEndedIterator<Item = &'a Record> + Clone> DoubleEndedIterator for Merged<I> {
    fn next_back(&mut self) -> Option<&'a Record> {
        let tails = self.0.each_ref().map(|part| part.clone().next_back().map(|record| record.sequence));
        let last = (0..3).max_by_key(|at| tails[*at])?;
        self.0[last].next_back()
    }
}
