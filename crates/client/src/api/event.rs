//! One text frame of a watch: its type, and the text of its object, which is not read here.

use std::borrow::Cow;

use serde::de::Error as _;

use crate::api::object::{DecodeError, map};
use crate::json::{self, Text};

/// The types of events that a server sends. In the queue an event has a [`crate::cache::delta::DeltaType`] instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EventType<'a> {
    /// The object is new, or the selector covers it now.
    Added,
    /// The object has a newer version.
    Modified,
    /// The object is gone; this is its last state, with the version of the deletion.
    Deleted,
    /// Everything up to this resourceVersion has been sent.
    Bookmark,
    /// The watch is over, for the reason in this `Status`.
    Error,
    /// A type that is not known here.
    Unknown(Cow<'a, str>),
}

/// A frame cut in two, without a copy.
#[derive(Debug)]
pub struct Frame<'a> {
    /// What happened.
    pub event_type: EventType<'a>,
    /// The JSON text of `object`. Whether it is valid JSON shows when it is read.
    pub object: &'a str,
}

/// The beginnings that API servers write. A frame that has one and ends in `}` needs no search for the object's
/// end: whatever is wrong inside shows when the object is read, which must use up the whole text.
const BEGINNINGS: [(&str, EventType<'static>); 5] = [
    ("{\"type\":\"MODIFIED\",\"object\":", EventType::Modified),
    ("{\"type\":\"ADDED\",\"object\":", EventType::Added),
    ("{\"type\":\"DELETED\",\"object\":", EventType::Deleted),
    ("{\"type\":\"BOOKMARK\",\"object\":", EventType::Bookmark),
    ("{\"type\":\"ERROR\",\"object\":", EventType::Error),
];

/// Cuts a frame into type and object.
///
/// # Errors
///
/// When the text is no JSON object with a `type` and an `object`. Trailing white space is allowed: frames end
/// in a newline.
pub fn split(text: &str) -> Result<Frame<'_>, DecodeError> {
    for (beginning, event_type) in BEGINNINGS {
        if let Some(object) = text.strip_prefix(beginning).and_then(|rest| rest.trim_ascii_end().strip_suffix('}')) {
            return Ok(Frame { event_type, object });
        }
    }
    let [event_type, object, ..] = json::pick(text, &["type", "object"])?;
    let event_type = Text::required(event_type, "type")?;
    if object.is_empty() {
        return Err(DecodeError::Json(serde_json::Error::missing_field("object")));
    }
    let event_type = match &*event_type {
        "ADDED" => EventType::Added,
        "MODIFIED" => EventType::Modified,
        "DELETED" => EventType::Deleted,
        "BOOKMARK" => EventType::Bookmark,
        "ERROR" => EventType::Error,
        _ => EventType::Unknown(event_type.0),
    };
    Ok(Frame { event_type, object })
}

/// What a bookmark says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bookmark<'a> {
    /// Everything up to this version has been sent.
    pub resource_version: Cow<'a, str>,
    /// The initial events of a streaming list are complete: the annotation `k8s.io/initial-events-end` is `true`.
    pub initial_events_end: bool,
}

/// Reads a bookmark's object.
///
/// # Errors
///
/// When there is no metadata to read.
pub fn bookmark(object: &str) -> Result<Bookmark<'_>, DecodeError> {
    let paths = ["metadata", "metadata resourceVersion", "metadata annotations k8s.io/initial-events-end"];
    let [metadata, version, initial_events_end, ..] = json::pick(object, &paths)?;
    map(metadata)?;
    Ok(Bookmark {
        resource_version: Text::read(version)?.0,
        initial_events_end: &*Text::read(initial_events_end)? == "true",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_orders_of_the_members_are_read() {
        for text in [
            "{\"type\":\"ADDED\",\"object\":{\"a\":1}}\n",
            "{\"object\":{\"a\":1},\"type\":\"ADDED\"}",
            " { \"type\" : \"ADDED\", \"object\" : {\"a\":1} } ",
        ] {
            let frame = split(text).unwrap();
            assert_eq!((frame.event_type, frame.object), (EventType::Added, "{\"a\":1}"), "{text}");
        }
    }

    #[test]
    fn two_frames_in_one_and_doubled_members_do_not_pass_as_one_object() {
        for text in [
            "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"a\"}}}{\"type\":\"ADDED\",\"object\":{}}",
            "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"a\"}},\"object\":{}}",
        ] {
            let frame = split(text).unwrap();
            assert!(crate::api::object::decode_metadata(frame.object).is_err(), "{text}");
        }
    }

    #[test]
    fn a_bookmark_ends_the_initial_events_only_if_it_says_true() {
        let read = |annotations: &str| {
            bookmark(&format!(
                "{{\"kind\":\"Pod\",\"metadata\":{{\"resourceVersion\":\"7\",\"annotations\":{annotations}}}}}"
            ))
            .map(|bookmark| bookmark.initial_events_end)
            .unwrap()
        };
        assert!(read("{\"k8s.io/initial-events-end\":\"true\"}"));
        assert!(!read("{\"k8s.io/initial-events-end\":\"false\"}"));
        assert!(!read("null") && !read("{}"));
        assert!(bookmark("{\"kind\":\"Pod\"}").is_err());
    }

    #[test]
    fn what_is_no_frame_is_an_error() {
        for text in
            ["", "{}", "null", "[]", "{\"type\":\"ADDED\"}", "{\"type\":7,\"object\":{}}", "<html>", "[\"ADDED\",{}]"]
        {
            assert!(split(text).is_err(), "{text}");
        }
    }
}
