//! Which rows the filter lets through. The filter looks at each version of a row once.

use crate::table::filter::Filter;
use crate::table::order::RowId;
use crate::table::view::row::Row;
use crate::table::view::rows::Rows;

/// The filter, and how many of the rows that it has judged it lets through. Each row keeps its own verdict.
#[derive(Debug)]
pub(super) struct Verdicts {
    filter: Filter,
    /// The number of the filter. A row that was judged by an earlier filter is judged anew when its turn comes.
    number: u32,
    /// The number of the first filter since which each filter has let through only what the one before did: rows that
    /// one of them refused are refused by all later ones.
    narrowing_since: u32,
    /// How many rows the filter lets through, as far as they were judged, and how many of these are of live objects.
    pub(super) shown: usize,
    pub(super) live_shown: usize,
    /// How many rows of live objects the filter hides, as far as they were judged.
    pub(super) live_hidden: usize,
    /// The buffer into which a cell is written for the filter.
    scratch: String,
}

impl Default for Verdicts {
    fn default() -> Verdicts {
        Verdicts {
            filter: Filter::default(),
            // No filter has the number 0, so that a row with that number has not been judged.
            number: 1,
            narrowing_since: 1,
            shown: 0,
            live_shown: 0,
            live_hidden: 0,
            scratch: String::new(),
        }
    }
}

impl Verdicts {
    /// The filter in force.
    pub(super) fn filter(&self) -> &Filter {
        &self.filter
    }

    /// The number of the filter, which is another one after each change.
    pub(super) fn filter_number(&self) -> u32 {
        self.number
    }

    /// Whether there is a filter.
    pub(super) fn are_needed(&self) -> bool {
        !self.filter.is_empty()
    }

    /// Puts another filter in force, which has judged no row yet.
    pub(super) fn filter_by(&mut self, filter: Filter) {
        self.number += 1;
        if !filter.narrows(&self.filter) {
            self.narrowing_since = self.number;
        }
        self.filter = filter;
        (self.shown, self.live_shown, self.live_hidden) = (0, 0, 0);
    }

    /// Whether the filter lets a row through.
    pub(super) fn judge(&mut self, rows: &mut Rows, id: RowId) -> bool {
        if self.filter.is_empty() {
            return true;
        }
        let Some(row) = rows.slots[id.0 as usize].as_mut() else { return false };
        if row.judged != self.number {
            let refused = !row.shown && row.judged >= self.narrowing_since;
            row.shown = !refused && self.filter.matches(&rows.schema, row.kind, &row.object, &mut self.scratch);
            row.judged = self.number;
            self.count(row);
        }
        row.shown
    }

    /// Whether the filter is known to let a row through.
    pub(super) fn is_shown(&self, rows: &Rows, id: RowId) -> bool {
        self.filter.is_empty() || rows.get(id).is_some_and(|row| row.shown && row.judged == self.number)
    }

    /// Counts the verdict on a row, if there is one.
    pub(super) fn count(&mut self, row: &Row) {
        if row.judged == self.number && !self.filter.is_empty() {
            self.shown += usize::from(row.shown);
            self.live_shown += usize::from(row.shown && row.lives());
            self.live_hidden += usize::from(!row.shown && row.lives());
        }
    }

    /// Takes the verdict on a row out of the counts. The row may then change, and is counted again or judged anew.
    pub(super) fn discount(&mut self, row: &Row) {
        if row.judged == self.number && !self.filter.is_empty() {
            self.shown -= usize::from(row.shown);
            self.live_shown -= usize::from(row.shown && row.lives());
            self.live_hidden -= usize::from(!row.shown && row.lives());
        }
    }
}
