//! What tells two objects of one name apart: `metadata.uid`.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use serde::{Serialize, Serializer};

/// A uid, as the server sent it.
///
/// Servers write UUIDs (RFC 9562) in lower case. Such a uid is kept in sixteen bytes without an allocation, for 150,000 Pods
/// have as many of them. Any other text is kept as it came.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Uid(Repr);

#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Repr {
    Uuid([u8; 16]),
    /// Never a UUID in lower case.
    Other(Option<Arc<str>>),
}

/// The length of a UUID, and the places of its hyphens.
const LENGTH: usize = 36;
const HYPHENS: [usize; 4] = [8, 13, 18, 23];
const DIGITS: &[u8; 16] = b"0123456789abcdef";

/// The uid that is not known.
pub static UNKNOWN: Uid = Uid(Repr::Other(None));

impl Uid {
    /// The uid that `text` is; empty means that it is not known.
    pub fn new(text: &str) -> Uid {
        match uuid(text) {
            Some(bytes) => Uid(Repr::Uuid(bytes)),
            None => Uid(Repr::Other((!text.is_empty()).then(|| text.into()))),
        }
    }

    /// Whether the uid is a UUID in lower case, as those that an API server gives are.
    pub fn is_uuid(&self) -> bool {
        matches!(self.0, Repr::Uuid(_))
    }

    /// Whether the uid is not known.
    pub fn is_empty(&self) -> bool {
        matches!(self.0, Repr::Other(None))
    }

    /// How many bytes the uid takes on the heap.
    pub fn heap_bytes(&self) -> usize {
        match &self.0 {
            Repr::Uuid(_) => 0,
            // An `Arc` has two counters before its text.
            Repr::Other(text) => text.as_ref().map_or(0, |text| text.len() + 2 * size_of::<usize>()),
        }
    }

    /// The text.
    pub fn text(&self) -> Text<'_> {
        match &self.0 {
            Repr::Uuid(bytes) => Text::Uuid(write(bytes)),
            Repr::Other(text) => Text::Other(text.as_deref().unwrap_or_default()),
        }
    }
}

/// The text of a uid.
#[derive(Clone, Copy, Debug)]
pub enum Text<'a> {
    /// A UUID in its usual form.
    Uuid([u8; LENGTH]),
    /// Any other text.
    Other(&'a str),
}

impl Deref for Text<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        match self {
            // Digits and hyphens.
            Text::Uuid(bytes) => std::str::from_utf8(bytes).unwrap_or_default(),
            Text::Other(text) => text,
        }
    }
}

fn uuid(text: &str) -> Option<[u8; 16]> {
    let text = text.as_bytes();
    if text.len() != LENGTH || HYPHENS.iter().any(|at| text[*at] != b'-') {
        return None;
    }
    let mut digits = (0..LENGTH).filter(|at| !HYPHENS.contains(at)).map(|at| match text[at] {
        digit @ b'0'..=b'9' => Some(digit - b'0'),
        digit @ b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    });
    let mut bytes = [0; 16];
    for byte in &mut bytes {
        *byte = digits.next()?? << 4 | digits.next()??;
    }
    Some(bytes)
}

fn write(bytes: &[u8; 16]) -> [u8; LENGTH] {
    let mut text = [b'-'; LENGTH];
    let places = (0..LENGTH).filter(|at| !HYPHENS.contains(at));
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    for (at, digit) in places.zip(digits) {
        text[at] = DIGITS[usize::from(digit)];
    }
    text
}

impl Default for Uid {
    fn default() -> Uid {
        Uid(Repr::Other(None))
    }
}

impl From<&str> for Uid {
    fn from(text: &str) -> Uid {
        Uid::new(text)
    }
}

impl From<String> for Uid {
    fn from(text: String) -> Uid {
        Uid::new(&text)
    }
}

impl PartialEq<str> for Uid {
    fn eq(&self, text: &str) -> bool {
        *self.text() == *text
    }
}

impl PartialEq<&str> for Uid {
    fn eq(&self, text: &&str) -> bool {
        *self == **text
    }
}

impl fmt::Display for Uid {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(&self.text())
    }
}

impl fmt::Debug for Uid {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.text(), formatter)
    }
}

impl Serialize for Uid {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_uuid_takes_no_memory_of_its_own() {
        let text = "0d5e1e3c-8f6a-4b1d-9c2e-7a60f1b2c3d4";
        let uid = Uid::new(text);
        assert!(matches!(uid.0, Repr::Uuid(_)));
        assert_eq!((uid.to_string(), &uid), (text.to_owned(), &Uid::from(text)));
        assert!(uid == *text && !uid.is_empty() && Uid::default().is_empty() && Uid::default() == Uid::new(""));
        assert!(size_of::<Uid>() <= 24);
    }

    proptest! {
        #[test]
        fn any_text_comes_back_as_it_was(
            text in prop_oneof!["[0-9a-fA-F]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-fg]{4}-[0-9a-f]{12}", "[-0-9a-fä]{0,40}"],
            other in "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
        ) {
            let uid = Uid::new(&text);
            prop_assert_eq!(&*uid.text(), &*text);
            prop_assert_eq!(uid == Uid::new(&other), text == other);
        }
    }
}
