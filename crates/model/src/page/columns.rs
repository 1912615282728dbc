//! The columns, as the user has arranged them. An arrangement is stored for each kind, and for each set of kinds.

use std::sync::Arc;

use crate::page::context::Context;
use crate::table::layout::{Arrangement, ColumnChange, Layout, Source};
use crate::table::schema::TableSchema;
use crate::table::view::{Sort, SortKey};
use crate::view::Head;

/// The name under which the browser stores an arrangement begins with this; the kinds' names follow.
const KEY: &str = "kubechurn.columns.";

/// The columns, and the user's arrangement of them.
#[derive(Debug)]
pub(super) struct Columns {
    pub(super) layout: Layout,
    arrangement: Arrangement,
}

impl Default for Columns {
    fn default() -> Columns {
        let arrangement = Arrangement::default();
        Columns { layout: Layout::of(Arc::default(), false, &arrangement), arrangement }
    }
}

impl Columns {
    fn lay_out(&mut self, schema: Arc<TableSchema>, cx: &Context<'_>) {
        let generation = self.layout.generation + 1;
        let layout = Layout::of(schema, cx.navigation.route.wide, &self.arrangement);
        let looks_ahead = cx.watching.moment.is_some();
        self.layout = if looks_ahead { layout.ahead(&self.arrangement) } else { layout };
        self.layout.generation = generation;
    }

    /// The heads of the columns, each with its part in the present order. `chosen` says whether the user chose the
    /// order: the default order shows no arrow at NAMESPACE.
    fn heads(&self, sort: Sort, chosen: bool) -> Vec<Head> {
        let heads = self.layout.sources.iter().map(|source| {
            let is_key = match source {
                Source::Cluster => sort.key == SortKey::Cluster,
                Source::Kind => sort.key == SortKey::Kind,
                Source::Namespace => chosen && sort.key == SortKey::Key,
                Source::Name => sort.key == SortKey::Name,
                Source::Cell(at) => sort.key == SortKey::Column(*at),
                Source::Changed => sort.key == SortKey::Changed,
                Source::Next => false,
            };
            let sort = match (is_key, sort.descending) {
                _ if *source == Source::Next => "",
                (false, _) => "none",
                (true, false) => "ascending",
                (true, true) => "descending",
            };
            Head { title: self.layout.title(*source), end: self.layout.is_end(*source), sort }
        });
        heads.collect()
    }

    /// Makes the columns anew from the kinds in view and the arrangement that is stored for those kinds.
    pub(super) fn renew(&mut self, cx: &mut Context<'_>) {
        let schema = Arc::new(cx.navigation.new_schema());
        cx.navigation.schema = schema.clone();
        let name = schema.name();
        let kept = Some(name).filter(|name| !name.is_empty()).and_then(|name| cx.env.stored(&format!("{KEY}{name}")));
        self.arrangement = kept.map_or_else(Arrangement::default, |text| Arrangement::read(&text));
        self.lay_out(schema, cx);
    }

    /// Applies the user's change to the columns, and stores the arrangement for the next visit.
    pub(super) fn rearrange(&mut self, change: ColumnChange, cx: &mut Context<'_>) {
        let name = self.layout.schema().name();
        if name.is_empty() {
            return;
        }
        let widths_alone = matches!(change, ColumnChange::Width(..) | ColumnChange::Widen(..));
        self.arrangement = self.layout.rearranged(&self.arrangement, change);
        // Rows are rebuilt only if necessary, because a width changes while it is being dragged.
        if widths_alone {
            self.layout.resize(&self.arrangement);
        } else {
            self.lay_out(self.layout.schema().clone(), cx);
        }
        cx.store(&format!("{KEY}{name}"), self.arrangement.write().as_deref());
        self.present(cx);
    }

    /// Shows the columns, as they are arranged.
    pub(super) fn present(&self, cx: &mut Context<'_>) {
        let route = &cx.navigation.route;
        let table = &mut cx.view.table;
        table.heads.put(self.heads(route.order(self.layout.schema()), !route.sort.is_empty()));
        table.columns.put(self.layout.choices(&self.arrangement));
        table.template.put(self.layout.template());
    }
}
