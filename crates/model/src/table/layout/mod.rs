//! Which columns a table has, in which order, and how wide they are: the columns of its kinds, as the user has arranged
//! them.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::table::schema::TableSchema;
use kubechurn_columns::column::{Align, Column};

/// The title of the column that shows the last change.
pub const CHANGED: &str = "Δ";
/// The title of the column that shows, at another moment than now, what happens to a row's object next.
pub const NEXT: &str = "NEXT";
/// The title of the column that shows an object's kind where several kinds are in view.
pub const KIND: &str = "KIND";
/// The title of the column that shows an object's cluster where several clusters are in view.
pub const CLUSTER: &str = "CLUSTER";

/// Where a column's text comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The object's cluster, where several clusters are in view.
    Cluster,
    /// The object's kind, where several kinds are in view.
    Kind,
    /// The object's namespace.
    Namespace,
    /// Its name.
    Name,
    /// A column of the kinds, by its place among them.
    Cell(usize),
    /// The last change.
    Changed,
    /// The next change, where another moment than now is shown.
    Next,
}

impl Source {
    /// Whether it is of the object itself, and not of what this session has seen of it, which means nothing elsewhere.
    pub fn is_of_object(self) -> bool {
        !matches!(self, Source::Changed | Source::Next)
    }
}

/// The width up to which a column grows by itself, in characters. A longer text ends in an ellipsis.
const WIDEST: usize = 64;
/// The narrowest and the widest column that a user can choose, in characters.
const CHOSEN: std::ops::RangeInclusive<u16> = 3..=300;

/// How a user has arranged a table's columns. Columns are identified by title, because positions change with the kinds.
/// The arrangement of a column that a table does not have is kept until a table has the column.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Arrangement {
    /// The titles in the chosen order; empty for kubectl's order.
    order: Vec<String>,
    /// Whether a column is shown, for columns for which the user chose.
    shown: BTreeMap<String, bool>,
    /// Widths in characters, for columns whose width the user chose.
    widths: BTreeMap<String, u16>,
}

/// A change to the columns, each named by its title.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ColumnChange {
    /// Show a column, or hide it. The last shown column cannot be hidden.
    Show(String, bool),
    /// Make the column this many characters wide.
    Width(String, u16),
    /// Make the column wider by this many characters, or narrower if negative.
    Widen(String, i16),
    /// Make the column as wide as its values again.
    Fit(String),
    /// Move the column by this many places.
    Move(String, isize),
    /// Move the first column to the place of the second.
    Onto(String, String),
    /// Restore the default arrangement.
    Reset,
}

/// A column in the menu.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// Its title.
    pub title: &'static str,
    /// Whether it is shown.
    pub shown: bool,
    /// The width that the user chose, if any, in characters.
    pub width: Option<u16>,
}

/// The columns of a table. While columns are in view, their widths only grow, so that nothing jumps.
#[derive(Debug)]
pub struct Layout {
    schema: Arc<TableSchema>,
    /// Where each column's text comes from, in order.
    pub sources: Vec<Source>,
    /// The width of each column in characters, and whether the user chose the width.
    widths: Vec<(usize, bool)>,
    /// A number that differs between layouts. Rows are built anew for each layout.
    pub generation: u64,
    wide: bool,
    looks_ahead: bool,
}

impl Layout {
    /// The columns of a schema in the user's arrangement; with `wide`, also those that kubectl shows only on demand.
    /// Without a kind, the only column is the one of the last change.
    pub fn of(schema: Arc<TableSchema>, wide: bool, arrangement: &Arrangement) -> Layout {
        let columns_of = &*schema;
        let shown = arranged(columns_of, arrangement).into_iter();
        let shown = shown.filter(|source| is_shown(columns_of, *source, wide, arrangement));
        let sources: Vec<Source> = shown.collect();
        let widths = sources.iter().map(|source| {
            let title = title(columns_of, *source);
            match arrangement.widths.get(title) {
                Some(width) => (usize::from(*width), true),
                None => (title.chars().count() + 2, false),
            }
        });
        let widths = widths.collect();
        Layout { schema, widths, sources, generation: 0, wide, looks_ahead: false }
    }

    /// The same layout with a last column for what happens next, which cannot be moved or hidden.
    pub fn ahead(mut self, arrangement: &Arrangement) -> Layout {
        self.looks_ahead = true;
        self.sources.push(Source::Next);
        let chosen = arrangement.widths.get(NEXT);
        self.widths.push(chosen.map_or((NEXT.len() + 2, false), |width| (usize::from(*width), true)));
        self
    }

    /// Whether this is the layout of this schema, wide or not, of another moment than now or not.
    pub fn fits(&self, schema: &TableSchema, wide: bool, looks_ahead: bool) -> bool {
        *self.schema == *schema && self.wide == wide && self.looks_ahead == looks_ahead
    }

    /// Whether it has the column for what happens next.
    pub fn looks_ahead(&self) -> bool {
        self.looks_ahead
    }

    /// The schema that the columns belong to.
    pub fn schema(&self) -> &Arc<TableSchema> {
        &self.schema
    }

    /// The title of a column, in capitals.
    pub fn title(&self, source: Source) -> &'static str {
        title(&self.schema, source)
    }

    /// Whether a column's values are aligned to the right.
    pub fn is_end(&self, source: Source) -> bool {
        column(&self.schema, source).is_some_and(|column| column.align == Align::End)
    }

    /// Widens a column for a text. Returns whether the text fits into the width up to which the column may grow.
    pub fn make_room(&mut self, column: usize, text: &str) -> bool {
        let length = if text.is_ascii() { text.len() } else { text.chars().count() };
        match self.widths.get_mut(column) {
            Some((width, true)) => length <= *width,
            Some((width, false)) => {
                *width = (*width).max(length.min(WIDEST));
                length <= WIDEST
            }
            None => true,
        }
    }

    /// The grid's columns in CSS: as wide as their values need. The remaining width is shared out in proportion.
    pub fn template(&self) -> String {
        let last = self.widths.len().saturating_sub(1);
        let tracks = self.widths.iter().enumerate().map(|(at, (width, is_chosen))| match is_chosen {
            true => format!("{width}ch"),
            false => {
                let width = if at == last { (*width).max(11) } else { *width };
                format!("minmax({width}ch, {width}fr)")
            }
        });
        tracks.collect::<Vec<_>>().join(" ")
    }

    /// Adopts an arrangement in which only widths differ. A column whose width was not chosen keeps its present width.
    pub fn resize(&mut self, arrangement: &Arrangement) {
        for (source, width) in self.sources.iter().zip(&mut self.widths) {
            if let Some(chosen) = arrangement.widths.get(title(&self.schema, *source)) {
                *width = (usize::from(*chosen), true);
            }
        }
    }

    /// Every column of the table, shown or hidden, in the present order.
    pub fn choices(&self, arrangement: &Arrangement) -> Vec<Choice> {
        let choices = arranged(&self.schema, arrangement).into_iter().map(|source| {
            let title = title(&self.schema, source);
            let width = arrangement.widths.get(title).copied();
            Choice { title, shown: self.sources.contains(&source), width }
        });
        choices.collect()
    }

    /// An arrangement after a change.
    pub fn rearranged(&self, arrangement: &Arrangement, change: ColumnChange) -> Arrangement {
        let mut new = arrangement.clone();
        match change {
            ColumnChange::Show(title, shown) => {
                let others = self.sources.iter().filter(|source| self.title(**source) != title).count();
                if shown || others > 0 {
                    new.shown.insert(title, shown);
                }
            }
            ColumnChange::Width(title, width) => {
                new.widths.insert(title, width.clamp(*CHOSEN.start(), *CHOSEN.end()));
            }
            ColumnChange::Widen(title, by) => {
                let at = self.sources.iter().position(|source| self.title(*source) == title);
                let now = at.and_then(|at| self.widths.get(at)).map_or(10, |(width, _)| *width) as u16;
                return self.rearranged(arrangement, ColumnChange::Width(title, now.saturating_add_signed(by)));
            }
            ColumnChange::Fit(title) => {
                new.widths.remove(&title);
            }
            ColumnChange::Move(title, by) => {
                new.order = self.moved(arrangement, &title, |at| at.saturating_add_signed(by))
            }
            ColumnChange::Onto(title, other) => {
                let target = titles(&self.schema, arrangement).position(|one| one == other);
                new.order = self.moved(arrangement, &title, |at| target.unwrap_or(at));
            }
            ColumnChange::Reset => return Arrangement::default(),
        }
        new
    }

    /// The order with one column moved. Titles of columns that the table does not have come last.
    fn moved(&self, arrangement: &Arrangement, title: &str, place: impl Fn(usize) -> usize) -> Vec<String> {
        let mut order: Vec<String> = titles(&self.schema, arrangement).map(str::to_owned).collect();
        if let Some(at) = order.iter().position(|one| one == title) {
            let moved = order.remove(at);
            order.insert(place(at).min(order.len()), moved);
        }
        let absent: Vec<String> = arrangement.order.iter().filter(|title| !order.contains(title)).cloned().collect();
        order.extend(absent);
        order
    }
}

impl Arrangement {
    /// Reads what [`Arrangement::write`] wrote. Any other text gives the default arrangement.
    pub fn read(text: &str) -> Arrangement {
        serde_json::from_str(text).unwrap_or_default()
    }

    /// The arrangement as text, to be stored; `None` for the default arrangement.
    pub fn write(&self) -> Option<String> {
        serde_json::to_string(self).ok().filter(|_| *self != Arrangement::default())
    }
}

fn column(schema: &TableSchema, source: Source) -> Option<&Column> {
    let Source::Cell(at) = source else { return None };
    schema.columns().get(at)
}

fn title(schema: &TableSchema, source: Source) -> &'static str {
    match source {
        Source::Cluster => CLUSTER,
        Source::Kind => KIND,
        Source::Namespace => "NAMESPACE",
        Source::Name => "NAME",
        Source::Cell(_) => column(schema, source).map_or("", |column| column.title),
        Source::Changed => CHANGED,
        Source::Next => NEXT,
    }
}

fn titles(schema: &TableSchema, arrangement: &Arrangement) -> impl Iterator<Item = &'static str> {
    arranged(schema, arrangement).into_iter().map(move |source| title(schema, source))
}

fn is_shown(schema: &TableSchema, source: Source, wide: bool, arrangement: &Arrangement) -> bool {
    let usual = wide || column(schema, source).is_none_or(|column| !column.wide);
    arrangement.shown.get(title(schema, source)).copied().unwrap_or(usual)
}

/// kubectl's columns. The cluster comes first where there are several, then the kind where there are several, and the last
/// change comes last.
fn usual(schema: &TableSchema) -> Vec<Source> {
    let leading = [
        (Source::Cluster, schema.has_clusters()),
        (Source::Kind, schema.has_labels()),
        (Source::Namespace, schema.is_namespaced()),
        (Source::Name, schema.leads_with_name()),
    ];
    let mut sources: Vec<Source> = leading.into_iter().filter(|(_, is_there)| *is_there).map(|(one, _)| one).collect();
    sources.extend((0..schema.columns().len()).map(Source::Cell));
    sources.push(Source::Changed);
    sources
}

/// Every column in the present order. A column that is missing in the stored order, because the kinds did not have the
/// column then, follows the column that precedes it in kubectl's order.
fn arranged(schema: &TableSchema, arrangement: &Arrangement) -> Vec<Source> {
    let usual = usual(schema);
    let known =
        arrangement.order.iter().flat_map(|wanted| usual.iter().filter(move |one| title(schema, **one) == wanted));
    let mut sources: Vec<Source> = Vec::with_capacity(usual.len());
    for source in known {
        if !sources.contains(source) {
            sources.push(*source);
        }
    }
    let mut before = None;
    for source in usual {
        if !sources.contains(&source) {
            let after = before.and_then(|before| sources.iter().position(|one| *one == before)).map_or(0, |at| at + 1);
            sources.insert(after, source);
        }
        before = Some(source);
    }
    sources
}

#[cfg(test)]
mod tests;
