//! Compares the page's marks with the cluster's log of its writes.

use std::collections::{BTreeMap, BTreeSet};

use crate::cluster::Write;
use crate::handles::{Mark, Row, Status};
use crate::truth::Truth;

/// The version up to which the page has received everything.
pub fn revision(status: &Status) -> u64 {
    let version = status.resource_version.as_deref().and_then(|version| version.parse().ok());
    version.unwrap_or_else(|| panic!("a live kind has a version: {status:?}"))
}

/// A page that was live at revision `since` and was never interrupted has exactly one mark for every later write of
/// Pods: no mark is missing, doubled or made up.
pub fn every_write_has_its_mark(marks: &[Mark], writes: &[Write], since: u64) {
    let mut expected = BTreeMap::<(u64, &str, &str), i32>::new();
    for write in writes.iter().filter(|write| write.revision > since) {
        *expected.entry((write.revision, delta_type(&write.kind), &write.uid)).or_default() += 1;
    }
    assert!(!expected.is_empty(), "nothing was written since {since}");
    for mark in marks {
        if let (Some(version), "Added" | "Updated" | "Deleted") = (version(mark), mark.kind.as_str())
            && version > since
        {
            *expected.entry((version, &mark.kind, mark.uid.as_deref().unwrap_or_default())).or_default() -= 1;
        }
    }
    expected.retain(|_, balance| *balance != 0);
    let missing: Vec<_> = expected.iter().filter(|(_, balance)| **balance > 0).take(5).collect();
    let surplus: Vec<_> = expected.iter().filter(|(_, balance)| **balance < 0).take(5).collect();
    assert!(
        expected.is_empty(),
        "{} writes and marks do not match ({} marks in all); writes without a mark: {missing:?}; \
         marks without a write: {surplus:?}",
        expected.len(),
        marks.len(),
    );
}

/// Every object that the page knew `before` and that is gone now has exactly one mark as deleted.
pub fn the_gone_are_marked(marks: &[Mark], before: &[Row], truth: &Truth) {
    let there: BTreeSet<&str> = truth.items.values().map(|item| item.uid.as_str()).collect();
    let gone: Vec<&Row> = before.iter().filter(|row| !there.contains(row.uid.as_str())).collect();
    assert!(!gone.is_empty(), "nothing was deleted, so the test checked nothing");
    for row in &gone {
        let deletions =
            marks.iter().filter(|mark| mark.kind == "Deleted" && mark.uid.as_deref() == Some(&row.uid)).count();
        assert_eq!(deletions, 1, "Deleted marks of {}, one of {} that are gone", row.key, gone.len());
    }
}

/// How many Pods were added and deleted again after a revision.
pub fn short_lives(writes: &[Write], since: u64) -> usize {
    let deleted: BTreeSet<&str> = writes.iter().filter(|it| it.kind == "DELETED").map(|it| it.uid.as_str()).collect();
    let added = writes.iter().filter(|it| it.revision > since && it.kind == "ADDED");
    added.filter(|it| deleted.contains(it.uid.as_str())).count()
}

fn version(mark: &Mark) -> Option<u64> {
    mark.resource_version.as_deref()?.parse().ok()
}

fn delta_type(wire_type: &str) -> &'static str {
    match wire_type {
        "ADDED" => "Added",
        "MODIFIED" => "Updated",
        "DELETED" => "Deleted",
        other => panic!("the cluster's log has no type {other}"),
    }
}
