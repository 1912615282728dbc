//! What became of each life of each name, from the first write of an object to its deletion. It must have been shown, or been
//! folded into an entry that names the range of its versions, or lie in a time of which the page says that it could not see
//! it. And what is shown of it must never go back to an older version.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::judge::ledger::Write;
use crate::judge::recording::recorded;
use crate::judge::{Case, Verdict, some};

/// The versions that were shown of each uid must rise, and the cluster must have written each of them.
pub fn order(case: &Case<'_>, verdict: &mut Verdict) {
    let mut written = HashMap::<&str, BTreeSet<u64>>::new();
    for write in &case.ledger.writes {
        written.entry(&write.uid).or_default().insert(write.revision);
    }
    let mut newest = HashMap::<&str, u64>::new();
    let (mut back, mut made_up, mut wrong) = (Vec::new(), Vec::new(), Vec::new());
    for entry in case.log.of("shown", case.resource) {
        let (word, uid, version) = (entry.text(0), entry.text(2), entry.version(3));
        let line = (word, entry.text(1), uid, version);
        if matches!(word, "missing" | "left" | "provisional") {
            wrong.push(line);
        }
        if !written.get(uid).is_some_and(|versions| versions.contains(&version)) {
            made_up.push(line);
        }
        let last = newest.insert(uid, version).unwrap_or_default();
        // A tombstone and a resync have the version that was known.
        if version < last || (version == last && !matches!(word, "gone" | "synced")) {
            back.push((line, last));
        }
    }
    for (what, lines) in [("rows that the table does not have, or should not", wrong), ("never written", made_up)] {
        if !lines.is_empty() {
            verdict.complain(case.resource, format!("{} shown changes {what}: {}", lines.len(), some(&lines)));
        }
    }
    if !back.is_empty() {
        verdict.complain(case.resource, format!("{} shown versions do not rise: {}", back.len(), some(&back)));
    }
}

#[derive(Debug)]
struct Life<'a> {
    key: &'a str,
    uid: &'a str,
    born: u64,
    died: Option<u64>,
}

fn all<'a>(writes: impl Iterator<Item = &'a Write>) -> Vec<Life<'a>> {
    let mut lives: Vec<Life<'_>> = Vec::new();
    let mut places = HashMap::new();
    for write in writes {
        let at = *places.entry(&*write.uid).or_insert_with(|| {
            lives.push(Life { key: &write.key, uid: &write.uid, born: write.revision, died: None });
            lives.len() - 1
        });
        if matches!(write.kind.as_str(), "DELETED" | "ENDED") {
            lives[at].died = Some(write.revision);
        }
    }
    lives
}

/// A time that the page could not see: the version that it knew before, the version of the list that ended the time, and
/// whether the timeline shows it.
struct Window {
    from: u64,
    to: u64,
    marked: bool,
}

/// Counts every life as one of these, and adds a complaint for each life that is none.
pub fn lives(case: &Case<'_>, verdict: &mut Verdict) {
    let (first, windows) = windows(case, verdict);
    let marked: Vec<(u64, u64)> = windows.iter().filter(|gap| gap.marked).map(|gap| (gap.from, gap.to)).collect();
    recorded(case, (first, &marked), verdict);
    let (begun, over) = shown(case);
    let folded = folded(case);
    let mut unaccounted = Vec::new();
    for life in all(case.ledger.of(case.resource, case.truth.revision)) {
        verdict.lives += 1;
        let is_within = |from: u64, to: u64| life.born > from && life.died.is_some_and(|died| died <= to);
        let ranges = folded.get(life.key).map(Vec::as_slice).unwrap_or_default();
        if begun.contains(life.uid) && over.contains(life.uid) == life.died.is_some() {
            verdict.shown += 1;
        } else if ranges.iter().any(|(from, to)| is_within(*from, *to)) {
            verdict.coalesced += 1;
        } else if is_within(0, first) || windows.iter().any(|gap| gap.marked && is_within(gap.from, gap.to)) {
            verdict.unobservable += 1;
        } else {
            let how = match (begun.contains(life.uid), over.contains(life.uid)) {
                (false, _) => "never shown",
                (true, true) => "shown as gone though it is there",
                (true, false) => "its end was not shown",
            };
            unaccounted.push((how, life));
        }
    }
    verdict.unaccounted += unaccounted.len();
    if !unaccounted.is_empty() {
        verdict.complain(case.resource, format!("{} lives unaccounted for: {}", unaccounted.len(), some(&unaccounted)));
    }
}

/// The version of the first list, and the time before each further list.
fn windows(case: &Case<'_>, verdict: &mut Verdict) -> (u64, Vec<Window>) {
    let said: BTreeSet<u64> = case
        .log
        .of("notice", case.resource)
        .filter(|entry| matches!(entry.text(0), "relist" | "gap"))
        .map(|entry| entry.at.to_bits())
        .collect();
    let (mut first, mut windows, mut seen) = (None, Vec::new(), 0);
    for entry in case.log.entries.iter().filter(|entry| entry.resource == case.resource) {
        if entry.word == "frame" && entry.text(4) == "queued" {
            seen = entry.version(3).max(seen);
        }
        if entry.word != "replaced" {
            continue;
        }
        let (from, to) = (entry.version(0), entry.version(1));
        match first {
            None => first = Some(to),
            Some(_) => {
                if from < seen && seen <= to {
                    let words = format!("a list says that nothing was known after {from}, though {seen} had come");
                    verdict.complain(case.resource, words);
                }
                windows.push(Window { from: from.max(seen), to, marked: said.contains(&entry.at.to_bits()) });
            }
        }
        seen = seen.max(to);
    }
    (first.unwrap_or(u64::MAX), windows)
}

/// The uids that were shown, and those that were shown to be gone.
fn shown<'a>(case: &'a Case<'_>) -> (BTreeSet<&'a str>, BTreeSet<&'a str>) {
    let (mut begun, mut over) = (BTreeSet::new(), BTreeSet::new());
    for entry in case.log.of("shown", case.resource) {
        if entry.text(0) == "gone" {
            over.insert(entry.text(2));
        } else {
            begun.insert(entry.text(2));
        }
    }
    (begun, over)
}

/// For each key, the ranges of versions of the entries that stand for more than one delta: from the version that was applied
/// before to the newest version that had come.
fn folded<'a>(case: &'a Case<'_>) -> BTreeMap<&'a str, Vec<(u64, u64)>> {
    let (mut newest, mut came) = (HashMap::new(), HashMap::<&str, u64>::new());
    let mut ranges = BTreeMap::<&str, Vec<(u64, u64)>>::new();
    for entry in case.log.entries.iter().filter(|entry| entry.resource == case.resource) {
        let (key, version) = (entry.text(1), entry.version(3));
        match entry.word.as_str() {
            "frame" if entry.text(4) == "queued" => {
                came.insert(key, version);
            }
            "applied" => {
                let last = came.get(key).copied().unwrap_or_default().max(version);
                let before = newest.insert(key, last).unwrap_or_default();
                if entry.number(5) > 1.0 {
                    ranges.entry(key).or_default().push((before, last));
                }
            }
            _ => {}
        }
    }
    ranges
}
