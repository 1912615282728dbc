//! The Reflector's transitions, one method for each kind of input.

use crate::api::event::{self, EventType};
use crate::api::object::{DecodeError, Object, ResourceVersion};
use crate::cache::backlog::Backlog;
use crate::cache::backoff::Backoff;
use crate::cache::delta::DeltaType;
use crate::cache::queue::{Queued, late};
use crate::cache::reflector::refusals::Verb;
use crate::cache::reflector::{
    Action, Failure, LONGEST_FRAME, ListRequest, Moment, Notice, Objects, Phase, Reflector, ReflectorStore, SHORT,
    Socket, State, Unread, Verdict, WATCH_TIMEOUT, WatchRequest, kind, read,
};

/// A watch that lasts this long between two internal errors ends what they have in common (client-go's
/// `minResetPeriod`), in milliseconds.
const WELL: f64 = 60_000.0;

impl Reflector {
    /// Begins a cycle: a streaming list where that is wanted, else pages.
    pub(super) fn start(&mut self, moment: Moment) -> Action {
        // What happened since the last watch is not known, and the timeline shall say so.
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

    /// Without a version there is nothing to resume, so that even a watch begins with a list.
    pub(super) fn enter(&mut self, phase: Phase, moment: Moment) -> Action {
        if phase == Phase::Watch && !self.last_sync.version().is_unset() {
            return self.open(moment, false);
        }
        // A new cycle: its list says when telling again is due, and its watch may fail for as long as any.
        self.resync_at = None;
        self.internal_since = None;
        if self.options.watch_list { self.open(moment, true) } else { self.list(moment) }
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

    /// Counts a frame of so many bytes; false where no socket is open that it could have come from.
    fn hear(&mut self, bytes: usize, moment: Moment, store: &mut dyn ReflectorStore) -> bool {
        let (State::Stream { socket, .. } | State::Watch { socket, .. }) = &mut self.state else { return false };
        // A frame proves that the socket opened, whether or not anyone saw it open.
        socket.open(moment.now, store.ledger());
        self.quiet = 0;
        socket.last_frame = Some(moment.now);
        socket.frames += 1;
        store.ledger().frames += 1;
        store.ledger().bytes += bytes as u64;
        // The waits of an outage grew because nothing answered. What the server says now is another matter, and
        // begins with short waits: a page that was cut off and is told 410 must not be stale for long.
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
            // client-go logs it and takes the version past it, so that whatever it said stays unknown until the next
            // list. Servers add types only on request; so this is one that something between has changed, or that a
            // newer server sends on its own, and it may have been a change.
            EventType::Unknown(word) => {
                return self.malformed(&format!("an event of the unknown type {word:?}"), moment, store);
            }
        };
        // client-go logs an object of another type, leaves it out and keeps the version; the next event then takes the
        // version past it. But whoever turns events into Tables or bare metadata turns changes into them, so that
        // leaving them out loses those. A list after a wait loses none, and is what any unreadable frame leads to.
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
                // What a streaming list begins with is what exists, as the items of a page are.
                let listed = if delta_type == DeltaType::Added { DeltaType::Replaced } else { delta_type };
                store.streamed(moment.now, listed, &object, frame.object);
                let ledger = store.ledger();
                ledger.streamed += 1;
                ledger.pending += 1;
                let before = match delta_type {
                    DeltaType::Deleted => {
                        // The deletion goes nowhere by itself: the object is not in the list that will be handed over.
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
                // A watch from no version, or from `0`, begins with what exists, in the order of names: the version of
                // one says nothing about the next. What exists is over with the first event that is no ADDED.
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

    /// Something new came of an object, and is older than what is known of it. A server sends changes in the order of
    /// their versions, so that one of the two versions is wrong. Where it is the one that is known (a single huge one
    /// is enough), every later change would be late, and the row would stay as it is under "live". Only a new list
    /// tells, and not one at a version that may be the wrong one.
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

    /// Bookmarks count as events too when a watch ends early, as in client-go.
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

    /// A frame that cannot be read may have been anything, a deletion too: the version stays where it is, and
    /// after a wait a new list tells.
    fn malformed(&mut self, reason: &str, moment: Moment, store: &mut dyn ReflectorStore) -> Option<Action> {
        store.ledger().malformed += 1;
        self.unread(reason, moment, store)
    }

    /// A frame that is too long is not read at all, and may have been anything, too. The list that follows has no limit:
    /// it comes in pieces.
    pub(super) fn too_long(&mut self, bytes: usize, moment: Moment, store: &mut dyn ReflectorStore) -> Option<Action> {
        if !self.hear(bytes, moment, store) {
            return None;
        }
        store.ledger().oversized += 1;
        let megabytes = |bytes: usize| bytes as f64 / 1e6;
        let (long, most) = (megabytes(bytes), megabytes(LONGEST_FRAME));
        self.unread(&format!("a frame of {long:.1} MB, and no more than {most:.0} MB are read"), moment, store)
    }

    /// The watch ends, and with it what would still come: what waits is bounded, and after a wait a list tells the rest.
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
        // Trunk accepts a socket before it dials: what closes uncleanly and without a frame, at once or before anything
        // proved it, never was a watch. Only a probe over HTTP tells why.
        if !opened || (frames == 0 && code != 1000 && (lived < SHORT || self.failure.is_some())) {
            self.discard(store);
            self.silent(false, moment);
            let phase = if streaming { Phase::Start } else { Phase::Watch };
            self.state = State::Probe { phase, requested: moment.now };
            return Some(Action::Probe(WatchRequest {
                resource_version: self.version_to_ask(streaming),
                initial_events: streaming,
                timeout_seconds: 1,
            }));
        }
        if code != 1000 {
            // The process or the proxy died: what is shown may be old from here on.
            let words = format!("the connection broke (close code {code})");
            self.failure = Some(Failure::unreachable(words));
        }
        self.silent(code == 1000, moment);
        self.discard(store);
        if streaming {
            if events > 0 || lived >= SHORT {
                return Some(self.enter_after(Phase::Start, moment));
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

    /// Enters a phase at once, or when a second has passed since the last opening.
    pub(super) fn enter_after(&mut self, phase: Phase, moment: Moment) -> Action {
        if moment.now - self.last_opened >= SHORT {
            return self.enter(phase, moment);
        }
        self.state = State::Waiting { until: self.last_opened + SHORT, phase };
        Action::Wait
    }

    /// A list, a probe or an ERROR event said no.
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
        let open = matches!(self.state, State::Watch { .. });
        self.discard(store);
        self.silent(false, moment);
        // A server that cannot list so, or not from there, is asked in another way at once.
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
        let sits_out = open && failure.verdict == Verdict::Internal && self.sits_out(moment);
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
            // From page two on the token may have expired; client-go then asks for everything at once, at the
            // version that was asked for first.
            (At::List { continued: true, request }, Verdict::Expired) => {
                self.request(ListRequest { limit: None, continue_token: None, ..request }, moment)
            }
            (At::List { .. }, Verdict::Expired | Verdict::TooLarge) if !self.last_sync.unavailable => {
                self.last_sync.unavailable = true;
                self.list(moment)
            }
            // A list that is refused will be refused again. A watch alone may be: the lists between the attempts
            // keep what is shown fresh.
            (At::List { .. }, Verdict::Refused) => {
                self.state = State::Refused;
                Action::Wait
            }
            (At::List { .. }, _) => self.wait(Phase::Start, after, moment),
            (At::Watch, Verdict::TooManyRequests | Verdict::Unreachable) => self.wait(Phase::Watch, after, moment),
            (At::Watch, _) if sits_out => self.wait(Phase::Watch, after, moment),
            (At::Watch, _) => self.wait(Phase::Start, after, moment),
        })
    }

    /// Whether an internal error of an open watch is answered with the same watch, as long as the first of them is not
    /// longer ago than is configured (client-go, `RetryWithDeadline`). A watch that lasted a minute was well again.
    /// client-go tries again at once; here the usual waits stand between, for a server in trouble has no use for more.
    fn sits_out(&mut self, moment: Moment) -> bool {
        let window = self.options.max_internal_error_retry.unwrap_or(0.0);
        let recent = |_: &f64| moment.now - self.last_opened < WELL;
        let since = self.internal_since.filter(recent).unwrap_or(moment.now);
        let within = window > 0.0 && moment.now - since <= window;
        self.internal_since = within.then_some(since);
        within
    }

    /// Nothing is wrong with the request, so whatever refused the socket was in between.
    pub(super) fn probe_passed(&mut self, moment: Moment) -> Option<Action> {
        let State::Probe { phase, .. } = self.state else { return None };
        let words = "the server answers over HTTP, but the WebSocket could not be opened";
        self.failure = Some(Failure::unreachable(words));
        Some(self.wait(phase, None, moment))
    }

    pub(super) fn wait(&mut self, phase: Phase, at_least: Option<f64>, moment: Moment) -> Action {
        let wait = self.backoff.next(moment).max(at_least.unwrap_or(0.0));
        self.state = State::Waiting { until: moment.now + wait, phase };
        Action::Wait
    }

    /// Whatever a list had brought so far is worth nothing.
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
