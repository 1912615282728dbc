//! Where a JSON value ends, told by its strings and braces alone.

/// Finds the end of one value whose bytes come in pieces. Whether the value is valid JSON is not looked at.
///
/// Of an object only the braces are counted, and of an array only the brackets: what else there is must match in valid
/// JSON, and where it does not, whoever reads the value finds that out.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ValueEnd {
    shape: Shape,
    /// How many braces or brackets are open.
    depth: usize,
    /// Whether a string is open.
    in_string: bool,
    /// Whether the last byte was a backslash in a string, so that the next one belongs to it.
    escaped: bool,
}

/// What ends a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Shape {
    /// The brace that matches the first one.
    Object,
    /// The bracket that matches the first one.
    Array,
    /// The second quotation mark.
    String,
    /// What cannot be a part of a number or of `true`, `false` and `null`.
    #[default]
    Word,
}

impl ValueEnd {
    /// For a value that begins with this byte; `None` where no value does.
    pub(super) fn of(first: u8) -> Option<ValueEnd> {
        let shape = match first {
            b'{' => Shape::Object,
            b'[' => Shape::Array,
            b'"' => Shape::String,
            b'-' | b'0'..=b'9' | b'a'..=b'z' => Shape::Word,
            _ => return None,
        };
        Some(ValueEnd { shape, ..ValueEnd::default() })
    }

    /// How many of these bytes belong to the value; `None` means all of them, and that the value goes on.
    pub(super) fn find(&mut self, bytes: &[u8]) -> Option<usize> {
        match self.shape {
            Shape::Object => self.find_closed(bytes, b'{', b'}'),
            Shape::Array => self.find_closed(bytes, b'[', b']'),
            // A string opens and closes nothing but itself.
            Shape::String if !self.in_string && self.depth == 0 => {
                (self.in_string, self.depth) = (true, 1);
                Some(1 + self.find_quote(bytes.get(1..).unwrap_or_default())?)
            }
            Shape::String => self.find_quote(bytes),
            Shape::Word => {
                bytes.iter().position(|byte| !matches!(byte, b'-' | b'+' | b'.' | b'0'..=b'9' | b'a'..=b'z' | b'E'))
            }
        }
    }

    fn find_closed(&mut self, bytes: &[u8], open: u8, close: u8) -> Option<usize> {
        let mut at = 0;
        loop {
            if self.in_string {
                at += self.find_quote(bytes.get(at..)?)?;
            }
            // Between two strings there are mostly two or three bytes.
            loop {
                let byte = *bytes.get(at)?;
                at += 1;
                if byte == b'"' {
                    break;
                }
                if byte == open {
                    self.depth += 1;
                } else if byte == close {
                    self.depth -= 1;
                    if self.depth == 0 {
                        return Some(at);
                    }
                }
            }
            self.in_string = true;
        }
    }

    /// How many of these bytes belong to the open string, its last quotation mark included; `None` where the string goes on.
    fn find_quote(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut at = usize::from(std::mem::take(&mut self.escaped));
        if bytes.is_empty() {
            self.escaped = at > 0;
            return None;
        }
        loop {
            let rest = bytes.get(at..)?;
            at += find_special(rest)? + 1;
            if bytes.get(at - 1) == Some(&b'"') {
                self.in_string = false;
                return Some(at);
            }
            self.escaped = at == bytes.len();
            at += 1;
        }
    }
}

/// The place of the first quotation mark or backslash. Most strings are short, so that eight bytes at a time are as fast
/// as wider steps, and need no preparation.
fn find_special(bytes: &[u8]) -> Option<usize> {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    const HIGH: u64 = u64::from_ne_bytes([0x80; 8]);
    const QUOTES: u64 = u64::from_ne_bytes([b'"'; 8]);
    const BACKSLASHES: u64 = u64::from_ne_bytes([b'\\'; 8]);
    // The high bit of each byte that is zero, exactly up to the first such byte.
    let zeros = |word: u64| word.wrapping_sub(ONES) & !word & HIGH;
    let (chunks, rest) = bytes.as_chunks::<8>();
    for (at, chunk) in chunks.iter().enumerate() {
        let word = u64::from_le_bytes(*chunk);
        let found = zeros(word ^ QUOTES) | zeros(word ^ BACKSLASHES);
        if found != 0 {
            return Some(at * 8 + found.trailing_zeros() as usize / 8);
        }
    }
    let at = rest.iter().position(|byte| matches!(byte, b'"' | b'\\'))?;
    Some(chunks.len() * 8 + at)
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

    #[test]
    fn the_first_special_byte_is_found_at_any_place() {
        for length in 0..40 {
            for at in 0..length {
                for special in *b"\"\\" {
                    // Bytes that differ from a special one in one bit, and one special byte more behind it.
                    let mut bytes = vec![special ^ 1; length];
                    bytes[at] = special;
                    *bytes.last_mut().unwrap() = special;
                    assert_eq!(find_special(&bytes), Some(at), "{at} of {length}");
                }
            }
            assert_eq!(find_special(&vec![0xff; length]), None);
        }
    }
}
