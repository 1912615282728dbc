//! Faults that affect a request before it is handled.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures::StreamExt;

use crate::faults::about::About;
use crate::faults::rule::{Drip, Effect, Refusal, Rule};
use crate::faults::rules::Rules;
use crate::status::Status;

/// The effect of the faults on a request.
#[derive(Debug)]
pub enum RequestOutcome {
    /// A fault has answered the request.
    Answered(Response),
    /// The request is handled; with a [`Drip`], the body of the answer is sent slowly.
    Passed(Option<Drip>),
}

/// Applies the faults to a request. Returns after the delay that they cause.
pub async fn strike(rules: &Rules, about: &About) -> RequestOutcome {
    let mut drips = None;
    for rule in rules.all().iter().filter(|rule| rule.spec.scope.holds(about, None)) {
        match &rule.spec.effect {
            Effect::Refuse(refusal) if rule.strikes(None) => return RequestOutcome::Answered(refuse(refusal, about)),
            Effect::Slow { delay, drip } if rule.strikes(None) => {
                if !delay.is_zero() {
                    tokio::time::sleep(*delay).await;
                }
                drips = drip.or(drips);
            }
            Effect::Stall if rule.strikes(None) => rules.gone(rule.id).await,
            _ => {}
        }
    }
    RequestOutcome::Passed(drips)
}

/// Whether a fault makes the server behave as if it did not know `sendInitialEvents`.
pub fn lacks_watch_list(rules: &Rules, about: &About) -> bool {
    let struck = |rule: &&Arc<Rule>| rule.spec.effect == Effect::NoWatchList && rule.spec.scope.holds(about, None);
    rules.all().iter().filter(struck).any(|rule| rule.strikes(None))
}

fn refuse(refusal: &Refusal, about: &About) -> Response {
    let status = match &about.resource {
        Some(resource) if refusal.status == 403 => Status::forbidden(resource, about.verb, about.namespace.as_deref()),
        _ => Status::of_code(refusal.status, refusal.retry_after),
    };
    if !refusal.plain {
        return status.into_response();
    }
    let code = StatusCode::from_u16(refusal.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = (code, format!("{}\n", status.message())).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    if let Some(seconds) = refusal.retry_after {
        headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    response
}

/// An answer whose body is sent in small pieces. A WebSocket is not changed.
pub fn drip(response: Response, drip: Drip) -> Response {
    if response.status() == StatusCode::SWITCHING_PROTOCOLS {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    parts.headers.remove(header::CONTENT_LENGTH);
    let first = (body.into_data_stream(), Bytes::new(), Duration::ZERO);
    let pieces = futures::stream::unfold(first, move |(mut whole, mut rest, pause)| async move {
        while rest.is_empty() {
            match whole.next().await? {
                Ok(bytes) => rest = bytes,
                Err(error) => return Some((Err(error), (whole, rest, pause))),
            }
        }
        if !pause.is_zero() {
            tokio::time::sleep(pause).await;
        }
        let piece = rest.split_to(drip.bytes.min(rest.len()));
        Some((Ok(piece), (whole, rest, drip.pause)))
    });
    Response::from_parts(parts, Body::from_stream(pieces))
}
