//! The columns, as the user has arranged them. An arrangement is stored for each kind, and for each set of kinds.

use std::sync::Arc;

use crate::page::environment::Environment;
use crate::page::layout::{Arrangement, ColumnChange, Layout, Source};
use crate::page::state::Page;
use crate::page::view::Head;
use crate::table::schema::TableSchema;
use crate::table::view::{Sort, SortKey};

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
    fn lay_out(&mut self, schema: Arc<TableSchema>, wide: bool) {
        let generation = self.layout.generation + 1;
        self.layout = Layout::of(schema, wide, &self.arrangement);
        self.layout.generation = generation;
    }

    /// The heads of the columns, each with its part in the present order. `chosen` tells whether the user chose the
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
            };
            let sort = match (is_key, sort.descending) {
                (false, _) => "none",
                (true, false) => "ascending",
                (true, true) => "descending",
            };
            Head { title: self.layout.title(*source), end: self.layout.is_end(*source), sort }
        });
        heads.collect()
    }
}

impl Page {
    /// Rebuilds the columns from the kinds in view and the arrangement that is stored for those kinds.
    pub(super) fn lay_out(&mut self, env: &dyn Environment) {
        let schema = Arc::new(self.schema());
        let name = schema.name();
        let kept = Some(name).filter(|name| !name.is_empty()).and_then(|name| env.stored(&format!("{KEY}{name}")));
        self.columns.arrangement = kept.map_or_else(Arrangement::default, |text| Arrangement::read(&text));
        self.columns.lay_out(schema, self.place.route.wide);
    }

    /// Applies the user's change to the columns, and stores the arrangement for the next visit.
    pub(super) fn rearrange(&mut self, change: ColumnChange) {
        let columns = &mut self.columns;
        let name = columns.layout.schema().name();
        if name.is_empty() {
            return;
        }
        let widths_alone = matches!(change, ColumnChange::Width(..) | ColumnChange::Widen(..));
        columns.arrangement = columns.layout.rearranged(&columns.arrangement, change);
        // Rows are rebuilt only if necessary, because a width changes while it is being dragged.
        if widths_alone {
            columns.layout.resize(&columns.arrangement);
        } else {
            columns.lay_out(columns.layout.schema().clone(), self.place.route.wide);
        }
        let kept = self.columns.arrangement.write();
        self.store(&format!("{KEY}{name}"), kept.as_deref());
        self.present_columns();
    }

    /// Shows the columns, as they are arranged.
    pub(super) fn present_columns(&mut self) {
        let Columns { layout, arrangement } = &self.columns;
        let route = &self.place.route;
        let table = &mut self.out.view.table;
        table.heads.put(self.columns.heads(route.order(layout.schema()), !route.sort.is_empty()));
        table.columns.put(layout.choices(arrangement));
        table.template.put(layout.template());
    }
}
