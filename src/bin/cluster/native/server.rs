//! The HTTP side: guards, paths, and which handler answers. It holds no cluster state of its own.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::serve::ListenerExt;
use tokio::net::TcpListener;
use tokio::sync::mpsc;

use super::control;
use super::discovery;
use super::faults::Faults;
use super::list;
use super::options::Options;
use super::random::Random;
use super::resource::{self, Resource};
use super::scenario::Order;
use super::status::Status;
use super::storage::Storage;
use super::watch;
use super::write;

/// What the handlers share.
#[derive(Debug)]
pub struct App {
    /// The objects.
    pub storage: Arc<Storage>,
    /// The faults that are switched on.
    pub faults: Arc<Faults>,
    /// Time between two bookmarks of one watch.
    pub bookmark_every: Duration,
    /// Where the scenario takes its orders.
    pub scenario: mpsc::Sender<Order>,
    /// Counts the watches without a timeout, for [`Self::random_timeout`].
    pub watches: AtomicU64,
}

impl App {
    /// A watch without a timeout lasts from 30 to 60 minutes.
    pub fn random_timeout(&self) -> Duration {
        let mut random = Random::new(self.watches.fetch_add(1, Ordering::Relaxed));
        Duration::from_secs(random.between(1800, 3600) as u64)
    }
}

/// Answers requests until the process ends.
pub async fn serve(listener: TcpListener, app: Arc<App>) -> std::io::Result<()> {
    // Small frames at once: Nagle's algorithm would hold a burst's last event back.
    let listener = listener.tap_io(|stream| {
        let _ = stream.set_nodelay(true);
    });
    axum::serve(listener, Router::new().fallback(handle).with_state(app)).await
}

async fn handle(State(app): State<Arc<App>>, request: Request) -> Response {
    let (mut parts, body) = request.into_parts();
    answer(&app, &mut parts, body).await.unwrap_or_else(IntoResponse::into_response)
}

async fn answer(app: &App, parts: &mut Parts, body: Body) -> Result<Response, Status> {
    check_local(parts)?;
    let path = parts.uri.path().to_owned();
    if let Some(order) = path.strip_prefix("/_control/") {
        return control::handle(app, order, parts, body).await;
    }
    let mut stalled = app.faults.stalled();
    // The sender lives as long as the app, so the wait cannot fail.
    let _ = stalled.wait_for(|stalled| !stalled).await;
    if matches!(path.as_str(), "/livez" | "/readyz" | "/healthz") {
        return Ok("ok".into_response());
    }
    let accept = Accept::of(&parts.headers);
    if accept == Accept::Other {
        return Err(Status::not_acceptable());
    }
    let aggregated = accept == Accept::Aggregated;
    if let Some(document) = discovery::document(&path, aggregated, host(&parts.headers, &parts.uri)) {
        if parts.method != Method::GET {
            return Err(Status::method_not_allowed());
        }
        let mut response = list::json_response(Body::from(format!("{document}\n")));
        if aggregated && matches!(path.trim_end_matches('/'), "/api" | "/apis") {
            response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(discovery::AGGREGATED));
        }
        return Ok(response);
    }
    let target = Target::parse(&path).ok_or_else(Status::no_such_resource)?;
    dispatch(app, target, parts, body).await
}

async fn dispatch(app: &App, target: Target, parts: &mut Parts, body: Body) -> Result<Response, Status> {
    let Target { resource, namespace, name, .. } = &target;
    let namespace = namespace.as_deref();
    let query = parts.uri.query().unwrap_or_default();
    let allow = |verb: &str| {
        let forbidden = app.faults.is_forbidden(verb, resource);
        if forbidden { Err(Status::forbidden(resource, verb, namespace)) } else { Ok(()) }
    };
    match (&parts.method, name) {
        (&Method::GET, None) => {
            // The verb is known, and authorised, before the options are looked at.
            let is_watch = target.watch || Options::is_watch(query);
            allow(if is_watch { "watch" } else { "list" })?;
            let options = Options::parse(query)?;
            if is_watch {
                return watch::watch(app, resource, namespace, options, parts).await;
            }
            list::list(app, resource, namespace, options).await
        }
        (&Method::GET, Some(name)) => {
            allow("get")?;
            list::get(app, resource, namespace.unwrap_or_default(), name)
        }
        (&Method::POST, None) => write::create(app, resource, namespace, write::read(&parts.headers, body).await?),
        (&Method::PUT, Some(_)) => write::replace(app, &target, write::read(&parts.headers, body).await?),
        (&Method::PATCH, Some(_)) => write::patch(app, &target, write::read(&parts.headers, body).await?),
        (&Method::DELETE, Some(_)) => write::delete(app, &target),
        _ => Err(Status::method_not_allowed()),
    }
}

/// The collection or object that a path names.
#[derive(Debug, PartialEq)]
pub struct Target {
    /// The resource.
    pub resource: &'static Resource,
    /// The namespace, if the path has one.
    pub namespace: Option<String>,
    /// The object's name, if the path goes so far.
    pub name: Option<String>,
    /// Whether the path ends in `/status`.
    pub status: bool,
    /// Whether the path begins with the deprecated `watch/`.
    pub watch: bool,
}

impl PartialEq for Resource {
    fn eq(&self, other: &Self) -> bool {
        self.index == other.index
    }
}

impl Target {
    fn parse(path: &str) -> Option<Self> {
        let (group, rest) = match path.strip_prefix("/api/v1/") {
            Some(rest) => ("", rest),
            None => {
                let (group, rest) = path.strip_prefix("/apis/")?.split_once('/')?;
                (group, rest.strip_prefix("v1/")?)
            }
        };
        let segments: Vec<String> = rest.split('/').map(percent_decode).collect::<Option<_>>()?;
        let mut segments: Vec<&str> = segments.iter().map(String::as_str).collect();
        if segments.contains(&"") {
            return None;
        }
        let watch = segments.first() == Some(&"watch");
        if watch {
            segments.remove(0);
        }
        let mut namespace = None;
        // `namespaces/x` and `namespaces/x/status` are the namespace itself.
        if let ["namespaces", within, plural, ..] = segments[..]
            && plural != "status"
        {
            namespace = Some(within.to_owned());
            segments.drain(..2);
        }
        let resource = resource::by_plural(group, segments.first()?)?;
        let (name, status) = match segments[1..] {
            [] => (None, false),
            [name] => (Some(name.to_owned()), false),
            [name, "status"] if resource.has_status => (Some(name.to_owned()), true),
            _ => return None,
        };
        // A namespaced object needs its namespace, a cluster-scoped one has none.
        let possible = if resource.namespaced { namespace.is_some() || name.is_none() } else { namespace.is_none() };
        possible.then_some(Self { resource, namespace, name, status, watch })
    }
}

#[derive(Debug, PartialEq)]
enum Accept {
    Json,
    Aggregated,
    Other,
}

impl Accept {
    /// Tables and metadata-only forms are not offered; clients that can do without get plain JSON.
    fn of(headers: &HeaderMap) -> Self {
        let Some(accept) = headers.get(header::ACCEPT).and_then(|accept| accept.to_str().ok()) else {
            return Self::Json;
        };
        let types: Vec<&str> = accept.split(',').map(str::trim).collect();
        let is_plain = |one: &&str| {
            !one.contains("as=")
                && ["application/json", "*/*", "application/*"].iter().any(|ours| one.starts_with(ours))
        };
        if types
            .iter()
            .any(|one| one.contains("as=APIGroupDiscoveryList") && one.contains("v=v2") && !one.contains("v=v2beta"))
        {
            Self::Aggregated
        } else if accept.trim().is_empty() || types.iter().any(is_plain) {
            Self::Json
        } else {
            Self::Other
        }
    }
}

/// Refuses requests that another host's page could have caused: DNS rebinding shows in Host, others in Origin.
fn check_local(parts: &Parts) -> Result<(), Status> {
    let host = host(&parts.headers, &parts.uri);
    if !is_loopback(host) {
        return Err(Status::not_local("Host", host));
    }
    let Some(origin) = parts.headers.get(header::ORIGIN) else { return Ok(()) };
    let origin = String::from_utf8_lossy(origin.as_bytes());
    let authority = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
    // An opaque origin on an upgrade is refused later, in the real server's way.
    if authority.is_some_and(is_loopback) || (*origin == *"null" && watch::is_upgrade(&parts.headers)) {
        Ok(())
    } else {
        Err(Status::not_local("Origin", &origin))
    }
}

fn host<'a>(headers: &'a HeaderMap, uri: &'a Uri) -> &'a str {
    let header = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    header.or_else(|| uri.authority().map(axum::http::uri::Authority::as_str)).unwrap_or_default()
}

fn is_loopback(authority: &str) -> bool {
    let name = match authority.rsplit_once(':') {
        Some((name, port)) if !port.ends_with(']') => {
            if port.is_empty() || !port.bytes().all(|byte| byte.is_ascii_digit()) {
                return false;
            }
            name
        }
        _ => authority,
    };
    name == "127.0.0.1" || name == "[::1]" || name.eq_ignore_ascii_case("localhost")
}

/// `None` if the text is not UTF-8 after decoding or has a broken escape.
pub fn percent_decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
        bytes.push((digit(rest.next())? * 16 + digit(rest.next())?) as u8);
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, expected: Option<(&str, Option<&str>, Option<&str>, bool)>) {
        let target = Target::parse(path);
        let target = target.as_ref();
        let got = target.map(|t| (t.resource.plural, t.namespace.as_deref(), t.name.as_deref(), t.status));
        assert_eq!(got, expected, "{path}");
    }

    #[test]
    fn paths() {
        check("/api/v1/pods", Some(("pods", None, None, false)));
        check("/api/v1/watch/pods", Some(("pods", None, None, false)));
        check("/api/v1/namespaces", Some(("namespaces", None, None, false)));
        check("/api/v1/namespaces/shop", Some(("namespaces", None, Some("shop"), false)));
        check("/api/v1/namespaces/shop/status", Some(("namespaces", None, Some("shop"), true)));
        check("/api/v1/namespaces/shop/pods", Some(("pods", Some("shop"), None, false)));
        check("/api/v1/namespaces/shop/pods/web%2D1/status", Some(("pods", Some("shop"), Some("web-1"), true)));
        check("/apis/apps/v1/namespaces/shop/deployments/web", Some(("deployments", Some("shop"), Some("web"), false)));
        for nothing in [
            "/api/v1/nosuch",
            "/api/v1/pods/web",
            "/api/v1/namespaces/shop/nodes",
            "/api/v1//pods",
            "/apis/apps/v2/deployments",
            "/apis/batch/v1/deployments",
            "/api/v1/namespaces/shop/pods/web/exec",
            "/api/v1/nodes/%zz",
        ] {
            check(nothing, None);
        }
    }

    #[test]
    fn only_loopback_names() {
        for host in ["127.0.0.1", "127.0.0.1:8080", "localhost:1", "LOCALHOST", "[::1]", "[::1]:80"] {
            assert!(is_loopback(host), "{host}");
        }
        for host in ["", "evil.example", "127.0.0.1.evil.example", "localhost:80@evil.example", "localhost:", "::1"] {
            assert!(!is_loopback(host), "{host}");
        }
    }
}
