//! The offline judge: holds what a page wrote down (`?audit=1`) against what the demo cluster wrote down (`--ledger`), and
//! finds whatever was lost, made up, shown in the wrong order, or called live while it was not.
//!
//! It knows neither a browser nor a clock: files in, complaints out, so that an old run can be judged again.

/// Whether "live" was true, and whether the gaps cover the silences.
pub mod honesty;
/// The cluster's account.
pub mod ledger;
/// Every life of every name: shown, folded, or not to be seen.
mod lives;
/// The page's account.
pub mod log;
/// What was sent, received, applied and shown, in sums.
mod sums;

use std::collections::BTreeMap;

use serde_json::Value;

use crate::truth::{Item, Truth};
use ledger::Ledger;
use log::PageLog;

/// One watched resource at the end of a run: nothing is written any more, and the queues are empty.
#[derive(Debug)]
pub struct Case<'a> {
    /// What the cluster wrote down.
    pub ledger: &'a Ledger,
    /// What the page wrote down.
    pub log: &'a PageLog,
    /// As the ledger calls it: `deployments.apps`.
    pub resource: &'a str,
    /// An independent list of it.
    pub truth: &'a Truth,
    /// The page's own digest.
    pub digest: &'a str,
    /// The page's `status()` of it.
    pub status: &'a Value,
}

/// What was found.
#[derive(Debug, Default)]
pub struct Verdict {
    /// Lives of objects that the page could have seen, or not.
    pub lives: usize,
    /// Those that were shown from beginning to end.
    pub shown: usize,
    /// Those that an entry names by its range.
    pub coalesced: usize,
    /// Those that were over before the first list, or lie in a gap that is marked.
    pub unobservable: usize,
    /// Those of which nothing tells.
    pub unaccounted: usize,
    /// By how many frames and changes the sums differ.
    pub residual: u64,
    /// Digests that were the same, of how many.
    pub digests: (usize, usize),
    /// Everything that is wrong, in words.
    pub complaints: Vec<String>,
}

impl Verdict {
    /// The sum of two.
    pub fn add(&mut self, other: Verdict) {
        self.lives += other.lives;
        self.shown += other.shown;
        self.coalesced += other.coalesced;
        self.unobservable += other.unobservable;
        self.unaccounted += other.unaccounted;
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

/// The cluster's list, its ledger, the page's store and the page's rows hold the same.
fn digests(case: &Case<'_>, verdict: &mut Verdict) {
    let expected = case.truth.digest();
    let written = case.ledger.state(case.resource, case.truth.revision);
    for (what, digest) in [
        ("the ledger", digest(written)),
        ("the page's store", case.digest.to_owned()),
        ("the rows", digest(case.log.rows(case.resource))),
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

/// The first few of many.
fn some<T: std::fmt::Debug>(items: &[T]) -> String {
    format!("{:?}{}", &items[..items.len().min(3)], if items.len() > 3 { " and more" } else { "" })
}
