//! The stream of a kind, made of what the page has recorded: a list, the events after it, and where its watch was broken.
//!
//! Only names and versions are played, so no text is read. A few objects stand for all, so that each of them can be followed:
//! those that changed last. All their versions are played that are kept, and what is left out is counted.

use std::sync::Arc;

use kubechurn_client::api::object::{ObjectKey, ResourceVersion};
use kubechurn_client::api::resource::ApiResource;
use kubechurn_client::api::sort;
use kubechurn_client::api::uid::Uid;
use kubechurn_client::cache::delta::DeltaType;
use kubechurn_recorder::{Record, Then};
use rustc_hash::FxHashSet;
use serde_json::json;

use crate::history::History;
use crate::history::coverage::{Moment, Step};
use crate::inside::breaks::{Break, BreakKind};
use crate::inside::handlers::HandlerOptions;
use crate::inside::machine::Settings;
use crate::inside::place::SLOW;
use crate::inside::server::{Frame, Grown, Server};
use crate::inside::walk::Stream;
use crate::timeline::mark::grouped;

/// So many objects stand for all.
pub const OBJECTS: usize = 8;
/// So many of the newest events are looked through at most.
pub const EVENTS: usize = 10_000;
/// The longest time between two events, in milliseconds. What lasts longer is shortened: the bookmarks that keep a watch alive
/// meanwhile are not recorded.
const QUIET: f64 = 10_000.0;

/// Which stream.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// The kind.
    pub resource: ApiResource,
    /// Its title.
    pub title: &'a str,
    /// The namespaces to which it is limited; none is all.
    pub namespaces: &'a [String],
    /// The object that is certainly among those that are played.
    pub object: Option<&'a ObjectKey>,
    /// The moment up to which it goes.
    pub moment: Moment,
    /// The numbers of what is played, where that is settled.
    pub received: Option<(u64, u64)>,
    /// Whether it comes from a file, and not from a cluster that goes on.
    pub is_recording: bool,
}

/// What is played of a kind, and how far that has come.
#[derive(Debug)]
pub struct Source {
    resource: ApiResource,
    namespaces: Vec<String>,
    /// The objects that are played.
    chosen: FxHashSet<ObjectKey>,
    /// Those that exist after what is played.
    present: FxHashSet<ObjectKey>,
    clock: Clock,
    /// The numbers of what is played: from one up to before another one.
    pub received: (u64, u64),
    /// How many events were looked at when the stream was made.
    pub events: usize,
    /// How many have come since, and are played.
    pub played: u64,
    /// How many have come since, and are of others.
    pub left_out: u64,
    /// Whether nothing more is added.
    pub is_over: bool,
}

impl Source {
    /// Takes what came until a number, and is played from this time on, in milliseconds. Nothing is taken any more once the page's
    /// own watch has broken, for this stream has not, and beyond the bound.
    pub fn take(&mut self, history: &History, to: u64, from: f64, len: usize) -> Vec<Grown> {
        let range = (self.received.1, to);
        let watch = |watch: usize| history.coverage.watch(watch).is_some_and(|(own, ..)| own == self.resource);
        let breaks = history.coverage.steps(0).any(|(_, _, received, of, step)| {
            (range.0..range.1).contains(&received) && matches!(step, Step::Lost(_) | Step::Lists) && watch(of)
        });
        self.is_over |= breaks || len >= EVENTS;
        if self.is_over || range.0 >= range.1 {
            return Vec::new();
        }
        self.received.1 = to;
        self.clock.last = self.clock.last.max(from);
        let is_asked =
            |key: &ObjectKey| self.namespaces.is_empty() || self.namespaces.iter().any(|own| **own == *key.namespace);
        let mut records: Vec<_> =
            history.received_of(self.resource, range).filter(|(_, life)| is_asked(&life.key)).collect();
        records.reverse();
        let mut grown = Vec::new();
        for (record, life) in records {
            if !self.chosen.contains(&life.key) || grown.len() >= EVENTS - len {
                self.left_out += 1;
                continue;
            }
            let at = self.clock.after(record.at);
            let (text, bytes) = (text(history, &life.key, &life.uid, record), record.text_length());
            let delta_type = happened(&mut self.present, &life.key, record.delta_type);
            grown.push(Grown { at, delta_type, text, bytes });
        }
        self.played += grown.len() as u64;
        grown
    }
}

/// What happened to an object, which exists or not afterwards.
fn happened(present: &mut FxHashSet<ObjectKey>, key: &ObjectKey, delta_type: DeltaType) -> DeltaType {
    match delta_type {
        DeltaType::Deleted => {
            present.remove(key);
            DeltaType::Deleted
        }
        _ if present.insert(key.clone()) => DeltaType::Added,
        _ => DeltaType::Updated,
    }
}

/// Makes the stream. Returns it with what is played; `None` as long as nothing of the kind is known.
pub fn recorded(history: &History, asked: Asked<'_>) -> Option<(Stream, Source)> {
    let Asked { resource, namespaces, moment, .. } = asked;
    let steps = |watch: usize| history.coverage.watch(watch).is_some_and(|(own, ..)| own == resource);
    let steps: Vec<(f64, u64, Step)> = history
        .coverage
        .steps(0)
        .filter(|(.., watch, _)| steps(*watch))
        .map(|(_, at, received, _, step)| (at, received, step))
        .collect();
    let listed = steps.iter().find(|(.., step)| *step == Step::Listed).map(|(_, received, _)| *received)?;
    let is_asked = |key: &ObjectKey| namespaces.is_empty() || namespaces.iter().any(|own| **own == *key.namespace);
    // What a link names may be of another visit.
    let settled = asked.received.filter(|(from, to)| listed <= *from && from <= to && *to <= moment.received);
    let (least, end) = settled.unwrap_or((listed, moment.received));
    let mut chosen: FxHashSet<&ObjectKey> = asked.object.into_iter().collect();
    let mut all: FxHashSet<&ObjectKey> = FxHashSet::default();
    let (mut from, mut events, mut is_cut) = (end, 0_usize, false);
    for (record, life) in history.received_of(resource, (least, end)).filter(|(_, life)| is_asked(&life.key)) {
        is_cut = events == EVENTS;
        if is_cut {
            break;
        }
        (from, events) = (record.sequence, events + 1);
        all.insert(&life.key);
        if chosen.len() < OBJECTS {
            chosen.insert(&life.key);
        }
    }
    let from = if is_cut { from } else { least };
    let mut version = 0;
    let mut known: Vec<(&ObjectKey, &Uid, Option<&Record>)> = Vec::new();
    for (life, past) in history.lives_at(resource, from) {
        let record = match past.then {
            Then::Version(sequence) => history.record(sequence),
            Then::Absent | Then::Evicted => None,
        };
        version = version.max(record.and_then(Record::number).unwrap_or_default());
        if is_asked(&life.key) {
            known.push((&life.key, &life.uid, record));
        }
    }
    all.extend(known.iter().map(|(key, ..)| *key));
    let all = all.len();
    sort::sort_by(&mut known, |a, b| a.0.cmp(b.0));
    for (key, ..) in &known {
        if chosen.len() < OBJECTS {
            chosen.insert(key);
        }
    }
    known.retain(|(key, ..)| chosen.contains(key));
    let mut played: Vec<_> = history
        .received_of(resource, (from, end))
        .filter(|(_, life)| chosen.contains(&life.key))
        .take(EVENTS)
        .collect();
    played.reverse();
    let items = known.iter().filter_map(|(key, uid, record)| Some(text(history, key, uid, (*record)?)));
    let mut server = Server::default();
    let items: Vec<Arc<str>> = items.collect();
    let mut clock = Clock::default();
    let begins = clock.after(played.first().map_or(moment.at, |(record, _)| record.at) - 1_000.0);
    server.push(begins, Frame::List { version: ResourceVersion::new(&version.to_string()), items });
    for (key, _, record) in &known {
        if let Some((record, bytes)) = record.and_then(|record| Some((record, record.text_length()?))) {
            server.weigh(key, &version_of(history, record), bytes);
        }
    }
    let mut present: FxHashSet<ObjectKey> = known.iter().map(|(key, ..)| (*key).clone()).collect();
    let (mut breaks, mut steps, mut lists) = (Vec::new(), steps.into_iter().peekable(), false);
    let count = played.len();
    for (record, life) in played {
        while let Some((_, received, step)) = steps.next_if(|(_, received, _)| *received <= record.sequence) {
            let kind = match step {
                _ if received < from => continue,
                Step::Lost(_) => BreakKind::Cut,
                Step::Lists => BreakKind::Gone,
                _ => {
                    lists &= step != Step::Relisted;
                    continue;
                }
            };
            lists |= step == Step::Lists;
            breaks.retain(|broken: &Break| broken.entry != server.len());
            breaks.push(Break { entry: server.len(), kind });
        }
        let delta_type = happened(&mut present, &life.key, record.delta_type);
        // What a later list brought had happened before it.
        let at = if lists { clock.last } else { clock.after(record.at) };
        let (text, bytes) = (text(history, &life.key, &life.uid, record), record.text_length());
        Grown { at, delta_type, text, bytes }.push(&mut server);
    }
    let mut settings = Settings { pop_takes: 400.0, breaks, ..Settings::default() };
    settings.handlers.push(HandlerOptions { name: SLOW.into(), takes: 2_000.0, joins: begins, wants_resync: false });
    let mut notes = vec![match asked.is_recording {
        true => String::from("Played from the recording."),
        false => String::from("Played on a copy of the stream: the page's own is never touched."),
    }];
    let left_out = events.saturating_sub(count);
    if left_out > 0 || is_cut || all > chosen.len() {
        let earlier = if is_cut { ", and all earlier ones" } else { "" };
        notes.push(format!(
            "{} of {} objects, with {} of the events: those that changed last; {} of others are left out{earlier}.",
            grouped(chosen.len() as u64),
            grouped(all as u64),
            grouped(count as u64),
            grouped(left_out as u64),
        ));
    }
    let stream = Stream { title: asked.title.to_owned(), notes, server, settings, begins };
    let source = Source {
        resource,
        namespaces: namespaces.to_vec(),
        chosen: chosen.into_iter().cloned().collect(),
        present,
        clock,
        received: (from, end),
        events,
        played: 0,
        left_out: 0,
        is_over: false,
    };
    Some((stream, source))
}

/// Times with what is quiet shortened.
#[derive(Debug, Default)]
struct Clock {
    begun: bool,
    real: f64,
    last: f64,
}

impl Clock {
    fn after(&mut self, real: f64) -> f64 {
        if self.begun {
            self.last += (real - self.real).clamp(0.0, QUIET);
        } else {
            (self.begun, self.last) = (true, 0.0);
        }
        self.real = real;
        self.last
    }
}

fn version_of(history: &History, record: &Record) -> ResourceVersion {
    match record.number() {
        Some(number) => ResourceVersion::new(&number.to_string()),
        None => history.version_of_number(record.sequence).unwrap_or_default(),
    }
}

/// What is played of a version: its metadata.
fn text(history: &History, key: &ObjectKey, uid: &Uid, record: &Record) -> Arc<str> {
    let version = version_of(history, record);
    let (name, namespace) = (&*key.name, &*key.namespace);
    let metadata = json!({ "name": name, "namespace": namespace, "uid": uid, "resourceVersion": version.as_str() });
    json!({ "metadata": metadata }).to_string().into()
}
