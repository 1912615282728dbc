//! Where a JSON value ends whose bytes come in pieces.

use super::brackets::{BRACES, Brackets, SQUARE};
use super::string::plain;

/// Finds the end of one value whose bytes come in pieces. Whether the value is valid JSON is not looked at: it ends where
/// its brackets or quotes say.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum ValueEnd {
    /// The brace that matches the first one.
    Object(Brackets),
    /// The bracket that matches the first one.
    List(Brackets),
    /// The second quotation mark.
    String(Quotes),
    /// What cannot be a part of a number or of `true`, `false` and `null`.
    #[default]
    Word,
}

impl ValueEnd {
    /// For a value that begins with this byte; `None` where no value does.
    pub(crate) fn of(first: u8) -> Option<ValueEnd> {
        Some(match first {
            b'{' => ValueEnd::Object(Brackets::default()),
            b'[' => ValueEnd::List(Brackets::default()),
            b'"' => ValueEnd::String(Quotes::default()),
            b'-' | b'0'..=b'9' | b'a'..=b'z' => ValueEnd::Word,
            _ => return None,
        })
    }

    /// How many of these bytes belong to the value; `None` means all of them, and that the value goes on.
    pub(crate) fn find(&mut self, bytes: &[u8]) -> Option<usize> {
        match self {
            ValueEnd::Object(brackets) => brackets.find(bytes, BRACES),
            ValueEnd::List(brackets) => brackets.find(bytes, SQUARE),
            ValueEnd::String(quotes) => quotes.find(bytes),
            ValueEnd::Word => {
                bytes.iter().position(|byte| !matches!(byte, b'-' | b'+' | b'.' | b'0'..=b'9' | b'a'..=b'z' | b'E'))
            }
        }
    }
}

/// A string of which only the beginning has come.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Quotes {
    /// Whether the first quotation mark has come.
    is_open: bool,
    /// Whether the last byte was a backslash, so that the next one belongs to it.
    is_escaped: bool,
}

impl Quotes {
    fn find(&mut self, bytes: &[u8]) -> Option<usize> {
        if bytes.is_empty() {
            return None;
        }
        // The first quotation mark and the letter after a backslash are passed over.
        let mut at = usize::from(!self.is_open || self.is_escaped);
        (self.is_open, self.is_escaped) = (true, false);
        loop {
            at += plain(bytes.get(at..)?);
            match bytes.get(at)? {
                b'"' => return Some(at + 1),
                b'\\' => {
                    self.is_escaped = at + 1 == bytes.len();
                    at += 2;
                }
                // A control character: whoever reads the string refuses it.
                _ => at += 1,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<usize>) {
        let begin = ValueEnd::of(text.as_bytes()[0]).unwrap();
        assert_eq!(begin.clone().find(text.as_bytes()), expected, "{text}");
        // However the bytes are cut, the end is the same.
        for first in 1..=text.len() {
            for second in first..=text.len() {
                let (mut end, mut before) = (begin, 0);
                let found = [&text[..first], &text[first..second], &text[second..]].into_iter().find_map(|piece| {
                    let found = end.find(piece.as_bytes()).map(|length| before + length);
                    before += piece.len();
                    found
                });
                assert_eq!(found, expected, "{text} cut at {first} and {second}");
            }
        }
    }

    #[test]
    fn a_value_ends_where_its_braces_match() {
        for (text, expected) in [
            (r#"{"a":[1,{"b":"}"}]},{}"#, Some(19)),
            (r#"{"a":"\"}\\","b":"\\"}}"#, Some(22)),
            (r#"[1,[2],"]","\"]"] ,"#, Some(17)),
            (r#"["#, None),
            (r#"{"a":"}"#, None),
            (r#"{}x"#, Some(2)),
            (r#""a\"b\\","#, Some(8)),
            (r#""a\""#, None),
            (r#""""#, Some(2)),
            ("null,", Some(4)),
            ("-1.5e+7]", Some(7)),
            ("17", None),
            (r#"{"long":"0123456789 0123456789 0123456789 \\ 0123456789","b":{}} "#, Some(64)),
        ] {
            check(text, expected);
        }
        assert!(b"},:]< \xff".iter().all(|byte| ValueEnd::of(*byte).is_none()));
    }
}
