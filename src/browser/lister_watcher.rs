//! The ListerWatcher: fetches pages and probes, opens sockets, and tells what came of it.

use gloo_net::http::{Request, Response};
use web_sys::AbortController;

use crate::api::event::{self, EventType};
use crate::api::list;
use crate::api::request::{ExactListRequest, ListRequest, METADATA_LIST, Scope, WatchRequest, path};
use crate::api::resource::ApiResource;
use crate::api::status::Failure;
use crate::browser::base::Base;
use crate::browser::socket;
use crate::cache::reflector::Input;

/// One resource in one scope, at one API.
#[derive(Clone, Debug)]
pub struct ListerWatcher {
    /// Where the API is.
    pub base: Base,
    /// The resource.
    pub resource: ApiResource,
    /// Which of its objects.
    pub scope: Scope,
}

/// Aborts its fetch when it is dropped: a fetch whose future is dropped would go on.
struct AbortOnDrop(Option<AbortController>);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        if let Some(controller) = &self.0 {
            controller.abort();
        }
    }
}

impl ListerWatcher {
    /// Fetches one page and tells of it once.
    pub async fn list(&self, request: &ListRequest, tell: impl FnOnce(Input<'_>)) {
        let url = format!("{}{}", self.base.http, request.url(&self.resource, &self.scope));
        let (_abort, response) = get(&url).await;
        let response = match response {
            Ok(response) => response,
            Err(failure) => return tell(Input::Failed(failure)),
        };
        let (code, retry_after, ok) = (response.status(), retry_after(&response), response.ok());
        // As text, the browser would put other letters where it finds no UTF-8, and so rename objects.
        match response.binary().await {
            Ok(bytes) if ok => tell(Input::PageBytes(&bytes)),
            Ok(bytes) => {
                let text = String::from_utf8_lossy(&bytes);
                tell(Input::Failed(Failure::from_response(code, retry_after, &text)));
            }
            Err(error) => tell(Input::Failed(Failure::unreachable(format!("the answer broke off: {error}")))),
        }
    }

    /// Asks how many objects there are; `None` where that cannot be learnt, for whatever reason.
    pub async fn count(&self) -> Option<u64> {
        let url = format!("{}{}", self.base.http, ListRequest::count().url(&self.resource, &self.scope));
        let (_abort, response) = get_as(&url, METADATA_LIST).await;
        let response = response.ok().filter(Response::ok)?;
        let text = response.text().await.ok()?;
        list::page(&text).ok()?.total()
    }

    /// Fetches one page of metadata as of exactly one version.
    ///
    /// # Errors
    ///
    /// What the server says instead, or that nothing answers.
    pub async fn list_exactly(&self, request: &ExactListRequest) -> Result<Vec<u8>, Failure> {
        let url = format!("{}{}", self.base.http, request.url(&self.resource, &self.scope));
        let (_abort, response) = get_as(&url, METADATA_LIST).await;
        let response = response?;
        let (code, retry_after, ok) = (response.status(), retry_after(&response), response.ok());
        let broke = |error| Failure::unreachable(format!("the answer broke off: {error}"));
        let bytes = response.binary().await.map_err(broke)?;
        if ok { Ok(bytes) } else { Err(Failure::from_response(code, retry_after, &String::from_utf8_lossy(&bytes))) }
    }

    /// Fetches one object by its name.
    ///
    /// # Errors
    ///
    /// What the server says instead, or that nothing answers.
    pub async fn get(&self, name: &str) -> Result<String, Failure> {
        let name: String = form_urlencoded::byte_serialize(name.as_bytes()).collect();
        let name = name.replace('+', "%20");
        let url = format!("{}{}/{name}?pretty=false", self.base.http, path(&self.resource, &self.scope));
        let (_abort, response) = get(&url).await;
        let response = response?;
        let (code, retry_after, ok) = (response.status(), retry_after(&response), response.ok());
        let broke = |error| Failure::unreachable(format!("the answer broke off: {error}"));
        let text = response.text().await.map_err(broke)?;
        if ok { Ok(text) } else { Err(Failure::from_response(code, retry_after, &text)) }
    }

    /// Asks over HTTP for a watch that was refused as a socket: a browser does not say why an upgrade failed.
    pub async fn probe(&self, request: &WatchRequest, tell: impl FnOnce(Input<'_>)) {
        let url = format!("{}{}", self.base.http, request.probe().url(&self.resource, &self.scope));
        let (_abort, response) = get(&url).await;
        let response = match response {
            Ok(response) => response,
            Err(failure) => return tell(Input::Failed(failure)),
        };
        let (code, retry_after, ok) = (response.status(), retry_after(&response), response.ok());
        // The body of a streaming list is the whole list; its status has said enough.
        if ok && request.initial_events {
            return tell(Input::ProbePassed);
        }
        let text = response.text().await.unwrap_or_default();
        if !ok {
            return tell(Input::Failed(Failure::from_response(code, retry_after, &text)));
        }
        let errors = text.lines().filter_map(|line| event::split(line).ok());
        match errors.into_iter().find(|frame| frame.event_type == EventType::Error) {
            Some(frame) => tell(Input::Failed(Failure::from_error_event(frame.object))),
            None => tell(Input::ProbePassed),
        }
    }

    /// Opens a socket and tells of everything that it says, until it ends. Dropping the future closes it.
    pub async fn watch(&self, request: &WatchRequest, tell: impl FnMut(Input<'_>) + 'static) {
        let url = format!("{}{}", self.base.socket, request.url(&self.resource, &self.scope));
        socket::listen(&url, tell).await;
    }
}

async fn get(url: &str) -> (AbortOnDrop, Result<Response, Failure>) {
    get_as(url, "*/*").await
}

async fn get_as(url: &str, accept: &str) -> (AbortOnDrop, Result<Response, Failure>) {
    let abort = AbortOnDrop(AbortController::new().ok());
    let signal = abort.0.as_ref().map(AbortController::signal);
    let response = Request::get(url).header("Accept", accept).abort_signal(signal.as_ref()).send().await;
    // The browser keeps the reason of a failed fetch to itself.
    let origin = url.split('?').next().unwrap_or(url).to_owned();
    (abort, response.map_err(|_| Failure::unreachable(format!("no answer from {origin}"))))
}

fn retry_after(response: &Response) -> Option<f64> {
    response.headers().get("Retry-After")?.trim().parse().ok()
}
