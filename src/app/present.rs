//! From the page's state to the screen's signals: what a frame shows.

use leptos::prelude::{ArcRwSignal, Set, WithUntracked};
use rustc_hash::FxHashMap;

use crate::api::cell::Tone;
use crate::api::time::{Timestamp, write_human_duration};
use crate::app::Page;
use crate::app::layout::{Layout, Source};
use crate::app::meters::Sample;
use crate::browser::clock;
use crate::cache::delta::DeltaType;
use crate::cache::factory::SharedInformerFactory;
use crate::cache::ledger::Ledger;
use crate::cache::reflector::Health;
use crate::cache::shared_informer::SharedInformer;
use crate::page::report;
use crate::page::route::Route;
use crate::page::watched::Watched;
use crate::table::order::RowId;
use crate::table::view::{Row, TableView};
use crate::timeline::mark::{MarkType, grouped};
use crate::ui::screen::{
    CellModel, Connection, Pipeline, RailItem, RowModel, Slot, Subject, Trouble, WindowModel, put,
};
use crate::ui::table::ROW;

/// Rows above and below the visible ones that are in the document too.
const OVERSCAN: usize = 6;
/// How often counts, ages and rates are renewed, in milliseconds: all in one frame, for each such frame lays out
/// the page's head and foot.
const SLOW: f64 = 500.0;
/// How long a changed cell stays marked, in seconds of the wall clock.
const MARKED: i64 = 2;
/// How long a row counts as just come.
const FRESH: f64 = 2_000.0;
/// How long a deleted row takes to fade by a step.
const FADES: f64 = 2_500.0;

/// A slot's signal, and what it was made of.
struct Held {
    row: ArcRwSignal<RowModel>,
    version: u64,
    second: i64,
    rank: usize,
    selected: bool,
}

/// What the table showed last.
#[derive(Default)]
pub(super) struct Shown {
    top: f64,
    /// The uppermost row, and where it stood: it stays where it is while rows come and go above it.
    anchor: Option<(RowId, usize)>,
    height: f64,
    slots: FxHashMap<(u32, u64, u64), Held>,
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
    /// Looks where the uppermost row went, and says where the table must be scrolled to keep it in its place.
    fn follow_anchor(&mut self, view: &TableView) -> Option<f64> {
        let moved = self.anchor.and_then(|(id, was)| Some(view.position(id)? as f64 - was as f64));
        let top = moved.filter(|by| *by != 0.0).map(|by| self.top + by * ROW);
        self.top = top.unwrap_or(self.top);
        // At the very top, what comes is wanted in sight.
        let first = (self.top / ROW) as usize;
        self.anchor = (first > 0).then(|| view.window(first, 1).first().map(|id| (*id, first))).flatten();
        top
    }
}

impl Page {
    /// The place changed: another kind, other columns, another order.
    pub(super) fn arrived(&mut self) {
        let kind = self.kind();
        if !self.layout.fits(kind, &self.route) {
            let generation = self.layout.generation + 1;
            self.layout = Layout::of(kind, &self.route);
            self.layout.generation = generation;
        }
        (self.shown.slow, self.shown.anchor) = (0.0, None);
        self.present_shell();
        self.frames.request();
    }

    /// What does not wait for a drain.
    pub(super) fn present_shell(&mut self) {
        put(self.screen.route, self.route.clone());
        let title = self.kind().map_or_else(|| self.route.resource.clone(), |kind| kind.title.to_owned());
        let namespaced = self.kind().is_none_or(|kind| kind.resource.namespaced);
        put(self.screen.subject, Subject { title, namespaced });
        put(self.screen.heads, self.layout.heads(self.order(), !self.route.sort.is_empty()));
        put(self.screen.template, self.layout.template());
        self.present_rail(clock::now());
    }

    /// Shows what the last drain changed.
    pub(super) fn present(&mut self, now: f64) {
        let busy = self.pointer.is_busy(now);
        if let Some(desk) = self.desk_mut() {
            let view = desk.view_mut();
            if busy { view.hold() } else { view.release() }
        }
        if self.present_rows(now) {
            self.meters.pages += 1;
        }
        self.paint(now);
        self.present_inspector(now);
        let state = self.desk().map_or("", |desk| report::state(desk.health(&self.informers, now)));
        if now - self.shown.slow >= SLOW || state != self.shown.state {
            (self.shown.slow, self.shown.state) = (now, state);
            self.present_connection(now);
            self.present_rail(now);
            self.present_pipeline(now);
            self.present_notices(now);
        }
    }

    /// The rows of the window. Whether any of them changed.
    fn present_rows(&mut self, now: f64) -> bool {
        let kind = self.kind();
        let desk = self.desks.first().filter(|watched| Some(watched.kind()) == kind);
        let Some(desk) = desk else { return self.present_nothing() };
        let view = desk.view();
        if let Some(top) = self.shown.follow_anchor(view) {
            put(self.screen.length, view.len());
            put(self.screen.scroll, top);
        }
        let wall = clock::wall();
        let first = ((self.shown.top / ROW) as usize).saturating_sub(OVERSCAN).min(view.len());
        let count = (self.shown.height / ROW).ceil() as usize + 2 * OVERSCAN;
        let generation = self.layout.generation;
        let mut changed = false;
        let mut slots = Vec::with_capacity(count);
        let mut kept = FxHashMap::with_capacity_and_hasher(count, Default::default());
        for (at, id) in view.window(first, count).into_iter().enumerate() {
            let Some(row) = view.row(id) else { continue };
            let (rank, selected) = (first + at + 1, self.selected.as_ref() == Some(&row.object.key));
            let slot = (id.0, row.born, generation);
            // A quarter of the rows tells its ages anew at a time: all at once would be the longest task of all.
            let second = ((now + 250.0 * (rank % 4) as f64) / 1000.0) as i64;
            let held = match self.shown.slots.remove(&slot) {
                Some(mut held) => {
                    let same =
                        (held.version, held.second, held.rank, held.selected) == (row.version, second, rank, selected);
                    if !same {
                        let before = held.row.with_untracked(Clone::clone);
                        let fresh_change = (held.version != row.version).then_some(row.changed);
                        let model =
                            row_model(&mut self.layout, row, rank, selected, Some((&before, fresh_change)), wall, now);
                        if model != before {
                            held.row.set(model);
                            changed = true;
                        }
                        (held.version, held.second, held.rank, held.selected) = (row.version, second, rank, selected);
                    }
                    held
                }
                None => {
                    changed = true;
                    let model = row_model(&mut self.layout, row, rank, selected, None, wall, now);
                    let row_signal = ArcRwSignal::new(model);
                    Held { row: row_signal, version: row.version, second, rank, selected }
                }
            };
            slots.push(Slot { id: slot, row: held.row.clone() });
            kept.insert(slot, held);
        }
        self.shown.slots = kept;
        put(self.screen.length, view.len());
        put(self.screen.template, self.layout.template());
        put(self.screen.window, WindowModel { first, slots });
        put(self.screen.empty, empty(desk, &self.informers, &self.route, now));
        changed
    }

    /// The server has no kind that is called so, or has not said yet what it has.
    fn present_nothing(&mut self) -> bool {
        let name = &self.route.resource;
        let (state, words) = match self.catalog.is_discovered() {
            false => ("connecting", format!("Looking for “{name}” …")),
            true => ("stopped", format!("This server has no kind “{name}” that can be watched.")),
        };
        self.shown.slots.clear();
        put(self.screen.length, 0);
        put(self.screen.window, WindowModel::default());
        put(self.screen.count, String::from("0 / 0"));
        put(self.screen.connection, Connection { state, detail: String::new() });
        put(self.screen.trouble, None);
        put(self.screen.empty, Some(words));
        false
    }

    fn present_connection(&mut self, now: f64) {
        let Some(watched) = self.desk() else { return };
        let (shown, total) = watched.view().counts();
        put(self.screen.count, format!("{shown} / {total}"));
        put(self.screen.waiting, watched.view().waiting());
        let informers = &self.informers;
        let health = watched.health(informers, now);
        let state = report::state(health);
        let detail = match (health, watched.listing(informers), watched.age(informers, now)) {
            (Health::Listing, Some(count), _) if count > 0 => format!("{} so far", grouped(count as u64)),
            (Health::Live | Health::Stale | Health::Forbidden | Health::Stopped, _, Some(age)) => seconds(age),
            _ => String::new(),
        };
        put(self.screen.connection, Connection { state, detail });
        put(self.screen.trouble, trouble(watched, informers, health, now));
        let counts = watched.timeline().counts_since(now - 60_000.0);
        let minute = [MarkType::Added, MarkType::Updated, MarkType::Deleted].map(|mark_type| counts.of(mark_type));
        put(self.screen.minute, minute);
    }

    fn present_rail(&mut self, now: f64) {
        let items = self.catalog.kinds().map(|kind| {
            let watched = self.desks.iter().find(|watched| watched.kind() == kind);
            RailItem {
                name: kind.name,
                heading: kind.heading,
                title: kind.title,
                current: self.route.resource == kind.name,
                pinned: self.route.pinned.iter().any(|pinned| pinned == kind.name),
                state: watched.map_or("", |watched| report::state(watched.health(&self.informers, now))),
                count: watched.map_or_else(String::new, |watched| grouped(watched.items(&self.informers) as u64)),
                spark: watched.map_or_else(String::new, |watched| spark(watched, now)),
                href: self.route.showing(kind.name).fragment(),
            }
        });
        put(self.screen.rail, items.collect());
        self.present_title();
    }

    /// The document's title: what is looked at, for a row of tabs.
    fn present_title(&self) {
        let Some(document) = super::document() else { return };
        let subject = match (&self.selected, self.desk(), self.kind()) {
            (Some(key), ..) => key.to_string(),
            (None, Some(desk), _) => format!("{} {}", desk.kind().title, grouped(desk.items(&self.informers) as u64)),
            (None, None, kind) => kind.map_or_else(|| self.route.resource.clone(), |kind| kind.title.to_owned()),
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
        let history: usize = self.desks.iter().map(|desk| desk.timeline().bytes()).sum();
        let versions = self.desk().and_then(|desk| desk.informers(&self.informers).next());
        let version = versions.map(|informer| informer.reflector().resource_version().to_string());
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
                let memory = bytes_of(memory());
                format!("versions {versions:.1} of {budget:.0} MB · marks {marks:.1} MB · memory {memory}")
            },
            balanced: informers.clone().all(SharedInformer::is_balanced),
            ledger: sums(&ledger, deltas),
        };
        put(self.screen.pipeline, pipeline);
    }
}

/// What a row shows. `before` is what it showed last, and which columns a change since then touched.
fn row_model(
    layout: &mut Layout,
    row: &Row,
    rank: usize,
    selected: bool,
    before: Option<(&RowModel, Option<u32>)>,
    wall: Timestamp,
    now: f64,
) -> RowModel {
    let object = &row.object;
    let sources = layout.sources.clone();
    let cells = sources.into_iter().enumerate().map(|(at, source)| {
        let mut text = String::new();
        let mut tone = Tone::Plain;
        let mut flashes = false;
        match source {
            Source::Namespace => text.push_str(&object.key.namespace),
            Source::Name => text.push_str(&object.key.name),
            Source::Cell(cell) => {
                if let Some(value) = object.cells.get(cell) {
                    value.write(wall, &mut text);
                    tone = value.tone();
                }
                let changed = before.and_then(|(_, changed)| changed).unwrap_or(0);
                flashes = cell < 32 && changed & (1 << cell) != 0;
            }
            Source::Changed => {
                if row.deleted_at.is_some() {
                    text.push_str("deleted ");
                }
                write_human_duration(((now - row.changed_at) / 1000.0).max(0.0) as i64, &mut text);
            }
        }
        let fits = layout.make_room(at, &text);
        let since = before.and_then(|(model, _)| model.cells.get(at)).and_then(|cell| cell.marked_at);
        let marked_at = if flashes { Some(wall.0) } else { since.filter(|since| wall.0 - since < MARKED) };
        CellModel { whole: (!fits).then(|| text.clone()), text, tone: tone_name(tone), marked_at }
    });
    let cells = cells.collect();
    RowModel {
        rank,
        key: object.key.clone(),
        uid: object.uid.clone(),
        state: if row.deleted_at.is_some() { "deleted" } else { "live" },
        fresh: row.delta == DeltaType::Added && now - row.changed_at < FRESH,
        fading: row.deleted_at.map_or(0, |deleted_at| ((now - deleted_at) / FADES) as u8),
        selected,
        flaw: object.flaw.is_some(),
        delta: match row.delta {
            DeltaType::Added => ("Added", "▲"),
            DeltaType::Updated => ("Updated", "●"),
            DeltaType::Deleted => ("Deleted", "✕"),
            DeltaType::Replaced => ("Replaced", "◆"),
            DeltaType::Sync => ("Sync", "◇"),
        },
        cells,
    }
}

fn tone_name(tone: Tone) -> &'static str {
    match tone {
        Tone::Plain => "",
        Tone::Good => "good",
        Tone::Wait => "wait",
        Tone::Bad => "bad",
    }
}

/// Why there is no row, once that is known.
fn empty(watched: &Watched, informers: &SharedInformerFactory, route: &Route, now: f64) -> Option<String> {
    if !watched.view().is_empty() {
        return None;
    }
    let title = watched.kind().title;
    let place = match &*route.namespaces {
        _ if !watched.kind().resource.namespaced => String::new(),
        [] => String::from(" in any namespace"),
        namespaces => format!(" in {}", namespaces.join(", ")),
    };
    match watched.health(informers, now) {
        Health::Connecting => Some(format!("Connecting, to list {title}{place} …")),
        Health::Listing => Some(format!("Listing {title}{place} …")),
        _ if watched.items(informers) > 0 => Some(format!("No {title}{place} match “{}”.", route.text)),
        Health::Live if !route.labels.is_empty() || !route.fields.is_empty() => {
            let asked = [("labels", &route.labels), ("fields", &route.fields)];
            let asked = asked.into_iter().filter(|(_, selector)| !selector.is_empty());
            let asked: Vec<String> = asked.map(|(what, selector)| format!("{what} {selector}")).collect();
            Some(format!("No {title}{place} with {}.", asked.join(" and ")))
        }
        Health::Live => Some(format!("There are no {title}{place}.")),
        _ => Some(format!("It is not known whether there are {title}{place}.")),
    }
}

/// What is wrong, in words for the user: what happened, to which resource, and what comes next.
fn trouble(watched: &Watched, informers: &SharedInformerFactory, health: Health, now: f64) -> Option<Trouble> {
    let complaint = watched.complaint(informers)?;
    let title = watched.kind().title;
    let scope = if complaint.namespace.is_empty() { String::new() } else { format!(" in {}", complaint.namespace) };
    let what = match health {
        Health::Forbidden if watched.items(informers) > 0 => format!("{title}{scope}: as listed, but not watched"),
        Health::Forbidden => format!("{title}{scope}: not allowed"),
        Health::Stopped => format!("{title}{scope}: refused"),
        Health::Stale => format!("{title}{scope}: stale"),
        _ => format!("{title}{scope}: waiting"),
    };
    let next = match complaint.retry_at {
        Some(at) if at > now => format!("next try in {}", seconds(at - now)),
        _ if health == Health::Stopped => String::from("not tried again by itself"),
        _ => String::from("trying now"),
    };
    Some(Trouble { state: report::state(health), what, words: complaint.words.to_owned(), next })
}

/// Seconds, to a tenth below ten; then as kubectl prints them.
pub(super) fn seconds(milliseconds: f64) -> String {
    if milliseconds < 9_950.0 {
        return format!("{:.1} s", milliseconds / 1000.0);
    }
    let mut text = String::new();
    write_human_duration((milliseconds / 1000.0) as i64, &mut text);
    text
}

/// A minute of a kind's churn as a path of 22 bars, 44 wide and 14 high.
fn spark(watched: &Watched, now: f64) -> String {
    const BARS: usize = 22;
    let timeline = watched.timeline();
    let step = 60_000.0 / BARS as f64;
    // Aligned to whole steps, so that bars move on and do not flicker.
    let end = (now / step).floor() * step;
    let mut sums = [0_u64; BARS];
    // A list is no churn, however many objects it brings.
    let churn = |since: f64| {
        let counts = timeline.counts_since(since);
        counts.of(MarkType::Added) + counts.of(MarkType::Updated) + counts.of(MarkType::Deleted)
    };
    let mut later = churn(end);
    for (at, sum) in sums.iter_mut().enumerate().rev() {
        let since = churn(end - step * (BARS - at) as f64);
        *sum = since.saturating_sub(later);
        later = since;
    }
    let most = sums.iter().copied().max().unwrap_or(0).max(1) as f64;
    let bars = sums.iter().enumerate().filter(|(_, sum)| **sum > 0).map(|(at, sum)| {
        let height = (*sum as f64 / most).sqrt() * 13.0 + 1.0;
        format!("M{} 14v-{height:.1}h1.5V14z", at * 2)
    });
    bars.collect()
}

fn bytes(per_second: f64) -> String {
    format!("{}/s", bytes_of(per_second))
}

fn bytes_of(bytes: f64) -> String {
    match bytes {
        bytes if bytes >= 1e6 => format!("{:.1} MB", bytes / 1e6),
        bytes => format!("{:.0} kB", bytes / 1e3),
    }
}

/// The program's memory in bytes; it never shrinks.
fn memory() -> f64 {
    (core::arch::wasm32::memory_size(0) * 65_536) as f64
}

/// The sums of the ledger, written out.
fn sums(ledger: &Ledger, queued: u64) -> String {
    format!(
        "frames {} = bookmarks {} + errors {} + malformed {} + events {}\n\
         events {} = watched {} + streamed {} + late {}\n\
         streamed {} + listed {} = replaced {} + merged {} + discarded {} + pending {} + malformed {}\n\
         deltas {} = applied {} + coalesced {} + queued {queued}",
        ledger.frames,
        ledger.bookmarks,
        ledger.errors,
        ledger.malformed,
        ledger.events,
        ledger.events,
        ledger.watched,
        ledger.streamed,
        ledger.late,
        ledger.streamed,
        ledger.listed,
        ledger.replaced,
        ledger.merged,
        ledger.discarded,
        ledger.pending,
        ledger.malformed_items,
        ledger.deltas(),
        ledger.applied,
        ledger.coalesced,
    )
}
