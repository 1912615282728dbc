//! The feed: what changed, newest first, with noise, repetitions and consequences folded.
//!
//! Each change costs a few look-ups, however long the feed is.

mod entry;
mod folding;
mod outcome;
mod pods;
mod progress;

use std::collections::VecDeque;
use std::sync::Arc;

pub use entry::{DELETER_UNKNOWN, Entry, EntryId, MOST_SEQS, OTHERS_UNKNOWN, Subject};
pub use outcome::Outcome;
pub use progress::{Pair, Progress};

use crate::audit::Request;
use crate::feed::folding::{Folding, blank};
use crate::feed::pods::Pods;
use crate::filter::Filter;
use crate::line::Line;
use crate::noise::Mark;
use crate::note::Note;

/// The most notices that are kept.
const MOST_NOTICES: usize = 100;
/// What the numbers of the rows of notes have, and no others: the number of the note is added to it.
const NOTES: EntryId = 1 << 63;

/// How much of the feed is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The most rows.
    pub rows: usize,
    /// The most changes that are kept whole, to show what is folded.
    pub lines: usize,
    /// The most bytes of text that these changes may keep.
    pub bytes: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { rows: 2_000, lines: 20_000, bytes: 16 << 20 }
    }
}

/// Where the changes are that the feed was given. `received` is the sum of `listed`, `noise` and `significant`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// All that were given.
    pub received: u64,
    /// Those that came with a first list, and are no changes.
    pub listed: u64,
    /// Those that say nothing.
    pub noise: u64,
    /// Those that say something.
    pub significant: u64,
    /// Those, noise included, that the filter does not let through.
    pub filtered: u64,
    /// Those, noise included, that were in rows which are not kept any more, or that were not kept whole when the rows were
    /// made anew.
    pub evicted: u64,
    /// Those that are not kept whole any more.
    pub lines_evicted: u64,
}

/// The feed.
#[derive(Clone, Debug, Default)]
pub struct Feed {
    limits: Limits,
    filter: Filter,
    lines: VecDeque<Line>,
    /// The bytes of text that the lines keep.
    bytes: usize,
    folding: Folding,
    pods: Pods,
    counts: Counts,
    /// What happened to watches, and when.
    notices: VecDeque<(f64, String)>,
    /// What was noted, in the order of the times.
    notes: Vec<Note>,
    /// The rows of those that the filter lets through.
    noted: Vec<Entry>,
}

impl Feed {
    /// An empty feed.
    pub fn new(limits: Limits) -> Feed {
        Feed { limits, ..Feed::default() }
    }

    /// An empty feed of differences rather than of changes: all have one time, owners come before what they own, and what is owned
    /// stands under its owner, whatever changed in either.
    pub fn by_owner(limits: Limits) -> Feed {
        Feed { limits, folding: Folding::by_owner(), ..Feed::default() }
    }

    /// Takes in a change, and says into which row it went; `None` if it is no change, or not let through. Sequence numbers and times never go
    /// back.
    pub fn push(&mut self, line: Line) -> Option<EntryId> {
        self.counts.received += 1;
        if line.is_listed {
            self.pods.push(&line);
            self.counts.listed += 1;
            return None;
        }
        match line.noise {
            Some(_) => self.counts.noise += 1,
            None => self.counts.significant += 1,
        }
        let id = self.fold(&line);
        // What came of an older change is how the Pods were before this one.
        self.pods.push(&line);
        self.bytes += line.text_bytes();
        self.lines.push_back(line);
        self.keep_limits();
        id
    }

    fn fold(&mut self, line: &Line) -> Option<EntryId> {
        self.folding.count_pod(line);
        if !self.filter.matches(line) {
            self.counts.filtered += 1;
            return None;
        }
        Some(self.folding.push(line, &self.pods))
    }

    /// Shows only what a filter lets through, of the changes that are kept whole and of those to come. The rows are made
    /// anew, which takes time for each change that is kept, unless the filter is the same. No filter lets a notice through.
    pub fn set_filter(&mut self, filter: Filter) {
        if filter == self.filter {
            return;
        }
        self.filter = filter;
        self.fold_anew();
        let notes = std::mem::take(&mut self.notes);
        self.set_notes(notes);
    }

    /// Has these notes stand between the changes, in place of those before; they are in the order of their times. A note is no
    /// change, and no count knows it.
    pub fn set_notes(&mut self, notes: Vec<Note>) {
        let passing = notes.iter().filter(|note| self.filter.matches_note(&note.text));
        let row = |note: &Note| blank(NOTES | note.id, note.at, Subject::Note(note.text.clone()));
        self.noted = passing.map(row).collect();
        self.notes = notes;
    }

    /// The number of the note that a row shows, if it shows one.
    pub fn note_of(id: EntryId) -> Option<u64> {
        (id & NOTES != 0).then_some(id & !NOTES)
    }

    /// The filter.
    pub fn filter(&self) -> &Filter {
        &self.filter
    }

    /// Applies a mark to the changes that are kept whole, and makes the rows anew. Changes to come are read with the mark
    /// ([`Line::new`]).
    pub fn mark(&mut self, mark: &Mark) {
        for line in &mut self.lines {
            let was_noise = line.noise.is_some();
            self.bytes -= line.text_bytes();
            line.mark(mark);
            self.bytes += line.text_bytes();
            if line.noise.is_some() && !was_noise {
                self.counts.significant -= 1;
                self.counts.noise += 1;
            }
        }
        self.fold_anew();
    }

    /// Has changes count as failing from now on: something that is wrong began with them. Returns whether one did not
    /// before.
    pub fn call_failing(&mut self, seqs: &[u64]) -> bool {
        let mut is_new = false;
        for seq in seqs {
            let at = self.lines.binary_search_by_key(seq, |line| line.seq);
            if let Some(line) = at.ok().and_then(|at| self.lines.get_mut(at)).filter(|line| !line.is_failing) {
                line.is_failing = true;
                is_new = true;
            }
        }
        if is_new && self.filter.asks_for_status() {
            self.fold_anew();
        }
        is_new
    }

    /// Asks for each change who made the request, because more may be known of it now. Returns whether more is.
    pub fn name_writers(&mut self, request: &mut dyn FnMut(&Line) -> Option<Arc<Request>>) -> bool {
        let mut is_new = false;
        for line in &mut self.lines {
            let known = request(line);
            if known.as_ref() != line.requests.first() {
                line.requests = known.into_iter().collect();
                is_new = true;
            }
        }
        if is_new && self.filter.asks_for_writers() {
            self.fold_anew();
        }
        is_new
    }

    fn fold_anew(&mut self) {
        // How the Pods were when an older entry ended is not known any more.
        self.folding = self.folding.made_anew();
        self.counts.filtered = 0;
        self.counts.evicted = self.counts.lines_evicted;
        let lines = std::mem::take(&mut self.lines);
        let mut notices = self.notices.iter().filter(|_| self.filter.is_empty()).cloned().collect::<VecDeque<_>>();
        for line in &lines {
            while let Some((at, words)) = notices.pop_front_if(|(at, _)| *at < line.at) {
                self.folding.notice(at, &words);
            }
            self.fold(line);
            self.keep_rows();
        }
        for (at, words) in notices {
            self.folding.notice(at, &words);
        }
        self.lines = lines;
        self.folding.now();
    }

    /// Adds a row about a watch, such as a relist, in the words for the user. It is no change, and no count knows it.
    pub fn notice(&mut self, at: f64, words: &str) {
        if self.notices.len() == MOST_NOTICES {
            self.notices.pop_front();
        }
        self.notices.push_back((at, words.into()));
        if self.filter.is_empty() {
            self.folding.notice(at, words);
            self.keep_limits();
        }
    }

    fn keep_limits(&mut self) {
        while self.lines.len() > self.limits.lines || self.bytes > self.limits.bytes {
            let Some(line) = self.lines.pop_front() else { break };
            self.bytes -= line.text_bytes();
            self.counts.lines_evicted += 1;
        }
        self.keep_rows();
    }

    fn keep_rows(&mut self) {
        while self.folding.len() > self.limits.rows {
            self.counts.evicted += self.folding.evict();
        }
    }

    /// The rows from the top: blocks newest first, and within a block each cause before what it caused. A note stands between two
    /// blocks.
    pub fn rows(&self) -> impl Iterator<Item = &Entry> {
        let (mut notes, mut rows) = (self.noted.iter().rev().peekable(), self.folding.rows().peekable());
        std::iter::from_fn(move || {
            let is_above = |row: &&Entry, note: &Entry| row.depth == 0 && note.first_at >= row.first_at;
            let is_note = notes.peek().is_some_and(|note| rows.peek().is_none_or(|row| is_above(row, note)));
            if is_note { notes.next() } else { rows.next() }
        })
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.folding.len() + self.noted.len()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A row, if it is still kept.
    pub fn entry(&self, id: EntryId) -> Option<&Entry> {
        self.folding.entry(id).or_else(|| self.noted.iter().find(|row| row.id == id))
    }

    /// What came of a row's change: how the Pods of its object are, or were when the next row of that object began. The
    /// worst comes first.
    pub fn outcome(&self, entry: &Entry) -> Vec<Outcome> {
        self.folding.outcome(entry, &self.pods)
    }

    /// The change with this sequence number, if it is still kept whole.
    pub fn line(&self, seq: u64) -> Option<&Line> {
        let at = self.lines.binary_search_by_key(&seq, |line| line.seq).ok()?;
        self.lines.get(at)
    }

    /// The changes that are kept whole, in order.
    pub fn lines(&self) -> impl Iterator<Item = &Line> {
        self.lines.iter()
    }

    /// Where the changes are.
    pub fn counts(&self) -> Counts {
        self.counts
    }
}
