//! The filter of a table: what the terms of the [`grammar`] match in a row.
//!
//! A term without a part is looked for in the namespace, the name and every cell, and in the kind and the cluster where
//! there are several. A term about something that the rows do not have takes none of them away. What changes by itself (an
//! age) is not searched: rows would come and go without a change of their objects.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use kubechurn_changes::filter::grammar::{self, Term, is_same_title};
use kubechurn_changes::filter::pattern::{FilterError, Pattern};
use kubechurn_client::api::cell::{CellRef, Tone};
use kubechurn_client::api::object::{Object, ObjectKey};
use kubechurn_client::api::sort::sort_by_key;

use crate::kind_id::KindId;
use crate::table::schema::TableSchema;
use kubechurn_columns::column::Column;
use kubechurn_columns::state::write_state;

pub use kubechurn_changes::filter::grammar::Part;

/// A filter. Cloning it costs little.
#[derive(Clone, Default, PartialEq)]
pub struct Filter {
    terms: Arc<[Term]>,
    elsewhere: Vec<&'static str>,
}

/// What terms are looked for in: an object of a kind of the schema, or the key of one that is not known any more.
#[derive(Clone, Copy)]
struct Searched<'a> {
    schema: &'a TableSchema,
    kind: KindId,
    key: &'a ObjectKey,
    object: Option<&'a Object>,
}

impl Filter {
    /// Reads what the user wrote about a kind with these columns, whose titles are parts, too.
    ///
    /// # Errors
    ///
    /// When a regular expression cannot be read.
    pub fn parse(text: &str, columns: &[Column]) -> Result<Filter, FilterError> {
        Filter::read(text, columns, &[Part::Namespace], &|_| None)
    }

    /// Reads what the user wrote about a table of one kind or of several. A column may be called as a part is: `KIND:`
    /// means the kinds where there are several, and `CLUSTER:` the clusters.
    ///
    /// # Errors
    ///
    /// When a regular expression cannot be read.
    pub fn over(text: &str, schema: &TableSchema) -> Result<Filter, FilterError> {
        Filter::among(text, schema, &|_| None)
    }

    /// The same, where `column` knows the titles of other tables' columns.
    ///
    /// # Errors
    ///
    /// When a regular expression cannot be read.
    pub fn among(
        text: &str,
        schema: &TableSchema,
        column: &dyn Fn(&str) -> Option<&'static str>,
    ) -> Result<Filter, FilterError> {
        let kinds = schema.has_labels().then_some(Part::Kind);
        let clusters = schema.has_clusters().then_some(Part::Cluster);
        let parts: Vec<Part> = [Some(Part::Namespace), kinds, clusters].into_iter().flatten().collect();
        Filter::read(text, schema.columns(), &parts, column)
    }

    /// Reads a filter. A column's title is meant before a part of every row, except for these parts.
    fn read(
        text: &str,
        columns: &[Column],
        first: &[Part],
        other: &dyn Fn(&str) -> Option<&'static str>,
    ) -> Result<Filter, FilterError> {
        let part_of = |title: &str| {
            let column = || columns.iter().position(|column| is_same_title(column.title, title)).map(Part::Column);
            match Part::known(title) {
                Some((_, part)) if first.contains(&part) => Some(part),
                Some((_, part @ (Part::Name | Part::Kind | Part::Cluster | Part::Owner | Part::Status))) => {
                    column().or(Some(part))
                }
                known => {
                    let elsewhere = || known.map(|(word, _)| word).or_else(|| other(title)).map(Part::Elsewhere);
                    column().or_else(elsewhere)
                }
            }
        };
        let mut terms = grammar::parse(text, &part_of)?;
        let elsewhere = grammar::take_elsewhere(&mut terms);
        Ok(Filter { terms: terms.into(), elsewhere })
    }

    /// What the user wrote about and no row has, by its words.
    pub fn elsewhere(&self) -> &[&'static str] {
        &self.elsewhere
    }

    /// Whether the filter lets everything through.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// Whether this filter refuses every row that `before` refuses: the user typed a word further, or added one.
    pub fn narrows(&self, before: &Filter) -> bool {
        before.terms.iter().all(|old| {
            self.terms.iter().any(|new| {
                (old.part, old.excludes) == (new.part, new.excludes)
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
        self.are_found(Searched { schema, kind, key: &object.key, object: Some(object) }, scratch)
    }

    /// Whether an object is let through of which only the key is known.
    pub fn matches_key(&self, schema: &TableSchema, kind: KindId, key: &ObjectKey) -> bool {
        self.are_found(Searched { schema, kind, key, object: None }, &mut String::new())
    }

    fn are_found(&self, searched: Searched<'_>, scratch: &mut String) -> bool {
        self.terms.iter().all(|term| is_found(term, searched, scratch) != term.excludes)
    }

    /// Where the words match that the filter requires of a text at this part: ranges of bytes of `text`, in order and
    /// not adjacent. `text` is what [`searched`] appends for a cell.
    pub fn marks(&self, part: Part, text: &str) -> Vec<Range<usize>> {
        let mut marks: Vec<Range<usize>> = Vec::new();
        let terms = self.terms.iter().filter(|term| !term.excludes && term.part.is_none_or(|own| own == part));
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

fn is_found(term: &Term, searched: Searched<'_>, scratch: &mut String) -> bool {
    let Searched { schema, kind, key, object } = searched;
    let pattern = &term.pattern;
    match term.part {
        Some(Part::Kind) if schema.has_labels() => pattern.is_in(schema.label(kind)),
        Some(Part::Kind) => schema.kind(kind).is_some_and(|kind| pattern.is_in(kind.resource.kind)),
        Some(Part::Cluster) => pattern.is_in(schema.cluster(kind)),
        Some(Part::Namespace) => pattern.is_in(&key.namespace),
        Some(Part::Name) => pattern.is_in(&key.name),
        Some(Part::Owner) => {
            let mut owners = object.iter().flat_map(|object| object.owners.iter().flat_map(|owners| owners.iter()));
            owners.any(|owner| pattern.is_in(&format!("{}/{}", owner.kind, owner.name)))
        }
        Some(Part::Status) => has_state(pattern, searched, scratch),
        Some(Part::Column(at)) => {
            let place = schema.cell(kind, at);
            let cell = object.and_then(|object| object.cells.get(place?));
            let is_state = || schema.columns().get(at).is_some_and(|column| column.title == "STATUS");
            cell.is_some_and(|cell| is_in_cell(pattern, cell, scratch))
                || (is_state() && has_state(pattern, searched, scratch))
        }
        // A row has no other part.
        Some(_) => false,
        None => {
            pattern.is_in_key(key)
                || object.is_some_and(|object| object.cells.iter().any(|cell| is_in_cell(pattern, cell, scratch)))
                || (schema.has_labels() && pattern.is_in(schema.label(kind)))
                || (schema.has_clusters() && pattern.is_in(schema.cluster(kind)))
        }
    }
}

/// Whether the word for an object's state matches, or `failing` where the state is a bad one.
fn has_state(pattern: &Pattern, Searched { schema, kind, object, .. }: Searched<'_>, scratch: &mut String) -> bool {
    let Some((kind, object)) = schema.kind(kind).zip(object) else { return false };
    let tone = write_state(kind.columns, &object.cells, scratch);
    pattern.is_in(scratch) || (tone == Tone::Bad && pattern.is_in("failing"))
}

fn is_in_cell(pattern: &Pattern, cell: CellRef<'_>, scratch: &mut String) -> bool {
    match cell.text() {
        None if pattern.has_letters() && is_counted(cell) => false,
        Some(text) if !text.bytes().any(|byte| byte < b' ') => pattern.is_in(text),
        _ => {
            scratch.clear();
            searched(cell, scratch);
            pattern.is_in(scratch)
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

#[cfg(test)]
mod tests;
