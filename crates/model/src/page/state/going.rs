//! Going to places: the address, the watches of a place, and the selected object.

use kubechurn_client::api::object::ObjectKey;

use crate::page::cursor::Cursor;
use crate::page::effect::{Effect, Focused};
use crate::page::environment::Environment;
use crate::page::keys::{Layer, innermost};
use crate::page::layout::Layout;
use crate::page::route::Route;
use crate::page::state::Page;
use crate::page::watches::{Around, Rewatched, Wanted};
use crate::table::filter::Filter;
use crate::table::schema::TableSchema;

impl Page {
    /// Asks for another place. The page goes there as soon as the address has it.
    pub(super) fn push(&mut self, route: &Route) {
        self.out.effects.push(Effect::Push(route.fragment()));
    }

    /// Goes to a place: starts the watches that it needs, and ends the others.
    pub(super) fn go(&mut self, route: Route, env: &dyn Environment) {
        let now = env.now();
        let route = route.resolved(&self.place.catalog);
        self.place.selected = route.selection(&self.place.catalog);
        let moved = self.place.route.moved_to(&route);
        if moved.keeps_table() && !self.watching.watches.is_empty() {
            // The table stays as it is, because the user may be acting on it.
            self.place.route = route;
            self.present_route();
            self.choose_span();
            self.put_cursor_on_selected();
            return self.hurry();
        }
        if moved.scope {
            // A paused table would never be drained, and would look as if its list were still loading.
            self.pause(false, now);
            self.begin_other_rows();
        }
        self.place.route = route;
        if moved.watched && self.place.found {
            self.ask_for_definitions();
            self.watch(now);
            // A table that comes into view again starts without its old filter.
            self.watching.watches.others_mut().for_each(|table| table.filter_by(Filter::default()));
        }
        let schema = self.schema();
        if let Some(view) = self.watching.watches.view_mut() {
            view.unfreeze();
            if moved.order || moved.watched {
                view.sort_by(self.place.route.order(&schema));
            }
        }
        if moved.filter || moved.watched {
            self.filter(&schema);
        }
        self.choose_span();
        self.arrived_at(&schema, env);
    }

    /// Goes to the place that the address names, unless the page is there already.
    pub(super) fn arrive(&mut self, route: Route, env: &dyn Environment) {
        let route = route.resolved(&self.place.catalog);
        if route != self.place.route {
            self.go(route, env);
        }
    }

    /// Goes to the present place again, because the set of kinds has changed.
    pub(super) fn go_on(&mut self, env: &dyn Environment) {
        let route = self.place.route.clone();
        self.go(route, env);
    }

    /// Filters by a text while the user types it. The browser's history gets no entry for single letters.
    pub(super) fn filter_by(&mut self, text: String, env: &dyn Environment) {
        let route = Route { text, ..self.place.route.clone() };
        self.out.effects.push(Effect::Replace(route.fragment()));
        self.go(route, env);
    }

    /// Has the table show the rows that pass the filter. A filter that cannot be read lets every row pass, and an error
    /// beside the field says so.
    fn filter(&mut self, schema: &TableSchema) {
        if self.place.route.changes {
            if let Some(view) = self.watching.watches.view_mut() {
                view.filter_by(Filter::default());
            }
            return self.filter_feed();
        }
        let parsed = Filter::over(&self.place.route.text, schema);
        self.out.view.header.filter_error.put(parsed.as_ref().err().map(ToString::to_string));
        if let Some(view) = self.watching.watches.view_mut() {
            view.filter_by(parsed.unwrap_or_default());
        }
    }

    /// Watches exactly what the route asks for.
    fn watch(&mut self, now: f64) {
        let watching = &mut self.watching;
        let wanted = Wanted::at(&self.place.route, &self.place.catalog, &self.place.definitions);
        let mut around = Around { informers: &mut watching.informers, announcer: &mut self.notices.announcer, now };
        let Rewatched { ended, is_other } = watching.watches.watch(&wanted, &mut around);
        watching.watches.write_down(&self.checks.audit);
        ended.into_iter().for_each(|id| self.out.effects.push(Effect::Stop(id)));
        if is_other {
            self.begin_other_rows();
        }
        self.start_informers();
    }

    /// Has all rows drawn again, and forgets the cursor: the rows of another table have the same numbers, and must not
    /// be mistaken for the present ones.
    pub(super) fn begin_other_rows(&mut self) {
        self.columns.layout.generation += 1;
        self.rows.cursor = Cursor::default();
    }

    /// Starts the informers that are new.
    pub(super) fn start_informers(&mut self) {
        for (id, resource, scope) in self.watching.informers.start() {
            self.out.effects.push(Effect::Start(id, resource, scope));
        }
    }

    /// Draws the place that was reached: another kind, other columns, another order.
    fn arrived_at(&mut self, schema: &TableSchema, env: &dyn Environment) {
        if !self.columns.layout.fits(schema, self.place.route.wide) {
            self.lay_out(env);
        }
        // The canvas shows the timeline of the place before.
        self.timeline.repaint();
        self.rows.arrive(self.watching.watches.view_mut(), env);
        self.rates.slow = 0.0;
        self.present_shell(env);
        self.hurry();
    }

    /// Whether this object, of the kind with this name of the page's, is selected.
    pub(super) fn has_selected(&self, kind: &str, key: &ObjectKey) -> bool {
        self.place.selected.as_ref().is_some_and(|(own, other)| own.name == kind && other == key)
    }

    /// Selects an object, or none.
    pub(super) fn select(&mut self, object: Option<(&'static str, ObjectKey)>) {
        if let Some((kind, key)) = &object {
            self.dialogs.remember(kind, key);
        }
        let route = self.place.route.selecting(object.as_ref().map(|(kind, key)| (*kind, key)));
        self.push(&route);
    }

    /// Selects an object, and shows the table of its kind if that is not in view.
    pub(super) fn visit(&mut self, kind: &'static str, key: ObjectKey, env: &dyn Environment) {
        if !self.place.route.shows(kind) {
            let mut route = self.place.route.showing(kind);
            if !route.namespaces.is_empty() && !key.namespace.is_empty() {
                route.namespaces = vec![key.namespace.to_string()];
            }
            self.push(&route);
            self.go(route, env);
        } else if self.has_selected(kind, &key) {
            return;
        }
        self.select(Some((kind, key)));
    }

    /// Selects the object of the row under the cursor. If it is selected already, it stays so: only Esc closes the
    /// inspector.
    pub(super) fn open_row(&mut self) {
        let Some((kind, row)) = self.row_under_cursor() else { return };
        let (kind, key) = (kind.name, row.object.key.clone());
        if !self.has_selected(kind, &key) {
            self.select(Some((kind, key)));
        }
    }

    /// Pins the kinds in view. If all of them are pinned, removes the pins.
    pub(super) fn pin_in_view(&mut self) {
        let route = &self.place.route;
        let names: Vec<&str> = self.kinds().iter().map(|kind| kind.name).collect();
        let is_pinned = |name: &&str| route.pinned.iter().any(|pinned| pinned == name);
        let all = names.iter().all(is_pinned);
        let turned = names.iter().filter(|name| all || !is_pinned(name));
        let route = turned.fold(route.clone(), |route, name| route.pinning(name));
        if !names.is_empty() {
            self.push(&route);
        }
    }

    /// Sorts by the column of the cell under the cursor, or, without such a cell, by the next one of the columns that
    /// are shown.
    pub(super) fn sort_next(&mut self) {
        let (layout, route) = (&self.columns.layout, &self.place.route);
        let Layout { sources, .. } = layout;
        let route = match self.rows.cursor.cell() {
            Some(cell) => sources.get(cell).map(|source| route.sorted_by(layout.title(*source))),
            None => {
                let now = route.sort.trim_start_matches('-');
                let at = sources.iter().position(|source| layout.title(*source) == now);
                let next = sources.get(at.map_or(0, |at| (at + 1) % sources.len()));
                next.map(|source| Route { sort: layout.title(*source).to_owned(), ..route.clone() })
            }
        };
        if let Some(route) = route {
            self.push(&route);
        }
    }

    /// Leaves the innermost layer that is open.
    pub(super) fn leave_innermost(&mut self, env: &dyn Environment) {
        let there = [
            (Layer::Palette, self.dialogs.has_palette()),
            (Layer::Help, self.dialogs.help),
            (Layer::Menu, env.has_menu()),
            (Layer::Timeline, *self.out.view.timeline.fills),
            (Layer::Cell, self.rows.cursor.cell().is_some()),
            (Layer::Object, self.place.selected.is_some()),
            (Layer::Filter, !self.place.route.text.is_empty()),
            (Layer::Span, self.place.route.span.is_some()),
        ];
        let there: Vec<Layer> = there.into_iter().filter(|(_, is_there)| *is_there).map(|(layer, _)| layer).collect();
        match innermost(&there) {
            Some(Layer::Palette) => self.close_palette(),
            Some(Layer::Help) => self.show_help(false),
            Some(Layer::Menu) => self.focus(Focused::ClosedMenu),
            Some(Layer::Timeline) => self.out.view.timeline.fills.put(false),
            Some(Layer::Cell) => drop(self.rows.cursor.leave_cell()),
            Some(Layer::Object) => self.select(None),
            Some(Layer::Filter) => self.filter_by(String::new(), env),
            Some(Layer::Span) => self.give_up_span(),
            None => {}
        }
    }
}
