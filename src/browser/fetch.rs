//! Requests over HTTP that end with whoever waits for them.

use gloo_net::http::{Request, Response};
use js_sys::{Function, Promise, Reflect};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{AbortController, AbortSignal};

use kubechurn_client::api::secret;
use kubechurn_client::api::status::Failure;

use crate::browser::clock;

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

/// Asks a cluster's API server for this address, or takes the answer if `src/start.js` has asked for it already. The request
/// ends when the first of what is returned is dropped.
pub async fn get(cluster: &'static str, url: &str) -> (AbortOnDrop, Result<Response, Failure>) {
    let Some((abort, answer)) = take_early(url) else { return get_as(cluster, url, "*/*").await };
    let response = JsFuture::from(answer).await.and_then(JsCast::dyn_into::<web_sys::Response>);
    let response = response.map(Response::from).map_err(|_| no_answer(url));
    note_date(cluster, &response, clock::origin());
    (abort, response)
}

/// Notes what an answer says of the server's clock. Of another origin, the page may read the date only where the server
/// exposes it.
fn note_date(cluster: &'static str, response: &Result<Response, Failure>, asked: f64) {
    let date = response.as_ref().ok().and_then(|response| response.headers().get("Date"));
    date.iter().for_each(|date| clock::answered(cluster, date, asked));
}

/// A request for this address that was begun before the program was there, if there is one: what aborts it, and its answer.
fn take_early(url: &str) -> Option<(AbortOnDrop, Promise)> {
    let get = |of: &JsValue, name: &str| Reflect::get(of, &JsValue::from_str(name)).ok();
    let early = get(&js_sys::global(), "early").filter(JsValue::is_object)?;
    let take = get(&early, "take")?.dyn_into::<Function>().ok()?;
    let taken = take.call1(&JsValue::UNDEFINED, &JsValue::from_str(url)).ok().filter(JsValue::is_object)?;
    let controller = get(&taken, "controller")?.dyn_into::<AbortController>().ok()?;
    Some((AbortOnDrop(Some(controller)), get(&taken, "answer")?.dyn_into::<Promise>().ok()?))
}

fn no_answer(url: &str) -> Failure {
    // A browser does not say why a fetch failed.
    Failure::unreachable(format!("no answer from {}", secret::shown(url)))
}

/// Asks for this address as [`get`] does, with this `Accept` header.
pub async fn get_as(cluster: &'static str, url: &str, accept: &str) -> (AbortOnDrop, Result<Response, Failure>) {
    let (abort, asked) = (AbortOnDrop::begin(), clock::wall());
    let response = Request::get(url).header("Accept", accept).abort_signal(abort.signal().as_ref()).send().await;
    let response = response.map_err(|_| no_answer(url));
    note_date(cluster, &response, asked);
    (abort, response)
}
