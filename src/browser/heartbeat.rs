//! Asks the API server what the heartbeat wants to know.

use std::pin::pin;

use futures::future::{Either, join, select};
use gloo_timers::future::TimeoutFuture;

use kubechurn_client::api::status::{Failure, Verdict};
use kubechurn_client::cache::heartbeat::{Answer, Ask, DEADLINE, SLOW};

use crate::browser::clock::within;
use crate::browser::lister_watcher::ListerWatcher;

/// The answer to one question, within [`DEADLINE`]; after [`SLOW`], or where the answer may be a proxy's, the server is
/// asked for its version, too.
pub async fn answer(server: &ListerWatcher, ask: &Ask) -> Answer {
    let late = || Failure::unreachable("the API server does not answer");
    let Ask::Watch { request, check_version } = ask else {
        return if server.is_there(DEADLINE).await { Answer::Quiet } else { Answer::Nothing(late()) };
    };
    let mut watch = pin!(server.ask(request, *check_version));
    let (failure, is_there) = match select(watch.as_mut(), pin!(TimeoutFuture::new(SLOW))).await {
        Either::Left((Ok(answer), _)) => return answer,
        Either::Left((Err(failure), _)) if failure.verdict != Verdict::Unreachable => return Answer::Refused(failure),
        Either::Left((Err(failure), _)) => (failure, server.is_there(DEADLINE - SLOW).await),
        Either::Right(_) => {
            let rest = DEADLINE - SLOW;
            match join(within(rest, watch), server.is_there(rest)).await {
                (Some(Ok(answer)), _) => return answer,
                (Some(Err(failure)), _) if failure.verdict != Verdict::Unreachable => return Answer::Refused(failure),
                (Some(Err(failure)), is_there) => (failure, is_there),
                (None, is_there) => (late(), is_there),
            }
        }
    };
    if is_there { Answer::Refused(failure) } else { Answer::Nothing(failure) }
}
