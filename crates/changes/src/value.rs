//! A value as it is shown: in few letters, with more of it kept.

use std::fmt::{self, Write};
use std::hash::Hasher;

use rustc_hash::FxHasher;
use smol_str::SmolStr;

use kubechurn_client::json;

/// The most letters of a value that are shown.
pub const SHOWN: usize = 60;
/// The most letters of a value that are kept.
pub const KEPT: usize = 1_000;
/// The most letters that are kept of a value that stands for others of its kind: as many as the name of an image has at most.
const BRIEF: usize = 300;
/// Separates the visible part of a masked value of a Secret from the part by which two values are distinguished. The
/// recorder's texts hold such values (`page::inspector::secret` of the model); no Secret's value ever comes here.
const APART: char = '\u{1f}';

/// A value in words. A string stands without its quotes; everything else as JSON.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Value {
    kept: SmolStr,
    /// The length of the value's text in bytes: of a string, without quotes and escapes.
    pub bytes: usize,
    /// Distinguishes values of which the same letters are kept.
    hash: u64,
}

impl Value {
    /// The value that this JSON text is.
    pub fn new(json: &str) -> Value {
        match json::unescaped(json) {
            Some(text) => Value::plain(text.split(APART).next().unwrap_or_default()),
            None => Value::plain(json),
        }
    }

    /// The value that this text is.
    pub fn plain(text: &str) -> Value {
        let mut hasher = FxHasher::default();
        hasher.write(text.as_bytes());
        Value { kept: cut(text, KEPT).into(), bytes: text.len(), hash: hasher.finish() }
    }

    /// The same value, of which only as much is kept as distinguishes it from most others.
    pub fn brief(&self) -> Value {
        let brief = cut(&self.kept, BRIEF);
        let kept = if brief.len() == self.kept.len() { self.kept.clone() } else { brief.into() };
        Value { kept, bytes: self.bytes, hash: self.hash }
    }

    /// Whether both are the same value, however much of each is kept.
    pub fn is(&self, other: &Value) -> bool {
        (self.hash, self.bytes) == (other.hash, other.bytes)
    }

    /// The value, or its first [`KEPT`] letters.
    pub fn kept(&self) -> &str {
        &self.kept
    }

    /// Whether all of the value is kept.
    pub fn is_whole(&self) -> bool {
        self.kept.len() == self.bytes
    }

    /// All that is kept, in one line.
    pub fn whole(&self) -> String {
        let text: String = self.kept.chars().map(in_line).collect();
        text + if self.is_whole() { "" } else { "…" }
    }

    /// The first [`SHOWN`] letters, and whether that is all of the value.
    pub fn shown(&self) -> (&str, bool) {
        let shown = cut(&self.kept, SHOWN);
        (shown, shown.len() == self.bytes)
    }
}

impl fmt::Display for Value {
    /// Writes what is shown, in one line, with an ellipsis where something is left out.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (shown, is_all) = self.shown();
        if self.bytes == 0 {
            return formatter.write_str("\"\"");
        }
        for letter in shown.chars() {
            formatter.write_char(in_line(letter))?;
        }
        formatter.write_str(if is_all { "" } else { "…" })
    }
}

fn in_line(letter: char) -> char {
    if letter.is_control() { ' ' } else { letter }
}

/// The first `most` letters of a text.
fn cut(text: &str, most: usize) -> &str {
    // No letter has less than a byte.
    if text.len() <= most {
        return text;
    }
    text.char_indices().nth(most).map_or(text, |(end, _)| &text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_cut_between_letters_and_kept() {
        let check = |json: &str, expected: &str| assert_eq!(Value::new(json).to_string(), expected);
        check(r#""Running""#, "Running");
        check(r#""""#, "\"\"");
        check("4", "4");
        check(r#"{"a":1}"#, r#"{"a":1}"#);
        check(r#""a\nb\u0000""#, "a b ");
        check(r#""•••• 4 bytes\u001f9f""#, "•••• 4 bytes");
        check(&format!("\"{}\"", "é".repeat(SHOWN)), &"é".repeat(SHOWN));
        let long = Value::new(&format!("\"{}\"", "é".repeat(SHOWN + 1)));
        assert_eq!(long.to_string(), format!("{}…", "é".repeat(SHOWN)));
        assert_eq!((long.kept().chars().count(), long.is_whole(), long.shown().1), (SHOWN + 1, true, false));
        let [long, other] = ["é", "è"].map(|last| Value::plain(&format!("{}{last}", "é".repeat(BRIEF))));
        assert!(long.brief().is(&long) && long.brief() == long.brief().brief() && !other.is(&long));
        assert!(other.brief() != long.brief() && other.brief().kept() == long.brief().kept());
        let longer = Value::plain(&"é".repeat(5_000));
        assert_eq!((longer.kept().chars().count(), longer.is_whole(), longer.bytes), (KEPT, false, 10_000));
    }
}
