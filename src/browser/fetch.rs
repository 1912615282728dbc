//! Requests over HTTP that end with whoever waits for them.

use gloo_net::http::{Request, Response};
use web_sys::{AbortController, AbortSignal};

use kubechurn_client::api::secret;
use kubechurn_client::api::status::Failure;

/// Aborts its fetch when it is dropped: a fetch whose future is dropped would go on.
#[derive(Debug)]
pub struct AbortOnDrop(Option<AbortController>);

impl AbortOnDrop {
    /// One for the next fetch.
    pub fn begin() -> AbortOnDrop {
        AbortOnDrop(AbortController::new().ok())
    }

    /// What the fetch is to be begun with.
    pub fn signal(&self) -> Option<AbortSignal> {
        self.0.as_ref().map(AbortController::signal)
    }
}

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        if let Some(controller) = &self.0 {
            controller.abort();
        }
    }
}

/// Asks for this address. The request ends when the first of what is returned is dropped.
pub async fn get(url: &str) -> (AbortOnDrop, Result<Response, Failure>) {
    get_as(url, "*/*").await
}

/// Asks for this address as [`get`] does, with this `Accept` header.
pub async fn get_as(url: &str, accept: &str) -> (AbortOnDrop, Result<Response, Failure>) {
    let abort = AbortOnDrop::begin();
    let response = Request::get(url).header("Accept", accept).abort_signal(abort.signal().as_ref()).send().await;
    // A browser does not say why a fetch failed.
    (abort, response.map_err(|_| Failure::unreachable(format!("no answer from {}", secret::shown(url)))))
}
