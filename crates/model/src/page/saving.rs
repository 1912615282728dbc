//! Saves what is recorded as a file: shows first what will be in it, and then writes it block by block.

use kubechurn_client::api::object::ObjectKey;
use kubechurn_client::api::resource::ApiResource;
use kubechurn_client::api::sort::{sort, sort_by};
use kubechurn_recorder::Record;
use kubechurn_recording::Header;
use kubechurn_recording::redact::redact;
use kubechurn_recording::replace::Replacer;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::history::{History, Was, secret};
use crate::page::context::Context;
use crate::page::effect::{Effect, Request};
use crate::page::notes;
use crate::page::requests::Purpose;
use crate::page::span;
use crate::recording::{RecordingCommand, SaveItem, SaveModel, SaveTime, Saver, Selected, moments};
use crate::timeline::mark::grouped;
use crate::timeline::scale::Window;
use crate::view;

/// How long a frame may look at what is recorded, or write it, in milliseconds.
const SHARE: f64 = 6.0;
/// How many versions are looked at between two looks at the clock.
const BATCH: usize = 32;
/// How many of the values that are made unreadable are shown.
const HITS: usize = 6;

/// What the user is asked before a file is written.
#[derive(Debug, Default)]
struct Question {
    title: String,
    selected: Selected,
    time: SaveTime,
    /// The number of the next version to be looked at, and of the first one that is not; `None` when all were.
    next: Option<(u64, u64)>,
    kinds: Vec<ApiResource>,
    namespaces: Vec<String>,
    /// The places of the kind and the namespace of each object, by the number of its life.
    places: FxHashMap<u32, (usize, usize)>,
    /// How many versions there are of each kind and namespace, by their places.
    counts: FxHashMap<(usize, usize), u64>,
    /// The newest version of each object that is written, by the number of its life.
    newest: FxHashMap<u32, u64>,
    /// Those that are still to be looked into.
    unread: Vec<u64>,
    hits: Vec<String>,
    hit_count: u64,
    replacer: Replacer,
}

/// A file that is being written.
#[derive(Debug)]
struct Writing {
    saver: Saver,
    file: u64,
    name: String,
    /// Whether a block is being compressed.
    waits: bool,
    is_over: bool,
}

/// What is saved.
#[derive(Debug, Default)]
pub(super) struct Saving {
    question: Option<Question>,
    writing: Option<Writing>,
}

impl Saving {
    pub(super) fn is_open(&self) -> bool {
        self.question.is_some()
    }

    /// Carries out a command.
    pub(super) fn handle(&mut self, command: RecordingCommand, cx: &mut Context<'_>) {
        match (command, &mut self.question) {
            (RecordingCommand::Save, _) if let Some(writing) = &self.writing => {
                cx.show_message(&format!("{} is still being written.", writing.name));
            }
            (RecordingCommand::Save, _) => {
                let selected = Selected { redacts: true, ..Selected::default() };
                let mut question = Question { selected, ..Question::default() };
                question.begin(&cx.watching.history);
                self.question = Some(question);
            }
            (RecordingCommand::Title(title), Some(question)) => question.title = title,
            (RecordingCommand::Redact, Some(question)) => question.selected.redacts ^= true,
            (RecordingCommand::Replace(rules), Some(question)) => {
                question.selected.rules = rules;
                question.begin(&cx.watching.history);
            }
            (RecordingCommand::Time(time), Some(question)) => match window(&time, cx) {
                Ok(window) => {
                    (question.time, question.selected.time) = (time, window);
                    question.begin(&cx.watching.history);
                }
                Err(words) => cx.show_message(words),
            },
            (RecordingCommand::Kind(at), Some(question)) => {
                let Some(kind) = question.kinds.get(at).copied() else { return };
                let without = &mut question.selected.without;
                match without.iter().position(|other| *other == kind) {
                    Some(at) => drop(without.remove(at)),
                    None => without.push(kind),
                }
                question.begin(&cx.watching.history);
            }
            (RecordingCommand::Namespace(at), Some(question)) => {
                let Some(name) = question.namespaces.get(at).cloned() else { return };
                let named = &mut question.selected.namespaces;
                if !named.remove(&name) {
                    named.insert(name);
                }
                question.begin(&cx.watching.history);
            }
            (RecordingCommand::Namespaces(all), Some(question)) => {
                (question.selected.only, question.selected.namespaces) = (!all, FxHashSet::default());
                question.begin(&cx.watching.history);
            }
            (RecordingCommand::Write, Some(_)) => self.write(cx),
            (RecordingCommand::CloseSave, _) => self.question = None,
            (RecordingCommand::Note(command), _) => return notes::handle(command, cx),
            (RecordingCommand::Open, _) => cx.effects.push(Effect::ChooseRecording),
            (RecordingCommand::Close, _) => cx.effects.push(Effect::CloseRecording),
            _ => {}
        }
        self.present(cx);
        cx.hurry();
    }

    fn write(&mut self, cx: &mut Context<'_>) {
        let Some(Question { title, selected, .. }) = self.question.take() else { return };
        let header = header(title.clone(), cx);
        let words = cx.words().full(cx.now);
        let name = file_name(if title.trim().is_empty() { &words } else { &title });
        let notices = &cx.notices.list;
        let reasons = |resource, at| notices.reason(&resource, at);
        let saver = Saver::new(header, selected, &cx.watching.history, &reasons);
        let file = cx.env.secret_number();
        self.writing = Some(Writing { saver, file, name, waits: false, is_over: false });
    }

    /// Goes on looking or writing within a frame's share of time.
    pub(super) fn work(&mut self, cx: &mut Context<'_>) {
        let end = cx.env.work_clock() + SHARE;
        if let Some(question) = self.question.as_mut().filter(|question| question.next.is_some()) {
            while question.next.is_some() && cx.env.work_clock() < end {
                question.look(cx);
            }
            self.present(cx);
            cx.hurry();
        }
        let Some(writing) = self.writing.as_mut().filter(|writing| !writing.waits && !writing.is_over) else { return };
        let (history, notices) = (&cx.watching.history, &cx.notices.list);
        while !writing.is_over && !writing.saver.is_full() && cx.env.work_clock() < end {
            writing.is_over = !writing.saver.go_on(history, BATCH, &|resource, at| notices.reason(&resource, at));
        }
        if writing.is_over || writing.saver.is_full() {
            writing.waits = true;
            let name = writing.is_over.then(|| writing.name.clone());
            let request = Request::Pack { lines: writing.saver.take_block(), file: writing.file, name };
            cx.request(Purpose::Pack, request);
        }
        cx.hurry();
    }

    /// A block was compressed, or the file was handed over, which has so many bytes; `None` where that failed.
    pub(super) fn packed(&mut self, bytes: Option<usize>, cx: &mut Context<'_>) {
        let Some(writing) = &mut self.writing else { return };
        writing.waits = false;
        match bytes {
            Some(bytes) if writing.is_over => {
                let versions = grouped(writing.saver.written.versions);
                let words = format!("{}: {versions} versions, {}.", writing.name, view::bytes_of(bytes as f64));
                cx.show_message(&words);
                self.writing = None;
            }
            Some(_) => {}
            None => {
                cx.show_message("The browser could not write the file: it has no room for it, or cannot compress.");
                self.writing = None;
            }
        }
        cx.hurry();
    }

    fn present(&self, cx: &mut Context<'_>) {
        let model = self.question.as_ref().map(|question| question.model(cx));
        cx.view.dialogs.save.put(model);
    }
}

/// What a file says of itself that is written now.
pub(super) fn header(title: String, cx: &Context<'_>) -> Header {
    Header {
        title,
        program: format!("kubechurn {}", env!("CARGO_PKG_VERSION")),
        server: cx.view.header.source.address.clone(),
        release: cx.navigation.catalog.release().map(|release| release.to_string()).unwrap_or_default(),
        ahead: cx.env.to_wall() + cx.env.server_clock("").ahead(),
        redaction: Vec::new(),
    }
}

/// What a file with this title is called.
pub(super) fn file_name(title: &str) -> String {
    let parts = title.split(|letter: char| !letter.is_alphanumeric()).filter(|part| !part.is_empty());
    format!("{}.churn", parts.collect::<Vec<_>>().join("-"))
}

/// The time that is to be saved; `None` for all.
fn window(time: &SaveTime, cx: &Context<'_>) -> Result<Option<Window>, &'static str> {
    let between = |from: f64, to: f64| Some(Window { from: from.min(to), to: from.max(to) });
    match time {
        SaveTime::All => Ok(None),
        SaveTime::Chosen => Ok(cx.navigation.route.span),
        SaveTime::Lately => Ok(between(cx.newest() - span::LATELY, f64::INFINITY)),
        SaveTime::Typed(ends) => span::typed(ends, cx).map(|[from, to]| between(from, to)).ok_or(span::TYPED),
    }
}

impl Question {
    /// Begins to look at what is selected.
    fn begin(&mut self, history: &History) {
        (self.counts, self.newest) = Default::default();
        (self.unread, self.hits, self.hit_count) = Default::default();
        self.replacer = Replacer::new(self.selected.rules);
        let [begin, end] = moments(&self.selected, history);
        let end = end.map_or(history.received(), |end| end.received);
        self.next = Some((begin.map_or(0, |begin| begin.received), end));
        let Some(begin) = begin else { return };
        for resource in history.resources().collect::<Vec<_>>() {
            let known = history.coverage.known(resource, begin);
            history.each_past(resource, &known, &mut |past| {
                if let Was::Newest(Some(record)) | Was::Version(record) = past.was {
                    self.count(resource, past.key, record);
                }
            });
        }
    }

    fn count(&mut self, resource: ApiResource, key: &ObjectKey, record: &Record) {
        let place = self.places.entry(record.life).or_insert_with(|| {
            let namespace = Selected::namespace_of(&resource, key);
            let kind = place_of(&mut self.kinds, |kind| *kind == resource, || resource);
            (kind, place_of(&mut self.namespaces, |name| name == namespace, || namespace.to_owned()))
        });
        *self.counts.entry(*place).or_default() += 1;
        if record.has_text && self.selected.has_object(&resource, key) {
            self.newest.insert(record.life, record.sequence);
        }
    }

    /// Looks at the next versions.
    fn look(&mut self, cx: &Context<'_>) {
        let history = &cx.watching.history;
        let Some((from, end)) = self.next else { return };
        if from < end {
            let next = history.each_received(from, BATCH, &mut |record, life, resource| {
                if record.sequence < end && record.is_kept() {
                    self.count(resource, &life.key, record);
                }
            });
            self.next = Some((next.unwrap_or(end), end));
            if next.is_none_or(|next| next >= end) {
                self.unread = self.newest.drain().map(|(_, sequence)| sequence).collect();
                sort(&mut self.unread);
                self.unread.reverse();
                self.next = Some((end, end));
            }
            return;
        }
        for _ in 0..BATCH {
            let Some(sequence) = self.unread.pop() else {
                self.next = None;
                return;
            };
            let life = history.record(sequence).and_then(|record| history.life(record.life));
            let (Some(life), Some(text)) = (life, history.text(sequence)) else { continue };
            if !self.selected.rules.are_none() {
                self.replacer.learn_name(&life.key.namespace);
                self.replacer.learn_name(&life.key.name);
                self.replacer.learn(&text);
                // Addresses are known when they are replaced.
                let _ = self.replacer.replace(&text);
            }
            let Some(resource) = history.resource_of(life) else { continue };
            let redacted = redact(&text, secret::is_secret(&resource));
            for name in redacted.into_iter().flat_map(|redacted| redacted.names) {
                self.hit_count += 1;
                if self.hits.len() < HITS {
                    let kind = resource.kind;
                    self.hits.push(format!("{kind} {}: {name}", life.key));
                }
            }
        }
    }

    fn model(&self, cx: &Context<'_>) -> SaveModel {
        let (mut of_kinds, mut of_namespaces) = (vec![0; self.kinds.len()], vec![0; self.namespaces.len()]);
        let mut versions = 0;
        for ((kind, namespace), count) in &self.counts {
            of_kinds[*kind] += count;
            of_namespaces[*namespace] += count;
            let is_selected = self.selected.has(&self.kinds[*kind]);
            if is_selected && self.selected.has_namespace(&self.namespaces[*namespace]) {
                versions += count;
            }
        }
        let kinds = self.kinds.iter().zip(of_kinds).enumerate().map(|(place, (kind, count))| SaveItem {
            place,
            title: cx.navigation.catalog.of_resource(kind).map_or(kind.kind, |kind| kind.title).to_owned(),
            count: grouped(count),
            is_chosen: self.selected.has(kind),
        });
        let namespaces = self.namespaces.iter().zip(of_namespaces).enumerate();
        let namespaces = namespaces.filter(|(_, (name, _))| !name.is_empty()).map(|(place, (name, count))| SaveItem {
            place,
            title: name.clone(),
            count: grouped(count),
            is_chosen: self.selected.has_namespace(name),
        });
        let mut namespaces: Vec<SaveItem> = namespaces.collect();
        sort_by(&mut namespaces, |one, other| one.title.cmp(&other.title));
        let history = &cx.watching.history;
        let (kept, whole) = (history.bytes().0 as f64, history.whole_since());
        let part = (versions as f64 / (history.kept() as f64).max(1.0)).min(1.0);
        let is_lost = |since: &f64| self.selected.time.is_none_or(|time| time.from < *since);
        let since = whole.filter(is_lost);
        let since = since.map(|since| format!(" What came before {} is not kept any more.", cx.words().full(since)));
        let total = format!(
            "{} versions{}, which take {}{} in memory.{}",
            grouped(versions),
            if self.next.is_some() { " so far" } else { "" },
            if part < 1.0 { "about " } else { "" },
            view::bytes_of(kept * part),
            since.unwrap_or_default()
        );
        let hits = match self.hit_count {
            0 => String::from("Nothing in the newest versions has such a name."),
            1 => String::from("1 value in the newest versions:"),
            count => format!("{} values in the newest versions, among them:", grouped(count)),
        };
        let word = |at: f64| if at.is_finite() { cx.words().time_of_day(at) } else { String::from("now") };
        let words = |Window { from, to }: Window| [word(from), word(to)];
        SaveModel {
            title: self.title.clone(),
            time: self.time.clone(),
            chosen: cx.navigation.route.span.map(|span| words(span).join(" – ")),
            ends: self.selected.time.map(words).unwrap_or_default(),
            kinds: kinds.collect(),
            namespaces,
            total,
            redacts: self.selected.redacts,
            hits,
            examples: self.hits.clone(),
            rules: self.selected.rules,
            replaced: self.replacer.found(),
        }
    }
}

/// The place of an item in a list, to which it is added where it is not there.
fn place_of<T>(list: &mut Vec<T>, is_it: impl Fn(&T) -> bool, make: impl FnOnce() -> T) -> usize {
    list.iter().position(is_it).unwrap_or_else(|| {
        list.push(make());
        list.len() - 1
    })
}
