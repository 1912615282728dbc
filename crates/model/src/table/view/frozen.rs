//! Rows that keep their places while the user is about to act on one of them.

use crate::table::order::RowId;
use crate::table::view::arranged::ArrangedRows;

/// How many rows above and below the window are frozen with it.
pub(super) const AROUND: usize = 256;

/// The rows around the window at the time from which the table is frozen, and what has come since.
#[derive(Debug, Default)]
pub(super) struct FrozenRows {
    pub(super) window: Option<FrozenWindow>,
    /// How many rows came while the table was frozen, and are not among the frozen rows.
    waiting: usize,
}

/// Rows that do not move.
#[derive(Debug)]
pub(super) struct FrozenWindow {
    first: usize,
    pub(super) rows: Vec<RowId>,
    /// How many rows the table had then.
    len: usize,
}

impl FrozenWindow {
    fn covers(&self, first: usize, count: usize) -> bool {
        let end = self.first + self.rows.len();
        first >= self.first && (first + count <= end || end >= self.len)
    }
}

impl FrozenRows {
    /// Whether any are.
    pub(super) fn are_frozen(&self) -> bool {
        self.window.is_some()
    }

    /// How many rows the table had when it was frozen.
    pub(super) fn len(&self) -> Option<usize> {
        self.window.as_ref().map(|window| window.len)
    }

    /// The frozen rows from `first` on, at most `count`; `None` if the table is not frozen.
    pub(super) fn window(&self, first: usize, count: usize) -> Option<Vec<RowId>> {
        let window = self.window.as_ref()?;
        let rows = first.checked_sub(window.first).and_then(|before| window.rows.get(before..));
        Some(rows.unwrap_or_default().iter().take(count).copied().collect())
    }

    /// How many rows came since, and are not shown because of that.
    pub(super) fn waiting(&self) -> usize {
        self.waiting
    }

    /// Rows came into view, unless the table is frozen.
    pub(super) fn add_waiting(&mut self, rows: usize) {
        if self.are_frozen() {
            self.waiting += rows;
        }
    }

    /// Keeps every row of the window in its place. If the user has scrolled to another window meanwhile, that one is frozen
    /// as it is now.
    pub(super) fn freeze(&mut self, first: usize, count: usize, arranged: &ArrangedRows) {
        if !self.are_frozen() {
            self.waiting = 0;
        }
        let len = self.len().unwrap_or_else(|| arranged.len());
        let start = first.saturating_sub(AROUND);
        let rows = arranged.known().iter_from(start).take(first - start + count + AROUND);
        self.window = Some(FrozenWindow { first: start, rows: rows.collect(), len });
    }

    /// Whether a window is frozen already.
    pub(super) fn cover(&self, first: usize, count: usize) -> bool {
        self.window.as_ref().is_some_and(|window| window.covers(first, count))
    }

    /// Freezes the rows, too, that have come below the frozen ones, up to this position: they move none of these.
    pub(super) fn lengthen(&mut self, end: usize, arranged: &ArrangedRows) {
        let Some(window) = &mut self.window else { return };
        let room = end.saturating_sub(window.first + window.rows.len());
        let below = match window.rows.last() {
            None => Some(window.first),
            Some(last) => arranged.position(*last).map(|last| last + 1),
        };
        let Some(below) = below.filter(|_| room > 0) else { return };
        let before = window.rows.len();
        window.rows.extend(arranged.known().iter_from(below).take(room));
        let came = window.rows.len() - before;
        window.len += came;
        self.waiting = self.waiting.saturating_sub(came);
    }

    /// Lets rows move again.
    pub(super) fn unfreeze(&mut self) {
        *self = FrozenRows::default();
    }
}
