//! The feed of changes as the page shows it: which changes are still to be read, which rows of the feed are in sight, and
//! what each says.
//!
//! Every change that is received is numbered by the recorder, and read a moment later: its text is compared with the one
//! before it, in a share of each frame's time, so that a burst never freezes the page. How many wait is shown.

pub mod alerts;
mod limits;
pub mod net;
pub mod past;
mod row;
pub mod span;
pub mod wrong;

use std::collections::VecDeque;

use kubechurn_changes::feed::{EntryId, Feed, Subject};
use kubechurn_changes::filter::Filter;
use kubechurn_changes::findings::{Card, Finding, Findings};
use kubechurn_changes::line::Line;
use kubechurn_changes::noise::{Mark, Marks};
use kubechurn_changes::note::Note;
use kubechurn_client::api::uid::Uid;
use rustc_hash::FxHashSet;

pub use row::{FeedRow, Piece, field_of, line_of, name_by_its_object, row_of};

use crate::feed::limits::LIMITS;
use crate::feed::net::Net;
use crate::feed::net::back::Course;
use crate::feed::net::export::NetFormat;
use crate::feed::past::Pasts;
use crate::feed::row::{Height, further_fields, letters, noise_of};
use crate::feed::span::{Notice, Reading, ReceivedTimes};
use crate::history::History;
use crate::history::who::joining;
use crate::table::cursor::Step;

/// In a feed that is narrower, what was changed stands below its object, in CSS pixels.
const NARROW: f64 = 620.0;
/// How far rows above and below the visible ones are in the document too, in CSS pixels.
const OVERSCAN: f64 = 150.0;
/// How many changes may wait to be read. Beyond that the oldest are counted, and only recorded: the feed keeps fewer than that,
/// and is asked for what happened just now.
const MOST_WAITING: usize = 10_000;

/// How many notices are kept for the feed of another moment: as many as the feed itself keeps.
const MOST_NOTICES: usize = 100;

/// What the user asks of the feed.
#[derive(Clone, Debug, PartialEq)]
pub enum FeedCommand {
    /// It was scrolled, or has another size.
    Scroll {
        /// Its upper edge, in pixels.
        top: f64,
        /// The height of what is seen, in pixels.
        height: f64,
        /// Its width, in pixels.
        width: f64,
    },
    /// The pointer moves over it, or left it.
    Pointer(bool),
    /// Show all that is wrong now, or the gravest alone.
    Wrong,
    /// Go to the newest row.
    Newest,
    /// Show all that a row says in short, or hide it: each of its changes, and each of their fields.
    Open(EntryId),
    /// Go to another row by the keyboard.
    Step(Step),
    /// Go down by this many times the visible height, upwards if negative.
    Page(isize),
    /// Open the row in hand; to the left, if negative, close it.
    Aside(isize),
    /// Look at the object of the row in hand, at that change.
    OpenRow,
    /// Offer what can be called noise in this row, or, for `None`, in the row in hand.
    OfferNoise(Option<EntryId>),
    /// Call noise what has this number among what is offered.
    Noise(usize),
    /// Offer nothing any more.
    NoOffer,
    /// Call a field noise no longer: its number in the list.
    NoNoise(usize),
    /// Call what was called noise last noise no longer.
    UndoNoise,
    /// Write what is different in the end, in this form: lines of JSON into a file, all others onto the clipboard.
    Export(NetFormat),
}

/// One place of the feed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FeedPlace {
    /// A row.
    Entry(EntryId),
    /// One of the changes that an opened row stands for, by its number.
    Line(EntryId, u64),
    /// A further field of such a change, counted from 0.
    Field(EntryId, u64, usize),
    /// The head of what the objects say of their past.
    PastHead,
    /// A moment of an object's past, counted from 0.
    Past(usize),
}

impl FeedPlace {
    /// The row that it belongs to.
    pub fn entry(self) -> EntryId {
        match self {
            FeedPlace::Entry(id) | FeedPlace::Line(id, _) | FeedPlace::Field(id, ..) => id,
            FeedPlace::PastHead | FeedPlace::Past(_) => past::HEAD,
        }
    }
}

/// What is around the rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FeedFrame {
    /// How many changes are shown, since when, of how many kinds.
    pub words: String,
    /// How many wait to be read, or were too many; empty where none.
    pub waiting: String,
    /// What is not shown because it came after the moment, in words; empty where nothing is.
    pub later: String,
    /// How many rows are newer than those that are held in place.
    pub newer: usize,
    /// The fields that the user called noise.
    pub noise: Vec<String>,
    /// What is said where there is no row.
    pub empty: String,
    /// Whether it is known of some changes who made the request.
    pub is_known: bool,
    /// What came of the lines of an audit log, in words; empty without one.
    pub log: String,
}

/// What is offered to be called noise, and what was called so last.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NoiseOffer {
    /// The field.
    pub path: String,
    /// Of what: of every object of the kind, or of one alone. Empty while nothing is offered.
    pub choices: Vec<String>,
    /// What was called noise last, in a sentence, while that can be undone.
    pub done: String,
}

/// The rows that are in the document.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FeedWindow {
    /// How many rows come before these.
    pub first: usize,
    /// How many there are in all.
    pub length: usize,
    /// The height of all, in CSS pixels.
    pub height: f64,
    /// How far below the upper edge the first of these stands, in CSS pixels.
    pub offset: f64,
    /// Whether what was changed stands below its object.
    pub is_narrow: bool,
    /// The height of each, in CSS pixels.
    pub heights: Vec<f64>,
    /// What they show.
    pub rows: Vec<FeedRow>,
    /// Which of them is under the keyboard's cursor, if it is among them.
    pub hand: Option<usize>,
}

/// The feed, and the user's position in it.
#[derive(Debug)]
pub struct Changes {
    /// The rows.
    pub feed: Feed,
    /// Loops and fights.
    pub findings: Findings,
    /// What the user called noise.
    pub marks: Marks,
    /// The numbers of the changes that are still to be read.
    waiting: VecDeque<u64>,
    /// How many were too many to be read.
    pub skipped: u64,
    /// The number of the newest change that the findings know.
    found: Option<u64>,
    /// The rows in order, as they are shown: held in place while the user acts on them.
    order: Vec<FeedPlace>,
    /// The lower edge of each, in CSS pixels.
    edges: Vec<f64>,
    open: FxHashSet<EntryId>,
    /// The row under the keyboard's cursor, and where it stood last.
    hand: Option<(FeedPlace, usize)>,
    top: f64,
    height: f64,
    width: f64,
    /// The number and time of each change that was received.
    pub times: ReceivedTimes,
    /// The chosen stretch of time, or all the time up to the moment that is shown, to which the rows are limited.
    pub span: Option<Reading>,
    /// What is different between the ends of the chosen stretch, where that is shown in place of its changes.
    pub net: Option<Net>,
    /// The rows as they were when the user paused the page.
    paused: Option<Feed>,
    /// What was reported of watches, the newest last.
    pub notices: VecDeque<Notice>,
    /// What the objects say of their past.
    pub past: Pasts,
    /// The revision of the notes that the feed has.
    noted: u64,
}

impl Default for Changes {
    fn default() -> Changes {
        Changes {
            feed: Feed::new(LIMITS),
            findings: Findings::default(),
            marks: Marks::default(),
            waiting: VecDeque::new(),
            skipped: 0,
            found: None,
            order: Vec::new(),
            edges: Vec::new(),
            open: FxHashSet::default(),
            hand: None,
            top: 0.0,
            height: 0.0,
            width: f64::INFINITY,
            times: ReceivedTimes::default(),
            span: None,
            net: None,
            paused: None,
            notices: VecDeque::new(),
            past: Pasts::default(),
            noted: 0,
        }
    }
}

impl Changes {
    /// The feed whose rows are shown: that of the chosen stretch of time, or that of all changes, as it is or as it was when the
    /// page was paused.
    pub fn shown(&self) -> &Feed {
        let chosen = self.net.as_ref().map(|net| &net.feed).or(self.span.as_ref().map(|span| &span.feed));
        chosen.unwrap_or(self.paused.as_ref().unwrap_or(&self.feed))
    }

    /// Keeps the rows as they are now, or shows again what there is. What comes meanwhile is read, and waits.
    pub fn pause(&mut self, paused: bool) {
        self.paused = paused.then(|| self.feed.clone());
        self.renew();
    }

    /// How many changes have come since the page was paused.
    pub fn since_pause(&self) -> u64 {
        let counts = |feed: &Feed| feed.counts().significant + feed.counts().noise;
        self.paused.as_ref().map_or(0, |paused| counts(&self.feed) - counts(paused))
    }

    /// Limits the rows to a stretch of time that is to be read, or to what is different between two times, or to none.
    pub fn limit(&mut self, span: Option<Reading>, net: Option<Net>) {
        // The rows of two feeds have the same numbers.
        self.open.clear();
        self.hand = None;
        (self.span, self.net) = (span, net);
        self.top = 0.0;
        self.renew();
    }

    /// The fields that were changed and changed back between the two moments that are compared, in the object of a line.
    fn back_of(&self, seq: u64) -> &[Course] {
        self.net.as_ref().map_or(&[], |net| net.back_of(seq))
    }

    /// The one of them that a row shows, if it shows one: they stand below the fields of the line.
    pub fn course(&self, seq: u64, number: usize) -> Option<&Course> {
        let fields = self.shown().line(seq).map_or(0, further_fields);
        self.back_of(seq).get(number.checked_sub(fields)?)
    }

    /// Makes the rows of what was compared, if that is to be done. What is open stays open, and the cursor on its row.
    pub fn settle_net(&mut self) {
        if !self.net.as_ref().is_some_and(Net::is_to_be_settled) {
            return;
        }
        let (open, hand) = self.known_by_changes();
        let Some(before) = self.net.as_mut().and_then(Net::settle) else { return };
        let now = |seq: u64| before.iter().position(|old| *old == seq).map(|at| at as u64 + 1);
        let open = open.into_iter().filter_map(now).collect();
        self.know_again(&open, hand.and_then(now));
        self.renew();
    }

    /// Shows only what passes a filter.
    pub fn filter(&mut self, filter: &Filter) {
        self.make_anew(|feed| feed.set_filter(filter.clone()));
        self.past.filter(filter);
        self.renew();
    }

    /// Has each change name who made the request, because more may be known of it now. Returns whether that makes the counts of the
    /// chosen time others.
    pub fn name_writers(&mut self, history: &History) -> bool {
        let (open, hand) = self.known_by_changes();
        let mut request = |line: &Line| joining::request(history, line.seq).cloned();
        self.feed.name_writers(&mut request);
        self.paused.iter_mut().for_each(|paused| _ = paused.name_writers(&mut request));
        let mut is_other = false;
        if let Some(span) = &mut self.span {
            is_other = span.feed.name_writers(&mut request) && !span.is_until();
        }
        if let Some(net) = &mut self.net {
            net.name_writers(history);
        } else if self.shown().filter().asks_for_writers() {
            self.know_again(&open, hand);
            self.renew();
        }
        is_other
    }

    /// Has changes count as failing: something that is wrong began with them.
    pub fn call_failing(&mut self, began: &[u64]) {
        let (open, hand) = self.known_by_changes();
        if self.feed.call_failing(began) {
            self.know_again(&open, hand);
        }
    }

    /// Changes the feeds in a way that makes their rows anew. What is open stays open, and the cursor on its row: they are
    /// known by their changes, because the rows get other numbers.
    fn make_anew(&mut self, change: impl Fn(&mut Feed)) {
        let (open, hand) = self.known_by_changes();
        change(&mut self.feed);
        let chosen =
            self.span.iter_mut().map(|span| &mut span.feed).chain(self.net.iter_mut().map(|net| &mut net.feed));
        chosen.chain(&mut self.paused).for_each(change);
        self.know_again(&open, hand);
    }

    /// The changes that opened rows show, and the last one of the row under the cursor.
    fn known_by_changes(&self) -> (FxHashSet<u64>, Option<u64>) {
        let entries = self.open.iter().filter_map(|id| self.shown().entry(*id));
        let hand = self.hand.and_then(|(place, _)| match place {
            FeedPlace::Line(_, seq) | FeedPlace::Field(_, seq, _) => Some(seq),
            _ => self.shown().entry(place.entry())?.seqs.last().copied(),
        });
        (entries.flat_map(|entry| entry.seqs.iter().copied()).collect(), hand)
    }

    /// Opens the rows that show one of these changes, and puts the cursor on the row that shows that one.
    fn know_again(&mut self, open: &FxHashSet<u64>, hand: Option<u64>) {
        let (mut opened, mut in_hand) = (FxHashSet::default(), None);
        if !open.is_empty() || hand.is_some() {
            for entry in self.shown().rows() {
                if entry.seqs.iter().any(|seq| open.contains(seq)) {
                    opened.insert(entry.id);
                }
                if hand.is_some_and(|hand| entry.seqs.contains(&hand)) {
                    in_hand = Some(FeedPlace::Entry(entry.id));
                }
            }
        }
        self.open = opened;
        self.hand = in_hand.zip(self.hand.map(|(_, at)| at));
    }

    /// A change was received at a time, and is to be read.
    pub fn received(&mut self, sequence: u64, at: f64) {
        self.times.push(sequence, at);
        // With what is to be read again, more may wait.
        while self.waiting.len() >= MOST_WAITING {
            self.waiting.pop_front();
            self.skipped += 1;
        }
        self.waiting.push_back(sequence);
    }

    /// How many changes are still to be read.
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// The number of the oldest change that is still to be read.
    pub fn oldest_waiting(&self) -> Option<u64> {
        self.waiting.front().copied()
    }

    /// The next change that is to be read.
    pub fn take_next(&mut self) -> Option<u64> {
        self.waiting.pop_front()
    }

    /// Puts a change into the findings and the feed.
    pub fn push(&mut self, line: Line) {
        // What is read again was looked at before.
        if self.found.is_none_or(|found| found < line.seq) {
            self.found = Some(line.seq);
            self.findings.push(&line);
        }
        self.feed.push(line);
    }

    /// Puts what happened to watches at a time into the feed, now; of a recording at that time.
    pub fn notice(&mut self, now: Option<f64>, at: f64, words: String) {
        self.feed.notice(at, &words);
        if self.notices.len() == MOST_NOTICES {
            self.notices.pop_front();
        }
        let before = match now {
            Some(_) => self.found.map_or(0, |found| found + 1),
            None => self.times.first_after(at),
        };
        self.notices.push_back(Notice { noticed_at: now.unwrap_or(at), before, at, words });
    }

    /// Has these notes stand in the feed, as far as they are of the time that it is of. The revision is another one whenever the notes
    /// are.
    pub fn set_notes(&mut self, notes: &[Note], revision: u64) {
        if let Some(reading) = &mut self.span {
            reading.set_notes(notes, revision);
        }
        if std::mem::replace(&mut self.noted, revision) != revision {
            self.feed.set_notes(notes.to_vec());
            self.paused.iter_mut().for_each(|paused| paused.set_notes(notes.to_vec()));
        }
    }

    /// Has the changes that the feed keeps be read again, because what counts as noise is another.
    fn read_again(&mut self, filter: Filter) {
        let sequences: Vec<u64> = self.feed.lines().map(|line| line.seq).collect();
        self.open.clear();
        self.hand = None;
        self.feed = Feed::new(LIMITS);
        self.feed.set_filter(filter);
        self.noted = 0;
        sequences.into_iter().rev().for_each(|sequence| self.waiting.push_front(sequence));
    }

    /// What can be called noise in a row, or else in the row under the cursor: its first field, of every object of the kind,
    /// and of its object alone where it shows one.
    pub fn noise_in(&self, id: Option<EntryId>) -> Vec<Mark> {
        let id = id.or(self.hand.map(|(place, _)| place.entry()));
        let Some(entry) = id.and_then(|id| self.shown().entry(id)) else { return Vec::new() };
        let Some(kind) = noise_of(entry) else { return Vec::new() };
        let object = match &entry.subject {
            Subject::Object(key) => Some(Mark { object: Some(key.clone()), ..kind.clone() }),
            _ => None,
        };
        [kind].into_iter().chain(object).collect()
    }

    /// Calls a field noise. Returns whether that is new.
    pub fn call_noise(&mut self, mark: &Mark) -> bool {
        let is_new = self.marks.add(mark.clone());
        if is_new {
            self.make_anew(|feed| feed.mark(mark));
        }
        is_new
    }

    /// Calls a field noise no longer.
    pub fn call_no_noise(&mut self, mark: &Mark, filter: Filter) {
        if self.marks.remove(mark) {
            self.read_again(filter);
        }
    }

    /// The marks as they are stored: a line for each.
    pub fn written_marks(&self) -> String {
        self.marks.list().iter().map(|mark| mark.line() + "\n").collect()
    }

    /// Reads what [`Changes::written_marks`] wrote. Lines that cannot be read are ignored.
    pub fn read_marks(&mut self, text: &str) {
        text.lines().filter_map(Mark::read).for_each(|mark| _ = self.marks.add(mark));
    }

    /// The feed was scrolled, or has another size; all in CSS pixels.
    pub fn scroll(&mut self, top: f64, height: f64, width: f64) {
        let is_wider = width != self.width;
        (self.top, self.height, self.width) = (top.max(0.0), height.max(0.0), width);
        if is_wider {
            self.measure();
        }
    }

    /// The width and the height of what is seen, in pixels.
    pub fn size(&self) -> (f64, f64) {
        (self.width, self.height)
    }

    /// Whether what was changed stands below its object.
    pub fn is_narrow(&self) -> bool {
        self.width < NARROW
    }

    /// Goes to the newest row.
    pub fn scroll_to_newest(&mut self) {
        self.top = 0.0;
        self.renew();
    }

    /// Whether the newest row is in sight.
    pub fn is_at_newest(&self) -> bool {
        self.top < Height::Line.pixels(self.width)
    }

    /// Opens a row, or closes it. What is below moves, because the user asked for it.
    pub fn turn(&mut self, id: EntryId) {
        if id == past::HEAD {
            self.past.turn();
        } else if !self.open.remove(&id) {
            self.open.insert(id);
        }
        let entries = self.entries().collect();
        self.arrange(entries);
    }

    /// The rows that are shown, in order.
    fn entries(&self) -> impl Iterator<Item = EntryId> {
        self.order.iter().filter_map(|place| match place {
            FeedPlace::Entry(id) => Some(*id),
            _ => None,
        })
    }

    /// Shows these rows, and below each that is open what it says in short.
    fn arrange(&mut self, entries: Vec<EntryId>) {
        let mut places = Vec::with_capacity(entries.len());
        for id in entries {
            places.push(FeedPlace::Entry(id));
            let Some(entry) = self.shown().entry(id).filter(|_| self.open.contains(&id)) else { continue };
            for seq in entry.seqs.iter().rev().copied() {
                places.push(FeedPlace::Line(id, seq));
                let fields = self.shown().line(seq).map_or(0, further_fields) + self.back_of(seq).len();
                places.extend((0..fields).map(|number| FeedPlace::Field(id, seq, number)));
            }
        }
        // The past is of no chosen time.
        if let Some(rows) = self.past.rows().filter(|_| self.span.is_none() && self.net.is_none()) {
            places.push(FeedPlace::PastHead);
            places.extend((0..rows).map(FeedPlace::Past));
        }
        self.order = places;
        self.measure();
        self.settle();
    }

    /// Keeps the cursor on its row while others come and go. Where the row is gone, it is on the row that it belonged to, or
    /// else on the one in its place.
    fn settle(&mut self) {
        let Some((place, before)) = self.hand else { return };
        let find = |wanted: FeedPlace| self.order.iter().position(|place| *place == wanted);
        let is_there = self.order.get(before) == Some(&place);
        let at = if is_there { Some(before) } else { find(place).or_else(|| find(FeedPlace::Entry(place.entry()))) };
        let at = at.unwrap_or(before.min(self.order.len().saturating_sub(1)));
        self.hand = self.order.get(at).map(|place| (*place, at));
    }

    /// Puts the cursor on another row; if it was on none, on the first one in sight. Returns how far the feed is to be scrolled
    /// for the row to be in sight, if it is not.
    pub fn step(&mut self, step: Step) -> Option<f64> {
        let last = self.order.len().checked_sub(1)?;
        let seen = self.edges.partition_point(|edge| *edge <= self.top);
        let at = match (step, self.hand) {
            (Step::First, _) => 0,
            (Step::Last, _) => last,
            (Step::By(_), None) => seen.min(last),
            (Step::By(by), Some((_, at))) => at.saturating_add_signed(by).min(last),
        };
        self.hand = Some((self.order[at], at));
        let (upper, lower) = (self.upper(at), self.edges[at]);
        let top = match () {
            () if upper < self.top => Some(upper),
            () if lower > self.top + self.height => Some(lower - self.height),
            () => None,
        };
        self.top = top.unwrap_or(self.top);
        top
    }

    /// The same for a row that is so many times the visible height further down.
    pub fn step_page(&mut self, by: isize) -> Option<f64> {
        let Some((_, at)) = self.hand else { return self.step(Step::By(0)) };
        let wanted = self.upper(at) + by as f64 * self.height;
        let there = self.edges.partition_point(|edge| *edge <= wanted).cast_signed();
        let rows = there - at.cast_signed();
        self.step(Step::By(if rows == 0 { by.signum() } else { rows }))
    }

    /// The row under the cursor.
    pub fn in_hand(&self) -> Option<FeedPlace> {
        self.hand.map(|(place, _)| place)
    }

    /// The upper edge of a row.
    fn upper(&self, at: usize) -> f64 {
        at.checked_sub(1).map_or(0.0, |before| self.edges[before])
    }

    /// Measures where the rows stand.
    fn measure(&mut self) {
        let mut edges = std::mem::take(&mut self.edges);
        edges.clear();
        let mut edge = 0.0;
        edges.extend(self.order.iter().map(|place| {
            edge += self.height_of(*place).pixels(self.width);
            edge
        }));
        self.edges = edges;
    }

    fn height_of(&self, place: FeedPlace) -> Height {
        match place {
            FeedPlace::Entry(id) => self.shown().entry(id).map_or(Height::Line, Height::of_entry),
            FeedPlace::Past(_) => Height::Change,
            FeedPlace::Line(..) | FeedPlace::PastHead => Height::Line,
            FeedPlace::Field(_, seq, number) => {
                let line = self.shown().line(seq);
                match self.course(seq, number) {
                    Some(course) => {
                        let values = course.whole();
                        Height::Field(values.iter().map(|value| value.chars().count() + 3).sum::<usize>() + 40)
                    }
                    None => Height::Field(line.map_or(0, |line| letters(line, number))),
                }
            }
        }
    }

    /// Puts the rows in the order that they have now.
    pub fn renew(&mut self) {
        self.past.renew();
        let open = std::mem::take(&mut self.open);
        self.open = open.into_iter().filter(|id| self.shown().entry(*id).is_some()).collect();
        let entries = self.shown().rows().map(|entry| entry.id).collect();
        self.arrange(entries);
    }

    /// How many rows would stand above the first one that is held in place: new ones, and those to which something has
    /// happened since.
    pub fn newer(&self) -> usize {
        if let Some(net) = &self.net {
            return net.behind();
        }
        let first = self.entries().next();
        self.shown().rows().take_while(|entry| first != Some(entry.id)).count()
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// The rows that are in the document, each of which `row` writes.
    pub fn window(&self, row: impl FnMut(FeedPlace) -> FeedRow) -> FeedWindow {
        let first = self.edges.partition_point(|edge| *edge < self.top - OVERSCAN);
        let end = self.edges.partition_point(|edge| *edge < self.top + self.height + OVERSCAN) + 1;
        let end = end.min(self.order.len());
        let upper = |at: usize| self.upper(at);
        FeedWindow {
            first,
            length: self.order.len(),
            height: upper(self.order.len()),
            offset: upper(first),
            is_narrow: self.is_narrow(),
            heights: (first..end).map(|at| self.edges[at] - upper(at)).collect(),
            rows: self.order[first..end].iter().copied().map(row).collect(),
            hand: self.hand.filter(|(_, at)| (first..end).contains(at)).map(|(_, at)| at - first),
        }
    }

    /// Whether a row is open.
    pub fn is_open(&self, id: EntryId) -> bool {
        self.open.contains(&id)
    }

    /// What is found now, in the order of [`Findings::cards`]: one card for an object, and for Pods that were made alike the first,
    /// with the number of the others. Of several fields of an object the one is named that was asked for.
    pub fn cards(&self, now: f64) -> Vec<(Card, usize)> {
        let until = self.span.as_ref().filter(|reading| reading.is_until());
        let findings = until.map_or(&self.findings, |reading| &reading.findings);
        let mut cards: Vec<(Card, Vec<Uid>)> = Vec::new();
        for card in findings.cards(now) {
            match cards.iter_mut().find(|(known, _)| are_alike(known, &card)) {
                Some((known, same)) if known.uid == card.uid => {
                    if known.title() == card.title() && is_asked(&card) && !is_asked(known) {
                        *known = card;
                    }
                    same.retain(|uid| *uid != known.uid);
                }
                Some((_, same)) if same.contains(&card.uid) => {}
                Some((_, same)) => same.push(card.uid),
                None => cards.push((card, Vec::new())),
            }
        }
        cards.into_iter().map(|(card, same)| (card, same.len())).collect()
    }
}

/// Whether the same is to be said of both: they are of one object, or of Pods whose names differ in their last part.
fn are_alike(one: &Card, other: &Card) -> bool {
    let made_of = |card: &Card| card.key.name.rsplit_once('-').map(|(name, _)| name.to_owned());
    let is_pod = &*one.kind == "Pod" && one.kind == other.kind && one.key.namespace == other.key.namespace;
    one.uid == other.uid || (is_pod && one.title() == other.title() && made_of(one) == made_of(other))
}

/// Whether the field is one that somebody asks for.
fn is_asked(card: &Card) -> bool {
    match &card.finding {
        Finding::Flapping { path, .. } | Finding::Fight { path, .. } => !path.starts_with("status."),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_waits_within_a_bound_and_what_is_too_much_is_counted() {
        let mut changes = Changes::default();
        (0..MOST_WAITING as u64 + 10).for_each(|sequence| changes.received(sequence, 0.0));
        assert_eq!((changes.waiting(), changes.skipped, changes.take_next()), (MOST_WAITING, 10, Some(10)));
        // Changes that are to be read again come before these, and are too many.
        (0..20).for_each(|sequence| changes.waiting.push_front(sequence));
        changes.received(MOST_WAITING as u64 + 10, 0.0);
        assert_eq!((changes.waiting(), changes.skipped), (MOST_WAITING, 30));
    }

    #[test]
    fn noise_is_remembered() {
        let mut changes = Changes::default();
        changes.read_marks("Pod status.conditions[Ready].message\nbroken\n");
        assert_eq!(changes.marks.list().len(), 1);
        assert_eq!(changes.written_marks(), "Pod status.conditions[Ready].message\n");
    }
}
