//! Random histories, random faults, drains of any size: once the faults end, the store equals the server's map.
//!
//! `PROPTEST_CASES` asks for more cases than the usual.

use std::collections::{BTreeMap, HashSet};

use kubechurn::cache::delta::DeltaType;
use kubechurn::cache::reflector::{Action, Health, Input, Options};
use kubechurn::cache::store::Change;
use proptest::prelude::*;

use crate::talk::{Talk, bookmark, event, page, status};

mod server; // The server: one map, its history, and what it answers.

use server::{Server, State};

const CASES: u32 = 512;

/// What may happen next.
#[derive(Clone, Debug)]
enum Step {
    /// An object is made, or changed if it is there.
    Write(usize),
    /// An object is deleted, if it is there.
    Delete(usize),
    /// The server does what it was asked for last.
    Serve,
    /// The server refuses what it was asked for last.
    Refuse(u16),
    /// That many frames arrive.
    Frames(usize),
    /// A frame arrives again.
    Again(usize),
    Bookmark,
    Garbage,
    Unknown,
    Close(u16),
    /// The server forgets its history.
    Compact,
    Drain(usize),
    /// Time passes, up to this many milliseconds, and the deadlines within it come.
    Time(f64),
    Woke,
    Reachable,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        12 => (0..4_usize).prop_map(Step::Write),
        6 => (0..4_usize).prop_map(Step::Delete),
        8 => Just(Step::Serve),
        2 => prop::sample::select(vec![403, 410, 422, 429, 500, 503, 504]).prop_map(Step::Refuse),
        14 => (1..12_usize).prop_map(Step::Frames),
        2 => (0..12_usize).prop_map(Step::Again),
        1 => Just(Step::Bookmark),
        1 => Just(Step::Garbage),
        1 => Just(Step::Unknown),
        2 => prop::sample::select(vec![1000, 1006]).prop_map(Step::Close),
        1 => Just(Step::Compact),
        8 => (1..5_usize).prop_map(Step::Drain),
        4 => prop::sample::select(vec![10.0, 500.0, 3000.0, 100_000.0]).prop_map(Step::Time),
        1 => Just(Step::Woke),
        1 => Just(Step::Reachable),
    ]
}

fn cases() -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(CASES)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

    /// 52. Random histories and faults end in the server's state.
    #[test]
    fn any_history_with_any_faults_ends_in_the_servers_state(
        steps in prop::collection::vec(step(), 1..120),
        watch_list in any::<bool>(),
        resync in prop::option::of(Just(5000.0)),
    ) {
        let mut play = Play::new(Options { watch_list, resync, ..Options::default() });
        steps.iter().for_each(|step| play.step(step));
        play.settle();
        play.check_store();
        play.check_changes();
        play.check_lives();
    }
}

/// A server and an informer, and what lies between them.
struct Play {
    server: Server,
    talk: Talk,
    /// What the informer asked for last and has not been answered.
    asked: Option<Action>,
    /// Whether a socket is open.
    open: bool,
    /// The frames of the open socket that have arrived, to be sent again.
    arrived: Vec<(State, String)>,
}

impl Play {
    fn new(options: Options) -> Play {
        let talk = Talk::new(options);
        let mut play = Play { server: Server::default(), talk, asked: None, open: false, arrived: Vec::new() };
        play.input(Input::Start);
        play
    }

    fn input(&mut self, input: Input<'_>) {
        if let Some(action) = self.talk.act(input) {
            self.open = false;
            self.arrived.clear();
            self.asked = Some(action);
        }
        assert!(self.talk.informer.is_balanced(), "{:?}", self.talk.informer.ledger());
    }

    fn step(&mut self, step: &Step) {
        match step {
            Step::Write(name) => self.server.write(*name),
            Step::Delete(name) => self.server.delete(*name),
            Step::Serve => self.serve(),
            Step::Refuse(code) => self.refuse(*code),
            Step::Frames(count) => (0..*count).for_each(|_| self.frame()),
            Step::Again(back) => self.again(*back),
            Step::Bookmark if self.open && self.server.sent_all() => {
                self.input(Input::Frame(&bookmark(&self.server.version.to_string(), "{}")));
            }
            Step::Garbage if self.open => self.input(Input::Frame("{\"type\":\"ADD")),
            Step::Unknown if self.open => self.input(Input::Frame(r#"{"type":"WHAT","object":{}}"#)),
            Step::Close(code) if self.open => {
                self.open = false;
                self.input(Input::Closed(*code));
            }
            Step::Bookmark | Step::Garbage | Step::Unknown | Step::Close(_) => {}
            Step::Compact => self.server.compacted = self.server.version,
            Step::Drain(keys) => {
                self.talk.drain(*keys);
                assert!(self.talk.informer.is_balanced());
            }
            Step::Time(ms) => self.time(*ms),
            Step::Woke => self.input(Input::Woke),
            Step::Reachable => self.input(Input::Reachable),
        }
    }

    fn serve(&mut self) {
        match self.asked.take() {
            Some(Action::Watch(request)) => {
                self.open = true;
                self.server.open(request.resource_version.as_str(), request.initial_events);
                self.input(Input::Opened);
            }
            Some(Action::List(request)) => match self.server.page(&request) {
                Some(text) => self.input(Input::Page(&page(&text))),
                None => self.input(Input::Failed(failure(410))),
            },
            Some(Action::Probe(_)) => self.input(Input::ProbePassed),
            Some(Action::Wait) | None => {}
        }
    }

    fn refuse(&mut self, code: u16) {
        match self.asked.take() {
            Some(Action::Watch(_)) => {
                self.input(Input::Closed(1006));
                // 422 refuses a streaming list only; elsewhere it would stop the reflector for good.
                let streams = matches!(&self.asked, Some(Action::Probe(request)) if request.initial_events);
                self.asked = None;
                self.input(Input::Failed(failure(if code == 422 && !streams { 500 } else { code })));
            }
            Some(Action::List(_) | Action::Probe(_)) => {
                self.input(Input::Failed(failure(if code == 422 { 500 } else { code })));
            }
            Some(Action::Wait) | None => {}
        }
    }

    fn frame(&mut self) {
        if !self.open {
            return;
        }
        let Some((state, text)) = self.server.frame() else { return };
        self.arrived.extend(state.map(|state| (state, text.clone())));
        self.input(Input::Frame(&text));
    }

    /// A frame comes twice, or late. Not one of an object that is gone: nothing is kept of those
    /// (`late_frame_of_an_object_that_is_gone_and_forgotten`).
    fn again(&mut self, back: usize) {
        let Some((state, text)) = self.arrived.iter().rev().nth(back).cloned() else { return };
        let newest = self.arrived.iter().rev().find(|(other, _)| other.name == state.name);
        if self.open && newest.is_some_and(|(newest, _)| newest.present) {
            self.input(Input::Frame(&text));
        }
    }

    fn time(&mut self, ms: f64) {
        let end = self.talk.now + ms;
        // A deadline that does not move when it has come would keep a browser busy for ever.
        for _ in 0..100_000 {
            match self.talk.informer.reflector().deadline().filter(|deadline| *deadline <= end) {
                Some(deadline) => {
                    assert!(deadline >= self.talk.now, "a deadline in the past");
                    self.talk.now = deadline;
                    self.input(Input::Timer);
                    let next = self.talk.informer.reflector().deadline();
                    assert!(next.is_none_or(|next| next > deadline), "the deadline does not move");
                }
                None => {
                    self.talk.now = end;
                    return;
                }
            }
        }
    }

    /// The faults end, and everything arrives.
    fn settle(&mut self) {
        for _ in 0..100 {
            self.serve();
            self.step(&Step::Frames(1000));
            self.time(self.wait());
            let health = self.talk.informer.health(self.talk.now);
            if self.open && self.server.sent_all() && health == Health::Live {
                break;
            }
        }
        self.step(&Step::Drain(usize::MAX));
    }

    fn wait(&self) -> f64 {
        self.talk.informer.reflector().retry_at().map_or(1000.0, |at| at - self.talk.now)
    }

    fn check_store(&self) {
        let store: BTreeMap<String, (String, String)> = self
            .talk
            .informer
            .store()
            .iter()
            .map(|object| (object.key.name.to_string(), (object.uid.to_string(), object.resource_version.to_string())))
            .collect();
        assert_eq!(store, self.server.map());
        assert!(self.talk.informer.has_synced());
        assert_eq!(self.talk.informer.health(self.talk.now), Health::Live);
    }

    /// What was told of a name is a part of its true history, in order, and ends where that ends.
    fn check_changes(&self) {
        for name in self.server.names() {
            let mut truth = self.server.history_of(&name).into_iter().peekable();
            let mut last = None;
            for change in &self.talk.log.changes {
                let (object, present) = match change {
                    Change::Added { new, .. } | Change::Updated { new, .. } => (new, true),
                    Change::Deleted { last, .. } => (last, false),
                    Change::Synced { .. } => continue,
                };
                if *object.key.name != *name {
                    continue;
                }
                let told = present.then(|| (object.uid.to_string(), object.resource_version.to_string()));
                assert!(truth.any(|state| state == told), "{name}: {change:?} is no next step of its history");
                last = told;
            }
            assert_eq!(last.as_ref(), self.server.map().get(&name), "{name}");
        }
        let versions = self.talk.log.marks.iter().filter(|(delta_type, _)| *delta_type != DeltaType::Deleted);
        let mut seen = BTreeMap::new();
        for (_, object) in versions {
            let before = seen.insert(&object.uid, &object.resource_version);
            assert!(before.is_none_or(|before| !object.resource_version.is_older_than(before)), "a mark goes back");
        }
    }

    /// Every life that was heard of was told, or is counted where it went.
    fn check_lives(&self) {
        let told: HashSet<&str> = self
            .talk
            .log
            .changes
            .iter()
            .map(|change| match change {
                Change::Added { new, .. } | Change::Updated { new, .. } | Change::Synced { new, .. } => &*new.uid,
                Change::Deleted { last, .. } => &*last.uid,
            })
            .collect();
        let heard: HashSet<&str> = self.talk.log.marks.iter().map(|(_, object)| &*object.uid).collect();
        let ledger = self.talk.informer.ledger();
        let counted = ledger.coalesced + ledger.merged + ledger.discarded + ledger.late;
        assert!(heard.difference(&told).count() as u64 <= counted, "{ledger:?}");
    }
}

fn failure(code: u16) -> kubechurn::api::status::Failure {
    kubechurn::api::status::Failure::from_response(code, None, &status(&format!("{code} x y")))
}

#[test]
fn frames_of_the_model_are_frames() {
    let mut server = Server::default();
    server.write(0);
    server.open("", true);
    let (state, text) = server.frame().unwrap();
    assert_eq!(text, event("ADDED", "a#1@2"));
    assert!(state.unwrap().present);
}
