//! The cycle of list and watch (client-go's `ListAndWatch`): a method for each thing that can happen.

use crate::api::object::{Decode, Object};
use crate::api::status::{Failure, Verdict};
use crate::cache::backlog::Backlog;
use crate::cache::backoff::Moment;
use crate::cache::delta::DeltaType;
use crate::cache::queue::Queued;
use crate::cache::reflector::fetches::Fetches;
use crate::cache::reflector::health::Freshness;
use crate::cache::reflector::input::{Action, LONGEST_FRAME};
use crate::cache::reflector::last_sync::LastSync;
use crate::cache::reflector::notice::Notice;
use crate::cache::reflector::objects::Objects;
use crate::cache::reflector::options::Options;
use crate::cache::reflector::reader::{BadFrame, Bookmark, Frame, FrameEvent, ObjectReader, too_long};
use crate::cache::reflector::refusals::{self, Verb};
use crate::cache::reflector::relist::{self, Failed, Next};
use crate::cache::reflector::requester::Requester;
use crate::cache::reflector::socket::Ended;
use crate::cache::reflector::state::{Phase, State};
use crate::cache::reflector::store::ReflectorStore;
use crate::cache::reflector::timers::Timers;
use crate::cache::reflector::traffic::{Traffic, WatchEnd};
use crate::cache::reflector::unread::Unread;
use crate::cache::reflector::watch::Watch;

/// A list, the watch that follows it, and what is known of both.
#[derive(Clone, Debug)]
pub(super) struct ListAndWatch {
    reader: ObjectReader,
    pub(super) requester: Requester,
    pub(super) freshness: Freshness,
    /// How many sockets in a row were given up without a frame.
    pub(super) quiet: u32,
    /// Why the list under way, or the next one, is needed.
    pub(super) reason: String,
    /// What was asked of the server, and how the watches ended.
    pub(super) traffic: Traffic,
}

impl ListAndWatch {
    pub(super) fn new(decode: Decode, options: &Options) -> ListAndWatch {
        ListAndWatch {
            reader: ObjectReader::new(decode, options),
            requester: Requester {
                state: State::Idle,
                last_sync: LastSync::default(),
                fetches: Fetches::new(options),
                timers: Timers::new(options.resync),
                refused_sockets: 0,
                over_http: None,
            },
            freshness: Freshness::default(),
            quiet: 0,
            reason: String::from("first list"),
            traffic: Traffic::default(),
        }
    }

    /// Enters a phase now.
    pub(super) fn enter(&mut self, phase: Phase, moment: Moment) -> Action {
        // A doubt may have come due while no watch was open.
        if phase == Phase::Watch && self.requester.timers.doubt_at.is_some_and(|at| moment.now >= at) {
            return self.resolve_doubt(moment);
        }
        self.requester.enter(phase, moment)
    }

    /// Enters a phase now, or when a second has passed since a socket was last asked for.
    pub(super) fn enter_after(&mut self, phase: Phase, moment: Moment) -> Action {
        match self.requester.timers.next_socket_at(moment.now) {
            None => self.enter(phase, moment),
            Some(until) => self.requester.wait_until(until, phase),
        }
    }

    pub(super) fn opened(&mut self, now: f64, store: &mut dyn ReflectorStore) {
        if let Some(socket) = self.requester.state.socket_mut() {
            socket.open(now, store.ledger());
            self.freshness.opened();
        }
    }

    /// A page that is there as a whole.
    pub(super) fn page(&mut self, bytes: &[u8], moment: Moment, store: &mut dyn ReflectorStore) -> Option<Action> {
        match self.piece(bytes, moment, store) {
            None => self.page_end(moment, store),
            failed => failed,
        }
    }

    pub(super) fn piece(&mut self, bytes: &[u8], moment: Moment, store: &mut dyn ReflectorStore) -> Option<Action> {
        let State::List(list) = &mut self.requester.state else { return None };
        self.requester.fetches.answered();
        if bytes.is_empty() {
            return None;
        }
        let failure = list.piece(bytes, &self.reader, moment.now, store).err()?;
        self.failed(failure, moment, store)
    }

    /// All bytes of a page have come: either more pages follow, or the list is complete.
    pub(super) fn page_end(&mut self, moment: Moment, store: &mut dyn ReflectorStore) -> Option<Action> {
        let Requester { state: State::List(list), fetches, .. } = &mut self.requester else { return None };
        let meta = match list.end_page() {
            Ok(meta) => meta,
            Err(failure) => return self.failed(failure, moment, store),
        };
        fetches.answered();
        self.freshness.heard = Some(moment.now);
        match list.next_page(meta, moment.now) {
            Ok(Some(next)) => {
                fetches.page_came(&next);
                return Some(Action::List(next));
            }
            Ok(None) => {}
            Err(failure) => return self.failed(failure, moment, store),
        }
        let State::List(list) = std::mem::replace(&mut self.requester.state, State::Idle) else { return None };
        if let Some(reason) = list.rest_of_unread() {
            store.notice(Notice::Malformed { at: moment.now, reason });
        }
        let (items, unread, version) = list.into_parts();
        self.requester.last_sync.reached(version);
        self.freshness.refusals.allowed(Verb::List);
        self.replace(items, &unread, moment.now, store);
        Some(self.requester.open(false, moment))
    }

    /// Hands a complete list over, without the items that could not be read.
    fn replace(&mut self, objects: Objects, unread: &Unread, now: f64, store: &mut dyn ReflectorStore) {
        let list = objects.into_sorted();
        let count = list.len();
        store.ledger().pending -= count as u64;
        store.ledger().replaced += count as u64;
        store.ledger().lists += 1;
        self.requester.last_sync.unavailable = false;
        let first = self.freshness.listed(now);
        let reason = std::mem::replace(&mut self.reason, String::from("relist"));
        let doubt = store.replace(now, list, unread);
        self.requester.timers.list_complete(doubt, now);
        if !first {
            store.notice(Notice::Relisted { at: now, reason, items: count });
        }
    }

    /// Takes another list, of which perhaps every item can be read.
    pub(super) fn resolve_doubt(&mut self, moment: Moment) -> Action {
        self.requester.timers.doubt_at = None;
        self.reason = String::from("the last list had items without a name");
        self.freshness.silent(false, moment.now);
        // Whatever happens until that list is complete is a gap, although nothing was refused.
        self.freshness.failure = Some(Failure::unreachable(self.reason.clone()));
        self.enter(Phase::Start, moment)
    }

    /// Counts a frame of this many bytes. Returns false where no socket is open from which it could have come.
    fn hear(&mut self, bytes: usize, now: f64, store: &mut dyn ReflectorStore) -> bool {
        let Some(socket) = self.requester.state.socket_mut() else { return false };
        socket.frame(now, store.ledger());
        self.quiet = 0;
        store.ledger().frames += 1;
        store.ledger().bytes += bytes as u64;
        if matches!(self.requester.state, State::Stream(_)) {
            self.requester.fetches.streamed();
        }
        // The waits of an outage grew because nothing answered. Now the server answers, and if it answers with an
        // error, the waits begin short again: a page that was cut off and gets a 410 must not be stale for long.
        if self.freshness.is_unreachable() {
            self.requester.timers.reset_backoff();
        }
        true
    }

    /// A frame of this many bytes came. `text` is an error where its text cannot be read.
    pub(super) fn frame(
        &mut self,
        bytes: usize,
        text: Result<&str, BadFrame>,
        moment: Moment,
        store: &mut dyn ReflectorStore,
    ) -> Option<Action> {
        if !self.hear(bytes, moment.now, store) {
            return None;
        }
        match text.and_then(|text| self.reader.frame(text)) {
            Ok(Frame::Event(event)) => self.event(event, moment, store),
            Ok(Frame::Bookmark(bookmark)) => {
                self.bookmark(bookmark, moment.now, store);
                None
            }
            Ok(Frame::Error(failure)) => {
                store.ledger().errors += 1;
                self.traffic.ended(WatchEnd::Error(failure.code));
                self.failed(failure, moment, store)
            }
            Err(bad) => self.bad_frame(bad, moment, store),
        }
    }

    fn event(&mut self, event: FrameEvent<'_>, moment: Moment, store: &mut dyn ReflectorStore) -> Option<Action> {
        let FrameEvent { delta_type, object, text } = event;
        let object = store.keep(object);
        self.prove(true, moment.now, store);
        store.ledger().events += 1;
        let Requester { state, last_sync, .. } = &mut self.requester;
        match state {
            State::Stream(list) => list.event(delta_type, object, text, store),
            State::Watch(watch) => {
                watch.socket.events += 1;
                // A watch from no version, or from `0`, begins with what exists, in the order of names, so that the
                // version of one object says nothing about the next. The first event that is no ADDED ends that part.
                let is_news = last_sync.is_news(&object.resource_version);
                if delta_type != DeltaType::Added || !last_sync.is_any() {
                    last_sync.seen(&object.resource_version);
                }
                let queued = store.event(moment.now, delta_type, object.clone(), text);
                if is_news && matches!(queued, Queued::Late | Queued::Former) {
                    return self.went_back(&object, moment, store);
                }
            }
            _ => {}
        }
        None
    }

    fn bookmark(&mut self, bookmark: Bookmark, now: f64, store: &mut dyn ReflectorStore) {
        store.ledger().bookmarks += 1;
        self.traffic.bookmark = Some(now);
        // When a watch ends early, it matters whether it brought an event. Bookmarks count, too, as in client-go.
        if let Some(socket) = self.requester.state.socket_mut() {
            socket.events += 1;
        }
        self.prove(false, now, store);
        match std::mem::replace(&mut self.requester.state, State::Idle) {
            State::Stream(list) if bookmark.ends_list => {
                self.requester.last_sync.reached(bookmark.version);
                self.replace(list.items, &Unread::default(), now, store);
                self.requester.state = State::Watch(Watch::new(list.socket));
                self.freshness.settle(true, now, store);
            }
            state => {
                if matches!(state, State::Watch(_)) {
                    self.requester.last_sync.passed(&bookmark.version);
                }
                self.requester.state = state;
            }
        }
    }

    /// A frame came: with an object (`object`), or with a bookmark.
    fn prove(&mut self, object: bool, now: f64, store: &mut dyn ReflectorStore) {
        self.freshness.heard = Some(now);
        self.freshness.refusals.allowed(Verb::Watch);
        self.requester.timers.watch_allowed();
        if let State::Watch(watch) = &mut self.requester.state {
            watch.owed = None;
            self.freshness.settle(object, now, store);
        }
    }

    /// An event is new to the watch, and yet older than what is known of its object. A server sends changes in the
    /// order of their versions, so that one of the two versions is wrong. If it is the known one (a single huge one is
    /// enough), every later change of the object would count as late, and its row would stay as it is under "live".
    /// Only a new list has the truth, and not one at a version that may be the wrong one.
    fn went_back(&mut self, object: &Object, moment: Moment, store: &mut dyn ReflectorStore) -> Option<Action> {
        let Object { key, resource_version, .. } = object;
        let reason =
            format!("{key} came in version {resource_version}, which is new, and older than what is known of it");
        store.notice(Notice::Malformed { at: moment.now, reason: reason.clone() });
        let action = self.failed(failing(reason), moment, store);
        self.requester.last_sync.unavailable = true;
        action
    }

    /// A frame that cannot be read may have been anything, even a deletion. The version stays where it is, and a new
    /// list follows after a wait. It brings an object whose frame was too long, for a list comes in pieces.
    fn bad_frame(&mut self, bad: BadFrame, moment: Moment, store: &mut dyn ReflectorStore) -> Option<Action> {
        let reason = match bad {
            BadFrame::Malformed(reason) => {
                store.ledger().malformed += 1;
                reason
            }
            BadFrame::TooLong(bytes) => {
                store.ledger().oversized += 1;
                too_long("a frame of", bytes, LONGEST_FRAME)
            }
        };
        store.notice(Notice::Malformed { at: moment.now, reason: reason.clone() });
        self.failed(failing(format!("a frame could not be read: {reason}")), moment, store)
    }

    /// More has come than the handlers can take: the watch ends, so that no more comes, and a list follows after a
    /// wait.
    pub(super) fn overrun(
        &mut self,
        backlog: Backlog,
        moment: Moment,
        store: &mut dyn ReflectorStore,
    ) -> Option<Action> {
        if !matches!(self.requester.state, State::Watch(_)) {
            return None;
        }
        let Backlog { changes, bytes } = backlog;
        let words = format!("more came than was taken: {changes} changes in {:.1} MB waited", bytes as f64 / 1e6);
        self.failed(failing(words), moment, store)
    }

    pub(super) fn closed(&mut self, code: u16, moment: Moment, store: &mut dyn ReflectorStore) -> Option<Action> {
        let streaming = matches!(self.requester.state, State::Stream(_));
        let over_http = self.requester.state.socket()?.over_http;
        self.traffic.ended(WatchEnd::Closed(code));
        if over_http {
            return Some(self.poll_ended(code == 1000, moment, store));
        }
        let ended = self.requester.state.socket()?.ended(code, moment.now, self.freshness.failure.is_some());
        let clean = code == 1000 && ended != Ended::Unproven;
        if ended != Ended::Unproven {
            self.requester.socket_passed();
        }
        if !clean && ended != Ended::Unproven {
            // The server or a proxy ended without a word: what is held may be old from here on.
            let words = format!("the connection broke (close code {code})");
            self.freshness.failure = Some(Failure::unreachable(words));
        }
        self.freshness.silent(clean, moment.now);
        self.requester.state.discard(store.ledger());
        match ended {
            Ended::Unproven => {
                let probe = self.requester.probe(streaming, moment.now);
                if self.requester.fetches.readable {
                    return Some(probe);
                }
                let words = "the WebSocket was refused, and the browser keeps the reason from the page";
                self.failed(Failure::unreachable(words), moment, store)
            }
            Ended::AtLength => Some(self.enter_after(if streaming { Phase::Start } else { Phase::Watch }, moment)),
            Ended::AtOnce if streaming => {
                if !self.requester.fetches.readable {
                    let words = "the list ended within a second, without an event";
                    self.freshness.failure.get_or_insert_with(|| failing(words.to_owned()));
                }
                Some(self.requester.list(moment))
            }
            Ended::AtOnce => {
                let words = "the watch ended within a second, without an event";
                self.freshness.failure = Some(failing(words.to_owned()));
                self.reason = String::from("very short watch");
                Some(self.requester.wait(Phase::Start, None, moment))
            }
        }
    }

    /// A watch over HTTP came to its end, which proves that there is no more; or it broke off (`clean` is false).
    fn poll_ended(&mut self, clean: bool, moment: Moment, store: &mut dyn ReflectorStore) -> Action {
        if clean {
            self.freshness.refusals.allowed(Verb::Watch);
            self.freshness.settle(false, moment.now, store);
            self.freshness.silent(true, moment.now);
            return self.requester.poll_again(moment.now);
        }
        self.freshness.failure = Some(Failure::unreachable("the answer broke off"));
        self.freshness.silent(false, moment.now);
        self.requester.wait(Phase::Watch, None, moment)
    }

    /// The list, or the probe of a refused socket, failed as whoever asked says.
    ///
    /// A streaming list is tried in place of a list whose answer may be one that cannot be read. Where that fails, too,
    /// the next attempt begins with a fetch again, after a wait: then it is more likely that nothing answers at all.
    pub(super) fn not_answered(
        &mut self,
        failure: Failure,
        moment: Moment,
        store: &mut dyn ReflectorStore,
    ) -> Option<Action> {
        if matches!(self.requester.state, State::List(_)) && self.requester.fetches.may_be_unreadable(&failure) {
            self.freshness.silent(false, moment.now);
            return Some(self.requester.open(true, moment));
        }
        self.failed(failure, moment, store)
    }

    /// The server answers the request over HTTP, so that something between here and the server refuses the socket. Where that
    /// happens again, the same is asked for over HTTP.
    pub(super) fn probe_passed(&mut self, moment: Moment, store: &mut dyn ReflectorStore) -> Option<Action> {
        let State::Probe { phase, .. } = self.requester.state else { return None };
        self.requester.fetches.answered();
        let was_over_http = self.requester.over_http.is_some();
        if self.requester.socket_refused(moment.now) {
            if !was_over_http {
                store.notice(Notice::OverHttp { at: moment.now });
            }
            return Some(self.enter(phase, moment));
        }
        let words = "the server answers over HTTP, but the WebSocket could not be opened";
        self.freshness.failure = Some(Failure::unreachable(words));
        Some(self.requester.wait(phase, None, moment))
    }

    /// The request that is under way failed: a list, a probe, or a socket with an ERROR event.
    pub(super) fn failed(
        &mut self,
        failure: Failure,
        moment: Moment,
        store: &mut dyn ReflectorStore,
    ) -> Option<Action> {
        let failed = match &self.requester.state {
            State::List(list) => Failed::List { continued: list.request.continue_token.is_some() },
            State::Stream(_) | State::Probe { phase: Phase::Start, .. } => Failed::Stream,
            State::Watch(watch) if watch.socket.over_http && watch.socket.opened.is_none() => Failed::Opening,
            State::Watch(_) => Failed::Watch,
            State::Probe { phase: Phase::Watch, .. } => Failed::Opening,
            _ => return None,
        };
        // What was waited for without an answer costs nobody anything.
        let took = if failure.code == 0 { 0.0 } else { self.requester.state.took(moment.now) };
        if failure.code != 0 && matches!(self.requester.state, State::List(_) | State::Probe { .. }) {
            self.requester.fetches.answered();
        }
        self.requester.state.discard(store.ledger());
        self.freshness.silent(false, moment.now);
        let next = relist::after(failed, failure.verdict, self.requester.last_sync.unavailable);
        if !next.asks_otherwise(failure.verdict) {
            self.freshness.failure = Some(failure.clone());
            let verb = if matches!(failed, Failed::List { .. }) { Verb::List } else { Verb::Watch };
            if let Some(reason) = self.freshness.refusals.refused(verb, &failure) {
                store.notice(Notice::Refused { at: moment.now, reason, retried: next != Next::Nothing });
            }
        }
        if self.freshness.synced {
            self.reason = match failure.code {
                0 => failure.words.clone(),
                code => format!("{code}: {}", failure.words),
            };
        }
        Some(match next {
            Next::StreamNewest => {
                self.requester.last_sync.unavailable = true;
                self.requester.open(true, moment)
            }
            Next::ListNewest => {
                self.requester.last_sync.unavailable = true;
                self.requester.list(moment)
            }
            Next::List => self.requester.list(moment),
            Next::ListWhole => self.requester.list_whole(moment),
            Next::Wait(phase) => {
                if refusals::is_refusal(&failure) {
                    self.requester.timers.still_refused(moment);
                }
                let at_least = self.requester.timers.after_failing(took).max(failure.retry_after.unwrap_or(0.0));
                // What may not be watched is listed, seldom, so that what is held does not grow old for ever.
                let is_unwatched = failed == Failed::Opening && failure.verdict == Verdict::Forbidden;
                let lists = is_unwatched && self.requester.timers.lists_unwatched(moment.now);
                self.requester.wait(if lists { Phase::Start } else { phase }, Some(at_least), moment)
            }
            Next::Nothing => {
                self.requester.state = State::Refused;
                Action::Wait
            }
        })
    }
}

/// A failure of what came, without a code.
fn failing(words: String) -> Failure {
    Failure { verdict: Verdict::Failing, code: 0, words, retry_after: None }
}
