//! A reader of JSON text for serde, for objects of which a few members are wanted and most are not.
//!
//! The reader accepts and rejects exactly what `serde_json` does. Members that nobody asks for are checked, sixteen
//! bytes at a time, but neither decoded nor kept: in a watch of Pods they are nine tenths of the text, and the larger
//! part of a frame's cost.

mod pick;
mod plain;
pub mod raw;

use std::borrow::Cow;

use serde::de::value::BorrowedStrDeserializer;
use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, Error as _, IgnoredAny, IntoDeserializer, MapAccess, SeqAccess, Visitor,
};
use serde::forward_to_deserialize_any;
use serde_json::{Error, Result};

pub use pick::{MOST, elements, members, pick};
use plain::plain;

/// How many containers may be nested in values that are read; `serde_json` has the same limit.
const DEEPEST: u8 = 127;

/// Reads a value, which must be the whole text except for white space.
///
/// # Errors
///
/// When the text is no JSON, or not of the shape that `T` expects.
pub fn from_str<'de, T: Deserialize<'de>>(text: &'de str) -> Result<T> {
    let mut reader = Reader::new(text);
    let value = T::deserialize(&mut reader)?;
    reader.after_space();
    if reader.at < text.len() { Err(reader.error()) } else { Ok(value) }
}

/// Reads a text from its begin to its end.
struct Reader<'de> {
    text: &'de str,
    /// The bytes of the text.
    bytes: &'de [u8],
    /// The place of the next byte.
    at: usize,
    /// How many more containers may be opened.
    depth: u8,
}

impl<'de> Reader<'de> {
    /// A reader at the beginning of a text.
    fn new(text: &'de str) -> Reader<'de> {
        Reader { text, bytes: text.as_bytes(), at: 0, depth: DEEPEST }
    }

    /// The error at the place that was reached, in `serde_json`'s words and with line and column.
    #[cold]
    fn error(&self) -> Error {
        match serde_json::from_str::<IgnoredAny>(self.text) {
            Err(error) => error,
            // The text is JSON, but not of the shape that the caller expects.
            Ok(_) => Error::custom(format_args!("too deep, or more than was expected, at byte {}", self.at)),
        }
    }

    /// The next byte that is no white space; 0 at the end.
    #[inline(always)]
    fn after_space(&mut self) -> u8 {
        let (byte, at) = after_space(self.bytes, self.at);
        self.at = at;
        byte
    }

    /// Goes on at a place up to which the text was checked.
    #[inline(always)]
    fn go(&mut self, end: Option<usize>) -> Result<()> {
        match end {
            Some(end) => {
                self.at = end;
                Ok(())
            }
            None => Err(self.error()),
        }
    }

    /// Reads the string whose opening quote comes next. This is a function of its own, because copies of it in every
    /// visitor would make the visitors so large that they are slower.
    #[inline(never)]
    fn string(&mut self) -> Result<Cow<'de, str>> {
        let from = self.at;
        let begin = from + 1;
        let end = begin + plain(&self.bytes[begin..]);
        if byte(self.bytes, end) == b'"' {
            self.at = end + 1;
            return Ok(Cow::Borrowed(&self.text[begin..end]));
        }
        self.go(string(self.bytes, from))?;
        serde_json::from_str(&self.text[from..self.at]).map(Cow::Owned)
    }

    #[inline]
    fn visit_string<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value> {
        match self.string()? {
            Cow::Borrowed(text) => visitor.visit_borrowed_str(text),
            Cow::Owned(text) => visitor.visit_string(text),
        }
    }

    /// Reads the name of the next member of a map, up to where its value begins; `None` before the map's end.
    #[inline(never)]
    fn name(&mut self, first: bool) -> Result<Option<Cow<'de, str>>> {
        let mut next = self.after_space();
        if next == b'}' {
            return Ok(None);
        }
        if !first {
            if next != b',' {
                return Err(self.error());
            }
            self.at += 1;
            next = self.after_space();
        }
        if next != b'"' {
            return Err(self.error());
        }
        let name = self.string()?;
        let colon = (self.after_space() == b':').then_some(self.at + 1);
        self.go(colon)?;
        Ok(Some(name))
    }

    fn visit_number<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value> {
        let from = self.at;
        self.go(number(self.bytes, from))?;
        let text = &self.text[from..self.at];
        if let Ok(number) = text.parse::<u64>() {
            return visitor.visit_u64(number);
        }
        // `-0` is no whole number.
        if text != "-0"
            && let Ok(number) = text.parse::<i64>()
        {
            return visitor.visit_i64(number);
        }
        visitor.visit_f64(serde_json::from_str(text)?)
    }

    /// Opens a container, reads it with `read`, and closes it.
    #[inline]
    fn container<T>(&mut self, end: u8, read: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.at += 1;
        self.depth = self.depth.checked_sub(1).ok_or_else(|| self.error())?;
        let value = read(self)?;
        self.depth += 1;
        let end = (self.after_space() == end).then_some(self.at + 1);
        self.go(end)?;
        Ok(value)
    }
}

/// The byte at a place; 0 at the end, which no JSON text contains.
#[inline(always)]
fn byte(bytes: &[u8], at: usize) -> u8 {
    bytes.get(at).copied().unwrap_or(0)
}

/// The next byte that is no white space, and its place. Servers write no white space inside a frame.
#[inline(always)]
fn after_space(bytes: &[u8], at: usize) -> (u8, usize) {
    match byte(bytes, at) {
        next if next > b' ' => (next, at),
        _ => after_spaces(bytes, at),
    }
}

#[cold]
fn after_spaces(bytes: &[u8], mut at: usize) -> (u8, usize) {
    while let b' ' | b'\n' | b'\t' | b'\r' = byte(bytes, at) {
        at += 1;
    }
    (byte(bytes, at), at)
}

/// The end of the string whose opening quote stands at a place. In this and the following functions, `None` stands for
/// malformed text.
#[inline(always)]
fn string(bytes: &[u8], at: usize) -> Option<usize> {
    let mut at = at + 1;
    loop {
        at += plain(bytes.get(at..)?);
        match byte(bytes, at) {
            b'"' => return Some(at + 1),
            b'\\' => at = escape(bytes, at)?,
            _ => return None,
        }
    }
}

/// The end of an escape. Only decoding a string tells whether a surrogate has its partner.
fn escape(bytes: &[u8], at: usize) -> Option<usize> {
    match byte(bytes, at + 1) {
        b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Some(at + 2),
        b'u' => bytes.get(at + 2..at + 6)?.iter().all(u8::is_ascii_hexdigit).then_some(at + 6),
        _ => None,
    }
}

/// The end of a number.
#[inline]
fn number(bytes: &[u8], mut at: usize) -> Option<usize> {
    at += usize::from(byte(bytes, at) == b'-');
    at = if byte(bytes, at) == b'0' { at + 1 } else { digits(bytes, at)? };
    if byte(bytes, at) == b'.' {
        at = digits(bytes, at + 1)?;
    }
    if let b'e' | b'E' = byte(bytes, at) {
        at += 1 + usize::from(matches!(byte(bytes, at + 1), b'+' | b'-'));
        at = digits(bytes, at)?;
    }
    // A number may not begin with 0 and go on with digits.
    (!byte(bytes, at).is_ascii_digit()).then_some(at)
}

/// The end of some digits, of which there must be at least one.
#[inline(always)]
fn digits(bytes: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    while byte(bytes, at).is_ascii_digit() {
        at += 1;
    }
    (at > from).then_some(at)
}

/// The end of `word`, if it stands at the place.
#[inline(always)]
fn word(bytes: &[u8], at: usize, word: &[u8]) -> Option<usize> {
    bytes.get(at..)?.starts_with(word).then_some(at + word.len())
}

/// Where the value of a member may begin, whose name must stand at the place.
#[inline(always)]
fn name(bytes: &[u8], at: usize) -> Option<usize> {
    if byte(bytes, at) != b'"' {
        return None;
    }
    let (next, at) = after_space(bytes, string(bytes, at)?);
    (next == b':').then_some(at + 1)
}

/// The end of a value that nobody asked for.
fn value(text: &str, from: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = from;
    // A bit for each open container, the innermost lowest: whether the container is a map.
    let (mut maps, mut open) = (0u64, 0u32);
    loop {
        let (next, place) = after_space(bytes, at);
        at = match next {
            b'"' => string(bytes, place)?,
            b'{' | b'[' => {
                let map = next == b'{';
                let (next, inside) = after_space(bytes, place + 1);
                if next == if map { b'}' } else { b']' } {
                    inside + 1
                } else if open == u64::BITS {
                    return deep_value(text, from);
                } else {
                    maps = maps << 1 | u64::from(map);
                    open += 1;
                    at = if map { name(bytes, inside)? } else { inside };
                    continue;
                }
            }
            b't' => word(bytes, place, b"true")?,
            b'f' => word(bytes, place, b"false")?,
            b'n' => word(bytes, place, b"null")?,
            _ => number(bytes, place)?,
        };
        // A value has ended, and perhaps the containers around it with it.
        loop {
            if open == 0 {
                return Some(at);
            }
            let (next, place) = after_space(bytes, at);
            at = place + 1;
            match (next, maps & 1 == 1) {
                (b',', true) => {
                    at = name(bytes, after_space(bytes, at).1)?;
                    break;
                }
                (b',', false) => break,
                (b'}', true) | (b']', false) => {}
                _ => return None,
            }
            maps >>= 1;
            open -= 1;
        }
    }
}

/// The end of a value that is nested deeper than any object of Kubernetes.
#[cold]
fn deep_value(text: &str, from: usize) -> Option<usize> {
    let mut values = serde_json::Deserializer::from_str(&text[from..]).into_iter::<IgnoredAny>();
    values.next()?.ok()?;
    Some(from + values.byte_offset())
}

impl<'de> Deserializer<'de> for &mut Reader<'de> {
    type Error = Error;

    #[inline]
    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.after_space() {
            b'"' => self.visit_string(visitor),
            b'{' => self.container(b'}', |reader| visitor.visit_map(Members { reader, first: true })),
            b'[' => self.container(b']', |reader| visitor.visit_seq(Elements { reader, first: true })),
            b't' => self.go(word(self.bytes, self.at, b"true")).and_then(|()| visitor.visit_bool(true)),
            b'f' => self.go(word(self.bytes, self.at, b"false")).and_then(|()| visitor.visit_bool(false)),
            b'n' => self.go(word(self.bytes, self.at, b"null")).and_then(|()| visitor.visit_unit()),
            b'-' | b'0'..=b'9' => self.visit_number(visitor),
            _ => Err(self.error()),
        }
    }

    #[inline]
    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.after_space() {
            b'n' => self.go(word(self.bytes, self.at, b"null")).and_then(|()| visitor.visit_none()),
            _ => visitor.visit_some(self),
        }
    }

    #[inline]
    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _name: &'static str, visitor: V) -> Result<V::Value> {
        visitor.visit_newtype_struct(self)
    }

    #[inline]
    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.go(value(self.text, self.at))?;
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map struct enum identifier
    }
}

/// The members of a map, after its opening brace.
struct Members<'r, 'de> {
    reader: &'r mut Reader<'de>,
    first: bool,
}

impl<'de> MapAccess<'de> for Members<'_, 'de> {
    type Error = Error;

    #[inline]
    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>> {
        match self.reader.name(std::mem::take(&mut self.first))? {
            Some(Cow::Borrowed(name)) => seed.deserialize(BorrowedStrDeserializer::new(name)).map(Some),
            Some(Cow::Owned(name)) => seed.deserialize(name.into_deserializer()).map(Some),
            None => Ok(None),
        }
    }

    #[inline]
    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value> {
        seed.deserialize(&mut *self.reader)
    }
}

/// The elements of a list, after its opening bracket.
struct Elements<'r, 'de> {
    reader: &'r mut Reader<'de>,
    first: bool,
}

impl<'de> SeqAccess<'de> for Elements<'_, 'de> {
    type Error = Error;

    #[inline]
    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>> {
        let reader = &mut *self.reader;
        let next = reader.after_space();
        if next == b']' {
            return Ok(None);
        }
        if !std::mem::take(&mut self.first) {
            if next != b',' {
                return Err(reader.error());
            }
            reader.at += 1;
        }
        seed.deserialize(reader).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    const POD: &str = r#"{"kind":"Pod","metadata":{"name":"a\"b","managedFields":[{"fieldsV1":{"f:env":{".":{},
        "k:{\"name\":\"\u00e4\"}":{"f:value":{}}}},"time":null}], "n":[-1,0,2.50,1e3,-0,4294967296,[],[[]]]},
        "spec":{"ok":true,"no":false,"long":"a text of more than sixteen bytes, with ünïcödé and a tab\t in it"}}"#;

    /// The whole text read as a value, and skipped: both as `serde_json` has it.
    fn check(text: &str) {
        let (ours, theirs) = (from_str::<Value>(text), serde_json::from_str::<Value>(text));
        assert_eq!(ours.is_ok(), theirs.is_ok(), "{text:?}: {ours:?} {theirs:?}");
        if let (Ok(ours), Ok(theirs)) = (ours, theirs) {
            assert_eq!(ours, theirs, "{text:?}");
        }
        let (ours, theirs) = (from_str::<IgnoredAny>(text), serde_json::from_str::<IgnoredAny>(text));
        assert_eq!(ours.is_ok(), theirs.is_ok(), "{text:?} skipped: {ours:?} {theirs:?}");
    }

    /// Apart by white space.
    const TEXTS: &str = r#"
{ } {} [] [1,] [,1] {,} {"a":1,} {"a" {"a"} {"a":} {a:1} {"a":1] [1} [[] [[]] [[]]] {}{} {"a":1,"a":2} 'a' NaN
nul nulls true truefalse 01 - -01 1. .5 1.5 1e 1e+ 1e-7 1E9 1e999 -1e999 +1 0x1 00 -0 0.0 9223372036854775808
18446744073709551615 -9223372036854775809 99999999999999999999 "" " "a "\ "\" "\x" "\u12" "\u12g4" "\u00e4"
"\ud83d\ude00" "\ud83d" {"\ud83d":1} {"a\nb":"c\/d"} "1234567\" "123456789012345\" "ünïcödé"
"#;

    #[test]
    fn values_are_read_as_serde_json_reads_them() {
        TEXTS.split_ascii_whitespace().for_each(check);
        for text in ["", " ", "- 1", r#"{"a":1 "b":2}"#, "[ 1 ,\t2\r\n]", "[1 2]", "\u{feff}{}", "[1\u{a0}]"] {
            check(text);
        }
        for text in ["\"tab\there\"", "\"del\u{7f}\"", "\"nul\u{0}\"", "\"12345678\u{1f}\"", "\"\u{80}\""] {
            check(text);
        }
        check(POD);
    }

    #[test]
    fn whatever_is_cut_or_turned_is_judged_as_serde_json_judges_it() {
        for (at, _) in POD.char_indices() {
            check(&POD[..at]);
            for other in ["\"", "\\", "}", "[", ",", ":", "0", "e", "\u{1}"] {
                check(&format!("{}{other}{}", &POD[..at], &POD[at..]));
                let rest = POD[at..].char_indices().nth(1).map_or(POD.len(), |(next, _)| at + next);
                check(&format!("{}{other}{}", &POD[..at], &POD[rest..]));
            }
        }
    }

    #[test]
    fn depth_is_limited_where_values_are_kept_and_nowhere_else() {
        for depth in [63, 64, 65, 126, 127, 128, 129, 200] {
            check(&format!("{}{}", "[".repeat(depth), "]".repeat(depth)));
            check(&format!("{}1{}", "{\"a\":".repeat(depth), "}".repeat(depth)));
            check(&format!("{}1{}", "{\"a\":[".repeat(depth), "]}".repeat(depth - 1)));
        }
    }

    #[test]
    fn the_end_of_a_string_is_found_at_every_place() {
        for length in 0..40 {
            for end in ["\"", "\\", "\u{1}", "\u{1f}"] {
                for filler in ["a", "!", " ", "\u{7f}", "ä", "]"] {
                    let text = filler.repeat(length);
                    assert_eq!(plain(format!("{text}{end}{text}").as_bytes()), text.len(), "{text:?} {end:?}");
                }
            }
        }
    }
}
