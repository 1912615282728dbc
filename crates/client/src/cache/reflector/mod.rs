//! The Reflector: lists a resource, then watches it, and starts over as the protocol asks.
//!
//! A state machine without IO: an [`Input`] comes in, the next [`Action`] comes out, and what the server said about
//! objects goes to a [`ReflectorStore`]. The transitions are those of client-go's `reflector.go`, and two rules that a
//! browser needs: every wait has a deadline, and no socket is opened within a second of the one before.
//!
//! The [`Reflector`] takes inputs and deadlines, and `ListAndWatch` what the server sends. A `State` is what is under
//! way: a `List` in pages, a `StreamingList`, a `Watch`, or a wait. What outlives the states on purpose has a type
//! each: `LastSync`, `Fetches`, `Freshness` and `Timers`. The step after a failure, such as the relist after 410, is in
//! `relist`.

mod continuity;
mod fetches;
mod health;
mod input;
mod kind;
mod last_sync;
mod list;
mod list_and_watch;
mod notice;
mod objects;
mod options;
mod reader;
mod refusals;
mod relist;
mod requester;
mod socket;
mod state;
mod store;
mod streaming_list;
mod timers;
mod traffic;
mod unread;
mod watch;

use std::sync::Arc;

use crate::api::object::{Decode, Object, ResourceVersion};
use crate::api::request::WatchRequest;
use crate::api::status::{Failure, Verdict};
use crate::cache::backoff::Moment;
use crate::cache::reflector::list_and_watch::ListAndWatch;
use crate::cache::reflector::objects::Objects;
use crate::cache::reflector::reader::{BadFrame, text_of};
use crate::cache::reflector::refusals::Verb;
use crate::cache::reflector::state::{Phase, State};
use crate::cache::reflector::watch::Watch;

pub use crate::cache::reflector::fetches::PAGE;
pub use crate::cache::reflector::health::Health;
pub use crate::cache::reflector::input::{Action, Input, LONGEST_FRAME};
pub use crate::cache::reflector::notice::Notice;
pub use crate::cache::reflector::options::Options;
pub use crate::cache::reflector::store::ReflectorStore;
pub use crate::cache::reflector::traffic::{Traffic, WatchEnd};
pub use crate::cache::reflector::unread::Unread;
pub use crate::cache::reflector::watch::OpenWatch;

/// Keeps the objects of one resource in one scope as the server has them, as far as the network allows.
#[derive(Clone, Debug)]
pub struct Reflector {
    cycle: ListAndWatch,
}

impl Reflector {
    /// A reflector that reads objects with `decode`, and does nothing before [`Input::Start`].
    pub fn new(decode: Decode, options: Options) -> Reflector {
        Reflector { cycle: ListAndWatch::new(decode, &options) }
    }

    /// Takes what happened, and returns what to do next. `None` means that what is under way goes on.
    pub fn handle(&mut self, input: Input<'_>, moment: Moment, store: &mut dyn ReflectorStore) -> Option<Action> {
        let ended = self.cycle.requester.state.socket().map(|_| self.cycle.traffic.count());
        let action = self.step(input, moment, store);
        let ListAndWatch { requester, freshness, reason, traffic, .. } = &mut self.cycle;
        if let Some(action) = &action {
            // Whatever follows a socket ends it.
            if ended == Some(traffic.count()) {
                traffic.ended(WatchEnd::GivenUp);
            }
            traffic.asked(action);
        }
        freshness.report_stale(&requester.state, reason, moment.now, store);
        action
    }

    fn step(&mut self, input: Input<'_>, moment: Moment, store: &mut dyn ReflectorStore) -> Option<Action> {
        let (cycle, now) = (&mut self.cycle, moment.now);
        match input {
            Input::Frame(text) => cycle.frame(text.len(), Ok(text), moment, store),
            Input::Bytes(bytes) => cycle.frame(bytes.len(), text_of(bytes), moment, store),
            Input::TooLong(bytes) => cycle.frame(bytes, Err(BadFrame::TooLong(bytes)), moment, store),
            Input::Piece(bytes) => cycle.piece(bytes, moment, store),
            Input::PageEnd => cycle.page_end(moment, store),
            Input::Page(text) => cycle.page(text.as_bytes(), moment, store),
            Input::PageBytes(bytes) => cycle.page(bytes, moment, store),
            Input::Opened => {
                cycle.opened(now, store);
                None
            }
            Input::Closed(code) => cycle.closed(code, moment, store),
            Input::Failed(failure) => cycle.not_answered(failure, moment, store),
            Input::ProbePassed => cycle.probe_passed(moment, store),
            Input::Overrun(backlog) => cycle.overrun(backlog, moment, store),
            Input::Start => self.start(moment),
            Input::Stop => Some(self.stop(None, now, store)),
            Input::GiveUp(words) => Some(self.stop(Some(words), now, store)),
            Input::Timer => self.timer(moment, store),
            Input::Woke => self.woke(moment, store),
            Input::Relist(reason) => self.relist(reason, moment),
            Input::Reachable => match cycle.requester.state {
                State::Waiting { phase, .. } if cycle.freshness.is_unreachable() => {
                    Some(cycle.enter_after(phase, moment))
                }
                _ => None,
            },
            Input::HeartbeatAnswered { asked, event: true, .. } => {
                if let State::Watch(watch) = &mut cycle.requester.state {
                    watch.has_event(asked, now);
                }
                None
            }
            Input::HeartbeatAnswered { asked, event: false, checked } => {
                self.has_no_event(asked, checked, now, store);
                None
            }
            Input::HeartbeatFailed { asked, failure } => self.unproven(asked, failure, moment, store),
        }
    }

    /// Sets how often to resync, in milliseconds; `None` is never. The time begins now, or with the end of the list
    /// that is on its way.
    pub fn resync_every(&mut self, every: Option<f64>, now: f64) {
        self.cycle.requester.timers.set_resync(every, self.cycle.requester.state.is_past_its_list(), now);
    }

    /// When [`Input::Timer`] is due, in milliseconds, if ever.
    pub fn deadline(&self) -> Option<f64> {
        let state = &self.cycle.requester.state;
        let under_way = [state.ends_at(), state.owed_at(), state.late_at()];
        let beside =
            [self.cycle.freshness.stale_at(state), self.cycle.requester.resync_due(), self.cycle.requester.doubt_due()];
        under_way.into_iter().chain(beside).flatten().reduce(f64::min)
    }

    /// Returns how much of what is held can be believed.
    pub fn health(&self, now: f64) -> Health {
        self.cycle.freshness.health(&self.cycle.requester.state, now)
    }

    /// Why what is held may be wrong, in the server's words, since the watch was last proven.
    pub fn failure(&self) -> Option<&Failure> {
        self.cycle.freshness.failure.as_ref()
    }

    /// What was asked of the server, and how the watches ended.
    pub fn traffic(&self) -> &Traffic {
        &self.cycle.traffic
    }

    /// The newest version seen.
    pub fn resource_version(&self) -> &ResourceVersion {
        self.cycle.requester.last_sync.version()
    }

    /// Returns whether a complete list has been handed over.
    pub fn has_listed(&self) -> bool {
        self.cycle.freshness.synced
    }

    /// When the last proof came that what is held is true: a frame, a list, or an answer of the API server. In
    /// milliseconds.
    pub fn heard(&self) -> Option<f64> {
        self.cycle.freshness.heard
    }

    /// Why the list under way was asked for, if it is not the first one.
    pub fn list_reason(&self) -> &str {
        &self.cycle.reason
    }

    /// Returns how many objects the list under way has brought so far.
    pub fn listing(&self) -> Option<usize> {
        self.cycle.requester.state.items().map(Objects::len)
    }

    /// The objects that the list under way has brought so far, in the order in which they came.
    pub fn listed(&self) -> impl Iterator<Item = &Arc<Object>> {
        self.cycle.requester.state.items().into_iter().flat_map(Objects::iter)
    }

    /// Returns how many objects the list under way will still bring, where the last page said so.
    pub fn remaining(&self) -> Option<u64> {
        match &self.cycle.requester.state {
            State::List(list) => list.remaining,
            _ => None,
        }
    }

    /// Whether watches go over HTTP, because no WebSocket is let through.
    pub fn is_over_http(&self) -> bool {
        self.cycle.requester.over_http.is_some()
    }

    /// Whether the list under way has begun to come, if it is fetched: of one that has not, nobody knows whether it costs
    /// the server much.
    pub fn has_begun_to_list(&self) -> bool {
        match &self.cycle.requester.state {
            State::List(list) => list.arrived.is_some(),
            _ => true,
        }
    }

    /// When the next attempt is due, in milliseconds, while the reflector waits for one.
    pub fn retry_at(&self) -> Option<f64> {
        match self.cycle.requester.state {
            State::Waiting { until, .. } => Some(until),
            _ => None,
        }
    }

    /// Returns whether the reflector waits because nothing answers.
    pub fn is_unreachable(&self) -> bool {
        matches!(self.cycle.requester.state, State::Waiting { .. }) && self.cycle.freshness.is_unreachable()
    }

    /// The open watch, for which the heartbeat may ask. `None` while there is none, or while the socket is known to owe
    /// an event.
    pub fn open_watch(&self) -> Option<OpenWatch> {
        let State::Watch(Watch { socket, owed: None }) = &self.cycle.requester.state else { return None };
        let (opened, heard) = (socket.opened?, self.cycle.freshness.heard?);
        if self.cycle.requester.last_sync.version().is_unset() {
            return None;
        }
        let unproven = self.cycle.freshness.is_unproven();
        Some(OpenWatch {
            request: self.resumed(),
            heard,
            opened,
            unproven,
            readable: self.cycle.requester.fetches.readable,
        })
    }

    /// The request for the same watch from the last version on, for one second.
    pub fn resumed(&self) -> WatchRequest {
        self.cycle.requester.watch_request(false, 1)
    }

    /// Begins anew with a list, unless something is under way.
    fn start(&mut self, moment: Moment) -> Option<Action> {
        if !matches!(self.cycle.requester.state, State::Idle | State::Stopped | State::Refused | State::Waiting { .. })
        {
            return None;
        }
        // Nothing is known of what happened since the last watch, which is to be reported as a gap.
        let stopped = matches!(self.cycle.requester.state, State::Stopped);
        if self.cycle.freshness.heard.is_some() && (stopped || self.cycle.freshness.failure.is_none()) {
            let words = if stopped { "the watch was stopped" } else { "a new list was asked for" };
            self.cycle.freshness.failure = Some(Failure::unreachable(words));
        }
        Some(self.cycle.enter(Phase::Start, moment))
    }

    /// Stops, for this reason where there is one.
    fn stop(&mut self, reason: Option<&str>, now: f64, store: &mut dyn ReflectorStore) -> Action {
        self.cycle.requester.state.discard(store.ledger());
        self.cycle.freshness.silent(false, now);
        self.cycle.freshness.continuity.report();
        self.cycle.requester.state = State::Stopped;
        if let Some(words) = reason {
            self.cycle.freshness.failure =
                Some(Failure { verdict: Verdict::Refused, code: 0, words: words.to_owned(), retry_after: None });
        }
        Action::Wait
    }

    /// Ends an open watch, and begins a new list of the server's newest state. Until that list ends, what is held is
    /// known to be wrong, and counts as stale.
    fn relist(&mut self, reason: &str, moment: Moment) -> Option<Action> {
        if !matches!(self.cycle.requester.state, State::Watch(_)) {
            return None;
        }
        self.cycle.reason = reason.to_owned();
        // A server whose versions went back does not know the version that is held.
        self.cycle.requester.last_sync.unavailable = true;
        // Whoever found the held objects to be wrong reports why.
        self.cycle.freshness.continuity.report();
        Some(self.cycle.enter(Phase::Start, moment))
    }

    fn timer(&mut self, moment: Moment, store: &mut dyn ReflectorStore) -> Option<Action> {
        let due = |deadline: Option<f64>| deadline.is_some_and(|deadline| moment.now >= deadline);
        let requester = &mut self.cycle.requester;
        if due(requester.resync_due()) {
            requester.timers.restart_resync(moment.now);
            store.resync(moment.now);
        }
        // Before the end of the watch: where the two fall together, the new list takes the place of the next watch.
        if due(requester.doubt_due()) {
            return Some(self.cycle.resolve_doubt(moment));
        }
        if due(requester.state.ends_at()) {
            return self.took_too_long(moment, store);
        }
        if due(requester.state.owed_at()) {
            return self.dead(moment);
        }
        if due(requester.state.late_at())
            && let State::Stream(list) = &mut requester.state
        {
            store.notice(list.warn(moment.now));
        }
        None
    }

    /// The deadline of what is under way passed.
    fn took_too_long(&mut self, moment: Moment, store: &mut dyn ReflectorStore) -> Option<Action> {
        let words = match &self.cycle.requester.state {
            State::Idle | State::Stopped | State::Refused => return None,
            State::Waiting { phase, .. } => {
                let phase = *phase;
                return Some(self.cycle.enter(phase, moment));
            }
            State::List(list) if list.arrived.is_some() => "the answer stopped in the middle",
            State::List(_) | State::Probe { .. } => "no answer in time",
            State::Stream(list) if list.socket.opened.is_some() && list.socket.frames == 0 => {
                "the list did not begin in time"
            }
            State::Stream(list) if list.socket.opened.is_some() => return Some(self.lost(false, moment, store)),
            State::Watch(watch) if watch.socket.opened.is_some() => {
                let silent = watch.socket.frames == 0;
                return Some(self.lost(silent, moment, store));
            }
            State::Stream(_) | State::Watch(_) => "the WebSocket did not open in time",
        };
        self.cycle.failed(Failure::unreachable(words), moment, store)
    }

    /// The deadline of an open socket passed; `silent` says that it was a watch that never brought a frame.
    ///
    /// A watch from a version that the server has never reached opens, and stays silent for ever. So a new list is
    /// taken after two watches in a row that stayed silent.
    fn lost(&mut self, silent: bool, moment: Moment, store: &mut dyn ReflectorStore) -> Action {
        let cycle = &mut self.cycle;
        cycle.quiet = if silent { cycle.quiet + 1 } else { 0 };
        let phase = if cycle.quiet < 2 { cycle.requester.state.phase() } else { None };
        cycle.freshness.silent(false, moment.now);
        cycle.requester.state.discard(store.ledger());
        if cycle.quiet >= 2 {
            cycle.quiet = 0;
            cycle.reason = String::from("two silent watches");
            // Whatever these watches did not bring is a gap, although nothing was refused.
            cycle.freshness.failure = Some(Failure::unreachable(cycle.reason.clone()));
        }
        cycle.enter(phase.unwrap_or(Phase::Start), moment)
    }

    /// The event that the server has did not come: the socket is dead, whatever the browser says of it. The watch is
    /// opened anew; after a wait if this socket never brought anything, for the next one may be no better.
    fn dead(&mut self, moment: Moment) -> Option<Action> {
        let cycle = &mut self.cycle;
        let frames = cycle.requester.state.socket()?.frames;
        cycle.freshness.silent(false, moment.now);
        let words = "the socket no longer brings what the server has";
        cycle.freshness.failure.get_or_insert_with(|| Failure::unreachable(words));
        Some(match frames {
            0 => cycle.requester.wait(Phase::Watch, None, moment),
            _ => cycle.enter_after(Phase::Watch, moment),
        })
    }

    fn woke(&mut self, moment: Moment, store: &mut dyn ReflectorStore) -> Option<Action> {
        let cycle = &mut self.cycle;
        let phase = cycle.requester.state.phase()?;
        cycle.freshness.silent(false, moment.now);
        cycle.freshness.failure.get_or_insert_with(|| Failure::unreachable("the page slept"));
        cycle.requester.state.discard(store.ledger());
        // A page may learn twice that it woke, once by its clock and once by the network.
        Some(cycle.enter_after(phase, moment))
    }

    /// The API server has no event for this watch: nothing was missed up to when it was asked. `checked` says that the
    /// server has come as far as the watch's version, so that the silence of the socket is no fault.
    fn has_no_event(&mut self, asked: f64, checked: bool, now: f64, store: &mut dyn ReflectorStore) {
        let cycle = &mut self.cycle;
        if !matches!(&cycle.requester.state, State::Watch(watch) if watch.socket.was_open(asked)) {
            return;
        }
        let freshness = &mut cycle.freshness;
        freshness.heard = Some(freshness.heard.map_or(asked, |heard| heard.max(asked)));
        if checked {
            cycle.quiet = 0;
        }
        freshness.refusals.allowed(Verb::Watch);
        freshness.settle(false, now, store);
    }

    /// The API server did not answer when it was asked for this watch, or did not answer with a watch. The socket stays
    /// open, for the server may only be slow; what is held is as old as its last proof.
    fn unproven(
        &mut self,
        asked: f64,
        failure: Failure,
        moment: Moment,
        store: &mut dyn ReflectorStore,
    ) -> Option<Action> {
        let cycle = &mut self.cycle;
        let State::Watch(watch) = &cycle.requester.state else { return None };
        let before = |time: Option<f64>| time.is_none_or(|time| time <= asked);
        if !watch.socket.was_open(asked) || !before(cycle.freshness.heard) || !before(watch.socket.last_frame) {
            return None;
        }
        match failure.verdict {
            // No answer could ever prove the watch again from that version on.
            Verdict::Expired | Verdict::TooLarge => cycle.failed(failure, moment, store),
            _ => {
                cycle.freshness.silent(false, moment.now);
                cycle.freshness.failure.get_or_insert(failure);
                None
            }
        }
    }
}
