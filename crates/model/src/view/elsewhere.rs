//! What is said beside the filter of its words that are about something which the present view does not have. They take
//! nothing away there.

use kubechurn_changes::filter::grammar::Part;

use crate::kind_id::listed;

/// The sentence beside the filter of a table; `None` where all words say something.
pub fn elsewhere_in_table(words: &[&'static str]) -> Option<String> {
    let is_of_changes = words.iter().any(|word| Part::named(word).is_some());
    let why = if is_of_changes { "changes have that, rows do not" } else { "no kind in view has such a column" };
    sentence(words, why)
}

/// The sentence beside the filter of the feed; `None` where all words say something.
pub fn elsewhere_in_feed(words: &[&'static str]) -> Option<String> {
    sentence(words, "it is a column of a table, and a change has none")
}

fn sentence(words: &[&'static str], why: &str) -> Option<String> {
    let takes = if words.len() == 1 { "takes" } else { "take" };
    let words: Vec<String> = words.iter().map(|word| format!("{word}:")).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    (!words.is_empty()).then(|| format!("{} {takes} nothing away here: {why}.", listed(&words)))
}
