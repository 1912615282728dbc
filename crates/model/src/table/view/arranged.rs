//! The rows in their order, and those of them that the filter lets through.
//!
//! A change of order or filter is carried out in slices, so that the page does not stand still however many rows there are.
//! A new filter looks at the rows in their order, and what is shown is what the filter has found so far, so that the first
//! rows are right at once. A row that changes in between is put where it belongs if that part is done already; otherwise the
//! rest of the work does it.

use std::cmp::Ordering;

use kubechurn_client::api::object::{Object, ObjectKey};
use kubechurn_client::cache::delta::DeltaType;

use crate::kind_id::KindId;
use crate::table::filter::Filter;
use crate::table::order::{Order, RowId};
use crate::table::view::comparison::comparison;
use crate::table::view::row::{Row, Sort, SortKey};
use crate::table::view::rows::Rows;
use crate::table::view::sorting::Sorting;
use crate::table::view::verdicts::Verdicts;

/// How many rows are looked at between two questions whether to go on.
const STEP: usize = if cfg!(test) { 3 } else { 128 };
/// How many slices a change of order or filter is given at once, so that a small table is never half done.
const AT_ONCE: usize = 6;

/// What is left to do after a change of order or filter.
#[derive(Debug, Default)]
pub(super) enum Work {
    /// Nothing.
    #[default]
    Done,
    /// The rows up to this one, in the order of all rows, have been judged; `None` before the first.
    Filtering(Option<RowId>),
    /// The order of all rows is being made.
    Sorting(Sorting),
}

/// How far the work has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Whether the rows are being sorted. Otherwise they are being filtered.
    pub sorting: bool,
    /// How many rows are done.
    pub done: usize,
    /// How many rows there are.
    pub of: usize,
}

/// The rows, their order, and which of them are shown.
#[derive(Debug, Default)]
pub struct ArrangedRows {
    rows: Rows,
    sort: Sort,
    /// Every row, those of deleted objects included; while the rows are being sorted, those outside of the top.
    all: Order,
    /// The rows that the filter lets through, as far as it has come; `None` without a filter.
    pub(super) shown: Option<Order>,
    pub(super) verdicts: Verdicts,
    pub(super) work: Work,
}

impl ArrangedRows {
    /// No rows yet.
    pub(super) fn of(rows: Rows) -> ArrangedRows {
        ArrangedRows { rows, ..ArrangedRows::default() }
    }

    /// The rows, in no order.
    pub fn rows(&self) -> &Rows {
        &self.rows
    }

    /// The order in force.
    pub fn sort(&self) -> Sort {
        self.sort
    }

    /// The filter in force.
    pub fn filter(&self) -> &Filter {
        self.verdicts.filter()
    }

    /// The number of the filter, which is another one after each change.
    pub fn filter_number(&self) -> u32 {
        self.verdicts.filter_number()
    }

    /// How far a change of order or filter has come; `None` when nothing is left to do.
    pub fn progress(&self) -> Option<Progress> {
        let of = self.rows.len();
        match &self.work {
            Work::Done => None,
            Work::Filtering(cursor) => {
                let at = cursor.and_then(|id| self.all.position(id, comparison(&self.rows, self.sort)));
                Some(Progress { sorting: false, done: at.map_or(0, |at| at + 1), of })
            }
            Work::Sorting(sorting) => Some(Progress { sorting: true, done: self.all.len() + sorting.top.len(), of }),
        }
    }

    /// Whether the first rows of a new order are still unknown.
    pub fn seeks_the_first(&self) -> bool {
        matches!(&self.work, Work::Sorting(sorting) if !sorting.placing)
    }

    /// How many of the first rows are known while the rows are being sorted.
    pub(super) fn top(&self) -> Option<usize> {
        let Work::Sorting(sorting) = &self.work else { return None };
        Some(sorting.top.len())
    }

    /// How many rows are shown, as far as the filter has come.
    pub(super) fn len(&self) -> usize {
        match &self.work {
            Work::Sorting(_) if self.verdicts.are_needed() => self.verdicts.shown,
            Work::Sorting(_) => self.rows.len(),
            _ => self.known().len(),
        }
    }

    /// The shown rows whose places are known.
    pub(super) fn known(&self) -> &Order {
        match (&self.work, &self.shown) {
            (Work::Sorting(sorting), _) => &sorting.top,
            (_, Some(shown)) => shown,
            (_, None) => &self.all,
        }
    }

    /// The place of a row among those.
    pub(super) fn position(&self, id: RowId) -> Option<usize> {
        self.known().position(id, comparison(&self.rows, self.sort))
    }

    /// Whether the filter is known to let a row through.
    pub(super) fn is_shown(&self, id: RowId) -> bool {
        self.verdicts.is_shown(&self.rows, id)
    }

    /// Whether what is shown is what the filter lets through. While an order or a filter is at work, rows are on their way.
    pub(super) fn is_balanced(&self) -> bool {
        match (&self.work, &self.shown) {
            (Work::Sorting(_), _) => true,
            (Work::Done, Some(shown)) if shown.len() != self.verdicts.shown => false,
            _ => self.all.len() == self.rows.len(),
        }
    }

    /// Takes in many rows. Their order is made as after a change of order.
    pub(super) fn fill(&mut self, rows: Vec<Row>) {
        for row in rows {
            self.rows.insert(row);
        }
        self.begin_sorting();
    }

    /// Takes in a row. Returns whether it is shown.
    pub(super) fn insert(&mut self, row: Row) -> bool {
        let id = self.rows.insert(row);
        self.enter(id);
        self.is_shown(id)
    }

    /// Puts a newer version of its object into a row, which `change` does, and puts the row where it belongs then. Returns
    /// whether the row is shown and was not before.
    pub(super) fn replace(&mut self, id: RowId, new: &Object, change: impl FnOnce(&mut Row)) -> bool {
        let (moves, was_shown) = (self.moves(id, new), self.is_shown(id));
        if moves {
            self.leave(id);
        }
        let version = self.rows.next_version();
        if let Some(row) = self.rows.slots[id.0 as usize].as_mut() {
            self.verdicts.discount(row);
            (row.judged, row.version) = (0, version);
            change(row);
        }
        if moves {
            self.enter(id);
        } else {
            match (was_shown, self.verdicts.judge(&mut self.rows, id)) {
                (false, true) if self.is_past(id) => self.show(id),
                (true, false) => self.hide(id),
                _ => {}
            }
        }
        !was_shown && self.is_shown(id)
    }

    /// Changes what a row says beside its cells. `changed_at` is the time of a change of the object, if that is one.
    pub(super) fn mark(&mut self, id: RowId, changed_at: Option<f64>, change: impl FnOnce(&mut Row)) {
        let moves = changed_at.is_some() && self.sort.key == SortKey::Changed;
        if moves {
            self.leave(id);
        }
        let version = self.rows.next_version();
        if let Some(row) = self.rows.slots[id.0 as usize].as_mut() {
            self.verdicts.discount(row);
            row.changed_at = changed_at.unwrap_or(row.changed_at);
            row.version = version;
            change(row);
            self.verdicts.count(row);
        }
        if moves {
            self.enter(id);
        }
    }

    /// Marks the row of an object that was deleted. It is no longer found by its key.
    pub(super) fn delete(&mut self, kind: KindId, key: &ObjectKey, now: f64) -> Option<RowId> {
        let id = self.rows.unlink(kind, key)?;
        self.mark(id, Some(now), |row| {
            row.delta = DeltaType::Deleted;
            row.changed = 0;
        });
        Some(id)
    }

    /// Takes a row out.
    pub(super) fn remove(&mut self, id: RowId) {
        self.leave(id);
        if let Some(row) = self.rows.get(id) {
            self.verdicts.discount(row);
        }
        self.rows.remove(id);
    }

    /// Sorts the rows anew, and returns whether that is another order. The first rows are found first;
    /// [`ArrangedRows::work`] does the rest.
    pub(super) fn sort_by(&mut self, sort: Sort) -> bool {
        let is_other = self.sort != sort;
        if is_other {
            self.sort = sort;
            self.begin_sorting();
            self.work_at_once();
        }
        is_other
    }

    /// Shows only rows that `filter` lets through, and returns whether that is another filter. [`ArrangedRows::work`] finds
    /// them, the first ones first.
    pub(super) fn filter_by(&mut self, filter: Filter) -> bool {
        let is_other = *self.verdicts.filter() != filter;
        if is_other {
            self.verdicts.filter_by(filter);
            match self.work {
                Work::Sorting(_) => self.begin_sorting(),
                _ => self.begin_filtering(),
            }
            self.work_at_once();
        }
        is_other
    }

    /// Goes on with the work that a change of order or filter has left, until there is none or `more` says no. `more`
    /// is asked after every hundred rows or so. Returns whether any work is left.
    pub(super) fn work(&mut self, mut more: impl FnMut() -> bool) -> bool {
        loop {
            match self.work {
                Work::Done => return false,
                Work::Filtering(cursor) => self.filter_some(cursor),
                Work::Sorting(_) => self.sort_some(),
            }
            if !more() {
                return !matches!(self.work, Work::Done);
            }
        }
    }

    /// Finds the first `count` rows by a new order or filter, and does nothing else, until they are found or `more`
    /// says no.
    pub(super) fn seek(&mut self, count: usize, mut more: impl FnMut() -> bool) {
        loop {
            match self.work {
                Work::Sorting(_) if self.seeks_the_first() && more() => self.sort_some(),
                Work::Filtering(cursor) if self.len() < count && more() => self.filter_some(cursor),
                _ => return,
            }
        }
    }

    fn work_at_once(&mut self) {
        let mut slices = AT_ONCE;
        self.work(|| {
            slices -= 1;
            slices > 0
        });
    }

    fn begin_filtering(&mut self) {
        let is_needed = self.verdicts.are_needed();
        self.shown = is_needed.then(Order::default);
        self.work = if is_needed { Work::Filtering(None) } else { Work::Done };
    }

    fn begin_sorting(&mut self) {
        self.all = Order::default();
        self.shown = self.verdicts.are_needed().then(Order::default);
        self.work = Work::Sorting(Sorting::new(self.sort, &self.rows));
    }

    fn filter_some(&mut self, cursor: Option<RowId>) {
        let at = cursor.and_then(|id| self.all.position(id, comparison(&self.rows, self.sort)));
        let step: Vec<RowId> = self.all.iter_from(at.map_or(0, |at| at + 1)).take(STEP).collect();
        for &id in &step {
            if self.verdicts.judge(&mut self.rows, id)
                && let Some(shown) = &mut self.shown
            {
                shown.push(id);
            }
        }
        self.work = match step.last() {
            Some(&last) if step.len() == STEP => Work::Filtering(Some(last)),
            _ => Work::Done,
        };
    }

    fn sort_some(&mut self) {
        let Work::Sorting(sorting) = &mut self.work else { return };
        if !sorting.step(STEP, &mut self.rows, &mut self.verdicts, &mut self.all) {
            return;
        }
        let Work::Sorting(sorting) = std::mem::take(&mut self.work) else { return };
        sorting.finish(&self.rows, &mut self.all);
        if let Some(shown) = &mut self.shown {
            // Every row was judged while the rows were sorted.
            let is_shown = |id: &RowId| self.rows.get(*id).is_some_and(|row| row.shown);
            self.all.iter_from(0).filter(is_shown).for_each(|id| shown.push(id));
        }
    }

    /// Whether a newer version of its object may change a row's place.
    fn moves(&self, id: RowId, new: &Object) -> bool {
        // While rows are being sorted, only those at the top have a place.
        if matches!(self.work, Work::Sorting(_)) {
            return true;
        }
        match self.sort.key {
            SortKey::Kind | SortKey::Cluster | SortKey::Key | SortKey::Name => false,
            SortKey::Changed => true,
            SortKey::Column(column) => self.rows.get(id).is_some_and(|row| {
                let cell = self.rows.schema.cell(row.kind, column);
                cell.is_some_and(|at| row.object.cells.get(at) != new.cells.get(at))
            }),
        }
    }

    /// Whether the filter has already come past the place of a row.
    fn is_past(&self, id: RowId) -> bool {
        match self.work {
            Work::Done => true,
            Work::Filtering(cursor) => {
                cursor.is_some_and(|cursor| comparison(&self.rows, self.sort)(id, cursor) != Ordering::Greater)
            }
            Work::Sorting(_) => false,
        }
    }

    /// Puts a row that has no place where it belongs.
    fn enter(&mut self, id: RowId) {
        let shown = self.verdicts.judge(&mut self.rows, id);
        match &mut self.work {
            Work::Sorting(sorting) => sorting.enter(id, shown, &self.rows, &mut self.all),
            _ => {
                self.all.insert(id, comparison(&self.rows, self.sort));
                if shown && self.is_past(id) {
                    self.show(id);
                }
            }
        }
    }

    /// Takes a row out of its place. Its values must still be those with which it was put there.
    fn leave(&mut self, id: RowId) {
        if self.rows.get(id).is_none() {
            return;
        }
        let is_shown = self.is_shown(id);
        let compare = comparison(&self.rows, self.sort);
        match &mut self.work {
            Work::Sorting(sorting) => sorting.leave(id, &self.rows, &mut self.all),
            work => {
                if let Work::Filtering(cursor) = work
                    && *cursor == Some(id)
                {
                    // The filter goes on behind the row before this one.
                    let at = self.all.position(id, compare).unwrap_or(0);
                    *cursor = at.checked_sub(1).and_then(|before| self.all.iter_from(before).next());
                }
                self.all.remove(id, compare);
                if is_shown {
                    self.hide(id);
                }
            }
        }
    }

    fn show(&mut self, id: RowId) {
        if let Some(shown) = &mut self.shown {
            shown.insert(id, comparison(&self.rows, self.sort));
        }
    }

    fn hide(&mut self, id: RowId) {
        if let Some(shown) = &mut self.shown {
            shown.remove(id, comparison(&self.rows, self.sort));
        }
    }
}
