//! Reads what the recorder has of each change, a share of each frame's time, and shows in the feed what changed.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use kubechurn_changes::feed::{self, Entry, EntryId, Subject};
use kubechurn_changes::filter::Filter;
use kubechurn_changes::filter::pattern::FilterError;
use kubechurn_changes::findings::Card;
use kubechurn_changes::line::Line;
use kubechurn_changes::noise::{Mark, Marks};
use kubechurn_changes::past;
use kubechurn_client::api::uid::Uid;
use kubechurn_client::cache::reflector::Health;

use crate::feed::net::Net;
use crate::feed::span::Reading;
use crate::feed::wrong::Received;
use crate::feed::{
    Changes, FeedCommand, FeedFrame, FeedPlace, FeedRow, NoiseOffer, Piece, field_of, line_of, name_by_its_object,
    row_of,
};
use crate::history::who::joining;
use crate::history::{RecordedChange, is_lease};
use crate::navigation::route::Route;
use crate::page::alerts::Notifications;
use crate::page::command::Rows;
use crate::page::context::Context;
use crate::page::effect::{Effect, Focused};
use crate::page::environment::Environment;
use crate::page::links::{cluster_of, of_change};
use crate::page::net;
use crate::page::notes;
use crate::page::time_words::whole_second;
use crate::page::watching::Recorded;
use crate::page::who;
use crate::page::why::rollout;
use crate::page::wrong::Wrong;
use crate::table::cursor::Step;
use crate::table::pointer::Pointer;
use crate::timeline::mark::grouped;
use crate::timeline::scale::Window;
use crate::view::{ago, elsewhere_in_feed, troubles};
use crate::watches::missed::Absences;

/// How long a frame may read changes while the feed is in view, in milliseconds.
const SHARE: f64 = 8.0;
/// The same while only a filter is watched.
const WATCHED_SHARE: f64 = 3.0;
/// The same while nobody waits for it, and only loops and fights are looked for. Of a thousand writes a second all are read in
/// that time; where there are more, the page has enough to do.
const QUIET_SHARE: f64 = 1.0;
/// What an empty feed says while the recorder is off.
const OFF: &str = "The recorder is off, so that no change is listed, no loop or fight is found, and no watched filter notifies. \
                   The menu Table of a kind gives it memory again.";
/// How many changes may wait without a word: they are read within a moment.
const FEW: usize = 100;
/// How many changes are read between two readings of the clock.
const BATCH: usize = 8;
/// How long a frame may read changes of the chosen time range, in milliseconds.
const SPAN_SHARE: f64 = 6.0;
/// How many changes of the range are read between two readings of the clock.
const SPAN_BATCH: usize = 4;
/// How long a frame may read what objects say of their past, in milliseconds.
const PAST_SHARE: f64 = 6.0;
/// How long a frame may compare two moments, in milliseconds: the user waits for it.
const NET_SHARE: f64 = 12.0;
/// How much of a frame's time is for which fields of what differs were changed and changed back, in milliseconds.
const BACK_SHARE: f64 = 4.0;
/// How often the counts are shown while changes are read, in milliseconds: they are sorted each time.
const SPAN_PACE: f64 = 200.0;
/// The name under which the browser stores which fields are noise.
const NOISE: &str = "kubechurn.noise";
/// How long it is said what was called noise, in milliseconds. After that, the list of noise takes it back.
const UNDO: f64 = 12_000.0;

/// The feed, and what acts on it.
#[derive(Debug, Default)]
pub(super) struct Feed {
    changes: Changes,
    wrong: Wrong,
    pointer: Pointer,
    /// When the page began to receive changes, in milliseconds.
    began: f64,
    /// When the counts of the chosen stretch of time were shown last.
    counted: f64,
    /// What the user is asked to call noise: a field of each object of a kind, and of one alone.
    offered: Vec<Mark>,
    /// What was called noise last, and until when that is said.
    undo: Option<(Mark, f64)>,
    /// The number of what is known of who wrote, which the changes have.
    named: u64,
    /// The names of kinds, each kept once.
    kinds: FxHashMap<&'static str, Arc<str>>,
}

impl Feed {
    /// A feed of a page that begins now, with what the user called noise on earlier visits.
    pub(super) fn stored(env: &dyn Environment) -> Feed {
        let mut feed = Feed { began: env.now(), ..Feed::default() };
        env.stored(NOISE).iter().for_each(|text| feed.changes.read_marks(text));
        feed
    }

    /// The width and the height of what is seen, in pixels.
    pub(super) fn size(&self) -> (f64, f64) {
        self.changes.size()
    }

    /// Notes what was received: its state at once; and the change, if one was recorded, is read a moment later.
    pub(super) fn received(&mut self, recorded: Recorded, received: Received<'_>) {
        self.wrong.received(received);
        if let Some(sequence) = recorded.change {
            self.changes.received(sequence, received.now);
        }
        if let Some(sequence) = recorded.listed.filter(|_| !is_lease(&received.resource)) {
            self.changes.past.listed(sequence);
        }
    }

    /// What is wrong now, and what was at the time that is shown.
    pub(super) fn wrong(&self) -> &Wrong {
        &self.wrong
    }

    /// The loops and fights at a time.
    pub(super) fn cards(&self, now: f64) -> Vec<(Card, usize)> {
        self.changes.cards(now)
    }

    /// The fields that the user called noise.
    pub(super) fn marks(&self) -> &Marks {
        &self.changes.marks
    }

    /// The number of the last change of the row in hand.
    pub(super) fn sequence_in_hand(&self) -> Option<u64> {
        match self.changes.in_hand()? {
            FeedPlace::Line(_, sequence) | FeedPlace::Field(_, sequence, _) => Some(sequence),
            place => self.changes.shown().entry(place.entry())?.seqs.last().copied(),
        }
    }

    /// Keeps the rows as they are now, or lets them go on.
    pub(super) fn pause(&mut self, paused: bool) {
        self.changes.pause(paused);
    }

    /// The feed whose rows are shown.
    pub(super) fn rows(&self) -> &kubechurn_changes::feed::Feed {
        self.changes.shown()
    }

    /// What is different between two moments, once that is known, if the feed shows it.
    pub(super) fn net(&self) -> Option<&Net> {
        self.changes.net.as_ref().filter(|net| net.is_complete())
    }

    /// How many changes the feed has, while another moment is shown of those that had come.
    pub(super) fn total(&self) -> u64 {
        let until = self.changes.span.as_ref().filter(|reading| reading.is_until());
        let feed = until.map_or(&self.changes.feed, |reading| &reading.feed);
        feed.counts().significant
    }

    /// How many changes are still to be read, those of the moment that is shown included.
    pub(super) fn unread(&self) -> usize {
        let left = self.changes.span.as_ref().map_or(0, |reading| reading.left(&self.changes.times));
        self.changes.waiting() + left as usize
    }

    fn kind(&mut self, kind: &'static str) -> Arc<str> {
        Arc::clone(self.kinds.entry(kind).or_insert_with(|| kind.into()))
    }

    /// When the rows are let go, if they are held, or what was said of noise goes; in milliseconds.
    pub(super) fn rests_at(&self) -> Option<f64> {
        let undo = self.undo.as_ref().map(|(_, until)| *until);
        self.pointer.rests_at().into_iter().chain(undo).reduce(f64::min)
    }

    /// Reads changes that wait, within this frame's share of time. Returns whether some are left.
    pub(super) fn read_changes(&mut self, alerts: &mut Notifications, cx: &mut Context<'_>) -> bool {
        let end = cx.env.work_clock()
            + match () {
                // Two moments are compared, and their differences shown in place of what comes in.
                () if self.changes.net.as_ref().is_some_and(|net| !net.is_done()) => QUIET_SHARE,
                () if cx.navigation.route.changes => SHARE,
                () if alerts.is_watching() => WATCHED_SHARE,
                () => QUIET_SHARE,
            };
        while self.changes.waiting() > 0 {
            for _ in 0..BATCH {
                let Some(sequence) = self.changes.take_next() else { break };
                self.read_change(sequence, alerts, cx);
            }
            if cx.env.work_clock() >= end {
                break;
            }
        }
        alerts.notify(cx);
        self.changes.waiting() > 0
    }

    fn read_change(&mut self, sequence: u64, alerts: &mut Notifications, cx: &Context<'_>) {
        match self.line_of(sequence, cx) {
            Some(mut line) => {
                self.wrong.changed(&mut line, cx);
                alerts.look(&line, cx);
                self.changes.push(line);
            }
            None => self.changes.skipped += 1,
        }
    }

    /// Reads a part of what is asked for: what was wrong at another moment, the changes of a stretch of time, and what objects
    /// say of their past. Returns whether something is left.
    pub(super) fn read(&mut self, cx: &mut Context<'_>) -> bool {
        if self.wrong.read_then(&self.changes.marks, cx) || who::read(cx) {
            return true;
        }
        let waits = cx.watching.history.who.revise(cx.now);
        let revision = cx.watching.history.who.revision();
        if std::mem::replace(&mut self.named, revision) != revision && self.changes.name_writers(&cx.watching.history) {
            self.begin_span(cx);
        }
        self.read_span(cx) || self.read_past(cx) || waits
    }

    /// Reads what listed objects say of their past, within a share of this frame's time, while the feed is in view. Returns
    /// whether some are left.
    fn read_past(&mut self, cx: &Context<'_>) -> bool {
        if !cx.navigation.route.changes || cx.watching.paused || self.changes.past.waiting() == 0 {
            return false;
        }
        let end = cx.env.work_clock() + PAST_SHARE;
        while cx.env.work_clock() < end {
            for _ in 0..BATCH {
                let Some(sequence) = self.changes.past.take_next() else { return false };
                self.read_past_of(sequence, cx);
            }
        }
        true
    }

    fn read_past_of(&mut self, sequence: u64, cx: &Context<'_>) {
        // An object that was known before came with a change.
        let Some(change) = cx.watching.history.change(sequence).filter(|change| change.old.is_none()) else { return };
        let Some(text) = change.new.as_deref() else { return };
        let moments = past::read(change.resource.kind, text);
        let clock = cx.env.server_clock(change.resource.cluster);
        let to_page = cx.env.now() - cx.env.wall() - clock.ahead();
        if self.changes.past.wants(&moments, to_page) {
            let line = self.line(sequence, &change, cx);
            self.changes.past.read(moments, to_page, &line);
        } else {
            self.changes.past.pass(moments.len());
        }
    }

    /// Reads a change; `None` if it is no longer kept.
    fn line_of(&mut self, sequence: u64, cx: &Context<'_>) -> Option<Line> {
        let change = cx.watching.history.change(sequence)?;
        Some(self.line(sequence, &change, cx))
    }

    fn line(&mut self, sequence: u64, change: &RecordedChange<'_>, cx: &Context<'_>) -> Line {
        let received = change.received(sequence, self.kind(change.resource.kind));
        let line = Line::new(received, &self.changes.marks);
        let request = joining::request(&cx.watching.history, sequence).cloned();
        Line { cluster: cluster_of(&change.resource, cx), requests: request.into_iter().collect(), ..line }
    }

    /// Filters the feed. A filter that cannot be read lets everything pass, and the field says so.
    pub(super) fn filter(&mut self, cx: &mut Context<'_>) {
        let parsed = written_filter(cx);
        let elsewhere = parsed.as_ref().ok().and_then(|filter| elsewhere_in_feed(filter.elsewhere()));
        cx.view.header.filter_note.put(elsewhere);
        cx.view.header.filter_error.put(parsed.as_ref().err().map(ToString::to_string));
        self.changes.filter(&feed_filter(cx));
    }

    /// The objects of which a change passes the filter, and whether the filter asks for what only changes have; `None`
    /// while the feed is not in view, or has no filter.
    pub(super) fn passing(&self, route: &Route) -> Option<(FxHashSet<&Uid>, bool)> {
        let (feed, filter) = (self.changes.shown(), self.changes.feed.filter());
        let numbers = || feed.rows().flat_map(|entry| &entry.seqs);
        let uids = || numbers().filter_map(|number| Some(&feed.line(*number)?.uid)).collect();
        (route.changes && !filter.is_empty()).then(|| (uids(), filter.asks_for_changes()))
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
            FeedCommand::Wrong => self.wrong.turn(),
            FeedCommand::Open(id) => self.changes.turn(id),
            FeedCommand::Step(step) => {
                let top = self.changes.step(step);
                self.attend(top, cx);
            }
            FeedCommand::Page(by) => {
                let top = self.changes.step_page(by);
                self.attend(top, cx);
            }
            FeedCommand::Aside(by) => self.step_aside(by, cx),
            FeedCommand::OpenRow => self.open_row(cx),
            FeedCommand::OfferNoise(id) => self.offered = self.changes.noise_in(id),
            FeedCommand::NoOffer => {
                if !std::mem::take(&mut self.offered).is_empty() {
                    cx.focus(Focused::Rows(Rows::Feed));
                }
            }
            FeedCommand::Noise(number) => {
                let mark = self.offered.get(number).cloned();
                self.handle(FeedCommand::NoOffer, cx);
                if let Some(mark) = mark.filter(|mark| self.changes.call_noise(mark)) {
                    self.changes.renew();
                    self.noise_changed(cx);
                    self.undo = Some((mark, cx.now + UNDO));
                }
            }
            FeedCommand::NoNoise(number) => {
                if let Some(mark) = self.changes.marks.list().get(number).cloned() {
                    self.call_no_noise(&mark, cx);
                }
            }
            FeedCommand::Export(format) => {
                if let Some(net) = &self.changes.net {
                    net::export(net, format, cx);
                }
            }
            FeedCommand::UndoNoise => {
                if let Some((mark, _)) = self.undo.take() {
                    self.call_no_noise(&mark, cx);
                    cx.focus(Focused::Rows(Rows::Feed));
                }
            }
        }
    }

    /// The user acts on the rows by keys, which holds them as a pointer does.
    fn attend(&mut self, top: Option<f64>, cx: &mut Context<'_>) {
        self.pointer.over_table(true, cx.now);
        cx.focus(Focused::Rows(Rows::Feed));
        if let Some(top) = top {
            cx.effects.push(Effect::ScrollFeed(top));
        }
    }

    /// Opens the row in hand, or closes it.
    fn step_aside(&mut self, by: isize, cx: &mut Context<'_>) {
        let Some(place) = self.changes.in_hand() else { return self.handle(FeedCommand::Step(Step::By(0)), cx) };
        let is_within = matches!(place, FeedPlace::Line(..) | FeedPlace::Field(..));
        let row = self.row(place, cx);
        if (by < 0 && (is_within || row.is_open)) || (by > 0 && row.opens && !row.is_open) {
            self.changes.turn(place.entry());
        }
        self.attend(None, cx);
    }

    /// Looks at the object of the row in hand, at that change; of several objects, opens the row.
    fn open_row(&mut self, cx: &mut Context<'_>) {
        let Some(place) = self.changes.in_hand() else { return };
        let row = self.row(place, cx);
        if let Some(note) = row.note {
            notes::change(note, cx);
        } else if !row.href.is_empty() {
            cx.effects.push(Effect::Push(row.href));
        } else if row.opens {
            self.changes.turn(place.entry());
        }
        self.pointer.over_table(true, cx.now);
    }

    /// Whether the user is asked what to call noise.
    pub(super) fn offers_noise(&self) -> bool {
        !self.offered.is_empty()
    }

    fn call_no_noise(&mut self, mark: &Mark, cx: &mut Context<'_>) {
        self.undo = self.undo.take().filter(|(last, _)| last != mark);
        let filter = feed_filter(cx);
        self.changes.call_no_noise(mark, filter);
        self.noise_changed(cx);
    }

    fn noise_changed(&mut self, cx: &mut Context<'_>) {
        self.store_noise(cx);
        self.read_span_anew(cx);
    }

    fn present_noise(&mut self, cx: &mut Context<'_>) {
        self.undo = self.undo.take().filter(|(_, until)| *until > cx.now);
        if !cx.navigation.route.changes {
            self.offered.clear();
        }
        let mut offered = self.offered.iter();
        let field = offered.next().map(|mark| (format!("every {}", mark.kind), mark.path.clone()));
        let (kind, path) = field.unzip();
        let object = offered.next().and_then(|mark| Some(format!("{} {} alone", mark.kind, mark.object.as_ref()?)));
        let done = self.undo.as_ref().map(|(mark, _)| format!("{mark} is folded as noise."));
        cx.view.feed.noise.put(NoiseOffer {
            path: path.unwrap_or_default(),
            choices: kind.into_iter().chain(object).collect(),
            done: done.unwrap_or_default(),
        });
    }

    fn store_noise(&self, cx: &mut Context<'_>) {
        let text = self.changes.written_marks();
        cx.store(NOISE, Some(&*text).filter(|text| !text.is_empty()));
    }

    /// Shows what came of each time in which a kind was not watched, as far as these times are over at `until`. Live, the row stands at
    /// `now`. In a recording, where `now` is `None`, it stands where that time ended, whatever line of the file comes next.
    pub(super) fn notice_absences(&mut self, until: f64, now: Option<f64>, absences: &mut Absences) {
        while let Some(missed) = absences.take(until) {
            self.changes.notice(now, missed.to, missed.words());
        }
    }

    /// Shows the feed, if it is in view. Rows stay in place while the user acts on them, or looks at older ones.
    pub(super) fn present(&mut self, cx: &mut Context<'_>) {
        if cx.navigation.recorded.is_none() {
            self.notice_absences(cx.now, Some(cx.now), &mut cx.watching.watches.absences);
        }
        let is_held = self.pointer.is_busy(cx.now) || !self.changes.is_at_newest();
        if !is_held || self.changes.net.as_ref().is_some_and(Net::has_no_rows) {
            self.changes.settle_net();
        }
        let notes = &cx.watching.history.notes;
        self.changes.set_notes(notes.all(), notes.revision());
        cx.view.feed.shown.put(cx.navigation.route.changes);
        self.present_noise(cx);
        self.present_span(cx);
        if self.wrong.is_due(cx.now) {
            let began = self.wrong.look(cx);
            self.changes.call_failing(&began);
            let wrong = self.wrong.model(self.changes.cards(cx.shown_at()), self.changes.oldest_waiting(), cx);
            cx.view.feed.wrong.put(wrong);
        }
        if !cx.navigation.route.changes {
            return;
        }
        if !is_held {
            self.changes.renew();
        }
        let feed = &self.changes;
        let window = feed.window(|place| self.row(place, cx));
        let frame = self.frame(if is_held { feed.newer() } else { 0 }, cx);
        let view = &mut cx.view.feed;
        view.window.put(window);
        view.frame.put(frame);
    }

    fn frame(&self, newer: usize, cx: &Context<'_>) -> FeedFrame {
        let feed = &self.changes;
        let counts = feed.shown().counts();
        let kinds = cx.navigation.kinds().len();
        let since = feed.shown().lines().next().map(|line| format!(" since {}", cx.words().date_and_second(line.at)));
        let plural =
            |count: usize, one: &str| format!("{} {one}{}", grouped(count as u64), if count == 1 { "" } else { "s" });
        // The time is that of the oldest change that is kept, and so only what is kept is counted since then.
        // Other kinds may stay watched, and do not count here. How many of the changes that were dropped were theirs is not known.
        let of_kinds = feed.shown().filter().is_of_kinds();
        let count = match of_kinds {
            true => counts.received - counts.listed - counts.evicted - counts.filtered,
            false => counts.significant + counts.noise - counts.lines_evicted,
        };
        let until = feed.span.as_ref().filter(|reading| reading.is_until());
        // What is older is found at an earlier moment, and is not dropped.
        let is_last = counts.lines_evicted == 0 && until.is_some_and(Reading::has_older);
        let dropped = match counts.lines_evicted {
            0 => String::new(),
            _ if of_kinds => String::from(" (older dropped)"),
            dropped => format!(" ({} older dropped)", grouped(dropped)),
        };
        let mut words = format!(
            "{}{}{}{dropped}, {}",
            if is_last { "the last " } else { "" },
            plural(count as usize, "change"),
            since.unwrap_or_default(),
            plural(kinds, "kind")
        );
        if cx.watching.paused {
            words += &format!("; paused, {} more since", grouped(feed.since_pause()));
        }
        let net = feed.net.as_ref();
        if let Some(net) = net {
            words = net.words();
        }
        let waiting = until.map_or(feed.waiting(), |reading| reading.left(&feed.times) as usize);
        // A recording is read in full, and at a moment the changes are those of a time: nothing of it comes too fast.
        let skipped = if until.is_some() || cx.navigation.recorded.is_some() { 0 } else { feed.skipped };
        let waiting = match (waiting, skipped) {
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
        let noise = feed.marks.list().iter().map(ToString::to_string).collect();
        let is_empty = feed.shown().is_empty();
        let empty = match (is_empty, cx.navigation.route.text.is_empty()) {
            (false, _) => "",
            (true, _) if is_off => OFF,
            (true, true) if until.is_some_and(|reading| reading.left(&feed.times) > 0) => "",
            (true, true) if until.is_some() => {
                "Nothing that is kept changed between the page's first look and this moment."
            }
            (true, true) if net.is_some_and(|net| !net.is_done()) => "",
            (true, true) if net.is_some() => "Nothing that can be compared is different in the end.",
            (true, true) if feed.span.is_some() => "Nothing that is kept changed in this time.",
            (true, false) if net.is_some() => "No difference passes the filter.",
            (true, true) => "Nothing has changed since this page began to watch. What changes will be shown here.",
            (true, false) => "No change passes the filter.",
        };
        let empty = unreadable(cx).filter(|_| is_empty).unwrap_or_else(|| empty.to_owned());
        let later = until.and(cx.view.header.rewind.as_ref()).map(|rewind| rewind.later.clone()).unwrap_or_default();
        let log = cx.watching.history.who.counts().map_or_else(String::new, |counts| counts.to_string());
        let is_known = !cx.watching.history.who.is_empty();
        FeedFrame { words, waiting, later, newer, noise, empty, is_known, log }
    }

    fn row(&self, place: FeedPlace, cx: &Context<'_>) -> FeedRow {
        let mut row = match place {
            FeedPlace::PastHead => return self.changes.past.head(),
            FeedPlace::Past(number) => {
                let row = self.changes.past.row(number);
                FeedRow { href: of_change(row.seq, cx), ..row }
            }
            _ => self.row_of_change(place, cx),
        };
        if let Some(net) = &self.changes.net {
            let entry = matches!(place, FeedPlace::Entry(_)).then(|| net.feed.entry(place.entry())).flatten();
            let pair = net::pair_of(net, entry.map_or(row.seq.as_slice(), |entry| &entry.seqs));
            net::show_pair(&mut row, pair, entry, cx);
            if let Some(entry) = entry {
                net::show_back(&mut row, net, entry);
            }
        }
        if row.what == "past" {
            row.at = whole_second(row.at);
            row.time = cx.words().date_and_second(row.at);
        } else {
            row.time = cx.words().date_and_time(row.at);
        }
        row.age = ago(cx.shown_at() - row.at);
        row
    }

    fn row_of_change(&self, place: FeedPlace, cx: &Context<'_>) -> FeedRow {
        let feed = self.changes.shown();
        let id = place.entry();
        let Some(entry) = feed.entry(id) else { return gone(id) };
        let mut row = match place {
            FeedPlace::Entry(_) => {
                // Of Pods that are the same at both moments nothing is read.
                let outcome = if self.changes.net.is_some() { Vec::new() } else { feed.outcome(entry) };
                let row = row_of(entry, &outcome, self.changes.is_open(id), href_of_entry(entry, feed, cx));
                if self.changes.net.is_some() { row } else { rollout::of_row(row, entry, cx) }
            }
            FeedPlace::Field(_, sequence, number) if self.changes.course(sequence, number).is_some() => {
                let course = self.changes.course(sequence, number);
                course.map_or_else(|| gone(id), |course| net::row_of_course((id, sequence), course, entry.depth))
            }
            FeedPlace::Line(_, sequence) | FeedPlace::Field(_, sequence, _) => match (place, feed.line(sequence)) {
                (FeedPlace::Field(.., number), Some(line)) => field_of(id, line, number, entry.depth),
                (_, Some(line)) => FeedRow { href: of_change(Some(sequence), cx), ..line_of(id, line, entry.depth) },
                (_, None) => gone(id),
            },
            FeedPlace::PastHead | FeedPlace::Past(_) => gone(id),
        };
        if matches!((place, &entry.subject), (FeedPlace::Entry(_), Subject::Object(_)) | (FeedPlace::Line(..), _))
            && let Some(line) = row.seq.and_then(|seq| feed.line(seq))
        {
            name_by_its_object(&mut row, line);
        }
        // What is different in the end has numbers of its own, which say nothing to the history.
        let history = self.changes.net.is_none().then_some(&cx.watching.history);
        match place {
            _ if cx.watching.history.who.is_empty() => {}
            FeedPlace::Entry(_) => who::show(&mut row, &entry.seqs, feed, history),
            FeedPlace::Line(_, seq) => who::show(&mut row, &[seq], feed, history),
            _ => {}
        }
        row
    }

    /// Reads the stretch of time that the address names, or else what came up to the moment that is shown, unless that is done.
    pub(super) fn choose_span(&mut self, cx: &mut Context<'_>) {
        let asked = net::asked(cx);
        if let Some(net) = self.changes.net.as_mut().filter(|net| asked.as_ref() == Some(net.asked())) {
            if !cx.watching.paused {
                net.go_on(cx.now, &cx.watching.history);
            }
            return;
        }
        if asked.is_some() || self.changes.net.is_some() {
            return self.begin_span(cx);
        }
        let is_read = match (chosen_span(cx), until(cx), &mut self.changes.span) {
            (Some(chosen), _, Some(reading)) => !reading.is_until() && reading.window() == chosen,
            (None, Some(until), Some(reading)) => {
                let goes_on = reading.go_on_until(until);
                if goes_on && reading.left(&self.changes.times) > 0 {
                    cx.hurry();
                }
                goes_on
            }
            (None, None, None) => true,
            _ => false,
        };
        if !is_read {
            self.begin_span(cx);
        }
    }

    fn begin_span(&mut self, cx: &mut Context<'_>) {
        let (filter, began, times) = (feed_filter(cx), self.began, &self.changes.times);
        let net = net::asked(cx).map(|asked| Net::new(asked, cx.now, filter.clone(), &cx.watching.history));
        let reading = match (chosen_span(cx), until(cx)) {
            _ if net.is_some() => None,
            (Some(window), _) => Some(Reading::new(window, began, times, filter)),
            (None, Some(until)) => Some(Reading::until(until, began, times, filter)),
            (None, None) => None,
        };
        self.changes.limit(reading, net);
        self.counted = 0.0;
        let times = *cx.view.feed.newest + 1;
        cx.view.feed.newest.put(times);
        *cx.repaints = true;
        cx.hurry();
    }

    /// Reads the stretch anew, because what counts as noise is another.
    pub(super) fn read_span_anew(&mut self, cx: &mut Context<'_>) {
        self.begin_span(cx);
    }

    /// Reads changes of the stretch within a share of this frame's time. Returns whether some are left.
    fn read_span(&mut self, cx: &mut Context<'_>) -> bool {
        if let Some(net) = &mut self.changes.net {
            let end = cx.env.work_clock() + NET_SHARE;
            let (history, marks) = (&cx.watching.history, &self.changes.marks);
            if net.work(history, marks, || cx.env.work_clock() < end) {
                return true;
            }
            let end = cx.env.work_clock() + BACK_SHARE;
            return net.look_back(history, marks, || cx.env.work_clock() < end);
        }
        // It is taken out while it is read, because reading a change needs the rest.
        let Some(mut reading) = self.changes.span.take() else { return false };
        let end = cx.env.work_clock() + SPAN_SHARE;
        let mut is_left = true;
        while is_left {
            for _ in 0..SPAN_BATCH {
                let Some((sequence, is_own)) = reading.take_next(&self.changes.times) else {
                    is_left = false;
                    break;
                };
                // Of a line that the feed has, only whether something is wrong since then may be of later.
                let known = self.changes.feed.line(sequence).filter(|line| !line.is_failing).cloned();
                let line = known.or_else(|| self.line_of(sequence, cx));
                if let Some(line) = line.as_ref().filter(|_| is_own) {
                    reading.notice(&self.changes.notices, Some(line.seq));
                }
                reading.read(line, is_own);
            }
            if cx.env.work_clock() >= end {
                break;
            }
        }
        if !is_left {
            reading.notice(&self.changes.notices, None);
        }
        self.changes.span = Some(reading);
        is_left
    }

    /// Has times be shown by another clock where what is shown does not change by itself.
    pub(super) fn renew_times(&mut self) {
        if let Some(reading) = &mut self.changes.span {
            reading.show_again();
        }
        if let Some(net) = &mut self.changes.net {
            net.show_again();
        }
        self.wrong.hurry();
    }

    /// Shows the counts, if something was read since they were shown.
    pub(super) fn present_span(&mut self, cx: &mut Context<'_>) {
        if let Some(net) = &mut self.changes.net {
            if net.take_new() {
                let model = net.model(net::ends(net, cx));
                cx.view.feed.span.put(Some(model));
            }
            return;
        }
        let Some(reading) = self.changes.span.as_mut().filter(|reading| !reading.is_until()) else {
            cx.view.feed.span.put(None);
            return;
        };
        let is_due = (cx.now - self.counted).abs() >= SPAN_PACE || reading.is_done(&self.changes.times);
        if is_due && reading.take_new() {
            self.counted = cx.now;
            let model = reading.model(&self.changes.times, |at, is_short| match is_short {
                true => cx.words().time_of_day(at),
                false => cx.words().to_second(at),
            });
            cx.view.feed.span.put(Some(model));
        }
    }
}

/// Up to when the feed shows changes, if it is in sight and another moment is shown.
fn until(cx: &Context<'_>) -> Option<f64> {
    cx.watching.moment.filter(|_| cx.navigation.route.changes).map(|moment| moment.at)
}

/// The stretch of time that the address names, as far as it is not after the moment that is shown.
fn chosen_span(cx: &Context<'_>) -> Option<Window> {
    let Window { from, to } = cx.navigation.route.span?;
    let end = cx.watching.moment.map_or(f64::INFINITY, |moment| moment.at.next_up());
    Some(Window { from: from.min(end), to: to.min(end) })
}

/// The filter that the user wrote, as the address has it.
fn written_filter(cx: &Context<'_>) -> Result<Filter, FilterError> {
    let text = if cx.navigation.route.changes { &*cx.navigation.route.text } else { "" };
    Filter::among(text, &|title| cx.navigation.catalog.column(title))
}

/// The feed's filter: what the user wrote, of the kinds that the address names. What cannot be read lets everything of them pass.
fn feed_filter(cx: &Context<'_>) -> Filter {
    let filter = written_filter(cx).unwrap_or_default();
    if !cx.navigation.route.changes || cx.navigation.route.is_everything() {
        return filter;
    }
    let kinds = cx.navigation.kinds();
    filter.of_kinds(kinds.iter().map(|kind| (kind.resource.kind, cluster_of(&kind.resource, cx))).collect())
}

/// Leads to the newest change of what its row names first.
fn href_of_entry(entry: &Entry, feed: &feed::Feed, cx: &Context<'_>) -> String {
    let Subject::Object(_) = entry.subject else { return String::new() };
    let named = entry.fields().next().and_then(|named| {
        let is_of =
            |seq: &u64| feed.line(*seq).is_some_and(|line| line.fields.iter().any(|field| field.path == named.path));
        entry.seqs.iter().rev().copied().find(is_of)
    });
    of_change(named.or(entry.seqs.last().copied()), cx)
}

/// A row whose changes are not kept any more.
fn gone(id: EntryId) -> FeedRow {
    FeedRow { id, what: "notice", words: vec![Piece::plain("no longer kept")], ..FeedRow::default() }
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
