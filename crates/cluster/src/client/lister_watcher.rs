//! The ListerWatcher: carries out the actions of a reflector over the client, and gives their outcome as a stream.

use axum::body::{Body, Bytes, to_bytes};
use axum::http::{Method, Response, header};
use futures::stream::{self, LocalBoxStream, StreamExt};
use kubechurn_client::api::request::{ListRequest, Scope, WatchRequest};
use kubechurn_client::api::resource::ApiResource;
use kubechurn_client::api::status::Failure;
use kubechurn_client::cache::reflector::Action;

use super::rest::Client;

/// Lists and watches one resource in one scope.
#[derive(Debug, Clone)]
pub struct ListerWatcher {
    /// Sends the requests.
    pub client: Client,
    pub resource: ApiResource,
    /// Selects the objects.
    pub scope: Scope,
}

/// An outcome of an action. Each becomes one or several inputs of the reflector.
#[derive(Debug)]
pub enum Outcome {
    /// The answer to a WATCH has begun.
    Opened,
    /// Some frames, one per line.
    Frames(Vec<u8>),
    /// The watch ended: 1000 if the server ended it in order, 1006 if the body broke off.
    Closed(u16),
    /// A page of the list.
    Page(Bytes),
    /// The request was refused, or got no answer.
    Failed(Failure),
    /// A probe found nothing wrong with the watch that failed.
    ProbePassed,
}

impl ListerWatcher {
    /// Carries out an action; the stream ends when the action is over. Dropping the stream cancels the action.
    pub fn perform(&self, action: Action) -> LocalBoxStream<'static, Outcome> {
        let this = self.clone();
        match action {
            Action::List(request) => stream::once(async move { this.list(&request).await }).boxed_local(),
            Action::Watch(request) | Action::WatchOverHttp(request) => this.watch(&request),
            // A watch that is refused over HTTP says why. So a probe is only asked for after a watch that was accepted
            // and then broke at once; opening the watch again shows what is wrong.
            Action::Probe(_) => stream::once(async { Outcome::ProbePassed }).boxed_local(),
            Action::Wait => stream::pending().boxed_local(),
        }
    }

    async fn list(&self, request: &ListRequest) -> Outcome {
        match self.get(&request.url(&self.resource, &self.scope)).await {
            Ok(response) => match to_bytes(response.into_body(), usize::MAX).await {
                Ok(page) => Outcome::Page(page),
                Err(error) => Outcome::Failed(Failure::unreachable(format!("the answer broke off: {error}"))),
            },
            Err(failure) => Outcome::Failed(failure),
        }
    }

    fn watch(self, request: &WatchRequest) -> LocalBoxStream<'static, Outcome> {
        let url = request.url(&self.resource, &self.scope);
        let opened = async move {
            match self.get(&url).await {
                Ok(response) => stream::once(async { Outcome::Opened }).chain(frames(response)).boxed_local(),
                Err(failure) => stream::once(async { Outcome::Failed(failure) }).boxed_local(),
            }
        };
        stream::once(opened).flatten().boxed_local()
    }

    async fn get(&self, url: &str) -> Result<Response<Body>, Failure> {
        let answer = self.client.send(Method::GET, &format!("/{url}"), "", String::new()).await;
        let response = answer.map_err(|error| Failure::unreachable(error.message))?;
        if response.status().is_success() {
            return Ok(response);
        }
        let (code, retry_after) = (response.status().as_u16(), retry_after(&response));
        let body = to_bytes(response.into_body(), usize::MAX).await.unwrap_or_default();
        Err(Failure::from_response(code, retry_after, &String::from_utf8_lossy(&body)))
    }
}

/// The lines of the body of a watch, and its end.
fn frames(response: Response<Body>) -> impl stream::Stream<Item = Outcome> {
    let chunks = Some((response.into_body().into_data_stream(), Vec::new()));
    stream::unfold(chunks, |open| async {
        let (mut chunks, mut rest) = open?;
        loop {
            match chunks.next().await {
                Some(Ok(chunk)) => {
                    rest.extend_from_slice(&chunk);
                    if let Some(end) = rest.iter().rposition(|byte| *byte == b'\n') {
                        let after = rest.split_off(end + 1);
                        return Some((Outcome::Frames(rest), Some((chunks, after))));
                    }
                }
                Some(Err(_)) => return Some((Outcome::Closed(1006), None)),
                // A last line without a newline is not a whole frame.
                None => return Some((Outcome::Closed(if rest.is_empty() { 1000 } else { 1006 }), None)),
            }
        }
    })
}

fn retry_after(response: &Response<Body>) -> Option<f64> {
    response.headers().get(header::RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()
}
