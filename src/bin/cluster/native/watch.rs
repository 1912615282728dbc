//! WATCH on the wire: newline-delimited JSON over chunked HTTP, or one text message per event over WebSocket.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::FromRequestParts;
use axum::extract::ws::{CloseFrame, Message, WebSocket, WebSocketUpgrade};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures::{SinkExt, StreamExt};

use super::form::Form;
use super::list::{json_response, wait_until};
use super::options::Options;
use super::resource::Resource;
use super::selector::Filter;
use super::server::App;
use super::status::Status;
use super::watcher::{Start, Step, WatchRequest, Watcher};

/// More than the real server reads from a client; what is read is thrown away.
const LARGEST_MESSAGE: usize = 32 << 20;
/// How long a closed WebSocket waits for the client's own close.
const CLOSE_WAIT: Duration = Duration::from_secs(2);

/// Answers a WATCH.
pub async fn watch(
    app: &App,
    resource: &Arc<Resource>,
    namespace: Option<&str>,
    options: Options,
    form: Form,
    parts: &mut Parts,
) -> Result<Response, Status> {
    options.validate_watch()?;
    let revision = options.revision()?;
    let upgrade = is_upgrade(&parts.headers);
    if upgrade && !has_origin(&parts.headers) {
        // x/net/websocket wants an Origin, and says nothing when it is missing.
        return Ok(StatusCode::FORBIDDEN.into_response());
    }
    let unset = matches!(options.version.as_str(), "" | "0");
    let start = match options.initial_events {
        // Without a version, a watch that asks for bookmarks is a streaming list by default.
        None if unset => Start::State { end_bookmark: true },
        None => Start::After(revision),
        // Ready only when fresh: the headers, and so the client's `open`, lag behind.
        Some(true) => match wait_until(&app.storage, revision).await {
            Ok(()) => Start::State { end_bookmark: true },
            Err(status) => Start::Failed(status),
        },
        Some(false) if unset => Start::Now,
        Some(false) => Start::After(revision),
    };
    let timeout = match options.timeout_seconds {
        Some(seconds) => Duration::from_secs(seconds.min(86_400)),
        None => app.random_timeout(),
    };
    let filter = Filter { namespace: namespace.map(str::to_owned), labels: options.labels, fields: options.fields };
    let request = WatchRequest {
        resource: Arc::clone(resource),
        form,
        filter,
        start,
        bookmarks: options.bookmarks,
        timeout,
        bookmark_every: app.bookmark_every,
    };
    let watcher = || Watcher::new(Arc::clone(&app.storage), Arc::clone(&app.faults), request);
    if !upgrade {
        return Ok(over_http(watcher()));
    }
    let protocols = offered_protocols(&parts.headers)?;
    let upgrade = match WebSocketUpgrade::from_request_parts(parts, &()).await {
        Ok(upgrade) => upgrade,
        Err(rejection) => return Ok(rejection.into_response()),
    };
    let watcher = watcher();
    Ok(upgrade
        .protocols(protocols)
        .max_message_size(LARGEST_MESSAGE)
        .max_frame_size(LARGEST_MESSAGE)
        .on_upgrade(move |socket| over_websocket(watcher, socket)))
}

/// Whether the client asks for a WebSocket.
pub fn is_upgrade(headers: &HeaderMap) -> bool {
    headers.get(header::UPGRADE).is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(b"websocket"))
}

fn has_origin(headers: &HeaderMap) -> bool {
    headers.get(header::ORIGIN).is_some_and(|origin| !origin.is_empty() && origin != "null")
}

/// One subprotocol is echoed, whatever its name; two are one too many, the bearer token not counted.
fn offered_protocols(headers: &HeaderMap) -> Result<Vec<String>, Status> {
    let offers = headers.get_all(header::SEC_WEBSOCKET_PROTOCOL).iter().filter_map(|value| value.to_str().ok());
    let offers = offers.flat_map(|value| value.split(',')).map(|name| name.trim().to_owned());
    let names: Vec<String> =
        offers.filter(|name| !name.starts_with("base64url.bearer.authorization.k8s.io.")).collect();
    if names.len() > 1 { Err(Status::bad_request("more than one subprotocol is offered")) } else { Ok(names) }
}

fn over_http(watcher: Watcher) -> Response {
    let stream = futures::stream::unfold(Some(watcher), |watcher| async {
        let mut watcher = watcher?;
        match watcher.next().await {
            Step::Frames(frames) => Some((Ok(Bytes::from(frames.concat())), Some(watcher))),
            Step::End => None,
            // An error ends the connection without the last chunk, so the client sees it torn.
            Step::Cut => Some((Err(std::io::Error::from(std::io::ErrorKind::ConnectionAborted)), None)),
        }
    });
    json_response(Body::from_stream(stream))
}

async fn over_websocket(mut watcher: Watcher, socket: WebSocket) {
    let (mut sink, mut incoming) = socket.split();
    loop {
        let step = tokio::select! {
            step = watcher.next() => step,
            message = incoming.next() => match message {
                Some(Ok(Message::Close(_)) | Err(_)) | None => return,
                // Pings are answered below this level; everything else is discarded.
                Some(Ok(_)) => continue,
            },
        };
        match step {
            Step::Frames(frames) => {
                let mut messages =
                    futures::stream::iter(frames.into_iter().map(|frame| Ok(Message::Text(frame.into()))));
                let cut = watcher.cut();
                tokio::select! {
                    sent = sink.send_all(&mut messages) => if sent.is_err() { return },
                    () = cut => return,
                }
            }
            Step::Cut => return,
            Step::End => break,
        }
    }
    let close = CloseFrame { code: 1000, reason: "".into() };
    let goodbye = async {
        if sink.send(Message::Close(Some(close))).await.is_ok() {
            while let Some(Ok(_)) = incoming.next().await {}
        }
    };
    // Leaving before the client has answered could reset the connection and lose the close frame.
    let _ = tokio::time::timeout(CLOSE_WAIT, goodbye).await;
}
