//! Which columns a table has, in which order, and how wide they are: its kinds' own, as the user has arranged them.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::page::route::{CHANGED, KIND};
use crate::table::column::{Align, Column};
use crate::table::schema::TableSchema;

/// Where a column's text comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The object's kind, where there are several.
    Kind,
    /// The object's namespace.
    Namespace,
    /// Its name.
    Name,
    /// A column of the kinds, by its place among them.
    Cell(usize),
    /// The last change.
    Changed,
}

/// The widest that a column grows by its values, in characters; what is longer ends in an ellipsis.
const WIDEST: usize = 64;
/// The narrowest and the widest that a user can make one, in characters.
const CHOSEN: std::ops::RangeInclusive<u16> = 3..=300;

/// What a user has made of a table's columns. Columns are named by their titles, for places change with the kinds;
/// what is said of a column that is not there waits until it comes back.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Arrangement {
    /// The order; empty for kubectl's.
    order: Vec<String>,
    /// Whether a column is shown, where that was chosen.
    shown: BTreeMap<String, bool>,
    /// Widths in characters, where they were chosen.
    widths: BTreeMap<String, u16>,
}

/// A change to the columns, each named by its title.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ColumnChange {
    /// Show a column, or hide it. The last one stays.
    Show(String, bool),
    /// Make it so many characters wide.
    Width(String, u16),
    /// Make it wider by so many, or narrower.
    Widen(String, i16),
    /// Make it as wide as its values again.
    Fit(String),
    /// Move it by so many places.
    Move(String, isize),
    /// Move it to where another one stands.
    Onto(String, String),
    /// As at first.
    Reset,
}

/// A column in the menu.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// Its title.
    pub title: &'static str,
    /// Whether it is shown.
    pub shown: bool,
    /// How wide it is, if that was chosen, in characters.
    pub width: Option<u16>,
}

/// The table's columns. Widths only grow while they are in view: nothing jumps.
#[derive(Debug)]
pub struct Layout {
    schema: Arc<TableSchema>,
    /// Where each column's text comes from, in order.
    pub sources: Vec<Source>,
    /// How wide each is, in characters, and whether that was chosen.
    widths: Vec<(usize, bool)>,
    /// Told apart from other layouts by rows, which are made anew for each.
    pub generation: u64,
    wide: bool,
}

impl Layout {
    /// The columns of a schema, those that kubectl shows on demand included if `wide`, as they were arranged. Without a
    /// kind there is none but the last change.
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
        Layout { schema, widths, sources, generation: 0, wide }
    }

    /// Whether it is the layout of this schema, wide or not.
    pub fn fits(&self, schema: &TableSchema, wide: bool) -> bool {
        *self.schema == *schema && self.wide == wide
    }

    /// Whose columns they are.
    pub fn schema(&self) -> &Arc<TableSchema> {
        &self.schema
    }

    /// The title of a column, in capitals.
    pub fn title(&self, source: Source) -> &'static str {
        title(&self.schema, source)
    }

    /// Whether a column's values stand at the right.
    pub fn is_end(&self, source: Source) -> bool {
        column(&self.schema, source).is_some_and(|column| column.align == Align::End)
    }

    /// Makes room for a text. Whether the text fits into the widest that its column may become.
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

    /// The grid's columns in CSS: as wide as their values need, and what is left shared out in proportion.
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

    /// Takes another arrangement of widths alone: what was not chosen stays as wide as it has become.
    pub fn resize(&mut self, arrangement: &Arrangement) {
        for (source, width) in self.sources.iter().zip(&mut self.widths) {
            if let Some(chosen) = arrangement.widths.get(title(&self.schema, *source)) {
                *width = (usize::from(*chosen), true);
            }
        }
    }

    /// Every column of the table, shown or not, in the order that is in force.
    pub fn choices(&self, arrangement: &Arrangement) -> Vec<Choice> {
        let choices = arranged(&self.schema, arrangement).into_iter().map(|source| {
            let title = title(&self.schema, source);
            let width = arrangement.widths.get(title).copied();
            Choice { title, shown: self.sources.contains(&source), width }
        });
        choices.collect()
    }

    /// What becomes of an arrangement by a change.
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

    /// The order with one column moved. Titles of columns that are not there stay, at the end.
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
    /// Reads what was kept. What cannot be read is as if nothing had been arranged.
    pub fn read(text: &str) -> Arrangement {
        serde_json::from_str(text).unwrap_or_default()
    }

    /// Writes it, to be kept; `None` where nothing is arranged.
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
        Source::Kind => KIND,
        Source::Namespace => "NAMESPACE",
        Source::Name => "NAME",
        Source::Cell(_) => column(schema, source).map_or("", |column| column.title),
        Source::Changed => CHANGED,
    }
}

fn titles(schema: &TableSchema, arrangement: &Arrangement) -> impl Iterator<Item = &'static str> {
    arranged(schema, arrangement).into_iter().map(move |source| title(schema, source))
}

fn is_shown(schema: &TableSchema, source: Source, wide: bool, arrangement: &Arrangement) -> bool {
    let usual = wide || column(schema, source).is_none_or(|column| !column.wide);
    arrangement.shown.get(title(schema, source)).copied().unwrap_or(usual)
}

/// kubectl's columns, the kind before them where there are several, the last change after them.
fn usual(schema: &TableSchema) -> Vec<Source> {
    let leading = [
        (Source::Kind, schema.is_several()),
        (Source::Namespace, schema.is_namespaced()),
        (Source::Name, schema.leads_with_name()),
    ];
    let mut sources: Vec<Source> = leading.into_iter().filter(|(_, is_there)| *is_there).map(|(one, _)| one).collect();
    sources.extend((0..schema.columns().len()).map(Source::Cell));
    sources.push(Source::Changed);
    sources
}

/// Every column in the order that is in force. One that the order does not know, because the kinds did not have it
/// then, stands after the one that it follows in kubectl's order.
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
