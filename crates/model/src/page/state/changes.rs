//! Tells what changed: reads what the recorder has of each change, a share of each frame's time, and shows the feed.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use kubechurn_changes::feed::{Entry, EntryId, Subject};
use kubechurn_changes::filter::Filter;
use kubechurn_changes::findings::Finding;
use kubechurn_changes::line::{Line, Received};
use kubechurn_client::api::object::ObjectKey;
use kubechurn_client::api::resource::ApiResource;

use crate::page::changes::{CardModel, Changes, FeedCommand, FeedFrame, FeedRow, FeedWindow, Place, line_of, row_of};
use crate::page::environment::Environment;
use crate::page::route::Route;
use crate::page::state::Page;
use crate::page::state::cursor::Pointer;
use crate::timeline::mark::grouped;
use kubechurn_columns::kinds::Kind;

/// How long a frame may tell changes while the feed is in view, in milliseconds.
const SHARE: f64 = 8.0;
/// The same while only a filter is watched.
const WATCHED_SHARE: f64 = 3.0;
/// The same while nobody waits for it, and only loops and fights are looked for. Of a thousand writes a second all are told in
/// that time; where there are more, the page has enough to do.
const QUIET_SHARE: f64 = 1.0;
/// What an empty feed says while the recorder is off.
const OFF: &str = "The recorder is off, so that no change is told, no loop or fight is found, and no watched filter is told of. \
                   The menu Table of a kind gives it memory again.";
/// How many changes may wait without a word: they are told within a moment.
const FEW: usize = 100;
/// How many changes are read between two readings of the clock.
const BATCH: usize = 8;
/// The name under which the browser stores which fields are noise.
const NOISE: &str = "kubechurn.noise";

/// The feed, and what acts on it.
#[derive(Debug, Default)]
pub(super) struct ChangesState {
    pub(super) feed: Changes,
    pointer: Pointer,
    /// When the page began to receive changes, in milliseconds.
    pub(super) began: f64,
    /// When the counts of the chosen stretch of time were shown last.
    pub(super) counted: f64,
    /// The names of kinds, each kept once.
    kinds: FxHashMap<&'static str, Arc<str>>,
}

impl ChangesState {
    /// A feed of a page that begins now, in milliseconds.
    pub(super) fn new(began: f64) -> ChangesState {
        ChangesState { began, ..ChangesState::default() }
    }

    fn kind(&mut self, kind: &'static str) -> Arc<str> {
        Arc::clone(self.kinds.entry(kind).or_insert_with(|| kind.into()))
    }

    /// When the rows are let go, in milliseconds, if they are held.
    pub(super) fn rests_at(&self) -> Option<f64> {
        self.pointer.rests_at()
    }
}

impl Page {
    /// Reads what the user called noise on earlier visits.
    pub(super) fn read_noise(&mut self, env: &dyn Environment) {
        if let Some(text) = env.stored(NOISE) {
            self.changes.feed.read_marks(&text);
        }
    }

    /// Tells changes that wait, within this frame's share of time. Returns whether some are left.
    pub(super) fn tell_changes(&mut self, env: &dyn Environment) -> bool {
        let end = env.now()
            + match () {
                () if self.place.route.changes => SHARE,
                () if self.alerts.is_watching() => WATCHED_SHARE,
                () => QUIET_SHARE,
            };
        while self.changes.feed.waiting() > 0 {
            for _ in 0..BATCH {
                let Some(sequence) = self.changes.feed.take_next() else { break };
                self.tell_change(sequence);
            }
            if env.now() >= end {
                break;
            }
        }
        self.notify(env);
        self.changes.feed.waiting() > 0
    }

    fn tell_change(&mut self, sequence: u64) {
        match self.line_of(sequence) {
            Some(line) => {
                self.alert_of(&line);
                self.changes.feed.tell(line);
            }
            None => self.changes.feed.skipped += 1,
        }
    }

    /// Reads a change; `None` if it is no longer kept.
    pub(super) fn line_of(&mut self, sequence: u64) -> Option<Line> {
        let told = self.watching.history.told(sequence)?;
        let received = Received {
            seq: sequence,
            at: told.at,
            kind: self.changes.kind(told.resource.kind),
            key: told.key,
            uid: told.uid,
            delta_type: told.delta_type,
            old: told.old.as_deref(),
            new: told.new.as_deref(),
        };
        let line = Line::new(received, &self.changes.feed.marks);
        Some(Line { cluster: self.cluster_of(&told.resource), ..line })
    }

    /// What the cluster of a resource is called, on a page that knows several; else nothing.
    fn cluster_of(&self, resource: &ApiResource) -> &'static str {
        match resource.cluster {
            _ if self.place.catalog.clusters().is_empty() => "",
            "" => self.place.home,
            cluster => cluster,
        }
    }

    /// The words after what is said of a change, where several clusters are in view: in which it was.
    fn in_cluster(&self, sequence: Option<u64>) -> String {
        let of = sequence.and_then(|sequence| self.watching.history.of_number(sequence));
        match of.map_or("", |of| self.cluster_of(&of.resource)) {
            cluster if !cluster.is_empty() && self.columns.layout.schema().has_clusters() => format!(", in {cluster}"),
            _ => String::new(),
        }
    }

    /// The feed's filter, as the address has it.
    pub(super) fn feed_filter(&self) -> Filter {
        let text = if self.place.route.changes { &*self.place.route.text } else { "" };
        Filter::parse(text).unwrap_or_default()
    }

    /// Filters the feed. A filter that cannot be read lets everything pass, and the field says so.
    pub(super) fn filter_feed(&mut self) {
        let parsed = Filter::parse(&self.place.route.text);
        self.out.view.header.filter_error.put(parsed.as_ref().err().map(ToString::to_string));
        self.changes.feed.filter(&parsed.unwrap_or_default());
    }

    pub(super) fn command_feed(&mut self, command: FeedCommand, now: f64) {
        match command {
            FeedCommand::Scroll { top, height, width } => self.changes.feed.scroll(top, height, width),
            FeedCommand::Pointer(over) => self.changes.pointer.over_table(over, now),
            FeedCommand::Newest => {
                self.changes.pointer.over_table(false, now);
                self.changes.feed.scroll_to_newest();
                let times = *self.out.view.feed.newest + 1;
                self.out.view.feed.newest.put(times);
            }
            FeedCommand::Open(id) => self.changes.feed.turn(id),
            FeedCommand::Noise(id) => {
                if let Some(mark) = self.changes.feed.call_noise(id) {
                    self.changes.feed.renew();
                    self.keep_noise();
                    self.read_span_anew();
                    self.tell(&format!("{} of {} is folded as noise from now on.", mark.path, mark.kind), now);
                }
            }
            FeedCommand::NoNoise(number) => {
                let filter = self.feed_filter();
                self.changes.feed.call_no_noise(number, filter);
                self.keep_noise();
                self.read_span_anew();
            }
        }
    }

    fn keep_noise(&mut self) {
        let text = self.changes.feed.written_marks();
        self.store(NOISE, Some(&*text).filter(|text| !text.is_empty()));
    }

    /// Shows the feed, if it is in view. Rows stay in place while the user acts on them, or looks at older ones.
    pub(super) fn present_feed(&mut self, now: f64, env: &dyn Environment) {
        let is_held = self.changes.pointer.is_busy(now) || !self.changes.feed.is_at_newest();
        self.out.view.feed.shown.put(self.place.route.changes);
        self.present_span(now, env);
        if !self.place.route.changes {
            return;
        }
        if !is_held {
            self.changes.feed.renew();
        }
        let feed = &self.changes.feed;
        let (first, places) = feed.window();
        let rows: Vec<FeedRow> = places.iter().map(|place| self.feed_row(*place, env)).collect();
        let window = FeedWindow { first, length: feed.len(), lines: feed.lines(), row: feed.row(), rows };
        let cards = feed.cards(now).into_iter().map(|(card, more)| {
            let since = seconds(&env.time_of_day(card.since));
            CardModel {
                title: card.title(),
                sentence: card.sentence(&since) + &self.in_cluster(card.seqs.last().copied()),
                count: match more {
                    0 => format!("{} changes", grouped(card.count)),
                    more => format!("{} changes; the same of {more} more", grouped(card.count)),
                },
                href: self.href_of(card.seqs.last().copied()),
                fails: matches!(card.finding, Finding::Stuck { .. }),
            }
        });
        let (cards, frame) =
            (cards.take(8).collect::<Vec<_>>(), self.feed_frame(if is_held { feed.newer() } else { 0 }, env));
        let view = &mut self.out.view.feed;
        view.window.put(window);
        view.cards.put(cards);
        view.frame.put(frame);
    }

    fn feed_frame(&self, newer: usize, env: &dyn Environment) -> FeedFrame {
        let feed = &self.changes.feed;
        let counts = feed.shown().counts();
        let kinds = self.kinds().len();
        let since = feed.shown().lines().next().map(|line| format!(" since {}", seconds(&env.time_of_day(line.at))));
        let plural =
            |count: usize, one: &str| format!("{} {one}{}", grouped(count as u64), if count == 1 { "" } else { "s" });
        let words = format!(
            "{}{}, {}",
            plural((counts.told + counts.noise) as usize, "change"),
            since.unwrap_or_default(),
            plural(kinds, "kind")
        );
        let waiting = match (feed.waiting(), feed.skipped) {
            // A few are read with the next frames.
            (0..FEW, 0) => String::new(),
            (waiting, 0) => format!("{} more are being read", grouped(waiting as u64)),
            (0, skipped) => format!("{} came too fast to be shown", grouped(skipped)),
            (waiting, skipped) => {
                format!(
                    "{} more are being read, {} came too fast to be shown",
                    grouped(waiting as u64),
                    grouped(skipped)
                )
            }
        };
        let is_off = self.watching.history.is_off();
        let waiting = if is_off { String::from("the recorder is off: no change is shown") } else { waiting };
        let noise = feed.marks.list().iter().map(|mark| format!("{} {}", mark.kind, mark.path)).collect();
        let empty = match (feed.is_empty(), self.place.route.text.is_empty()) {
            (false, _) => "",
            (true, _) if is_off => OFF,
            (true, true) if feed.span.is_some() => "Nothing that is kept changed in this time.",
            (true, true) => "Nothing has changed since this page began to watch. What changes will be shown here.",
            (true, false) => "No change passes the filter.",
        };
        FeedFrame { words, waiting, newer, noise, empty: empty.to_owned() }
    }

    fn feed_row(&self, place: Place, env: &dyn Environment) -> FeedRow {
        let feed = &self.changes.feed;
        let (Place::Entry(id) | Place::Line(id, _)) = place;
        let Some(entry) = feed.shown().entry(id) else { return gone(id) };
        match place {
            Place::Entry(_) => {
                let (time, href) = (env.time_of_day(entry.last_at), self.href_of_entry(entry));
                row_of(entry, feed.is_open(id), time, self.short(entry.seqs.last()), href)
            }
            Place::Line(_, sequence) => match feed.shown().line(sequence) {
                Some(line) => {
                    let time = env.time_of_day(line.at);
                    let row = line_of(id, line, entry.depth, time, self.short(Some(&sequence)));
                    FeedRow { href: self.href_of(Some(sequence)), ..row }
                }
                None => gone(id),
            },
        }
    }

    /// The kind of the object of a change.
    fn kind_of(&self, resource: ApiResource) -> Option<&'static Kind> {
        self.place.catalog.of_resource(&resource)
    }

    fn short(&self, sequence: Option<&u64>) -> &'static str {
        let of = sequence.and_then(|sequence| self.watching.history.of_number(*sequence));
        let kind = of.and_then(|of| self.kind_of(of.resource));
        let schema = self.columns.layout.schema();
        kind.map_or("", |kind| schema.number(kind).map_or(kind.resource.kind, |number| schema.short(number)))
    }

    fn href_of_entry(&self, entry: &Entry) -> String {
        match entry.subject {
            Subject::Object(_) => self.href_of(entry.seqs.last().copied()),
            _ => String::new(),
        }
    }

    /// Where the object of a change is looked at: beside the feed, with its changes.
    fn href_of(&self, sequence: Option<u64>) -> String {
        let of = sequence.and_then(|sequence| self.watching.history.of_number(sequence));
        of.and_then(|of| Some(self.beside(self.kind_of(of.resource)?, &of.key))).unwrap_or_default()
    }

    fn beside(&self, kind: &Kind, key: &ObjectKey) -> String {
        let route = &self.place.route;
        let there = if route.shows(kind.name) { route.clone() } else { route.showing(kind.name) };
        Route { tab: String::from("changes"), ..there.selecting(Some((kind.name, key))) }.fragment()
    }
}

/// A row whose changes are not kept any more.
fn gone(id: EntryId) -> FeedRow {
    FeedRow { id, what: "notice", words: vec![(String::from("no longer kept"), "")], ..FeedRow::default() }
}

/// A time of day to the second.
pub(super) fn seconds(time: &str) -> String {
    time.chars().take("13:04:05".len()).collect()
}
