//! Rows that keep their places while the user is about to act on one of them.

use crate::table::order::RowId;
use crate::table::view::TableView;
use crate::table::view::row::comparison;

/// How many rows above and below the window are held with it.
pub(super) const AROUND: usize = 256;

/// The rows around the window at the time from which the table is held. These rows do not move until the table is
/// released.
#[derive(Debug)]
pub(super) struct Held {
    pub(super) first: usize,
    pub(super) rows: Vec<RowId>,
    /// How many rows the table had then.
    pub(super) len: usize,
}

impl Held {
    fn covers(&self, first: usize, count: usize) -> bool {
        let end = self.first + self.rows.len();
        first >= self.first && (first + count <= end || end >= self.len)
    }
}

impl TableView {
    /// Keeps every row of the window in its place until [`TableView::release`], because the user is about to act on
    /// one. If the user has scrolled to another window meanwhile, that one is held as it is now.
    pub fn hold(&mut self, first: usize, count: usize) {
        if self.held.as_ref().is_some_and(|held| held.covers(first, count)) {
            return self.lengthen(first + count);
        }
        if self.held.is_none() {
            self.waiting = 0;
        }
        let len = self.len();
        let start = first.saturating_sub(AROUND);
        let rows = self.known().iter_from(start).take(first - start + count + AROUND);
        self.held = Some(Held { first: start, rows: rows.collect(), len });
    }

    /// Holds rows of a list that is not complete, too, as far as they come below the held ones, up to this position: they
    /// move none of these, and a list that comes while the pointer is over an empty table is shown.
    fn lengthen(&mut self, end: usize) {
        let Some(held) = self.held.as_ref().filter(|_| !self.provisional.is_empty()) else { return };
        let room = end.saturating_sub(held.first + held.rows.len());
        let below = match held.rows.last() {
            None => Some(held.first),
            Some(last) => {
                self.known().position(*last, comparison(&self.schema, &self.rows, self.sort)).map(|last| last + 1)
            }
        };
        let Some(below) = below.filter(|_| room > 0) else { return };
        let rows: Vec<RowId> = self.known().iter_from(below).take(room).collect();
        self.waiting = self.waiting.saturating_sub(rows.len());
        if let Some(held) = &mut self.held {
            held.len += rows.len();
            held.rows.extend(rows);
        }
    }

    /// Lets rows move again.
    pub fn release(&mut self) {
        self.held = None;
        self.waiting = 0;
    }

    /// How many rows came since the table was held, and are not shown because of that.
    pub fn waiting(&self) -> usize {
        self.waiting
    }
}
