//! The lines that are kept: in the order of time, within a budget, and filtered.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::logs::reader::ReadLine;
use crate::logs::stamp::Stamp;

/// How many bytes of memory a line takes beside its text.
const OVERHEAD: usize = 72;

/// A line that is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Where it stands: its own time, or a later one of a line that came before it from the same container; in nanoseconds.
    pub at: i64,
    /// Its own time.
    pub time: Option<i64>,
    /// The number of the container that wrote it.
    pub source: u16,
    /// How many bytes of it were cut.
    pub cut: u32,
    /// Whether it is a remark of the page, and no line of a container.
    pub is_remark: bool,
    /// What it says.
    pub text: Arc<str>,
}

impl Line {
    /// A line of a container, which stands at this time or later.
    pub fn of(read: ReadLine, source: u16, not_before: i64) -> Line {
        let at = read.time.unwrap_or(not_before).max(not_before);
        Line { at, time: read.time, source, cut: read.cut, is_remark: false, text: read.text }
    }

    /// A remark of the page about a container.
    pub fn remark(words: &str, source: u16, at: i64) -> Line {
        Line { at, time: None, source, cut: 0, is_remark: true, text: words.into() }
    }

    fn bytes(&self) -> usize {
        self.text.len() + OVERHEAD
    }
}

/// Which lines are shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Those with each of these words, in lower case.
    words: Vec<String>,
    /// Those of this container.
    pub only: Option<u16>,
}

impl Filter {
    /// The lines with all words of a text, of one container or of all.
    pub fn of(text: &str, only: Option<u16>) -> Filter {
        Filter { words: text.split_whitespace().map(str::to_lowercase).collect(), only }
    }

    fn is_all(&self) -> bool {
        self.words.is_empty() && self.only.is_none()
    }

    fn shows(&self, line: &Line) -> bool {
        if self.only.is_some_and(|only| only != line.source) {
            return false;
        }
        if self.words.is_empty() || line.is_remark {
            return true;
        }
        let text = line.text.to_lowercase();
        self.words.iter().all(|word| text.contains(&**word))
    }
}

/// The lines that are kept.
#[derive(Debug)]
pub struct Lines {
    all: VecDeque<Line>,
    bytes: usize,
    budget: usize,
    /// How many lines came, remarks not counted.
    received: u64,
    /// How many of these were dropped.
    dropped: u64,
    /// How many lines and remarks were taken from the front.
    gone: u64,
    filter: Filter,
    /// The places of the lines that are shown, counted with those that are gone; `None` where all are.
    shown: Option<VecDeque<u64>>,
    /// How many that were shown are gone.
    shown_gone: u64,
}

impl Lines {
    /// None yet, with room for so many bytes.
    pub fn new(budget: usize) -> Lines {
        Lines {
            all: VecDeque::new(),
            bytes: 0,
            budget,
            received: 0,
            dropped: 0,
            gone: 0,
            filter: Filter::default(),
            shown: None,
            shown_gone: 0,
        }
    }

    /// Takes lines of one container, which follow one another in time.
    pub fn push(&mut self, lines: &mut Vec<Line>) {
        let Some(first) = lines.first().map(|line| line.at) else { return };
        self.received += lines.iter().filter(|line| !line.is_remark).count() as u64;
        self.bytes += lines.iter().map(Line::bytes).sum::<usize>();
        let from = self.all.partition_point(|line| line.at <= first);
        let later = self.all.split_off(from);
        // Of two lines with one time, the one that came first stands first.
        let mut later = later.into_iter().peekable();
        for line in lines.drain(..) {
            while let Some(before) = later.next_if(|before| before.at <= line.at) {
                self.all.push_back(before);
            }
            self.all.push_back(line);
        }
        self.all.extend(later);
        self.filter_from(from);
        self.drop_oldest();
    }

    /// Gives the lines room for so many bytes.
    pub fn give(&mut self, budget: usize) {
        self.budget = budget;
        self.drop_oldest();
    }

    /// Shows those lines that pass a filter.
    pub fn filter(&mut self, filter: Filter) {
        if self.filter == filter {
            return;
        }
        self.shown = (!filter.is_all()).then(VecDeque::new);
        (self.filter, self.shown_gone) = (filter, 0);
        self.filter_from(0);
    }

    /// Decides anew which lines are shown from this place on.
    fn filter_from(&mut self, from: usize) {
        let Some(shown) = &mut self.shown else { return };
        let place = self.gone + from as u64;
        while shown.back().is_some_and(|last| *last >= place) {
            shown.pop_back();
        }
        let filter = &self.filter;
        let more = self.all.iter().skip(from).zip(place..).filter(|(line, _)| filter.shows(line));
        shown.extend(more.map(|(_, place)| place));
    }

    fn drop_oldest(&mut self) {
        while self.bytes > self.budget {
            let Some(line) = self.all.pop_front() else { return };
            self.bytes -= line.bytes();
            self.dropped += u64::from(!line.is_remark);
            match &mut self.shown {
                None => self.shown_gone += 1,
                Some(shown) => {
                    if shown.pop_front_if(|first| *first == self.gone).is_some() {
                        self.shown_gone += 1;
                    }
                }
            }
            self.gone += 1;
        }
    }

    /// How many lines are shown.
    pub fn shown(&self) -> usize {
        self.shown.as_ref().map_or(self.all.len(), VecDeque::len)
    }

    /// How many that were shown are gone, since the filter is this one.
    pub fn shown_gone(&self) -> u64 {
        self.shown_gone
    }

    /// A line that is shown, by its place among them.
    pub fn get(&self, place: usize) -> Option<&Line> {
        match &self.shown {
            None => self.all.get(place),
            Some(shown) => self.all.get(usize::try_from(shown.get(place)? - self.gone).ok()?),
        }
    }

    /// How many of the lines that are shown stand at this time or before.
    pub fn until(&self, at: i64) -> usize {
        match &self.shown {
            None => self.all.partition_point(|line| line.at <= at),
            Some(shown) => shown.partition_point(|place| {
                let line = usize::try_from(place - self.gone).ok().and_then(|place| self.all.get(place));
                line.is_some_and(|line| line.at <= at)
            }),
        }
    }

    /// The lines that are shown now, to be written as a text: first what is to be said of them, each time with its nanoseconds, and
    /// before each line the name of its source.
    pub fn writing(&self, head: &[String], sources: Vec<String>) -> Writing {
        let lines: Vec<Line> = (0..self.shown()).filter_map(|place| self.get(place)).cloned().collect();
        let total = lines.iter().filter(|line| !line.is_remark).count();
        let mut begun = String::new();
        head.iter().for_each(|words| push_remark(words, &mut begun));
        Writing { begun, sources, total, lines: lines.into_iter(), stamp: Stamp::default() }
    }

    /// How many lines came, are kept and were dropped: the first number is the sum of the others.
    pub fn counts(&self) -> (u64, u64, u64) {
        (self.received, self.received - self.dropped, self.dropped)
    }

    /// How many bytes they take.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

/// Lines that are being written as a text: those of the moment of the command, whatever comes or is dropped since.
#[derive(Clone, Debug)]
pub struct Writing {
    /// What comes before them; empty when it was taken.
    begun: String,
    /// What stands before each line, by the number of its source.
    sources: Vec<String>,
    lines: std::vec::IntoIter<Line>,
    total: usize,
    stamp: Stamp,
}

impl Writing {
    /// The number of all lines of containers.
    pub fn total(&self) -> usize {
        self.total
    }

    /// The next so many lines as text; `None` at the end.
    pub fn slice(&mut self, count: usize) -> Option<String> {
        let mut text = std::mem::take(&mut self.begun);
        if text.is_empty() && self.lines.len() == 0 {
            return None;
        }
        for line in self.lines.by_ref().take(count) {
            if line.is_remark {
                push_remark(&line.text, &mut text);
                continue;
            }
            text.push_str(self.sources.get(usize::from(line.source)).map_or("", String::as_str));
            if let Some(time) = line.time {
                self.stamp.write(time, &mut text);
                text.push(' ');
            }
            text.push_str(&line.text);
            if line.cut > 0 {
                text.push_str(&format!(" … {} more bytes were cut", line.cut));
            }
            text.push('\n');
        }
        Some(text)
    }
}

/// What no container wrote is marked as a comment.
fn push_remark(words: &str, text: &mut String) {
    for line in words.lines() {
        text.push_str("# ");
        text.push_str(line);
        text.push('\n');
    }
}
