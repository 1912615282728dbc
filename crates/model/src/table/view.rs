//! The rows of one kind or of several, sorted and filtered: what a table shows, decided without a browser.
//!
//! A change costs what it takes to find its row's place, however many rows there are. A change of order or filter is
//! carried out in slices (`work`).

mod audit;
mod held;
mod provisional;
mod retention;
mod row;
mod sums;
mod work;

use std::collections::VecDeque;
use std::hash::BuildHasher;
use std::sync::Arc;

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

use kubechurn_client::api::object::{Object, ObjectKey};
use kubechurn_client::cache::delta::DeltaType;
use kubechurn_client::cache::store::Change;

use crate::kind_id::KindId;
use crate::table::filter::Filter;
use crate::table::order::{Order, RowId, RowKey};
use crate::table::schema::TableSchema;
use crate::table::view::held::Held;
use crate::table::view::provisional::Provisional;
use crate::table::view::row::{changed_cells, comparison};
use crate::table::view::work::Work;

pub use crate::table::view::provisional::ProvisionalSums;
pub use crate::table::view::retention::{MOST, Retention};
pub use crate::table::view::row::{Row, Sort, SortKey};
pub use crate::table::view::sums::{Sums, Taken};
pub use crate::table::view::work::Progress;

/// How many slices a change of order or filter is given at once, so that a small table is never half done.
const AT_ONCE: usize = 6;

/// The rows of a table, their order, and which of them are shown.
#[derive(Debug)]
pub struct TableView {
    /// The kinds and their columns.
    schema: Arc<TableSchema>,
    rows: Vec<Option<Row>>,
    free: Vec<RowId>,
    /// Rows of live objects, and provisional rows, by the hash of kind and key.
    live: HashTable<RowId>,
    provisional: Provisional,
    /// Rows of deleted objects that still stay, the oldest first.
    gone: VecDeque<RowId>,
    retention: Retention,
    /// How many rows of deleted objects went before their time, because there were too many.
    crowded_out: usize,
    /// Every row, those of deleted objects included; while the rows are being sorted, those outside of the top.
    all: Order,
    /// The rows that the filter lets through, as far as it has come; `None` without a filter.
    shown: Option<Order>,
    /// How many rows the filter lets through, as far as they were judged, and how many of these are of live objects.
    rows_shown: usize,
    live_shown: usize,
    /// How many rows of live objects the filter hides, as far as they were judged.
    live_hidden: usize,
    taken: Taken,
    sort: Sort,
    filter: Filter,
    /// The number of the filter. A row that was judged by an earlier filter is judged anew when its turn comes.
    epoch: u32,
    /// The number of the first filter since which each filter has let through only what the one before did: rows that
    /// one of them refused are refused by all later ones.
    narrowing_since: u32,
    work: Work,
    held: Option<Held>,
    /// How many rows came while the table was held, and are not among the held rows.
    waiting: usize,
    version: u32,
    /// The buffer into which a cell is written for the filter.
    scratch: String,
}

impl Default for TableView {
    fn default() -> TableView {
        TableView {
            schema: Arc::default(),
            rows: Vec::new(),
            free: Vec::new(),
            live: HashTable::new(),
            provisional: Provisional::default(),
            gone: VecDeque::new(),
            retention: Retention::default(),
            crowded_out: 0,
            all: Order::default(),
            shown: None,
            rows_shown: 0,
            live_shown: 0,
            live_hidden: 0,
            taken: Taken::default(),
            sort: Sort::default(),
            filter: Filter::default(),
            // No filter has the number 0, so that a row with that number has not been judged.
            epoch: 1,
            narrowing_since: 1,
            work: Work::default(),
            held: None,
            waiting: 0,
            version: 0,
            scratch: String::new(),
        }
    }
}

impl TableView {
    /// A table without rows, of these kinds.
    pub fn of(schema: Arc<TableSchema>) -> TableView {
        TableView { schema, ..TableView::default() }
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
                self.delete(kind, last, now);
            }
        }
    }

    fn add(&mut self, kind: KindId, object: &Arc<Object>, delta: DeltaType, now: f64) {
        if !self.provisional.is_empty()
            && let Some(id) = self.find(kind, &object.key).filter(|id| self.is_provisional(*id))
        {
            return self.confirm(id, object, delta, now);
        }
        self.make(Row::new(kind, object, delta, now));
    }

    /// Makes a new row.
    fn make(&mut self, mut row: Row) {
        self.version = self.version.wrapping_add(1);
        (row.version, row.born) = (self.version, self.version);
        let hash = row_hash(&row);
        let id = match self.free.pop() {
            Some(id) => {
                self.rows[id.0 as usize] = Some(row);
                id
            }
            None => {
                // The capacity grows by quarters: doubling would keep up to half of a large table empty.
                if self.rows.len() == self.rows.capacity() {
                    self.rows.reserve_exact(self.rows.len() / 4 + 64);
                }
                self.rows.push(Some(row));
                RowId((self.rows.len() - 1) as u32)
            }
        };
        let rows = &self.rows;
        self.live.insert_unique(hash, id, |id| rows[id.0 as usize].as_ref().map_or(0, row_hash));
        self.enter(id);
        self.waiting += usize::from(self.held.is_some() && self.is_shown(id));
    }

    fn update(&mut self, kind: KindId, new: &Arc<Object>, now: f64) {
        let Some(id) = self.find(kind, &new.key).filter(|id| !self.is_provisional(*id)) else {
            self.taken.without_a_row += 1;
            return self.add(kind, new, DeltaType::Added, now);
        };
        self.version = self.version.wrapping_add(1);
        let version = self.version;
        self.change(id, self.moves(id, new), |row| {
            row.changed = changed_cells(&row.object, new);
            row.object = new.clone();
            row.delta = DeltaType::Updated;
            row.changed_at = now;
            row.version = version;
        });
    }

    /// Changes a row, and puts it where it belongs then. `moves` says whether its place may be another one.
    fn change(&mut self, id: RowId, moves: bool, change: impl FnOnce(&mut Row)) {
        let was_shown = self.is_shown(id);
        if moves {
            self.leave(id);
        }
        self.unjudge(id);
        if let Some(row) = self.rows[id.0 as usize].as_mut() {
            change(row);
        }
        if moves {
            self.enter(id);
        } else {
            match (was_shown, self.judge(id)) {
                (false, true) if self.is_past(id) => self.show(id),
                (true, false) => self.hide(id),
                _ => {}
            }
        }
        self.waiting += usize::from(self.held.is_some() && !was_shown && self.is_shown(id));
    }

    fn delete(&mut self, kind: KindId, last: &Arc<Object>, now: f64) {
        let rows = &self.rows;
        let is_row = |row: &Row| row.is_of(kind, &last.key) && !row.provisional;
        let is_it = |id: &RowId| rows[id.0 as usize].as_ref().is_some_and(is_row);
        let Ok(entry) = self.live.find_entry(hash(kind, &last.key), is_it) else {
            self.taken.without_a_row += 1;
            return;
        };
        let (id, _) = entry.remove();
        self.version = self.version.wrapping_add(1);
        let moves = self.sort.key == SortKey::Changed;
        if moves {
            self.leave(id);
        }
        match (self.is_judged(id), self.is_shown(id)) {
            (true, true) => self.live_shown -= 1,
            (true, false) => self.live_hidden -= 1,
            (false, _) => {}
        }
        if let Some(row) = self.rows[id.0 as usize].as_mut() {
            row.delta = DeltaType::Deleted;
            row.changed = 0;
            row.changed_at = now;
            row.version = self.version;
        }
        if moves {
            self.enter(id);
        }
        self.gone.push_back(id);
    }

    /// Whether an update may change the row's place.
    fn moves(&self, id: RowId, new: &Object) -> bool {
        // While rows are being sorted, only those at the top have a place.
        if matches!(self.work, Work::Sorting(_)) {
            return true;
        }
        match self.sort.key {
            SortKey::Kind | SortKey::Cluster | SortKey::Key | SortKey::Name => false,
            SortKey::Changed => true,
            SortKey::Column(column) => self.row(id).is_some_and(|row| {
                let cell = self.schema.cell(row.kind, column);
                cell.is_some_and(|at| row.object.cells.get(at) != new.cells.get(at))
            }),
        }
    }

    /// Sorts the rows anew. The first rows are found first; [`TableView::work`] does the rest.
    pub fn sort_by(&mut self, sort: Sort) {
        if self.sort != sort {
            self.sort = sort;
            self.release();
            self.begin_sorting();
            self.work_at_once();
        }
    }

    /// The order in force.
    pub fn sort(&self) -> Sort {
        self.sort
    }

    /// Shows only rows that `filter` lets through. [`TableView::work`] finds them, the first ones first.
    pub fn filter_by(&mut self, filter: Filter) {
        if self.filter == filter {
            return;
        }
        self.epoch += 1;
        if !filter.narrows(&self.filter) {
            self.narrowing_since = self.epoch;
        }
        self.filter = filter;
        (self.rows_shown, self.live_shown, self.live_hidden) = (0, 0, 0);
        self.release();
        match self.work {
            Work::Sorting(_) => self.begin_sorting(),
            _ => self.begin_filtering(),
        }
        self.work_at_once();
    }

    /// The filter in force.
    pub fn filter(&self) -> &Filter {
        &self.filter
    }

    /// The number of the filter, which is another one after each change.
    pub fn filtered(&self) -> u32 {
        self.epoch
    }

    fn work_at_once(&mut self) {
        let mut slices = AT_ONCE;
        self.work(|| {
            slices -= 1;
            slices > 0
        });
    }

    /// Whether the filter lets a row through. The filter looks at each version of an object once.
    fn judge(&mut self, id: RowId) -> bool {
        if self.filter.is_empty() {
            return true;
        }
        let Some(row) = self.rows[id.0 as usize].as_mut() else { return false };
        if row.judged != self.epoch {
            let refused = !row.shown && row.judged >= self.narrowing_since;
            row.shown = !refused && self.filter.matches(&self.schema, row.kind, &row.object, &mut self.scratch);
            row.judged = self.epoch;
            self.rows_shown += usize::from(row.shown);
            self.live_shown += usize::from(row.shown && row.lives());
            self.live_hidden += usize::from(!row.shown && row.lives());
        }
        row.shown
    }

    /// Forgets what the filter said of a row, which is about to change.
    fn unjudge(&mut self, id: RowId) {
        let epoch = self.epoch;
        let Some(row) = self.rows[id.0 as usize].as_mut() else { return };
        if row.judged == epoch && !self.filter.is_empty() {
            let lives = usize::from(row.lives());
            if row.shown {
                self.rows_shown -= 1;
                self.live_shown -= lives;
            } else {
                self.live_hidden -= lives;
            }
        }
        row.judged = 0;
    }

    fn is_judged(&self, id: RowId) -> bool {
        !self.filter.is_empty() && self.row(id).is_some_and(|row| row.judged == self.epoch)
    }

    /// Whether the filter is known to let a row through.
    fn is_shown(&self, id: RowId) -> bool {
        self.filter.is_empty() || self.row(id).is_some_and(|row| row.shown && row.judged == self.epoch)
    }

    /// The rows whose places are known.
    fn known(&self) -> &Order {
        match (&self.work, &self.shown) {
            (Work::Sorting(sorting), _) => &sorting.top,
            (_, Some(shown)) => shown,
            (_, None) => &self.all,
        }
    }

    /// How many rows the table has, those of deleted objects included: what a scroll bar measures. While a filter is at
    /// work, these are the rows that it has found.
    pub fn len(&self) -> usize {
        match (&self.held, &self.work) {
            (Some(held), _) => held.len,
            (None, Work::Sorting(_)) if self.filter.is_empty() => self.rows.len() - self.free.len(),
            (None, Work::Sorting(_)) => self.rows_shown,
            (None, _) => self.known().len(),
        }
    }

    /// Whether the table has no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The rows from `first` on, at most `count`; fewer where their places are not known yet.
    pub fn window(&self, first: usize, count: usize) -> Vec<RowId> {
        match &self.held {
            Some(held) => {
                let before = first.saturating_sub(held.first);
                if first < held.first {
                    Vec::new()
                } else {
                    held.rows.iter().skip(before).take(count).copied().collect()
                }
            }
            None => self.known().iter_from(first).take(count).collect(),
        }
    }

    /// The position of a row in the table; `None` where the row is not shown, or while the table is held.
    pub fn position(&self, id: RowId) -> Option<usize> {
        self.row(id).filter(|_| self.held.is_none() && self.is_shown(id))?;
        self.known().position(id, comparison(&self.schema, &self.rows, self.sort))
    }

    /// The row with this number; `None` if there is none.
    pub fn row(&self, id: RowId) -> Option<&Row> {
        self.rows.get(id.0 as usize).and_then(Option::as_ref)
    }

    /// A row; `None` once it is gone, also where another row has its number.
    pub fn row_of(&self, key: RowKey) -> Option<&Row> {
        self.row(key.id).filter(|row| row.born == key.born)
    }

    /// The key of the row that has this number now.
    pub fn key_of(&self, id: RowId) -> Option<RowKey> {
        Some(RowKey { id, born: self.row(id)?.born })
    }

    /// The row of a live object, or the provisional row, by its kind and key.
    pub fn find(&self, kind: KindId, key: &ObjectKey) -> Option<RowId> {
        self.live.find(hash(kind, key), |&id| self.row(id).is_some_and(|row| row.is_of(kind, key))).copied()
    }

    /// The kinds and their columns.
    pub fn schema(&self) -> &Arc<TableSchema> {
        &self.schema
    }
}

fn hash(kind: KindId, key: &ObjectKey) -> u64 {
    FxBuildHasher.hash_one((key, kind))
}

fn row_hash(row: &Row) -> u64 {
    hash(row.kind, &row.object.key)
}

#[cfg(test)]
mod tests;
