//! The filter of a table: the words that rows must hold, how the user's text is read, and what in a row they match.
//!
//! A word matches in the namespace, the name or any cell, the kind included where there are several, whatever the case;
//! all words must. `/…/` is a regular expression, `COLUMN:word` looks into one column alone, `!word` must not match.
//! What changes by itself (an age) is not searched: rows would come and go without a change of their objects.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use memchr::memchr2;
use regex_lite::{Regex, RegexBuilder};

use kubechurn_client::api::cell::CellRef;
use kubechurn_client::api::object::Object;
use kubechurn_client::api::sort::sort_by_key;

use crate::kind_id::KindId;
use crate::table::schema::TableSchema;
use kubechurn_columns::column::Column;

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

/// A part of a row that is searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The kind, on a table of several kinds.
    Kind,
    /// The namespace.
    Namespace,
    /// The name.
    Name,
    /// One of the table's columns.
    Cell(usize),
}

/// A filter. Cloning it costs little.
#[derive(Clone, Default, PartialEq)]
pub struct Filter {
    terms: Arc<[Term]>,
}

#[derive(Clone, PartialEq)]
struct Term {
    pattern: Pattern,
    /// The part that is searched; `None` for all parts.
    place: Option<Place>,
    excludes: bool,
}

#[derive(Clone)]
enum Pattern {
    /// The word in lower case.
    Word(String),
    Expression(Regex),
}

impl Filter {
    /// Reads what the user wrote, about a kind with these columns. A column's title is meant whatever its case, and
    /// with anything or nothing for its spaces (`NOMINATED-NODE:`); before a colon that follows no title stands a word
    /// like any other (`10.0.0.1:80`).
    ///
    /// # Errors
    ///
    /// When a regular expression cannot be read.
    pub fn parse(text: &str, columns: &[Column]) -> Result<Filter, FilterError> {
        Filter::read(text, columns, false)
    }

    /// Reads what the user wrote about a table of one kind or of several. On a table of several kinds, `KIND:` searches
    /// the kinds' names.
    ///
    /// # Errors
    ///
    /// When a regular expression cannot be read.
    pub fn over(text: &str, schema: &TableSchema) -> Result<Filter, FilterError> {
        Filter::read(text, schema.columns(), schema.is_several())
    }

    fn read(text: &str, columns: &[Column], several: bool) -> Result<Filter, FilterError> {
        let mut terms = Vec::new();
        let mut rest = text.trim_start();
        while !rest.is_empty() {
            let begun = rest;
            let excludes = rest.starts_with('!');
            rest = rest.strip_prefix('!').unwrap_or(rest);
            let place = titled(rest, columns, several);
            let place = place.map(|(place, after)| {
                rest = after;
                place
            });
            let pattern = if rest.starts_with('/') {
                let (expression, after) = expression(rest).ok_or_else(|| FilterError::Open(begun.trim_end().into()))?;
                rest = after;
                let built = RegexBuilder::new(expression).case_insensitive(true).build();
                let bad = |error: regex_lite::Error| FilterError::Bad {
                    expression: format!("/{expression}/"),
                    why: error.to_string(),
                };
                Pattern::Expression(built.map_err(bad)?)
            } else {
                let (word, after) = rest.split_at(rest.find(char::is_whitespace).unwrap_or(rest.len()));
                rest = after;
                Pattern::Word(word.to_lowercase())
            };
            // `!` or `STATUS:` alone is a term that the user is still typing.
            if !matches!(&pattern, Pattern::Word(word) if word.is_empty()) {
                terms.push(Term { pattern, place, excludes });
            }
            rest = rest.trim_start();
        }
        Ok(Filter { terms: terms.into() })
    }

    /// Whether the filter lets everything through.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// Whether this filter refuses every row that `before` refuses: the user typed a word further, or added one.
    pub fn narrows(&self, before: &Filter) -> bool {
        before.terms.iter().all(|old| {
            self.terms.iter().any(|new| {
                (old.place, old.excludes) == (new.place, new.excludes)
                    && match (&old.pattern, &new.pattern) {
                        // A longer word is found in fewer rows, so that excluding it lets more rows through.
                        (Pattern::Word(one), Pattern::Word(two)) if old.excludes => one.contains(two.as_str()),
                        (Pattern::Word(one), Pattern::Word(two)) => two.contains(one.as_str()),
                        (one, two) => one == two,
                    }
            })
        })
    }

    /// Whether an object of the schema's kind with this number is let through. `scratch` is a buffer whose content is
    /// lost.
    pub fn matches(&self, schema: &TableSchema, kind: KindId, object: &Object, scratch: &mut String) -> bool {
        self.terms.iter().all(|term| term.is_found(schema, kind, object, scratch) != term.excludes)
    }

    /// Where the words match that the filter requires of a text at this place: ranges of bytes of `text`, in order and
    /// not adjacent. `text` is what [`searched`] appends for a cell.
    pub fn marks(&self, place: Place, text: &str) -> Vec<Range<usize>> {
        let mut marks: Vec<Range<usize>> = Vec::new();
        let terms = self.terms.iter().filter(|term| !term.excludes && term.place.is_none_or(|own| own == place));
        for term in terms {
            match &term.pattern {
                Pattern::Word(word) => {
                    let mut from = 0;
                    while let Some(found) = find(&text[from..], word) {
                        marks.push(from + found.start..from + found.end);
                        from += found.end;
                    }
                }
                Pattern::Expression(expression) => {
                    let found = expression.find_iter(text).map(|found| found.range());
                    marks.extend(found.filter(|range| !range.is_empty()));
                }
            }
        }
        sort_by_key(&mut marks, |range| (range.start, range.end));
        marks.dedup_by(|next, last| {
            let touches = next.start <= last.end;
            last.end = if touches { last.end.max(next.end) } else { last.end };
            touches
        });
        marks
    }
}

impl Term {
    fn is_found(&self, schema: &TableSchema, kind: KindId, object: &Object, scratch: &mut String) -> bool {
        match self.place {
            Some(Place::Kind) => self.pattern.is_in(schema.label(kind)),
            Some(Place::Namespace) => self.pattern.is_in(&object.key.namespace),
            Some(Place::Name) => self.pattern.is_in(&object.key.name),
            Some(Place::Cell(at)) => {
                let cell = schema.cell(kind, at).and_then(|at| object.cells.get(at));
                cell.is_some_and(|cell| self.is_in_cell(cell, scratch))
            }
            None => {
                self.pattern.is_in(&object.key.name)
                    || self.pattern.is_in(&object.key.namespace)
                    || object.cells.iter().any(|cell| self.is_in_cell(cell, scratch))
                    || (schema.is_several() && self.pattern.is_in(schema.label(kind)))
            }
        }
    }

    fn is_in_cell(&self, cell: CellRef<'_>, scratch: &mut String) -> bool {
        match cell.text() {
            None if self.pattern.has_letters() && is_counted(cell) => false,
            Some(text) if !text.bytes().any(|byte| byte < b' ') => self.pattern.is_in(text),
            _ => {
                scratch.clear();
                searched(cell, scratch);
                self.pattern.is_in(scratch)
            }
        }
    }
}

impl Pattern {
    /// Whether no number contains the word.
    fn has_letters(&self) -> bool {
        matches!(self, Pattern::Word(word) if word.bytes().any(|byte| !matches!(byte, b'0'..=b'9' | b'-' | b'/')))
    }

    fn is_in(&self, text: &str) -> bool {
        match self {
            Pattern::Word(word) => find(text, word).is_some(),
            Pattern::Expression(expression) => expression.is_match(text),
        }
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Pattern) -> bool {
        match (self, other) {
            (Pattern::Word(one), Pattern::Word(two)) => one == two,
            (Pattern::Expression(one), Pattern::Expression(two)) => one.as_str() == two.as_str(),
            _ => false,
        }
    }
}

impl fmt::Debug for Filter {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Filter of {} terms", self.terms.len())
    }
}

/// Appends the part of a cell's text that is searched: the part that does not change by itself. It is always the
/// beginning of what [`CellRef::write`] appends.
pub fn searched(cell: CellRef<'_>, out: &mut String) {
    match cell {
        CellRef::Restarts(count, _) => CellRef::Number(count).write(kubechurn_client::api::time::Timestamp(0), out),
        cell if cell.changes_with_time() => {}
        cell => cell.write(kubechurn_client::api::time::Timestamp(0), out),
    }
}

/// Whether the searched part of a cell's text consists of numbers, so that a word with letters cannot match.
fn is_counted(cell: CellRef<'_>) -> bool {
    matches!(cell, CellRef::Number(_) | CellRef::Ratio(..) | CellRef::Restarts(..))
}

/// The place that a title before a colon names, and what follows the colon.
fn titled<'a>(text: &'a str, columns: &[Column], several: bool) -> Option<(Place, &'a str)> {
    let (title, after) = text.split_once(':').filter(|(title, _)| !title.contains(char::is_whitespace))?;
    let letters = |title: &str| -> String {
        let kept = title.chars().filter(|letter| !matches!(letter, ' ' | '-' | '_'));
        kept.flat_map(char::to_uppercase).collect()
    };
    let wanted = letters(title);
    let place = match &*wanted {
        "NAMESPACE" => Place::Namespace,
        "KIND" if several => Place::Kind,
        wanted => match columns.iter().position(|column| letters(column.title) == wanted) {
            Some(at) => Place::Cell(at),
            None if wanted == "NAME" => Place::Name,
            None => return None,
        },
    };
    Some((place, after))
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
mod tests;
