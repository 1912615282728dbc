//! An object as it is kept: its key, its uid, its version, and the values of its kind's columns.

use std::fmt;
use std::sync::Arc;

use hashbrown::Equivalent;
use serde::Deserialize;

use crate::api::cell::Cell;
use crate::api::cells::Cells;
use crate::api::owner::{OwnerReferences, Owners, share};
use crate::api::time::Timestamp;
use crate::api::uid::Uid;
use crate::json::{self, Text};

/// Names one object of a kind at a time: what client-go writes as `namespace/name`, or `name` where the kind
/// has no namespaces.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectKey {
    /// Empty for cluster-wide kinds.
    pub namespace: Arc<str>,
    /// The name, as the server sent it. It may hold any characters.
    pub name: Arc<str>,
}

impl ObjectKey {
    /// The key of `name` in `namespace`; an empty namespace means none.
    pub fn new(namespace: &str, name: &str) -> ObjectKey {
        ObjectKey { namespace: namespace.into(), name: name.into() }
    }
}

impl fmt::Display for ObjectKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.namespace.is_empty() {
            formatter.write_str(&self.name)
        } else {
            write!(formatter, "{}/{}", self.namespace, self.name)
        }
    }
}

/// A key whose parts are borrowed from a frame, to look things up without an allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct KeyRef<'a> {
    /// Empty for cluster-wide kinds.
    pub namespace: &'a str,
    /// The object's name.
    pub name: &'a str,
}

impl Equivalent<ObjectKey> for KeyRef<'_> {
    fn equivalent(&self, key: &ObjectKey) -> bool {
        *self.namespace == *key.namespace && *self.name == *key.name
    }
}

/// The server's version of an object or a list, compared only within one resource.
///
/// Kept as the text that the server sent. Order is that of decimal integers, by length and then by bytes, so
/// that no size is too large (KEP-5504); anything else, `0` and leading zeros included, is not comparable.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct ResourceVersion(Repr);

/// Every object has a version, so that a text of usual length is stored in place.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Repr {
    /// A text that fits; the bytes behind it are zero.
    Short { len: u8, bytes: [u8; SHORT] },
    /// Any other text.
    Long(Box<str>),
}

/// Enough digits for a hundred years of ten thousand writes a second, and few enough for the whole to be two words of 64
/// bits.
const SHORT: usize = 14;

impl ResourceVersion {
    /// The version of this text; an empty text is unset.
    pub fn new(text: &str) -> ResourceVersion {
        let mut bytes = [0; SHORT];
        match bytes.get_mut(..text.len()) {
            Some(start) => {
                start.copy_from_slice(text.as_bytes());
                ResourceVersion(Repr::Short { len: text.len() as u8, bytes })
            }
            None => ResourceVersion(Repr::Long(text.into())),
        }
    }

    /// The text as the server sent it.
    pub fn as_str(&self) -> &str {
        match &self.0 {
            // It was copied from a text.
            Repr::Short { .. } => std::str::from_utf8(self.bytes()).unwrap_or_default(),
            Repr::Long(text) => text,
        }
    }

    fn bytes(&self) -> &[u8] {
        match &self.0 {
            Repr::Short { len, bytes } => &bytes[..usize::from(*len)],
            Repr::Long(text) => text.as_bytes(),
        }
    }

    /// Whether there is no version.
    pub fn is_unset(&self) -> bool {
        self.bytes().is_empty()
    }

    /// Whether the text is a decimal integer as servers write it, so that it can be compared.
    pub fn is_comparable(&self) -> bool {
        matches!(self.bytes(), [b'1'..=b'9', rest @ ..] if rest.iter().all(u8::is_ascii_digit))
    }

    /// Whether both can be compared and `self` is the older one.
    pub fn is_older_than(&self, other: &ResourceVersion) -> bool {
        let size = |version: &ResourceVersion| version.bytes().len();
        (size(self), self.bytes()) < (size(other), other.bytes()) && self.is_comparable() && other.is_comparable()
    }
}

impl Default for ResourceVersion {
    fn default() -> ResourceVersion {
        ResourceVersion::new("")
    }
}

impl fmt::Debug for ResourceVersion {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "ResourceVersion({:?})", self.as_str())
    }
}

impl fmt::Display for ResourceVersion {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// One version of one object.
///
/// Of the object's JSON only the values of the kind's columns are kept, in [`Object::cells`], and what
/// [`crate::api::extra::Keep`] asks for.
#[derive(Clone, Debug, PartialEq)]
pub struct Object {
    /// Namespace and name.
    pub key: ObjectKey,
    /// The uid, which tells two objects of one name apart.
    pub uid: Uid,
    /// This version.
    pub resource_version: ResourceVersion,
    /// The values of the kind's columns.
    pub cells: Cells,
    /// What is wrong with this state of the object, in words: mostly, why the columns' fields could not be read.
    pub flaw: Option<Box<str>>,
    /// The object's owners.
    pub owners: Option<Arc<Owners>>,
    /// What else of the object is kept on demand.
    pub extra: Option<Box<Extra>>,
}

/// What is kept of an object beside its columns: see [`crate::api::extra`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Extra {
    pub(super) labels: Box<[(Box<str>, Box<str>)]>,
    pub(super) text: Option<Box<str>>,
    pub(super) regarding: Option<Uid>,
    pub(super) deletion: Option<Timestamp>,
}

/// The metadata that every object has, borrowed from the frame.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Meta<'a> {
    /// The object's name; never empty in an object, always empty in a bookmark.
    #[serde(borrow)]
    pub name: Text<'a>,
    /// Empty for cluster-wide kinds.
    #[serde(borrow)]
    pub namespace: Text<'a>,
    /// The uid: no other object of the cluster ever has the same.
    #[serde(borrow)]
    pub uid: Text<'a>,
    /// The version.
    #[serde(borrow)]
    pub resource_version: Text<'a>,
    /// When the object was created, in RFC 3339.
    #[serde(borrow)]
    pub creation_timestamp: Text<'a>,
    /// When the object is to be gone, in RFC 3339; empty unless it is being deleted.
    #[serde(borrow)]
    pub deletion_timestamp: Text<'a>,
    /// The object's owners.
    #[serde(borrow)]
    pub owner_references: OwnerReferences<'a>,
}

impl Meta<'_> {
    /// The object with these cells; `None` where the metadata has no name, which only bookmarks may lack.
    pub fn into_object(self, cells: &[Cell]) -> Option<Object> {
        if self.name.is_empty() {
            return None;
        }
        let deletion = Timestamp::parse_set(&self.deletion_timestamp);
        Some(Object {
            key: ObjectKey::new(&self.namespace, &self.name),
            uid: Uid::new(&self.uid),
            resource_version: ResourceVersion::new(&self.resource_version),
            cells: cells.into(),
            flaw: None,
            owners: self.owner_references.0.as_deref().and_then(share),
            extra: deletion.map(|_| Box::new(Extra { deletion, ..Extra::default() })),
        })
    }
}

/// Why an object's text is not an object of the kind that was asked for.
#[derive(Debug, thiserror::Error)]
pub enum DecodeError {
    /// The text is not JSON of the shape that was expected.
    #[error("not the JSON that was expected: {0}")]
    Json(#[from] serde_json::Error),
    /// The bytes are no UTF-8.
    #[error("not UTF-8: {0}")]
    Encoding(#[from] std::str::Utf8Error),
    /// There is no `metadata.name`, so that the object cannot be distinguished from others.
    #[error("the object has no metadata.name")]
    NoName,
}

/// Reads one object of one kind: metadata and the fields of the kind's columns, in one pass over the text.
///
/// A decoder lives as long as the program, as the kinds do.
#[derive(Clone, Copy)]
pub struct Decode(pub &'static (dyn for<'a> Fn(&'a str) -> Result<Object, DecodeError> + Sync));

impl Decode {
    /// Reads the metadata alone: for kinds that have no columns of their own.
    pub const METADATA: Decode = Decode(&decode_metadata);

    /// Reads an object.
    ///
    /// # Errors
    ///
    /// When the text is not of the kind. [`decode_or_flag`] returns what can be read all the same.
    pub fn read(self, text: &str) -> Result<Object, DecodeError> {
        (self.0)(text)
    }
}

impl fmt::Debug for Decode {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Decode")
    }
}

/// Reads an object with `decode`. Where only the columns' fields are wrong, the result is an object without cells whose
/// `flaw` says what is wrong.
///
/// # Errors
///
/// When not even the metadata can be read.
pub fn decode_or_flag(decode: Decode, text: &str) -> Result<Object, DecodeError> {
    let flaw = match decode.read(text) {
        Ok(object) => return Ok(object),
        Err(flaw) => flaw,
    };
    let mut object = decode_metadata(text)?;
    object.flaw = Some(flaw.to_string().into());
    Ok(object)
}

/// Reads only the key of an object, the rest of which may be unreadable. `None` where its name cannot be read either.
pub fn key_of(text: &str) -> Option<ObjectKey> {
    let [name, namespace, ..] = json::pick(text, &["metadata name", "metadata namespace"]).ok()?;
    let (name, namespace) = (Text::read(name).ok()?, Text::read(namespace).ok()?);
    (!name.is_empty()).then(|| ObjectKey::new(&namespace, &name))
}

/// The decoder of kinds that have no columns of their own.
///
/// # Errors
///
/// When the metadata cannot be read.
pub fn decode_metadata(text: &str) -> Result<Object, DecodeError> {
    metadata(text)?.into_object(&[]).ok_or(DecodeError::NoName)
}

/// The decoder of kinds whose only column is AGE.
///
/// # Errors
///
/// When the metadata cannot be read.
pub fn decode_age(text: &str) -> Result<Object, DecodeError> {
    let metadata = metadata(text)?;
    let age = Cell::Age(Timestamp::parse(&metadata.creation_timestamp));
    metadata.into_object(&[age]).ok_or(DecodeError::NoName)
}

fn metadata(text: &str) -> Result<Meta<'_>, DecodeError> {
    let [metadata, ..] = json::pick(text, &["metadata"])?;
    Ok(json::from_str(map(metadata)?)?)
}

/// The text, if it begins as a JSON object does: what serde derives for a struct takes a list of its members as
/// well, so that `["ADDED", …]` would pass for an event.
///
/// # Errors
///
/// When it begins otherwise.
pub fn map(text: &str) -> Result<&str, DecodeError> {
    match text.trim_ascii_start().starts_with('{') {
        true => Ok(text),
        false => Err(DecodeError::Json(serde::de::Error::custom("a JSON object was expected"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_order_as_decimal_integers_of_any_size() {
        let older = |a: &str, b: &str| ResourceVersion::new(a).is_older_than(&ResourceVersion::new(b));
        assert!(older("9", "10"));
        assert!(older("9007199254740992", "9007199254740993"));
        assert!(older("18446744073709551615", "18446744073709551616"));
        assert!(!older("10", "9") && !older("10", "10"));
        assert!(!older("", "1") && !older("0", "1") && !older("01", "2") && !older("a", "b"));
        assert!(!older("1a", "12") && !older("1", "1b"));
    }

    #[test]
    fn versions_keep_their_text_whatever_its_length() {
        for text in ["", "7", "ä", &"1".repeat(14), &"1".repeat(15), &"ä".repeat(8)] {
            let version = ResourceVersion::new(text);
            assert_eq!((version.as_str(), version.to_string()), (text, text.to_owned()));
            assert_eq!((version.clone(), version.is_unset()), (ResourceVersion::new(text), text.is_empty()));
        }
        let long = |last: &str| ResourceVersion::new(&format!("{}{last}", "1".repeat(30)));
        assert!(long("1").is_older_than(&long("2")) && ResourceVersion::new("9").is_older_than(&long("1")));
        assert_eq!(
            (ResourceVersion::default(), size_of::<ResourceVersion>()),
            (ResourceVersion::new(""), if cfg!(target_pointer_width = "64") { 24 } else { 16 })
        );
    }

    #[test]
    fn an_object_with_unreadable_fields_keeps_its_name_and_says_what_is_wrong() {
        fn fails(_: &str) -> Result<Object, DecodeError> {
            Err(DecodeError::NoName)
        }
        let object = decode_or_flag(
            Decode(&fails),
            r#"{"metadata":{"name":"a","namespace":"b","resourceVersion":"3"},"spec":7}"#,
        )
        .unwrap();
        assert_eq!(object.key, ObjectKey::new("b", "a"));
        assert!(object.flaw.is_some());
        for text in [r#"{"metadata":{}}"#, r#"{"metadata":["a"]}"#, r#"[{"name":"a"}]"#] {
            assert!(decode_or_flag(Decode(&fails), text).is_err(), "{text}");
        }
    }
}
