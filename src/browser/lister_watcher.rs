//! The ListerWatcher: fetches pages and probes, opens sockets, and reports what came of it.

use gloo_net::http::Response;
use js_sys::{Reflect, Uint8Array};
use wasm_bindgen::JsCast;
use wasm_bindgen_futures::JsFuture;
use web_sys::ReadableStreamDefaultReader;

use kubechurn_client::api::event::{self, EventType};
use kubechurn_client::api::list;
use kubechurn_client::api::request::{ListRequest, METADATA_LIST, Scope, WatchRequest, path, presence};
use kubechurn_client::api::resource::ApiResource;
use kubechurn_client::api::status::{Failure, Verdict};
use kubechurn_client::cache::heartbeat::{Answer, read_watch};
use kubechurn_client::cache::lines::Lines;
use kubechurn_client::cache::reflector::{Input, LONGEST_FRAME};

use crate::browser::base::{self, Base};
use crate::browser::clock::within;
use crate::browser::fetch::{AbortOnDrop, get, get_as};
use crate::browser::socket;
use crate::browser::task::Work;

/// How many bytes of a list are read without a look at the clock: these take less than a millisecond.
const PIECE: u32 = 1 << 16;

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

/// Asks for this address. An answer that refuses is a failure, in the server's words.
async fn get_granted(cluster: &'static str, url: &str) -> (AbortOnDrop, Result<Response, Failure>) {
    let (abort, response) = get(cluster, url).await;
    let response = match response {
        Ok(response) if !response.ok() => Err(failure(&response).await),
        response => response,
    };
    (abort, response)
}

/// Reads the log at this address, and hands on that it begins (`None`), and each piece as it comes.
///
/// # Errors
///
/// What the server says instead, or that the log broke off.
pub async fn log(cluster: &'static str, url: &str, mut report: impl FnMut(Option<&[u8]>)) -> Result<(), Failure> {
    let (_abort, response) = get_granted(cluster, url).await;
    let response = response?;
    report(None);
    read(&response, |bytes| report(Some(bytes))).await.map_err(|BrokeOff| Failure::unreachable("the answer broke off"))
}

impl ListerWatcher {
    /// Fetches one page, and reports it: that it begins, of each piece as it comes, and of the end.
    ///
    /// No header asks for compression: the browser itself says what it can unpack (`Accept-Encoding`), and unpacks what
    /// comes before the pieces are reported.
    pub async fn list(&self, request: &ListRequest, mut report: impl FnMut(Input<'_>)) {
        let url = format!("{}{}", self.base.http, request.url(&self.resource, &self.scope));
        let (_abort, response) = get_granted(self.resource.cluster, &url).await;
        let response = match response {
            Ok(response) => response,
            Err(failure) => return report(Input::Failed(failure)),
        };
        report(Input::Piece(&[]));
        match read(&response, |bytes| report(Input::Piece(bytes))).await {
            Ok(()) => report(Input::PageEnd),
            Err(BrokeOff) => report(Input::Failed(Failure::unreachable("the answer broke off"))),
        }
    }

    /// Asks how many objects there are; `None` where that cannot be learnt, for whatever reason.
    pub async fn count(&self) -> Option<u64> {
        let url = format!("{}{}", self.base.http, ListRequest::count().url(&self.resource, &self.scope));
        let (_abort, response) = get_as(self.resource.cluster, &url, METADATA_LIST).await;
        let response = response.ok().filter(Response::ok)?;
        let text = response.text().await.ok()?;
        list::page(&text).ok()?.total()
    }

    /// Fetches one page of a list, at this path and query below the API, of which metadata are enough.
    ///
    /// # Errors
    ///
    /// What the server says instead, or that nothing answers.
    pub async fn metadata(&self, url: &str) -> Result<Vec<u8>, Failure> {
        let (_abort, response) =
            get_as(self.resource.cluster, &format!("{}{url}", self.base.http), METADATA_LIST).await;
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
        let (_abort, response) = get(self.resource.cluster, &url).await;
        let response = response?;
        let (code, retry_after, ok) = (response.status(), retry_after(&response), response.ok());
        let broke = |error| Failure::unreachable(format!("the answer broke off: {error}"));
        let text = response.text().await.map_err(broke)?;
        if ok { Ok(text) } else { Err(Failure::from_response(code, retry_after, &text)) }
    }

    /// Asks over HTTP for a watch that was refused as a socket: a browser does not say why an upgrade failed.
    pub async fn probe(&self, request: &WatchRequest, report: impl FnOnce(Input<'_>)) {
        let url = format!("{}{}", self.base.http, request.probe().url(&self.resource, &self.scope));
        let (_abort, response) = get(self.resource.cluster, &url).await;
        let response = match response {
            Ok(response) => response,
            Err(failure) => return report(Input::Failed(failure)),
        };
        let (code, retry_after, ok) = (response.status(), retry_after(&response), response.ok());
        // The body of a streaming list is the whole list; its status has said enough.
        if ok && request.initial_events {
            return report(Input::ProbePassed);
        }
        let text = response.text().await.unwrap_or_default();
        if !ok {
            return report(Input::Failed(Failure::from_response(code, retry_after, &text)));
        }
        let errors = text.lines().filter_map(|line| event::split(line).ok());
        match errors.into_iter().find(|frame| frame.event_type == EventType::Error) {
            Some(frame) => report(Input::Failed(Failure::from_error_event(frame.object))),
            None => report(Input::ProbePassed),
        }
    }

    /// Asks the API server whether it has anything that comes after a watch's version, on its own way and not by a socket.
    /// `check_version` asks first whether it has come as far as that version.
    ///
    /// # Errors
    ///
    /// What is said instead, or that nothing answers.
    pub async fn ask(&self, request: &WatchRequest, check_version: bool) -> Result<Answer, Failure> {
        if check_version {
            let request = ListRequest { resource_version: request.resource_version.clone(), ..ListRequest::count() };
            let url = format!("{}{}", self.base.http, request.url(&self.resource, &self.scope));
            let (_abort, response) = get_as(self.resource.cluster, &url, METADATA_LIST).await;
            let response = response?;
            if !response.ok() {
                let failure = failure(&response).await;
                // A user who may watch need not be allowed to list.
                if failure.verdict != Verdict::Forbidden {
                    return Err(failure);
                }
            }
        }
        let watch = request.url(&self.resource, &self.scope);
        if !self.base.readable {
            return socket::ask(&format!("{}{watch}", self.base.socket)).await;
        }
        let (_abort, response) = get(self.resource.cluster, &format!("{}{watch}", self.base.http)).await;
        let response = response?;
        if !response.ok() {
            return Err(failure(&response).await);
        }
        read_watch(&response.text().await.map_err(|_| Failure::unreachable("the answer broke off"))?)
    }

    /// Whether an API server answers within so many milliseconds, when it is asked for its version or for a watch.
    pub async fn is_there(&self, patience: u32) -> bool {
        if self.base.readable {
            return within(patience, base::version(self.resource.cluster, &self.base.http))
                .await
                .is_some_and(|version| version.is_ok());
        }
        base::is_there(&format!("{}{}", self.base.socket, presence(&self.resource, &self.scope.namespace)), patience)
            .await
    }

    /// Opens a socket and hands on everything that it says, until it ends. Dropping the future closes it.
    pub async fn watch(&self, request: &WatchRequest, report: impl FnMut(Input<'_>) + 'static) {
        let url = format!("{}{}", self.base.socket, request.url(&self.resource, &self.scope));
        socket::listen(&url, report).await;
    }

    /// Asks for a watch over HTTP, and hands on each line as a socket does its frames.
    pub async fn watch_over_http(&self, request: &WatchRequest, mut report: impl FnMut(Input<'_>)) {
        let url = format!("{}{}", self.base.http, request.url(&self.resource, &self.scope));
        let (_abort, response) = get_granted(self.resource.cluster, &url).await;
        let response = match response {
            Ok(response) => response,
            Err(failure) => return report(Input::Failed(failure)),
        };
        report(Input::Opened);
        let mut lines = Lines::default();
        let mut frame = |line: Result<&[u8], usize>| report(line.map_or_else(Input::TooLong, Input::Bytes));
        let ended = read(&response, |bytes| lines.read(bytes, LONGEST_FRAME, &mut frame)).await;
        report(Input::Closed(if ended.is_ok() && lines.is_whole() { ENDED } else { BROKEN }));
    }
}

/// The codes with which a socket closes, for a body that came to its end, and for one that did not.
const ENDED: u16 = 1000;
const BROKEN: u16 = 1006;

/// An answer whose body did not come to its end.
struct BrokeOff;

/// Hands on the body of an answer as it comes, in pieces of at most [`PIECE`] bytes. As text, the browser would put other
/// letters where it finds no UTF-8, and so rename objects.
///
/// A server on the same machine sends faster than the list is read. What has come is there at once, without a pause in which
/// the page could be drawn; so the work pauses by itself.
async fn read(response: &Response, mut report: impl FnMut(&[u8])) -> Result<(), BrokeOff> {
    let Some(stream) = response.body() else { return Ok(()) };
    let reader: ReadableStreamDefaultReader = stream.get_reader().unchecked_into();
    let (mut work, mut bytes) = (Work::begin(), Vec::new());
    loop {
        let next = JsFuture::from(reader.read()).await.map_err(|_| BrokeOff)?;
        let part = |name: &str| Reflect::get(&next, &name.into()).map_err(|_| BrokeOff);
        if part("done")?.is_truthy() {
            return Ok(());
        }
        let chunk: Uint8Array = part("value")?.dyn_into().map_err(|_| BrokeOff)?;
        let mut from = 0;
        while from < chunk.length() {
            let piece = chunk.subarray(from, from.saturating_add(PIECE));
            bytes.resize(piece.length() as usize, 0);
            piece.copy_to(&mut bytes);
            report(&bytes);
            from += piece.length();
            work.pause().await;
        }
    }
}

async fn failure(response: &Response) -> Failure {
    let (code, retry_after) = (response.status(), retry_after(response));
    Failure::from_response(code, retry_after, &response.text().await.unwrap_or_default())
}

fn retry_after(response: &Response) -> Option<f64> {
    response.headers().get("Retry-After")?.trim().parse().ok()
}
