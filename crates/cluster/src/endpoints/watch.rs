//! WATCH over a connection: newline-delimited JSON in chunked HTTP, or one text message per event over WebSocket.

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
use crate::endpoints::connection::{PendingWatch, WatchConnection};
use crate::printers::form::Form;
use crate::printers::response::json_response;
use crate::request::options::Options;
use crate::request::target::Target;
use crate::request::websocket;
use crate::resources::selector::Filter;
use crate::status::Status;

/// The largest message that is accepted from a client, more than the real server accepts; messages are discarded.
const LARGEST_MESSAGE: usize = 32 << 20;
/// How long a closed WebSocket waits for the close frame of the client.
const CLOSE_WAIT: Duration = Duration::from_secs(2);

/// Handles a WATCH.
pub async fn watch(
    api: &Api,
    target: &Target,
    options: Options,
    form: Form,
    parts: &mut Parts,
) -> Result<Response, Status> {
    let resource = &target.resource;
    let faults = api.faults.met_by(&parts.extensions);
    let pending = PendingWatch::of(&api.registry, &api.ledger, parts, &faults);
    let unset = matches!(options.version.as_str(), "" | "0");
    let watch_list = faults.has_watch_list(pending.about(), options.initial_events.is_some() || unset);
    options.validate_watch(watch_list)?;
    let revision = options.revision()?;
    let upgrade = websocket::is_upgrade(&parts.headers);
    if upgrade && !websocket::has_origin(&parts.headers) {
        // The real server's x/net/websocket requires an Origin, and refuses without a message.
        return Ok(StatusCode::FORBIDDEN.into_response());
    }
    let cacher = api.store.cacher(resource);
    cacher.ready().await.map_err(|error| Status::not_ready(resource, error.downtime))?;
    // Without a resourceVersion, a watch with bookmarks is a streaming list by default, and its state must be as fresh
    // as that of a list.
    let streams = options.initial_events.unwrap_or(watch_list && unset && options.bookmarks);
    let revision = if streams && options.version.is_empty() { api.store.current().await? } else { revision };
    let start = match options.initial_events {
        // The cluster's own watches have no deadline, and would wait forever for a revision that a restarted storage
        // may never reach.
        None if pending.is_internal() && revision > api.store.revision() => {
            Start::Failed(Status::too_old(revision, cacher.oldest()))
        }
        None if unset && (!streams || cacher.wait_until_fresh(revision).await) => {
            Start::State { end_bookmark: watch_list }
        }
        None if unset => Start::Failed(Status::too_large(revision, cacher.revision())),
        None => Start::After(revision),
        // The answer begins only when the cache is fresh, so the headers, and with them the client's `open`, come
        // later.
        Some(true) if cacher.wait_until_fresh(revision).await => Start::State { end_bookmark: true },
        Some(true) => Start::Failed(Status::too_large(revision, cacher.revision())),
        Some(false) if unset => Start::Now,
        Some(false) => Start::After(revision),
    };
    let timeout = match options.timeout_seconds {
        Some(seconds) => Duration::from_secs(seconds.min(86_400)),
        None => api.random_timeout(),
    };
    let filter = Filter { namespace: target.namespace.clone(), labels: options.labels, fields: options.fields };
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
        return Ok(over_http(pending.open(watcher()).await));
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
        .on_upgrade(async move |socket| over_websocket(pending.open(watcher).await, socket).await))
}

fn over_http(watcher: WatchConnection) -> Response {
    // Frames that are ready together are flushed together without being copied: the connection writes until there are
    // none.
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
                // An error ends the connection without the last chunk, so the client sees that it broke off.
                Step::Cut => return Some((Err(std::io::Error::from(std::io::ErrorKind::ConnectionAborted)), None)),
            }
        }
    });
    json_response(Body::from_stream(stream))
}

async fn over_websocket(mut watcher: WatchConnection, socket: WebSocket) {
    let (mut sink, mut incoming) = socket.split();
    loop {
        let step = tokio::select! {
            step = watcher.next() => step,
            message = incoming.next() => match message {
                Some(Ok(Message::Close(_))) => {
                    // The answering close frame is queued, and is sent with the next flush.
                    let _ = tokio::time::timeout(CLOSE_WAIT, sink.close()).await;
                    return;
                }
                Some(Err(_)) | None => return,
                // Pings are answered by the library; any other message is discarded.
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
    // If the connection ended before the client has answered, a reset could discard the close frame.
    let _ = tokio::time::timeout(CLOSE_WAIT, goodbye).await;
}
