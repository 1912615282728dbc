//! One word of a filter, as the user wrote it: a word, or a regular expression between slashes.

use std::ops::Range;

use kubechurn_client::api::object::ObjectKey;
use memchr::memchr2;
use regex_lite::{Regex, RegexBuilder};

/// Why a filter cannot be read, in words for the user.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FilterError {
    /// A regular expression has no end.
    #[error("the regular expression {0} has no end: close it with a /")]
    Open(String),
    /// A regular expression is not valid.
    #[error("{expression} is no regular expression: {why}")]
    Bad {
        /// The expression, as the user wrote it.
        expression: String,
        /// What is wrong with it, in the words of the regex engine.
        why: String,
    },
}

impl FilterError {
    /// The error with the whole term in which it is: what the user wrote, from the term's first letter on.
    pub fn within(self, term: &str) -> FilterError {
        match self {
            FilterError::Open(_) => FilterError::Open(term.trim_end().into()),
            bad => bad,
        }
    }
}

/// What a text must contain, whatever the case.
#[derive(Clone, Debug)]
pub struct Pattern(Kind);

#[derive(Clone, Debug)]
enum Kind {
    /// The word in lower case.
    Word(String),
    Expression(Regex),
}

impl Pattern {
    /// Reads the pattern with which a text begins, and gives the text after it. A word ends at a space.
    ///
    /// # Errors
    ///
    /// When a regular expression cannot be read.
    pub fn read(text: &str) -> Result<(Pattern, &str), FilterError> {
        if !text.starts_with('/') {
            let (word, after) = text.split_at(text.find(char::is_whitespace).unwrap_or(text.len()));
            return Ok((Pattern(Kind::Word(word.to_lowercase())), after));
        }
        let (expression, after) = expression(text).ok_or_else(|| FilterError::Open(text.trim_end().into()))?;
        let built = RegexBuilder::new(expression).case_insensitive(true).build();
        let bad = |error: regex_lite::Error| FilterError::Bad {
            expression: format!("/{expression}/"),
            why: error.to_string(),
        };
        Ok((Pattern(Kind::Expression(built.map_err(bad)?)), after))
    }

    /// Whether it is a word without a letter.
    pub fn is_empty(&self) -> bool {
        matches!(&self.0, Kind::Word(word) if word.is_empty())
    }

    /// Whether no number contains the word.
    pub fn has_letters(&self) -> bool {
        let Kind::Word(word) = &self.0 else { return false };
        word.bytes().any(|byte| !matches!(byte, b'0'..=b'9' | b'-' | b'/'))
    }

    /// Whether a text contains it.
    pub fn is_in(&self, text: &str) -> bool {
        match &self.0 {
            Kind::Word(word) => find(text, word).is_some(),
            Kind::Expression(expression) => expression.is_match(text),
        }
    }

    /// Whether the name of an object contains it, or its namespace, or both as they are written together: `namespace/name`.
    pub fn is_in_key(&self, key: &ObjectKey) -> bool {
        let asks_for_both = matches!(&self.0, Kind::Word(word) if word.contains('/'));
        self.is_in(&key.name) || self.is_in(&key.namespace) || (asks_for_both && self.is_in(&key.to_string()))
    }

    /// Whether a path contains it: a word at the beginning of a step, so that `spec` is in `spec.replicas` and not in
    /// `metadata.annotations.myspec`.
    pub fn is_in_path(&self, path: &str) -> bool {
        let Kind::Word(word) = &self.0 else { return self.is_in(path) };
        let mut from = 0;
        while let Some(found) = find(&path[from..], word) {
            let begins = path[..from + found.start].chars().next_back();
            if begins.is_none_or(|letter| matches!(letter, '.' | '[' | '"' | '/')) {
                return true;
            }
            from += found.end;
        }
        false
    }

    /// Whether every text that contains `other` contains this one.
    pub fn is_part_of(&self, other: &Pattern) -> bool {
        match (&self.0, &other.0) {
            (Kind::Word(one), Kind::Word(two)) => two.contains(one.as_str()),
            _ => self == other,
        }
    }

    /// Appends where it is in a text, in ranges of bytes.
    pub fn mark(&self, text: &str, marks: &mut Vec<Range<usize>>) {
        match &self.0 {
            Kind::Word(word) => {
                let mut from = 0;
                while let Some(found) = find(&text[from..], word) {
                    marks.push(from + found.start..from + found.end);
                    from += found.end;
                }
            }
            Kind::Expression(expression) => {
                let found = expression.find_iter(text).map(|found| found.range());
                marks.extend(found.filter(|range| !range.is_empty()));
            }
        }
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Pattern) -> bool {
        match (&self.0, &other.0) {
            (Kind::Word(one), Kind::Word(two)) => one == two,
            (Kind::Expression(one), Kind::Expression(two)) => one.as_str() == two.as_str(),
            _ => false,
        }
    }
}

/// The text between two slashes, of which the second ends a word, and the text after it. A slash within the expression
/// is written `\/`, or unescaped if the word goes on after it.
fn expression(text: &str) -> Option<(&str, &str)> {
    let inner = text.strip_prefix('/')?;
    let mut escaped = false;
    for (at, letter) in inner.char_indices() {
        let after = &inner[at + letter.len_utf8()..];
        if letter == '/' && !escaped && at > 0 && (after.is_empty() || after.starts_with(char::is_whitespace)) {
            return Some((&inner[..at], after));
        }
        escaped = letter == '\\' && !escaped;
    }
    None
}

/// The range of bytes where a word in lower case first occurs in a text of any case.
fn find(text: &str, word: &str) -> Option<Range<usize>> {
    let (bytes, wanted) = (text.as_bytes(), word.as_bytes());
    let &first = wanted.first()?;
    if text.is_ascii() {
        let starts = bytes.len().checked_sub(wanted.len())? + 1;
        let mut from = 0;
        while let Some(at) = memchr2(first, first.to_ascii_uppercase(), &bytes[from..starts]) {
            from += at;
            if bytes[from..from + wanted.len()].eq_ignore_ascii_case(wanted) {
                return Some(from..from + wanted.len());
            }
            from += 1;
        }
        return None;
    }
    text.char_indices().find_map(|(start, _)| {
        let mut rest = word.chars();
        let mut wanted = rest.next();
        for (at, letter) in text[start..].char_indices() {
            for lower in letter.to_lowercase() {
                match wanted {
                    Some(letter) if letter == lower => wanted = rest.next(),
                    Some(_) => return None,
                    // A letter that becomes two letters in lower case, of which the word has only the first, counts as
                    // a whole.
                    None => {}
                }
            }
            if wanted.is_none() {
                return Some(start..start + at + letter.len_utf8());
            }
        }
        None
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_in_a_path_begins_a_step() {
        let check = |word: &str, path: &str, expected: bool| {
            let (pattern, rest) = Pattern::read(word).unwrap();
            assert_eq!((pattern.is_in_path(path), rest), (expected, ""), "{word} {path}");
        };
        check("spec", "spec.replicas", true);
        check("SPEC", "spec.template.spec.image", true);
        check("spec", "metadata.annotations.myspec", false);
        check("pec", "myspec.pec", true);
        check("ready", "status.conditions[Ready].status", true);
        check("x", "metadata.annotations[\"example.com/x\"]", true);
        check("/^spec\\./", "spec.replicas", true);
        check("/^spec\\./", "status.spec.x", false);
    }

    #[test]
    fn what_is_no_expression_is_said() {
        let error = |text| Pattern::read(text).err().map(|error| error.within("by:/x y").to_string());
        assert_eq!(error("/x y").as_deref(), Some("the regular expression by:/x y has no end: close it with a /"));
        assert!(error("/(/").is_some_and(|words| words.starts_with("/(/ is no regular expression: ")));
    }
}
