//! An old and a new value beside each other, with the part that differs.

use serde_json::Value;

use crate::history::secret;
use crate::inspector::diff::{LONGEST, brief, cut};

/// How much of what is the same stands before the difference in values that are too long to be shown whole, in bytes.
const CONTEXT: usize = 60;

/// Two values in words. What is the same at both ends is there once; words are not cut apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rewrite {
    /// What both begin with.
    pub before: String,
    /// The part of the old value that differs.
    pub old: String,
    /// The part of the new value that differs.
    pub new: String,
    /// What both end with.
    pub after: String,
}

impl Rewrite {
    /// The part in which two values differ.
    pub fn of(old: &Value, new: &Value) -> Rewrite {
        let (old, new) = match (old.as_str(), new.as_str()) {
            (Some(old), Some(new)) if old.len().max(new.len()) > LONGEST && !is_masked(old) && !is_masked(new) => {
                let start = common_start(old, new);
                let from = old.floor_char_boundary(start.saturating_sub(CONTEXT));
                let excerpt = |text: &str| {
                    let lead = if from > 0 { "…" } else { "" };
                    format!("{lead}{}", brief(&Value::from(&text[from..])))
                };
                (excerpt(old), excerpt(new))
            }
            _ => (brief(old), brief(new)),
        };
        Rewrite::parts(&old, &new)
    }

    /// The part in which two lines of a text differ; of long ones the part around it.
    pub fn of_lines(old: &str, new: &str) -> Rewrite {
        let from = match old.len().max(new.len()) > LONGEST {
            true => old.floor_char_boundary(common_start(old, new).saturating_sub(CONTEXT)),
            false => 0,
        };
        let lead = if from > 0 { "…" } else { "" };
        let excerpt = |text: &str| format!("{lead}{}", cut(&text[from..], LONGEST));
        Rewrite::parts(&excerpt(old), &excerpt(new))
    }

    fn parts(old: &str, new: &str) -> Rewrite {
        let mut start = common_start(old, new);
        while is_in_word(old, start) || is_in_word(new, start) {
            start = old.floor_char_boundary(start - 1);
        }
        let most = old.len().min(new.len()) - start;
        let same = old.bytes().rev().zip(new.bytes().rev()).take(most).take_while(|(old, new)| old == new).count();
        let mut end = same;
        while end > 0 && (!old.is_char_boundary(old.len() - end) || cuts(old, end) || cuts(new, end)) {
            end -= 1;
        }
        Rewrite {
            before: old[..start].to_owned(),
            old: old[start..old.len() - end].to_owned(),
            new: new[start..new.len() - end].to_owned(),
            after: old[old.len() - end..].to_owned(),
        }
    }

    /// The whole old value.
    pub fn whole_old(&self) -> String {
        format!("{}{}{}", self.before, self.old, self.after)
    }

    /// The whole new value.
    pub fn whole_new(&self) -> String {
        format!("{}{}{}", self.before, self.new, self.after)
    }
}

fn is_masked(text: &str) -> bool {
    secret::mask(text).is_some()
}

/// How many bytes both begin with, in whole letters.
fn common_start(old: &str, new: &str) -> usize {
    let same = old.bytes().zip(new.bytes()).take_while(|(old, new)| old == new).count();
    let start = old.floor_char_boundary(same);
    // Letters that differ may begin with the same byte in both.
    start.min(new.floor_char_boundary(same))
}

fn cuts(text: &str, end: usize) -> bool {
    is_in_word(text, text.len() - end)
}

/// Whether a place is between two letters of a word.
fn is_in_word(text: &str, at: usize) -> bool {
    if !text.is_char_boundary(at) {
        return true;
    }
    let (before, after) = text.split_at(at);
    let is_letter = |letter: Option<char>| letter.is_some_and(char::is_alphanumeric);
    is_letter(before.chars().next_back()) && is_letter(after.chars().next())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(old: &str, new: &str, expected: [&str; 4]) {
        let Rewrite { before, old, new, after } = Rewrite::parts(old, new);
        assert_eq!([&*before, &*old, &*new, &*after], expected);
    }

    #[test]
    fn the_words_that_differ_are_found() {
        check("web:1.14", "web:9-typo", ["web:", "1.14", "9-typo", ""]);
        check("registry/web:1.14.1@x", "registry/web:1.14.2@x", ["registry/web:1.14.", "1", "2", "@x"]);
        check("True", "False", ["", "True", "False", ""]);
        check("5", "15", ["", "5", "15", ""]);
        check("a b", "a x b", ["a ", "", "x ", "b"]);
        check("a, b", "a", ["a", ", b", "", ""]);
        check("same", "same", ["same", "", "", ""]);
        check("", "x", ["", "", "x", ""]);
        check("é ü", "é ö", ["é ", "ü", "ö", ""]);
    }

    #[test]
    fn of_a_long_text_the_part_around_the_difference_is_shown() {
        let long = "line of a file, ".repeat(1_000);
        let (old, new) = (format!("{long}colour=red; {long}"), format!("{long}colour=blue; {long}"));
        let found = Rewrite::of(&json!(old), &json!(new));
        assert!(found.before.starts_with('…') && found.before.ends_with("colour="), "{found:?}");
        assert!(found.old.starts_with("red") && found.new.starts_with("blue"), "{found:?}");
        assert!(found.whole_old().len() < 2 * LONGEST && found.whole_new().len() < 2 * LONGEST);
        let short = Rewrite::of(&json!("a"), &json!({"a": 1}));
        assert_eq!((&*short.whole_old(), &*short.whole_new()), ("a", "{a: 1}"));
    }

    proptest! {
        #[test]
        fn nothing_is_left_out(old in "[a-c é=ü😀]{0,9}", new in "[a-c é=ü😀]{0,9}") {
            let found = Rewrite::parts(&old, &new);
            prop_assert_eq!((found.whole_old(), found.whole_new()), (old, new));
        }
    }
}
