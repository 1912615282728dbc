//! JSON text read in place: names, members and items are slices of the text.

use std::borrow::Cow;

use smallvec::SmallVec;

use super::common::common;
use super::scan::{after_space, byte, number, skimmed, value};
use super::string::{self, unescaped};

/// A member of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member<'a> {
    /// The name, without escapes.
    pub name: Cow<'a, str>,
    /// The text of the value, without space around it.
    pub value: &'a str,
}

/// The members of an object.
pub type Members<'a> = SmallVec<[Member<'a>; 12]>;
/// The items of a list.
pub type Items<'a> = SmallVec<[&'a str; 8]>;

/// A place in a text of which one value is read after the other. Each step passes over the space before what it reads;
/// `None` means that something else stands there.
#[derive(Clone, Copy, Debug)]
pub struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    /// The beginning of a text.
    pub fn new(text: &'a str) -> Cursor<'a> {
        Cursor { text, at: 0 }
    }

    /// The whole text.
    pub fn text(&self) -> &'a str {
        self.text
    }

    /// How many bytes were read.
    pub fn at(&self) -> usize {
        self.at
    }

    /// Goes over white space. Returns the byte that follows; 0 at the end.
    #[inline(always)]
    pub fn first(&mut self) -> u8 {
        let (byte, at) = after_space(self.text.as_bytes(), self.at);
        self.at = at;
        byte
    }

    /// Whether only white space is left.
    pub fn is_at_end(&mut self) -> bool {
        self.first();
        self.at == self.text.len()
    }

    /// Goes over this byte: a brace or a bracket.
    #[inline(always)]
    pub fn pass(&mut self, byte: u8) -> Option<()> {
        let is_here = self.first() == byte;
        self.at += usize::from(is_here);
        is_here.then_some(())
    }

    /// Goes over the byte that [`Cursor::first`] returned, which was not 0.
    #[inline(always)]
    pub(super) fn step(&mut self) {
        self.at += 1;
    }

    /// Goes to the value of the next member of the object that it is in. `Some(None)` before the object's end.
    #[inline(always)]
    pub fn name(&mut self, is_first: bool) -> Option<Option<Cow<'a, str>>> {
        let mut next = self.first();
        if next == b'}' {
            return Some(None);
        }
        if !is_first {
            self.pass(b',')?;
            next = self.first();
        }
        if next != b'"' {
            return None;
        }
        let name = self.string()?;
        self.pass(b':')?;
        Some(Some(name))
    }

    /// Goes to the next item of the list that it is in. `Some(false)` before the list's end.
    #[inline(always)]
    pub fn item(&mut self, is_first: bool) -> Option<bool> {
        if self.first() == b']' {
            return Some(false);
        }
        if !is_first {
            self.pass(b',')?;
        }
        Some(true)
    }

    /// Reads the string whose opening quote is the next byte.
    #[inline(always)]
    pub fn string(&mut self) -> Option<Cow<'a, str>> {
        let (bytes, from) = (self.text.as_bytes(), self.at);
        let begin = from + 1;
        let end = begin + string::plain(bytes.get(begin..)?);
        if byte(bytes, end) == b'"' {
            self.at = end + 1;
            return self.text.get(begin..end).map(Cow::Borrowed);
        }
        self.escaped_string()
    }

    #[cold]
    fn escaped_string(&mut self) -> Option<Cow<'a, str>> {
        let from = self.at;
        self.at = string::string(self.text.as_bytes(), from)?;
        unescaped(self.text.get(from..self.at)?)
    }

    /// Goes over a value, all of which is checked.
    #[inline]
    pub fn checked(&mut self) -> Option<&'a str> {
        self.first();
        let from = self.at;
        self.at = value(self.text, from)?;
        self.text.get(from..self.at)
    }

    /// Goes over a value. It ends where its brackets say; nothing between them is looked at.
    #[inline]
    pub fn skimmed(&mut self) -> Option<&'a str> {
        self.first();
        let from = self.at;
        self.at = skimmed(self.text.as_bytes(), from)?;
        self.text.get(from..self.at)
    }

    /// Goes over a number.
    pub(super) fn number(&mut self) -> Option<&'a str> {
        let from = self.at;
        self.at = number(self.text.as_bytes(), from)?;
        self.text.get(from..self.at)
    }

    /// Goes over a word that stands here.
    #[inline(always)]
    pub(super) fn word(&mut self, word: &[u8]) -> Option<()> {
        self.at = super::scan::word(self.text.as_bytes(), self.at, word)?;
        Some(())
    }

    /// Goes over an object, whose members it returns in their order.
    pub fn members(&mut self) -> Option<Members<'a>> {
        let mut found = Members::new();
        self.pass(b'{')?;
        while let Some(name) = self.name(found.is_empty())? {
            let value = self.skimmed()?;
            found.push(Member { name, value });
        }
        self.pass(b'}')?;
        Some(found)
    }

    /// Goes over a value, of which it returns the value at a path of names.
    fn value_at(&mut self, path: &[&str]) -> Option<Option<&'a str>> {
        let Some((wanted, rest)) = path.split_first() else { return self.skimmed().map(Some) };
        if self.first() != b'{' {
            return self.skimmed().map(|_| None);
        }
        self.step();
        let (mut found, mut is_first) = (None, true);
        while let Some(name) = self.name(is_first)? {
            if name == *wanted {
                found = self.value_at(rest)?;
            } else {
                self.skimmed()?;
            }
            is_first = false;
        }
        self.pass(b'}')?;
        Some(found)
    }

    /// Goes over a list, whose items it returns.
    pub fn items(&mut self) -> Option<Items<'a>> {
        let mut found = Items::new();
        self.pass(b'[')?;
        while self.item(found.is_empty())? {
            found.push(self.skimmed()?);
        }
        self.pass(b']')?;
        Some(found)
    }
}

/// Two texts that are read side by side.
#[derive(Clone, Copy, Debug)]
pub struct Pair<'a> {
    /// The place in the one text.
    pub old: Cursor<'a>,
    /// The place in the other.
    pub new: Cursor<'a>,
    /// Up to where the new text is the same as the old one, and how far from it the same bytes are there.
    alike: (usize, isize),
}

impl<'a> Pair<'a> {
    /// The beginnings of two texts.
    pub fn new(old: &'a str, new: &'a str) -> Pair<'a> {
        Pair { old: Cursor::new(old), new: Cursor::new(new), alike: (0, 0) }
    }

    /// Goes over the next value of each text, if they are the same. Only one of them is read, and no further than both
    /// texts are the same.
    pub fn skip_same(&mut self) -> bool {
        self.old.first();
        self.new.first();
        let (old, new) = (self.old.text.as_bytes(), self.new.text.as_bytes());
        let distance = self.new.at as isize - self.old.at as isize;
        if self.alike.1 != distance || self.alike.0 <= self.new.at {
            let rest = (old.get(self.old.at..).unwrap_or_default(), new.get(self.new.at..).unwrap_or_default());
            self.alike = (self.new.at + common(rest.0, rest.1), distance);
        }
        let same = new.get(..self.alike.0).unwrap_or_default();
        // What follows the value must be the same, too: a number could go on.
        let Some(end) = skimmed(same, self.new.at).filter(|end| *end < self.alike.0) else { return false };
        self.old.at += end - self.new.at;
        self.new.at = end;
        true
    }
}

/// The members of the object that `text` is, in their order.
pub fn members(text: &str) -> Option<Members<'_>> {
    let mut cursor = Cursor::new(text);
    let found = cursor.members()?;
    cursor.is_at_end().then_some(found)
}

/// The items of the list that `text` is.
pub fn items(text: &str) -> Option<Items<'_>> {
    let mut cursor = Cursor::new(text);
    let found = cursor.items()?;
    cursor.is_at_end().then_some(found)
}

/// The value of the member `name` of an object. Of several with that name it is the last one, as for Go and `serde_json`.
pub fn member<'a>(object: &'a str, name: &str) -> Option<&'a str> {
    value_at(object, &[name])
}

/// The value of the member `name` among these: the last one of that name.
pub fn named<'a>(members: &[Member<'a>], name: &str) -> Option<&'a str> {
    members.iter().rev().find(|member| member.name == name).map(|member| member.value)
}

/// The value at a path of names. Of several members with one name it is the last one.
pub fn value_at<'a>(text: &'a str, path: &[&str]) -> Option<&'a str> {
    Cursor::new(text).value_at(path)?
}

/// The number that `value` is, if it is a whole one.
pub fn integer(value: &str) -> Option<i64> {
    value.parse().ok()
}

/// Whether `value` is one value, as far as its brackets say.
pub fn is_value(value: &str) -> bool {
    skimmed(value.as_bytes(), 0) == Some(value.len())
}

/// The first byte of a value, which says of which type it is; 0 where there is none.
pub fn first(text: &str) -> u8 {
    Cursor::new(text).first()
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn members_and_items_are_those_of_serde_json() {
        for text in [
            "{}",
            r#"{"a":1}"#,
            r#" { "a" : [1, {"b": "}"}] , "\u0061\n" : null } "#,
            r#"{"a":{"b":{}},"c":"\"","d":-1.5e3,"e":true}"#,
            "[]",
            r#" [ 1 , "a,]" , {"b":[]} , [[]] ] "#,
        ] {
            let whole: Value = serde_json::from_str(text).unwrap();
            let read = members(text).map(|members| {
                let read = |member: Member<'_>| (member.name.into(), serde_json::from_str(member.value).unwrap());
                members.into_iter().map(read).collect::<serde_json::Map<String, Value>>()
            });
            assert_eq!(read.as_ref(), whole.as_object(), "{text}");
            let read = items(text).map(|items| items.iter().map(|item| serde_json::from_str(item).unwrap()).collect());
            assert_eq!(read.as_ref(), whole.as_array(), "{text}");
        }
    }

    #[test]
    fn members_and_items_are_slices_of_the_text() {
        let text = r#"{ "a" : {"x":[1,"]"]} , "b\"c":"\\", "d":-1.5e+3 }"#;
        let found = members(text).unwrap();
        let found: Vec<_> = found.iter().map(|member| (&*member.name, member.value)).collect();
        assert_eq!(found, [("a", r#"{"x":[1,"]"]}"#), ("b\"c", r#""\\""#), ("d", "-1.5e+3")]);
        assert_eq!(items(r#"[1, "two" ,[3],{}]"#).unwrap()[..], ["1", "\"two\"", "[3]", "{}"]);
        assert!(members("{}").unwrap().is_empty() && items("[ ]").unwrap().is_empty());
    }

    #[test]
    fn what_is_cut_has_no_end() {
        let text = r#"{"a":[1,{"b":"c"}],"d":{"e":null}}"#;
        for at in 0..text.len() {
            assert_eq!(members(&text[..at]), None, "{}", &text[..at]);
            assert_eq!(items(&format!("[{}", &text[..at])), None);
        }
    }

    #[test]
    fn what_has_no_structure_is_refused() {
        for text in [
            "",
            "{",
            "{} x",
            "{\"a\"}",
            "{\"a\":}",
            "{\"a\":1",
            "{\"a\":1,}",
            "{\"a\":1,}x",
            "{\"a\":\"",
            "{\"a\":1}x",
            "{\"a\":]}",
            "{\"é\\",
            "{1:2}",
            "{\"a\":1 \"b\":2}",
            "{,\"a\":1}",
            "{\"a\":01}",
            "{\"a\":nul}",
            "{\"a\":1e}",
            "{\"a\":\"\\x\"}",
            "{\"a\":\"\u{1}\"}",
            "{\"\\ud800\":1}",
        ] {
            assert_eq!(members(text), None, "{text}");
        }
        for text in ["[", "[1", "[1,]", "[,]", "[1]]", "[\"\\\"]", "[,1]", "[1 2]", "[x]"] {
            assert_eq!(items(text), None, "{text}");
        }
        assert!(!is_value("") && !is_value("1 2") && !is_value("x") && is_value("null") && is_value("{}"));
    }

    #[test]
    fn a_value_is_found_at_its_path() {
        let text = r#" {"a":{"b":"x\ty"},"c":4} "#;
        assert_eq!(value_at(text, &["a", "b"]).and_then(unescaped).as_deref(), Some("x\ty"));
        assert_eq!(value_at(text, &["c"]).and_then(integer), Some(4));
        assert_eq!(value_at(text, &["c", "d"]), None);
    }

    #[test]
    fn of_two_members_with_one_name_the_last_counts() {
        assert_eq!(member(r#"{"a":1,"b":2,"\u0061":3}"#, "a"), Some("3"));
        assert_eq!(named(&members(r#"{"a":1,"b":2,"a":3}"#).unwrap(), "a"), Some("3"));
        assert_eq!(member(r#"{"a":1}"#, "c").or(member("[1]", "a")).or(member("7", "")), None);
    }

    #[test]
    fn the_same_values_are_passed_over_in_both_texts() {
        let mut pair = Pair::new(r#"{"a":[1],"b":12}"#, r#"{ "a": [1],"b":123}"#);
        for name in ["a", "b"] {
            for cursor in [&mut pair.old, &mut pair.new] {
                if name == "a" {
                    cursor.pass(b'{').unwrap();
                }
                assert_eq!(cursor.name(name == "a"), Some(Some(name.into())));
            }
            assert_eq!(pair.skip_same(), name == "a");
        }
        assert_eq!((pair.old.skimmed(), pair.new.skimmed()), (Some("12"), Some("123")));
    }
}
