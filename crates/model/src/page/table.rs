//! The table: its rows and columns, and the cursor in it.

use kubechurn_columns::kinds::Kind;

use crate::navigation::route::Route;
use crate::page::columns::Columns;
use crate::page::command::{Command, Rows};
use crate::page::context::Context;
use crate::page::effect::{Effect, Focused, Pace};
use crate::page::rows::RowWindow;
use crate::table::cursor::{Cursor, Step};
use crate::table::filter::Filter;
use crate::table::layout::Layout;
use crate::table::schema::TableSchema;
use crate::table::view::{Retention, Row, TableView};
use crate::view::{RetentionModel, elsewhere_in_table};

/// The name under which the browser stores how long deleted rows stay.
const RETENTION: &str = "kubechurn.linger";
/// How long a frame may read rows of a moment that are not in sight, in milliseconds: while the moment moves, and when it has
/// stood still for so long; and how long it may then sort and filter the rows of now, which nobody sees meanwhile.
const READS: f64 = 5.0;
const READS_AT_REST: f64 = 15.0;
const REST: f64 = 40.0;
const BEHIND: f64 = 2.0;

/// The table that the user looks at.
#[derive(Debug, Default)]
pub(super) struct Table {
    pub(super) columns: Columns,
    pub(super) rows: RowWindow,
    /// Whether the user waits for the rows of another moment.
    hurries: bool,
    /// When the user last went to another moment, in milliseconds.
    moved: f64,
}

impl Table {
    /// Takes over the retention that the user chose on an earlier visit.
    pub(super) fn begin(&mut self, cx: &mut Context<'_>) {
        cx.watching.retention = cx.env.stored(RETENTION).and_then(|name| Retention::named(&name)).unwrap_or_default();
        self.present_retention(cx);
        self.columns.renew(cx);
    }

    /// Has the rows of what the route asks for.
    pub(super) fn watch(&mut self, cx: &mut Context<'_>) {
        if cx.watch() {
            self.begin_other_rows(cx);
        }
    }

    /// Has the tables and timelines receive what the informers hold for them.
    pub(super) fn take(&mut self, cx: &mut Context<'_>) {
        cx.watching.set_resync_periods(cx.now, cx.effects);
        // Rows that the user is acting on are held in place from the next picture on, and must be in the table then.
        if cx.watching.take(self.rows.pointer.is_busy(cx.now), cx.now) {
            cx.hurry();
        }
        if cx.watching.paused {
            return cx.notices.overload.forgive();
        }
        if let Some(notice) = cx.notices.overload.look(cx.now, cx.watching.waiting()) {
            cx.publish(notice);
        }
    }

    /// Has the rows follow the place: its columns, and, where they are to be sorted or filtered anew, its order and filter.
    pub(super) fn arrange(&mut self, (sorts, filters): (bool, bool), cx: &mut Context<'_>) {
        let schema = cx.navigation.new_schema();
        self.sort(sorts, &schema, cx);
        if filters {
            self.filter(&schema, cx);
        }
        self.arrive(&schema, cx);
    }

    /// Sorts and filters for part of the frame. Returns whether there are rows to draw.
    pub(super) fn work(&mut self, cx: &mut Context<'_>) -> bool {
        let busy = self.rows.pointer.is_busy(cx.now);
        let Some(view) = cx.watching.view_mut() else { return true };
        let (draws, is_left) = self.rows.work(view, (self.columns.layout.generation, self.hurries), cx.now, cx.env);
        if self.work_on_the_past(cx) || is_left {
            cx.effects.frame(Pace::Hurried);
        }
        let Some(view) = cx.watching.view_mut() else { return draws };
        if busy {
            self.rows.hold(view)
        } else {
            view.unfreeze()
        }
        draws
    }

    /// While a moment is shown: reads the rows in sight, others as far as there is time, and keeps those of now in order. Returns
    /// whether something is left.
    fn work_on_the_past(&mut self, cx: &mut Context<'_>) -> bool {
        let Some(rewound) = &mut cx.watching.rewound else { return false };
        let (began, history) = (cx.env.now(), &cx.watching.history);
        rewound.read(&self.rows.in_window(rewound.table()), history);
        let reads = if (began - self.moved).abs() < REST { READS } else { READS_AT_REST };
        let (reads, behind) = if self.hurries { (0.0, 0.0) } else { (reads, reads + BEHIND) };
        let is_unread = rewound.work(history, || cx.env.now() - began < reads);
        let view = cx.watching.watches.view_mut();
        let is_unsorted = view.is_some_and(|view| view.work(|| cx.env.now() - began < behind));
        is_unread || is_unsorted
    }

    /// The user waits for the rows of another moment.
    pub(super) fn hurry(&mut self, cx: &mut Context<'_>) {
        self.hurries = true;
        self.moved = cx.now;
        *cx.repaints = true;
        cx.hurry();
    }

    /// Whether the user waits for rows of another moment, so that all else comes a frame later. Where they are drawn now, nobody
    /// waits any longer.
    pub(super) fn goes_first(&mut self, draws: bool, cx: &mut Context<'_>) -> bool {
        let goes_first = self.hurries && !cx.navigation.route.changes;
        self.hurries = goes_first && !draws;
        if goes_first {
            cx.hurry();
        }
        goes_first
    }

    /// Shows the rows of the window. Returns whether any of them changed.
    pub(super) fn present(&mut self, cx: &mut Context<'_>) -> bool {
        self.rows.show(&mut self.columns.layout, cx)
    }

    /// Has the rows follow the new place: its order, its filter and its columns.
    pub(super) fn arrive(&mut self, schema: &TableSchema, cx: &mut Context<'_>) {
        if !self.columns.layout.fits(schema, cx.navigation.route.wide, cx.watching.moment.is_some()) {
            self.columns.renew(cx);
        }
        self.rows.arrive(cx.watching.view_mut(), cx.env);
    }

    /// Has the view sort anew if it must, and lets its rows move.
    pub(super) fn sort(&mut self, sorts: bool, schema: &TableSchema, cx: &mut Context<'_>) {
        for view in cx.watching.views_mut() {
            view.unfreeze();
            if sorts {
                view.sort_by(cx.navigation.route.order(schema));
            }
        }
    }

    /// Has the table show the rows that pass the filter. A filter that cannot be read lets every row pass, and an error
    /// beside the field says so.
    pub(super) fn filter(&mut self, schema: &TableSchema, cx: &mut Context<'_>) {
        let catalog = &cx.navigation.catalog;
        let parsed = Filter::among(&cx.navigation.route.text, schema, &|title| catalog.column(title));
        let elsewhere = parsed.as_ref().ok().and_then(|filter| elsewhere_in_table(filter.elsewhere()));
        cx.view.header.filter_note.put(elsewhere);
        cx.view.header.filter_error.put(parsed.as_ref().err().map(ToString::to_string));
        let filter = parsed.unwrap_or_default();
        cx.watching.views_mut().for_each(|view| view.filter_by(filter.clone()));
    }

    /// Has all rows drawn again, and forgets the cursor: the rows of another table have the same numbers, and must not
    /// be mistaken for the present ones.
    pub(super) fn begin_other_rows(&mut self, cx: &mut Context<'_>) {
        self.columns.layout.generation += 1;
        if self.columns.layout.looks_ahead() != cx.watching.moment.is_some() {
            self.columns.renew(cx);
            self.columns.present(cx);
        }
        self.rows.cursor = Cursor::default();
    }

    /// Moves the cursor to another row. The table is held, as under a pointer.
    pub(super) fn step(&mut self, step: Step, cx: &mut Context<'_>) {
        let Some(view) = cx.watching.view_mut() else { return };
        self.rows.hold(view);
        let (start, before) = (self.rows.first_seen(), self.rows.cursor);
        let index = self.rows.cursor.step(view, step, start).or_else(|| {
            // The end of the held rows is near the visible rows: beyond it, the cursor needs the table as it is now.
            view.unfreeze();
            self.rows.cursor = before;
            self.rows.cursor.step(view, step, start)
        });
        let Some(index) = index else { return };
        self.rows.pointer.over_table(true, cx.now);
        cx.focus(Focused::Rows(Rows::Table));
        if let Some(top) = self.rows.bring_into_sight(index) {
            cx.effects.push(Effect::ScrollTable(top));
        }
    }

    /// Moves the cursor to another cell of the row. Without a row, moves it to a row first.
    pub(super) fn step_aside(&mut self, by: isize, cx: &mut Context<'_>) {
        if self.rows.cursor.row().is_none() {
            return self.step(Step::By(1), cx);
        }
        self.rows.pointer.over_table(true, cx.now);
        cx.focus(Focused::Rows(Rows::Table));
        self.rows.cursor.step_aside(by, self.columns.layout.sources.len());
    }

    /// The row under the cursor, and its kind.
    pub(super) fn row_under_cursor<'a>(&self, cx: &'a Context<'_>) -> Option<(&'static Kind, &'a Row)> {
        let row = cx.watching.view()?.rows().of_key(self.rows.cursor.row()?)?;
        Some((cx.navigation.schema.kind(row.kind)?, row))
    }

    /// Moves the cursor to the row that was chosen with the pointer, so that the keys continue from there.
    pub(super) fn put_cursor_on_selected(&mut self, cx: &Context<'_>) {
        let Some((kind, key)) = cx.navigation.selected_in_view() else { return };
        let Some(view) = cx.watching.view() else { return };
        if let Some(id) = view.find(kind, &key) {
            self.rows.cursor.put(view, id);
        }
    }

    /// Selects the object of the row under the cursor. If it is selected already, it stays so: only Esc closes the
    /// inspector.
    pub(super) fn open_row(&self, cx: &mut Context<'_>) {
        let Some((kind, row)) = self.row_under_cursor(cx) else { return };
        let (kind, key) = (kind.name, row.object.key.clone());
        if !cx.navigation.has_selected(kind, &key) {
            cx.select(Some((kind, key)));
        }
    }

    /// Sorts by the column of the cell under the cursor, or, without such a cell, by the next one of the columns that
    /// are shown.
    pub(super) fn sort_next(&self, cx: &mut Context<'_>) {
        let layout = &self.columns.layout;
        let route = &cx.navigation.route;
        let Layout { sources, .. } = layout;
        let route = match self.rows.cursor.cell() {
            Some(cell) => sources.get(cell).map(|source| route.sorted_by(layout.title(*source))),
            None => {
                let now = route.sort.trim_start_matches('-');
                let at = sources.iter().position(|source| layout.title(*source) == now);
                let next = sources.get(at.map_or(0, |at| (at + 1) % sources.len()));
                next.map(|source| Route { sort: layout.title(*source).to_owned(), ..route.clone() })
            }
        };
        if let Some(route) = route {
            cx.push(&route);
        }
    }

    /// Keeps deleted rows this long from now on, including rows that are deleted already.
    pub(super) fn retain(&mut self, retention: Retention, cx: &mut Context<'_>) {
        cx.watching.retention = retention;
        cx.store(RETENTION, (retention != Retention::default()).then_some(retention.name()));
        // The user asked for it, and so no row needs to be held any longer.
        self.rows.pointer.over_table(false, cx.now);
        if let Some(view) = cx.watching.watches.view_mut() {
            view.unfreeze();
        }
        cx.show_message(&format!("{}.", Command::Retention(retention).title()));
        self.present_retention(cx);
    }

    /// Removes the deleted rows of the table in view.
    pub(super) fn clear_deleted(&mut self, cx: &mut Context<'_>) {
        let Some(view) = cx.watching.watches.view_mut() else { return };
        let count = view.deleted().len();
        view.dismiss();
        self.rows.pointer.over_table(false, cx.now);
        let words = match count {
            0 => String::from("There are no deleted rows."),
            1 => String::from("Cleared 1 deleted row."),
            count => format!("Cleared {count} deleted rows."),
        };
        cx.show_message(&words);
        self.present_retention(cx);
    }

    /// Shows how long deleted rows stay, and how many there are.
    pub(super) fn present_retention(&self, cx: &mut Context<'_>) {
        let deleted = cx.watching.watches.view().map(TableView::deleted);
        let (count, crowded_out) = deleted.map_or((0, 0), |deleted| (deleted.len(), deleted.crowded_out()));
        let model = RetentionModel { chosen: cx.watching.retention, count, crowded_out };
        cx.view.table.retention.put(model);
    }
}
