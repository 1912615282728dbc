//! WATCH on the wire: newline-delimited JSON over chunked HTTP, or one text message per event over WebSocket.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::FromRequestParts;
use axum::extract::ws::{CloseFrame, Message, WebSocket, WebSocketUpgrade};
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use futures::{SinkExt, StreamExt};

use crate::api::Api;
use crate::cacher::frame::Frame;
use crate::cacher::watcher::{Start, Step, WatchRequest, Watcher};
use crate::endpoints::wire::{Line, Wire};
use crate::printers::form::Form;
use crate::printers::response::json_response;
use crate::request::options::Options;
use crate::request::websocket;
use crate::resources::resource::Resource;
use crate::resources::selector::Filter;
use crate::status::Status;

/// More than the real server reads from a client; what is read is thrown away.
const LARGEST_MESSAGE: usize = 32 << 20;
/// How long a closed WebSocket waits for the client's own close.
const CLOSE_WAIT: Duration = Duration::from_secs(2);

/// Answers a WATCH.
pub async fn watch(
    api: &Api,
    resource: &Arc<Resource>,
    namespace: Option<&str>,
    options: Options,
    form: Form,
    parts: &mut Parts,
) -> Result<Response, Status> {
    let faults = api.faults.met_by(&parts.extensions);
    let line = Line::of(&api.registry, &api.ledger, parts, &faults);
    let unset = matches!(options.version.as_str(), "" | "0");
    let watch_list = faults.has_watch_list(line.about(), options.initial_events.is_some() || unset);
    options.validate_watch(watch_list)?;
    let revision = options.revision()?;
    let upgrade = websocket::is_upgrade(&parts.headers);
    if upgrade && !websocket::has_origin(&parts.headers) {
        // x/net/websocket wants an Origin, and says nothing when it is missing.
        return Ok(StatusCode::FORBIDDEN.into_response());
    }
    let cacher = api.store.cacher(resource);
    cacher.ready().await.map_err(|error| Status::not_ready(resource, error.downtime))?;
    // Without a version, a watch that asks for bookmarks is a streaming list by default; and one is as new as a list.
    let streams = options.initial_events.unwrap_or(watch_list && unset && options.bookmarks);
    let revision = if streams && options.version.is_empty() { api.store.current().await? } else { revision };
    let start = match options.initial_events {
        // The cluster's own would wait for ever when the storage has begun anew: they have no deadline of their own.
        None if line.is_insider() && revision > api.store.revision() => {
            Start::Failed(Status::too_old(revision, cacher.oldest()))
        }
        None if unset && (!streams || cacher.wait_until_fresh(revision).await) => {
            Start::State { end_bookmark: watch_list }
        }
        None if unset => Start::Failed(Status::too_large(revision, cacher.revision())),
        None => Start::After(revision),
        // Ready only when fresh: the headers, and so the client's `open`, lag behind.
        Some(true) if cacher.wait_until_fresh(revision).await => Start::State { end_bookmark: true },
        Some(true) => Start::Failed(Status::too_large(revision, cacher.revision())),
        Some(false) if unset => Start::Now,
        Some(false) => Start::After(revision),
    };
    let timeout = match options.timeout_seconds {
        Some(seconds) => Duration::from_secs(seconds.min(86_400)),
        None => api.random_timeout(),
    };
    let filter = Filter { namespace: namespace.map(str::to_owned), labels: options.labels, fields: options.fields };
    let request = WatchRequest {
        resource: Arc::clone(resource),
        form,
        filter,
        start,
        bookmarks: options.bookmarks,
        timeout,
        bookmark_every: api.bookmark_every,
    };
    let watcher = || Watcher::new(Arc::clone(&cacher), Arc::clone(faults.switches()), request);
    if !upgrade {
        return Ok(over_http(line.open(watcher()).await));
    }
    let protocols = websocket::offered_protocols(&parts.headers)?;
    let upgrade = match WebSocketUpgrade::from_request_parts(parts, &()).await {
        Ok(upgrade) => upgrade,
        Err(rejection) => return Ok(rejection.into_response()),
    };
    let watcher = watcher();
    Ok(upgrade
        .protocols(protocols)
        .max_message_size(LARGEST_MESSAGE)
        .max_frame_size(LARGEST_MESSAGE)
        .on_upgrade(async move |socket| over_websocket(line.open(watcher).await, socket).await))
}

fn over_http(watcher: Wire) -> Response {
    // What waits is flushed together, without being copied together: the connection writes until there is nothing.
    let start = Some((watcher, Vec::<Frame>::new().into_iter()));
    let stream = futures::stream::unfold(start, |state| async {
        let (mut watcher, mut waiting) = state?;
        loop {
            if let Some(frame) = waiting.next() {
                return Some((Ok(Bytes::from(frame.text)), Some((watcher, waiting))));
            }
            match watcher.next().await {
                Step::Frames(frames) => waiting = frames.into_iter(),
                Step::End => return None,
                // An error ends the connection without the last chunk, so the client sees it torn.
                Step::Cut => return Some((Err(std::io::Error::from(std::io::ErrorKind::ConnectionAborted)), None)),
            }
        }
    });
    json_response(Body::from_stream(stream))
}

async fn over_websocket(mut watcher: Wire, socket: WebSocket) {
    let (mut sink, mut incoming) = socket.split();
    loop {
        let step = tokio::select! {
            step = watcher.next() => step,
            message = incoming.next() => match message {
                Some(Ok(Message::Close(_))) => {
                    // The answer to it is ready, and goes out with what is flushed.
                    let _ = tokio::time::timeout(CLOSE_WAIT, sink.close()).await;
                    return;
                }
                Some(Err(_)) | None => return,
                // Pings are answered below this level; everything else is discarded.
                Some(Ok(_)) => continue,
            },
        };
        match step {
            Step::Frames(frames) => {
                let mut messages = futures::stream::iter(frames.into_iter().map(|frame| Ok(Message::Text(frame.text))));
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
