//! A string for serde that is borrowed from the frame where that is possible.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;

use serde::de::{Deserialize, Deserializer, Error, Visitor};

use super::string::unescaped;

/// A JSON string that is borrowed from the input unless it holds an escape.
///
/// `Option<Cow<str>>` always copies, because serde's `borrow` does not reach inside the `Option`. `null` reads
/// as the empty string, as Go reads it, and servers written in Go send both.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Text<'a>(pub Cow<'a, str>);

impl Deref for Text<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl<'a> Text<'a> {
    /// The string that is the value of a member. An empty text stands for a missing member, whose string is empty.
    ///
    /// # Errors
    ///
    /// When the value is neither a string nor `null`.
    pub fn read(value: &'a str) -> Result<Text<'a>, serde_json::Error> {
        match value {
            "" | "null" => Ok(Text::default()),
            quoted => match unescaped(quoted) {
                Some(text) => Ok(Text(text)),
                None => Err(serde_json::Error::custom("a string or null was expected")),
            },
        }
    }

    /// The string that is the value of a member that must be there.
    ///
    /// # Errors
    ///
    /// When the member is missing, or when its value is neither a string nor `null`.
    pub fn required(value: &'a str, name: &'static str) -> Result<Text<'a>, serde_json::Error> {
        if value.is_empty() { Err(serde_json::Error::missing_field(name)) } else { Text::read(value) }
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextVisitor)
    }
}

struct TextVisitor;

impl<'de> Visitor<'de> for TextVisitor {
    type Value = Text<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a string or null")
    }

    fn visit_borrowed_str<E: Error>(self, value: &'de str) -> Result<Self::Value, E> {
        Ok(Text(Cow::Borrowed(value)))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Self::Value, E> {
        Ok(Text(Cow::Owned(value.to_owned())))
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(Text::default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_string_of_a_member_is_read_and_a_missing_one_is_not_null() {
        for (value, expected) in [("", ""), ("null", ""), (r#""web""#, "web"), (r#""a\u0062""#, "ab")] {
            assert_eq!(Text::read(value).ok().as_deref(), Some(expected), "{value}");
        }
        for value in ["7", "[]", r#""\ud800""#] {
            assert!(Text::read(value).is_err(), "{value}");
        }
        assert_eq!(Text::required("null", "name").ok().as_deref(), Some(""));
        assert_eq!(Text::required("", "name").unwrap_err().to_string(), "missing field `name`");
    }

    #[test]
    fn plain_strings_are_borrowed_and_escaped_ones_are_copied() {
        let plain: Text<'_> = serde_json::from_str(r#""web-1""#).unwrap();
        assert!(matches!(plain.0, Cow::Borrowed("web-1")));
        let escaped: Text<'_> = serde_json::from_str(r#""a\"b""#).unwrap();
        assert_eq!(&*escaped, "a\"b");
        assert_eq!(&*serde_json::from_str::<Text<'_>>("null").unwrap(), "");
        assert!(serde_json::from_str::<Text<'_>>("7").is_err());
    }
}
