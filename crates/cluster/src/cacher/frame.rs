//! One frame of a watch: what is sent, and what the rest of the server wants to know of it.

use std::sync::Arc;

use axum::extract::ws::Utf8Bytes;

use crate::resources::object::Object;
use crate::status::Status;

/// One event as it is sent: a message over WebSocket, a line over HTTP.
#[derive(Debug, Clone, PartialEq)]
pub struct Frame {
    /// `ADDED`, `MODIFIED`, `DELETED`, `BOOKMARK` or `ERROR`.
    pub event_type: &'static str,
    /// The object's key and uid; a bookmark and an error have none.
    pub about: Option<(Arc<str>, Arc<str>)>,
    /// The object's or the bookmark's resourceVersion; 0 for an error.
    pub revision: u64,
    /// Whether it is the bookmark that ends the initial events.
    pub ends_initial_events: bool,
    /// `{"type":…,"object":…}` and a newline, shared by the watches that send the same.
    pub text: Utf8Bytes,
}

impl Frame {
    /// An event about an object, whose JSON in the watch's form is `json`.
    pub fn event(event_type: &'static str, object: &Object, json: &str) -> Self {
        Self::shared(event_type, object, text(event_type, json))
    }

    /// The same, written down already.
    pub fn shared(event_type: &'static str, object: &Object, text: Utf8Bytes) -> Self {
        let about = Some((Arc::clone(&object.key), Arc::clone(&object.uid)));
        Self { event_type, about, revision: object.revision, ends_initial_events: false, text }
    }

    /// A bookmark, whose object's JSON is `json`.
    pub fn bookmark(revision: u64, ends_initial_events: bool, json: &str) -> Self {
        let text = text("BOOKMARK", json);
        Self { event_type: "BOOKMARK", about: None, revision, ends_initial_events, text }
    }

    /// An error.
    pub fn error(status: &Status) -> Self {
        let text = text("ERROR", &status.to_json());
        Self { event_type: "ERROR", about: None, revision: 0, ends_initial_events: false, text }
    }
}

/// An event as it is sent, of its type and its object's JSON.
pub fn text(event_type: &str, object: &str) -> Utf8Bytes {
    ["{\"type\":\"", event_type, "\",\"object\":", object, "}\n"].concat().into()
}
