//! The row under the keyboard's cursor. The cursor is on an object, not on a position: it stays on its row while other
//! rows appear and disappear. When its row disappears, the cursor moves to the row that takes the position.

use crate::table::order::{RowId, RowKey};
use crate::table::view::TableView;

/// A movement of the cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// By this many rows, upwards if negative.
    By(isize),
    /// To the first row.
    First,
    /// To the last row.
    Last,
}

/// How far around its last position a row is searched for before the whole table is searched.
const NEAR: usize = 64;

/// The row under the keyboard's cursor, and perhaps one of its cells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cursor {
    row: Option<RowKey>,
    /// The row's position when it was last searched for.
    index: usize,
    /// The cell, counted from 1; 0 for the row as a whole.
    cell: usize,
}

impl Cursor {
    /// The row, if there is one.
    pub fn row(&self) -> Option<RowKey> {
        self.row
    }

    /// The cell of this row, counted from 1, 0 for the whole row; `None` for another row.
    pub fn on(&self, row: RowKey) -> Option<usize> {
        (self.row == Some(row)).then_some(self.cell)
    }

    /// The cell, counted from 0; `None` on the row as a whole.
    pub fn cell(&self) -> Option<usize> {
        self.cell.checked_sub(1)
    }

    /// Moves the cursor to another row, and returns its position; `None` if there is no row. If the cursor is on no
    /// row, every step except the one to the last row leads to `start`, the first visible row.
    pub fn step(&mut self, view: &TableView, step: Step, start: usize) -> Option<usize> {
        let last = view.len().checked_sub(1)?;
        let index = match (step, self.settle(view)) {
            (Step::First, _) => 0,
            (Step::Last, _) => last,
            (Step::By(_), None) => start.min(last),
            (Step::By(by), Some(index)) => index.saturating_add_signed(by).min(last),
        };
        self.take(view, index)
    }

    /// Moves the cursor to another cell of the row; `columns` is the number of cells.
    pub fn step_aside(&mut self, by: isize, columns: usize) {
        if self.row.is_some() {
            self.cell = self.cell.saturating_add_signed(by).min(columns);
        }
    }

    /// Moves the cursor from a cell to the row as a whole. Returns whether it was on a cell.
    pub fn leave_cell(&mut self) -> bool {
        std::mem::take(&mut self.cell) > 0
    }

    /// Moves the cursor to a row that the pointer has chosen.
    pub fn put(&mut self, view: &TableView, id: RowId) {
        if let Some(row) = view.rows().key_of(id) {
            self.row = Some(row);
            self.index = self.find(view, id).unwrap_or(self.index);
        }
    }

    /// The present position of the row; `None` while that is not known, because rows are being sorted or filtered. If
    /// the row is gone, the cursor moves to the row in its position; `None` if there is no row.
    pub fn settle(&mut self, view: &TableView) -> Option<usize> {
        let row = self.row?;
        let is_same = view.rows().of_key(row).is_some();
        match is_same.then(|| self.find(view, row.id)).flatten() {
            Some(index) => {
                self.index = index;
                Some(index)
            }
            None if is_same && view.progress().is_some() => None,
            None => self.take(view, self.index.min(view.len().saturating_sub(1))),
        }
    }

    fn take(&mut self, view: &TableView, index: usize) -> Option<usize> {
        let id = view.window(index, 1).first().copied();
        self.row = id.and_then(|id| view.rows().key_of(id));
        self.index = index;
        self.row.map(|_| index)
    }

    /// The position of a row. A table that is held has no positions: the row is searched for near its last position,
    /// then everywhere.
    fn find(&self, view: &TableView, id: RowId) -> Option<usize> {
        if view.window(self.index, 1).first() == Some(&id) {
            return Some(self.index);
        }
        view.position(id).or_else(|| {
            let first = self.index.saturating_sub(NEAR);
            let near = view.window(first, 2 * NEAR).iter().position(|one| *one == id).map(|at| first + at);
            near.or_else(|| view.window(0, view.len()).iter().position(|one| *one == id))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::filter::Filter;
    use crate::table::view::Retention;
    use kubechurn_client::api::cells::Cells;
    use kubechurn_client::api::object::{Object, ObjectKey, ResourceVersion};
    use kubechurn_client::cache::store::Change;
    use std::sync::Arc;

    fn object(name: &str) -> Arc<Object> {
        Arc::new(Object {
            key: ObjectKey::new("shop", name),
            uid: name.into(),
            resource_version: ResourceVersion::new("1"),
            owners: None,
            cells: Cells::default(),
            flaw: None,
            extra: None,
        })
    }

    fn add(view: &mut TableView, name: &str) {
        view.apply(&Change::Added { new: object(name), listed: false, folded: 1 }, 0.0);
    }

    fn delete(view: &mut TableView, name: &str) {
        view.apply(&Change::Deleted { last: object(name), folded: 1, final_state_unknown: false }, 0.0);
        view.expire(Retention::default().milliseconds());
    }

    fn view(names: &[&str]) -> TableView {
        let mut view = TableView::default();
        names.iter().for_each(|name| add(&mut view, name));
        view
    }

    fn name(cursor: &Cursor, view: &TableView) -> String {
        let row = cursor.row().and_then(|row| view.rows().of_key(row));
        row.map_or_else(String::new, |row| row.object.key.name.to_string())
    }

    #[test]
    fn steps_stay_in_the_table() {
        let view = view(&["a", "b", "c", "d", "e"]);
        for (steps, expected) in [
            (&[Step::By(1)][..], "b"),
            (&[Step::By(-1)], "b"),
            (&[Step::By(1), Step::By(1)], "c"),
            (&[Step::By(1), Step::By(-9)], "a"),
            (&[Step::By(1), Step::By(99)], "e"),
            (&[Step::Last], "e"),
            (&[Step::Last, Step::First], "a"),
            (&[Step::First, Step::By(2), Step::By(-1)], "b"),
        ] {
            let mut cursor = Cursor::default();
            for step in steps {
                assert!(cursor.step(&view, *step, 1).is_some());
            }
            assert_eq!(name(&cursor, &view), expected, "{steps:?}");
        }
        let mut cursor = Cursor::default();
        assert_eq!(cursor.step(&TableView::default(), Step::Last, 0), None);
        cursor.step_aside(1, 5);
        assert_eq!(cursor, Cursor::default());
    }

    #[test]
    fn the_row_is_the_object_and_not_its_place() {
        let mut view = view(&["b", "d", "f"]);
        let mut cursor = Cursor::default();
        cursor.step(&view, Step::By(1), 1);
        add(&mut view, "a");
        add(&mut view, "c");
        assert_eq!((cursor.settle(&view), name(&cursor, &view)), (Some(3), "d".into()));
        view.filter_by(Filter::parse("d", &[]).unwrap());
        view.work(|| true);
        assert_eq!((cursor.settle(&view), name(&cursor, &view)), (Some(0), "d".into()));
        view.filter_by(Filter::default());
        view.work(|| true);
        view.freeze(0, 10);
        assert_eq!((cursor.settle(&view), name(&cursor, &view)), (Some(3), "d".into()));
    }

    #[test]
    fn when_it_goes_the_one_in_its_place_is_taken() {
        let mut view = view(&["a", "b", "c"]);
        let mut cursor = Cursor::default();
        cursor.step(&view, Step::By(1), 1);
        delete(&mut view, "b");
        assert_eq!((cursor.settle(&view), name(&cursor, &view)), (Some(1), "c".into()));
        // A later object with the same row number is another row.
        delete(&mut view, "c");
        add(&mut view, "z");
        add(&mut view, "0");
        assert_eq!(cursor.settle(&view).map(|_| name(&cursor, &view)), Some("a".into()));
        for gone in ["a", "z", "0"] {
            delete(&mut view, gone);
        }
        assert_eq!((cursor.settle(&view), cursor.row()), (None, None));
    }

    #[test]
    fn cells_are_stepped_through_from_the_row_and_back() {
        let view = view(&["a"]);
        let mut cursor = Cursor::default();
        cursor.step(&view, Step::First, 0);
        let mut cells = Vec::new();
        for by in [1, 1, 1, -1, -1, -1] {
            cursor.step_aside(by, 2);
            cells.push(cursor.cell());
        }
        assert_eq!(cells, [Some(0), Some(1), Some(1), Some(0), None, None]);
        cursor.step_aside(1, 2);
        assert!(cursor.leave_cell() && !cursor.leave_cell());
    }
}
