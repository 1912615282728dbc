//! Carries the heartbeat's questions to the API server, and its answers to the reflectors.

use std::pin::pin;

use futures::future::{Either, select};
use gloo_timers::future::TimeoutFuture;

use crate::api::status::Failure;
use crate::app::{Shared, tick};
use crate::browser::clock;
use crate::cache::heartbeat::{Answer, Ask, DEADLINE, Question};

/// Asks what the heartbeat wants to know, and hands on what follows from the answer.
pub(super) async fn ask(page: Shared, question: Question) {
    let driver = page.borrow().drivers.get(&question.informer).cloned();
    let Some(driver) = driver else { return page.borrow_mut().heartbeat.forget(&question) };
    let answer = async {
        match &question.ask {
            Ask::Watch { request, check_version } => driver.lister_watcher().ask(request, *check_version).await,
            Ask::Version => driver.lister_watcher().ask_version().await,
        }
    };
    let answer = match select(pin!(answer), pin!(TimeoutFuture::new(DEADLINE))).await {
        Either::Left((answer, _)) => answer,
        Either::Right(_) => Answer::Failed(Failure::unreachable("the API server does not answer")),
    };
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

/// The next question of the heartbeat does not wait for its turn.
pub(super) fn hurry(page: &Shared) {
    page.borrow_mut().heartbeat.hurry();
    tick(page);
}
