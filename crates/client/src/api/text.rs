//! A string that is borrowed from the frame where that is possible, and what two texts have in common.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;

use serde::de::{Deserialize, Deserializer, Error, Visitor};

/// How many bytes two texts have in common from their beginnings.
pub fn common(left: &[u8], right: &[u8]) -> usize {
    let length = left.len().min(right.len());
    let (left, right) = (&left[..length], &right[..length]);
    // Words and not slices are compared: WebAssembly has no instruction for slices, and compares their bytes one by one.
    let differ = |one: &[u8; 8], other: &[u8; 8]| u64::from_le_bytes(*one) ^ u64::from_le_bytes(*other);
    let (words, other_words) = (left.as_chunks::<8>().0, right.as_chunks::<8>().0);
    let (fours, other_fours) = (words.as_chunks::<4>().0, other_words.as_chunks::<4>().0);
    let is_same = |(one, other): &(&[[u8; 8]; 4], &[[u8; 8]; 4])| {
        let [a, b, c, d] = [0, 1, 2, 3].map(|at| differ(&one[at], &other[at]));
        (a | b) | (c | d) == 0
    };
    let mut at = 4 * fours.iter().zip(other_fours).take_while(is_same).count();
    while let (Some(one), Some(other)) = (words.get(at), other_words.get(at)) {
        let difference = differ(one, other);
        if difference != 0 {
            return 8 * at + difference.trailing_zeros() as usize / 8;
        }
        at += 1;
    }
    let rest = left[8 * at..].iter().zip(&right[8 * at..]);
    8 * at + rest.take_while(|(one, other)| one == other).count()
}

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
    fn what_is_in_common_ends_at_the_first_difference_wherever_that_is() {
        let text: Vec<u8> = (0..200).collect();
        for length in [0, 1, 7, 8, 31, 32, 33, 40, 64, 71, 199, 200] {
            assert_eq!((common(&text, &text[..length]), common(&text[..length], &text)), (length, length));
            let mut other = text.clone();
            if let Some(byte) = other.get_mut(length) {
                *byte ^= 0x80;
            }
            assert_eq!(common(&text, &other), length);
        }
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
