//! A recording as a file: what the history has is written line by line, without what is not to be read.

pub mod redact;

use std::borrow::Cow;

use kubechurn_client::api::object::ObjectKey;
use kubechurn_client::api::resource::ApiResource;
use kubechurn_client::cache::delta::DeltaType;
use kubechurn_recorder::{Life, Record, Then};
use kubechurn_recording::{Header, Line, Step, Text, Version, Watch, Writer};

use crate::history::History;
use crate::history::{coverage, secret};

/// Something that is to be done with a recording.
#[derive(Clone, Debug, PartialEq)]
pub enum RecordingCommand {
    /// Ask what is to be saved, and show what that is.
    Save,
    /// Call it so.
    Title(String),
    /// Save a kind, by its place among those that are shown, or do not.
    Kind(usize),
    /// Make unreadable what looks like a credential, or do not.
    Redact,
    /// Write the file.
    Write,
    /// Save nothing.
    CloseSave,
    /// Do something with a note.
    Note(NoteCommand),
    /// Have the user choose a file, and open it.
    Open,
    /// Go back from the recording that is shown to the cluster.
    Close,
}

/// Something that is to be done with a note of the user's own.
#[derive(Clone, Debug, PartialEq)]
pub enum NoteCommand {
    /// Open a field for one at the moment that is shown.
    Begin,
    /// Open a field for what was noted with this number.
    Change(u64),
    /// Keep what was written, and close the field. Of a note that is changed, no text removes it.
    Keep(String),
    /// Remove the note that the field is open for.
    Remove,
    /// Close the field, and change nothing.
    Leave,
}

/// The field in which a note is written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NoteModel {
    /// The number of the note that is changed; `None` for a new one.
    pub id: Option<u64>,
    /// The time that it is about, in milliseconds.
    pub at: f64,
    /// The same as a time of day.
    pub time: String,
    /// What was noted before.
    pub text: String,
}

/// A kind that can be saved.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SaveKind {
    /// Its title.
    pub title: &'static str,
    /// How many versions there are, in words.
    pub count: String,
    /// Whether it is saved.
    pub is_chosen: bool,
}

/// What is shown of a file before it is written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SaveModel {
    /// What it will be called.
    pub title: String,
    /// The kinds.
    pub kinds: Vec<SaveKind>,
    /// How much it is, in words.
    pub total: String,
    /// Whether what looks like a credential is made unreadable.
    pub redacts: bool,
    /// How many values look so, in words.
    pub hits: String,
    /// Some of them.
    pub examples: Vec<String>,
}

/// Which of what is recorded is written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Selected {
    /// The resources that are left out.
    pub without: Vec<ApiResource>,
    /// Whether what looks like a credential is made unreadable.
    pub redacts: bool,
}

impl Selected {
    /// Whether the objects of a resource are written.
    pub fn has(&self, resource: &ApiResource) -> bool {
        !self.without.contains(resource)
    }
}

/// A watch that has begun and not ended.
#[derive(Clone, Copy, Debug)]
struct Open {
    /// Its place among all watches, which is its number in the file.
    place: usize,
    /// How many versions had been received when it began.
    began: u64,
}

/// What was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// How many versions.
    pub versions: u64,
    /// How many bytes their texts have.
    pub text_bytes: u64,
}

/// Why something happened to a watch, by the resource and the time.
pub type Reasons<'a> = dyn Fn(ApiResource, f64) -> String + 'a;

/// Writes what the history has, a few versions at a time, up to what had come when it began.
#[derive(Debug)]
pub struct Saver {
    writer: Writer,
    selected: Selected,
    /// The number of the next version, and of the next step of a watch.
    next: (u64, u64),
    /// Up to where they are written.
    end: u64,
    open: Vec<Open>,
    /// How many notes were written.
    noted: usize,
    /// What was written so far.
    pub written: Written,
}

impl Saver {
    /// What is in the history now is to be written, as far as it is selected.
    pub fn new(header: Header, selected: Selected, history: &History) -> Saver {
        Saver {
            writer: Writer::new(header),
            selected,
            next: (0, 0),
            end: history.received(),
            open: Vec::new(),
            noted: 0,
            written: Written::default(),
        }
    }

    /// Writes the notes up to a time.
    fn write_notes(&mut self, until: f64, history: &History) {
        let notes = history.notes.all().iter().skip(self.noted).take_while(|note| note.at <= until);
        for note in notes {
            self.writer.push(note.at, &Line::Note(&note.text));
            self.noted += 1;
        }
    }

    /// Writes at most so many versions. Returns whether there are more.
    pub fn go_on(&mut self, history: &History, most: usize, reasons: &Reasons<'_>) -> bool {
        let mut records: Vec<(Record, ObjectKey, ApiResource)> = Vec::new();
        let next = history.each_received(self.next.0, most, &mut |record, life, resource| {
            if record.sequence < self.end && self.selected.has(&resource) {
                records.push((*record, life.key.clone(), resource));
            }
        });
        for (record, key, resource) in records {
            self.write_steps(history, record.sequence, reasons);
            self.write_notes(record.at, history);
            if record.is_kept()
                && let Some(life) = history.life(record.life)
                && let Some(watch) = self.watch_of(&resource, &key, history)
            {
                self.write_version(watch, (&record, life), record.delta_type, record.at, history);
            }
        }
        match next.filter(|next| *next < self.end) {
            Some(next) => {
                self.next.0 = next;
                true
            }
            None => {
                self.write_steps(history, self.end, reasons);
                self.write_notes(f64::INFINITY, history);
                false
            }
        }
    }

    /// Whether a block is full.
    pub fn is_full(&self) -> bool {
        self.writer.is_full()
    }

    /// Ends a block, and takes its lines.
    pub fn take_block(&mut self) -> Vec<u8> {
        let lines = self.writer.take();
        self.writer.end_block();
        lines
    }

    /// The watch to which an object belongs: the newest one of its resource and namespace.
    fn watch_of(&self, resource: &ApiResource, key: &ObjectKey, history: &History) -> Option<usize> {
        let is_its = |open: &&Open| {
            history.coverage.watch(open.place).is_some_and(|(of, scope, _)| {
                of == *resource && (scope.namespace.is_empty() || *scope.namespace == *key.namespace)
            })
        };
        self.open.iter().rev().find(is_its).map(|open| open.place)
    }

    /// Writes what happened to the watches before a version was received.
    fn write_steps(&mut self, history: &History, received: u64, reasons: &Reasons<'_>) {
        let steps = history.coverage.steps(self.next.1).take_while(|(_, _, before, ..)| *before <= received);
        for (number, at, before, place, step) in steps.collect::<Vec<_>>() {
            self.next.1 = number + 1;
            self.write_notes(at, history);
            let Some((resource, scope, _)) = history.coverage.watch(place) else { continue };
            if !self.selected.has(&resource) {
                continue;
            }
            let step = match step {
                coverage::Step::Began => {
                    let (number, scope) = (place as u32, scope.clone());
                    let watch = Watch { number, resource, scope, is_repeated: false };
                    self.writer.push(at, &Line::Watch(watch));
                    self.open.push(Open { place, began: before });
                    continue;
                }
                coverage::Step::Listed => {
                    self.write_known(place, at, before, history);
                    Step::Listed
                }
                coverage::Step::Lists => Step::Lists(
                    history.coverage.relisted_at(number).map_or_else(String::new, |at| reasons(resource, at)),
                ),
                coverage::Step::Relisted => Step::Relisted,
                coverage::Step::Lost(since) => Step::Lost(since, reasons(resource, at)),
                coverage::Step::Gap(since) => Step::Gap(since, reasons(resource, at)),
                coverage::Step::Ended => {
                    self.open.retain(|open| open.place != place);
                    Step::Ended
                }
            };
            self.writer.push(at, &Line::Step(place as u32, step));
        }
    }

    /// A first list is complete: writes of its objects those that were known before in the same version, and those whose version
    /// is not kept.
    fn write_known(&mut self, place: usize, at: f64, received: u64, history: &History) {
        let Some((resource, scope, named)) = history.coverage.watch(place) else { return };
        let began = self.open.iter().find(|open| open.place == place).map_or(0, |open| open.began);
        let named: Vec<u32> = named.collect();
        let is_in = |key: &ObjectKey| scope.namespace.is_empty() || *scope.namespace == *key.namespace;
        for (life, past) in history.lives_at(resource, received) {
            let is_named = named.binary_search(&life.number).is_ok();
            if !is_in(&life.key) {
                continue;
            }
            match past.then {
                Then::Version(sequence) if is_named && sequence < began => {
                    if let Some(record) = history.record(sequence) {
                        self.write_version(place, (record, life), DeltaType::Replaced, at, history);
                    }
                }
                Then::Evicted if is_named || past.sequence >= began => {
                    let (key, uid, watch) = (&life.key, &life.uid, place as u32);
                    let delta_type = DeltaType::Replaced;
                    let version = Version { watch, delta_type, key, uid, text: Text::NotKept };
                    self.writer.push(at, &Line::Version(version));
                }
                _ => {}
            }
        }
    }

    fn write_version(
        &mut self,
        place: usize,
        (record, life): (&Record, &Life),
        delta_type: DeltaType,
        at: f64,
        history: &History,
    ) {
        let text = history.text(record.sequence).map(|text| {
            let resource = history.coverage.watch(place).map(|(resource, ..)| resource);
            let redacts = self.selected.redacts && !resource.is_some_and(|resource| secret::is_secret(&resource));
            match redacts.then(|| redact::redact(&text)).flatten() {
                Some(redacted) => Cow::Owned(redacted.text),
                None => text,
            }
        });
        let text = match &text {
            Some(text) => Text::Whole(text),
            None if delta_type == DeltaType::Deleted => Text::None,
            None => Text::NotKept,
        };
        if let Text::Whole(text) = text {
            self.written.text_bytes += text.len() as u64;
        }
        self.written.versions += 1;
        let Life { key, uid, .. } = life;
        self.writer.push(at, &Line::Version(Version { watch: place as u32, delta_type, key, uid, text }));
    }
}
