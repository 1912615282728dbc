//! One watch: a reflector, what keeps it going, and what of it goes into the file.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use kubechurn_client::api::object::Decode;
use kubechurn_client::api::status::Failure;
use kubechurn_client::cache::factory::InformerId;
use kubechurn_client::cache::lines::Lines;
use kubechurn_client::cache::reflector::{Action, Input, LONGEST_FRAME, Notice, Options};
use kubechurn_client::cache::shared_informer::{InformerOptions, ReceivedDelta, SharedInformer};
use kubechurn_recording::Step;
use tokio::sync::mpsc::{self, Receiver, UnboundedReceiver};
use tokio::task::{AbortHandle, spawn_local};
use tokio::time::sleep;

use super::heartbeat::Watched;
use super::lister_watcher::{ListerWatcher, Outcome};
use super::tape::Tape;

/// The codes with which a watch ends: as it should, and without a word.
const CLEAN: u16 = 1000;
const BROKEN: u16 = 1006;
/// How many pieces of an answer wait at most: the server is read no faster than they are recorded.
const WAITING: usize = 4;

/// A watch that goes on.
pub struct Watch {
    number: u32,
    lister_watcher: ListerWatcher,
    watched: Rc<RefCell<Watched>>,
    informer: InformerId,
    /// What the heartbeat has found.
    inputs: UnboundedReceiver<Input<'static>>,
    tape: Rc<RefCell<Tape>>,
    /// Puts the lines of a watch together.
    lines: Lines,
    /// Why the last watch did not open.
    refused: Option<Failure>,
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
    pub fn new(
        number: u32,
        lister_watcher: ListerWatcher,
        watched: Rc<RefCell<Watched>>,
        tape: Rc<RefCell<Tape>>,
    ) -> Watch {
        // A fetched list comes in pieces, and so needs no more memory than a streamed one.
        let reflector = Options { watch_list: false, kind: Some(lister_watcher.resource.kind), ..Options::default() };
        let make =
            || SharedInformer::new(Decode::METADATA, InformerOptions { reflector, ..InformerOptions::default() });
        let (sender, inputs) = mpsc::unbounded_channel();
        let informer = {
            let Watched { informers, inputs } = &mut *watched.borrow_mut();
            let informer = informers.informer_for(lister_watcher.resource, &lister_watcher.scope, make);
            inputs.insert(informer, (lister_watcher.clone(), sender));
            informer
        };
        let lines = Lines::default();
        Watch { number, lister_watcher, watched, informer, inputs, tape, lines, refused: None }
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
                    self.lines = Lines::default();
                    under_way = Some(UnderWay { task, outcomes });
                    None
                }
                None => {
                    let rest = self.rest();
                    tokio::select! {
                        outcome = next(&mut under_way) => self.outcome(outcome),
                        Some(input) = self.inputs.recv() => self.input(input),
                        () = rest => self.input(Input::Timer),
                    }
                }
            };
        }
    }

    /// Waits for what is due next.
    fn rest(&self) -> impl Future<Output = ()> + use<> {
        let now = self.tape.borrow().now();
        let watched = self.watched.borrow();
        let deadline = watched.informers.get(self.informer).and_then(|informer| informer.reflector().deadline());
        let rest = deadline.map(|deadline| (deadline - now).clamp(0.0, 1e9));
        async move {
            match rest {
                Some(rest) => sleep(Duration::from_secs_f64(rest / 1_000.0)).await,
                None => std::future::pending().await,
            }
        }
    }

    fn outcome(&mut self, outcome: Outcome) -> Option<Action> {
        match outcome {
            Outcome::Opened => self.input(Input::Opened),
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
        let mut watched = self.watched.borrow_mut();
        let informer = watched.informers.get_mut(self.informer)?;
        let moment = tape.moment();
        let now = moment.now;
        let was_listing = informer.reflector().listing().is_some();
        let had_listed = informer.reflector().has_listed();
        let mut tap = |received: ReceivedDelta<'_>| {
            tape.received(number, &resource, received);
        };
        let action = informer.handle_tapped(input, moment, &mut tap);
        informer.drain(usize::MAX, now);
        let reflector = informer.reflector();
        if had_listed && !was_listing && reflector.listing().is_some() {
            tape.step(number, now, Step::Lists(reflector.list_reason().to_owned()));
        }
        if !had_listed && reflector.has_listed() {
            tape.step(number, now, Step::Listed);
        }
        let heard = reflector.heard();
        for notice in informer.take_notices() {
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
        tape.holds(number, informer.store().len());
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
