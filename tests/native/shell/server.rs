//! The API server as the page reaches it without a browser: HTTP by reqwest, WebSockets by tungstenite. Each function does
//! what the one of its name in `src/browser` does.

use std::cell::RefCell;
use std::pin::pin;
use std::rc::Rc;
use std::time::Duration;

use futures::future::join;
use futures::stream::StreamExt;
use reqwest::header::{ACCEPT as ACCEPTED, DATE, ETAG, HeaderMap, HeaderValue, IF_NONE_MATCH, RETRY_AFTER, USER_AGENT};
use reqwest::{Client, Response};
use tokio::time::timeout;
use tokio_tungstenite::connect_async;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;

use kubechurn_client::api::discovery::{ACCEPT, PATHS};
use kubechurn_client::api::event::{self, EventType};
use kubechurn_client::api::release::{Release, is_of_server};
use kubechurn_client::api::request::{ListRequest, METADATA_LIST, Scope, WatchRequest, path};
use kubechurn_client::api::resource::ApiResource;
use kubechurn_client::api::status::{Failure, Verdict};
use kubechurn_client::api::{definition, list};
use kubechurn_client::cache::discovery::CachedDiscovery;
use kubechurn_client::cache::heartbeat::{Answer as Beat, Ask, DEADLINE, SLOW, read_watch};
use kubechurn_client::cache::lines::Lines;
use kubechurn_client::cache::reflector::{Input, LONGEST_FRAME};
use kubechurn_columns::kinds::namespaces;
use kubechurn_model::kept::DiskFailure;
use kubechurn_model::navigation::namespaces::Namespaces;
use kubechurn_model::page::effect::{Answer, FoundApi, Request};
use kubechurn_model::page::environment::Environment;

use super::place::Place;

/// Faults of the demo cluster that are meant for the page name this one.
const AGENT: &str = "Mozilla/5.0 (without a browser)";
/// Faults that are meant for the page's sockets alone name this one. The page also asks for a watch over HTTP, where it has
/// been silent, and a fault that strikes once may strike that answer.
pub const SOCKET_AGENT: &str = "Mozilla/5.0 (without a browser, by socket)";
/// The code of a socket that ended without one.
const NO_CODE: u16 = 1006;

/// An API server.
#[derive(Clone)]
pub struct Server {
    http: Client,
    /// The address, with a slash at its end.
    base: String,
    /// The same for WebSockets.
    socket: String,
    faults: Rc<RefCell<Faults>>,
    /// Where the page is that asks.
    place: Rc<Place>,
}

/// What is different at a server from the demo cluster.
#[derive(Default)]
pub struct Faults {
    /// Whether it is too old for aggregated discovery.
    pub is_old: bool,
    /// Addresses with this in them are answered with an error.
    pub down: Option<&'static str>,
}

impl Server {
    /// The server at this address, and its WebSockets at the other one.
    pub fn at(base: &str, socket: &str, faults: Rc<RefCell<Faults>>, place: Rc<Place>) -> Server {
        let agent = HeaderMap::from_iter([(USER_AGENT, HeaderValue::from_static(AGENT))]);
        let http = Client::builder().default_headers(agent).no_proxy().build().expect("an HTTP client can be made");
        Server { http, base: base.to_owned(), socket: socket.replacen("http", "ws", 1), faults, place }
    }

    /// The answer to one of the page's requests.
    pub async fn answer(&self, request: Request) -> Answer {
        let at = |resource, scope| ListerWatcher { server: self.clone(), resource, scope };
        match request {
            Request::Find { places, patience, .. } => Answer::Find(self.find(&places, patience).await),
            Request::Discovery(mut cached) => {
                self.discover(&mut cached).await;
                Answer::Discovery(cached)
            }
            Request::Definition(resource) => Answer::Definition(self.text(&definition::path(&resource)).await),
            Request::Heartbeat(resource, scope, ask) => Answer::Heartbeat(at(resource, scope).heartbeat(&ask).await),
            Request::Count(resource, scope) => Answer::Count(at(resource, scope).count().await),
            Request::ListExactly(resource, scope, request) => {
                Answer::ListExactly(self.metadata(&request.url(&resource, &scope)).await)
            }
            Request::Get(resource, scope, name) => {
                Answer::Get(self.text(&format!("{}/{name}?pretty=false", path(&resource, &scope))).await)
            }
            Request::Namespaces(mut known) => {
                let url = Namespaces::request().url(&namespaces::KIND.resource, &Scope::default());
                known.listed(self.metadata(&url).await);
                Answer::Namespaces(known)
            }
            Request::Copy(_) => Answer::Copy(false),
            Request::Save { .. } => Answer::Save(None),
            Request::Pack { .. } => Answer::Pack(None),
            Request::Disk(_) => Answer::Disk(Err(DiskFailure::default())),
        }
    }

    async fn find(&self, places: &[String], patience: u32) -> Result<FoundApi, Vec<(String, String)>> {
        let mut tried = Vec::new();
        for one in places {
            let address = self.place.address(one).expect("places are addresses");
            let http = format!("{}{}", address.origin(), address.path);
            let version = async {
                let answer = self.http.get(format!("{http}version")).send().await.ok()?;
                Some((answer.status().as_u16(), answer.text().await.ok()?))
            };
            match within(patience, version).await.flatten() {
                Some((status, text)) => match is_of_server(status, &text) {
                    Ok(()) => return Ok(FoundApi { http, release: Release::parse(&text), readable: true }),
                    Err(words) => tried.push((http, words)),
                },
                None => tried.push((http, String::from("no answer"))),
            }
        }
        Err(tried)
    }

    async fn discover(&self, cached: &mut CachedDiscovery) {
        cached.begin();
        for (at, path) in PATHS.into_iter().enumerate() {
            let answer = match self.send(path, ACCEPT, cached.etag(at)).await {
                Ok(response) if response.status() == 304 => continue,
                Ok(response) => response,
                Err(failure) => {
                    cached.failed(failure.words);
                    continue;
                }
            };
            let etag = answer.headers().get(ETAG).and_then(|etag| Some(etag.to_str().ok()?.to_owned()));
            let read = answer.text().await.map_err(|error| error.to_string());
            let read = read.and_then(|text| cached.answered(at, etag, &text).map_err(|error| error.to_string()));
            if let Err(words) = read {
                cached.failed(words);
            }
        }
        for of in cached.wanted() {
            let answer = self.text(&of.path()).await;
            cached.described(of, answer.as_deref().map_err(|failure| &*failure.words));
        }
        cached.end();
    }

    /// The text at this path and query.
    async fn text(&self, url: &str) -> Result<String, Failure> {
        self.send(url, "application/json", None).await?.text().await.map_err(broke_off)
    }

    /// Reads a log, and reports that it begins (`None`), and each piece.
    pub async fn log(&self, url: &str, report: impl Fn(Option<&[u8]>)) -> Result<(), Failure> {
        let mut response = self.send(url, "*/*", None).await?;
        report(None);
        while let Some(bytes) = response.chunk().await.map_err(broke_off)? {
            report(Some(&bytes));
        }
        Ok(())
    }

    /// One page of a list, of which metadata are enough.
    async fn metadata(&self, url: &str) -> Result<Vec<u8>, Failure> {
        Ok(self.send(url, METADATA_LIST, None).await?.bytes().await.map_err(broke_off)?.into())
    }

    async fn send(&self, url: &str, accept: &str, etag: Option<&str>) -> Result<Response, Failure> {
        let url = format!("{}{}", self.base, url.trim_start_matches('/'));
        let (is_old, down) = (self.faults.borrow().is_old, self.faults.borrow().down);
        if down.is_some_and(|down| url.contains(down)) {
            return Err(Failure::from_response(503, None, "the server is down"));
        }
        self.place.sent.borrow_mut().push((self.place.now(), url.clone()));
        let request = self.http.get(&url).header(ACCEPTED, if is_old { "application/json" } else { accept });
        let request = etag.iter().fold(request, |request, etag| request.header(IF_NONE_MATCH, *etag));
        let asked = self.place.wall();
        let silence = |_| Failure::unreachable(format!("no answer from {url}"));
        let response = request.send().await.map_err(silence)?;
        self.place.dated(response.headers().get(DATE).and_then(|date| date.to_str().ok()), asked);
        let code = response.status();
        if code.is_success() || code == 304 {
            return Ok(response);
        }
        let retry_after =
            response.headers().get(RETRY_AFTER).and_then(|after| after.to_str().ok()?.trim().parse().ok());
        Err(Failure::from_response(code.as_u16(), retry_after, &response.text().await.unwrap_or_default()))
    }

    async fn is_there(&self, patience: u32) -> bool {
        within(patience, self.text("version")).await.is_some_and(|answer| match answer {
            Ok(text) => is_of_server(200, &text).is_ok(),
            Err(failure) => failure.verdict != Verdict::Unreachable,
        })
    }
}

/// One resource in one scope.
#[derive(Clone)]
pub struct ListerWatcher {
    pub server: Server,
    pub resource: ApiResource,
    pub scope: Scope,
}

impl ListerWatcher {
    /// Fetches one page, and reports it.
    pub async fn list(&self, request: &ListRequest, report: impl Fn(Input<'_>)) {
        let mut response = match self.server.send(&request.url(&self.resource, &self.scope), "*/*", None).await {
            Ok(response) => response,
            Err(failure) => return report(Input::Failed(failure)),
        };
        report(Input::Piece(&[]));
        loop {
            match response.chunk().await {
                Ok(Some(bytes)) => report(Input::Piece(&bytes)),
                Ok(None) => return report(Input::PageEnd),
                Err(error) => return report(Input::Failed(broke_off(error))),
            }
        }
    }

    /// Opens a socket, and reports everything that it says, until it ends.
    pub async fn watch(&self, request: &WatchRequest, report: impl Fn(Input<'_>)) {
        let url = format!("{}{}", self.server.socket, request.url(&self.resource, &self.scope));
        let mut asked = url.into_client_request().expect("the page asks for addresses");
        let origin = self.server.place.address("").map(|own| own.origin()).unwrap_or_default();
        for (name, value) in [("User-Agent", SOCKET_AGENT), ("Origin", &origin)] {
            asked.headers_mut().insert(name, value.parse().expect("it is a header"));
        }
        let Ok((mut socket, _)) = connect_async(asked).await else { return report(Input::Closed(NO_CODE)) };
        report(Input::Opened);
        let mut code = NO_CODE;
        while let Some(Ok(message)) = socket.next().await {
            match message {
                Message::Text(text) => report(Input::Bytes(text.as_bytes())),
                Message::Binary(bytes) => report(Input::Bytes(&bytes)),
                Message::Close(frame) => code = frame.map_or(1005, |frame| frame.code.into()),
                Message::Ping(_) | Message::Pong(_) | Message::Frame(_) => {}
            }
        }
        report(Input::Closed(code));
    }

    /// Asks for a watch over HTTP, and reports each line.
    pub async fn watch_over_http(&self, request: &WatchRequest, report: impl Fn(Input<'_>)) {
        let mut response = match self.server.send(&request.url(&self.resource, &self.scope), "*/*", None).await {
            Ok(response) => response,
            Err(failure) => return report(Input::Failed(failure)),
        };
        report(Input::Opened);
        let mut lines = Lines::default();
        let mut frame = |line: Result<&[u8], usize>| report(line.map_or_else(Input::TooLong, Input::Bytes));
        loop {
            match response.chunk().await {
                Ok(Some(bytes)) => lines.read(&bytes, LONGEST_FRAME, &mut frame),
                Ok(None) => return report(Input::Closed(if lines.is_whole() { 1000 } else { NO_CODE })),
                Err(_) => return report(Input::Closed(NO_CODE)),
            }
        }
    }

    /// Asks over HTTP for a watch that was refused as a socket.
    pub async fn probe(&self, request: &WatchRequest, report: impl Fn(Input<'_>)) {
        let response = self.server.send(&request.probe().url(&self.resource, &self.scope), "*/*", None).await;
        let response = match response {
            Ok(_) if request.initial_events => return report(Input::ProbePassed),
            Ok(response) => response,
            Err(failure) => return report(Input::Failed(failure)),
        };
        let text = response.text().await.unwrap_or_default();
        let mut frames = text.lines().filter_map(|line| event::split(line).ok());
        match frames.find(|frame| frame.event_type == EventType::Error) {
            Some(frame) => report(Input::Failed(Failure::from_error_event(frame.object))),
            None => report(Input::ProbePassed),
        }
    }

    async fn count(&self) -> Option<u64> {
        let bytes = self.server.metadata(&ListRequest::count().url(&self.resource, &self.scope)).await.ok()?;
        list::page(std::str::from_utf8(&bytes).ok()?).ok()?.total()
    }

    async fn ask(&self, request: &WatchRequest, check_version: bool) -> Result<Beat, Failure> {
        if check_version {
            let request = ListRequest { resource_version: request.resource_version.clone(), ..ListRequest::count() };
            match self.server.metadata(&request.url(&self.resource, &self.scope)).await {
                Err(failure) if failure.verdict != Verdict::Forbidden => return Err(failure),
                _ => {}
            }
        }
        read_watch(&self.server.text(&request.url(&self.resource, &self.scope)).await?)
    }

    async fn heartbeat(&self, ask: &Ask) -> Beat {
        let late = || Failure::unreachable("the API server does not answer");
        let Ask::Watch { request, check_version } = ask else {
            return if self.server.is_there(DEADLINE).await { Beat::Quiet } else { Beat::Nothing(late()) };
        };
        let mut watch = pin!(self.ask(request, *check_version));
        let rest = DEADLINE - SLOW;
        let (answer, is_there) = match within(SLOW, watch.as_mut()).await {
            Some(Err(failure)) if failure.verdict == Verdict::Unreachable => {
                (Some(Err(failure)), self.server.is_there(rest).await)
            }
            Some(answer) => (Some(answer), true),
            None => join(within(rest, watch), self.server.is_there(rest)).await,
        };
        match answer.unwrap_or_else(|| Err(late())) {
            Ok(answer) => answer,
            Err(failure) if failure.verdict != Verdict::Unreachable || is_there => Beat::Refused(failure),
            Err(failure) => Beat::Nothing(failure),
        }
    }
}

fn broke_off(error: reqwest::Error) -> Failure {
    Failure::unreachable(format!("the answer broke off: {error}"))
}

async fn within<T>(milliseconds: u32, future: impl Future<Output = T>) -> Option<T> {
    timeout(Duration::from_millis(milliseconds.into()), future).await.ok()
}
