//! Where the API's answers come from: the demo cluster in this process, or `kubectl proxy` at a Unix socket. Both are asked
//! only what the guard has let through.

use std::path::PathBuf;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use hyper::client::conn::http1;
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use tokio::io::copy_bidirectional;
use tokio::net::UnixStream;
use tower_service::Service;

/// An API server, or what stands before it.
#[derive(Debug)]
pub enum Upstream {
    /// The demo cluster in this process.
    Demo(Router),
    /// The socket of a `kubectl proxy`.
    Kubectl(PathBuf),
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum UpstreamError {
    /// Nothing listens at the socket.
    #[error("kubectl proxy cannot be reached")]
    Connect(#[source] std::io::Error),
    /// The connection broke before there was an answer.
    #[error("kubectl proxy does not answer")]
    Ask(#[source] hyper::Error),
    /// The path is no path of a request.
    #[error("the request cannot be passed on")]
    Request(#[source] axum::http::Error),
}

/// The headers of a request that are passed on. Not `Authorization`, `Impersonate-User` and their like, with which a request
/// would be somebody else's, and no cookies. With `Sec-WebSocket-Protocol` a socket could bring a token of its own; the page
/// sends none.
const PASSED_ON: [HeaderName; 5] =
    [header::ACCEPT, header::ACCEPT_ENCODING, header::CACHE_CONTROL, header::ORIGIN, header::USER_AGENT];

/// The same for a request for a WebSocket.
const OF_SOCKETS: [HeaderName; 3] =
    [header::SEC_WEBSOCKET_KEY, header::SEC_WEBSOCKET_VERSION, header::SEC_WEBSOCKET_EXTENSIONS];

/// The headers of an answer that are not passed on: those of one connection, and those that speak to a browser for this
/// origin.
const KEPT: [HeaderName; 7] = [
    header::CONNECTION,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
    header::SET_COOKIE,
    header::ACCESS_CONTROL_ALLOW_ORIGIN,
    header::ACCESS_CONTROL_ALLOW_CREDENTIALS,
    header::LOCATION,
];

impl Upstream {
    /// Passes a request on with this path and query of the API, without its body, and returns the answer, whose body may go
    /// on for as long as a watch does. A WebSocket is joined to the server's.
    ///
    /// # Errors
    /// When `kubectl proxy` gives no answer.
    pub async fn pass(&self, mut parts: Parts, path: &str) -> Result<Response, UpstreamError> {
        let target = Uri::try_from(path).map_err(|error| UpstreamError::Request(error.into()))?;
        let client = parts.extensions.remove::<OnUpgrade>().filter(|_| is_websocket(&parts.headers));
        let mut request = Request::new(Body::empty());
        *request.method_mut() = parts.method;
        *request.uri_mut() = target;
        *request.headers_mut() = passed_on(&parts.headers, client.is_some());
        let mut answer = match self {
            Self::Demo(router) => {
                if let Some(client) = client {
                    request.extensions_mut().insert(client);
                }
                // A router does not fail, and is always ready.
                match router.clone().call(request).await {
                    Ok(answer) => return Ok(without(answer, &[header::SET_COOKIE])),
                    Err(never) => match never {},
                }
            }
            Self::Kubectl(socket) => {
                let stream = UnixStream::connect(socket).await.map_err(UpstreamError::Connect)?;
                let (mut sender, connection) =
                    http1::handshake(TokioIo::new(stream)).await.map_err(UpstreamError::Ask)?;
                // It ends with the answer's body, or with the body's reader.
                tokio::spawn(connection.with_upgrades());
                sender.send_request(request).await.map_err(UpstreamError::Ask)?
            }
        };
        if answer.status() != StatusCode::SWITCHING_PROTOCOLS {
            return Ok(without(answer.map(Body::new), &KEPT));
        }
        let Some(client) = client else {
            return Ok((StatusCode::BAD_GATEWAY, "a socket that nobody asked for\n").into_response());
        };
        let server = hyper::upgrade::on(&mut answer);
        tokio::spawn(async move {
            let (Ok(client), Ok(server)) = tokio::join!(client, server) else { return };
            // Either side may end without a word.
            let _ = copy_bidirectional(&mut TokioIo::new(client), &mut TokioIo::new(server)).await;
        });
        Ok(answer.map(|_| Body::empty()))
    }
}

fn is_websocket(headers: &HeaderMap) -> bool {
    headers.get(header::UPGRADE).is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(b"websocket"))
}

fn passed_on(headers: &HeaderMap, is_socket: bool) -> HeaderMap {
    let names = PASSED_ON.iter().chain(OF_SOCKETS.iter().filter(|_| is_socket));
    let mut passed: HeaderMap = names.filter_map(|name| Some((name.clone(), headers.get(name)?.clone()))).collect();
    // The name by which kubectl proxy and the demo cluster know themselves.
    passed.insert(header::HOST, HeaderValue::from_static("localhost"));
    if is_socket {
        passed.insert(header::CONNECTION, HeaderValue::from_static("upgrade"));
        passed.insert(header::UPGRADE, HeaderValue::from_static("websocket"));
    }
    passed
}

fn without(mut answer: Response, names: &[HeaderName]) -> Response {
    for name in names {
        answer.headers_mut().remove(name);
    }
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_brings_no_credentials_of_its_own() {
        let given = [
            ("accept", "application/json"),
            ("authorization", "Bearer x"),
            ("cookie", "a=b"),
            ("impersonate-user", "admin"),
            ("impersonate-group", "system:masters"),
            ("x-remote-user", "admin"),
            ("host", "127.0.0.1:8010"),
            ("origin", "http://127.0.0.1:8010"),
            ("connection", "upgrade, authorization"),
            ("upgrade", "WebSocket"),
            ("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="),
            ("sec-websocket-version", "13"),
            ("sec-websocket-protocol", "base64url.bearer.authorization.k8s.io.eA"),
            ("content-length", "3"),
        ];
        let headers = given.map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)));
        let headers = HeaderMap::from_iter(headers);
        assert!(is_websocket(&headers));
        let names = |is_socket| {
            let passed = passed_on(&headers, is_socket);
            let mut names: Vec<String> = passed.keys().map(ToString::to_string).collect();
            names.sort();
            names.join(" ")
        };
        assert_eq!(names(false), "accept host origin");
        assert_eq!(names(true), "accept connection host origin sec-websocket-key sec-websocket-version upgrade");
        assert_eq!(passed_on(&headers, false)[header::HOST], "localhost");
    }
}
