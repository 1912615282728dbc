//! A recording as a file: what the history has is written line by line, without what is not to be read.

use std::borrow::Cow;
use std::collections::VecDeque;

use kubechurn_client::api::object::ObjectKey;
use kubechurn_client::api::request::Scope;
use kubechurn_client::api::resource::ApiResource;
use kubechurn_client::api::uid::Uid;
use kubechurn_client::cache::delta::DeltaType;
use kubechurn_recorder::{Life, Record, Then};
use kubechurn_recording::replace::Replacer;
use kubechurn_recording::{Header, Line, Request, Step, Text, Version, Watch, Writer, redact};
use rustc_hash::FxHashSet;

use crate::history::coverage::{Moment, OpenAt};
use crate::history::who::joining;
use crate::history::{History, Was};
use crate::history::{coverage, secret};
use crate::kept::KeepCommand;
use crate::timeline::scale::Window;

pub use kubechurn_recording::replace::Rules;

/// Something that is to be done with a recording.
#[derive(Clone, Debug, PartialEq)]
pub enum RecordingCommand {
    /// Ask what is to be saved, and show what that is.
    Save,
    /// Call it so.
    Title(String),
    /// Save what is of this time.
    Time(SaveTime),
    /// Save a kind, by its place, or do not.
    Kind(usize),
    /// Save a namespace, by its place, or do not.
    Namespace(usize),
    /// Save all namespaces, or only those that are chosen then.
    Namespaces(bool),
    /// Make unreadable what looks like a credential, or do not.
    Redact,
    /// Replace names, addresses and images by these rules.
    Replace(Rules),
    /// Write the file.
    Write,
    /// Save nothing.
    CloseSave,
    /// Do something with a note.
    Note(NoteCommand),
    /// Do something with what the browser keeps.
    Keep(KeepCommand),
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

/// Which time is saved.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum SaveTime {
    /// All that is recorded.
    #[default]
    All,
    /// The chosen time.
    Chosen,
    /// The last ten minutes.
    Lately,
    /// The time between these times of day, as the user typed them.
    Typed([String; 2]),
}

/// A kind or a namespace that can be saved.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SaveItem {
    /// Its place among those that there are.
    pub place: usize,
    /// Its title, or its name.
    pub title: String,
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
    /// Which time is saved.
    pub time: SaveTime,
    /// The chosen time in words, if one is chosen.
    pub chosen: Option<String>,
    /// The ends of the time that is saved, as the user can type them.
    pub ends: [String; 2],
    /// The kinds.
    pub kinds: Vec<SaveItem>,
    /// The namespaces.
    pub namespaces: Vec<SaveItem>,
    /// How much it is, in words.
    pub total: String,
    /// Whether what looks like a credential is made unreadable.
    pub redacts: bool,
    /// How many values look so, in words.
    pub hits: String,
    /// Some of them.
    pub examples: Vec<String>,
    /// What is replaced.
    pub rules: Rules,
    /// How much that is, and some of it.
    pub replaced: Vec<String>,
}

/// Which of what is recorded is written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Selected {
    /// From when to when, in milliseconds; `None` for all of it. The end may be infinity.
    pub time: Option<Window>,
    /// The resources that are left out.
    pub without: Vec<ApiResource>,
    /// The namespaces that are left out, or, where only some are written, those. What is in no namespace is written.
    pub namespaces: FxHashSet<String>,
    /// Whether only the objects of these namespaces are written.
    pub only: bool,
    /// Whether what looks like a credential is made unreadable.
    pub redacts: bool,
    /// What is replaced.
    pub rules: Rules,
}

impl Selected {
    /// Whether the objects of a resource are written.
    pub fn has(&self, resource: &ApiResource) -> bool {
        !self.without.contains(resource)
    }

    /// Whether the objects of a namespace are written.
    pub fn has_namespace(&self, namespace: &str) -> bool {
        namespace.is_empty() || self.namespaces.contains(namespace) == self.only
    }

    /// The namespace with which an object is written: a Namespace goes with what is in it.
    pub fn namespace_of<'a>(resource: &ApiResource, key: &'a ObjectKey) -> &'a str {
        let is_namespace = (resource.group, resource.plural) == ("", "namespaces");
        if is_namespace { &key.name } else { &key.namespace }
    }

    /// Whether an object is written.
    pub fn has_object(&self, resource: &ApiResource, key: &ObjectKey) -> bool {
        self.has(resource) && self.has_namespace(Selected::namespace_of(resource, key))
    }

    /// What was done to it, in words for the file. What is left out is not named, for a name may be what is not to be known.
    pub fn words(&self) -> impl Iterator<Item = String> {
        let count = self.namespaces.len();
        let of = if count == 1 { "namespace" } else { "namespaces" };
        let namespaces = match (self.only, count) {
            (false, 0) => None,
            (false, _) => Some(format!("{count} {of} left out")),
            (true, _) => Some(format!("all but {count} {of} left out")),
        };
        let redacts = self.redacts.then(|| String::from(redact::RULE));
        redacts.into_iter().chain(self.rules.words().map(String::from)).chain(namespaces)
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

/// What is to be written before what comes next: of the time before the chosen one, or of what was known when a list was complete.
#[derive(Clone, Debug)]
enum Earlier {
    /// A watch that had begun.
    Watch(Open),
    /// A version that an object had, or that a list that was not complete had brought.
    Version(usize, u64, DeltaType),
    /// An object whose version is not kept.
    NotKept(usize, ObjectKey, Uid),
    /// How far the watch was.
    Step(usize, Step),
}

/// Writes what the history has, a few versions at a time, up to what had come when it began.
#[derive(Debug)]
pub struct Saver {
    writer: Writer,
    selected: Selected,
    replacer: Replacer,
    /// The number of the next version of which is learned what is to be replaced; `None` when all was.
    learns: Option<u64>,
    /// What is to be written first, and at which time: how everything was when the chosen time began, or a list was complete.
    earlier: (VecDeque<Earlier>, f64),
    /// The number of the next version, and of the next step of a watch.
    next: (u64, u64),
    /// Up to where they are written.
    end: (u64, u64),
    open: Vec<Open>,
    /// The notes that were written or passed over, by their numbers.
    noted: FxHashSet<u64>,
    /// The revision of the notes that was looked at last, and when the first of those is that are not written.
    next_note: (u64, f64),
    /// What was written so far.
    pub written: Written,
}

impl Saver {
    /// What is in the history now is to be written, as far as it is selected.
    pub fn new(header: Header, selected: Selected, history: &History, reasons: &Reasons<'_>) -> Saver {
        let [begin, end] = moments(&selected, history);
        let mut replacer = Replacer::new(selected.rules);
        for resource in history.resources().filter(|resource| selected.has(resource)) {
            for key in history.names(resource).filter(|key| selected.has_object(&resource, key)) {
                replacer.learn_name(&key.namespace);
                replacer.learn_name(&key.name);
            }
        }
        let server = replacer.words(&header.server).into_owned();
        let mut saver = Saver {
            writer: Writer::new(Header { server, redaction: selected.words().collect(), ..header }),
            learns: (!selected.rules.are_none()).then_some(0),
            replacer,
            selected,
            earlier: (VecDeque::new(), 0.0),
            next: (0, 0),
            end: end.map_or((history.received(), u64::MAX), |end| (end.received, end.entries)),
            open: Vec::new(),
            noted: FxHashSet::default(),
            next_note: (u64::MAX, f64::INFINITY),
            written: Written::default(),
        };
        if let Some(begin) = begin {
            saver.next = (begin.received, begin.entries);
            let before = history.notes.all().iter().take_while(|note| note.at < begin.at);
            saver.noted = before.map(|note| note.id).collect();
            saver.earlier = (saver.earlier_of(begin, history, reasons), begin.at);
        }
        saver
    }

    /// How everything was at a moment.
    fn earlier_of(&self, begin: Moment, history: &History, reasons: &Reasons<'_>) -> VecDeque<Earlier> {
        let mut earlier = VecDeque::new();
        for OpenAt { place, began, is_listed, lists, lost, .. } in history.coverage.open_at(begin) {
            let Some((resource, scope, _)) = history.coverage.watch(place) else { continue };
            if !(self.selected.has(&resource) && self.selected.has_namespace(&scope.namespace)) {
                continue;
            }
            earlier.push_back(Earlier::Watch(Open { place, began }));
            if is_listed {
                let known = history.coverage.known(resource, begin);
                history.each_past(resource, &known, &mut |past| {
                    let is_own = history.coverage.part_of(&known, past.key).is_some_and(|part| part.watch == place);
                    if is_own && self.selected.has_object(&resource, past.key) {
                        earlier.push_back(match past.was {
                            Was::Newest(Some(record)) | Was::Version(record) => {
                                Earlier::Version(place, record.sequence, DeltaType::Replaced)
                            }
                            Was::Newest(None) | Was::Evicted => {
                                Earlier::NotKept(place, past.key.clone(), past.uid.clone())
                            }
                        });
                    }
                });
                earlier.push_back(Earlier::Step(place, Step::Listed));
            }
            // What a list had brought that was not complete.
            let since = lists.map_or((!is_listed).then_some(began), |(received, number)| {
                let at = history.coverage.relisted_at(number);
                let reason = at.map_or_else(String::new, |at| reasons(resource, at));
                earlier.push_back(Earlier::Step(place, Step::Lists(reason)));
                Some(received)
            });
            if let Some(since) = since {
                history.each_received(since, (begin.received - since) as usize, &mut |record, life, of| {
                    let is_in = scope.namespace.is_empty() || *scope.namespace == *life.key.namespace;
                    let is_before = record.is_kept() && record.sequence < begin.received;
                    if is_before && is_in && of == resource && self.selected.has_object(&of, &life.key) {
                        earlier.push_back(Earlier::Version(place, record.sequence, record.delta_type));
                    }
                });
            }
            if let Some((since, at)) = lost {
                earlier.push_back(Earlier::Step(place, Step::Lost(since, reasons(resource, at))));
            }
        }
        earlier
    }

    fn write_earlier(&mut self, earlier: Earlier, history: &History) {
        let at = self.earlier.1;
        match earlier {
            Earlier::Watch(open) => self.write_watch(open, at, history),
            Earlier::Version(place, sequence, delta_type) => {
                if let Some(record) = history.record(sequence)
                    && let Some(life) = history.life(record.life)
                {
                    self.write_version(place, (record, life), delta_type, at, history);
                }
            }
            Earlier::NotKept(place, key, uid) => self.write_not_kept(place, (&key, &uid), at),
            Earlier::Step(place, step) => self.write_step(place, step, at),
        }
    }

    /// Writes that a watch began, and before it the definition of its resource.
    fn write_watch(&mut self, open: Open, at: f64, history: &History) {
        let Some((resource, scope, _)) = history.coverage.watch(open.place) else { return };
        if let Some(text) = history.definitions.get(&resource) {
            self.writer.push(at, &Line::Definition(text));
        }
        let [namespace, label_selector, field_selector] =
            [&scope.namespace, &scope.label_selector, &scope.field_selector]
                .map(|words| self.replacer.words(words).into_owned());
        let (number, scope) = (open.place as u32, Scope { namespace, label_selector, field_selector });
        self.writer.push(at, &Line::Watch(Watch { number, resource, scope, is_repeated: false }));
        self.open.push(open);
    }

    fn write_step(&mut self, place: usize, step: Step, at: f64) {
        let mut reason = |reason: String| self.replacer.words(&reason).into_owned();
        let step = match step {
            Step::Lists(words) => Step::Lists(reason(words)),
            Step::Lost(since, words) => Step::Lost(since, reason(words)),
            Step::Gap(since, words) => Step::Gap(since, reason(words)),
            step => step,
        };
        self.writer.push(at, &Line::Step(place as u32, step));
    }

    fn write_not_kept(&mut self, place: usize, (key, uid): (&ObjectKey, &Uid), at: f64) {
        let (watch, delta_type, key) = (place as u32, DeltaType::Replaced, self.written_key(key));
        self.writer.push(at, &Line::Version(Version { watch, delta_type, key: &key, uid, text: Text::NotKept }));
    }

    /// The key under which an object is written.
    fn written_key<'a>(&mut self, key: &'a ObjectKey) -> Cow<'a, ObjectKey> {
        if self.replacer.rules().are_none() {
            return Cow::Borrowed(key);
        }
        let namespace = self.replacer.words(&key.namespace);
        Cow::Owned(ObjectKey::new(&namespace, &self.replacer.words(&key.name)))
    }

    /// Learns from at most so many versions what is to be replaced.
    fn learn(&mut self, from: u64, history: &History, most: usize) {
        let mut found = Vec::new();
        let next = history.each_received(from, most, &mut |record, life, resource| {
            if record.sequence < self.end.0 && record.has_text && self.selected.has_object(&resource, &life.key) {
                found.push(record.sequence);
            }
        });
        for sequence in found {
            if let Some(text) = history.text(sequence) {
                self.replacer.learn(&text);
            }
            if let Some(request) = joining::request(history, sequence) {
                self.replacer.learn_name(&request.user);
                self.replacer.learn_name(&request.impersonated);
            }
        }
        self.learns = next.filter(|next| *next < self.end.0);
    }

    /// Writes the notes up to a time. One that was made since, about an earlier time, comes with its own time.
    fn write_notes(&mut self, until: f64, history: &History) {
        let revision = history.notes.revision();
        if self.next_note.0 == revision && self.next_note.1 > until {
            return;
        }
        let end = self.selected.time.map_or(f64::INFINITY, |time| time.to);
        self.next_note = (revision, f64::INFINITY);
        for note in history.notes.all().iter().take_while(|note| note.at <= end) {
            if note.at > until && !self.noted.contains(&note.id) {
                self.next_note.1 = note.at;
                break;
            }
            if self.noted.insert(note.id) {
                self.writer.push(note.at, &Line::Note(&note.text));
            }
        }
    }

    /// What has come since is to be written, too.
    pub fn extend(&mut self, history: &History) {
        self.end.0 = history.received();
    }

    /// Whether something has come that is not written.
    pub fn is_behind(&self, history: &History) -> bool {
        self.next.0 < history.received()
            || history.coverage.steps(self.next.1).next().is_some()
            || self.next_note.0 != history.notes.revision()
    }

    /// Writes at most so many versions. Returns whether there are more.
    pub fn go_on(&mut self, history: &History, most: usize, reasons: &Reasons<'_>) -> bool {
        if let Some(from) = self.learns {
            self.learn(from, history, most);
            return true;
        }
        if !self.earlier.0.is_empty() {
            for _ in 0..most {
                let Some(earlier) = self.earlier.0.pop_front() else { break };
                self.write_earlier(earlier, history);
            }
            return true;
        }
        let (end, _) = self.end;
        let mut records: Vec<(Record, ObjectKey, ApiResource)> = Vec::new();
        let next = history.each_received(self.next.0, most, &mut |record, life, resource| {
            if record.sequence < end && self.selected.has_object(&resource, &life.key) {
                records.push((*record, life.key.clone(), resource));
            }
        });
        for (record, key, resource) in records {
            self.write_steps(history, record.sequence, reasons);
            if !self.earlier.0.is_empty() {
                self.next.0 = record.sequence;
                return true;
            }
            self.write_notes(record.at, history);
            if record.is_kept()
                && let Some(life) = history.life(record.life)
                && let Some(watch) = self.watch_of(&resource, &key, history)
            {
                self.write_version(watch, (&record, life), record.delta_type, record.at, history);
            }
        }
        match next.filter(|next| *next < end) {
            Some(next) => {
                self.next.0 = next;
                true
            }
            None => {
                self.next.0 = end;
                self.write_steps(history, end, reasons);
                if !self.earlier.0.is_empty() {
                    return true;
                }
                self.write_notes(f64::INFINITY, history);
                false
            }
        }
    }

    /// Whether a block is full.
    pub fn is_full(&self) -> bool {
        self.writer.is_full()
    }

    /// How many bytes of lines were written and not taken.
    pub fn waiting(&self) -> usize {
        self.writer.waiting()
    }

    /// Takes the lines that were written since the last call.
    pub fn take(&mut self) -> Vec<u8> {
        self.writer.take()
    }

    /// Ends the block, whose lines were taken.
    pub fn end_block(&mut self) {
        self.writer.end_block();
    }

    /// Ends a block, and takes its lines.
    pub fn take_block(&mut self) -> Vec<u8> {
        let lines = self.take();
        self.end_block();
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

    /// Writes what happened to the watches before a version was received, up to where more is to be written first.
    fn write_steps(&mut self, history: &History, received: u64, reasons: &Reasons<'_>) {
        let (_, end) = self.end;
        let steps = history.coverage.steps(self.next.1);
        let steps = steps.take_while(|(number, _, before, ..)| *before <= received && *number < end);
        for (number, at, before, place, step) in steps.collect::<Vec<_>>() {
            self.next.1 = number + 1;
            self.write_notes(at, history);
            let Some((resource, scope, _)) = history.coverage.watch(place) else { continue };
            if !(self.selected.has(&resource) && self.selected.has_namespace(&scope.namespace)) {
                continue;
            }
            let step = match step {
                coverage::Step::Began => {
                    self.write_watch(Open { place, began: before }, at, history);
                    continue;
                }
                coverage::Step::Listed => {
                    self.queue_known(place, before, history);
                    self.earlier.0.push_back(Earlier::Step(place, Step::Listed));
                    self.earlier.1 = at;
                    return;
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
            self.write_step(place, step, at);
        }
    }

    /// A first list is complete: has those of its objects written first that were known before in the same version, and those
    /// whose version is not kept.
    fn queue_known(&mut self, place: usize, received: u64, history: &History) {
        let Some((resource, scope, named)) = history.coverage.watch(place) else { return };
        let began = self.open.iter().find(|open| open.place == place).map_or(0, |open| open.began);
        let named: Vec<u32> = named.collect();
        let is_in = |key: &ObjectKey| scope.namespace.is_empty() || *scope.namespace == *key.namespace;
        for (life, past) in history.lives_at(resource, received) {
            let is_named = named.binary_search(&life.number).is_ok();
            if !(is_in(&life.key) && self.selected.has_object(&resource, &life.key)) {
                continue;
            }
            match past.then {
                Then::Version(sequence) if is_named && sequence < began => {
                    self.earlier.0.push_back(Earlier::Version(place, sequence, DeltaType::Replaced));
                }
                Then::Evicted if is_named || past.sequence >= began => {
                    self.earlier.0.push_back(Earlier::NotKept(place, life.key.clone(), life.uid.clone()));
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
        let resource = history.coverage.watch(place).map(|(resource, ..)| resource);
        let is_masked = resource.is_some_and(|resource| secret::is_secret(&resource));
        let kept = history.text(record.sequence);
        let readable = kept.as_ref().filter(|_| self.selected.redacts);
        let redacted = readable.and_then(|text| redact::redact(text, is_masked));
        let text = redacted.as_ref().map(|redacted| &*redacted.text).or(kept.as_deref());
        let text = text.map(|text| self.replacer.replace(text));
        let text = match &text {
            Some(text) => Text::Whole(text),
            None if delta_type == DeltaType::Deleted => Text::None,
            None => Text::NotKept,
        };
        if let Text::Whole(text) = text {
            self.written.text_bytes += text.len() as u64;
        }
        self.written.versions += 1;
        let key = self.written_key(&life.key);
        let version = Version { watch: place as u32, delta_type, key: &key, uid: &life.uid, text };
        self.writer.push(at, &Line::Version(version));
        self.write_request(place, (record, life), at, history);
    }

    /// Writes who made the request that led to a version, where that is certain.
    fn write_request(&mut self, place: usize, (record, life): (&Record, &Life), at: f64, history: &History) {
        let Some(request) = joining::request(history, record.sequence) else { return };
        let version = history.version_of_number(record.sequence).map(|version| version.to_string());
        let words = [&request.user, &request.impersonated, &request.agent, &request.address];
        let [user, impersonated, agent, address] = words.map(|words| self.replacer.words(words).into_owned().into());
        self.writer.push(
            at,
            &Line::Request(Request {
                watch: place as u32,
                uid: life.uid.clone(),
                version: version.unwrap_or_default().into(),
                is_deletion: record.delta_type == DeltaType::Deleted,
                user,
                impersonated,
                agent,
                address,
                verb: Cow::Borrowed(&request.verb),
                at: request.at,
                id: Cow::Borrowed(&request.id),
            }),
        );
    }
}

/// The moments at which what is selected begins and ends; `None` for all that is recorded.
pub fn moments(selected: &Selected, history: &History) -> [Option<Moment>; 2] {
    let moment = |at: f64| history.moment(at);
    let [from, to] = selected.time.map_or([None; 2], |Window { from, to }| [Some(from), Some(to)]);
    [from.map(moment), to.filter(|to| to.is_finite()).map(moment)]
}
