//! Sorts and filters in slices, so that the page does not stand still however many rows there are.
//!
//! A new filter looks at the rows in their order, and the table shows what the filter has found so far, so that the
//! first rows are right at once. A new order first finds the rows at the top, for which it looks at each row, and then
//! puts the others in their places. A row that changes in between is put where it belongs if that part is done already;
//! otherwise the rest of the work does it.

use std::cmp::Ordering;

use crate::table::order::{Order, RowId};
use crate::table::view::TableView;
use crate::table::view::row::{comparison, touch, weigh, weighed};

/// How many rows are looked at between two questions whether to go on.
const STEP: usize = if cfg!(test) { 3 } else { 128 };
/// How many rows at the top are found first: more than any screen shows.
const TOP: usize = if cfg!(test) { 8 } else { 256 };

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

/// Where a row is while the rows are being sorted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Place {
    /// It has no place yet.
    #[default]
    Out,
    /// It is one of the first rows, which are known.
    Top,
    /// It has a place behind the first rows.
    Rest,
}

/// An order that is being made. Rows that have a place behind the top are in the view's order of all rows.
#[derive(Debug, Default)]
pub(super) struct Sorting {
    /// The first of the shown rows that were looked at so far.
    pub(super) top: Order,
    /// Whether a shown row was left out of `top`: from then on no row may be appended to it.
    rejected: bool,
    /// How many rows were looked at, in the order of their numbers; from the last number on, if the order is reversed.
    next: usize,
    /// Whether the top is known, and the other rows get their places.
    pub(super) placing: bool,
    /// Where each row is, by its number.
    places: Vec<Place>,
    /// The weight of each row that was looked at, by its number.
    weights: Vec<u64>,
}

impl Sorting {
    /// The largest weight with which a row may join the top; `None` while the top is not full.
    fn bound(&self) -> Option<u64> {
        let last = self.top.last().filter(|_| self.rejected)?;
        self.weights.get(last.0 as usize).copied()
    }
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

impl TableView {
    /// Goes on with the work that a change of order or filter has left, until there is none or `more` says no. `more`
    /// is asked after every hundred rows or so. Returns whether any work is left.
    pub fn work(&mut self, mut more: impl FnMut() -> bool) -> bool {
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
    pub fn seek(&mut self, count: usize, mut more: impl FnMut() -> bool) {
        while self.seeks(count) && more() {
            match self.work {
                Work::Filtering(cursor) => self.filter_some(cursor),
                _ => self.sort_some(),
            }
        }
    }

    fn seeks(&self, count: usize) -> bool {
        self.seeks_the_first() || matches!(self.work, Work::Filtering(_)) && self.len() < count
    }

    /// Whether the first rows of a new order are still unknown.
    pub fn seeks_the_first(&self) -> bool {
        matches!(&self.work, Work::Sorting(sorting) if !sorting.placing)
    }

    /// How far a change of order or filter has come; `None` when nothing is left to do.
    pub fn progress(&self) -> Option<Progress> {
        let of = self.rows.len() - self.free.len();
        match &self.work {
            Work::Done => None,
            Work::Filtering(cursor) => {
                let at = cursor.and_then(|id| self.all.position(id, comparison(&self.schema, &self.rows, self.sort)));
                Some(Progress { sorting: false, done: at.map_or(0, |at| at + 1), of })
            }
            Work::Sorting(sorting) => Some(Progress { sorting: true, done: self.all.len() + sorting.top.len(), of }),
        }
    }

    /// The first position whose row is unknown while the rows are being sorted; `None` where all are known.
    pub fn unplaced(&self) -> Option<usize> {
        let Work::Sorting(sorting) = &self.work else { return None };
        Some(sorting.top.len()).filter(|known| *known < self.len())
    }

    pub(super) fn begin_filtering(&mut self) {
        let nothing_to_do = self.filter.is_empty();
        self.shown = (!nothing_to_do).then(Order::default);
        self.work = if nothing_to_do { Work::Done } else { Work::Filtering(None) };
    }

    pub(super) fn begin_sorting(&mut self) {
        self.all = Order::default();
        self.shown = (!self.filter.is_empty()).then(Order::default);
        let (places, weights) = (vec![Place::Out; self.rows.len()], vec![0; self.rows.len()]);
        self.work = Work::Sorting(Sorting { places, weights, ..Sorting::default() });
    }

    fn filter_some(&mut self, cursor: Option<RowId>) {
        let at = cursor.and_then(|id| self.all.position(id, comparison(&self.schema, &self.rows, self.sort)));
        let step: Vec<RowId> = self.all.iter_from(at.map_or(0, |at| at + 1)).take(STEP).collect();
        for &id in &step {
            if self.judge(id)
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
        let (placing, from) = (sorting.placing, sorting.next);
        let to = self.rows.len().min(from + STEP);
        sorting.next = to;
        // The rows of a list have numbers in the order of their keys. From the nearer end, the first rows are found
        // early.
        let rows = self.rows.len();
        let step = if self.sort.descending { rows - to..rows - from } else { from..to };
        if !placing {
            touch(&self.rows[step.clone()], self.sort);
        }
        let bound = if placing { None } else { sorting.bound().filter(|_| self.filter.is_empty()) };
        for at in step {
            match self.place_of(at) {
                Some(Place::Out) if self.rows[at].is_none() => {}
                Some(Place::Out) if placing => self.place(RowId(at as u32)),
                Some(Place::Out) => {
                    let weight = self.weigh(at);
                    // Most rows of a large table weigh more than the first ones. Nothing else has to be known of them
                    // now.
                    if bound.is_none_or(|bound| weight <= bound) {
                        let shown = self.judge(RowId(at as u32));
                        self.rank(RowId(at as u32), shown);
                    }
                }
                _ => {}
            }
        }
        if to == self.rows.len() {
            match &mut self.work {
                Work::Sorting(sorting) if !sorting.placing => (sorting.placing, sorting.next) = (true, 0),
                _ => self.finish_sorting(),
            }
        }
    }

    fn finish_sorting(&mut self) {
        let Work::Sorting(Sorting { top, weights, .. }) = std::mem::take(&mut self.work) else { return };
        for id in top.iter_from(0) {
            self.all.insert(id, weighed(&self.schema, &self.rows, self.sort, &weights));
        }
        if let Some(shown) = &mut self.shown {
            // Every row was judged while the rows were sorted.
            let is_shown = |id: &RowId| self.rows[id.0 as usize].as_ref().is_some_and(|row| row.shown);
            self.all.iter_from(0).filter(is_shown).for_each(|id| shown.push(id));
        }
    }

    /// Weighs the row with this number for the order that is being made.
    fn weigh(&mut self, at: usize) -> u64 {
        let Work::Sorting(sorting) = &mut self.work else { return 0 };
        if sorting.weights.len() <= at {
            sorting.weights.resize(self.rows.len(), 0);
            sorting.places.resize(self.rows.len(), Place::Out);
        }
        sorting.weights[at] = self.rows[at].as_ref().map_or(0, |row| weigh(&self.schema, row, self.sort));
        sorting.weights[at]
    }

    /// Gives a row a place behind the top.
    fn place(&mut self, id: RowId) {
        let Work::Sorting(Sorting { weights, places, .. }) = &mut self.work else { return };
        self.all.insert(id, weighed(&self.schema, &self.rows, self.sort, weights));
        places[id.0 as usize] = Place::Rest;
    }

    /// Where the row with this number is in the order that is being made.
    fn place_of(&self, at: usize) -> Option<Place> {
        let Work::Sorting(Sorting { places, .. }) = &self.work else { return None };
        Some(places.get(at).copied().unwrap_or_default())
    }

    /// Whether the filter has already come past the place of a row.
    pub(super) fn is_past(&self, id: RowId) -> bool {
        match self.work {
            Work::Done => true,
            Work::Filtering(cursor) => cursor
                .is_some_and(|cursor| comparison(&self.schema, &self.rows, self.sort)(id, cursor) != Ordering::Greater),
            Work::Sorting(_) => false,
        }
    }

    /// Puts a row that has no place where it belongs.
    pub(super) fn enter(&mut self, id: RowId) {
        let shown = self.judge(id);
        match self.work {
            Work::Sorting(_) => {
                self.weigh(id.0 as usize);
                self.rank(id, shown);
            }
            _ => {
                self.all.insert(id, comparison(&self.schema, &self.rows, self.sort));
                if shown && self.is_past(id) {
                    self.show(id);
                }
            }
        }
    }

    /// Puts a row that was weighed among the first rows of the order that is being made, or behind them.
    fn rank(&mut self, id: RowId, shown: bool) {
        let Work::Sorting(sorting) = &mut self.work else { return };
        let at = id.0 as usize;
        let compare = weighed(&self.schema, &self.rows, self.sort, &sorting.weights);
        let leads = match sorting.top.last() {
            _ if !shown => false,
            Some(last) if sorting.rejected => compare(id, last) == Ordering::Less,
            None if sorting.rejected => false,
            _ => true,
        };
        if leads {
            sorting.top.insert(id, compare);
            let last = if sorting.placing || sorting.top.len() <= TOP { None } else { sorting.top.pop() };
            sorting.rejected |= last.is_some();
            sorting.places[at] = Place::Top;
            if let Some(last) = last {
                sorting.places[last.0 as usize] = Place::Out;
            }
        } else {
            sorting.rejected |= shown;
            sorting.places[at] = Place::Out;
            if sorting.placing {
                self.place(id);
            }
        }
    }

    /// Takes a row out of its place. Its values must still be those with which it was put there.
    pub(super) fn leave(&mut self, id: RowId) {
        let Some(row) = &self.rows[id.0 as usize] else { return };
        let is_shown = row.shown && row.judged == self.epoch;
        let compare = comparison(&self.schema, &self.rows, self.sort);
        match &mut self.work {
            Work::Sorting(Sorting { top, weights, places, .. }) => {
                let compare = weighed(&self.schema, &self.rows, self.sort, weights);
                let place = places.get_mut(id.0 as usize).map(std::mem::take);
                match place.unwrap_or_default() {
                    Place::Top => drop(top.remove(id, compare)),
                    Place::Rest => drop(self.all.remove(id, compare)),
                    Place::Out => {}
                }
            }
            work => {
                if let Work::Filtering(cursor) = work
                    && *cursor == Some(id)
                {
                    // The filter goes on behind the row before this one.
                    let at = self.all.position(id, comparison(&self.schema, &self.rows, self.sort)).unwrap_or(0);
                    *cursor = at.checked_sub(1).and_then(|before| self.all.iter_from(before).next());
                }
                self.all.remove(id, compare);
                if is_shown {
                    self.hide(id);
                }
            }
        }
    }

    pub(super) fn show(&mut self, id: RowId) {
        if let Some(shown) = &mut self.shown {
            shown.insert(id, comparison(&self.schema, &self.rows, self.sort));
        }
    }

    pub(super) fn hide(&mut self, id: RowId) {
        if let Some(shown) = &mut self.shown {
            shown.remove(id, comparison(&self.schema, &self.rows, self.sort));
        }
    }
}
