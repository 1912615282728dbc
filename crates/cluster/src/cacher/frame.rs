//! One frame of a watch: the text that is sent, and what the rest of the server needs to know about it.

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
    /// Whether this is the bookmark that ends the initial events.
    pub ends_initial_events: bool,
    /// `{"type":…,"object":…}` and a newline. Watches that send the same text share it.
    pub text: Utf8Bytes,
}

impl Frame {
    /// An event about an object; `json` is the object in the form that the watch asked for.
    pub fn event(event_type: &'static str, object: &Object, json: &str) -> Self {
        Self::shared(event_type, object, text(event_type, json))
    }

    /// An event whose text is made already.
    pub fn shared(event_type: &'static str, object: &Object, text: Utf8Bytes) -> Self {
        let about = Some((Arc::clone(&object.key), Arc::clone(&object.uid)));
        Self { event_type, about, revision: object.revision, ends_initial_events: false, text }
    }

    /// A bookmark; `json` is the object that it carries.
    pub fn bookmark(revision: u64, ends_initial_events: bool, json: &str) -> Self {
        let text = text("BOOKMARK", json);
        Self { event_type: "BOOKMARK", about: None, revision, ends_initial_events, text }
    }

    pub fn error(status: &Status) -> Self {
        let text = text("ERROR", &status.to_json());
        Self { event_type: "ERROR", about: None, revision: 0, ends_initial_events: false, text }
    }
}

/// The text of an event, made from its type and the JSON of its object.
pub fn text(event_type: &str, object: &str) -> Utf8Bytes {
    ["{\"type\":\"", event_type, "\",\"object\":", object, "}\n"].concat().into()
}
