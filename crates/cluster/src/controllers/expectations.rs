//! What a controller has done that its informers have not shown yet (`ControllerExpectations` in
//! `pkg/controller/controller_utils.go`).
//!
//! A controller that reads its informers right after it has created a Pod does not find the Pod, and would create
//! another. So it records beforehand what it is about to do, its handlers record what they see of that, and until both
//! agree it neither creates nor deletes anything for that key.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

use kubechurn_client::api::object::ObjectKey;
use tokio::time::{Duration, Instant};

/// An expectation that was not met for this long is given up: an informer may miss an object that was created and
/// deleted while the informer was disconnected (`ExpectationsTimeout`).
pub const TIMEOUT: Duration = Duration::from_secs(300);

/// The expectations of one controller, by the keys of the objects that it syncs.
#[derive(Debug, Default)]
pub struct Expectations {
    by_key: RefCell<HashMap<ObjectKey, Expected>>,
}

#[derive(Debug)]
struct Expected {
    creations: usize,
    /// By uid, because the deletion of a Pod that is being deleted is observed more than once.
    deletions: HashSet<String>,
    since: Instant,
}

impl Expectations {
    /// Records that `count` creations are about to be requested.
    pub fn expect_creations(&self, key: &ObjectKey, count: usize) {
        self.expect(key, |expected| expected.creations += count);
    }

    /// Records that the deletions of these uids are about to be requested.
    pub fn expect_deletions<'a>(&self, key: &ObjectKey, uids: impl IntoIterator<Item = &'a str>) {
        self.expect(key, |expected| expected.deletions.extend(uids.into_iter().map(str::to_owned)));
    }

    /// Records that a creation was observed, or has failed.
    pub fn creation_observed(&self, key: &ObjectKey) {
        if let Some(expected) = self.by_key.borrow_mut().get_mut(key) {
            expected.creations = expected.creations.saturating_sub(1);
        }
    }

    /// Records that a deletion, or its beginning, was observed, or has failed.
    pub fn deletion_observed(&self, key: &ObjectKey, uid: &str) {
        if let Some(expected) = self.by_key.borrow_mut().get_mut(key) {
            expected.deletions.remove(uid);
        }
    }

    /// Whether all expectations of a key are met or given up.
    pub fn are_satisfied(&self, key: &ObjectKey) -> bool {
        self.by_key.borrow().get(key).is_none_or(Expected::is_over)
    }

    /// Removes the expectations of a key whose object was deleted or recreated.
    pub fn forget(&self, key: &ObjectKey) {
        self.by_key.borrow_mut().remove(key);
    }

    fn expect(&self, key: &ObjectKey, add: impl FnOnce(&mut Expected)) {
        let mut by_key = self.by_key.borrow_mut();
        // Met expectations are removed; others stay.
        if by_key.get(key).is_some_and(Expected::is_over) {
            by_key.remove(key);
        }
        let new = || Expected { creations: 0, deletions: HashSet::new(), since: Instant::now() };
        add(by_key.entry(key.clone()).or_insert_with(new));
    }
}

impl Expected {
    fn is_over(&self) -> bool {
        (self.creations == 0 && self.deletions.is_empty()) || self.since.elapsed() > TIMEOUT
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn what_was_not_seen_is_waited_for_up_to_five_minutes() {
        let (expectations, key) = (Expectations::default(), ObjectKey::new("shop", "web"));
        let check = |expected: bool, what: &str| assert_eq!(expectations.are_satisfied(&key), expected, "{what}");
        check(true, "nothing was done");
        expectations.expect_creations(&key, 2);
        expectations.creation_observed(&key);
        check(false, "one of two");
        expectations.creation_observed(&key);
        check(true, "both");
        expectations.creation_observed(&key);
        expectations.expect_deletions(&key, ["a", "b"]);
        expectations.deletion_observed(&key, "a");
        expectations.deletion_observed(&key, "a");
        check(false, "one deletion, seen twice");
        expectations.deletion_observed(&key, "b");
        check(true, "both deletions");
        expectations.expect_creations(&key, 1);
        tokio::time::advance(TIMEOUT).await;
        check(false, "not yet too long");
        tokio::time::advance(Duration::from_secs(1)).await;
        check(true, "too long");
        expectations.expect_creations(&key, 1);
        expectations.forget(&key);
        check(true, "forgotten");
    }
}
