//! Which columns the table has, and how wide they are.

use crate::page::route::{CHANGED, Route};
use crate::table::column::{Align, Column};
use crate::table::kinds::Kind;
use crate::table::view::{Sort, SortKey};
use crate::ui::screen::Head;

/// Where a column's text comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    Namespace,
    Name,
    /// A column of the kind.
    Cell(usize),
    /// The last change.
    Changed,
}

/// The widest that a column grows by its values, in characters; what is longer ends in an ellipsis.
const WIDEST: usize = 64;

/// The table's columns. Widths only grow while a kind is in view: nothing jumps.
#[derive(Debug)]
pub(super) struct Layout {
    kind: Option<&'static Kind>,
    pub(super) sources: Vec<Source>,
    widths: Vec<usize>,
    /// Told apart from other layouts by rows, which are made anew for each.
    pub(super) generation: u64,
    pub(super) wide: bool,
}

impl Layout {
    /// The columns of a kind, as a place asks for them; without a kind there is none but the last change.
    pub(super) fn of(kind: Option<&'static Kind>, route: &Route) -> Layout {
        let mut sources = Vec::new();
        if kind.is_some_and(|kind| kind.resource.namespaced) {
            sources.push(Source::Namespace);
        }
        if kind.is_some_and(Kind::leads_with_name) {
            sources.push(Source::Name);
        }
        let columns = kind.iter().flat_map(|kind| kind.columns.iter().enumerate());
        let shown = columns.filter(|(_, column)| route.wide || !column.wide);
        sources.extend(shown.map(|(at, _)| Source::Cell(at)));
        sources.push(Source::Changed);
        let mut layout = Layout { kind, sources, widths: Vec::new(), generation: 0, wide: route.wide };
        layout.widths = layout.sources.iter().map(|source| layout.title(*source).chars().count() + 2).collect();
        layout
    }

    /// Whether it is the layout of this kind at this place.
    pub(super) fn fits(&self, kind: Option<&'static Kind>, route: &Route) -> bool {
        self.kind == kind && self.wide == route.wide
    }

    fn title(&self, source: Source) -> &'static str {
        match source {
            Source::Namespace => "NAMESPACE",
            Source::Name => "NAME",
            Source::Cell(at) => self.column(at).map_or("", |column| column.title),
            Source::Changed => CHANGED,
        }
    }

    fn column(&self, at: usize) -> Option<&'static Column> {
        self.kind.and_then(|kind| kind.columns.get(at))
    }

    /// The heads, with the order that is in force.
    pub(super) fn heads(&self, sort: Sort, chosen: bool) -> Vec<Head> {
        let heads = self.sources.iter().map(|source| {
            let is_key = match source {
                Source::Namespace => chosen && sort.key == SortKey::Key,
                Source::Name => sort.key == SortKey::Name,
                Source::Cell(at) => sort.key == SortKey::Column(*at),
                Source::Changed => sort.key == SortKey::Changed,
            };
            let sort = match (is_key, sort.descending) {
                (false, _) => "none",
                (true, false) => "ascending",
                (true, true) => "descending",
            };
            let end =
                matches!(source, Source::Cell(at) if self.column(*at).is_some_and(|column| column.align == Align::End));
            Head { title: self.title(*source), end, sort }
        });
        heads.collect()
    }

    /// Makes room for a text. Whether the text fits into the widest that its column may become.
    pub(super) fn make_room(&mut self, column: usize, text: &str) -> bool {
        let length = if text.is_ascii() { text.len() } else { text.chars().count() };
        if let Some(width) = self.widths.get_mut(column) {
            *width = (*width).max(length.min(WIDEST));
        }
        length <= WIDEST
    }

    /// The grid's columns in CSS: as wide as their values need, and what is left shared out in proportion.
    pub(super) fn template(&self) -> String {
        let last = self.widths.len().saturating_sub(1);
        let tracks = self.widths.iter().enumerate().map(|(at, width)| {
            let width = if at == last { (*width).max(11) } else { *width };
            format!("minmax({width}ch, {width}fr)")
        });
        tracks.collect::<Vec<_>>().join(" ")
    }
}
