//! Rows that keep their places while the user is about to act on one of them.

use crate::table::order::RowId;
use crate::table::view::TableView;

/// How many rows above and below what is seen are held with it.
pub(super) const AROUND: usize = 256;

/// What was around the window when the user took hold of the table; it does not move until it is let go.
#[derive(Debug)]
pub(super) struct Held {
    pub(super) first: usize,
    pub(super) rows: Vec<RowId>,
    /// How many rows the table had.
    pub(super) len: usize,
}

impl Held {
    fn covers(&self, first: usize, count: usize) -> bool {
        let end = self.first + self.rows.len();
        first >= self.first && (first + count <= end || end >= self.len)
    }
}

impl TableView {
    /// Keeps every row of the window where it is until [`TableView::release`]: the user is about to act on one. Another
    /// window, to which the user has scrolled meanwhile, is held as it is found then.
    pub fn hold(&mut self, first: usize, count: usize) {
        if self.held.as_ref().is_some_and(|held| held.covers(first, count)) {
            return;
        }
        if self.held.is_none() {
            self.waiting = 0;
        }
        let len = self.len();
        let start = first.saturating_sub(AROUND);
        let rows = self.known().iter_from(start).take(first - start + count + AROUND);
        self.held = Some(Held { first: start, rows: rows.collect(), len });
    }

    /// Lets rows move again.
    pub fn release(&mut self) {
        self.held = None;
        self.waiting = 0;
    }

    /// How many rows came since the table was held and are not shown for it.
    pub fn waiting(&self) -> usize {
        self.waiting
    }
}
