//! The rows of one kind or of several, sorted and filtered: what a table shows, decided without a browser.
//!
//! A change costs what it takes to find its row's place, however many rows there are. A [`TableView`] hands each change to its
//! parts: the [`ArrangedRows`], which are the rows in their order, and the rows that are provisional, deleted or frozen.

mod arranged;
mod comparison;
mod deleted;
mod frozen;
mod provisional;
mod retention;
mod row;
mod rows;
mod sorting;
mod sums;
mod verdicts;

use std::sync::Arc;

use kubechurn_client::api::object::{Object, ObjectKey};
use kubechurn_client::cache::delta::DeltaType;
use kubechurn_client::cache::store::Change;

use crate::kind_id::KindId;
use crate::table::filter::Filter;
use crate::table::order::RowId;
use crate::table::schema::TableSchema;
use crate::table::view::arranged::Work;
use crate::table::view::frozen::FrozenRows;
use crate::table::view::provisional::{AT_ONCE, ProvisionalRows};
use crate::table::view::row::changed_cells;

pub use crate::table::view::arranged::{ArrangedRows, Progress};
pub use crate::table::view::deleted::DeletedRows;
pub use crate::table::view::provisional::ProvisionalSums;
pub use crate::table::view::retention::{MOST, Retention};
pub use crate::table::view::row::{Row, Sort, SortKey};
pub use crate::table::view::rows::Rows;
pub use crate::table::view::sums::{Sums, Taken};

/// The rows of a table, their order, and which of them are shown.
#[derive(Debug, Default)]
pub struct TableView {
    arranged: ArrangedRows,
    provisional: ProvisionalRows,
    deleted: DeletedRows,
    frozen: FrozenRows,
    taken: Taken,
}

impl TableView {
    /// A table without rows, of these kinds.
    pub fn of(schema: Arc<TableSchema>) -> TableView {
        TableView { arranged: ArrangedRows::of(Rows::of(schema)), ..TableView::default() }
    }

    /// The rows in their order.
    pub fn arranged(&self) -> &ArrangedRows {
        &self.arranged
    }

    /// The rows in no order.
    pub fn rows(&self) -> &Rows {
        self.arranged.rows()
    }

    /// The row with this number; `None` if there is none.
    pub fn row(&self, id: RowId) -> Option<&Row> {
        self.rows().get(id)
    }

    /// The row of a live object, or the provisional row, by its kind and key.
    pub fn find(&self, kind: KindId, key: &ObjectKey) -> Option<RowId> {
        self.rows().find(kind, key)
    }

    /// Whether the filter lets an object through: as its row was judged or, where there is none, by its key.
    pub fn passes(&self, kind: KindId, key: &ObjectKey) -> bool {
        let filter = self.arranged.verdicts.filter();
        let by_key = || filter.matches_key(self.schema(), kind, key);
        self.find(kind, key).map_or_else(by_key, |id| self.arranged.is_shown(id))
    }

    /// The kinds and their columns.
    pub fn schema(&self) -> &Arc<TableSchema> {
        self.rows().schema()
    }

    /// The rows of deleted objects.
    pub fn deleted(&self) -> &DeletedRows {
        &self.deleted
    }

    /// How many rows of one kind are provisional, those included that the filter hides.
    pub fn provisional_of(&self, kind: KindId) -> usize {
        self.provisional.of(kind)
    }

    /// Takes in a change of an object, in a table of one kind. `now` is the time in milliseconds.
    pub fn apply(&mut self, change: &Change, now: f64) {
        self.apply_of(KindId::ONLY, change, now);
    }

    /// Takes in a change of an object of this kind. `now` is the time in milliseconds.
    pub fn apply_of(&mut self, kind: KindId, change: &Change, now: f64) {
        match change {
            Change::Added { new, listed, .. } => {
                self.taken.added += 1;
                self.add(kind, new, if *listed { DeltaType::Replaced } else { DeltaType::Added }, now);
            }
            Change::Updated { new, .. } => {
                self.taken.updated += 1;
                self.update(kind, new, now);
            }
            // Nothing changed, so that there is nothing to show. The timeline has a mark of the resync.
            Change::Synced { .. } => self.taken.synced += 1,
            Change::Deleted { last, .. } => {
                self.taken.deleted += 1;
                match self.arranged.delete(kind, &last.key, now) {
                    Some(id) => self.deleted.push(id),
                    None => self.taken.without_a_row += 1,
                }
            }
        }
    }

    /// Takes in an object that was known before the table was made, to which this happened last.
    pub fn apply_known(&mut self, kind: KindId, object: &Arc<Object>, (delta, at): (DeltaType, f64)) {
        self.taken.added += 1;
        self.add(kind, object, delta, at);
    }

    /// Takes in many objects, none of which has a row, and what happened to each last. Their order is made as after a change of
    /// order: the first rows are found first.
    pub fn fill(&mut self, objects: Vec<(KindId, Arc<Object>, (DeltaType, f64))>) {
        self.taken.added += objects.len() as u64;
        let rows = objects.iter().map(|(kind, object, (delta, at))| Row::new(*kind, object, *delta, *at));
        self.arranged.fill(rows.collect());
    }

    /// Puts the state of an object into its row, which is made where there is none. This happened to the object last. The cells
    /// that differ are marked, unless the row had none before.
    pub fn put(&mut self, kind: KindId, object: &Arc<Object>, (delta, at): (DeltaType, f64)) {
        let found = self.find(kind, &object.key);
        let Some(id) = found.filter(|id| self.row(*id).is_some_and(|row| row.object.uid == object.uid)) else {
            self.take_out(kind, &object.key);
            return self.apply_known(kind, object, (delta, at));
        };
        let comes_into_view = self.arranged.replace(id, object, |row| {
            row.changed = changed_cells(&row.object, object);
            (row.object, row.delta, row.changed_at) = (object.clone(), delta, at);
        });
        self.frozen.add_waiting(usize::from(comes_into_view));
    }

    /// Removes the row of an object without a trace, if there is one.
    pub fn take_out(&mut self, kind: KindId, key: &ObjectKey) {
        if let Some(id) = self.arranged.delete(kind, key, f64::NEG_INFINITY) {
            self.taken.deleted += 1;
            self.arranged.remove(id);
        }
    }

    /// Takes in a delta of a first list that is not complete. `now` is the time in milliseconds.
    pub fn apply_listed(&mut self, kind: KindId, delta_type: DeltaType, object: &Arc<Object>, now: f64) {
        self.taken.listed += 1;
        let is_deleted = delta_type == DeltaType::Deleted;
        match self.find(kind, &object.key) {
            None if is_deleted => {}
            None => {
                self.provisional.add(kind);
                self.insert(Row { provisional: true, ..Row::new(kind, object, DeltaType::Replaced, now) });
            }
            // What is known of an object does not come from a list that is not complete.
            Some(id) if !self.is_provisional(id) => {}
            Some(id) if is_deleted => self.provisional.leave(self.arranged.rows().key_of(id)),
            Some(id) => {
                self.provisional.stay(id);
                self.renew(id, object);
            }
        }
    }

    /// The first list of a kind in this namespace, which is empty for all, is complete, and the table has taken in all
    /// of its objects: the rows that are still provisional are not among them, and go.
    pub fn end_list(&mut self, kind: KindId, namespace: &str) {
        self.provisional.end_list(kind, namespace, self.arranged.rows());
    }

    fn add(&mut self, kind: KindId, object: &Arc<Object>, delta: DeltaType, now: f64) {
        let found = if self.provisional.is_empty() { None } else { self.find(kind, &object.key) };
        let Some(id) = found.filter(|id| self.is_provisional(*id)) else {
            return self.insert(Row::new(kind, object, delta, now));
        };
        self.renew(id, object);
        // What the list brought is shown already. An object that was created since is news.
        let is_news = delta == DeltaType::Added;
        self.arranged.mark(id, is_news.then_some(now), |row| {
            row.provisional = false;
            if is_news {
                row.delta = delta;
            }
        });
        self.provisional.confirm(kind);
    }

    fn insert(&mut self, row: Row) {
        let is_shown = self.arranged.insert(row);
        self.frozen.add_waiting(usize::from(is_shown));
    }

    fn update(&mut self, kind: KindId, new: &Arc<Object>, now: f64) {
        let Some(id) = self.find(kind, &new.key).filter(|id| !self.is_provisional(*id)) else {
            self.taken.without_a_row += 1;
            return self.add(kind, new, DeltaType::Added, now);
        };
        let comes_into_view = self.arranged.replace(id, new, |row| {
            row.changed = changed_cells(&row.object, new);
            row.object = new.clone();
            row.delta = DeltaType::Updated;
            row.changed_at = now;
        });
        self.frozen.add_waiting(usize::from(comes_into_view));
    }

    /// Puts a newer state of its object into a provisional row. Nothing is marked as a change.
    fn renew(&mut self, id: RowId, new: &Arc<Object>) {
        let Some(row) = self.row(id).filter(|row| !Arc::ptr_eq(&row.object, new)) else { return };
        let (is_same, is_other) = (row.object.cells == new.cells, row.object.uid != new.uid);
        let put = |row: &mut Row| {
            row.object = new.clone();
            // Another object is another row, which only has the same place.
            if is_other {
                row.born = row.version;
            }
        };
        if is_same {
            // A row is sorted and filtered by its key and its cells.
            return self.arranged.mark(id, None, put);
        }
        let comes_into_view = self.arranged.replace(id, new, put);
        self.frozen.add_waiting(usize::from(comes_into_view));
    }

    fn is_provisional(&self, id: RowId) -> bool {
        self.row(id).is_some_and(|row| row.provisional)
    }

    /// Sorts the rows anew. The first rows are found first; [`TableView::work`] does the rest.
    pub fn sort_by(&mut self, sort: Sort) {
        if self.arranged.sort_by(sort) {
            self.unfreeze();
        }
    }

    /// Shows only rows that `filter` lets through. [`TableView::work`] finds them, the first ones first.
    pub fn filter_by(&mut self, filter: Filter) {
        if self.arranged.filter_by(filter) {
            self.unfreeze();
        }
    }

    /// Goes on with the work that a change of order or filter has left, until there is none or `more` says no. `more`
    /// is asked after every hundred rows or so. Returns whether any work is left.
    pub fn work(&mut self, more: impl FnMut() -> bool) -> bool {
        self.arranged.work(more)
    }

    /// Finds the first `count` rows by a new order or filter, and does nothing else, until they are found or `more`
    /// says no.
    pub fn seek(&mut self, count: usize, more: impl FnMut() -> bool) {
        self.arranged.seek(count, more);
    }

    /// Keeps every row of the window in its place until [`TableView::unfreeze`], because the user is about to act on
    /// one. If the user has scrolled to another window meanwhile, that one is frozen as it is now.
    pub fn freeze(&mut self, first: usize, count: usize) {
        if !self.frozen.cover(first, count) {
            self.frozen.freeze(first, count, &self.arranged);
        } else if !self.provisional.is_empty() {
            // A list that comes while the pointer is over an empty table is shown.
            self.frozen.lengthen(first + count, &self.arranged);
        }
    }

    /// Lets rows move again.
    pub fn unfreeze(&mut self) {
        self.frozen.unfreeze();
    }

    /// How many rows came since the table was frozen, and are not shown because of that.
    pub fn waiting(&self) -> usize {
        self.frozen.waiting()
    }

    /// Sets how long the rows of deleted objects stay, also of those that are deleted already. [`TableView::expire`]
    /// acts on it.
    pub fn retain_for(&mut self, retention: Retention) {
        self.deleted.retain_for(retention);
    }

    /// Removes the rows of deleted objects that have stayed long enough, and the oldest if there are too many; and some
    /// thousands of the provisional rows that a complete list did not have. While the table is frozen, no row goes, unless
    /// too many objects were deleted.
    pub fn expire(&mut self, now: f64) {
        if self.deleted.overflow() {
            self.unfreeze();
        }
        if self.frozen.are_frozen() {
            return;
        }
        for _ in 0..AT_ONCE {
            let Some(id) = self.provisional.take_leaving(self.arranged.rows()) else { break };
            self.arranged.remove(id);
        }
        while let Some(id) = self.deleted.take_due(now, self.arranged.rows()) {
            self.arranged.remove(id);
        }
    }

    /// Removes all rows of deleted objects, because the user cleared them. Therefore the table is no longer frozen.
    pub fn dismiss(&mut self) {
        self.unfreeze();
        for id in self.deleted.take_all() {
            self.arranged.remove(id);
        }
    }

    /// Whether rows wait to go until their turn comes.
    pub fn has_leaving(&self) -> bool {
        !self.frozen.are_frozen() && self.provisional.has_leaving()
    }

    /// How many rows the table has, those of deleted objects included: what a scroll bar measures. While a filter is at
    /// work, these are the rows that it has found.
    pub fn len(&self) -> usize {
        self.frozen.len().unwrap_or_else(|| self.arranged.len())
    }

    /// Whether the table has no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The rows from `first` on, at most `count`; fewer where their places are not known yet.
    pub fn window(&self, first: usize, count: usize) -> Vec<RowId> {
        let frozen = self.frozen.window(first, count);
        frozen.unwrap_or_else(|| self.arranged.known().iter_from(first).take(count).collect())
    }

    /// The position of a row in the table; `None` where the row is not shown, or while the table is frozen.
    pub fn position(&self, id: RowId) -> Option<usize> {
        self.row(id).filter(|_| !self.frozen.are_frozen() && self.arranged.is_shown(id))?;
        self.arranged.position(id)
    }

    /// How far a change of order or filter has come; `None` when nothing is left to do.
    pub fn progress(&self) -> Option<Progress> {
        self.arranged.progress()
    }

    /// The first position whose row is unknown while the rows are being sorted; `None` where all are known.
    pub fn unplaced(&self) -> Option<usize> {
        self.arranged.top().filter(|known| *known < self.len())
    }

    /// How many live rows the filter lets through, as far as it has come, and how many live rows there are. No provisional
    /// row is counted.
    pub fn counts(&self) -> (usize, usize) {
        let live = self.rows().live() - self.provisional.len();
        let verdicts = &self.arranged.verdicts;
        (if verdicts.are_needed() { verdicts.live_shown } else { live }, live)
    }

    /// Where every change that it took and every row is.
    pub fn sums(&self) -> Sums {
        let (shown, live) = self.counts();
        Sums {
            taken: self.taken,
            live,
            deleted: self.deleted.len(),
            provisional: self.provisional.sums(),
            shown,
            hidden: self.arranged.verdicts.live_hidden,
            working: !matches!(self.arranged.work, Work::Done),
        }
    }

    /// Whether every change and every row is in one place, and what stands in the table is what the filter lets
    /// through.
    pub fn is_balanced(&self) -> bool {
        let sums = self.sums();
        let rows = self.rows().len() == sums.live + sums.deleted + sums.provisional.rows;
        rows && self.arranged.is_balanced() && sums.is_balanced()
    }
}

#[cfg(test)]
mod tests;
