//! The offline judge: compares what a page noted (`?audit=1`) and recorded with what the demo cluster noted (`--ledger`), and
//! finds whatever was lost, invented, shown in the wrong order, or called live when it was not.
//!
//! It uses neither a browser nor a clock. It reads files and returns complaints, so that an old run can be judged again.

/// Whether "live" was true, and whether the gaps cover the times in which nothing could come.
pub mod honesty;
/// The cluster's ledger.
pub mod ledger;
/// Every life of every name: whether it was shown, was folded, or could not be seen.
mod lives;
/// The page's log.
pub mod log;
/// The file of a page's recording.
pub mod recording;
/// What was sent, received, applied and shown, in sums.
mod sums;

use std::collections::BTreeMap;

use serde_json::Value;

use crate::truth::{Item, Truth};
use ledger::Ledger;
use log::PageLog;
use recording::Recording;

/// One watched resource at the end of a run: nothing is written any more, and the queues are empty.
#[derive(Debug)]
pub struct Case<'a> {
    /// What the cluster noted.
    pub ledger: &'a Ledger,
    /// What the page noted.
    pub log: &'a PageLog,
    /// What the page recorded, as it saved it at the end.
    pub recording: &'a Recording,
    /// The ledger's name of it, such as `deployments.apps`.
    pub resource: &'a str,
    /// An independent list of it.
    pub truth: &'a Truth,
    /// The page's own digest.
    pub digest: &'a str,
    /// The page's `status()` of it.
    pub status: &'a Value,
}

/// The result.
#[derive(Clone, Debug, Default)]
pub struct Verdict {
    /// How many lives of objects there were.
    pub lives: usize,
    /// Lives that were shown from beginning to end.
    pub shown: usize,
    /// Lives that were folded into an entry, which names the range of their versions.
    pub coalesced: usize,
    /// Lives that were over before the first list, or lie in a gap that the timeline shows.
    pub unobservable: usize,
    /// Lives that nothing accounts for.
    pub unaccounted: usize,
    /// How many versions were recorded.
    pub recorded: usize,
    /// By how many frames and changes the sums differ.
    pub residual: u64,
    /// How many digests were the same, and how many there were.
    pub digests: (usize, usize),
    /// Everything that is wrong, in words.
    pub complaints: Vec<String>,
}

impl Verdict {
    /// The sum of two results.
    pub fn add(&mut self, other: Verdict) {
        self.lives += other.lives;
        self.shown += other.shown;
        self.coalesced += other.coalesced;
        self.unobservable += other.unobservable;
        self.unaccounted += other.unaccounted;
        self.recorded += other.recorded;
        self.residual += other.residual;
        self.digests = (self.digests.0 + other.digests.0, self.digests.1 + other.digests.1);
        self.complaints.extend(other.complaints);
    }

    fn complain(&mut self, resource: &str, words: String) {
        self.complaints.push(format!("{resource}: {words}"));
    }
}

/// Judges one resource.
pub fn judge(case: &Case<'_>) -> Verdict {
    let mut verdict = Verdict::default();
    if case.log.dropped > 0 {
        verdict.complain(case.resource, format!("the page's log dropped {} entries", case.log.dropped));
    }
    digests(case, &mut verdict);
    lives::order(case, &mut verdict);
    lives::lives(case, &mut verdict);
    sums::sums(case, &mut verdict);
    verdict
}

/// The cluster's list, its ledger, the page's store, its rows and its recording hold the same.
fn digests(case: &Case<'_>, verdict: &mut Verdict) {
    let expected = case.truth.digest();
    let written = case.ledger.state(case.resource, case.truth.revision);
    for (what, digest) in [
        ("the ledger", digest(written)),
        ("the page's store", case.digest.to_owned()),
        ("the rows", digest(case.log.rows(case.resource))),
        ("the recording", digest(case.recording.state(case.resource))),
    ] {
        verdict.digests.1 += 1;
        if digest == expected {
            verdict.digests.0 += 1;
        } else {
            verdict.complain(case.resource, format!("{what} differs from the list in the end"));
        }
    }
}

fn digest(items: BTreeMap<String, Item>) -> String {
    Truth { items, revision: 0 }.digest()
}

/// The first few of many, in words.
fn some<T: std::fmt::Debug>(items: &[T]) -> String {
    format!("{:?}{}", &items[..items.len().min(3)], if items.len() > 3 { " and more" } else { "" })
}
