//! Carries the heartbeat's questions to the API server, and its answers to the reflectors.

use std::pin::pin;

use futures::future::{Either, join, select};
use gloo_timers::future::TimeoutFuture;

use kubechurn_client::api::status::{Failure, Verdict};
use kubechurn_client::cache::heartbeat::{Answer, Ask, DEADLINE, Question, SLOW};

use crate::app::{Shared, tick};
use crate::browser::clock::{self, within};
use crate::browser::lister_watcher::ListerWatcher;

/// Asks what the heartbeat wants to know, and hands on what follows from the answer.
pub(super) async fn ask(page: Shared, question: Question) {
    let driver = page.borrow().drivers.get(&question.informer).cloned();
    let Some(driver) = driver else { return page.borrow_mut().heartbeat.forget(&question) };
    let answer = answer(driver.lister_watcher(), &question.ask).await;
    let inputs = {
        let mut page = page.borrow_mut();
        let page = &mut *page;
        page.heartbeat.answered(&question, answer, &page.informers, clock::moment())
    };
    for (informer, input) in inputs {
        let driver = page.borrow().drivers.get(&informer).cloned();
        if let Some(driver) = driver {
            driver.input(input);
        }
    }
}

/// The answer to one question, within [`DEADLINE`]; after [`SLOW`], or where the answer may be a proxy's, the server is
/// asked for its version, too.
async fn answer(server: &ListerWatcher, ask: &Ask) -> Answer {
    let late = || Failure::unreachable("the API server does not answer");
    let Ask::Watch { request, check_version } = ask else {
        let is_there = within(DEADLINE, server.has_version()).await.unwrap_or(false);
        return if is_there { Answer::Quiet } else { Answer::Nothing(late()) };
    };
    let mut watch = pin!(server.ask(request, *check_version));
    let (failure, is_there) = match select(watch.as_mut(), pin!(TimeoutFuture::new(SLOW))).await {
        Either::Left((Ok(answer), _)) => return answer,
        Either::Left((Err(failure), _)) if failure.verdict != Verdict::Unreachable => return Answer::Refused(failure),
        Either::Left((Err(failure), _)) => (failure, within(DEADLINE - SLOW, server.has_version()).await),
        Either::Right(_) => {
            let rest = DEADLINE - SLOW;
            match join(within(rest, watch), within(rest, server.has_version())).await {
                (Some(Ok(answer)), _) => return answer,
                (Some(Err(failure)), _) if failure.verdict != Verdict::Unreachable => return Answer::Refused(failure),
                (Some(Err(failure)), is_there) => (failure, is_there),
                (None, is_there) => (late(), is_there),
            }
        }
    };
    if is_there == Some(true) { Answer::Refused(failure) } else { Answer::Nothing(failure) }
}

/// The next question of the heartbeat does not wait for its turn.
pub(super) fn hurry(page: &Shared) {
    page.borrow_mut().heartbeat.hurry(clock::now());
    tick(page);
}
