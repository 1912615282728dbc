//! The HTTP side: checks requests, and chooses the handler of each. It has no cluster state of its own.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::serve::ListenerExt;
use tokio::net::TcpListener;

use crate::api::Api;
use crate::audit::AuditLog;
use crate::clock;
use crate::control::{self, Control};
use crate::endpoints::binding;
use crate::endpoints::discovery;
use crate::endpoints::eviction;
use crate::endpoints::list;
use crate::endpoints::log;
use crate::endpoints::openapi;
use crate::endpoints::scale;
use crate::endpoints::watch;
use crate::faults::answers::{self, RequestOutcome};
use crate::printers::form::Form;
use crate::printers::response::json_response;
use crate::request::body;
use crate::request::options::{Options, WriteOptions};
use crate::request::target::{Part, Target};
use crate::request::websocket;
use crate::resources::builtin;
use crate::status::Status;
use crate::write::delete::{self, Deletion};
use crate::write::patch::Patch;
use crate::write::{self, RequestScope};

/// One server: the API, and the state that only its control endpoints change.
#[derive(Debug)]
pub struct App {
    /// The state that the handlers share.
    pub api: Arc<Api>,
    /// The further state that the control endpoints change.
    pub control: Control,
    /// Where requests that may write are written down.
    pub audit: AuditLog,
}

/// Serves requests until the process ends.
pub async fn serve(listener: TcpListener, app: Arc<App>) -> std::io::Result<()> {
    // Nagle's algorithm is off, because it would delay the last event of a burst.
    let listener = listener.tap_io(|stream| {
        let _ = stream.set_nodelay(true);
    });
    axum::serve(listener, router(app)).await
}

/// All endpoints as a service, which also accepts requests without a socket.
pub fn router(app: Arc<App>) -> Router {
    Router::new().fallback(handle).with_state(app)
}

async fn handle(State(app): State<Arc<App>>, request: Request) -> Response {
    let (mut parts, body) = request.into_parts();
    let mut response = answer(&app, &mut parts, body).await.unwrap_or_else(IntoResponse::into_response);
    clock::stamp(response.headers_mut());
    response
}

async fn answer(app: &App, parts: &mut Parts, body: Body) -> Result<Response, Status> {
    check_local(parts)?;
    let path = parts.uri.path().to_owned();
    if let Some(order) = path.strip_prefix("/_control/") {
        return control::handle(&app.api, &app.control, order, parts, body).await;
    }
    let api = &*app.api;
    let faults = api.faults.met_by(&parts.extensions);
    let mut stalled = faults.switches().stalled();
    // The sender lives as long as the faults, so the wait cannot fail.
    let _ = stalled.wait_for(|stalled| !stalled).await;
    match faults.strike(&api.registry, parts).await {
        RequestOutcome::Answered(response) => Ok(response),
        RequestOutcome::Passed(None) => logged(app, &path, parts, body).await,
        RequestOutcome::Passed(Some(drip)) => Ok(answers::drip(logged(app, &path, parts, body).await?, drip)),
    }
}

/// Answers a request, and writes down who made it if it may write.
async fn logged(app: &App, path: &str, parts: &mut Parts, body: Body) -> Result<Response, Status> {
    let (pending, body) = app.audit.begin(&app.api.registry, parts, body).await;
    let answer = route(&app.api, path, parts, body).await;
    if pending.is_none() {
        return answer;
    }
    Ok(app.audit.end(pending, answer.unwrap_or_else(IntoResponse::into_response)).await)
}

async fn route(api: &Api, path: &str, parts: &mut Parts, body: Body) -> Result<Response, Status> {
    if matches!(path, "/livez" | "/readyz" | "/healthz") {
        return Ok("ok".into_response());
    }
    let aggregated = wants_aggregated(&parts.headers);
    let resources = || api.registry.all();
    let host = host(&parts.headers, &parts.uri);
    let document =
        discovery::document(path, aggregated, host, &resources).or_else(|| openapi::document(path, &resources));
    if let Some(document) = document {
        if parts.method != Method::GET {
            return Err(Status::method_not_allowed());
        }
        if !aggregated {
            Form::negotiate(&parts.headers, "")?;
        }
        let mut response = json_response(Body::from(format!("{document}\n")));
        if aggregated && matches!(path.trim_end_matches('/'), "/api" | "/apis") {
            response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(discovery::AGGREGATED));
        }
        return Ok(response);
    }
    let Some(target) = Target::parse(&api.registry, path) else {
        // For an unknown group, the real server answers like any web server, without a `Status`.
        let group = path.strip_prefix("/apis/").and_then(|rest| rest.split('/').next());
        let known = group.is_none_or(|group| builtin::RESOURCES.iter().any(|resource| resource.group() == group));
        if known {
            return Err(Status::no_such_resource());
        }
        return Ok((StatusCode::NOT_FOUND, "404 page not found\n").into_response());
    };
    dispatch(api, target, parts, body).await
}

async fn dispatch(api: &Api, target: Target, parts: &mut Parts, body: Body) -> Result<Response, Status> {
    let Target { resource, namespace, name, .. } = &target;
    let namespace = namespace.as_deref();
    let query = parts.uri.query().unwrap_or_default().to_owned();
    let faults = api.faults.met_by(&parts.extensions);
    let allow = |verb: &str| {
        let forbidden = faults.is_forbidden(verb, resource);
        if forbidden { Err(Status::forbidden(resource, verb, namespace)) } else { Ok(()) }
    };
    if resource.read_only && parts.method != Method::GET {
        return Err(Status::method_not_allowed());
    }
    if target.part == Part::Log {
        if parts.method != Method::GET {
            return Err(Status::method_not_allowed());
        }
        if faults.refuses_logs() {
            return Err(Status::forbidden_log(target.name(), namespace.unwrap_or_default()));
        }
        return log::get(api, &target, &query).await;
    }
    let form = Form::negotiate(&parts.headers, &query)?;
    let headers = &parts.headers;
    match (&parts.method, name, target.part) {
        (&Method::POST, Some(_), Part::Binding) => {
            let options = WriteOptions::of(headers, &query)?;
            binding::create(api, &target, &options, &body::read(headers, body, body::OBJECT).await?).await
        }
        (&Method::POST, Some(_), Part::Eviction) => {
            let options = WriteOptions::of(headers, &query)?;
            eviction::create(api, &target, &options, &body::read(headers, body, body::OBJECT).await?).await
        }
        (_, _, Part::Binding | Part::Eviction) => Err(Status::method_not_allowed()),
        (&Method::GET, None, _) => {
            // The verb is determined and authorised before the options are parsed.
            let is_watch = target.watch || Options::is_watch(&query);
            allow(if is_watch { "watch" } else { "list" })?;
            if is_watch && resource.read_only {
                return Err(Status::not_watchable(resource));
            }
            let options = Options::parse(&query, resource.selectable)?;
            if is_watch {
                return watch::watch(api, &target, options, form, parts).await;
            }
            list::list(api, resource, namespace, options, form).await
        }
        // The subresource `finalize` allows only PUT.
        (method, Some(_), Part::Finalize) if method != Method::PUT => Err(Status::method_not_allowed()),
        (&Method::GET, Some(name), part) => {
            allow("get")?;
            if part == Part::Scale {
                return scale::get(api, &target).await;
            }
            list::get(api, resource, namespace.unwrap_or_default(), name, form).await
        }
        (&Method::POST, None, _) => {
            let options = WriteOptions::of(headers, &query)?;
            let scope = RequestScope { api, target: &target, options: &options, form };
            write::create(scope, &body::read(headers, body, body::OBJECT).await?).await
        }
        (&Method::PUT, Some(_), part) => {
            let options = WriteOptions::of(headers, &query)?;
            let scope = RequestScope { api, target: &target, options: &options, form };
            let new = body::read(headers, body, body::OBJECT).await?;
            if part == Part::Scale {
                return scale::replace(scope, &new).await;
            }
            write::replace(scope, &new).await
        }
        (&Method::PATCH, Some(_), part) => {
            let options = WriteOptions::of(headers, &query)?;
            let scope = RequestScope { api, target: &target, options: &options, form };
            let patch = Patch::read(resource, headers, body).await?;
            if part == Part::Scale {
                return scale::patch(scope, &patch).await;
            }
            write::patch(scope, patch).await
        }
        (&Method::DELETE, Some(name), Part::Whole) => {
            let deletion = Deletion::read(headers, &query, body).await?;
            delete::one(api, resource, namespace.unwrap_or_default(), name, &deletion).await
        }
        (&Method::DELETE, None, _) => {
            let deletion = Deletion::read(headers, &query, body).await?;
            let options = Options::parse(&query, resource.selectable)?;
            delete::collection(api, resource, namespace, options, &deletion).await
        }
        _ => Err(Status::method_not_allowed()),
    }
}

/// Whether the client asks for aggregated discovery.
fn wants_aggregated(headers: &HeaderMap) -> bool {
    let accept = headers.get(header::ACCEPT).and_then(|accept| accept.to_str().ok()).unwrap_or_default();
    accept
        .split(',')
        .map(str::trim)
        .any(|one| one.contains("as=APIGroupDiscoveryList") && one.contains("v=v2") && !one.contains("v=v2beta"))
}

/// Refuses requests that a page from another host could have caused: DNS rebinding shows in Host, other attacks in
/// Origin.
fn check_local(parts: &Parts) -> Result<(), Status> {
    let host = host(&parts.headers, &parts.uri);
    if !is_loopback(host) {
        return Err(Status::not_local("Host", host));
    }
    let Some(origin) = parts.headers.get(header::ORIGIN) else { return Ok(()) };
    let origin = String::from_utf8_lossy(origin.as_bytes());
    let authority = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
    // An opaque origin on an upgrade is refused later, with the answer of the real server.
    if authority.is_some_and(is_loopback) || (*origin == *"null" && websocket::is_upgrade(&parts.headers)) {
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

#[cfg(test)]
mod tests {
    use super::*;

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
