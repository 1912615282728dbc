//! A server, an informer, the connection between them, and what is expected of the informer.

mod lists;

use std::collections::HashSet;

use kubechurn_client::api::object::Decode;
use kubechurn_client::cache::backoff::Moment;
use kubechurn_client::cache::index;
use kubechurn_client::cache::ledger::Ledger;
use kubechurn_client::cache::processor::HandlerId;
use kubechurn_client::cache::queue::Queue;
use kubechurn_client::cache::reflector::{Action, Health, Input, Notice};
use kubechurn_client::cache::shared_informer::{InformerOptions, SharedInformer};
use kubechurn_client::cache::store::Change;

use crate::histories::expected::{Expected, ReportedChange, What};
use crate::histories::handlers::LateHandler;
use crate::histories::other::{Other, wants};
use crate::histories::server::{COUNT, Frame, KEYS, Map, Seen, Server, Socket, State, failure, words};
use crate::histories::steps::{PageSent, Step};
use kubechurn_client::testing::Log;

pub struct Play<Q, O> {
    server: Server,
    informer: SharedInformer<Q>,
    now: f64,
    /// Changes with the inputs, between 0 and 1.
    random: f64,
    /// What the informer asked for last, if that was not answered yet.
    asked: Option<Action>,
    socket: Socket,
    /// The events of the open socket that have arrived, to be sent again.
    arrived: Vec<State>,
    expected: Expected,
    id: HandlerId,
    log: Log,
    late: Vec<LateHandler>,
    /// An informer with another kind of queue, which receives the same.
    other: Option<Other<O>>,
    /// The gaps that notices reported: from when to when.
    gaps: Vec<(f64, f64)>,
}

impl<Q: Queue, O: Queue> Play<Q, O> {
    /// `folds` says whether the queue is one that folds. The informer of `other`, if there is one, is handed the same
    /// inputs.
    pub fn new(base: u128, options: InformerOptions, folds: bool, other: Option<Other<O>>) -> Play<Q, O> {
        let mut informer = SharedInformer::<Q>::with_queue(Decode::METADATA, options);
        informer.add_index(index::NAMESPACE, index::by_namespace()).unwrap();
        let id = informer.add_event_handler(wants(options), 0.0);
        let mut play = Play {
            server: Server::new(base),
            informer,
            now: 0.0,
            random: 0.0,
            asked: None,
            socket: Socket::Closed,
            arrived: Vec::new(),
            expected: Expected::new(folds),
            id,
            log: Log::default(),
            late: Vec::new(),
            other,
            gaps: Vec::new(),
        };
        play.input(Input::Start);
        play
    }

    /// Hands an input over. What is to be done next does not depend on the kind of the queue.
    fn handle(&mut self, input: Input<'_>) -> Option<Action> {
        self.random = (self.random + 0.382) % 1.0;
        let moment = Moment { now: self.now, random: self.random };
        let action = self.informer.handle(input.clone(), moment);
        if let Some(other) = &mut self.other {
            other.handle(input, moment, action.as_ref(), self.informer.reflector());
        }
        action
    }

    /// Hands over an input whose effect is expected already, and compares.
    fn input(&mut self, input: Input<'_>) {
        let action = self.handle(input);
        let goes_on = matches!(&action, Some(Action::List(request)) if request.continue_token.is_some());
        if let Some(action) = action {
            self.socket = Socket::Closed;
            self.arrived.clear();
            if !goes_on {
                self.expected.discard();
            }
            if let Action::Watch(request) | Action::WatchOverHttp(request) = &action {
                let resumes = self.server.revision_of(&request.resource_version);
                assert!(request.initial_events || resumes == self.expected.version, "resumes at {resumes}");
            }
            self.asked = Some(action);
        }
        if self.informer.ledger().resyncs > self.expected.ledger.resyncs {
            self.expected.resync();
        }
        self.check_step();
    }

    /// The informer's counters, marks and version are as expected.
    fn check_step(&mut self) {
        let ledger = self.informer.ledger();
        let left_out = (ledger.bytes, ledger.watches, ledger.applied + ledger.coalesced, 0);
        // These counters are not compared: each change and each mark is checked by itself instead.
        let Ledger { changes, without_effect, twofold, gone, received, repeated, .. } = *ledger;
        let mut expected =
            Ledger { changes, without_effect, twofold, gone, received, repeated, ..self.expected.ledger };
        (expected.bytes, expected.watches, expected.applied, expected.coalesced) = left_out;
        let seen = Ledger { applied: left_out.2, coalesced: 0, ..*ledger };
        assert_eq!(seen, expected);
        assert_eq!(self.informer.queue().queued(), self.expected.queued());
        assert_eq!(
            self.informer.ledger().deltas(),
            left_out.2 + self.expected.queued(),
            "what was made went somewhere"
        );
        assert!(self.informer.is_balanced(), "{ledger:?}");
        assert_eq!(self.informer.has_synced(), self.expected.has_synced(), "synced");
        let version = self.informer.reflector().resource_version();
        assert_eq!(self.server.revision_of(version), self.expected.version, "where a watch would resume");
        self.informer.deliver(self.id, &mut self.log);
        let marks = std::mem::take(&mut self.log.marks);
        let marks = marks.into_iter().map(|(delta_type, object)| (delta_type, self.server.seen(&object))).collect();
        self.expected.check_marks(marks);
        self.check_notices(None);
        if let (Socket::Watching, Some(heard)) = (self.socket, self.informer.reflector().heard()) {
            self.expected.heard = self.expected.heard.max(heard);
        }
    }

    /// There is a notice of each complete list but the first, and the gaps do not overlap.
    fn check_notices(&mut self, mut relisted: Option<usize>) {
        for notice in self.informer.take_notices() {
            match notice {
                Notice::Relisted { at, items, .. } => assert_eq!((Some(items), at), (relisted.take(), self.now)),
                Notice::Gap { from, to, .. } => {
                    let before = self.gaps.last().map_or(f64::NEG_INFINITY, |gap| gap.1);
                    assert!(before <= from && from <= to && to == self.now, "a gap from {from} to {to}");
                    self.gaps.push((from, to));
                }
                other => assert_eq!(other.at(), self.now, "{other:?}"),
            }
        }
        assert_eq!(relisted, None, "no notice of a relist");
    }

    pub fn step(&mut self, step: Step) {
        let open = self.socket != Socket::Closed;
        match step {
            Step::Serve { lag, end_last, page } => self.serve(lag, end_last, page),
            Step::Frames(count) => drop((0..count).all(|_| self.frame())),
            Step::Write(key, versioned) => self.server.write(key, versioned),
            Step::Delete(key) => self.server.delete(key),
            Step::Drain(keys) => self.drain(keys),
            Step::DrainOther(keys) => drop(self.drain_other(keys)),
            Step::Time(ms) => self.time(ms),
            Step::Refuse(code) => self.refuse(code),
            Step::Again(back) if open => self.again(back),
            Step::Bookmark if self.socket == Socket::Watching && self.server.sent_all() => {
                self.arrives(&Frame::Bookmark(self.server.revision));
            }
            Step::Cut if open => self.cut(),
            Step::Garbage if open => {
                self.expected.other(|ledger| &mut ledger.malformed);
                self.input(Input::Frame("{\"type\":\"ADD"));
            }
            Step::Unknown if open => {
                self.expected.other(|ledger| &mut ledger.malformed);
                self.input(Input::Frame(r#"{"type":"WHAT","object":{"metadata":{"resourceVersion":"9"}}}"#));
            }
            Step::Error(code) if open => {
                self.expected.other(|ledger| &mut ledger.errors);
                self.input(Input::Frame(&format!(r#"{{"type":"ERROR","object":{}}}"#, words(code))));
            }
            Step::Close(code) if open => {
                if code == 1000 && self.socket == Socket::Watching {
                    self.expected.heard = self.now;
                }
                self.socket = Socket::Closed;
                self.input(Input::Closed(code));
            }
            Step::Again(_) | Step::Bookmark | Step::Cut | Step::Garbage => {}
            Step::Unknown | Step::Error(_) | Step::Close(_) => {}
            Step::Compact => self.server.compacted = self.server.revision,
            Step::Woke => self.input(Input::Woke),
            Step::Reachable => self.input(Input::Reachable),
            Step::Ask(code) => self.ask(code),
            Step::Stop => self.input(Input::Stop),
            Step::Start => self.input(Input::Start),
            Step::AddHandler => self.late.push(LateHandler::new(&mut self.informer, self.log.changes.len(), self.now)),
            Step::RemoveHandler(at) if at < self.late.len() => {
                let handler = self.late.swap_remove(at);
                assert!(
                    self.informer.remove_event_handler(handler.id) && !self.informer.remove_event_handler(handler.id)
                );
            }
            Step::Deliver(at) if at < self.late.len() => self.late[at].take(&mut self.informer, &self.log.changes),
            Step::RemoveHandler(_) | Step::Deliver(_) => {}
            Step::Look => self.look(),
        }
    }

    fn serve(&mut self, lag: u64, end_last: bool, sent: PageSent) {
        match self.asked.take() {
            Some(Action::Watch(request) | Action::WatchOverHttp(request)) => {
                self.socket = if request.initial_events { Socket::Streaming } else { Socket::Watching };
                self.server.open(&request, lag, end_last);
                self.input(Input::Opened);
            }
            Some(Action::List(request)) => match self.server.page(&request, lag) {
                Some(page) => self.page_arrives(&page, sent),
                None => self.input(Input::Failed(failure(410))),
            },
            Some(Action::Probe(_)) => self.input(Input::ProbePassed),
            Some(Action::Wait) | None => {
                if let Some(at) = self.informer.reflector().retry_at() {
                    self.time(at - self.now);
                }
            }
        }
    }

    /// An input that completes a list.
    fn complete(&mut self, revision: u64, input: Input<'_>) {
        let first = self.expected.ledger.lists == 0;
        let items = self.expected.complete(revision, self.now);
        let action = self.handle(input);
        self.check_notices((!first).then_some(items));
        if action.is_some() {
            (self.socket, self.asked) = (Socket::Closed, action);
            self.arrived.clear();
        }
        self.check_step();
    }

    /// The heartbeat asks, if there is a watch to ask for.
    fn ask(&mut self, code: Option<u16>) {
        if self.informer.reflector().open_watch().is_some() {
            let asked = self.now;
            self.input(match code {
                None => Input::HeartbeatAnswered { asked, event: !self.server.sent_all(), checked: true },
                Some(code) => Input::HeartbeatFailed { asked, failure: failure(code) },
            });
        }
    }

    fn refuse(&mut self, code: u16) {
        match self.asked.take() {
            Some(Action::Watch(_)) => {
                self.input(Input::Closed(1006));
                self.asked = None;
                self.input(Input::Failed(failure(code)));
            }
            Some(Action::List(_) | Action::Probe(_) | Action::WatchOverHttp(_)) => {
                self.input(Input::Failed(failure(code)))
            }
            Some(Action::Wait) | None => {}
        }
    }

    /// The next frame arrives, if there is one.
    fn frame(&mut self) -> bool {
        let frame = if self.socket == Socket::Closed { None } else { self.server.frame() };
        frame.inspect(|frame| self.arrives(frame)).is_some()
    }

    fn arrives(&mut self, frame: &Frame) {
        let text = self.server.text(frame);
        let streams = self.socket == Socket::Streaming;
        match *frame {
            Frame::Event(state) => {
                self.arrived.push(state);
                if streams { self.expected.streamed(state) } else { self.expected.event(state) }
            }
            Frame::Bookmark(revision) => {
                self.expected.other(|ledger| &mut ledger.bookmarks);
                if !streams {
                    self.expected.passed(revision);
                }
            }
            Frame::End(revision) => {
                self.expected.other(|ledger| &mut ledger.bookmarks);
                self.socket = Socket::Watching;
                return self.complete(revision, Input::Frame(&text));
            }
            Frame::Expired => self.expected.other(|ledger| &mut ledger.errors),
        }
        self.input(Input::Frame(&text));
    }

    /// A frame comes a second time. It is never one of an object that is gone, for of those nothing is kept
    /// (`late_frame_of_an_object_that_is_gone_and_forgotten`), and never one without a version that could be compared.
    fn again(&mut self, back: usize) {
        let Some(state) = self.arrived.iter().rev().nth(back).copied() else { return };
        let newest = self.arrived.iter().rev().find(|other| other.seen.key == state.seen.key);
        if newest.is_some_and(|newest| newest.is_present() && newest.seen.version != 0) && state.seen.version != 0 {
            let count = self.arrived.len();
            self.arrives(&Frame::Event(state));
            self.arrived.truncate(count);
        }
    }

    fn cut(&mut self) {
        let Some(frame) = self.server.frame() else { return };
        let text = self.server.text(&frame);
        self.expected.other(|ledger| &mut ledger.malformed);
        self.input(Input::Frame(&text[..text.len() / 2]));
    }

    fn time(&mut self, ms: f64) {
        let end = self.now + ms;
        // A deadline that does not move when it has come would keep a browser busy for ever.
        for _ in 0..100_000 {
            match self.informer.reflector().deadline().filter(|deadline| *deadline <= end) {
                Some(deadline) => {
                    assert!(deadline >= self.now, "a deadline in the past");
                    self.now = deadline;
                    self.input(Input::Timer);
                    let next = self.informer.reflector().deadline();
                    assert!(next.is_none_or(|next| next > deadline), "the deadline does not move");
                }
                None => {
                    self.now = end;
                    return;
                }
            }
        }
    }

    fn drain(&mut self, keys: usize) {
        for _ in 0..keys {
            let (applied, coalesced) = (self.informer.ledger().applied, self.informer.ledger().coalesced);
            let from = self.log.changes.len();
            if self.informer.drain(1, self.now) == 0 {
                assert_eq!(self.expected.queued(), 0);
                return;
            }
            self.informer.deliver(self.id, &mut self.log);
            let ledger = self.informer.ledger();
            let (applied, coalesced) = (ledger.applied - applied, ledger.coalesced - coalesced);
            let reported: Vec<ReportedChange> =
                self.log.changes[from..].iter().map(|change| self.reported(change)).collect();
            self.expected.popped(&reported, applied, applied + coalesced);
            self.check_step();
        }
    }

    fn drain_other(&mut self, keys: usize) -> bool {
        self.other.as_mut().is_some_and(|other| other.drain(keys, self.now))
    }

    fn reported(&self, change: &Change) -> ReportedChange {
        let (what, folded) = match change {
            Change::Added { folded, .. } => (What::Added, *folded),
            // An object may change only in that the last list could not name it, or could again. At the server it has not
            // changed then.
            Change::Updated { old, new, folded }
                if old.flaw != new.flaw && self.server.seen(old) == self.server.seen(new) =>
            {
                (What::Synced, *folded)
            }
            Change::Updated { old, folded, .. } => (What::Updated(self.server.seen(old)), *folded),
            Change::Synced { folded, .. } => (What::Synced, *folded),
            Change::Deleted { folded, final_state_unknown: false, .. } => (What::Deleted, *folded),
            Change::Deleted { folded, .. } => (What::Missed, *folded),
        };
        ReportedChange { what, seen: self.server.seen(change.object()), folded }
    }

    /// The store holds what is expected, and its index files exactly these objects.
    fn look(&self) {
        let store = self.informer.store();
        assert_eq!(self.map_of(store.list().iter()), self.expected.store);
        let mut filed = 0;
        for (namespace, count) in store.index(index::NAMESPACE).expect("it was added").values() {
            let map = self.map_of(store.by_index(index::NAMESPACE, namespace));
            let own = |key: usize, seen| if KEYS[key].0 == namespace { seen } else { None };
            let expected: Vec<Option<Seen>> = (0..COUNT).map(|key| own(key, self.expected.store[key])).collect();
            assert_eq!((&map[..], count), (&expected[..], expected.iter().flatten().count()), "{namespace:?}");
            assert!(count > 0, "a value without keys stays");
            filed += count;
        }
        assert_eq!(filed, store.len());
    }

    fn map_of<'a>(
        &self,
        objects: impl Iterator<Item = &'a std::sync::Arc<kubechurn_client::api::object::Object>>,
    ) -> Map {
        let mut map = Map::default();
        for object in objects {
            let seen = self.server.seen(object);
            assert_eq!(map[seen.key].replace(seen), None, "a key comes twice");
        }
        map
    }

    /// Ends the faults, and lets everything arrive.
    pub fn settle(&mut self) {
        for _ in 0..60 {
            self.input(Input::Start);
            self.serve(0, false, PageSent::default());
            self.step(Step::Frames(1000));
            self.ask(None);
            let wait = self.informer.reflector().retry_at().map_or(1000.0, |at| at - self.now);
            self.time(wait);
            let health = self.informer.health(self.now);
            if self.socket == Socket::Watching && self.server.sent_all() && health == Health::Live {
                self.drain(usize::MAX);
                if self.informer.store().iter().all(|object| object.flaw.is_none()) {
                    break;
                }
                // The next list would say which objects exist; a stop brings it about now.
                self.input(Input::Stop);
            }
        }
        self.drain(usize::MAX);
        while self.drain_other(1000) {}
    }

    /// Checks what must hold once the play has settled.
    pub fn check(&mut self) {
        assert_eq!(self.informer.health(self.now), Health::Live);
        assert!(self.informer.has_synced() && self.informer.handler_has_synced(self.id));
        self.look();
        let map = self.server.map(self.server.revision);
        assert_eq!(self.expected.store, map, "the store is the server's map");
        self.check_history();
        self.expected.check_revisions(&self.server.history, &self.gaps);
        self.check_lives();
        self.late.push(LateHandler::new(&mut self.informer, self.log.changes.len(), self.now));
        for handler in &mut self.late {
            handler.take(&mut self.informer, &self.log.changes);
            assert!(self.informer.handler_has_synced(handler.id));
        }
        if let Some(Other { informer, id, log }) = &self.other {
            assert!(informer.queue().is_empty() && informer.has_synced() && informer.handler_has_synced(*id));
            assert_eq!(self.map_of(informer.store().iter()), map, "the other store is the server's map");
            self.check_other(&log.changes);
        }
    }

    fn states(&self, changes: &[Change], key: usize) -> Vec<(Seen, bool)> {
        let reported = changes.iter().map(|change| self.reported(change)).filter(|change| change.seen.key == key);
        let states =
            reported.filter(|change| change.what != What::Synced).map(|change| state(change.seen, change.is_present()));
        states.collect()
    }

    /// What the handler received of a key is a part of its true history, in order, up to the end of that history.
    fn check_history(&self) {
        for key in 0..COUNT {
            let own = self.server.history.iter().filter(|state| state.seen.key == key);
            let mut truth = own.map(|own| state(own.seen, own.is_present()));
            let reported = self.states(&self.log.changes, key);
            for state in &reported {
                assert!(truth.any(|true_one| true_one == *state), "{state:?} is no next step: {reported:?}");
            }
            let last = reported.last().filter(|(_, present)| *present).map(|(seen, _)| *seen);
            assert_eq!(last, self.server.map(self.server.revision)[key], "{reported:?}");
        }
    }

    /// What the handler of the first queue's informer received of a key is a part of what the other's received, in the
    /// same order; where neither queue folds, the two are equal.
    fn check_other(&self, changes: &[Change]) {
        for key in 0..COUNT {
            let (reported, others) = (self.states(&self.log.changes, key), self.states(changes, key));
            let mut rest = others.iter();
            assert!(reported.iter().all(|state| rest.any(|other| other == state)), "{reported:?} {others:?}");
            assert!(self.expected.folds() || reported == others, "{reported:?} {others:?}");
        }
    }

    /// Every object was shown, or complete lists stand for all of its life.
    fn check_lives(&self) {
        let shown: HashSet<(usize, u32)> = (self.expected.marked.iter().copied())
            .chain(
                self.log
                    .changes
                    .iter()
                    .map(|change| self.server.seen(change.object()))
                    .map(|seen| (seen.key, seen.life)),
            )
            .collect();
        for state in self.server.history.iter().filter(|state| !shown.contains(&(state.seen.key, state.seen.life))) {
            assert!(self.expected.is_unknown(state.revision), "nothing was heard of {state:?}, and nothing says why");
        }
    }
}

/// A state as it is compared: of a deletion only whose it is, and not its version.
fn state(seen: Seen, present: bool) -> (Seen, bool) {
    (if present { seen } else { Seen { version: 0, ..seen } }, present)
}
