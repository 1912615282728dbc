//! The columns' arrangement: kept in the browser for each kind, and each set of kinds, and told to the view as heads and choices.

use std::sync::Arc;

use kubechurn_model::page::layout::{Arrangement, Layout, Rearrange, Source};
use kubechurn_model::table::schema::TableSchema;
use kubechurn_model::table::view::{Sort, SortKey};

use kubechurn_model::page::view::Head;

use crate::app::Page;
use crate::app::travel::{keep, kept};

/// What the browser keeps an arrangement under, before the kinds' names.
const KEY: &str = "kubechurn.columns.";

/// The heads of the columns, with the order that is in force. Whether that was `chosen` decides about NAMESPACE, which
/// is the order without a choice.
pub(super) fn heads(layout: &Layout, sort: Sort, chosen: bool) -> Vec<Head> {
    let heads = layout.sources.iter().map(|source| {
        let is_key = match source {
            Source::Kind => sort.key == SortKey::Kind,
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
        Head { title: layout.title(*source), end: layout.is_end(*source), sort }
    });
    heads.collect()
}

impl Page {
    /// Makes the columns anew, as the kinds and what was kept for them have them.
    pub(super) fn lay_out(&mut self) {
        let schema = Arc::new(self.schema());
        let name = schema.name();
        let kept = Some(name).filter(|name| !name.is_empty()).and_then(|name| kept(&format!("{KEY}{name}")));
        self.arrangement = kept.map_or_else(Arrangement::default, |text| Arrangement::read(&text));
        self.lay_out_anew(schema);
    }

    fn lay_out_anew(&mut self, schema: Arc<TableSchema>) {
        let generation = self.layout.generation + 1;
        self.layout = Layout::of(schema, self.route.wide, &self.arrangement);
        self.layout.generation = generation;
    }

    /// Does what the user wants of the columns, and keeps it for the next visit.
    pub(super) fn rearrange(&mut self, change: Rearrange) {
        let name = self.layout.schema().name();
        if name.is_empty() {
            return;
        }
        let widths_alone = matches!(change, Rearrange::Width(..) | Rearrange::Widen(..));
        self.arrangement = self.layout.rearranged(&self.arrangement, change);
        keep(&format!("{KEY}{name}"), self.arrangement.write().as_deref());
        // Rows are made anew only where they must: a width changes while it is dragged.
        if widths_alone {
            self.layout.resize(&self.arrangement);
        } else {
            self.lay_out_anew(self.layout.schema().clone());
        }
        self.present_columns();
    }
}
