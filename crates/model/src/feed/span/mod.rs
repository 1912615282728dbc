//! A chosen stretch of time: what changed in it, counted by kind, owner, manager, field and reason, against the stretch of
//! the same length before it.
//!
//! The counts are made from the recorder: each change of both stretches is read again, a share of each frame's
//! time. So they are exact for whatever the recorder has, however long ago it was, and the same reading gives the feed of
//! the stretch. A record of each change beside the recorder would be faster, but would know nothing that the feed can show.
//! All that is kept of every change is its number and its time, so that a change which the recorder has let go is counted.

pub(crate) mod tally;

use std::collections::VecDeque;

use kubechurn_changes::feed::Feed;
use kubechurn_changes::filter::Filter;
use kubechurn_changes::findings::Findings;
use kubechurn_changes::line::Line;
use kubechurn_changes::note::Note;

use crate::feed::limits::LIMITS;
use crate::feed::span::tally::Tally;
use crate::timeline::mark::grouped;
use crate::timeline::scale::Window;
use crate::timeline::scene::duration;

pub use tally::{SpanRow, SpanSection};

/// How many changes are read of each of the two stretches at most.
pub const MOST_READ: u64 = 50_000;
/// How many changes are known by their number and time: 16 bytes each.
const MOST_KNOWN: usize = 200_000;
/// How far the time around a moment reaches to both sides, in milliseconds.
pub const AROUND: f64 = 2_000.0;
/// How many changes are read of the time up to a moment at first. Those that come when the moment moves on are read, too.
const UNTIL: u64 = 2_000;
/// The part of the stretch before that must be known so that the two are compared.
const LEAST_KNOWN: f64 = 0.2;

/// What the user asks of the stretch.
#[derive(Clone, Debug, PartialEq)]
pub enum SpanCommand {
    /// Choose the two seconds on both sides of this time, in milliseconds, and show the feed of them.
    Around(f64),
    /// Do the same for the mark under the pointer, or else for the change that the inspector marks.
    AroundPointed,
    /// Show in the feed what passes this filter.
    Filter(String),
    /// Show in the feed each change that passes this filter.
    Each(String),
    /// Compare the state at one time with that at another one; the second may be infinity, for now.
    Compare(f64, f64),
    /// Compare the state that is shown with that so many milliseconds before.
    Back(f64),
    /// Compare the moment that is shown with now.
    Since,
    /// Show what is different between the ends of the stretch, or each change in it again; where none is chosen between the
    /// moment that is shown and now, or lately.
    Difference,
    /// Show what is different between the ends of the stretch, or else each change in it.
    Net(bool),
    /// Move the ends to these times of day, as the user typed them.
    Typed([String; 2]),
    /// Give the stretch up.
    Clear,
}

/// What is shown of the stretch.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SpanModel {
    /// Whether what is different in the end is counted, rather than each change.
    pub is_net: bool,
    /// The two ends, as the user can type them.
    pub ends: [String; 2],
    /// From when to when, as times of day.
    pub times: String,
    /// What it is compared with.
    pub against: String,
    /// How many changes there are.
    pub words: String,
    /// How far reading has come; empty when all is read.
    pub reading: String,
    /// What is left out, and why, each on a line of its own; empty for nothing.
    pub left_out: String,
    /// The counts.
    pub sections: Vec<SpanSection>,
}

/// The number and time of each change that was received, in order.
#[derive(Debug, Default)]
pub struct ReceivedTimes {
    changes: VecDeque<(u64, f64)>,
    /// How many were forgotten, the oldest first.
    forgotten: u64,
}

impl ReceivedTimes {
    /// A change was received. Numbers and times never go back.
    pub fn push(&mut self, sequence: u64, at: f64) {
        if self.changes.len() == MOST_KNOWN {
            self.changes.pop_front();
            self.forgotten += 1;
        }
        self.changes.push_back((sequence, at));
    }

    /// The place of the first change at this time or later, counted from the first change of all.
    fn place_of(&self, at: f64) -> u64 {
        self.forgotten + self.changes.partition_point(|(_, other)| *other < at) as u64
    }

    /// When the change at a place was received.
    fn time(&self, place: u64) -> Option<f64> {
        let place = usize::try_from(place.checked_sub(self.forgotten)?).ok()?;
        self.changes.get(place).map(|(_, at)| *at)
    }

    /// The number of the change at a place.
    fn sequence(&self, place: u64) -> Option<u64> {
        let place = usize::try_from(place.checked_sub(self.forgotten)?).ok()?;
        self.changes.get(place).map(|(sequence, _)| *sequence)
    }

    /// The number of the first change after a time, or that of the next one.
    pub fn first_after(&self, at: f64) -> u64 {
        let next = || self.changes.back().map_or(0, |(last, _)| last + 1);
        self.sequence(self.place_of(at.next_up())).unwrap_or_else(next)
    }

    /// Since when every change is known, if some were forgotten.
    fn known_since(&self) -> Option<f64> {
        self.changes.front().filter(|_| self.forgotten > 0).map(|(_, at)| *at)
    }
}

/// What is shown of a watch between the changes.
#[derive(Debug)]
pub struct Notice {
    /// When it came into the feed, in milliseconds.
    pub noticed_at: f64,
    /// The number of the first change that came into the feed after it.
    pub before: u64,
    /// When it happened.
    pub at: f64,
    /// The words.
    pub words: String,
}

/// How far one of the two stretches is read.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Part {
    window: Window,
    first: u64,
    next: u64,
    /// How many are read at most.
    most: u64,
    significant: u64,
    noise: u64,
    /// How many the recorder has let go.
    gone: u64,
}

impl Part {
    fn new(window: Window, received: &ReceivedTimes) -> Part {
        let first = received.place_of(window.from);
        Part { window, first, next: first, most: MOST_READ, significant: 0, noise: 0, gone: 0 }
    }

    fn end(&self, received: &ReceivedTimes) -> u64 {
        received.place_of(self.window.to)
    }

    /// Whether a change is left to be read.
    fn is_left(&self, received: &ReceivedTimes) -> bool {
        self.next < self.end(received).min(self.first.saturating_add(self.most))
    }

    fn take(&mut self, received: &ReceivedTimes) -> Option<u64> {
        self.is_left(received).then_some(())?;
        self.next += 1;
        // What was forgotten meanwhile has no number.
        Some(received.sequence(self.next - 1).unwrap_or(u64::MAX))
    }
}

/// The chosen stretch while it is read, and what was found.
#[derive(Debug)]
pub struct Reading {
    own: Part,
    before: Part,
    /// What changed in the stretch.
    pub feed: Feed,
    /// Loops and fights in it.
    pub findings: Findings,
    /// Whether it is all the time up to a moment, of which nothing is counted, rather than a stretch that was chosen.
    is_until: bool,
    /// Up to when what was reported of watches is in the feed.
    noticed: f64,
    /// The revision of the notes that are in the feed, and up to when they are.
    noted: Option<(u64, f64)>,
    tally: Tally,
    /// When the page began to receive changes.
    began: f64,
    /// Whether something was read since the counts were shown.
    is_new: bool,
}

impl Reading {
    /// A stretch of which nothing is read yet. `began` is when the page began to receive changes.
    pub fn new(window: Window, began: f64, received: &ReceivedTimes, filter: Filter) -> Reading {
        let known = received.known_since().unwrap_or(began).max(window.from - window.span());
        let before = Window { from: known.min(window.from), to: window.from };
        let mut feed = Feed::new(LIMITS);
        feed.set_filter(filter);
        let (own, before) = (Part::new(window, received), Part::new(before, received));
        let (findings, tally) = (Findings::default(), Tally::default());
        let (is_until, noticed, noted, is_new) = (false, f64::NEG_INFINITY, None, true);
        Reading { own, before, feed, findings, is_until, noticed, noted, tally, began, is_new }
    }

    /// All the time up to a moment, that of the last change included. Of what was long before nothing is read.
    pub fn until(at: f64, began: f64, received: &ReceivedTimes, filter: Filter) -> Reading {
        let window = Window { from: f64::NEG_INFINITY, to: at.next_up() };
        let mut reading = Reading { is_until: true, ..Reading::new(window, began, received, filter) };
        let own = &mut reading.own;
        own.first = own.end(received).saturating_sub(UNTIL).max(own.first);
        (own.next, own.most) = (own.first, u64::MAX);
        if let Some(at) = received.time(own.first).filter(|_| own.first > 0) {
            reading.noticed = at;
        }
        reading
    }

    /// Puts the notices of watches that came before a change into the feed of all the time up to a moment; for `None`, all that came
    /// by then.
    pub fn notice(&mut self, notices: &VecDeque<Notice>, before: Option<u64>) {
        let (noticed, end) = (self.noticed, self.window().to);
        let is_new = |notice: &&Notice| notice.noticed_at > noticed && notice.noticed_at < end;
        let is_before = |notice: &&Notice| before.is_none_or(|before| notice.before <= before);
        for notice in notices.iter().filter(|_| self.is_until).filter(is_new).filter(is_before) {
            self.feed.notice(notice.at, &notice.words);
            self.noticed = self.noticed.max(notice.noticed_at);
        }
    }

    /// Has those of these notes stand in the feed that are of its time.
    pub fn set_notes(&mut self, notes: &[Note], revision: u64) {
        let window = self.window();
        if self.noted != Some((revision, window.to)) {
            self.noted = Some((revision, window.to));
            let own = notes.iter().filter(|note| window.contains(note.at));
            self.feed.set_notes(own.cloned().collect());
        }
    }

    /// Whether this is all the time up to a moment.
    pub fn is_until(&self) -> bool {
        self.is_until
    }

    /// Whether there are changes long before the moment, of which nothing is read.
    pub fn has_older(&self) -> bool {
        self.is_until && self.own.first > 0
    }

    /// Goes on to a later moment, if it is all the time up to one. Returns whether it does.
    pub fn go_on_until(&mut self, at: f64) -> bool {
        let goes_on = self.is_until && at >= self.own.window.to.next_down();
        if goes_on {
            self.own.window.to = at.next_up();
        }
        goes_on
    }

    /// How many changes of the stretch itself are still to be read.
    pub fn left(&self, received: &ReceivedTimes) -> u64 {
        self.own.end(received).min(self.own.first.saturating_add(self.own.most)).saturating_sub(self.own.next)
    }

    /// The stretch.
    pub fn window(&self) -> Window {
        self.own.window
    }

    /// The number of the next change to be read, and whether it is one of the stretch itself.
    pub fn take_next(&mut self, received: &ReceivedTimes) -> Option<(u64, bool)> {
        if let Some(sequence) = self.own.take(received) {
            return Some((sequence, true));
        }
        self.before.take(received).map(|sequence| (sequence, false))
    }

    /// Counts a change that was read; `None` for one that is no longer kept.
    pub fn read(&mut self, line: Option<Line>, is_own: bool) {
        self.is_new = true;
        let part = if is_own { &mut self.own } else { &mut self.before };
        let Some(line) = line else {
            part.gone += 1;
            return;
        };
        match (line.is_listed, &line.noise) {
            (true, _) => {}
            (false, Some(_)) => part.noise += 1,
            (false, None) => {
                part.significant += 1;
                if !self.is_until {
                    self.tally.add(&line, is_own);
                }
            }
        }
        if is_own {
            if self.is_until {
                self.findings.push(&line);
            }
            self.feed.push(line);
        }
    }

    /// Whether all changes that were received are read.
    pub fn is_done(&self, received: &ReceivedTimes) -> bool {
        !self.own.is_left(received) && !self.before.is_left(received)
    }

    /// Whether something was read since this was last asked.
    pub fn take_new(&mut self) -> bool {
        std::mem::take(&mut self.is_new)
    }

    /// Has it be shown again.
    pub fn show_again(&mut self) {
        self.is_new = true;
    }

    /// The part of the stretch before that is known, if it is enough to be compared with.
    fn compared(&self) -> Option<f64> {
        let length = self.before.window.to - self.before.window.from;
        (length >= self.own.window.span() * LEAST_KNOWN).then_some(length)
    }

    /// What is shown. `time` writes a time as a time of day, to the millisecond or to the second.
    pub fn model(&self, received: &ReceivedTimes, time: impl Fn(f64, bool) -> String) -> SpanModel {
        let Window { from, to } = self.own.window;
        let short = self.own.window.span() < 10_000.0;
        let time = |at: f64| time(at, short);
        let length = self.own.window.span();
        let compared = self.compared();
        let against = match compared {
            Some(known) if known >= length - 1.0 => format!("against the {} before", duration(length)),
            Some(known) => format!("against the {} before, of which no more is known", duration(known)),
            None => String::from("too little is known of the time before to compare with"),
        };
        let (all, before) = (self.own.end(received) - self.own.first, self.before.end(received) - self.before.first);
        let read = self.own.next - self.own.first + self.before.next - self.before.first;
        let wanted = all.min(MOST_READ) + before.min(MOST_READ);
        let words = match (self.own.significant, self.own.noise) {
            (1, 0) => String::from("1 change"),
            (count, 0) => format!("{} changes", grouped(count)),
            (count, 1) => format!("{} changes, and 1 that says nothing", grouped(count)),
            (count, noise) => format!("{} changes, and {} that say nothing", grouped(count), grouped(noise)),
        };
        let mut left_out = Vec::new();
        if self.own.gone > 0 {
            left_out.push(format!("{} of {} changes are no longer kept", grouped(self.own.gone), grouped(all)));
        }
        if all > MOST_READ {
            left_out.push(format!("the first {} of {} changes are counted", grouped(MOST_READ), grouped(all)));
        }
        if self.before.gone > 0 {
            let (gone, before) = (grouped(self.before.gone), grouped(before));
            left_out.push(format!("before it, {gone} of {before} are no longer kept"));
        }
        if self.began > from {
            left_out.push(format!("nothing is known before {}, when this page began to watch", time(self.began)));
        }
        if received.known_since().is_some_and(|since| since > from) {
            left_out.push(String::from("what was received before that is forgotten"));
        }
        SpanModel {
            is_net: false,
            ends: [from, to].map(&time),
            times: format!("{} – {}", time(from), time(to)),
            against,
            words,
            reading: match read < wanted {
                true => format!("reading {} of {}", grouped(read), grouped(wanted)),
                false => String::new(),
            },
            left_out: left_out.join("; "),
            sections: self.tally.sections(length, compared),
        }
    }
}

#[cfg(test)]
mod tests;
