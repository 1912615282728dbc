//! The grammar of every filter: of the table, of the feed and of notifications.
//!
//! A filter is a list of terms, all of which must hold, whatever the case. A term is a word, or a regular expression
//! between slashes. `!` before a term excludes what contains it, and `PART:` limits the term to one part of what is
//! searched: `by:!kubelet` is the same as `!by:kubelet`. Before a colon that follows no part stands a word like any other
//! (`10.0.0.1:80`).
//!
//! A part is meant whatever its case, and with anything or nothing for its spaces (`NOMINATED-NODE:`). A new one is added
//! to [`Part`] and [`WORDS`], and to the filter that searches it.

use crate::filter::pattern::{FilterError, Pattern};

/// A part of a change or of a row that is searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The kind.
    Kind,
    /// The cluster.
    Cluster,
    /// The namespace.
    Namespace,
    /// The name.
    Name,
    /// One of a table's columns, by its place among them.
    Column(usize),
    /// The path of a field that changed.
    Path,
    /// The manager that wrote a change.
    By,
    /// The type of a delta, or of a Kubernetes Event.
    Type,
    /// An owner's kind, name or both, as in `ReplicaSet/cart-7c9d`.
    Owner,
    /// The reason of a Kubernetes Event.
    Reason,
    /// The state of an object, or that a change brings: `failing`, or the word for it.
    Status,
    /// A part that what is searched does not have, by its word: the term takes nothing away.
    Elsewhere(&'static str),
}

/// The words for the parts.
const WORDS: [(&str, Part); 12] = [
    ("kind", Part::Kind),
    ("cluster", Part::Cluster),
    ("namespace", Part::Namespace),
    ("ns", Part::Namespace),
    ("name", Part::Name),
    ("path", Part::Path),
    ("by", Part::By),
    ("manager", Part::By),
    ("type", Part::Type),
    ("owner", Part::Owner),
    ("reason", Part::Reason),
    ("status", Part::Status),
];

impl Part {
    /// The part with this word; `None` if there is none.
    pub fn named(word: &str) -> Option<Part> {
        Part::known(word).map(|(_, part)| part)
    }

    /// The part with this word, and the word as it is written usually; `None` if there is none.
    pub fn known(word: &str) -> Option<(&'static str, Part)> {
        WORDS.iter().find(|(known, _)| is_same_title(known, word)).copied()
    }
}

/// Whether two titles differ only in their case and in what stands for a space.
pub fn is_same_title(one: &str, two: &str) -> bool {
    let letters = |title| -> _ {
        let kept = str::chars(title).filter(|letter| !matches!(letter, ' ' | '-' | '_'));
        kept.flat_map(char::to_uppercase)
    };
    letters(one).eq(letters(two))
}

/// A term of a filter.
#[derive(Clone, PartialEq)]
pub struct Term {
    /// The word or the regular expression.
    pub pattern: Pattern,
    /// The part that is searched; `None` for all parts.
    pub part: Option<Part>,
    /// Whether the term must not be found.
    pub excludes: bool,
}

/// Takes out the terms about parts that what is searched does not have, and returns the words of these parts.
pub fn take_elsewhere(terms: &mut Vec<Term>) -> Vec<&'static str> {
    let mut words = Vec::new();
    terms.retain(|term| match term.part {
        Some(Part::Elsewhere(word)) => {
            if !words.contains(&word) {
                words.push(word);
            }
            false
        }
        _ => true,
    });
    words
}

/// Reads what the user wrote. `part_of` gives the part that stands before a colon, where there is one.
///
/// # Errors
///
/// When a regular expression cannot be read.
pub fn parse(text: &str, part_of: &dyn Fn(&str) -> Option<Part>) -> Result<Vec<Term>, FilterError> {
    let mut terms = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let begun = rest;
        let mut excludes = rest.starts_with('!');
        rest = rest.strip_prefix('!').unwrap_or(rest);
        let titled = rest.split_once(':').filter(|(title, _)| !title.contains(char::is_whitespace));
        let part = titled.and_then(|(title, after)| Some((part_of(title)?, after)));
        if let Some((_, after)) = part {
            excludes ^= after.starts_with('!');
            rest = after.strip_prefix('!').unwrap_or(after);
        }
        let (pattern, after) = Pattern::read(rest).map_err(|error| error.within(begun))?;
        rest = after.trim_start();
        // `!` or `STATUS:` alone is a term that the user is still typing.
        if !pattern.is_empty() {
            terms.push(Term { pattern, part: part.map(|(part, _)| part), excludes });
        }
    }
    Ok(terms)
}
