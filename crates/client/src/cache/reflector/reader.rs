//! Reads the frames of a watch and the items of a list.

use crate::api::event::{self, EventType};
use crate::api::extra::Keep;
use crate::api::list::{LONGEST_ITEM, ListItem};
use crate::api::object::{Decode, DecodeError, Object, ObjectKey, ResourceVersion, decode_or_flag, key_of};
use crate::api::status::Failure;
use crate::cache::delta::DeltaType;
use crate::cache::reflector::kind;
use crate::cache::reflector::options::Options;

/// A frame that was read.
pub(super) enum Frame<'a> {
    /// ADDED, MODIFIED or DELETED.
    Event(FrameEvent<'a>),
    Bookmark(Bookmark),
    /// An ERROR event.
    Error(Failure),
}

/// An event of an object.
pub(super) struct FrameEvent<'a> {
    pub(super) delta_type: DeltaType,
    pub(super) object: Object,
    /// The text that the object was read from.
    pub(super) text: &'a str,
}

/// A bookmark.
pub(super) struct Bookmark {
    pub(super) version: ResourceVersion,
    /// True if it ends a streaming list.
    pub(super) ends_list: bool,
}

/// A frame that could not be read.
pub(super) enum BadFrame {
    /// It has at least this many bytes.
    TooLong(usize),
    /// It is wrong for this reason.
    Malformed(String),
}

/// Reads objects of one kind.
#[derive(Clone, Debug)]
pub(super) struct ObjectReader {
    decode: Decode,
    keep: Keep,
    kind: Option<&'static str>,
}

/// An item that could not be read.
pub(super) struct UnreadItem {
    /// Its key, where that can be read.
    pub(super) key: Option<ObjectKey>,
    /// What is wrong with it.
    pub(super) words: String,
}

impl ObjectReader {
    pub(super) fn new(decode: Decode, options: &Options) -> ObjectReader {
        ObjectReader { decode, keep: options.keep, kind: options.kind }
    }

    /// Reads a frame.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub(super) fn frame<'a>(&self, text: &'a str) -> Result<Frame<'a>, BadFrame> {
        let frame = event::split(text).map_err(|error| BadFrame::Malformed(error.to_string()))?;
        let delta_type = match frame.event_type {
            EventType::Added => DeltaType::Added,
            EventType::Modified => DeltaType::Updated,
            EventType::Deleted => DeltaType::Deleted,
            EventType::Bookmark => {
                let bookmark = event::bookmark(frame.object);
                let bookmark = bookmark.map_err(|error| BadFrame::Malformed(format!("a bookmark: {error}")))?;
                let version = ResourceVersion::new(&bookmark.resource_version);
                return Ok(Frame::Bookmark(Bookmark { version, ends_list: bookmark.initial_events_end }));
            }
            EventType::Error => return Ok(Frame::Error(Failure::from_error_event(frame.object))),
            // client-go logs such an event and takes its version as seen, so that what the event said stays unknown
            // until the next list. Servers add types only on request; so a proxy has changed this one, or a newer
            // server sends it unasked, and it may have been a change of an object.
            EventType::Unknown(word) => {
                return Err(BadFrame::Malformed(format!("an event of the unknown type {word:?}")));
            }
        };
        let object = self.object(frame.object).map_err(BadFrame::Malformed)?;
        Ok(Frame::Event(FrameEvent { delta_type, object, text: frame.object }))
    }

    /// Reads the object of an event.
    ///
    /// client-go logs an object of another type, leaves it out and keeps the version; the next event then takes the
    /// version past it. But a proxy that turns objects into Tables or bare metadata does so with changes, too, and
    /// these would be lost. A list after a wait loses none, and follows any frame that cannot be read.
    fn object(&self, text: &str) -> Result<Object, String> {
        self.kind.map_or(Ok(()), |expected| kind::check(expected, text))?;
        self.read(text)
    }

    /// Reads an item of a list, and returns it with its text.
    pub(super) fn item<'a>(&self, item: ListItem<'a>) -> Result<(Object, &'a str), UnreadItem> {
        match item {
            ListItem::Text(text) => {
                let named = self.kind.map_or(Ok(()), |expected| kind::check_item(expected, text));
                let object = named.and_then(|()| self.read(text));
                object.map(|object| (object, text)).map_err(|words| UnreadItem { key: key_of(text), words })
            }
            // The bytes that are no UTF-8 may be anywhere, and are mostly not in the name. No name has the character
            // that stands for them.
            ListItem::NotText(bytes) => {
                let text = String::from_utf8_lossy(bytes);
                let is_whole = |key: &ObjectKey| !key.to_string().contains(char::REPLACEMENT_CHARACTER);
                Err(UnreadItem { key: key_of(&text).filter(is_whole), words: not_utf8(bytes) })
            }
            ListItem::TooLong(bytes) => Err(UnreadItem { key: None, words: too_long("it has", bytes, LONGEST_ITEM) }),
        }
    }

    /// Reads an object and what else is to be kept of it. Where that part cannot be read, the object says so in its
    /// `flaw`.
    fn read(&self, text: &str) -> Result<Object, String> {
        let mut object = decode_or_flag(self.decode, text).map_err(|error| error.to_string())?;
        if let Err(flaw) = object.keep(text, self.keep) {
            object.flaw = Some(flaw.to_string().into());
        }
        Ok(object)
    }
}

/// The text of a binary frame.
///
/// # Errors
///
/// The bytes are no UTF-8.
pub(super) fn text_of(bytes: &[u8]) -> Result<&str, BadFrame> {
    simdutf8::basic::from_utf8(bytes).map_err(|_| BadFrame::Malformed(not_utf8(bytes)))
}

/// Says where bytes are no UTF-8.
fn not_utf8(bytes: &[u8]) -> String {
    let error = std::str::from_utf8(bytes).err();
    error.map(|error| DecodeError::from(error).to_string()).unwrap_or_default()
}

/// Says that something is longer than what is read.
pub(super) fn too_long(what: &str, bytes: usize, most: usize) -> String {
    let megabytes = |bytes: usize| bytes as f64 / 1e6;
    format!("{what} {:.1} MB, and no more than {:.0} MB are read", megabytes(bytes), megabytes(most))
}
