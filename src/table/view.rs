//! The rows of one kind, sorted and filtered: what a table shows, decided without a table.

use std::cmp::Ordering;
use std::collections::VecDeque;
use std::sync::Arc;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use crate::api::cell::Cell;
use crate::api::object::{Object, ObjectKey};
use crate::api::time::Timestamp;
use crate::cache::delta::DeltaType;
use crate::cache::store::Change;
use crate::table::order::{Order, RowId};

/// How long a deleted row stays, in milliseconds.
pub const LINGER: f64 = 10_000.0;

/// What rows are sorted by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SortKey {
    /// Namespace, then name.
    #[default]
    Key,
    /// Name, then namespace.
    Name,
    /// One of the kind's columns, by its place among them.
    Column(usize),
    /// The last change, newest first.
    Changed,
}

/// An order of rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sort {
    /// By what.
    pub key: SortKey,
    /// Whether the order is turned around.
    pub descending: bool,
}

/// One row.
#[derive(Clone, Debug)]
pub struct Row {
    /// The newest version of the object; for a deleted row, its last.
    pub object: Arc<Object>,
    /// What the last change was.
    pub delta: DeltaType,
    /// When it came; the row of a first list has none to speak of, but still a time.
    pub changed_at: f64,
    /// Which cells the last update changed: bit `n` for the kind's column `n`.
    pub changed: u32,
    /// Set when the object was deleted.
    pub deleted_at: Option<f64>,
    /// Grows with every change, so that a view can tell whether it has shown the newest.
    pub version: u64,
    /// The version that it began with: tells the lives of one row's number apart.
    pub born: u64,
    /// Whether the filter lets it through.
    shown: bool,
}

/// Rows by key, their order, and what of them is shown.
#[derive(Debug, Default)]
pub struct TableView {
    rows: Vec<Option<Row>>,
    free: Vec<RowId>,
    live: HashMap<ObjectKey, RowId, FxBuildHasher>,
    /// Deleted rows that still linger, oldest first.
    gone: VecDeque<RowId>,
    /// Rows that the filter lets through, deleted ones included.
    order: Order,
    /// Live rows that the filter lets through.
    live_shown: usize,
    sort: Sort,
    /// Lower-case words that a row must all hold.
    words: Vec<String>,
    /// The order as it was when the user took hold of the table; nothing moves until it is let go.
    held: Option<Vec<RowId>>,
    /// Rows that came while the table was held, and are not among the held ones.
    waiting: usize,
    version: u64,
    /// The buffer in which a row is written out for the filter to look at.
    scratch: String,
}

impl TableView {
    /// Takes in a change of the store.
    pub fn apply(&mut self, change: &Change, now: f64) {
        match change {
            Change::Added { new, listed, .. } => {
                self.add(new, if *listed { DeltaType::Replaced } else { DeltaType::Added }, now);
            }
            Change::Updated { old, new, .. } => self.update(old, new, now),
            // Nothing changed, so there is nothing to show: the timeline keeps it.
            Change::Synced { .. } => {}
            Change::Deleted { last, .. } => self.delete(last, now),
        }
    }

    fn add(&mut self, object: &Arc<Object>, delta: DeltaType, now: f64) {
        self.version += 1;
        let row = Row {
            object: object.clone(),
            delta,
            changed_at: now,
            changed: 0,
            deleted_at: None,
            version: self.version,
            born: self.version,
            shown: self.matches(object),
        };
        let shown = row.shown;
        let id = match self.free.pop() {
            Some(id) => {
                self.rows[id.0 as usize] = Some(row);
                id
            }
            None => {
                self.rows.push(Some(row));
                RowId((self.rows.len() - 1) as u32)
            }
        };
        self.live.insert(object.key.clone(), id);
        if shown {
            self.live_shown += 1;
            self.insert(id);
        }
    }

    fn update(&mut self, old: &Arc<Object>, new: &Arc<Object>, now: f64) {
        let Some(&id) = self.live.get(&new.key) else { return self.add(new, DeltaType::Added, now) };
        let shown = self.matches(new);
        self.version += 1;
        let version = self.version;
        let Some(row) = self.rows[id.0 as usize].as_ref() else { return };
        let (was_shown, moves) = (row.shown, self.moves(old, new));
        if was_shown && (!shown || moves) {
            self.order.remove(id, comparison(&self.rows, self.sort));
        }
        if let Some(row) = self.rows[id.0 as usize].as_mut() {
            row.changed = changed_cells(old, new);
            row.object = new.clone();
            row.delta = DeltaType::Updated;
            row.changed_at = now;
            row.version = version;
            row.shown = shown;
        }
        self.live_shown = self.live_shown + usize::from(shown) - usize::from(was_shown);
        if shown && !was_shown {
            self.insert(id);
        } else if shown && moves {
            self.order.insert(id, comparison(&self.rows, self.sort));
        }
    }

    fn delete(&mut self, last: &Arc<Object>, now: f64) {
        let Some(id) = self.live.remove(&last.key) else { return };
        self.version += 1;
        let version = self.version;
        let moves = self.sort.key == SortKey::Changed;
        let Some(was_shown) = self.rows[id.0 as usize].as_ref().map(|row| row.shown) else { return };
        if moves && was_shown {
            self.order.remove(id, comparison(&self.rows, self.sort));
        }
        if let Some(row) = self.rows[id.0 as usize].as_mut() {
            row.delta = DeltaType::Deleted;
            row.changed = 0;
            row.changed_at = now;
            row.deleted_at = Some(now);
            row.version = version;
        }
        if was_shown {
            self.live_shown -= 1;
            if moves {
                self.order.insert(id, comparison(&self.rows, self.sort));
            }
        }
        self.gone.push_back(id);
    }

    fn insert(&mut self, id: RowId) {
        self.order.insert(id, comparison(&self.rows, self.sort));
        self.waiting += usize::from(self.held.is_some());
    }

    /// Whether an update may change the row's place.
    fn moves(&self, old: &Object, new: &Object) -> bool {
        match self.sort.key {
            SortKey::Key | SortKey::Name => false,
            SortKey::Changed => true,
            SortKey::Column(column) => old.cells.get(column) != new.cells.get(column),
        }
    }

    /// Lets deleted rows go that have lingered long enough. Nothing goes while the table is held.
    pub fn expire(&mut self, now: f64) {
        if self.held.is_some() {
            return;
        }
        while let Some(&id) = self.gone.front() {
            let Some(row) = self.rows[id.0 as usize].as_ref() else { break };
            if row.deleted_at.is_some_and(|deleted_at| now - deleted_at < LINGER) {
                break;
            }
            if row.shown {
                self.order.remove(id, comparison(&self.rows, self.sort));
            }
            self.gone.pop_front();
            self.rows[id.0 as usize] = None;
            self.free.push(id);
        }
    }

    /// Sorts anew.
    pub fn sort_by(&mut self, sort: Sort) {
        if self.sort != sort {
            self.sort = sort;
            self.rebuild();
        }
    }

    /// The order in force.
    pub fn sort(&self) -> Sort {
        self.sort
    }

    /// Shows only rows that hold every word of `text`, in the namespace, the name or a cell, whatever the case.
    pub fn filter_by(&mut self, text: &str) {
        let words: Vec<String> = text.split_whitespace().map(str::to_lowercase).collect();
        if self.words == words {
            return;
        }
        self.words = words;
        for at in 0..self.rows.len() {
            let Some(object) = self.rows[at].as_ref().map(|row| row.object.clone()) else { continue };
            let shown = self.matches(&object);
            if let Some(row) = self.rows[at].as_mut() {
                row.shown = shown;
            }
        }
        self.rebuild();
    }

    fn rebuild(&mut self) {
        self.held = self.held.take().map(|_| Vec::new());
        let rows = self.rows.iter().enumerate().filter(|(_, row)| row.as_ref().is_some_and(|row| row.shown));
        let ids: Vec<RowId> = rows.map(|(at, _)| RowId(at as u32)).collect();
        self.order.rebuild(ids, comparison(&self.rows, self.sort));
        self.live_shown = self.live.values().filter(|id| self.row(**id).is_some_and(|row| row.shown)).count();
        if self.held.is_some() {
            self.take_hold();
        }
    }

    fn matches(&mut self, object: &Object) -> bool {
        if self.words.is_empty() {
            return true;
        }
        let text = &mut self.scratch;
        text.clear();
        text.push_str(&object.key.namespace);
        text.push(' ');
        text.push_str(&object.key.name);
        // What changes by itself is not searched: a row would come and go without a change of the object.
        for cell in object.cells.iter().filter(|cell| !cell.changes_with_time()) {
            text.push(' ');
            cell.write(Timestamp(0), text);
        }
        let text = text.to_lowercase();
        self.words.iter().all(|word| text.contains(word.as_str()))
    }

    /// Keeps every row where it is until [`TableView::release`]: the user is about to act on one.
    pub fn hold(&mut self) {
        if self.held.is_none() {
            self.take_hold();
        }
    }

    fn take_hold(&mut self) {
        self.waiting = 0;
        self.held = Some(self.order.iter_from(0).collect());
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

    /// How many rows stand in the table, lingering ones included: what a scroll bar measures.
    pub fn len(&self) -> usize {
        self.held.as_ref().map_or(self.order.len(), Vec::len)
    }

    /// Whether nothing stands in the table.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Live rows that the filter lets through, and all live rows.
    pub fn counts(&self) -> (usize, usize) {
        (self.live_shown, self.live.len())
    }

    /// The rows from `first` on, at most `count`.
    pub fn window(&self, first: usize, count: usize) -> Vec<RowId> {
        match &self.held {
            Some(held) => held.iter().skip(first).take(count).copied().collect(),
            None => self.order.iter_from(first).take(count).collect(),
        }
    }

    /// Where a row stands in the table; `None` where it does not, or while the table is held and nothing moves.
    pub fn position(&self, id: RowId) -> Option<usize> {
        let row = self.row(id).filter(|row| row.shown && self.held.is_none());
        row.and_then(|_| self.order.position(id, comparison(&self.rows, self.sort)))
    }

    /// A row; `None` once it is gone.
    pub fn row(&self, id: RowId) -> Option<&Row> {
        self.rows.get(id.0 as usize).and_then(Option::as_ref)
    }

    /// The live row of a key.
    pub fn find(&self, key: &ObjectKey) -> Option<RowId> {
        self.live.get(key).copied()
    }
}

/// Which cells differ, the first 32 of them. Cells that tick are compared by what they hold, not by what they
/// print.
fn changed_cells(old: &Object, new: &Object) -> u32 {
    let pairs = old.cells.iter().zip(&*new.cells).take(32).enumerate();
    pairs.filter(|(_, (old, new))| old != new).fold(0, |mask, (at, _)| mask | 1 << at)
}

/// A strict order of rows: what the user asked for, then namespace and name, then the row's own number, for a
/// deleted row may linger beside its successor.
fn comparison(rows: &[Option<Row>], sort: Sort) -> impl FnMut(RowId, RowId) -> Ordering + '_ {
    move |a, b| {
        let (Some(one), Some(two)) = (&rows[a.0 as usize], &rows[b.0 as usize]) else { return a.cmp(&b) };
        let (one_key, two_key) = (&one.object.key, &two.object.key);
        let by = match sort.key {
            SortKey::Key => one_key.cmp(two_key),
            SortKey::Name => one_key.name.cmp(&two_key.name),
            SortKey::Column(column) => compare_cells(one.object.cells.get(column), two.object.cells.get(column)),
            SortKey::Changed => two.changed_at.total_cmp(&one.changed_at),
        };
        let by = if sort.descending { by.reverse() } else { by };
        by.then_with(|| one_key.cmp(two_key)).then_with(|| a.cmp(&b))
    }
}

/// A row without a cell, because its object could not be read, stands last.
fn compare_cells(one: Option<&Cell>, two: Option<&Cell>) -> Ordering {
    match (one, two) {
        (Some(one), Some(two)) => one.compare(two),
        _ => two.is_some().cmp(&one.is_some()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::object::ResourceVersion;

    fn object(name: &str, ready: i64, version: u32) -> Arc<Object> {
        Arc::new(Object {
            key: ObjectKey::new("shop", name),
            uid: format!("uid-{name}").into(),
            resource_version: ResourceVersion::new(&version.to_string()),
            created: None,
            cells: Box::new([Cell::Number(ready), Cell::Static("Running")]),
            flaw: None,
            extra: None,
        })
    }

    fn added(name: &str, ready: i64) -> Change {
        Change::Added { new: object(name, ready, 1), listed: false, folded: 1 }
    }

    fn updated(name: &str, from: i64, to: i64) -> Change {
        Change::Updated { old: object(name, from, 1), new: object(name, to, 2), folded: 1 }
    }

    fn deleted(name: &str) -> Change {
        Change::Deleted { last: object(name, 0, 3), folded: 1, final_state_unknown: false }
    }

    fn names(view: &TableView) -> Vec<String> {
        let rows = view.window(0, 100).into_iter().filter_map(|id| view.row(id));
        rows.map(|row| format!("{}{}", row.object.key.name, if row.deleted_at.is_some() { "†" } else { "" })).collect()
    }

    fn view(changes: &[Change]) -> TableView {
        let mut view = TableView::default();
        changes.iter().for_each(|change| view.apply(change, 0.0));
        view
    }

    #[test]
    fn a_deleted_row_lingers_in_its_place_beside_its_successor_and_then_goes() {
        let mut view = view(&[added("a", 1), added("b", 1), added("c", 1)]);
        view.apply(&deleted("b"), 1000.0);
        assert_eq!((names(&view), view.counts()), (vec!["a".into(), "b†".into(), "c".into()], (2, 2)));
        view.apply(&added("b", 0), 2000.0);
        assert_eq!((names(&view).len(), view.counts()), (4, (3, 3)));
        view.expire(1000.0 + LINGER);
        assert_eq!(names(&view), ["a", "b", "c"]);
        view.apply(&added("d", 0), 20_000.0);
        assert_eq!(names(&view), ["a", "b", "c", "d"]);
    }

    #[test]
    fn rows_move_when_the_value_they_are_sorted_by_changes() {
        let mut view = view(&[added("a", 1), added("b", 2), added("c", 3)]);
        view.sort_by(Sort { key: SortKey::Column(0), descending: true });
        assert_eq!(names(&view), ["c", "b", "a"]);
        view.apply(&updated("a", 1, 9), 5.0);
        assert_eq!(names(&view), ["a", "c", "b"]);
        view.sort_by(Sort { key: SortKey::Changed, descending: false });
        view.apply(&updated("b", 2, 3), 6.0);
        view.apply(&deleted("c"), 7.0);
        assert_eq!(names(&view), ["c†", "b", "a"]);
    }

    #[test]
    fn a_filter_follows_the_rows_through_their_changes() {
        let mut view = view(&[added("web-1", 1), added("web-2", 2), added("db", 3)]);
        view.filter_by("  WEB run ");
        assert_eq!((names(&view), view.counts()), (vec!["web-1".into(), "web-2".into()], (2, 3)));
        view.filter_by("9");
        view.apply(&updated("db", 3, 9), 1.0);
        assert_eq!((names(&view), view.counts()), (vec!["db".into()], (1, 3)));
        view.apply(&updated("db", 9, 8), 2.0);
        assert_eq!((names(&view).len(), view.counts()), (0, (0, 3)));
        view.filter_by("");
        assert_eq!(view.counts(), (3, 3));
    }

    #[test]
    fn nothing_moves_while_the_table_is_held() {
        let mut view = view(&[added("b", 1), added("d", 1)]);
        view.hold();
        view.apply(&added("a", 1), 1.0);
        view.apply(&deleted("b"), 2.0);
        view.expire(2.0 + LINGER);
        assert_eq!((names(&view), view.waiting()), (vec!["b†".into(), "d".into()], 1));
        view.release();
        view.expire(2.0 + LINGER);
        assert_eq!((names(&view), view.waiting()), (vec!["a".into(), "d".into()], 0));
    }

    #[test]
    fn an_update_says_which_cells_changed() {
        let mut view = view(&[added("a", 1)]);
        view.apply(&updated("a", 1, 2), 1.0);
        let row = view.row(view.find(&ObjectKey::new("shop", "a")).unwrap()).unwrap();
        assert_eq!((row.changed, row.delta), (0b01, DeltaType::Updated));
    }
}
