//! Reads JSON text in place: the members of an object and the items of a list are slices of the text.
//!
//! Nothing here checks that a value which is skipped is well-formed: a skipped value ends where its quotes and brackets
//! say. A text whose structure cannot be followed gives `None`, and never a panic.

use std::borrow::Cow;

use kubechurn_client::api::brackets::bracket_end;
use kubechurn_client::api::text::common;
use smallvec::SmallVec;

/// A member of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Member<'a> {
    /// The text between the quotes of the name, with its escapes.
    pub(crate) name: &'a str,
    /// The text of the value, without space around it.
    pub(crate) value: &'a str,
}

pub(crate) type Members<'a> = SmallVec<[Member<'a>; 12]>;
pub(crate) type Items<'a> = SmallVec<[&'a str; 8]>;

/// The members of the object that `text` is, in the order of the text.
pub(crate) fn members(text: &str) -> Option<Members<'_>> {
    let (found, end) = members_at(text, 0)?;
    is_end(text.as_bytes(), end).then_some(found)
}

/// The members of the object that begins at a place, and where it ends.
fn members_at(text: &str, at: usize) -> Option<(Members<'_>, usize)> {
    let bytes = text.as_bytes();
    let mut found = Members::new();
    let mut at = expect(bytes, at, b'{')?;
    if bytes.get(at) == Some(&b'}') {
        return Some((found, at + 1));
    }
    loop {
        let (start, end) = (at + 1, string_end(bytes, expect_here(bytes, at, b'"')?)?);
        let name = text.get(start..end - 1)?;
        at = expect(bytes, skip_space(bytes, end), b':')?;
        let value_end = value_end(bytes, at)?;
        found.push(Member { name, value: text.get(at..value_end)? });
        at = skip_space(bytes, value_end);
        match bytes.get(at)? {
            b',' => at = skip_space(bytes, at + 1),
            b'}' => return Some((found, at + 1)),
            _ => return None,
        }
    }
}

/// The items of the list that `text` is.
pub(crate) fn items(text: &str) -> Option<Items<'_>> {
    let bytes = text.as_bytes();
    let mut found = Items::new();
    let mut at = expect(bytes, 0, b'[')?;
    if bytes.get(at) == Some(&b']') {
        return is_end(bytes, at + 1).then_some(found);
    }
    loop {
        let value_end = value_end(bytes, at)?;
        found.push(text.get(at..value_end)?);
        at = skip_space(bytes, value_end);
        match bytes.get(at)? {
            b',' => at = skip_space(bytes, at + 1),
            b']' => return is_end(bytes, at + 1).then_some(found),
            _ => return None,
        }
    }
}

/// A place in a text of which one value is read after the other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cursor<'a> {
    text: &'a str,
    at: usize,
    /// Up to where the text is the same as another one, and how far from it the same bytes are there: see [`skip_same`].
    alike: (usize, isize),
}

impl<'a> Cursor<'a> {
    /// The beginning of a text.
    pub(crate) fn new(text: &'a str) -> Cursor<'a> {
        Cursor { text, at: 0, alike: (0, 0) }
    }

    /// The first byte of the value that begins here.
    pub(crate) fn first(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Goes into the object that begins here.
    pub(crate) fn enter(&mut self) -> Option<()> {
        self.at = expect(self.text.as_bytes(), self.at, b'{')?;
        Some(())
    }

    /// The name of the next member of the object that it is in, to whose value it goes; `Some(None)` if there is none, and then it
    /// goes behind the object.
    pub(crate) fn name(&mut self, is_first: bool) -> Option<Option<&'a str>> {
        let bytes = self.text.as_bytes();
        match bytes.get(self.at)? {
            b'}' => {
                self.at = skip_space(bytes, self.at + 1);
                return Some(None);
            }
            b',' if !is_first => self.at = skip_space(bytes, self.at + 1),
            _ if is_first => {}
            _ => return None,
        }
        let start = expect_here(bytes, self.at, b'"')?;
        let end = string_end(bytes, start)?;
        self.at = expect(bytes, skip_space(bytes, end), b':')?;
        self.text.get(start..end - 1).map(Some)
    }

    /// The value that begins here, behind which it goes.
    pub(crate) fn value(&mut self) -> Option<&'a str> {
        let end = value_end(self.text.as_bytes(), self.at)?;
        let value = self.text.get(self.at..end)?;
        self.at = skip_space(self.text.as_bytes(), end);
        Some(value)
    }

    /// The members of the object that begins here, behind which it goes.
    pub(crate) fn members(&mut self) -> Option<Members<'a>> {
        let (members, end) = members_at(self.text, self.at)?;
        self.at = skip_space(self.text.as_bytes(), end);
        Some(members)
    }

    /// Whether all was read.
    pub(crate) fn is_at_end(&self) -> bool {
        is_end(self.text.as_bytes(), self.at)
    }
}

/// Goes behind the values that begin at two places, if they are the same. Only one of them is read, and no further than both
/// texts are the same.
pub(crate) fn skip_same(one: &mut Cursor<'_>, other: &mut Cursor<'_>) -> bool {
    let (left, right) = (one.text.as_bytes(), other.text.as_bytes());
    let distance = other.at as isize - one.at as isize;
    if other.alike.1 != distance || other.alike.0 <= other.at {
        let rest = (left.get(one.at..).unwrap_or_default(), right.get(other.at..).unwrap_or_default());
        other.alike = (other.at + common(rest.0, rest.1), distance);
    }
    // What follows the value must be the same, too: a number could go on.
    let end = right.get(..other.alike.0).and_then(|same| value_end(same, other.at)).filter(|end| *end < other.alike.0);
    let Some(end) = end else { return false };
    one.at = skip_space(left, one.at + (end - other.at));
    other.at = skip_space(right, end);
    true
}

/// The value of the member `name` of an object. Of several with that name, the first.
pub(crate) fn member<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let bytes = text.as_bytes();
    let mut at = expect(bytes, 0, b'{')?;
    while bytes.get(at) == Some(&b'"') {
        let end = string_end(bytes, at + 1)?;
        let is_it = text.get(at + 1..end - 1)? == name;
        at = expect(bytes, skip_space(bytes, end), b':')?;
        let value_end = value_end(bytes, at)?;
        if is_it {
            return text.get(at..value_end);
        }
        at = skip_space(bytes, value_end);
        if bytes.get(at) != Some(&b',') {
            return None;
        }
        at = skip_space(bytes, at + 1);
    }
    None
}

/// The value of the member `name` among these.
pub(crate) fn named<'a>(members: &[Member<'a>], name: &str) -> Option<&'a str> {
    members.iter().find(|member| member.name == name).map(|member| member.value)
}

/// The value at a path of names.
pub(crate) fn value_at<'a>(text: &'a str, path: &[&str]) -> Option<&'a str> {
    path.iter().try_fold(text.trim(), |text, name| member(text, name))
}

/// The string that `value` is. A string that is no valid JSON is given as it is written.
pub(crate) fn string(value: &str) -> Option<Cow<'_, str>> {
    let inner = value.strip_prefix('"')?.strip_suffix('"')?;
    if !inner.contains('\\') {
        return Some(Cow::Borrowed(inner));
    }
    Some(serde_json::from_str::<String>(value).map_or(Cow::Borrowed(inner), Cow::Owned))
}

/// The name of a member, without escapes.
pub(crate) fn unescaped(name: &str) -> Cow<'_, str> {
    if !name.contains('\\') {
        return Cow::Borrowed(name);
    }
    serde_json::from_str::<String>(&format!("\"{name}\"")).map_or(Cow::Borrowed(name), Cow::Owned)
}

/// The number that `value` is, if it is a whole one.
pub(crate) fn integer(value: &str) -> Option<i64> {
    value.parse().ok()
}

/// Whether `value` can be told by its beginning and end to be one value: a scalar, or something in brackets.
pub(crate) fn is_value(value: &str) -> bool {
    value_end(value.as_bytes(), 0) == Some(value.len()) && !value.is_empty()
}

pub(crate) fn skip_space(bytes: &[u8], mut at: usize) -> usize {
    while matches!(bytes.get(at), Some(b' ' | b'\n' | b'\r' | b'\t')) {
        at += 1;
    }
    at
}

/// The place of what follows `wanted`, which stands at `at`, and the space after it.
fn expect(bytes: &[u8], at: usize, wanted: u8) -> Option<usize> {
    Some(skip_space(bytes, expect_here(bytes, at, wanted)?))
}

fn expect_here(bytes: &[u8], at: usize, wanted: u8) -> Option<usize> {
    (bytes.get(at) == Some(&wanted)).then_some(at + 1)
}

fn is_end(bytes: &[u8], at: usize) -> bool {
    skip_space(bytes, at) == bytes.len()
}

/// Where the value ends that begins at `at`.
fn value_end(bytes: &[u8], at: usize) -> Option<usize> {
    match bytes.get(at)? {
        b'"' => string_end(bytes, at + 1),
        b'{' | b'[' => bracket_end(bytes, at),
        b'-' | b'0'..=b'9' | b't' | b'f' | b'n' => {
            let rest = &bytes[at..];
            let ends = |byte: &u8| !byte.is_ascii_alphanumeric() && !matches!(byte, b'-' | b'+' | b'.');
            Some(at + rest.iter().position(ends).unwrap_or(rest.len()))
        }
        _ => None,
    }
}

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x8080_8080_8080_8080;

/// A word of which at least the lowest byte that equals `wanted` has its high bit set, and no lower byte has.
fn equal_bytes(word: u64, wanted: u8) -> u64 {
    let word = word ^ (ONES * u64::from(wanted));
    word.wrapping_sub(ONES) & !word & HIGH
}

/// What follows the closing quote of a string whose first character is at `at`. Reads eight bytes at a time.
#[inline]
fn string_end(bytes: &[u8], mut at: usize) -> Option<usize> {
    loop {
        if let Some(Ok(eight)) = bytes.get(at..at + 8).map(<[u8; 8]>::try_from) {
            let word = u64::from_le_bytes(eight);
            let found = equal_bytes(word, b'"') | equal_bytes(word, b'\\');
            if found == 0 {
                at += 8;
                continue;
            }
            at += found.trailing_zeros() as usize / 8;
        }
        match bytes.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_and_items_are_slices_of_the_text() {
        let text = r#"{ "a" : {"x":[1,"]"]} , "b\"c":"\\", "d":-1.5e+3 }"#;
        let found = members(text).unwrap();
        let found: Vec<_> = found.iter().map(|member| (member.name, member.value)).collect();
        assert_eq!(found, [("a", r#"{"x":[1,"]"]}"#), ("b\\\"c", r#""\\""#), ("d", "-1.5e+3")]);
        assert_eq!(items(r#"[1, "two" ,[3],{}]"#).unwrap()[..], ["1", "\"two\"", "[3]", "{}"]);
        assert!(members("{}").unwrap().is_empty() && items("[ ]").unwrap().is_empty());
    }

    #[test]
    fn what_has_no_structure_is_refused() {
        for text in
            ["", "{", "{\"a\"}", "{\"a\":}", "{\"a\":1", "{\"a\":1,}", "{\"a\":\"", "{\"a\":1}x", "{\"a\":]}", "{\"é\\"]
        {
            assert_eq!(members(text), None, "{text}");
        }
        for text in ["[", "[1", "[1,]", "[,]", "[1]]", "[\"\\\"]"] {
            assert_eq!(items(text), None, "{text}");
        }
        assert!(!is_value("") && !is_value("1 2") && !is_value("x") && is_value("null") && is_value("{}"));
    }

    #[test]
    fn a_value_is_found_at_its_path() {
        let text = r#" {"a":{"b":"x\ty"},"c":4} "#;
        assert_eq!(value_at(text, &["a", "b"]).and_then(string).as_deref(), Some("x\ty"));
        assert_eq!(value_at(text, &["c"]).and_then(integer), Some(4));
        assert_eq!(value_at(text, &["c", "d"]), None);
        assert_eq!(string("\"\\ud800\"").as_deref(), Some("\\ud800"));
    }
}
