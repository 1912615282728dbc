//! The members and elements of JSON text, as text, for callers that look for one value among many.

use std::borrow::Cow;

use super::{after_space, byte, string, value};

/// The members of a map in the order of the text, each with its name and its value as text. A text that is no map has
/// no members; after a malformed member there are no more.
#[derive(Debug)]
pub struct Members<'a> {
    text: &'a str,
    /// Where the next name may begin; `None` when there are no more members.
    at: Option<usize>,
    first: bool,
    whole: bool,
}

impl<'a> Members<'a> {
    /// The members of the map that is the whole of `text`, except for white space.
    pub fn of(text: &'a str) -> Members<'a> {
        let (next, at) = after_space(text.as_bytes(), 0);
        Members { text, at: (next == b'{').then_some(at + 1), first: true, whole: false }
    }

    /// Whether every member was read, and nothing stands behind the map.
    pub fn is_whole(&self) -> bool {
        self.whole
    }

    fn step(&mut self, from: usize) -> Option<(Cow<'a, str>, &'a str)> {
        let bytes = self.text.as_bytes();
        let (mut next, mut at) = after_space(bytes, from);
        if next == b'}' {
            self.whole = after_space(bytes, at + 1).1 == bytes.len();
            return None;
        }
        if !std::mem::take(&mut self.first) {
            if next != b',' {
                return None;
            }
            (next, at) = after_space(bytes, at + 1);
        }
        if next != b'"' {
            return None;
        }
        let end = string(bytes, at)?;
        let name = unescaped(&self.text[at..end])?;
        let (colon, place) = after_space(bytes, end);
        if colon != b':' {
            return None;
        }
        let (_, begin) = after_space(bytes, place + 1);
        let end = value(self.text, begin)?;
        self.at = Some(end);
        Some((name, &self.text[begin..end]))
    }
}

impl<'a> Iterator for Members<'a> {
    type Item = (Cow<'a, str>, &'a str);

    fn next(&mut self) -> Option<Self::Item> {
        let from = self.at.take()?;
        self.step(from)
    }
}

/// The value of a map's member as text. Of several members of that name it is the last one, as for Go and `serde_json`.
pub fn member<'a>(map: &'a str, name: &str) -> Option<&'a str> {
    Members::of(map).filter(|(own, _)| own == name).last().map(|(_, value)| value)
}

/// The elements of a list as text; none where the text is no list. After a malformed element there are no more.
pub fn elements(list: &str) -> impl Iterator<Item = &str> {
    let bytes = list.as_bytes();
    let (open, begin) = after_space(bytes, 0);
    let mut at = (open == b'[').then_some(begin + 1);
    let mut first = true;
    std::iter::from_fn(move || {
        let (mut next, mut begin) = after_space(bytes, at.take()?);
        if !std::mem::take(&mut first) {
            if next != b',' {
                return None;
            }
            (next, begin) = after_space(bytes, begin + 1);
        }
        if next == b']' {
            return None;
        }
        let end = value(list, begin)?;
        at = Some(end);
        Some(&list[begin..end])
    })
}

/// What a string means, given as text with its quotes.
pub fn unescaped(quoted: &str) -> Option<Cow<'_, str>> {
    let inner = quoted.strip_prefix('"')?.strip_suffix('"')?;
    match inner.bytes().any(|byte| byte == b'\\') {
        false => Some(Cow::Borrowed(inner)),
        true => serde_json::from_str(quoted).ok().map(Cow::Owned),
    }
}

/// The first byte of a value, which tells its type; 0 where there is none.
pub fn first(text: &str) -> u8 {
    byte(text.as_bytes(), 0)
}

#[cfg(test)]
mod tests {
    use serde_json::Value;
    use serde_json::value::RawValue;

    use super::*;

    #[test]
    fn members_and_elements_are_those_of_serde_json() {
        for text in [
            "{}",
            r#"{"a":1}"#,
            r#" { "a" : [1, {"b": "}"}] , "\u0061\n" : null } "#,
            r#"{"a":{"b":{}},"c":"\"","d":-1.5e3,"e":true}"#,
            "[]",
            r#" [ 1 , "a,]" , {"b":[]} , [[]] ] "#,
        ] {
            let whole: Value = serde_json::from_str(text).unwrap();
            let (map, list) = (whole.as_object(), whole.as_array());
            let mut members = Members::of(text);
            let read: Vec<(String, Value)> =
                members.by_ref().map(|(name, value)| (name.into(), serde_json::from_str(value).unwrap())).collect();
            assert_eq!(members.is_whole(), map.is_some(), "{text}");
            let expected = map.into_iter().flatten().map(|(name, value)| (name.clone(), value.clone()));
            assert_eq!(read, expected.collect::<Vec<_>>(), "{text}");
            let read: Vec<Value> = elements(text).map(|value| serde_json::from_str(value).unwrap()).collect();
            assert_eq!(&read, list.unwrap_or(&Vec::new()), "{text}");
        }
    }

    #[test]
    fn what_is_cut_has_no_end() {
        let text = r#"{"a":[1,{"b":"c"}],"d":{"e":null}}"#;
        for at in 0..text.len() {
            let mut members = Members::of(&text[..at]);
            members.by_ref().for_each(drop);
            assert!(!members.is_whole(), "{}", &text[..at]);
            assert!(elements(&text[..at]).count() <= 2);
        }
        for text in ["", "{} x", "{\"a\":1,}x", "{\"a\"}", "{\"a\":}", "{1:2}", "{\"a\":1 \"b\":2}"] {
            let mut members = Members::of(text);
            members.by_ref().for_each(drop);
            assert!(!members.is_whole(), "{text}");
        }
    }

    #[test]
    fn of_two_members_with_one_name_the_last_counts() {
        assert_eq!(member(r#"{"a":1,"b":2,"a":3}"#, "a"), Some("3"));
        assert_eq!(member(r#"{"a":1}"#, "c").or(member("[1]", "a")).or(member("7", "")), None);
        let raw: &RawValue = serde_json::from_str("[1]").unwrap();
        assert_eq!(elements(raw.get()).collect::<Vec<_>>(), ["1"]);
    }
}
