//! The Reflector's transitions: one method for each kind of input.

use crate::api::event::{self, EventType};
use crate::api::object::{DecodeError, Object, ResourceVersion};
use crate::cache::backlog::Backlog;
use crate::cache::backoff::Backoff;
use crate::cache::delta::DeltaType;
use crate::cache::queue::{Queued, late};
use crate::cache::reflector::refusals::Verb;
use crate::cache::reflector::{
    Action, Failure, Fetches, LONGEST_FRAME, ListRequest, Moment, Notice, Objects, Phase, Reflector, ReflectorStore,
    SHORT, Socket, State, Unread, Verdict, WATCH_TIMEOUT, WatchRequest, kind, read,
};

impl Reflector {
    /// Begins anew with a list: a streaming one where that is wanted, else one in pages.
    pub(super) fn start(&mut self, moment: Moment) -> Action {
        // What happened since the last watch is not known, and the user is to be told of that as a gap.
        let stopped = matches!(self.state, State::Stopped);
        if self.heard.is_some() && (stopped || self.failure.is_none()) {
            let words = if stopped { "the watch was stopped" } else { "a new list was asked for" };
            self.failure = Some(Failure::unreachable(words));
        }
        self.enter(Phase::Start, moment)
    }

    pub(super) fn stop(&mut self, moment: Moment, store: &mut dyn ReflectorStore) {
        self.discard(store);
        self.silent(false, moment);
        self.continuity.tell();
        self.state = State::Stopped;
    }

    /// Enters a phase now. Without a version no watch can be resumed, so that a list is taken instead.
    pub(super) fn enter(&mut self, phase: Phase, moment: Moment) -> Action {
        // A doubt may have come due while no watch was open.
        if phase == Phase::Watch && self.doubt_at.is_some_and(|at| moment.now >= at) {
            return self.resolve_doubt(moment);
        }
        if phase == Phase::Watch && !self.last_sync.version().is_unset() {
            return self.open(moment, false);
        }
        // A new list says when the next resync is due.
        self.resync_at = None;
        if self.streams_lists() { self.open(moment, true) } else { self.list(moment) }
    }

    /// Opens a socket: for a streaming list, or for the watch that follows a list.
    pub(super) fn open(&mut self, moment: Moment, streaming: bool) -> Action {
        let timeout_seconds = (WATCH_TIMEOUT * (1.0 + moment.random)) as u32;
        let resource_version = self.version_to_ask(streaming);
        let socket = Socket::new(moment.now, timeout_seconds);
        self.last_opened = moment.now;
        self.state = match streaming {
            true => State::Stream { socket, items: Objects::default(), warned: f64::NEG_INFINITY },
            false => State::Watch { socket, owed: None },
        };
        Action::Watch(WatchRequest { resource_version, initial_events: streaming, timeout_seconds })
    }

    /// From which version to ask for a streaming list, or for a watch.
    fn version_to_ask(&self, streaming: bool) -> ResourceVersion {
        if streaming { self.last_sync.for_list() } else { self.last_sync.version().clone() }
    }

    pub(super) fn bytes(&mut self, bytes: &[u8], moment: Moment, store: &mut dyn ReflectorStore) -> Option<Action> {
        if let Ok(text) = simdutf8::basic::from_utf8(bytes) {
            return self.frame(text, moment, store);
        }
        if !self.hear(bytes.len(), moment, store) {
            return None;
        }
        let words = std::str::from_utf8(bytes).err().map(|error| DecodeError::from(error).to_string());
        self.malformed(&words.unwrap_or_default(), moment, store)
    }

    /// Counts a frame of this many bytes. Returns false where no socket is open from which it could have come.
    fn hear(&mut self, bytes: usize, moment: Moment, store: &mut dyn ReflectorStore) -> bool {
        let streams = matches!(self.state, State::Stream { .. });
        let (State::Stream { socket, .. } | State::Watch { socket, .. }) = &mut self.state else { return false };
        // A frame proves that the socket opened, whether or not anyone saw it open.
        socket.open(moment.now, store.ledger());
        self.quiet = 0;
        socket.last_frame = Some(moment.now);
        socket.frames += 1;
        store.ledger().frames += 1;
        store.ledger().bytes += bytes as u64;
        if streams {
            self.streamed_list_came();
        }
        // The waits of an outage grew because nothing answered. Now the server answers, and if it answers with an error, the
        // waits begin short again: a page that was cut off and is told 410 must not be stale for long.
        if self.failure.as_ref().is_some_and(|failure| failure.verdict == Verdict::Unreachable) {
            self.backoff = Backoff::default();
        }
        true
    }

    pub(super) fn frame(&mut self, text: &str, moment: Moment, store: &mut dyn ReflectorStore) -> Option<Action> {
        if !self.hear(text.len(), moment, store) {
            return None;
        }
        let frame = match event::split(text) {
            Ok(frame) => frame,
            Err(error) => return self.malformed(&error.to_string(), moment, store),
        };
        let delta_type = match frame.event_type {
            EventType::Added => DeltaType::Added,
            EventType::Modified => DeltaType::Updated,
            EventType::Deleted => DeltaType::Deleted,
            EventType::Bookmark => return self.bookmark(frame.object, moment, store),
            EventType::Error => return self.error(frame.object, moment, store),
            // client-go logs such an event and takes its version as seen, so that what the event said stays unknown until
            // the next list. Servers add types only on request; so a proxy has changed this one, or a newer server sends
            // it unasked, and it may have been a change of an object.
            EventType::Unknown(word) => {
                return self.malformed(&format!("an event of the unknown type {word:?}"), moment, store);
            }
        };
        // client-go logs an object of another type, leaves it out and keeps the version; the next event then takes the
        // version past it. But a proxy that turns objects into Tables or bare metadata does so with changes, too, and these
        // would be lost. A list after a wait loses none, and follows any frame that cannot be read.
        if let Some(Err(words)) = self.options.kind.map(|kind| kind::check(kind, frame.object)) {
            return self.malformed(&words, moment, store);
        }
        let object = match read(self.decode, self.options.keep, frame.object) {
            Ok(object) => store.keep(object),
            Err(error) => return self.malformed(&error.to_string(), moment, store),
        };
        self.prove(true, moment, store);
        store.ledger().events += 1;
        match &mut self.state {
            State::Stream { socket, items, .. } => {
                socket.events += 1;
                let late = items.get(&object.key).and_then(|newer| late(&object, newer, true));
                if let Some(late) = late {
                    *store.ledger().place_of(late) += 1;
                    return None;
                }
                // An ADDED of a streaming list says that the object exists, as an item of a page does.
                let listed = if delta_type == DeltaType::Added { DeltaType::Replaced } else { delta_type };
                store.streamed(moment.now, listed, &object, frame.object);
                let ledger = store.ledger();
                ledger.streamed += 1;
                ledger.pending += 1;
                let before = match delta_type {
                    DeltaType::Deleted => {
                        // The deletion itself is not handed over: the object will be missing in the complete list.
                        ledger.pending -= 1;
                        ledger.merged += 1;
                        items.remove(&object.key)
                    }
                    _ => items.insert(object),
                };
                if before.is_some() {
                    ledger.pending -= 1;
                    ledger.merged += 1;
                }
            }
            State::Watch { socket, .. } => {
                socket.events += 1;
                // A watch from no version, or from `0`, begins with what exists, in the order of names, so that the version
                // of one object says nothing about the next. The first event that is no ADDED ends that part.
                let is_news = self.last_sync.is_news(&object.resource_version);
                if delta_type != DeltaType::Added || !self.last_sync.is_any() {
                    self.last_sync.seen(&object.resource_version);
                }
                let queued = store.event(moment.now, delta_type, object.clone(), frame.object);
                if is_news && matches!(queued, Queued::Late | Queued::Former) {
                    return self.went_back(&object, moment, store);
                }
            }
            _ => {}
        }
        None
    }

    fn bookmark(&mut self, object: &str, moment: Moment, store: &mut dyn ReflectorStore) -> Option<Action> {
        let bookmark = match event::bookmark(object) {
            Ok(bookmark) => bookmark,
            Err(error) => return self.malformed(&format!("a bookmark: {error}"), moment, store),
        };
        store.ledger().bookmarks += 1;
        self.count_event();
        self.prove(false, moment, store);
        let version = ResourceVersion::new(&bookmark.resource_version);
        match std::mem::replace(&mut self.state, State::Idle) {
            State::Stream { socket, items, .. } if bookmark.initial_events_end => {
                self.last_sync.reached(version);
                self.replace(items, &Unread::default(), moment, store);
                self.state = State::Watch { socket, owed: None };
                self.settle(true, moment, store);
            }
            state @ State::Watch { .. } => {
                self.state = state;
                self.last_sync.passed(&version);
            }
            state => self.state = state,
        }
        None
    }

    /// An event is new to the watch, and yet older than what is known of its object. A server sends changes in the order of
    /// their versions, so that one of the two versions is wrong. If it is the known one (a single huge one is enough), every
    /// later change of the object would count as late, and its row would stay as it is under "live". Only a new list tells
    /// what is true, and not one at a version that may be the wrong one.
    fn went_back(&mut self, object: &Object, moment: Moment, store: &mut dyn ReflectorStore) -> Option<Action> {
        let Object { key, resource_version, .. } = object;
        let reason =
            format!("{key} came in version {resource_version}, which is new, and older than what is known of it");
        store.notice(Notice::Malformed { at: moment.now, reason: reason.clone() });
        let action = self.failed(
            Failure { verdict: Verdict::Failing, code: 0, words: reason, retry_after: None },
            moment,
            store,
        );
        self.last_sync.unavailable = true;
        action
    }

    /// When a watch ends early, it matters whether it brought an event. Bookmarks count, too, as in client-go.
    fn count_event(&mut self) {
        if let State::Stream { socket, .. } | State::Watch { socket, .. } = &mut self.state {
            socket.events += 1;
        }
    }

    fn error(&mut self, object: &str, moment: Moment, store: &mut dyn ReflectorStore) -> Option<Action> {
        store.ledger().errors += 1;
        let failure = Failure::from_error_event(object);
        self.failed(failure, moment, store)
    }

    /// A frame that cannot be read may have been anything, even a deletion. The version stays where it is, and a new list
    /// follows after a wait.
    fn malformed(&mut self, reason: &str, moment: Moment, store: &mut dyn ReflectorStore) -> Option<Action> {
        store.ledger().malformed += 1;
        self.unread(reason, moment, store)
    }

    /// A frame that is too long is not read, and may have been anything. The list that follows brings the object all the
    /// same: a list has no limit, for it comes in pieces.
    pub(super) fn too_long(&mut self, bytes: usize, moment: Moment, store: &mut dyn ReflectorStore) -> Option<Action> {
        if !self.hear(bytes, moment, store) {
            return None;
        }
        store.ledger().oversized += 1;
        let megabytes = |bytes: usize| bytes as f64 / 1e6;
        let (long, most) = (megabytes(bytes), megabytes(LONGEST_FRAME));
        self.unread(&format!("a frame of {long:.1} MB, and no more than {most:.0} MB are read"), moment, store)
    }

    /// More has come than the handlers can take: the watch ends, so that no more comes, and a list follows after a wait.
    pub(super) fn overrun(
        &mut self,
        backlog: Backlog,
        moment: Moment,
        store: &mut dyn ReflectorStore,
    ) -> Option<Action> {
        if !matches!(self.state, State::Watch { .. }) {
            return None;
        }
        let Backlog { changes, bytes } = backlog;
        let words = format!("more came than was taken: {changes} changes in {:.1} MB waited", bytes as f64 / 1e6);
        self.failed(Failure { verdict: Verdict::Failing, code: 0, words, retry_after: None }, moment, store)
    }

    fn unread(&mut self, reason: &str, moment: Moment, store: &mut dyn ReflectorStore) -> Option<Action> {
        store.notice(Notice::Malformed { at: moment.now, reason: reason.to_owned() });
        let words = format!("a frame could not be read: {reason}");
        self.failed(Failure { verdict: Verdict::Failing, code: 0, words, retry_after: None }, moment, store)
    }

    pub(super) fn closed(&mut self, code: u16, moment: Moment, store: &mut dyn ReflectorStore) -> Option<Action> {
        let (streaming, socket) = match &self.state {
            State::Stream { socket, .. } => (true, socket),
            State::Watch { socket, .. } => (false, socket),
            _ => return None,
        };
        let lived = socket.opened.map_or(0.0, |opened| moment.now - opened);
        let (opened, events, frames) = (socket.opened.is_some(), socket.events, socket.frames);
        // The proxy of Trunk accepts a socket before it has reached the server. A socket that closes uncleanly and without a
        // frame, within a second or while a failure is not over, never was a watch. Only a probe over HTTP tells why.
        if !opened || (frames == 0 && code != 1000 && (lived < SHORT || self.failure.is_some())) {
            self.discard(store);
            self.silent(false, moment);
            let phase = if streaming { Phase::Start } else { Phase::Watch };
            self.state = State::Probe { phase, requested: moment.now };
            if let Some(failure) = self.refused_without_words() {
                return self.failed(failure, moment, store);
            }
            return Some(Action::Probe(WatchRequest {
                resource_version: self.version_to_ask(streaming),
                initial_events: streaming,
                timeout_seconds: 1,
            }));
        }
        if code != 1000 {
            // The server or a proxy ended without a word: what is held may be old from here on.
            let words = format!("the connection broke (close code {code})");
            self.failure = Some(Failure::unreachable(words));
        }
        self.silent(code == 1000, moment);
        self.discard(store);
        if streaming {
            if events > 0 || lived >= SHORT {
                return Some(self.enter_after(Phase::Start, moment));
            }
            if !self.options.readable && self.failure.is_none() {
                let words = String::from("the list ended within a second, without an event");
                self.failure = Some(Failure { verdict: Verdict::Failing, code: 0, words, retry_after: None });
            }
            return Some(self.list(moment));
        }
        if lived < SHORT && events == 0 {
            let words = String::from("the watch ended within a second, without an event");
            self.failure = Some(Failure { verdict: Verdict::Failing, code: 0, words, retry_after: None });
            self.reason = String::from("very short watch");
            return Some(self.wait(Phase::Start, None, moment));
        }
        Some(self.enter_after(Phase::Watch, moment))
    }

    /// Enters a phase now, or when a second has passed since a socket was last asked for.
    pub(super) fn enter_after(&mut self, phase: Phase, moment: Moment) -> Action {
        if moment.now - self.last_opened >= SHORT {
            return self.enter(phase, moment);
        }
        self.state = State::Waiting { until: self.last_opened + SHORT, phase };
        Action::Wait
    }

    /// What is under way failed: a list, a probe, or a socket with an ERROR event.
    pub(super) fn failed(
        &mut self,
        failure: Failure,
        moment: Moment,
        store: &mut dyn ReflectorStore,
    ) -> Option<Action> {
        let at = match &self.state {
            State::Stream { .. } | State::Probe { phase: Phase::Start, .. } => At::Stream,
            State::Watch { .. } | State::Probe { phase: Phase::Watch, .. } => At::Watch,
            State::List { request, .. } => {
                At::List { continued: request.continue_token.is_some(), request: request.clone() }
            }
            _ => return None,
        };
        if failure.code != 0 && matches!(self.state, State::List { .. } | State::Probe { .. }) {
            self.fetches = Fetches::Readable;
        }
        self.discard(store);
        self.silent(false, moment);
        // A server that cannot answer this kind of list, or not from this version, is asked in another way at once.
        let otherwise = match (&at, failure.verdict) {
            (At::Stream, Verdict::Expired | Verdict::TooLarge | Verdict::Refused) => true,
            (At::List { continued, .. }, Verdict::Expired) => *continued || !self.last_sync.unavailable,
            (At::List { .. }, Verdict::TooLarge) => !self.last_sync.unavailable,
            _ => false,
        };
        if !otherwise {
            self.failure = Some(failure.clone());
            let (verb, last) = match at {
                At::List { .. } => (Verb::List, failure.verdict == Verdict::Refused),
                At::Stream | At::Watch => (Verb::Watch, false),
            };
            if let Some(reason) = self.refusals.refused(verb, &failure) {
                store.notice(Notice::Refused { at: moment.now, reason, retried: !last });
            }
        }
        if self.synced {
            self.reason = match failure.code {
                0 => failure.words.clone(),
                code => format!("{code}: {}", failure.words),
            };
        }
        let after = failure.retry_after;
        Some(match (at, failure.verdict) {
            (At::Stream, Verdict::TooManyRequests | Verdict::Unreachable) => self.wait(Phase::Start, after, moment),
            (At::Stream, Verdict::Expired | Verdict::TooLarge) if !self.last_sync.unavailable => {
                self.last_sync.unavailable = true;
                self.open(moment, true)
            }
            (At::Stream, _) => self.list(moment),
            // From the second page on, the token may have expired. Then the whole list is asked for at once, at the version
            // that was asked for first, as client-go does.
            (At::List { continued: true, request }, Verdict::Expired) => {
                self.request(ListRequest { limit: None, continue_token: None, ..request }, moment)
            }
            (At::List { .. }, Verdict::Expired | Verdict::TooLarge) if !self.last_sync.unavailable => {
                self.last_sync.unavailable = true;
                self.list(moment)
            }
            // A list that is refused will be refused again. Where only the watch is refused, the lists between the attempts
            // keep what is held fresh.
            (At::List { .. }, Verdict::Refused) => {
                self.state = State::Refused;
                Action::Wait
            }
            (At::List { .. }, _) => self.wait(Phase::Start, after, moment),
            (At::Watch, Verdict::TooManyRequests | Verdict::Unreachable) => self.wait(Phase::Watch, after, moment),
            (At::Watch, _) => self.wait(Phase::Start, after, moment),
        })
    }

    /// The server answers the request over HTTP, so that something between here and the server refuses the socket.
    pub(super) fn probe_passed(&mut self, moment: Moment) -> Option<Action> {
        let State::Probe { phase, .. } = self.state else { return None };
        self.fetches = Fetches::Readable;
        let words = "the server answers over HTTP, but the WebSocket could not be opened";
        self.failure = Some(Failure::unreachable(words));
        Some(self.wait(phase, None, moment))
    }

    pub(super) fn wait(&mut self, phase: Phase, at_least: Option<f64>, moment: Moment) -> Action {
        let wait = self.backoff.next(moment).max(at_least.unwrap_or(0.0));
        self.state = State::Waiting { until: moment.now + wait, phase };
        Action::Wait
    }

    /// Drops what an incomplete list has brought so far.
    pub(super) fn discard(&mut self, store: &mut dyn ReflectorStore) {
        let count = self.listing().unwrap_or(0) as u64;
        if count > 0 {
            store.ledger().pending -= count;
            store.ledger().discarded += count;
        }
        match &mut self.state {
            State::Stream { items, .. } | State::List { items, .. } => *items = Objects::default(),
            _ => {}
        }
    }
}

/// What was under way when something failed.
enum At {
    Stream,
    List { continued: bool, request: ListRequest },
    Watch,
}
