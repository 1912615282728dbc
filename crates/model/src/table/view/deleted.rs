//! Rows of deleted objects, which stay for a while.

use std::collections::VecDeque;

use crate::table::order::RowId;
use crate::table::view::retention::{MOST, Retention};
use crate::table::view::rows::Rows;

/// The rows of deleted objects that still stay, and for how long they do.
#[derive(Debug, Default)]
pub struct DeletedRows {
    /// The rows, the oldest first.
    rows: VecDeque<RowId>,
    retention: Retention,
    /// How many went before their time, because there were too many.
    crowded_out: usize,
}

impl DeletedRows {
    /// How long they stay.
    pub fn retention(&self) -> Retention {
        self.retention
    }

    /// How many there are, those that the filter hides included.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// How many went before their time, because there were too many, since the last choice or since the user cleared them
    /// last.
    pub fn crowded_out(&self) -> usize {
        self.crowded_out
    }

    /// Whether there are so many that the table cannot be frozen any longer.
    pub fn overflow(&self) -> bool {
        self.rows.len() > 2 * MOST
    }

    pub(super) fn retain_for(&mut self, retention: Retention) {
        if self.retention != retention {
            (self.retention, self.crowded_out) = (retention, 0);
        }
    }

    pub(super) fn push(&mut self, id: RowId) {
        self.rows.push_back(id);
    }

    /// The next row that has stayed long enough, or is one too many.
    pub(super) fn take_due(&mut self, now: f64, rows: &Rows) -> Option<RowId> {
        let Some(&id) = self.rows.front() else {
            self.crowded_out = 0;
            return None;
        };
        let deleted_at = rows.get(id).and_then(|row| row.deleted_at());
        let is_due = deleted_at.is_none_or(|deleted_at| now - deleted_at >= self.retention.milliseconds());
        if !is_due && self.rows.len() <= MOST {
            return None;
        }
        self.crowded_out += usize::from(!is_due);
        self.rows.pop_front()
    }

    /// All of them, because the user cleared them.
    pub(super) fn take_all(&mut self) -> VecDeque<RowId> {
        self.crowded_out = 0;
        std::mem::take(&mut self.rows)
    }
}
