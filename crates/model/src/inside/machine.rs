//! The machinery at one moment, and how it goes on by one step.

use std::sync::Arc;

use kubechurn_client::api::object::{Decode, Object, ObjectKey, ResourceVersion};
use kubechurn_client::api::request::WatchRequest;
use kubechurn_client::api::sort;
use kubechurn_client::cache::backoff::Moment;
use kubechurn_client::cache::complete_list::CompleteList;
use kubechurn_client::cache::delta::DeltaType;
use kubechurn_client::cache::ledger::Ledger;
use kubechurn_client::cache::queue::Queued;
use kubechurn_client::cache::reflector::{Action, Input, Notice, Options, Reflector, ReflectorStore, Unread};
use rustc_hash::FxHashSet;
use serde_json::json;

use crate::inside::breaks::{Break, BreakKind};
use crate::inside::connection::{Connection, Delivery, Request};
use crate::inside::handlers::{Handled, HandlerOptions, Handlers};
use crate::inside::queues::{Queues, Which};
use crate::inside::server::{Sent, Server};
use crate::inside::step::{Row, Step, What};
use crate::inside::work::{ReconcilerOptions, Work, Worked};

/// What the user may set.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// The queue whose pops the handlers get.
    pub chosen: Which,
    /// client-go's `AtomicFIFO`: a switch of the RealFIFO, from the beginning on.
    pub atomic: bool,
    /// client-go's `WatchListClient`: a watch brings the list first, from the beginning on.
    pub streams: bool,
    /// How long a pop takes, in milliseconds. While it is infinite nothing is popped.
    pub pop_takes: f64,
    /// How often to resync, in milliseconds; `None` is never.
    pub resync: Option<f64>,
    /// The handlers. The first one adds the keys to the work queue.
    pub handlers: Vec<HandlerOptions>,
    /// What works on the keys.
    pub reconciler: ReconcilerOptions,
    /// What breaks.
    pub breaks: Vec<Break>,
}

impl Default for Settings {
    fn default() -> Settings {
        let controller = HandlerOptions { name: "controller".into(), takes: 0.0, joins: 0.0, wants_resync: true };
        Settings {
            chosen: Which::RealFifo,
            atomic: true,
            streams: false,
            pop_takes: 0.0,
            resync: None,
            handlers: vec![controller],
            reconciler: ReconcilerOptions::default(),
            breaks: Vec::new(),
        }
    }
}

/// The machinery at one moment.
#[derive(Clone, Debug)]
pub struct Machine {
    settings: Arc<Settings>,
    /// In milliseconds.
    now: f64,
    number: usize,
    reflector: Reflector,
    ledger: Ledger,
    connection: Connection,
    /// The version of the list under way.
    listed: ResourceVersion,
    /// The watch that was asked for.
    watch: Option<WatchRequest>,
    queues: Queues,
    pop_at: f64,
    handlers: Handlers,
    work: Work,
    reason: String,
    last: Option<Step>,
}

/// What a Reflector gave to its store in one step.
#[derive(Debug, Default)]
struct Given {
    event: Option<(DeltaType, Arc<Object>)>,
    rows: Option<Vec<Row>>,
    resync: Option<(usize, Vec<ObjectKey>)>,
}

/// Where the Reflector puts what it learns: into all three queues.
struct Sink<'a> {
    queues: &'a mut Queues,
    ledger: &'a mut Ledger,
    chosen: Which,
    version: ResourceVersion,
    given: Given,
}

impl ReflectorStore for Sink<'_> {
    /// client-go's Reflector does not ask what became of an event.
    fn event(&mut self, now: f64, delta_type: DeltaType, object: Arc<Object>, _text: &str) -> Queued {
        self.queues.event(delta_type, &object, now);
        self.given.event = Some((delta_type, object));
        Queued::Queued
    }

    fn streamed(&mut self, _now: f64, _delta_type: DeltaType, _object: &Arc<Object>, _text: &str) {}

    fn replace(&mut self, now: f64, list: CompleteList, _unread: &Unread) -> bool {
        self.given.rows = Some(rows(&list, self.queues.store(self.chosen).list()));
        self.queues.replace(list, &self.version, now);
        false
    }

    fn resync(&mut self, now: f64) {
        let waiting = self.queues.slots(self.chosen, usize::MAX);
        let waiting = waiting.iter().flat_map(|slot| &slot.entries).filter_map(|entry| entry.object.as_ref());
        let waiting: FxHashSet<ObjectKey> = waiting.map(|object| object.key.clone()).collect();
        let store = self.queues.store(self.chosen);
        let mut left_out: Vec<ObjectKey> =
            store.iter().map(|object| &object.key).filter(|key| waiting.contains(*key)).cloned().collect();
        sort::sort(&mut left_out);
        let again = store.len() - left_out.len();
        self.queues.resync(now);
        self.given.resync = Some((again, left_out));
    }

    fn notice(&mut self, _notice: Notice) {}

    fn ledger(&mut self) -> &mut Ledger {
        self.ledger
    }
}

/// A list beside what is known, sorted by key.
fn rows(list: &CompleteList, known: Vec<Arc<Object>>) -> Vec<Row> {
    let version = |object: &Arc<Object>| Some(object.resource_version.clone());
    let mut rows: Vec<Row> =
        list.iter().map(|object| Row { key: object.key.clone(), known: None, listed: version(object) }).collect();
    sort::sort_by(&mut rows, |a, b| a.key.cmp(&b.key));
    let mut missing = Vec::new();
    for object in known {
        match rows.binary_search_by(|row| row.key.cmp(&object.key)) {
            Ok(at) => rows[at].known = version(&object),
            Err(_) => missing.push(Row { key: object.key.clone(), known: version(&object), listed: None }),
        }
    }
    rows.extend(missing);
    sort::sort_by(&mut rows, |a, b| a.key.cmp(&b.key));
    rows
}

impl Machine {
    /// The machinery before its first step, at a time in milliseconds.
    pub fn new(settings: Arc<Settings>, now: f64) -> Machine {
        let options = Options { watch_list: settings.streams, resync: settings.resync, ..Options::default() };
        Machine {
            now,
            number: 0,
            reflector: Reflector::new(Decode::METADATA, options),
            ledger: Ledger::default(),
            connection: Connection::default(),
            listed: ResourceVersion::default(),
            watch: None,
            queues: Queues::new(settings.atomic),
            pop_at: now,
            handlers: Handlers::new(&settings.handlers, now),
            work: Work::default(),
            reason: String::from("the informer has not started"),
            last: None,
            settings,
        }
    }

    /// Sets what holds from now on.
    pub fn set(&mut self, settings: Arc<Settings>) {
        if settings.resync != self.settings.resync {
            self.reflector.resync_every(settings.resync, self.now);
        }
        if settings.pop_takes != self.settings.pop_takes {
            self.pop_at = self.now;
        }
        self.handlers.set(&settings.handlers);
        self.settings = settings;
    }

    /// Goes on by one step. Returns false if nothing more will happen.
    pub fn advance(&mut self, server: &Server) -> bool {
        let Some(what) = self.next(server) else { return false };
        self.number += 1;
        self.last = Some(Step { at: self.now, what });
        true
    }

    /// Whatever is due first: of what is due at one time, what is nearest to the end of the way.
    fn next(&mut self, server: &Server) -> Option<What> {
        loop {
            let settings = self.settings.clone();
            let now = self.now;
            let delivery = self.connection.due(server, &settings.breaks, self.reflector.deadline(), now);
            if self.connection.is_bursting()
                && let Some((at, delivery)) = delivery
            {
                self.now = at;
                return Some(self.deliver(delivery, server));
            }
            let work = self.work.due(&settings.reconciler, now);
            let handler = self.handlers.due(now);
            let pop = (!self.queues.is_empty() && settings.pop_takes.is_finite()).then(|| self.pop_at.max(now));
            let at = [work, handler.map(|(at, _)| at), pop, delivery.as_ref().map(|(at, _)| *at)];
            let first = at.into_iter().flatten().min_by(f64::total_cmp)?;
            self.now = first;
            if work == Some(first) {
                let store = self.queues.store(settings.chosen);
                let read =
                    |key: &ObjectKey| store.get(key).map(|object| object.resource_version.clone()).unwrap_or_default();
                if let Some(worked) = self.work.step(&settings.reconciler, first, read) {
                    return Some(What::Worked(worked));
                }
            }
            if let Some((_, handler)) = handler.filter(|(at, _)| *at == first) {
                let store = self.queues.store(settings.chosen);
                let handled = self.handlers.step(handler, store, settings.resync.is_some(), first)?;
                if handler == 0
                    && let Handled::Called(call) = &handled
                {
                    self.work.add(call.key().clone());
                }
                return Some(What::Handler(handler, handled));
            }
            if pop == Some(first) {
                self.pop_at = first + settings.pop_takes;
                match self.queues.pop(settings.chosen) {
                    Some(taken) => {
                        self.handlers.push(taken.calls.iter().cloned());
                        return Some(What::Popped(taken));
                    }
                    // The others go on until nothing waits in any of them.
                    None => continue,
                }
            }
            let (_, delivery) = delivery?;
            return Some(self.deliver(delivery, server));
        }
    }

    /// The connection brings something.
    fn deliver(&mut self, delivery: Delivery, server: &Server) -> What {
        let entry = self.connection.brought(&delivery, server);
        match delivery {
            Delivery::Start => {
                self.input(Input::Start);
                What::Started
            }
            Delivery::Items => {
                let happened = server.happened(self.now);
                self.connection.items(happened);
                let (version, items) = server.list_after(happened);
                let meta = json!({ "resourceVersion": version.as_str() });
                self.input(Input::Piece(format!(r#"{{"kind":"List","metadata":{meta},"items":["#).as_bytes()));
                for (at, (_, text)) in items.iter().enumerate() {
                    self.input(Input::Piece(if at > 0 { b"," } else { b" " }));
                    self.input(Input::Piece(text.as_bytes()));
                }
                self.input(Input::Piece(b"]}"));
                self.listed.clone_from(&version);
                What::Listed { items: items.len(), version }
            }
            Delivery::ListEnd => match self.input(Input::PageEnd).rows {
                Some(rows) => What::Replaced { rows, bookmark: None },
                None => What::Ended(self.reason.clone()),
            },
            Delivery::Open => {
                let request = self.watch.clone();
                let from = request.as_ref().map(|request| request.resource_version.clone()).unwrap_or_default();
                let seconds = request.as_ref().map_or(300, |request| request.timeout_seconds);
                let ends = self.now + f64::from(seconds) * 1000.0;
                let streams = request.is_some_and(|request| request.initial_events);
                match streams {
                    true => self.connection.stream(server.happened(self.now), ends),
                    false => self.connection.open(ends),
                }
                self.input(Input::Opened);
                What::Watches { from, streams }
            }
            Delivery::Initial(at) => {
                let (_, items) = server.list_after(self.connection.cursor());
                let Some((object, text)) = items.into_iter().nth(at) else { return What::Silent };
                self.input(Input::Frame(&format!(r#"{{"type":"ADDED","object":{text}}}"#)));
                What::Streamed(object)
            }
            Delivery::InitialEnd => {
                let (version, _) = server.list_after(self.connection.cursor());
                let ends = json!({ "k8s.io/initial-events-end": "true" });
                let metadata = json!({ "resourceVersion": version.as_str(), "annotations": ends });
                let bookmark = json!({ "type": "BOOKMARK", "object": { "metadata": metadata } });
                self.listed.clone_from(&version);
                match self.input(Input::Frame(&bookmark.to_string())).rows {
                    Some(rows) => What::Replaced { rows, bookmark: Some(version) },
                    None => What::Ended(self.reason.clone()),
                }
            }
            Delivery::Entry(number, kind) => {
                let broken = kind.filter(|_| entry.is_some());
                self.entry(entry.unwrap_or(number), broken, server)
            }
            Delivery::Lost(number) => What::Lost(match server.entry(number).map(|entry| &entry.what) {
                Some(Sent::Change { object, .. }) => Some(object.key.clone()),
                _ => None,
            }),
            Delivery::Cut(_) => {
                self.input(Input::Closed(1006));
                What::Ended("the connection was cut".into())
            }
            Delivery::Expired => {
                let from = self.reflector.resource_version().clone();
                let status = json!({ "kind": "Status", "status": "Failure", "code": 410, "reason": "Expired",
                    "message": format!("too old resource version: {from}") });
                self.error(&status.to_string());
                What::Ended(format!("410, version {from} is too old"))
            }
            Delivery::Silent => What::Silent,
            Delivery::TimeOver => {
                self.input(Input::Closed(1000));
                What::Ended("the server ends each watch after some minutes".into())
            }
            Delivery::ProbePassed => {
                self.input(Input::ProbePassed);
                What::TimeOver
            }
            Delivery::Timer => match self.input(Input::Timer).resync {
                Some((again, left_out)) => What::Resynced { again, left_out },
                None => What::TimeOver,
            },
        }
    }

    /// An entry of the server's log reaches the Reflector.
    fn entry(&mut self, number: usize, broken: Option<BreakKind>, server: &Server) -> What {
        let Some(entry) = server.entry(number) else { return What::Silent };
        match &entry.what {
            Sent::Change { delta_type, object, text } => {
                let word = match delta_type {
                    DeltaType::Deleted => "DELETED",
                    DeltaType::Added => "ADDED",
                    _ => "MODIFIED",
                };
                let given = self.input(Input::Frame(&format!(r#"{{"type":"{word}","object":{text}}}"#)));
                match given.event {
                    Some((delta_type, object)) => What::Event { delta_type, object, broken },
                    None => What::Ended(format!("the event of {} could not be read", object.key)),
                }
            }
            Sent::Bookmark(version) => {
                let bookmark =
                    json!({ "type": "BOOKMARK", "object": { "metadata": { "resourceVersion": version.as_str() } } });
                self.input(Input::Frame(&bookmark.to_string()));
                self.queues.bookmark(version, self.now);
                What::Bookmark(version.clone())
            }
            Sent::Error(status) => {
                self.error(status);
                What::Ended(self.reason.clone())
            }
            Sent::Closed(code) => {
                self.input(Input::Closed(*code));
                What::Ended(format!("it was closed with code {code}"))
            }
        }
    }

    fn error(&mut self, status: &str) {
        self.input(Input::Frame(&format!(r#"{{"type":"ERROR","object":{status}}}"#)));
    }

    /// Hands an input to the Reflector, and its action to the connection.
    fn input(&mut self, input: Input<'_>) -> Given {
        let mut sink = Sink {
            queues: &mut self.queues,
            ledger: &mut self.ledger,
            chosen: self.settings.chosen,
            version: self.listed.clone(),
            given: Given::default(),
        };
        let action = self.reflector.handle(input, Moment { now: self.now, random: 0.0 }, &mut sink);
        let given = sink.given;
        if let Some(action) = action {
            self.connection.ask(&action);
            let failure = self.reflector.failure().map(|failure| failure.words.clone());
            self.reason = match self.connection.request() {
                Request::List { .. } | Request::Stream { .. } => self.reflector.list_reason().to_owned(),
                _ => failure.unwrap_or_else(|| "the last version is known".into()),
            };
            if let Action::Watch(request) | Action::WatchOverHttp(request) | Action::Probe(request) = action {
                self.watch = Some(request);
            }
        }
        if given.rows.is_some() {
            self.reason = "the list is complete".into();
        }
        given
    }

    /// The time, in milliseconds.
    pub fn now(&self) -> f64 {
        self.now
    }

    /// How many steps there were.
    pub fn number(&self) -> usize {
        self.number
    }

    /// The last step.
    pub fn last(&self) -> Option<&Step> {
        self.last.as_ref()
    }

    /// The settings that hold now.
    pub fn settings(&self) -> &Arc<Settings> {
        &self.settings
    }

    /// The state of the Reflector: what it asked for, or what it waits for.
    pub fn request(&self) -> &Request {
        self.connection.request()
    }

    /// Why the Reflector is in that state.
    pub fn reason(&self) -> &str {
        &self.reason
    }

    /// The Reflector.
    pub fn reflector(&self) -> &Reflector {
        &self.reflector
    }

    /// The connection.
    pub fn connection(&self) -> &Connection {
        &self.connection
    }

    /// The queues and their stores.
    pub fn queues(&self) -> &Queues {
        &self.queues
    }

    /// The handlers.
    pub fn handlers(&self) -> &Handlers {
        &self.handlers
    }

    /// The work queue and its workers.
    pub fn work(&self) -> &Work {
        &self.work
    }

    /// Whether the store that the handlers see had another version than this when a worker read it: the worker works on an old
    /// state.
    pub fn is_stale(&self, worked: &Worked, server: &Server) -> bool {
        let (Worked::Took(work) | Worked::Done { work, .. }) = worked else { return false };
        let (_, items) = server.list_after(server.happened(self.now));
        let found = items.binary_search_by(|(object, _)| object.key.cmp(&work.key));
        let newest = found.ok().map(|at| items[at].0.resource_version.clone()).unwrap_or_default();
        newest != work.read
    }
}
