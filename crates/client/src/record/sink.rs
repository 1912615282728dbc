//! Writes Events to the API server, one after the other, and tries again where that may help. The code says what to send, and
//! the caller sends it and hands over the answer.

use std::sync::Arc;

use crate::record::correlator::{Correlated, EventCorrelator};
use crate::record::event::{Event, EventPatch};

/// How often the writing of an Event is tried. All constants are client-go's (`event.go`).
const MAX_TRIES: u32 = 12;
/// How long after a failure the next try comes, in milliseconds. The first wait is multiplied by a random number, so that not
/// all clients come back at once when the server does.
const SLEEP: f64 = 10_000.0;

/// What to send. The answer goes to [`RecordToSink::handle_answer`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// POST the Event to its namespace.
    Create(Arc<Event>),
    /// PATCH the Event of this name.
    Patch(EventPatch),
}

/// What came of an [`Action`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The server did it.
    Ok,
    /// The server has no such Event, or no such namespace: 404.
    NotFound,
    /// The request could not be made, or the server refused it in any other way: it would fail again.
    Rejected,
    /// The server was not reached, or its answer could not be understood.
    Failed,
}

/// What became of the Events that came, each counted once:
/// `events = skipped + created + patched + rejected + given_up`, and one more while one is being written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// Events that came.
    pub events: u64,
    /// Events that the correlator left out.
    pub skipped: u64,
    /// Events that were created. This includes those that were changed and had expired at the server.
    pub created: u64,
    /// Events that raised the count of an earlier one.
    pub patched: u64,
    /// Events that the server refused.
    pub rejected: u64,
    /// Events that could not be written in twelve tries, or before the shutdown.
    pub given_up: u64,
}

/// The Event that is being written.
#[derive(Clone, Debug)]
struct Current {
    event: Arc<Event>,
    /// Whether the Event was recorded before, so that the server should have it.
    update: bool,
    tries: u32,
    phase: Phase,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Phase {
    Patching,
    Creating,
    /// Waiting for the next try, until this time.
    Sleeping(f64),
}

impl Current {
    /// What to send first in each try.
    fn begin(&mut self) -> Action {
        if self.update {
            self.phase = Phase::Patching;
            return Action::Patch(Correlated::patch(&self.event));
        }
        self.create()
    }

    fn create(&mut self) -> Action {
        self.phase = Phase::Creating;
        Action::Create(self.event.clone())
    }
}

/// The writer (client-go `event.go`, `recordToSink`). It takes an Event only when it is done with the one before, however long
/// that takes. In the meantime Events wait in the queue of a watcher of the broadcaster.
#[derive(Clone, Debug)]
pub struct RecordToSink {
    correlator: EventCorrelator,
    current: Option<Current>,
    shut_down: bool,
    written: Written,
}

impl RecordToSink {
    /// A writer that has nothing to do.
    pub fn new(correlator: EventCorrelator) -> RecordToSink {
        RecordToSink { correlator, current: None, shut_down: false, written: Written::default() }
    }

    /// Whether the writer can take the next Event.
    pub fn is_idle(&self) -> bool {
        self.current.is_none()
    }

    /// Takes an Event, and returns what to send; nothing if the correlator leaves the Event out.
    ///
    /// # Errors
    /// While another Event is being written; the new one is given back.
    pub fn handle_event(&mut self, event: Arc<Event>, now: f64) -> Result<Option<Action>, Arc<Event>> {
        if self.current.is_some() {
            return Err(event);
        }
        self.written.events += 1;
        let (event, update) = match self.correlator.correlate(Arc::unwrap_or_clone(event), now) {
            Correlated::Create(event) => (event, false),
            Correlated::Update(event) => (event, true),
            Correlated::Skip => {
                self.written.skipped += 1;
                return Ok(None);
            }
        };
        let current = self.current.insert(Current { event: Arc::new(event), update, tries: 0, phase: Phase::Creating });
        Ok(Some(current.begin()))
    }

    /// Takes the answer to what was sent, at `now` and with a random number in [0, 1). Returns what to send at once; if that
    /// is nothing, the writer is idle or waits for its [`RecordToSink::deadline`]. An answer that was not waited for changes
    /// nothing.
    pub fn handle_answer(&mut self, answer: Answer, now: f64, random: f64) -> Option<Action> {
        let mut current = self.current.take()?;
        match (answer, current.phase) {
            (_, Phase::Sleeping(_)) => self.current = Some(current),
            (Answer::Ok, phase) => {
                self.correlator.update_state(&current.event);
                let count =
                    if phase == Phase::Patching { &mut self.written.patched } else { &mut self.written.created };
                *count += 1;
            }
            // The Event has expired, or was deleted.
            (Answer::NotFound, Phase::Patching) => {
                let action = current.create();
                self.current = Some(current);
                return Some(action);
            }
            (Answer::NotFound | Answer::Rejected, _) => self.written.rejected += 1,
            (Answer::Failed, _) => {
                current.tries += 1;
                if current.tries >= MAX_TRIES || self.shut_down {
                    self.written.given_up += 1;
                } else {
                    let sleep = if current.tries == 1 { SLEEP * random } else { SLEEP };
                    current.phase = Phase::Sleeping(now + sleep);
                    self.current = Some(current);
                }
            }
        }
        None
    }

    /// When [`RecordToSink::handle_time`] is to be called; `None` if nothing waits for its next try.
    pub fn deadline(&self) -> Option<f64> {
        match self.current.as_ref()?.phase {
            Phase::Sleeping(until) => Some(until),
            Phase::Patching | Phase::Creating => None,
        }
    }

    /// Tries again if it is time.
    pub fn handle_time(&mut self, now: f64) -> Option<Action> {
        let is_due = self.deadline().is_some_and(|until| until <= now);
        self.current.as_mut().filter(|_| is_due).map(Current::begin)
    }

    /// From now on nothing is tried a second time. An Event that waits for its next try is given up.
    pub fn shut_down(&mut self) {
        self.shut_down = true;
        if self.deadline().is_some() {
            self.current = None;
            self.written.given_up += 1;
        }
    }

    /// What became of the Events so far.
    pub fn written(&self) -> Written {
        self.written
    }

    /// Whether every Event is counted in exactly one place.
    pub fn is_balanced(&self) -> bool {
        let Written { events, skipped, created, patched, rejected, given_up } = self.written;
        events == skipped + created + patched + rejected + given_up + u64::from(self.current.is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::correlator::CorrelatorOptions;
    use crate::record::event::tests;
    use crate::record::time::Time;

    fn event(reason: &str, message: &str, at: Time) -> Arc<Event> {
        Arc::new(tests::event(reason, message, at))
    }

    /// An Event comes `times`, and gets these answers, the last of which repeats. What was sent (`C` create,
    /// `P` patch, each with the count), and `~` for a wait.
    fn play(times: u32, answers: &[Answer]) -> (String, RecordToSink) {
        let mut sink = RecordToSink::new(EventCorrelator::new(CorrelatorOptions::default()));
        let (mut actions, mut now) = (Vec::new(), 0.0);
        let (mut left, mut answer) = (answers.iter(), Answer::Failed);
        for _ in 0..times {
            let mut action = sink.handle_event(event("Started", "Started container box", Time(7)), now).unwrap();
            loop {
                assert!(sink.is_balanced());
                action = match action {
                    Some(action) => {
                        actions.push(match action {
                            Action::Create(event) => format!("C{}", event.count),
                            Action::Patch(patch) => format!("P{}", patch.count),
                        });
                        answer = left.next().copied().unwrap_or(answer);
                        sink.handle_answer(answer, now, 0.25)
                    }
                    None if sink.is_idle() => break,
                    None => {
                        actions.push(String::from("~"));
                        now = sink.deadline().expect("it waits for an answer or for its time");
                        sink.handle_time(now)
                    }
                };
            }
        }
        (actions.join(" "), sink)
    }

    fn check(times: u32, answers: &[Answer], sent: &str, written: Written) {
        let (actions, sink) = play(times, answers);
        assert_eq!(actions, sent, "{answers:?}");
        assert_eq!(sink.written(), Written { events: u64::from(times), ..written }, "{answers:?}");
    }

    #[test]
    fn the_same_again_is_patched() {
        let written = Written { created: 1, patched: 2, ..Written::default() };
        check(3, &[Answer::Ok], "C1 P2 P3", written);
    }

    #[test]
    fn a_patch_of_what_has_expired_creates_it_with_its_count() {
        let (_, mut sink) = play(1, &[Answer::Ok]);
        let action = sink.handle_event(event("Started", "Started container box", Time(9)), 0.0).unwrap();
        let Some(Action::Patch(patch)) = action else { unreachable!("it was seen before") };
        let Some(Action::Create(created)) = sink.handle_answer(Answer::NotFound, 0.0, 0.0) else {
            unreachable!("what is not there is created")
        };
        assert_eq!((created.count, &created.name), (2, &patch.name));
        assert_eq!((created.first_timestamp, created.last_timestamp), (Time(7), Time(9)));
        assert_eq!(sink.handle_answer(Answer::Ok, 0.0, 0.0), None);
        assert_eq!(sink.written(), Written { events: 2, created: 2, ..Written::default() });
    }

    #[test]
    fn what_the_server_rejects_is_not_tried_again() {
        let written = Written { rejected: 1, ..Written::default() };
        check(1, &[Answer::Rejected], "C1", written);
        check(1, &[Answer::NotFound], "C1", written);
        check(1, &[Answer::Failed, Answer::Rejected], "C1 ~ C1", written);
    }

    #[test]
    fn what_fails_is_tried_twelve_times() {
        let written = Written { given_up: 1, ..Written::default() };
        check(1, &[Answer::Failed], &["C1"; MAX_TRIES as usize].join(" ~ "), written);
        let written = Written { created: 1, ..Written::default() };
        check(1, &[Answer::Failed, Answer::Failed, Answer::Ok], "C1 ~ C1 ~ C1", written);
        // A next try begins with the patch again, whatever the last one got to.
        let written = Written { created: 2, ..Written::default() };
        let answers = [Answer::Ok, Answer::NotFound, Answer::Failed, Answer::NotFound, Answer::Ok];
        check(2, &answers, "C1 P2 C2 ~ P2 C2", written);
    }

    #[test]
    fn tries_are_ten_seconds_apart_and_the_first_wait_is_random() {
        for (random, first) in [(0.0, 0.0), (0.25, 2500.0), (0.75, 7500.0)] {
            let mut sink = RecordToSink::new(EventCorrelator::new(CorrelatorOptions::default()));
            sink.handle_event(event("Started", "", Time(0)), 100.0).unwrap();
            sink.handle_answer(Answer::Failed, 100.0, random);
            assert_eq!(sink.deadline(), Some(100.0 + first));
            assert_eq!(sink.handle_time(99.0 + first), None);
            assert_eq!(sink.handle_answer(Answer::Ok, 99.0, random), None, "nobody was asked");
            assert!(sink.handle_time(100.0 + first).is_some() && sink.deadline().is_none());
            sink.handle_answer(Answer::Failed, 9000.0, random);
            assert_eq!(sink.deadline(), Some(19_000.0));
        }
    }

    #[test]
    fn one_at_a_time() {
        let mut sink = RecordToSink::new(EventCorrelator::new(CorrelatorOptions::default()));
        sink.handle_event(event("Started", "", Time(0)), 0.0).unwrap();
        let second = event("Other", "", Time(0));
        assert_eq!(sink.handle_event(second.clone(), 0.0), Err(second));
        assert_eq!(sink.written().events, 1);
    }

    #[test]
    fn after_shutdown_nothing_is_tried_twice() {
        let given_up = Written { events: 1, given_up: 1, ..Written::default() };
        for shut_down_first in [true, false] {
            let mut sink = RecordToSink::new(EventCorrelator::new(CorrelatorOptions::default()));
            if shut_down_first {
                sink.shut_down();
            }
            assert!(sink.handle_event(event("Started", "", Time(0)), 0.0).unwrap().is_some(), "tried once");
            sink.handle_answer(Answer::Failed, 0.0, 0.5);
            sink.shut_down();
            assert!(sink.is_idle() && sink.is_balanced());
            assert_eq!((sink.written(), sink.handle_time(1e9)), (given_up, None));
        }
    }

    #[test]
    fn a_flood_is_left_out_and_counted() {
        let (actions, sink) = play(30, &[Answer::Ok]);
        assert!(actions.ends_with("P24 P25"), "{actions}");
        assert_eq!(sink.written(), Written { events: 30, created: 1, patched: 24, skipped: 5, ..Written::default() });
    }
}
