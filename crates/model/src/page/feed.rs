//! Tells what changed: reads what the recorder has of each change, a share of each frame's time, and shows the feed.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use kubechurn_changes::feed::{Entry, EntryId, Subject};
use kubechurn_changes::filter::Filter;
use kubechurn_changes::findings::Finding;
use kubechurn_changes::line::{Line, ReceivedChange};
use kubechurn_client::api::object::ObjectKey;
use kubechurn_client::api::resource::ApiResource;
use kubechurn_client::cache::reflector::Health;

use crate::feed::span::Reading;
use crate::feed::{CardModel, Changes, FeedCommand, FeedFrame, FeedPlace, FeedRow, FeedWindow, line_of, row_of};
use crate::navigation::route::Route;
use crate::page::alerts::Notifications;
use crate::page::context::Context;
use crate::page::environment::Environment;
use crate::table::pointer::Pointer;
use crate::timeline::mark::grouped;
use crate::timeline::scale::Window;
use crate::view::troubles;
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
/// How long a frame may read changes of the chosen time range, in milliseconds.
const SPAN_SHARE: f64 = 6.0;
/// How many changes of the range are read between two readings of the clock.
const SPAN_BATCH: usize = 4;
/// How often the counts are shown while changes are read, in milliseconds: they are sorted each time.
const SPAN_PACE: f64 = 200.0;
/// The name under which the browser stores which fields are noise.
const NOISE: &str = "kubechurn.noise";

/// The feed, and what acts on it.
#[derive(Debug, Default)]
pub(super) struct Feed {
    changes: Changes,
    pointer: Pointer,
    /// When the page began to receive changes, in milliseconds.
    began: f64,
    /// When the counts of the chosen stretch of time were shown last.
    counted: f64,
    /// The names of kinds, each kept once.
    kinds: FxHashMap<&'static str, Arc<str>>,
}

impl Feed {
    /// A feed of a page that begins now, with what the user called noise on earlier visits.
    pub(super) fn stored(env: &dyn Environment) -> Feed {
        let mut feed = Feed { began: env.now(), ..Feed::default() };
        if let Some(text) = env.stored(NOISE) {
            feed.changes.read_marks(&text);
        }
        feed
    }

    /// Notes that a change was recorded, which is read a moment later.
    pub(super) fn received(&mut self, sequence: u64, at: f64) {
        self.changes.received(sequence, at);
    }

    /// How many changes the feed has.
    pub(super) fn told(&self) -> u64 {
        self.changes.feed.counts().told
    }

    fn kind(&mut self, kind: &'static str) -> Arc<str> {
        Arc::clone(self.kinds.entry(kind).or_insert_with(|| kind.into()))
    }

    /// When the rows are let go, in milliseconds, if they are held.
    pub(super) fn rests_at(&self) -> Option<f64> {
        self.pointer.rests_at()
    }

    /// Reads changes that wait, within this frame's share of time. Returns whether some are left.
    pub(super) fn read_changes(&mut self, alerts: &mut Notifications, cx: &mut Context<'_>) -> bool {
        let end = cx.env.now()
            + match () {
                () if cx.navigation.route.changes => SHARE,
                () if alerts.is_watching() => WATCHED_SHARE,
                () => QUIET_SHARE,
            };
        while self.changes.waiting() > 0 {
            for _ in 0..BATCH {
                let Some(sequence) = self.changes.take_next() else { break };
                self.read_change(sequence, alerts, cx);
            }
            if cx.env.now() >= end {
                break;
            }
        }
        alerts.notify(cx);
        self.changes.waiting() > 0
    }

    fn read_change(&mut self, sequence: u64, alerts: &mut Notifications, cx: &Context<'_>) {
        match self.line_of(sequence, cx) {
            Some(line) => {
                alerts.look(&line, cx);
                self.changes.tell(line);
            }
            None => self.changes.skipped += 1,
        }
    }

    /// Reads a change; `None` if it is no longer kept.
    fn line_of(&mut self, sequence: u64, cx: &Context<'_>) -> Option<Line> {
        let told = cx.watching.history.change(sequence)?;
        let received = ReceivedChange {
            seq: sequence,
            at: told.at,
            kind: self.kind(told.resource.kind),
            key: told.key,
            uid: told.uid,
            delta_type: told.delta_type,
            old: told.old.as_deref(),
            new: told.new.as_deref(),
        };
        let line = Line::new(received, &self.changes.marks);
        Some(Line { cluster: cluster_of(&told.resource, cx), ..line })
    }

    /// Filters the feed. A filter that cannot be read lets everything pass, and the field says so.
    pub(super) fn filter(&mut self, cx: &mut Context<'_>) {
        let parsed = Filter::parse(&cx.navigation.route.text);
        cx.view.header.filter_error.put(parsed.as_ref().err().map(ToString::to_string));
        self.changes.filter(&parsed.unwrap_or_default());
    }

    pub(super) fn handle(&mut self, command: FeedCommand, cx: &mut Context<'_>) {
        match command {
            FeedCommand::Scroll { top, height, width } => self.changes.scroll(top, height, width),
            FeedCommand::Pointer(over) => self.pointer.over_table(over, cx.now),
            FeedCommand::Newest => {
                self.pointer.over_table(false, cx.now);
                self.changes.scroll_to_newest();
                let times = *cx.view.feed.newest + 1;
                cx.view.feed.newest.put(times);
            }
            FeedCommand::Open(id) => self.changes.turn(id),
            FeedCommand::Noise(id) => {
                if let Some(mark) = self.changes.call_noise(id) {
                    self.changes.renew();
                    self.store_noise(cx);
                    self.read_span_anew(cx);
                    cx.show_message(&format!("{} of {} is folded as noise from now on.", mark.path, mark.kind));
                }
            }
            FeedCommand::NoNoise(number) => {
                let filter = feed_filter(cx);
                self.changes.call_no_noise(number, filter);
                self.store_noise(cx);
                self.read_span_anew(cx);
            }
        }
    }

    fn store_noise(&self, cx: &mut Context<'_>) {
        let text = self.changes.written_marks();
        cx.store(NOISE, Some(&*text).filter(|text| !text.is_empty()));
    }

    /// Shows the feed, if it is in view. Rows stay in place while the user acts on them, or looks at older ones.
    pub(super) fn present(&mut self, cx: &mut Context<'_>) {
        let is_held = self.pointer.is_busy(cx.now) || !self.changes.is_at_newest();
        cx.view.feed.shown.put(cx.navigation.route.changes);
        self.present_span(cx);
        if !cx.navigation.route.changes {
            return;
        }
        if !is_held {
            self.changes.renew();
        }
        let feed = &self.changes;
        let (first, places) = feed.window();
        let rows: Vec<FeedRow> = places.iter().map(|place| self.row(*place, cx)).collect();
        let window = FeedWindow { first, length: feed.len(), lines: feed.lines(), row: feed.row(), rows };
        let cards = feed.cards(cx.now).into_iter().map(|(card, more)| {
            let since = seconds(&cx.env.time_of_day(card.since));
            CardModel {
                title: card.title(),
                sentence: card.sentence(&since) + &in_cluster(card.seqs.last().copied(), cx),
                count: match more {
                    0 => format!("{} changes", grouped(card.count)),
                    more => format!("{} changes; the same of {more} more", grouped(card.count)),
                },
                href: href_of(card.seqs.last().copied(), cx),
                fails: matches!(card.finding, Finding::Stuck { .. }),
            }
        });
        let (cards, frame) =
            (cards.take(8).collect::<Vec<_>>(), self.frame(if is_held { feed.newer() } else { 0 }, cx));
        let view = &mut cx.view.feed;
        view.window.put(window);
        view.cards.put(cards);
        view.frame.put(frame);
    }

    fn frame(&self, newer: usize, cx: &Context<'_>) -> FeedFrame {
        let feed = &self.changes;
        let counts = feed.shown().counts();
        let kinds = cx.navigation.kinds().len();
        let since = feed.shown().lines().next().map(|line| format!(" since {}", seconds(&cx.env.time_of_day(line.at))));
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
        let is_off = cx.watching.history.is_off();
        let waiting = if is_off { String::from("the recorder is off: no change is shown") } else { waiting };
        let noise = feed.marks.list().iter().map(|mark| format!("{} {}", mark.kind, mark.path)).collect();
        let empty = match (feed.is_empty(), cx.navigation.route.text.is_empty()) {
            (false, _) => "",
            (true, _) if is_off => OFF,
            (true, true) if feed.span.is_some() => "Nothing that is kept changed in this time.",
            (true, true) => "Nothing has changed since this page began to watch. What changes will be shown here.",
            (true, false) => "No change passes the filter.",
        };
        let empty = unreadable(cx).filter(|_| feed.is_empty()).unwrap_or_else(|| empty.to_owned());
        FeedFrame { words, waiting, newer, noise, empty }
    }

    fn row(&self, place: FeedPlace, cx: &Context<'_>) -> FeedRow {
        let feed = &self.changes;
        let (FeedPlace::Entry(id) | FeedPlace::Line(id, _)) = place;
        let Some(entry) = feed.shown().entry(id) else { return gone(id) };
        match place {
            FeedPlace::Entry(_) => {
                let (time, href) = (cx.env.time_of_day(entry.last_at), href_of_entry(entry, cx));
                row_of(entry, feed.is_open(id), time, short(entry.seqs.last(), cx), href)
            }
            FeedPlace::Line(_, sequence) => match feed.shown().line(sequence) {
                Some(line) => {
                    let time = cx.env.time_of_day(line.at);
                    let row = line_of(id, line, entry.depth, time, short(Some(&sequence), cx));
                    FeedRow { href: href_of(Some(sequence), cx), ..row }
                }
                None => gone(id),
            },
        }
    }

    /// Reads the stretch of time that the address names, unless that is done.
    pub(super) fn choose_span(&mut self, cx: &mut Context<'_>) {
        let chosen = cx.navigation.route.span;
        if self.changes.span.as_ref().map(Reading::window) != chosen {
            self.begin_span(chosen, cx);
        }
    }

    fn begin_span(&mut self, chosen: Option<Window>, cx: &mut Context<'_>) {
        let (filter, began) = (feed_filter(cx), self.began);
        let reading = chosen.map(|window| Reading::new(window, began, &self.changes.times, filter));
        self.changes.limit(reading);
        self.counted = 0.0;
        let times = *cx.view.feed.newest + 1;
        cx.view.feed.newest.put(times);
        *cx.repaints = true;
        cx.hurry();
    }

    /// Reads the stretch anew, because what counts as noise is another.
    pub(super) fn read_span_anew(&mut self, cx: &mut Context<'_>) {
        self.begin_span(cx.navigation.route.span, cx);
    }

    /// Reads changes of the stretch within a share of this frame's time. Returns whether some are left.
    pub(super) fn read_span(&mut self, cx: &mut Context<'_>) -> bool {
        // It is taken out while it is read, because reading a change needs the rest.
        let Some(mut reading) = self.changes.span.take() else { return false };
        let end = cx.env.now() + SPAN_SHARE;
        let mut is_left = true;
        while is_left {
            for _ in 0..SPAN_BATCH {
                let Some((sequence, is_own)) = reading.take_next(&self.changes.times) else {
                    is_left = false;
                    break;
                };
                let line = self.line_of(sequence, cx);
                reading.read(line, is_own);
            }
            if cx.env.now() >= end {
                break;
            }
        }
        self.changes.span = Some(reading);
        is_left
    }

    /// Shows the counts, if something was read since they were shown.
    pub(super) fn present_span(&mut self, cx: &mut Context<'_>) {
        let Some(reading) = &mut self.changes.span else {
            cx.view.feed.span.put(None);
            return;
        };
        let is_due = (cx.now - self.counted).abs() >= SPAN_PACE || reading.is_done(&self.changes.times);
        if is_due && reading.take_new() {
            self.counted = cx.now;
            let model = reading.model(&self.changes.times, |at| cx.env.time_of_day(at));
            cx.view.feed.span.put(Some(model));
        }
    }
}

/// What the cluster of a resource is called, on a page that knows several; else nothing.
fn cluster_of(resource: &ApiResource, cx: &Context<'_>) -> &'static str {
    match resource.cluster {
        _ if cx.navigation.catalog.clusters().is_empty() => "",
        "" => cx.navigation.home,
        cluster => cluster,
    }
}

/// The words after what is said of a change, where several clusters are in view: in which it was.
fn in_cluster(sequence: Option<u64>, cx: &Context<'_>) -> String {
    let of = sequence.and_then(|sequence| cx.watching.history.of_number(sequence));
    match of.map_or("", |of| cluster_of(&of.resource, cx)) {
        cluster if !cluster.is_empty() && cx.navigation.schema.has_clusters() => format!(", in {cluster}"),
        _ => String::new(),
    }
}

/// The feed's filter, as the address has it.
fn feed_filter(cx: &Context<'_>) -> Filter {
    let text = if cx.navigation.route.changes { &*cx.navigation.route.text } else { "" };
    Filter::parse(text).unwrap_or_default()
}

/// The kind of the object of a change.
fn kind_of(resource: ApiResource, cx: &Context<'_>) -> Option<&'static Kind> {
    cx.navigation.catalog.of_resource(&resource)
}

fn short(sequence: Option<&u64>, cx: &Context<'_>) -> &'static str {
    let of = sequence.and_then(|sequence| cx.watching.history.of_number(*sequence));
    let kind = of.and_then(|of| kind_of(of.resource, cx));
    let schema = &cx.navigation.schema;
    kind.map_or("", |kind| schema.number(kind).map_or(kind.resource.kind, |number| schema.short(number)))
}

fn href_of_entry(entry: &Entry, cx: &Context<'_>) -> String {
    match entry.subject {
        Subject::Object(_) => href_of(entry.seqs.last().copied(), cx),
        _ => String::new(),
    }
}

/// Where the object of a change is looked at: beside the feed, with its changes.
fn href_of(sequence: Option<u64>, cx: &Context<'_>) -> String {
    let of = sequence.and_then(|sequence| cx.watching.history.of_number(sequence));
    of.and_then(|of| Some(beside(kind_of(of.resource, cx)?, &of.key, cx))).unwrap_or_default()
}

fn beside(kind: &Kind, key: &ObjectKey, cx: &Context<'_>) -> String {
    let route = &cx.navigation.route;
    let there = if route.shows(kind.name) { route.clone() } else { route.showing(kind.name) };
    Route { tab: String::from("changes"), ..there.selecting(Some((kind.name, key))) }.fragment()
}

/// A row whose changes are not kept any more.
fn gone(id: EntryId) -> FeedRow {
    FeedRow { id, what: "notice", words: vec![(String::from("no longer kept"), "")], ..FeedRow::default() }
}

/// A time of day to the second.
pub(super) fn seconds(time: &str) -> String {
    time.chars().take("13:04:05".len()).collect()
}

/// What is said in place of changes where no kind in view can be read, and none has been.
fn unreadable(cx: &Context<'_>) -> Option<String> {
    let (watches, informers) = (&cx.watching.watches, &cx.watching.informers);
    let is_refused = |health| matches!(health, Health::Forbidden | Health::Unauthorized);
    let mut members = watches.members().iter();
    let first = watches.members().first()?;
    if !members.all(|watched| is_refused(watched.health(informers, cx.now)) && watched.items(informers) == 0) {
        return None;
    }
    let what = troubles(first, first.kind().title, false, informers, cx.now).into_iter().next()?.what;
    Some(match watches.members().len() - 1 {
        0 => format!("No change can be seen. {what}."),
        others => format!("No change of any of these {} kinds can be seen. {what}; and so on.", others + 1),
    })
}
