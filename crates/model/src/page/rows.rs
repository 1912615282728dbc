//! The rows that are in the document: which rows they are, what each shows, and how far the table is scrolled when rows
//! appear or disappear above the visible ones.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use kubechurn_client::api::cell::CellRef;
use kubechurn_client::api::sort::sort_by_key;
use kubechurn_client::api::time::Timestamp;
use kubechurn_client::cache::delta::DeltaType;
use kubechurn_columns::kinds::Kind;

use crate::page::context::Context;
use crate::page::empty::{absence, empty};
use crate::page::environment::Environment;
use crate::page::watching::Watching;
use crate::rewind::{Present, Rewound, Stores};
use crate::table::cursor::Cursor;
use crate::table::layout::Layout;
use crate::table::order::{RowId, RowKey};
use crate::table::pointer::Pointer;
use crate::table::view::{Row, TableView};
use crate::timeline::mark::grouped;
use crate::view::panels::WindowView;
use crate::view::{
    Connection, HEAD, Look, ROW, RowModel, Seen, ShownRow, Upcoming, cell_id, progress, row_id, row_model,
};
use crate::watches::Watches;
use crate::watches::watched::Watched;

/// How many rows above and below the visible ones are in the document too.
const OVERSCAN: usize = 6;
/// How long sorting and filtering may take in a frame, in milliseconds.
const SORTS: f64 = 10.0;
/// How long a frame may search for the first rows in a new order or filter, in milliseconds. That is longer than for
/// the rest, because the user waits for those rows.
const SEEKS: f64 = 25.0;
/// How long the rows of the last filter stay while the new one has found none, in milliseconds.
const PATIENCE: f64 = 75.0;

/// The part of the table that is in the document, and the user's position in it.
#[derive(Debug, Default)]
pub(super) struct RowWindow {
    top: f64,
    height: f64,
    /// The uppermost row and its position. That row keeps its place on the screen while rows appear and disappear above
    /// it.
    anchor: Option<(RowId, usize)>,
    held: FxHashMap<RowKey, Held>,
    /// How many elements for rows were made so far.
    elements: u64,
    /// Whether one of the rows has an age that is renewed each second.
    pub(super) has_young: bool,
    /// The generation of the layout that the rows were made for.
    generation: u64,
    /// When a new order or filter was asked for, until its first rows are drawn.
    awaits: Option<f64>,
    pub(super) cursor: Cursor,
    pub(super) pointer: Pointer,
}

/// A row in the document.
#[derive(Debug)]
struct Held {
    /// The number of its element.
    place: u64,
    model: Arc<RowModel>,
    made_of: MadeOf,
    next: Next,
}

/// What happens next to a row's object where another moment than now is shown.
#[derive(Clone, Copy, Debug)]
struct Next {
    /// What it is, and when, in milliseconds.
    what: Option<(DeltaType, f64)>,
    /// How many versions had been received when that was looked up.
    received: u64,
}

impl Next {
    /// The next one follows from the version that is shown, and so from what the row was made of. Where there was none, what has
    /// been received since may be one.
    fn of(row: &Row, held: Option<&Held>, watching: &Watching) -> Next {
        let received = watching.history.received();
        let is_same = |held: &&Held| {
            held.made_of.version == row.version && (held.next.what.is_some() || held.next.received == received)
        };
        if let Some(held) = held.filter(is_same) {
            return held.next;
        }
        let rewound = watching.rewound.as_ref();
        Next { what: rewound.and_then(|rewound| rewound.next(row, &watching.history)), received }
    }
}

/// What a row's model was made from. If nothing of this changed, the model would be the same.
#[derive(Debug, PartialEq)]
struct MadeOf {
    version: u32,
    /// The number of the time in which its ages stay as they are.
    turn: i64,
    rank: usize,
    look: Look,
    filter: u32,
}

/// Ages of less than so many milliseconds are renewed each second. That a list brought an object is no age of the object's.
const YOUNG: f64 = 120_000.0;
/// How often the ages of young rows are renewed, in milliseconds.
const YOUNG_AGES: f64 = 1_000.0;
/// How often all other ages are renewed, in milliseconds: nobody counts their seconds.
pub(super) const OLD_AGES: f64 = 10_000.0;

/// How many rows of the moment are still to be read: an order and a filter that go by cells are right when none is.
fn reading(cx: &Context<'_>) -> Option<String> {
    let unread = cx.watching.rewound.as_ref().map_or(0, Rewound::unread);
    (unread > 0).then(|| format!("reading, {} left", grouped(unread as u64)))
}

/// Whether a row is of another moment than now, and its object does not exist any more.
fn is_gone(row: &Row, view: &TableView, watching: &Watching) -> bool {
    let Some(kind) = view.schema().kinds().get(row.kind.index()).filter(|_| watching.rewound.is_some()) else {
        return false;
    };
    let stores = Stores { watches: &watching.watches, informers: &watching.informers };
    stores.find(kind, &row.object.key).is_none_or(|now| now.uid != row.object.uid)
}

/// What is held and not followed any more, by kind and namespace; nothing of another moment than now.
fn stale(watching: &Watching, now: f64) -> Vec<(&'static Kind, &str)> {
    let live = watching.rewound.is_none().then_some(&watching.watches).into_iter();
    let of = |watched| Watched::stale(watched, &watching.informers, now).map(|namespace| (watched.kind(), namespace));
    live.flat_map(Watches::members).flat_map(of).collect()
}

/// Whether a row has an age that is renewed each second.
fn is_young(row: &Row, wall: Timestamp, now: f64) -> bool {
    let ages =
        row.object.cells.iter().filter_map(CellRef::since).map(|since| wall.seconds_since(since) as f64 * 1000.0);
    let changed = if row.delta == DeltaType::Replaced { f64::INFINITY } else { now - row.changed_at };
    ages.fold(changed, f64::min) < YOUNG
}

/// The number of the time in which a row's ages stay as they are. A quarter of the young rows renews its ages at a time,
/// where there are so many frames, because renewing all at once would be the longest task in the page.
fn turn(is_young: bool, rank: usize, now: f64) -> i64 {
    let turn = if is_young { (now + YOUNG_AGES / 4.0 * (rank % 4) as f64) / YOUNG_AGES } else { now / OLD_AGES };
    turn as i64
}

impl RowWindow {
    /// The table was scrolled.
    pub(super) fn scroll(&mut self, top: f64, height: f64) {
        // If the page itself has scrolled to this position, the row to keep stays the same.
        if (top - self.top).abs() >= 1.0 {
            self.anchor = None;
        }
        (self.top, self.height) = (top.max(0.0), height);
    }

    /// How high the table is, in pixels.
    pub(super) fn height(&self) -> f64 {
        self.height
    }

    /// The rows that are in the document: the position of the first, and how many.
    fn window(&self) -> (usize, usize) {
        let first = ((self.top / ROW) as usize).saturating_sub(OVERSCAN);
        (first, (self.height / ROW).ceil() as usize + 2 * OVERSCAN)
    }

    /// The rows that are in the document, as far as they are in order.
    pub(super) fn in_window(&self, view: &TableView) -> Vec<RowId> {
        let (first, count) = self.window();
        view.window(first.min(view.len()), count)
    }

    /// The first visible row.
    pub(super) fn first_seen(&self) -> usize {
        (self.top / ROW).ceil() as usize
    }

    /// How many rows are wholly visible, and at least one.
    pub(super) fn page(&self) -> isize {
        ((self.height - HEAD) / ROW - 1.0).max(1.0) as isize
    }

    /// Whether the row is in the document.
    pub(super) fn shows(&self, row: RowKey) -> bool {
        self.held.contains_key(&row)
    }

    /// What the rows in the document show.
    pub(super) fn models(&self) -> impl Iterator<Item = &RowModel> {
        self.held.values().map(|held| &*held.model)
    }

    /// Holds the rows of the window in their places.
    pub(super) fn hold(&self, view: &mut TableView) {
        let (first, count) = self.window();
        view.freeze(first.min(view.len()), count);
    }

    /// Scrolls as little as possible to make the row at this position visible: returns the new position, if another.
    pub(super) fn bring_into_sight(&mut self, index: usize) -> Option<f64> {
        let place = index as f64 * ROW;
        let lowest = place + ROW + HEAD - self.height;
        let wanted = if place < self.top { place } else { self.top.max(lowest.ceil()) };
        (wanted != self.top).then(|| {
            self.scroll(wanted, self.height);
            wanted
        })
    }

    /// The table shows something else, or another order. The first rows are searched for at once.
    pub(super) fn arrive(&mut self, view: Option<&mut TableView>, env: &dyn Environment) {
        let now = env.now();
        (self.anchor, self.awaits) = (None, Some(now));
        let (first, count) = self.window();
        if let Some(view) = view {
            view.seek(first + count, || env.now() - now < SEEKS);
        }
    }

    /// Finds out where the row moved that must keep its place on the screen, and returns where the table must be
    /// scrolled to for that. The row is the one under the cursor while that is visible, or else the uppermost one.
    fn follow_anchor(&mut self, view: &TableView, cursor: Option<(RowId, usize)>) -> Option<f64> {
        let place = |id| cursor.filter(|(row, _)| *row == id).map(|(_, at)| at).or_else(|| view.position(id));
        let moved = self.anchor.and_then(|(id, was)| Some(place(id)? as f64 - was as f64));
        let top = moved.filter(|by| *by != 0.0).map(|by| (self.top + by * ROW).max(0.0));
        self.top = top.unwrap_or(self.top);
        // At the very top of the table, new rows should be visible, and so no row keeps its place.
        let first = (self.top / ROW) as usize;
        let seen = (self.top - ROW)..(self.top + self.height);
        let cursor = cursor.filter(|(_, at)| seen.contains(&(*at as f64 * ROW)));
        self.anchor = cursor.or_else(|| view.window(first, 1).first().map(|id| (*id, first)).filter(|_| first > 0));
        top
    }

    /// Sorts and filters for part of a frame. Returns whether there are rows to draw, and whether work is left.
    pub(super) fn work(
        &mut self,
        view: &mut TableView,
        (generation, hurries): (u64, bool),
        now: f64,
        env: &dyn Environment,
    ) -> (bool, bool) {
        let (first, count) = self.window();
        let spent = || env.now() - now;
        let waits = self.awaits.is_some_and(|asked| now - asked < PATIENCE);
        let finds_none = |view: &TableView| waits && view.is_empty() && view.progress().is_some();
        let nothing_yet = |view: &TableView| view.arranged().seeks_the_first() || finds_none(view);
        let (draws, is_left) = if nothing_yet(view) {
            view.seek(first + count, || spent() < SEEKS);
            // Until the first rows are found, and in a frame that finding them has filled, the old rows stay, because
            // any others would be a guess. Rows of another layout cannot stay.
            let is_full = nothing_yet(view) || spent() > if hurries { SEEKS } else { SORTS };
            (!is_full || self.generation != generation, true)
        } else if self.awaits.is_some() {
            // Laying out a window of other rows fills a frame by itself.
            (true, view.progress().is_some())
        } else {
            (true, view.work(|| spent() < SORTS))
        };
        if draws {
            self.awaits = None;
        }
        (draws, is_left)
    }

    /// Shows the rows of the self. Returns whether any of them changed.
    pub(super) fn show(&mut self, layout: &mut Layout, cx: &mut Context<'_>) -> bool {
        let selected = cx.navigation.selected_in_view();
        let now = cx.shown_at();
        let walls = cx.times(layout.schema());
        let reading = reading(cx);
        let watching = &*cx.watching;
        let Some(view) = watching.view() else {
            self.show_nothing(cx);
            return false;
        };
        let shown = &mut cx.view.rows;
        let under = self.cursor.settle(view).and_then(|at| Some((self.cursor.row()?.id, at)));
        if let Some(top) = self.follow_anchor(view, under) {
            shown.length.put(view.len());
            shown.scroll.put(top);
        }
        let (first, count) = self.window();
        let first = first.min(view.len());
        let filter = view.arranged().filter_number();
        let mut known = std::mem::take(&mut self.held);
        if std::mem::replace(&mut self.generation, layout.generation) != layout.generation {
            // An element has the cells of its layout, and cannot be used for another layout.
            known.clear();
        }
        let rows = view.window(first, count).into_iter().enumerate();
        let rows = rows.filter_map(|(at, id)| {
            let row = view.row(id)?;
            Some((first + at + 1, RowKey { id, born: row.born }, row))
        });
        let rows: Vec<_> = rows.map(|(rank, key, row)| (rank, key, row, known.remove(&key))).collect();
        let stale = stale(watching, now);
        let kinds = view.schema().kinds();
        let is_stale = |row: &Row| {
            let of = |(kind, namespace): &(&Kind, &str)| {
                let is_of_kind = kinds.get(row.kind.index()).is_some_and(|one| one == kind);
                is_of_kind && (namespace.is_empty() || **namespace == *row.object.key.namespace)
            };
            stale.iter().any(of)
        };
        // The left elements in their order in the document. After a new order, the rows take over elements from top to
        // bottom.
        let mut left: Vec<Held> = known.into_values().collect();
        sort_by_key(&mut left, |held| held.made_of.rank);
        let mut left = left.into_iter();
        let (mut changed, mut has_young) = (false, false);
        let mut places = Vec::with_capacity(rows.len());
        for (rank, key, row, held) in rows {
            let is_selected = selected.as_ref().is_some_and(|(kind, key)| row.is_of(*kind, key));
            let next = Next::of(row, held.as_ref(), watching);
            let look = Look {
                selected: is_selected,
                cursor: self.cursor.on(key),
                gone: is_gone(row, view, watching),
                stale: is_stale(row),
                next: next.what.map(|(what, at)| Upcoming::seen(what, at, now)),
            };
            let wall = walls.get(row.kind.index()).copied().unwrap_or_default();
            let is_young = is_young(row, wall, now);
            has_young |= is_young;
            let made_of = MadeOf { version: row.version, turn: turn(is_young, rank, now), rank, look, filter };
            let held = match held {
                Some(held) if held.made_of == made_of => Held { next, ..held },
                held => {
                    let before = held.as_ref().map(|held| Seen {
                        model: &held.model,
                        changed: (held.made_of.version != row.version).then_some(row.changed),
                    });
                    let model = row_model(layout, ShownRow { view, id: key.id, row, rank, look, before, wall, now });
                    let (place, model) = match held.or_else(|| left.next()) {
                        Some(Held { place, model: same, .. }) if *same == model => (place, same),
                        held => {
                            let place = held.map_or_else(
                                || {
                                    self.elements += 1;
                                    self.elements
                                },
                                |held| held.place,
                            );
                            let model = Arc::new(model);
                            shown.drawn.push((place, model.clone()));
                            changed = true;
                            (place, model)
                        }
                    };
                    Held { place, model, made_of, next }
                }
            };
            places.push(held.place);
            self.held.insert(key, held);
        }
        self.has_young = has_young;
        shown.length.put(view.len());
        shown.unplaced.put(view.unplaced());
        shown.window.put(WindowView { first, places });
        let table = &mut cx.view.table;
        table.progress.put(reading.or_else(|| view.progress().map(progress)).unwrap_or_default());
        table.template.put(layout.template());
        self.show_cursor(cx);
        cx.view.rows.empty.put(empty(cx));
        changed
    }

    /// Handles a kind that the server does not have, or has not reported yet.
    fn show_nothing(&mut self, cx: &mut Context<'_>) {
        let (state, words) = absence(cx.navigation);
        self.held.clear();
        self.has_young = false;
        let view = &mut cx.view;
        view.rows.length.put(0);
        view.rows.unplaced.put(None);
        view.rows.window.put(WindowView::default());
        view.rows.empty.put(Some(words));
        view.table.progress.put(String::new());
        view.table.provisional.put(String::new());
        view.table.waiting.put(0);
        view.table.minute.put([0; 3]);
        view.table.count.put(String::from("0 / 0"));
        view.table.trouble.put(Vec::new());
        view.table.listing.put(None);
        view.header.connection.put(Connection { state, detail: String::new() });
    }

    /// Shows which row or cell is under the cursor, if it is in the document: a screen reader cannot read out another
    /// one.
    pub(super) fn show_cursor(&self, cx: &mut Context<'_>) {
        let at = self.cursor.row().filter(|row| self.shows(*row)).map(|row| match self.cursor.cell() {
            Some(cell) => cell_id(row, cell),
            None => row_id(row),
        });
        cx.view.rows.cursor.put(at);
    }
}
