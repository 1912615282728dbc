//! The filter of a table: the words that rows must hold, how the user's text is read, and what in a row they match.
//!
//! A word matches in the namespace, the name or any cell, the kind included where there are several, whatever the case;
//! all words must. `/…/` is a regular expression, `COLUMN:word` looks into one column alone, `!word` must not match.
//! What changes by itself (an age) is not searched: rows would come and go without a change of their objects.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use kubechurn_changes::pattern::{FilterError, Pattern};
use kubechurn_client::api::cell::CellRef;
use kubechurn_client::api::object::Object;
use kubechurn_client::api::sort::sort_by_key;

use crate::kind_id::KindId;
use crate::table::schema::TableSchema;
use kubechurn_columns::column::Column;

/// A part of a row that is searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The kind, on a table of several kinds.
    Kind,
    /// The cluster, on a table of several clusters.
    Cluster,
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

impl Filter {
    /// Reads what the user wrote, about a kind with these columns. A column's title is meant whatever its case, and
    /// with anything or nothing for its spaces (`NOMINATED-NODE:`); before a colon that follows no title stands a word
    /// like any other (`10.0.0.1:80`).
    ///
    /// # Errors
    ///
    /// When a regular expression cannot be read.
    pub fn parse(text: &str, columns: &[Column]) -> Result<Filter, FilterError> {
        Filter::read(text, columns, [false; 2])
    }

    /// Reads what the user wrote about a table of one kind or of several. On a table of several kinds, `KIND:` searches
    /// the kinds' names, and on one of several clusters `CLUSTER:` those of the clusters.
    ///
    /// # Errors
    ///
    /// When a regular expression cannot be read.
    pub fn over(text: &str, schema: &TableSchema) -> Result<Filter, FilterError> {
        Filter::read(text, schema.columns(), [schema.has_labels(), schema.has_clusters()])
    }

    fn read(text: &str, columns: &[Column], several: [bool; 2]) -> Result<Filter, FilterError> {
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
            let (pattern, after) = Pattern::read(rest).map_err(|error| error.within(begun))?;
            rest = after;
            // `!` or `STATUS:` alone is a term that the user is still typing.
            if !pattern.is_empty() {
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
                        (one, two) if old.excludes => two.is_part_of(one),
                        (one, two) => one.is_part_of(two),
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
        terms.for_each(|term| term.pattern.mark(text, &mut marks));
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
            Some(Place::Cluster) => self.pattern.is_in(schema.cluster(kind)),
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
                    || (schema.has_labels() && self.pattern.is_in(schema.label(kind)))
                    || (schema.has_clusters() && self.pattern.is_in(schema.cluster(kind)))
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
fn titled<'a>(text: &'a str, columns: &[Column], [kinds, clusters]: [bool; 2]) -> Option<(Place, &'a str)> {
    let (title, after) = text.split_once(':').filter(|(title, _)| !title.contains(char::is_whitespace))?;
    let letters = |title: &str| -> String {
        let kept = title.chars().filter(|letter| !matches!(letter, ' ' | '-' | '_'));
        kept.flat_map(char::to_uppercase).collect()
    };
    let wanted = letters(title);
    let place = match &*wanted {
        "NAMESPACE" => Place::Namespace,
        "KIND" if kinds => Place::Kind,
        "CLUSTER" if clusters => Place::Cluster,
        wanted => match columns.iter().position(|column| letters(column.title) == wanted) {
            Some(at) => Place::Cell(at),
            None if wanted == "NAME" => Place::Name,
            None => return None,
        },
    };
    Some((place, after))
}

#[cfg(test)]
mod tests;
