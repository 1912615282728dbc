//! A reader of JSON text for serde, for objects of which a few members are wanted and most are not.
//!
//! The reader accepts and rejects exactly what `serde_json` does. Members that nobody asks for are checked, sixteen
//! bytes at a time, but neither decoded nor kept: in a watch of Pods they are nine tenths of the text, and the larger
//! part of a frame's cost.

use std::borrow::Cow;

use serde::de::value::BorrowedStrDeserializer;
use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, Error as _, IgnoredAny, IntoDeserializer, MapAccess, SeqAccess, Visitor,
};
use serde::forward_to_deserialize_any;
use serde_json::{Error, Result};

use super::cursor::Cursor;

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
    reader.end()?;
    Ok(value)
}

/// Reads a text from its begin to its end.
pub(super) struct Reader<'de> {
    cursor: Cursor<'de>,
    /// How many more containers may be opened.
    depth: u8,
}

impl<'de> Reader<'de> {
    /// A reader at the beginning of a text.
    pub(super) fn new(text: &'de str) -> Reader<'de> {
        Reader { cursor: Cursor::new(text), depth: DEEPEST }
    }

    /// The error at the place that was reached, in `serde_json`'s words and with line and column.
    #[cold]
    fn error(&self) -> Error {
        match serde_json::from_str::<IgnoredAny>(self.cursor.text()) {
            Err(error) => error,
            // The text is JSON, but not of the shape that the caller expects.
            Ok(_) => {
                let at = self.cursor.at();
                Error::custom(format_args!("too deep, more than was expected, or half of a surrogate, at byte {at}"))
            }
        }
    }

    /// What was read, or the error where nothing could be.
    #[inline(always)]
    fn read<T>(&self, read: Option<T>) -> Result<T> {
        read.ok_or_else(|| self.error())
    }

    /// The next byte that is no white space; 0 at the end.
    #[inline(always)]
    pub(super) fn first(&mut self) -> u8 {
        self.cursor.first()
    }

    /// An error if there is more text.
    pub(super) fn end(&mut self) -> Result<()> {
        let is_at_end = self.cursor.is_at_end().then_some(());
        self.read(is_at_end)
    }

    /// Reads the string whose opening quote comes next. This is a function of its own, because copies of it in every
    /// visitor would make the visitors so large that they are slower.
    #[inline(never)]
    fn string(&mut self) -> Result<Cow<'de, str>> {
        let string = self.cursor.string();
        self.read(string)
    }

    /// Goes over a value.
    pub(super) fn skip(&mut self) -> Result<&'de str> {
        let value = self.cursor.checked();
        self.read(value)
    }

    /// The text that `read` goes over.
    pub(super) fn text_of(&mut self, read: impl FnOnce(&mut Self) -> Result<()>) -> Result<&'de str> {
        self.first();
        let from = self.cursor.at();
        read(self)?;
        Ok(self.cursor.text().get(from..self.cursor.at()).unwrap_or_default())
    }

    #[inline(always)]
    fn word(&mut self, word: &[u8]) -> Result<()> {
        let word = self.cursor.word(word);
        self.read(word)
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
    pub(super) fn name(&mut self, is_first: bool) -> Result<Option<Cow<'de, str>>> {
        let name = self.cursor.name(is_first);
        self.read(name)
    }

    /// Goes to the next item of a list; `false` before the list's end.
    #[inline(always)]
    pub(super) fn item(&mut self, is_first: bool) -> Result<bool> {
        let item = self.cursor.item(is_first);
        self.read(item)
    }

    fn visit_number<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value> {
        let number = self.cursor.number();
        let text = self.read(number)?;
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

    /// Opens a container, whose opening byte comes next, reads it with `read`, and closes it.
    #[inline]
    pub(super) fn container<T>(&mut self, end: u8, read: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.cursor.step();
        self.depth = self.depth.checked_sub(1).ok_or_else(|| self.error())?;
        let value = read(self)?;
        self.depth += 1;
        let end = self.cursor.pass(end);
        self.read(end)?;
        Ok(value)
    }
}

impl<'de> Deserializer<'de> for &mut Reader<'de> {
    type Error = Error;

    #[inline]
    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.first() {
            b'"' => self.visit_string(visitor),
            b'{' => self.container(b'}', |reader| visitor.visit_map(Members { reader, is_first: true })),
            b'[' => self.container(b']', |reader| visitor.visit_seq(Items { reader, is_first: true })),
            b't' => self.word(b"true").and_then(|()| visitor.visit_bool(true)),
            b'f' => self.word(b"false").and_then(|()| visitor.visit_bool(false)),
            b'n' => self.word(b"null").and_then(|()| visitor.visit_unit()),
            b'-' | b'0'..=b'9' => self.visit_number(visitor),
            _ => Err(self.error()),
        }
    }

    #[inline]
    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.first() {
            b'n' => self.word(b"null").and_then(|()| visitor.visit_none()),
            _ => visitor.visit_some(self),
        }
    }

    #[inline]
    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _name: &'static str, visitor: V) -> Result<V::Value> {
        visitor.visit_newtype_struct(self)
    }

    #[inline]
    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.skip()?;
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
    is_first: bool,
}

impl<'de> MapAccess<'de> for Members<'_, 'de> {
    type Error = Error;

    #[inline]
    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>> {
        match self.reader.name(std::mem::take(&mut self.is_first))? {
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

/// The items of a list, after its opening bracket.
struct Items<'r, 'de> {
    reader: &'r mut Reader<'de>,
    is_first: bool,
}

impl<'de> SeqAccess<'de> for Items<'_, 'de> {
    type Error = Error;

    #[inline]
    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>> {
        if !self.reader.item(std::mem::take(&mut self.is_first))? {
            return Ok(None);
        }
        seed.deserialize(&mut *self.reader).map(Some)
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
}
