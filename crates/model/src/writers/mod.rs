//! What each writer of the cluster does, as far as its writes show it: how often it writes to which objects, what that changed,
//! which change it answers, and how long it takes until what is asked for is there.
//!
//! All is read from the versions that are kept, a share of each frame's time, while somebody looks at it. What cannot be seen from
//! outside is not counted: a controller that looks and finds nothing to do writes nothing.

pub mod answers;
pub mod progress;

use std::collections::VecDeque;
use std::sync::Arc;

use kubechurn_changes::line::Line;
use kubechurn_changes::noise::{Marks, Noise};
use kubechurn_changes::writer::NamedWriter;
use kubechurn_client::api::object::ObjectKey;
use kubechurn_client::api::sort::sort_by;
use kubechurn_client::cache::delta::DeltaType;
use rustc_hash::FxHashMap;
use smol_str::SmolStr;

use crate::history::History;
use crate::history::who::joining::request;
use crate::writers::answers::{Answer, Lately, changed_nothing, is_of_events};
use crate::writers::progress::{Course, Times};

/// How long before the moment the survey begins, in milliseconds.
pub const BEFORE: f64 = 600_000.0;
/// The most versions that are read.
pub const MOST: u64 = 20_000;
/// How many versions are read between two looks at the clock.
const BATCH: usize = 64;
/// How many writers are told apart; all others count as one.
const WRITERS: usize = 300;
/// How many of its last writes are kept of each writer.
const LAST: usize = 40;
/// How many objects of each writer are told apart.
const OBJECTS: usize = 10_000;

/// A write.
#[derive(Clone, Debug)]
pub struct Write {
    /// The number of the version that it made.
    pub seq: u64,
    /// When that was received, in milliseconds.
    pub at: f64,
    /// The kind of the object.
    pub kind: Arc<str>,
    /// Its name.
    pub key: ObjectKey,
    /// What was written, in words.
    pub words: String,
    /// What it seems to answer.
    pub answer: Option<Answer>,
}

/// What is known of a writer.
#[derive(Clone, Debug, Default)]
pub struct Writer {
    /// Whether an audit log names it: a user, and no manager.
    pub is_user: bool,
    /// How many versions it wrote, Events aside.
    pub writes: u64,
    /// How many Events it wrote.
    pub events: u64,
    /// How many of its writes changed nothing but the version.
    pub nothing: u64,
    /// How long after what they answer its writes came.
    pub after: Times,
    /// How many writes answer nothing that is known.
    pub unanswered: u64,
    /// How often it wrote to each object.
    pub objects: FxHashMap<(Arc<str>, ObjectKey), u64>,
    /// Its last writes, the newest last.
    pub last: VecDeque<Write>,
}

impl Writer {
    /// The object to which it wrote most often, and how often.
    pub fn busiest(&self) -> Option<(&Arc<str>, &ObjectKey, u64)> {
        let most = self.objects.iter().max_by(|(one, count), (other, most)| count.cmp(most).then(other.cmp(one)));
        most.map(|((kind, key), count)| (kind, key, *count))
    }
}

/// What was found out so far.
#[derive(Debug, Default)]
pub struct Survey {
    /// The number of the next version to be read.
    next: u64,
    /// The time of the first version that is read, in milliseconds.
    pub from: f64,
    /// The time of the last one that was read, in milliseconds.
    pub to: f64,
    /// Whether there were more versions in the time than are read.
    pub is_cut: bool,
    /// How many changes nobody is named for.
    pub of_nobody: u64,
    writers: FxHashMap<SmolStr, Writer>,
    lately: Lately,
    /// How long it takes until what is asked for is there.
    pub course: Course,
}

impl Survey {
    /// Begins with the minutes before a time. Nothing counts that came after so many versions.
    pub fn begin(at: f64, received: u64, history: &History) -> Survey {
        let from = history.whole_since().unwrap_or(0.0).max(at - BEFORE);
        let first = history.moment(from).received;
        let next = first.max(received.saturating_sub(MOST));
        // Before the first version nothing was watched.
        let from = history.at(next).unwrap_or(from);
        Survey { next, from, to: from, is_cut: next > first, ..Survey::default() }
    }

    /// Reads on up to a number while `goes_on` says so. Returns whether something is left.
    pub fn work(&mut self, until: u64, history: &History, mut goes_on: impl FnMut() -> bool) -> bool {
        while self.next < until {
            let mut sequences = Vec::new();
            let next = history.each_received(self.next, BATCH, &mut |record, _, _| {
                if record.sequence < until && record.delta_type != DeltaType::Replaced {
                    sequences.push(record.sequence);
                }
            });
            for sequence in sequences {
                self.read(sequence, history);
            }
            self.next = next.unwrap_or(until);
            if self.next < until && !goes_on() {
                return true;
            }
        }
        false
    }

    fn read(&mut self, sequence: u64, history: &History) {
        let Some(change) = history.change(sequence) else { return };
        self.to = self.to.max(change.at);
        let received = change.received(sequence, change.resource.kind.into());
        let mut line = Line::new(received, &Marks::default());
        if line.unknown.is_some() {
            return;
        }
        line.requests.extend(request(history, sequence).cloned());
        self.course.add(&line, change.new.as_deref());
        let named: Vec<(SmolStr, bool)> =
            line.named_writers().map(|writer| (writer.name(), matches!(writer, NamedWriter::User(_)))).collect();
        if named.is_empty() && !is_of_events(&line) {
            self.of_nobody += 1;
        }
        for (name, is_user) in &named {
            if !self.writers.contains_key(name) && self.writers.len() >= WRITERS {
                continue;
            }
            let answer = self.lately.answered(&line, name);
            let writer = self.writers.entry(name.clone()).or_default();
            writer.is_user |= is_user;
            writer.add(&line, answer);
        }
        self.lately.add(&line, named.into_iter().next().map(|(name, _)| name).unwrap_or_default());
    }

    /// The writers, those that wrote most first.
    pub fn writers(&self) -> Vec<(&SmolStr, &Writer)> {
        let mut writers: Vec<(&SmolStr, &Writer)> = self.writers.iter().collect();
        sort_by(&mut writers, |(one, by_one), (other, by_other)| {
            by_other.writes.cmp(&by_one.writes).then_with(|| one.cmp(other))
        });
        writers
    }

    /// A writer, by its name.
    pub fn writer(&self, name: &str) -> Option<&Writer> {
        self.writers.get(name)
    }
}

impl Writer {
    fn add(&mut self, line: &Line, answer: Option<Answer>) {
        if is_of_events(line) {
            self.events += 1;
            return;
        }
        self.writes += 1;
        self.nothing += u64::from(changed_nothing(line));
        let of = (Arc::clone(&line.kind), line.key.clone());
        if self.objects.len() < OBJECTS || self.objects.contains_key(&of) {
            *self.objects.entry(of).or_default() += 1;
        }
        // What is written again and again by the clock answers nothing.
        if line.noise == Some(Noise::Heartbeat) {
            return;
        }
        match &answer {
            Some(answer) => self.after.push(line.at - answer.at),
            None => self.unanswered += 1,
        }
        if self.last.len() == LAST {
            self.last.pop_front();
        }
        let words = if changed_nothing(line) { String::from("nothing changed") } else { line.to_string() };
        let Line { seq, at, kind, key, .. } = line;
        self.last.push_back(Write { seq: *seq, at: *at, kind: Arc::clone(kind), key: key.clone(), words, answer });
    }
}
