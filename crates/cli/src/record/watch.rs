//! One watch: a reflector, what keeps it going, and what of it goes into the file.

use std::cell::RefCell;
use std::hash::{BuildHasher, RandomState};
use std::rc::Rc;
use std::time::Duration;

use kubechurn_client::api::object::Decode;
use kubechurn_client::api::status::Failure;
use kubechurn_client::cache::backoff::Moment;
use kubechurn_client::cache::lines::Lines;
use kubechurn_client::cache::reflector::{Action, Input, LONGEST_FRAME, Notice, Options};
use kubechurn_client::cache::shared_informer::{InformerOptions, ReceivedDelta, SharedInformer};
use kubechurn_recording::Step;
use tokio::sync::mpsc::{self, Receiver};
use tokio::task::{AbortHandle, spawn_local};
use tokio::time::sleep;

use super::lister_watcher::{ListerWatcher, Outcome};
use super::tape::Tape;

/// The codes with which a watch ends: as it should, and without a word.
const CLEAN: u16 = 1000;
const BROKEN: u16 = 1006;
/// A server that cannot go on from a version says so at once. Where it has answered and said nothing else for so long, in
/// milliseconds, it has heard the request, and will send what happens: nothing is missing any more, even where nothing happens.
const PROVEN: f64 = 1_000.0;
/// How many pieces of an answer wait at most: the server is read no faster than they are recorded.
const WAITING: usize = 4;

/// A watch that goes on.
pub struct Watch {
    number: u32,
    lister_watcher: ListerWatcher,
    informer: SharedInformer,
    tape: Rc<RefCell<Tape>>,
    /// Puts the lines of a watch together.
    lines: Lines,
    /// Why the last watch did not open.
    refused: Option<Failure>,
    /// When the watch under way opened, until that has proven something.
    opened: Option<f64>,
    random: RandomState,
}

/// An action that is under way. Dropping it ends it.
struct UnderWay {
    task: AbortHandle,
    outcomes: Receiver<Outcome>,
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Watch {
    /// A watch that has not begun.
    pub fn new(number: u32, lister_watcher: ListerWatcher, tape: Rc<RefCell<Tape>>) -> Watch {
        // A fetched list comes in pieces, and so needs no more memory than a streamed one.
        let reflector = Options { watch_list: false, kind: Some(lister_watcher.resource.kind), ..Options::default() };
        let informer =
            SharedInformer::new(Decode::METADATA, InformerOptions { reflector, ..InformerOptions::default() });
        let (lines, random) = (Lines::default(), RandomState::new());
        Watch { number, lister_watcher, informer, tape, lines, refused: None, opened: None, random }
    }

    /// Goes on until it is dropped.
    pub async fn run(mut self) {
        let mut under_way: Option<UnderWay> = None;
        let mut action = self.input(Input::Start);
        loop {
            action = match action {
                // Why a watch did not open is known.
                Some(Action::Probe(_)) => {
                    let failure = self.refused.take();
                    let failure = failure.unwrap_or_else(|| Failure::unreachable("the connection broke"));
                    under_way = None;
                    self.input(Input::Failed(failure))
                }
                Some(action) => {
                    let (sender, outcomes) = mpsc::channel(WAITING);
                    let task = spawn_local(self.lister_watcher.clone().perform(action, sender)).abort_handle();
                    (self.lines, self.opened) = (Lines::default(), None);
                    under_way = Some(UnderWay { task, outcomes });
                    None
                }
                None => {
                    let rest = self.rest();
                    tokio::select! {
                        outcome = next(&mut under_way) => self.outcome(outcome),
                        () = rest => self.timer(),
                    }
                }
            };
        }
    }

    /// Waits for what is due next.
    fn rest(&self) -> impl Future<Output = ()> + use<> {
        let now = self.tape.borrow().now();
        let proven = self.opened.map(|opened| opened + PROVEN);
        let deadline = self.informer.reflector().deadline().into_iter().chain(proven).reduce(f64::min);
        let rest = deadline.map(|deadline| (deadline - now).clamp(0.0, 1e9));
        async move {
            match rest {
                Some(rest) => sleep(Duration::from_secs_f64(rest / 1_000.0)).await,
                None => std::future::pending().await,
            }
        }
    }

    fn timer(&mut self) -> Option<Action> {
        let asked = self.tape.borrow().now();
        if self.opened.is_some_and(|opened| asked >= opened + PROVEN) {
            self.opened = None;
            // As if it had been asked whether it has anything, and had nothing.
            return self.input(Input::HeartbeatAnswered { asked, event: false, checked: false });
        }
        self.input(Input::Timer)
    }

    fn outcome(&mut self, outcome: Outcome) -> Option<Action> {
        match outcome {
            Outcome::Opened => {
                self.opened = Some(self.tape.borrow().now());
                self.input(Input::Opened)
            }
            Outcome::Bytes(bytes) => {
                let mut lines = std::mem::take(&mut self.lines);
                let mut action = None;
                lines.read(&bytes, LONGEST_FRAME, &mut |line| {
                    // A frame may end the watch; those after it are then not read.
                    if action.is_none() {
                        action = self.input(line.map_or_else(Input::TooLong, Input::Bytes));
                    }
                });
                self.lines = lines;
                action
            }
            Outcome::Ended(is_clean) => {
                self.opened = None;
                let is_clean = is_clean && self.lines.is_whole();
                self.input(Input::Closed(if is_clean { CLEAN } else { BROKEN }))
            }
            Outcome::Refused(failure) => {
                self.refused = Some(failure);
                self.input(Input::Closed(BROKEN))
            }
            Outcome::Listing => self.input(Input::Piece(&[])),
            Outcome::Piece(bytes) => self.input(Input::Piece(&bytes)),
            Outcome::PageEnd => self.input(Input::PageEnd),
            Outcome::Failed(failure) => self.input(Input::Failed(failure)),
        }
    }

    /// Hands an input to the reflector, and writes down what came of it.
    fn input(&mut self, input: Input<'_>) -> Option<Action> {
        let mut tape = self.tape.borrow_mut();
        let (tape, number, resource) = (&mut *tape, self.number, self.lister_watcher.resource);
        let now = tape.now();
        let random = (self.random.hash_one(now.to_bits()) >> 11) as f64 / (1_u64 << 53) as f64;
        let was_listing = self.informer.reflector().listing().is_some();
        let had_listed = self.informer.reflector().has_listed();
        let mut tap = |received: ReceivedDelta<'_>| {
            tape.received(number, &resource, received);
        };
        let action = self.informer.handle_tapped(input, Moment { now, random }, &mut tap);
        self.informer.drain(usize::MAX, now);
        let reflector = self.informer.reflector();
        if had_listed && !was_listing && reflector.listing().is_some() {
            tape.step(number, now, Step::Lists(reflector.list_reason().to_owned()));
        }
        if !had_listed && reflector.has_listed() {
            tape.step(number, now, Step::Listed);
        }
        let heard = reflector.heard();
        for notice in self.informer.take_notices() {
            let at = notice.at();
            match notice {
                Notice::Relisted { .. } => tape.step(number, at, Step::Relisted),
                Notice::Gap { from, reason, .. } => tape.step(number, at, Step::Gap(from, reason)),
                // The gap begins with what was heard last.
                Notice::Stale { reason, .. } => {
                    tape.step(number, at, Step::Lost(heard.map_or(at, |heard| heard.min(at)), reason));
                }
                Notice::Refused { ref reason, .. } => {
                    tape.step(number, at, Step::Refused(reason.clone()));
                    tape.report(&resource, &notice);
                }
                Notice::Malformed { .. } | Notice::Late { .. } => tape.report(&resource, &notice),
                // Of WebSockets, which are not used here.
                Notice::OverHttp { .. } => {}
            }
        }
        tape.holds(number, self.informer.store().len());
        action
    }
}

/// What comes next of what is under way.
async fn next(under_way: &mut Option<UnderWay>) -> Outcome {
    if let Some(work) = under_way
        && let Some(outcome) = work.outcomes.recv().await
    {
        return outcome;
    }
    // It is over, or nothing was to be done: the deadline decides.
    *under_way = None;
    std::future::pending().await
}
