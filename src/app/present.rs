//! From the page's state to the screen's signals: what a frame shows.

use std::sync::Arc;

use leptos::prelude::{ArcRwSignal, GetUntracked, Set, WithUntracked};
use rustc_hash::FxHashMap;

use kubechurn_client::cache::ledger::Ledger;
use kubechurn_client::cache::reflector::Health;
use kubechurn_client::cache::shared_informer::SharedInformer;
use kubechurn_model::page::watched::worst;
use kubechurn_model::table::order::{RowId, RowKey};
use kubechurn_model::table::schema::TableSchema;
use kubechurn_model::table::view::TableView;
use kubechurn_model::timeline::mark::{MarkType, grouped};

use kubechurn_model::page::view::{
    Connection, EmptyTable, Look, Pipeline, RowModel, Seen, ShownRow, Subject, Trouble, bytes, empty, left_out,
    progress, row_model, seconds, trouble,
};

use crate::app::Page;
use crate::app::layout::heads;
use crate::app::memory;
use crate::browser::clock;
use crate::ui::screen::{Slot, WindowModel, put};
use crate::ui::unplaced::ROW;
use kubechurn_model::page::rates::Sample;

/// Rows above and below the visible ones that are in the document too.
const OVERSCAN: usize = 6;
/// How often counts, ages and rates are renewed, in milliseconds: all in one frame, for each such frame lays out
/// the page's head and foot.
const SLOW: f64 = 500.0;
/// How much of a frame sorting and filtering may take, in milliseconds.
const SORTS: f64 = 10.0;
/// How long the rows that come first by a new order or filter are sought at a time, in milliseconds: the user waits for
/// them.
const SEEKS: f64 = 25.0;
/// How long the rows of the filter before stay while the new one has found none, in milliseconds.
const PATIENCE: f64 = 75.0;

/// A row in the document.
struct Held {
    slot: Slot,
    made_of: MadeOf,
}

/// What a row's model was made of: the same again would make the same.
#[derive(PartialEq)]
struct MadeOf {
    version: u32,
    second: i64,
    rank: usize,
    look: Look,
    filter: u32,
}

/// What the table showed last.
#[derive(Default)]
pub(super) struct Shown {
    top: f64,
    /// The uppermost row, and where it stood: it stays where it is while rows come and go above it.
    anchor: Option<(RowId, usize)>,
    height: f64,
    rows: FxHashMap<RowKey, Held>,
    /// How many elements were made for rows.
    elements: u64,
    /// Of which layout the rows are.
    generation: u64,
    /// When a new order or filter was asked for, until its first rows are drawn.
    awaits: Option<f64>,
    slow: f64,
    state: &'static str,
}

impl Shown {
    pub(super) fn scroll(&mut self, top: f64, height: f64) {
        // Where the page itself has scrolled to, the row is still the one to keep.
        if (top - self.top).abs() >= 1.0 {
            self.anchor = None;
        }
        (self.top, self.height) = (top.max(0.0), height);
    }
}

impl Shown {
    /// The rows that are in the document: the first one's place, and how many.
    pub(super) fn window(&self) -> (usize, usize) {
        let first = ((self.top / ROW) as usize).saturating_sub(OVERSCAN);
        (first, (self.height / ROW).ceil() as usize + 2 * OVERSCAN)
    }

    /// Whether this row is in the document.
    pub(super) fn shows(&self, row: RowKey) -> bool {
        self.rows.contains_key(&row)
    }

    /// What the rows in the document show.
    pub(super) fn models(&self) -> impl Iterator<Item = Arc<RowModel>> {
        self.rows.values().map(|held| held.slot.row.get_untracked())
    }

    pub(super) fn top(&self) -> f64 {
        self.top
    }

    pub(super) fn height(&self) -> f64 {
        self.height
    }

    /// Looks where the row went that must not move, and says where the table must be scrolled to keep it in its place:
    /// the row under the keyboard's hand, while it is seen, else the uppermost one.
    fn follow_anchor(&mut self, view: &TableView, hand: Option<(RowId, usize)>) -> Option<f64> {
        let place = |id| hand.filter(|(hand, _)| *hand == id).map(|(_, at)| at).or_else(|| view.position(id));
        let moved = self.anchor.and_then(|(id, was)| Some(place(id)? as f64 - was as f64));
        let top = moved.filter(|by| *by != 0.0).map(|by| (self.top + by * ROW).max(0.0));
        self.top = top.unwrap_or(self.top);
        // At the very top, what comes is wanted in sight.
        let first = (self.top / ROW) as usize;
        let seen = (self.top - ROW)..(self.top + self.height);
        let hand = hand.filter(|(_, at)| seen.contains(&(*at as f64 * ROW)));
        self.anchor = hand.or_else(|| view.window(first, 1).first().map(|id| (*id, first)).filter(|_| first > 0));
        top
    }
}

impl Page {
    /// The place changed: another kind, other columns, another order.
    pub(super) fn arrived(&mut self) {
        if !self.layout.fits(&self.schema(), self.route.wide) {
            self.lay_out();
        }
        let now = clock::now();
        (self.shown.slow, self.shown.anchor, self.shown.awaits) = (0.0, None, Some(now));
        let (first, count) = self.shown.window();
        if let Some(view) = self.watches.view_mut() {
            view.seek(first + count, || clock::now() - now < SEEKS);
        }
        self.present_shell();
        self.frames.hurry();
    }

    /// What does not wait for a drain.
    pub(super) fn present_shell(&mut self) {
        put(self.screen.route, self.route.clone());
        let in_view = TableSchema::of(&self.kinds());
        let is_known = !in_view.kinds().is_empty();
        let title = if is_known { in_view.title() } else { self.unknown_title() };
        put(self.screen.subject, Subject { title, namespaced: !is_known || in_view.is_namespaced() });
        self.present_columns();
        self.present_rail(clock::now());
    }

    /// What the table is called while the server has nothing of what is asked for.
    fn unknown_title(&self) -> String {
        self.catalog
            .gone(&self.route.resource)
            .map_or_else(|| self.route.resource.clone(), |kind| kind.title.to_owned())
    }

    /// The worst of the healths in view. Who waits for columns is not connected yet.
    pub(super) fn health(&self, now: f64) -> Option<Health> {
        let waits = self.definitions.awaits_in_view();
        let known = self.watches.health(&self.informers, now)?;
        worst([known].into_iter().chain(waits.then_some(Health::Connecting)))
    }

    /// The columns, as they are arranged.
    pub(super) fn present_columns(&self) {
        put(
            self.screen.heads,
            heads(&self.layout, self.route.order(self.layout.schema()), !self.route.sort.is_empty()),
        );
        put(self.screen.hands.columns, self.layout.choices(&self.arrangement));
        put(self.screen.template, self.layout.template());
    }

    /// Shows what the last drain changed.
    pub(super) fn present(&mut self, now: f64) {
        let busy = self.pointer.is_busy(now);
        let (first, count) = self.shown.window();
        let mut draws = true;
        if let Some(view) = self.watches.view_mut() {
            let spent = || clock::now() - now;
            let waits = self.shown.awaits.is_some_and(|asked| now - asked < PATIENCE);
            let finds_none = |view: &TableView| waits && view.is_empty() && view.progress().is_some();
            let nothing_yet = |view: &TableView| view.seeks_the_first() || finds_none(view);
            let is_left = if nothing_yet(view) {
                view.seek(first + count, || spent() < SEEKS);
                // Until they are found, and where finding them has filled the frame, the old rows stay: any others
                // would be a guess. Those of another layout cannot stay.
                let is_full = nothing_yet(view) || spent() > SORTS;
                draws = !is_full || self.shown.generation != self.layout.generation;
                true
            } else if self.shown.awaits.is_some() {
                // To lay out a window of other rows fills a frame.
                view.progress().is_some()
            } else {
                view.work(|| spent() < SORTS)
            };
            if draws {
                self.shown.awaits = None;
            }
            if is_left {
                self.frames.hurry();
            }
            if busy { view.hold(first.min(view.len()), count) } else { view.release() }
        }
        if draws && self.present_rows(now) {
            self.meters.pages += 1;
        }
        self.paint(now);
        self.present_inspector(now);
        let state = self.health(now).map_or("", Health::word);
        if now - self.shown.slow >= SLOW || state != self.shown.state {
            (self.shown.slow, self.shown.state) = (now, state);
            self.present_connection(now);
            self.present_watches(now);
            self.present_rail(now);
            self.present_pipeline(now);
            self.present_notices(now);
            self.present_verified();
            self.present_linger();
            self.present_hands(now);
        }
    }

    /// The rows of the window. Whether any of them changed.
    fn present_rows(&mut self, now: f64) -> bool {
        let selected = self.selected_number();
        let Some(view) = self.watches.view() else { return self.present_nothing() };
        let cursor = &mut self.hands.cursor;
        let hand = cursor.settle(view).and_then(|at| Some((cursor.row()?.id, at)));
        let cursor = *cursor;
        if let Some(top) = self.shown.follow_anchor(view, hand) {
            put(self.screen.length, view.len());
            put(self.screen.scroll, top);
        }
        let wall = clock::wall();
        let (first, count) = self.shown.window();
        let first = first.min(view.len());
        let filter = view.filtered();
        let mut known = std::mem::take(&mut self.shown.rows);
        if std::mem::replace(&mut self.shown.generation, self.layout.generation) != self.layout.generation {
            // An element has the cells of its layout.
            known.clear();
        }
        let window = view.window(first, count).into_iter().enumerate();
        let rows = window.filter_map(|(at, id)| Some((first + at + 1, id, view.row(id)?)));
        let rows: Vec<_> =
            rows.map(|(rank, id, row)| (rank, id, row, known.remove(&RowKey { id, born: row.born }))).collect();
        // In their order in the document, where rows of another order take them over as they stand.
        let mut left: Vec<Held> = known.into_values().collect();
        left.sort_unstable_by_key(|held| held.made_of.rank);
        let mut left = left.into_iter();
        let mut changed = false;
        let mut slots = Vec::with_capacity(rows.len());
        for (rank, id, row, held) in rows {
            let is_selected = selected.as_ref().is_some_and(|(kind, key)| row.is_of(*kind, key));
            let look = Look { selected: is_selected, hand: cursor.on(RowKey { id, born: row.born }) };
            // A quarter of the rows tells its ages anew at a time: all at once would be the longest task of all.
            let second = ((now + 250.0 * (rank % 4) as f64) / 1000.0) as i64;
            let made_of = MadeOf { version: row.version, second, rank, look, filter };
            let held = match held {
                Some(held) if held.made_of == made_of => held,
                held => {
                    let before = held.as_ref().map(|held| (held.slot.row.get_untracked(), held.made_of.version));
                    let before = before.as_ref().map(|(model, version)| Seen {
                        model,
                        changed: (*version != row.version).then_some(row.changed),
                    });
                    let shown = ShownRow { view, id, row, rank, look, before, wall, now };
                    let model = row_model(&mut self.layout, shown);
                    let slot = match held.or_else(|| left.next()) {
                        Some(Held { slot, .. }) => {
                            if slot.row.with_untracked(|shown| **shown != model) {
                                slot.row.set(Arc::new(model));
                                changed = true;
                            }
                            slot
                        }
                        None => {
                            self.shown.elements += 1;
                            changed = true;
                            Slot { id: self.shown.elements, row: ArcRwSignal::new(Arc::new(model)) }
                        }
                    };
                    Held { slot, made_of }
                }
            };
            slots.push(held.slot.clone());
            self.shown.rows.insert(RowKey { id, born: row.born }, held);
        }
        put(self.screen.progress, view.progress().map_or_else(String::new, progress));
        put(self.screen.length, view.len());
        put(self.screen.unplaced, view.unplaced());
        put(self.screen.template, self.layout.template());
        put(self.screen.window, WindowModel { first, slots });
        self.present_hand();
        put(self.screen.empty, self.empty(now));
        changed
    }

    /// The server has no kind that is called so, or has not said yet what it has.
    fn present_nothing(&mut self) -> bool {
        let (state, words) = self.absence();
        self.shown.rows.clear();
        put(self.screen.length, 0);
        put(self.screen.unplaced, None);
        put(self.screen.progress, String::new());
        put(self.screen.waiting, 0);
        put(self.screen.minute, [0; 3]);
        put(self.screen.window, WindowModel::default());
        put(self.screen.count, String::from("0 / 0"));
        put(self.screen.connection, Connection { state, detail: String::new() });
        put(self.screen.trouble, Vec::new());
        put(self.screen.listing, None);
        put(self.screen.empty, Some(words));
        false
    }

    fn present_connection(&mut self, now: f64) {
        let (Some(view), Some(health)) = (self.watches.view(), self.health(now)) else { return };
        let (shown, total) = view.counts();
        put(self.screen.count, format!("{shown} / {total}"));
        put(self.screen.waiting, view.waiting());
        let informers = &self.informers;
        let state = health.word();
        let progress = self.listing.counts.progress(self.watches.members(), informers);
        let detail = match (health, progress, self.watches.age(informers, now)) {
            (Health::Listing, Some(progress), _) => progress.words(),
            (Health::Stale, Some(progress), Some(age)) if progress.listed > 0 => {
                format!("{}, relist {}", seconds(age), progress.words())
            }
            (Health::Live | Health::Stale | Health::Forbidden | Health::Stopped, _, Some(age)) => seconds(age),
            _ => String::new(),
        };
        put(self.screen.connection, Connection { state, detail });
        self.present_listing(progress, now);
        let mut troubles: Vec<Trouble> =
            self.watches.members().iter().filter_map(|watched| trouble(watched, informers, now)).collect();
        // Until the server has said what it has, nothing is known to be missing.
        if self.catalog.is_discovered() {
            troubles.extend(self.route.left_out(&self.catalog).into_iter().map(left_out));
        }
        put(self.screen.trouble, troubles);
        let Some(timeline) = self.watches.timeline() else { return };
        let counts = timeline.counts_since(now - 60_000.0);
        let minute = [MarkType::Added, MarkType::Updated, MarkType::Deleted].map(|mark_type| counts.of(mark_type));
        put(self.screen.minute, minute);
    }

    /// The document's title: what is looked at, for a row of tabs.
    pub(super) fn present_title(&self) {
        let Some(document) = super::document() else { return };
        let schema = self.layout.schema();
        let subject = match &self.selected {
            Some((kind, key)) if schema.is_several() => format!("{} {key}", kind.resource.kind),
            Some((_, key)) => key.to_string(),
            None if self.watches.view().is_some() => {
                format!("{} {}", schema.title(), grouped(self.watches.items(&self.informers) as u64))
            }
            None if self.kinds().is_empty() => self.route.resource.clone(),
            None => TableSchema::of(&self.kinds()).title(),
        };
        let title = format!("{subject} · kubechurn");
        if document.title() != title {
            document.set_title(&title);
        }
    }

    fn present_pipeline(&mut self, now: f64) {
        let informers = self.informers.iter().map(|(_, informer)| informer);
        let ledger = informers.clone().fold(Ledger::default(), |sum, informer| sum.plus(informer.ledger()));
        let (keys, deltas) = informers
            .clone()
            .map(SharedInformer::queue)
            .fold((0, 0), |(keys, deltas), queue| (keys + queue.len(), deltas + queue.queued()));
        let sample = Sample {
            at: now,
            frames: ledger.frames,
            bytes: ledger.bytes,
            deltas: ledger.applied + ledger.coalesced,
            applied: ledger.applied,
            pages: self.meters.pages,
        };
        let rates = self.meters.take(sample);
        let history = self.watches.timeline_bytes();
        // Each watch has its own: of several, none is that of the table.
        let mut in_view = self.watches.members().iter().flat_map(|watched| watched.informers(&self.informers));
        let alone = in_view.next().filter(|_| in_view.next().is_none());
        let version = alone.map(|informer| informer.reflector().resource_version().to_string());
        let watches = self.informers.len();
        let pipeline = Pipeline {
            listed: grouped(ledger.replaced),
            frames: grouped(rates.frames.round() as u64),
            keys: grouped(keys as u64),
            deltas: grouped(deltas),
            ratio: format!("{:.1}", rates.folded),
            page: format!("{:.0}", rates.pages),
            version: version.unwrap_or_default(),
            watches: format!("{watches} {}", if watches == 1 { "watch" } else { "watches" }),
            rate: bytes(rates.bytes),
            memory: {
                let (versions, budget) = self.history.bytes();
                let [marks, versions, budget] = [history, versions, budget].map(|bytes| bytes as f64 / 1e6);
                let most = self.memory.budget() as f64 / 1e6;
                let memory = memory::taken() as f64 / 1e6;
                // The most telling first: a narrow window cuts off the rest.
                format!("memory {memory:.0}/{most:.0} MB · versions {versions:.1}/{budget:.0} · marks {marks:.1}")
            },
            balanced: self.is_balanced(),
            ledger: self.sums(),
        };
        put(self.screen.pipeline, pipeline);
    }
}

impl Page {
    /// Why there is no row, once that is known.
    fn empty(&self, now: f64) -> Option<String> {
        let view = self.watches.view()?;
        if !view.is_empty() {
            return None;
        }
        let (schema, route) = (self.layout.schema(), &self.route);
        let place =
            EmptyTable { schema, route, known: self.watches.items(&self.informers), works: view.progress().is_some() };
        empty(place, self.health(now)?)
    }
}
