//! Where every change that a table took in and every row of it is, so that one that is nowhere is noticed.

use crate::table::view::provisional::ProvisionalSums;

/// How many changes of the store a table took in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Taken {
    /// Objects that came: each made a row, or confirmed a provisional one.
    pub added: u64,
    /// Newer versions: each changed a row.
    pub updated: u64,
    /// Objects that a resync replayed: none changed anything.
    pub synced: u64,
    /// Objects that went: each ended a row.
    pub deleted: u64,
    /// Deltas of first lists that were not complete: none says that an object is known.
    pub listed: u64,
    /// Updates and deletions of objects that had no row: there must be none.
    pub without_a_row: u64,
}

impl Taken {
    /// All changes and deltas together.
    pub fn total(&self) -> u64 {
        self.added + self.updated + self.synced + self.deleted + self.listed
    }
}

/// Where every change that a table took and every row of it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    /// The changes that the table took in.
    pub taken: Taken,
    /// Rows of objects that live.
    pub live: usize,
    /// Rows of deleted objects that still stay.
    pub deleted: usize,
    /// Rows of objects that a first list has brought while it is not complete.
    pub provisional: ProvisionalSums,
    /// Of the living ones, those that the filter lets through.
    pub shown: usize,
    /// Of the living ones, those that it hides.
    pub hidden: usize,
    /// Whether an order or a filter is at work, so that not every row has been judged.
    pub working: bool,
}

impl Sums {
    /// Whether every living row came of a change and did not end with one, and is shown or hidden; and whether every
    /// provisional row is in one place.
    pub fn is_balanced(&self) -> bool {
        let judged = (self.shown + self.hidden) as u64;
        let live = self.live as u64;
        self.taken.without_a_row == 0
            && self.provisional.is_balanced()
            && self.provisional.made <= self.taken.listed
            && self.taken.added == live + self.taken.deleted
            && if self.working { judged <= live } else { judged == live }
    }
}
