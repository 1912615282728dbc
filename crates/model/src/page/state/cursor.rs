//! The row and the cell under the keyboard's cursor, and the pointer over the table. Rows must not move under either.

use kubechurn_client::api::object::ObjectKey;

use crate::kind_id::KindId;
use crate::page::cursor::Step;
use crate::page::effect::{Effect, Focused};
use crate::page::state::Page;
use crate::page::view::{cell_id, row_id};
use crate::table::view::Row;
use kubechurn_columns::kinds::Kind;

/// How long a pointer that has stopped moving still keeps the rows in place, in milliseconds.
const RESTS: f64 = 2_500.0;

/// Whether the user is acting on a row.
#[derive(Debug, Default)]
pub(super) struct Pointer {
    busy_until: Option<f64>,
}

impl Pointer {
    /// The pointer moved over the table, or left it.
    pub(super) fn over_table(&mut self, over: bool, now: f64) {
        self.busy_until = over.then_some(now + RESTS);
    }

    /// When the rows are let go, in milliseconds, if they are held.
    pub(super) fn rests_at(&self) -> Option<f64> {
        self.busy_until
    }

    /// Whether the user is acting on a row.
    pub(super) fn is_busy(&mut self, now: f64) -> bool {
        self.busy_until = self.busy_until.filter(|until| *until > now);
        self.busy_until.is_some()
    }
}

impl Page {
    /// Moves the cursor to another row. The table is held, as under a pointer.
    pub(super) fn step(&mut self, step: Step, now: f64) {
        let Some(view) = self.watching.watches.view_mut() else { return };
        self.rows.hold(view);
        let (start, before) = (self.rows.first_seen(), self.rows.cursor);
        let index = self.rows.cursor.step(view, step, start).or_else(|| {
            // The end of the held rows is near the visible rows: beyond it, the cursor needs the table as it is now.
            view.unfreeze();
            self.rows.cursor = before;
            self.rows.cursor.step(view, step, start)
        });
        let Some(index) = index else { return };
        self.rows.pointer.over_table(true, now);
        self.focus(Focused::Table);
        if let Some(top) = self.rows.bring_into_sight(index) {
            self.out.effects.push(Effect::ScrollTable(top));
        }
    }

    /// Moves the cursor to another cell of the row. Without a row, moves it to a row first.
    pub(super) fn step_aside(&mut self, by: isize, now: f64) {
        if self.rows.cursor.row().is_none() {
            return self.step(Step::By(1), now);
        }
        self.rows.pointer.over_table(true, now);
        self.focus(Focused::Table);
        self.rows.cursor.step_aside(by, self.columns.layout.sources.len());
    }

    /// The row under the cursor, and its kind.
    pub(super) fn row_under_cursor(&self) -> Option<(&'static Kind, &Row)> {
        let row = self.watching.watches.view()?.rows().of_key(self.rows.cursor.row()?)?;
        Some((self.columns.layout.schema().kind(row.kind)?, row))
    }

    /// The selected object, with its kind's id among those in view.
    pub(super) fn selected_number(&self) -> Option<(KindId, ObjectKey)> {
        let (kind, key) = self.place.selected.as_ref()?;
        Some((self.columns.layout.schema().number(kind)?, key.clone()))
    }

    /// Moves the cursor to the row that was chosen with the pointer, so that the keys continue from there.
    pub(super) fn put_cursor_on_selected(&mut self) {
        let (Some((kind, key)), Some(view)) = (self.selected_number(), self.watching.watches.view()) else { return };
        if let Some(id) = view.find(kind, &key) {
            self.rows.cursor.put(view, id);
        }
    }

    /// Publishes which row or cell is under the cursor, if it is in the document: a screen reader cannot read out
    /// another one.
    pub(super) fn present_cursor(&mut self) {
        let cursor = self.rows.cursor;
        let at = cursor.row().filter(|row| self.rows.shows(*row)).map(|row| match cursor.cell() {
            Some(cell) => cell_id(row, cell),
            None => row_id(row),
        });
        self.out.view.rows.cursor.put(at);
    }
}
