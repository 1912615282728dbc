//! Asks the server whether the watches that are silent are alive, by the rules of the page: nothing that changed, and nothing that
//! was heard, look the same on a connection that is open.

use std::cell::RefCell;
use std::collections::HashMap;
use std::pin::pin;
use std::rc::Rc;
use std::time::Duration;

use futures::future::join;
use futures::stream::{FuturesUnordered, StreamExt};
use kubechurn_client::api::request::{ListRequest, WatchRequest};
use kubechurn_client::api::status::{Failure, Verdict};
use kubechurn_client::cache::factory::{InformerId, SharedInformerFactory};
use kubechurn_client::cache::heartbeat::{Answer, Ask, DEADLINE, Heartbeat, SLOW, read_watch};
use kubechurn_client::cache::reflector::Input;
use tokio::sync::mpsc::UnboundedSender;
use tokio::time::{MissedTickBehavior, interval, timeout};

use super::lister_watcher::{ANY, ListerWatcher};
use super::tape::Tape;

/// How often is looked whether there is something to ask. The rules allow for that.
const TICK: Duration = Duration::from_millis(250);

/// The informers of a recording, and how each is handed what the heartbeat has found.
#[derive(Default)]
pub struct Watched {
    pub informers: SharedInformerFactory,
    pub inputs: HashMap<InformerId, (ListerWatcher, UnboundedSender<Input<'static>>)>,
}

/// Asks on and on, until it is dropped.
pub async fn run(watched: Rc<RefCell<Watched>>, tape: Rc<RefCell<Tape>>) {
    let mut heartbeat = Heartbeat::default();
    let mut answers = FuturesUnordered::new();
    let mut ticks = interval(TICK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            _ = ticks.tick() => {
                let (watched, moment) = (watched.borrow(), tape.borrow().moment());
                for question in heartbeat.questions(&watched.informers, moment, false) {
                    match watched.inputs.get(&question.informer) {
                        Some((lister_watcher, _)) => {
                            let lister_watcher = lister_watcher.clone();
                            answers.push(async move {
                                let answer = answer(&lister_watcher, &question.ask).await;
                                (question, answer)
                            });
                        }
                        None => heartbeat.forget(&question),
                    }
                }
            }
            Some((question, answer)) = answers.next() => {
                let (watched, moment) = (watched.borrow(), tape.borrow().moment());
                for (informer, input) in heartbeat.answered(&question, answer, &watched.informers, moment) {
                    if let Some((_, inputs)) = watched.inputs.get(&informer) {
                        // A watch that has ended needs none.
                        let _ = inputs.send(input);
                    }
                }
            }
        }
    }
}

/// The answer to a question, within [`DEADLINE`]; after [`SLOW`] the server is asked for its version, too.
async fn answer(lister_watcher: &ListerWatcher, ask: &Ask) -> Answer {
    let late = || Failure::unreachable("the API server does not answer");
    let is_there =
        async |patience| within(patience, lister_watcher.api.text("version", ANY)).await.is_some_and(|it| it.is_ok());
    let Ask::Watch { request, check_version } = ask else {
        return if is_there(DEADLINE).await { Answer::Quiet } else { Answer::Nothing(late()) };
    };
    let mut watch = pin!(asked(lister_watcher, request, *check_version));
    let rest = DEADLINE - SLOW;
    let (answer, is_there) = match within(SLOW, watch.as_mut()).await {
        Some(Err(failure)) if failure.verdict == Verdict::Unreachable => (Some(Err(failure)), is_there(rest).await),
        Some(answer) => (Some(answer), true),
        None => join(within(rest, watch), is_there(rest)).await,
    };
    match answer.unwrap_or_else(|| Err(late())) {
        Ok(answer) => answer,
        Err(failure) if failure.verdict != Verdict::Unreachable || is_there => Answer::Refused(failure),
        Err(failure) => Answer::Nothing(failure),
    }
}

async fn asked(at: &ListerWatcher, request: &WatchRequest, check_version: bool) -> Result<Answer, Failure> {
    if check_version {
        let request = ListRequest { resource_version: request.resource_version.clone(), ..ListRequest::count() };
        match at.api.text(&request.url(&at.resource, &at.scope), ANY).await {
            // A user who may watch need not be allowed to list.
            Err(failure) if failure.verdict != Verdict::Forbidden => return Err(failure),
            _ => {}
        }
    }
    read_watch(&at.api.text(&request.url(&at.resource, &at.scope), ANY).await?)
}

async fn within<T>(milliseconds: u32, future: impl Future<Output = T>) -> Option<T> {
    timeout(Duration::from_millis(milliseconds.into()), future).await.ok()
}
