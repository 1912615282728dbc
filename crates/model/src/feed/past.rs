//! What the objects of the first lists say of their past, newest first: below the changes, and counted with none of them.
//!
//! The objects are read a few at a time, from the texts that the recorder has, and of the moments the newest are kept.

use std::collections::VecDeque;
use std::ops::Range;

use kubechurn_changes::filter::Filter;
use kubechurn_changes::line::Line;
use kubechurn_changes::past::{self, Moment};
use kubechurn_client::api::sort::sort_by;

use crate::feed::row::{FeedRow, Piece, name_by_its_object, split};
use crate::timeline::mark::grouped;

/// The number by which the head is opened and closed. No row of the feed has it.
pub const HEAD: u64 = 0;
/// The most moments that are kept.
const MOST: usize = 2_000;

/// A moment of an object.
#[derive(Debug)]
struct Past {
    /// The object as it was listed, at the time of the moment: what the filter looks at.
    line: Line,
    moment: Moment,
}

/// What is known of the past.
#[derive(Debug, Default)]
pub struct Pasts {
    /// The numbers of the objects that are still to be read.
    waiting: VecDeque<Range<u64>>,
    /// What was read since the rows were renewed.
    read: Vec<Past>,
    /// The newest moments, in the order in which they are shown.
    kept: Vec<Past>,
    /// Those that pass the filter.
    shown: Vec<usize>,
    /// How many moments were too old to be kept.
    older: u64,
    /// The greatest time of those, in milliseconds.
    oldest: Option<f64>,
    filter: Filter,
    is_closed: bool,
}

impl Pasts {
    /// A first list brought an object, of which the recorder has this number.
    pub fn listed(&mut self, sequence: u64) {
        match self.waiting.back_mut() {
            Some(last) if last.end == sequence => last.end += 1,
            _ => self.waiting.push_back(sequence..sequence + 1),
        }
    }

    /// The next object that is to be read.
    pub fn take_next(&mut self) -> Option<u64> {
        let first = self.waiting.front_mut()?;
        let next = first.next();
        if first.is_empty() {
            self.waiting.pop_front();
        }
        next
    }

    /// How many objects are still to be read.
    pub fn waiting(&self) -> u64 {
        self.waiting.iter().map(|range| range.end - range.start).sum()
    }

    /// Whether a moment of an object, of these, is not too old to be kept. `to_page` is what is to be added to a time of the
    /// server for a time of the page, in milliseconds.
    pub fn wants(&self, moments: &[Moment], to_page: f64) -> bool {
        moments.first().is_some_and(|newest| !self.is_old(time(newest, to_page)))
    }

    /// An object was read, of which this is the line.
    pub fn read(&mut self, moments: Vec<Moment>, to_page: f64, object: &Line) {
        for moment in moments {
            let at = time(&moment, to_page);
            if self.is_old(at) {
                self.older += 1;
                continue;
            }
            self.read.push(Past { line: past::line_of(object, &moment, at), moment });
        }
        if self.read.len() >= MOST {
            keep_newest(&mut self.read, &mut self.older, &mut self.oldest);
        }
    }

    /// Moments of an object were not kept, because they are too old.
    pub fn pass(&mut self, moments: usize) {
        self.older += moments as u64;
    }

    fn is_old(&self, at: f64) -> bool {
        self.oldest.is_some_and(|oldest| at <= oldest)
    }

    /// Takes in what was read, in its order. Until then no row moves.
    pub fn renew(&mut self) {
        if !self.read.is_empty() {
            self.kept.append(&mut self.read);
            keep_newest(&mut self.kept, &mut self.older, &mut self.oldest);
            self.choose();
        }
    }

    /// Shows only what passes a filter.
    pub fn filter(&mut self, filter: &Filter) {
        self.filter = filter.clone();
        self.choose();
    }

    fn choose(&mut self) {
        let passes = |(at, past): (usize, &Past)| self.filter.matches(&past.line).then_some(at);
        self.shown = self.kept.iter().enumerate().filter_map(passes).collect();
    }

    /// Shows the moments, or their head alone.
    pub fn turn(&mut self) {
        self.is_closed = !self.is_closed;
    }

    /// How many rows stand below the head; `None` where there is nothing to be shown.
    pub fn rows(&self) -> Option<usize> {
        let rows = if self.is_closed { 0 } else { self.shown.len() };
        (!self.shown.is_empty()).then_some(rows)
    }

    /// The row above the moments.
    pub fn head(&self) -> FeedRow {
        let (shown, all) = (self.shown.len() as u64, self.kept.len() as u64 + self.older);
        let of = match (shown == all, self.filter.is_empty()) {
            (true, _) => String::new(),
            (false, true) => format!(", the newest of {}", grouped(all)),
            (false, false) => format!(" of {}", grouped(all)),
        };
        let waiting = match self.waiting() {
            0 => String::new(),
            waiting => format!("; {} objects are being read", grouped(waiting)),
        };
        let words = format!("Before you came, from the objects: {}{of}{waiting}", grouped(shown));
        FeedRow {
            what: "past-head",
            words: vec![Piece::plain(words)],
            repetition: if self.is_closed { "show" } else { "hide" }.into(),
            opens: true,
            is_open: !self.is_closed,
            whole:
                "What the objects say of their past when they are listed first: Kubernetes Events, conditions, ends of \
                    containers, the times of managers, creation. Nothing of it was received or is counted."
                    .into(),
            ..FeedRow::default()
        }
    }

    /// One of the rows, without its time, age and address.
    pub fn row(&self, number: usize) -> FeedRow {
        let Some(Past { line, moment }) = self.shown.get(number).and_then(|at| self.kept.get(*at)) else {
            return FeedRow::default();
        };
        let (name, name_end) = split(&line.key.to_string());
        let mut row = FeedRow {
            seq: Some(line.seq),
            at: line.at,
            delta: ("from the objects", "○"),
            tone: moment.tone,
            kind: line.kind.to_string(),
            name,
            name_end,
            words: vec![Piece { tone: moment.tone, ..Piece::plain(&*moment.what) }],
            below: vec![Piece::plain(&*moment.more)],
            writers: moment.by.to_string(),
            what: "past",
            whole: moment.more.clone(),
            ..FeedRow::default()
        };
        name_by_its_object(&mut row, line);
        row
    }
}

/// A time of the page, in milliseconds.
fn time(moment: &Moment, to_page: f64) -> f64 {
    moment.at.0 as f64 * 1_000.0 + to_page
}

/// Puts moments in order, the newest first, and leaves out those beyond the bound.
fn keep_newest(moments: &mut Vec<Past>, older: &mut u64, oldest: &mut Option<f64>) {
    // What has one time stays in the order of the lists.
    sort_by(moments, |one, other| other.line.at.total_cmp(&one.line.at));
    if let Some(first) = moments.get(MOST) {
        *oldest = Some(oldest.map_or(first.line.at, |oldest| oldest.max(first.line.at)));
        *older += (moments.len() - MOST) as u64;
        moments.truncate(MOST);
    }
}
