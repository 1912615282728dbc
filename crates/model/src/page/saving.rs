//! Saves what is recorded as a file: shows first what will be in it, and then writes it block by block.

use kubechurn_client::api::resource::ApiResource;
use kubechurn_recording::Header;

use crate::history::secret;
use crate::page::context::Context;
use crate::page::effect::{Effect, Request};
use crate::page::notes;
use crate::page::requests::Purpose;
use crate::recording::redact::redact;
use crate::recording::{RecordingCommand, SaveKind, SaveModel, Saver, Selected};
use crate::timeline::mark::grouped;
use crate::view;

/// How long a frame may look at what is recorded, or write it, in milliseconds.
const SHARE: f64 = 6.0;
/// How many versions are looked at between two looks at the clock.
const BATCH: usize = 32;
/// How many of the values that are made unreadable are shown.
const HITS: usize = 6;

/// What was found of a kind.
#[derive(Debug)]
struct Counted {
    resource: ApiResource,
    versions: u64,
}

/// What the user is asked before a file is written.
#[derive(Debug, Default)]
struct Question {
    title: String,
    selected: Selected,
    /// The number of the next version to be looked at; `None` when all were.
    next: Option<u64>,
    kinds: Vec<Counted>,
    hits: Vec<String>,
    hit_count: u64,
}

/// A file that is being written.
#[derive(Debug)]
struct Writing {
    saver: Saver,
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
            (RecordingCommand::Save, _) => {
                let selected = Selected { redacts: true, ..Selected::default() };
                self.question = Some(Question { selected, next: Some(0), ..Question::default() });
            }
            (RecordingCommand::Title(title), Some(question)) => question.title = title,
            (RecordingCommand::Redact, Some(question)) => question.selected.redacts ^= true,
            (RecordingCommand::Kind(at), Some(question)) => {
                let Some(kind) = question.kinds.get(at).map(|kind| kind.resource) else { return };
                let without = &mut question.selected.without;
                match without.iter().position(|other| *other == kind) {
                    Some(at) => drop(without.remove(at)),
                    None => without.push(kind),
                }
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
        let clock = cx.env.server_clock("");
        let is_redacted = selected.redacts.then(|| String::from("values whose names look like those of credentials"));
        let header = Header {
            title: title.clone(),
            program: format!("kubechurn {}", env!("CARGO_PKG_VERSION")),
            server: cx.view.header.source.address.clone(),
            release: String::new(),
            ahead: cx.env.to_wall() + clock.ahead(),
            redaction: is_redacted.into_iter().collect(),
        };
        let words = cx.words().full(cx.now);
        let name = if title.trim().is_empty() { words } else { title };
        let name: String = name.chars().map(|letter| if letter.is_alphanumeric() { letter } else { '-' }).collect();
        let name = format!("{}.churn", name.split('-').filter(|part| !part.is_empty()).collect::<Vec<_>>().join("-"));
        let saver = Saver::new(header, selected, &cx.watching.history);
        self.writing = Some(Writing { saver, name, waits: false, is_over: false });
    }

    /// Goes on looking or writing within a frame's share of time.
    pub(super) fn work(&mut self, cx: &mut Context<'_>) {
        let end = cx.env.now() + SHARE;
        if let Some(question) = self.question.as_mut().filter(|question| question.next.is_some()) {
            while question.next.is_some() && cx.env.now() < end {
                question.look(cx);
            }
            self.present(cx);
            cx.hurry();
        }
        let Some(writing) = self.writing.as_mut().filter(|writing| !writing.waits && !writing.is_over) else { return };
        let (history, notices) = (&cx.watching.history, &cx.notices.list);
        while !writing.is_over && !writing.saver.is_full() && cx.env.now() < end {
            writing.is_over = !writing.saver.go_on(history, BATCH, &|resource, at| notices.reason(&resource, at));
        }
        if writing.is_over || writing.saver.is_full() {
            writing.waits = true;
            let name = writing.is_over.then(|| writing.name.clone());
            let request = Request::Pack { lines: writing.saver.take_block(), name };
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

impl Question {
    /// Looks at the next versions.
    fn look(&mut self, cx: &Context<'_>) {
        let Some(from) = self.next else { return };
        let history = &cx.watching.history;
        let (kinds, mut newest) = (&mut self.kinds, Vec::new());
        self.next = history.each_received(from, BATCH, &mut |record, life, resource| {
            match kinds.iter_mut().find(|kind| kind.resource == resource) {
                Some(kind) => kind.versions += 1,
                None => kinds.push(Counted { resource, versions: 1 }),
            }
            if record.has_text && history.is_newest(record, life) && !secret::is_secret(&resource) {
                newest.push((record.sequence, life.key.clone(), resource.kind));
            }
        });
        for (sequence, key, kind) in newest {
            let redacted = history.text(sequence).and_then(|text| redact(&text));
            for name in redacted.into_iter().flat_map(|redacted| redacted.names) {
                self.hit_count += 1;
                if self.hits.len() < HITS {
                    self.hits.push(format!("{kind} {key}: {name}"));
                }
            }
        }
    }

    fn model(&self, cx: &Context<'_>) -> SaveModel {
        let kinds = self.kinds.iter().map(|kind| SaveKind {
            title: cx.navigation.catalog.of_resource(&kind.resource).map_or(kind.resource.kind, |kind| kind.title),
            count: grouped(kind.versions),
            is_chosen: self.selected.has(&kind.resource),
        });
        let chosen = self.kinds.iter().filter(|kind| self.selected.has(&kind.resource));
        let versions: u64 = chosen.map(|kind| kind.versions).sum();
        let (kept, whole) = (cx.watching.history.bytes().0, cx.watching.history.whole_since());
        let since = whole.map(|since| format!(" What came before {} is not kept any more.", cx.words().full(since)));
        let total = format!(
            "{} versions{}, which take {} in memory.{}",
            grouped(versions),
            if self.next.is_some() { " so far" } else { "" },
            view::bytes_of(kept as f64),
            since.unwrap_or_default()
        );
        let hits = match self.hit_count {
            0 => String::from("Nothing in the newest versions has such a name."),
            1 => String::from("1 value in the newest versions:"),
            count => format!("{} values in the newest versions, among them:", grouped(count)),
        };
        SaveModel {
            title: self.title.clone(),
            kinds: kinds.collect(),
            total,
            redacts: self.selected.redacts,
            hits,
            examples: self.hits.clone(),
        }
    }
}
