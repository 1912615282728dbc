//! An order of all rows while it is being made. A new order first finds the rows at the top, for which it looks at each row,
//! and then puts the others in their places.

use std::cmp::Ordering;

use crate::table::order::{Order, RowId};
use crate::table::view::comparison::{touch, weigh, weighed};
use crate::table::view::row::Sort;
use crate::table::view::rows::Rows;
use crate::table::view::verdicts::Verdicts;

/// How many rows at the top are found first: more than any screen shows.
const TOP: usize = if cfg!(test) { 8 } else { 256 };

/// Where a row is while the rows are being sorted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Placement {
    /// It has no place yet.
    #[default]
    None,
    /// It is one of the first rows, which are known.
    Top,
    /// It has a place behind the first rows.
    Behind,
}

/// An order that is being made. Rows that have a place behind the top are in the order of all rows, which is passed in.
#[derive(Debug)]
pub(super) struct Sorting {
    sort: Sort,
    /// The first of the shown rows that were looked at so far.
    pub(super) top: Order,
    /// Whether a shown row was left out of `top`: from then on no row may be appended to it.
    rejected: bool,
    /// How many rows were looked at, in the order of their numbers; from the last number on, if the order is reversed.
    next: usize,
    /// Whether the top is known, and the other rows get their places.
    pub(super) placing: bool,
    /// Where each row is, by its number.
    placements: Vec<Placement>,
    /// The weight of each row that was looked at, by its number.
    weights: Vec<u64>,
}

impl Sorting {
    /// The beginning: no row has a place.
    pub(super) fn new(sort: Sort, rows: &Rows) -> Sorting {
        let (placements, weights) = (vec![Placement::None; rows.slots.len()], vec![0; rows.slots.len()]);
        Sorting { sort, top: Order::default(), rejected: false, next: 0, placing: false, placements, weights }
    }

    /// Looks at the next `count` rows. Returns whether all rows are in their places then: those of the top are in `top`
    /// still.
    pub(super) fn step(&mut self, count: usize, rows: &mut Rows, verdicts: &mut Verdicts, all: &mut Order) -> bool {
        let (from, end) = (self.next, rows.slots.len());
        let to = end.min(from + count);
        self.next = to;
        // The rows of a list have numbers in the order of their keys. From the nearer end, the first rows are found
        // early.
        let step = if self.sort.descending { end - to..end - from } else { from..to };
        if !self.placing {
            touch(&rows.slots[step.clone()], self.sort);
        }
        let bound = if self.placing || verdicts.are_needed() { None } else { self.bound() };
        for at in step {
            let id = RowId(at as u32);
            if self.placement(at) != Placement::None || rows.slots[at].is_none() {
                continue;
            }
            if self.placing {
                self.place(id, rows, all);
                continue;
            }
            let weight = self.weigh(id, rows);
            // Most rows of a large table weigh more than the first ones. Nothing else has to be known of them now.
            if bound.is_none_or(|bound| weight <= bound) {
                let shown = verdicts.judge(rows, id);
                self.rank(id, shown, rows, all);
            }
        }
        if to < end {
            return false;
        }
        if self.placing {
            return true;
        }
        (self.placing, self.next) = (true, 0);
        false
    }

    /// Puts the rows of the top into the order of all rows.
    pub(super) fn finish(self, rows: &Rows, all: &mut Order) {
        for id in self.top.iter_from(0) {
            all.insert(id, weighed(rows, self.sort, &self.weights));
        }
    }

    /// Puts a row that has no place among the first ones, or behind them.
    pub(super) fn enter(&mut self, id: RowId, shown: bool, rows: &Rows, all: &mut Order) {
        self.weigh(id, rows);
        self.rank(id, shown, rows, all);
    }

    /// Takes a row out of its place. Its values must still be those with which it was put there.
    pub(super) fn leave(&mut self, id: RowId, rows: &Rows, all: &mut Order) {
        let compare = weighed(rows, self.sort, &self.weights);
        let placement = self.placements.get_mut(id.0 as usize).map(std::mem::take);
        match placement.unwrap_or_default() {
            Placement::Top => drop(self.top.remove(id, compare)),
            Placement::Behind => drop(all.remove(id, compare)),
            Placement::None => {}
        }
    }

    fn placement(&self, at: usize) -> Placement {
        self.placements.get(at).copied().unwrap_or_default()
    }

    /// The largest weight with which a row may join the top; `None` while the top is not full.
    fn bound(&self) -> Option<u64> {
        let last = self.top.last().filter(|_| self.rejected)?;
        self.weights.get(last.0 as usize).copied()
    }

    fn weigh(&mut self, id: RowId, rows: &Rows) -> u64 {
        let at = id.0 as usize;
        if self.weights.len() <= at {
            self.weights.resize(rows.slots.len(), 0);
            self.placements.resize(rows.slots.len(), Placement::None);
        }
        self.weights[at] = rows.slots[at].as_ref().map_or(0, |row| weigh(&rows.schema, row, self.sort));
        self.weights[at]
    }

    /// Gives a row that was weighed a place behind the top.
    fn place(&mut self, id: RowId, rows: &Rows, all: &mut Order) {
        all.insert(id, weighed(rows, self.sort, &self.weights));
        self.placements[id.0 as usize] = Placement::Behind;
    }

    /// Puts a row that was weighed among the first rows, or behind them.
    fn rank(&mut self, id: RowId, shown: bool, rows: &Rows, all: &mut Order) {
        let at = id.0 as usize;
        let compare = weighed(rows, self.sort, &self.weights);
        let leads = match self.top.last() {
            _ if !shown => false,
            Some(last) if self.rejected => compare(id, last) == Ordering::Less,
            None if self.rejected => false,
            _ => true,
        };
        if leads {
            self.top.insert(id, compare);
            let last = if self.placing || self.top.len() <= TOP { None } else { self.top.pop() };
            self.rejected |= last.is_some();
            self.placements[at] = Placement::Top;
            if let Some(last) = last {
                self.placements[last.0 as usize] = Placement::None;
            }
        } else {
            self.rejected |= shown;
            self.placements[at] = Placement::None;
            if self.placing {
                self.place(id, rows, all);
            }
        }
    }
}
