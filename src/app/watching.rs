//! Which kinds are watched, and the drivers that keep their reflectors going.

use kubechurn_client::cache::backoff::Moment;
use kubechurn_client::cache::factory::InformerId;
use kubechurn_client::cache::reflector::{Action, Input};
use kubechurn_client::cache::shared_informer::Received;
use kubechurn_model::page::cursor::Cursor;
use kubechurn_model::page::notices::{News, Said};
use kubechurn_model::page::route::Route;
use kubechurn_model::page::watches::{Around, Rewatched, Wanted};
use kubechurn_model::table::filter::Filter;
use kubechurn_model::table::schema::TableSchema;

use crate::app::{Page, UNDRAINED};
use crate::browser::driver::Driver;
use crate::browser::lister_watcher::ListerWatcher;
use crate::ui::screen::put;

impl Page {
    /// Goes to a place: watches what it asks for, and lets go what it does not.
    pub(super) fn go(&mut self, route: Route) {
        let now = crate::browser::clock::now();
        let route = route.resolved(&self.catalog);
        self.selected = route.selection(&self.catalog);
        let moved = self.route.moved_to(&route);
        if moved.keeps_table() && !self.watches.is_empty() {
            // The table stays as it is, under whatever the user is doing to it.
            self.route = route;
            put(self.screen.route, self.route.clone());
            self.put_hand_on_selected();
            self.frames.hurry();
            return;
        }
        if moved.scope {
            // A table that was never drained would look as if it were still being listed.
            self.pause(false, now);
            // Another table counts its rows anew: none may be taken for one of the last table.
            self.layout.generation += 1;
            // Rows of another table have the same numbers.
            self.hands.cursor = Cursor::default();
        }
        self.route = route;
        if moved.watched && self.base.is_some() {
            self.ask_for_definitions();
            self.watch(now);
            // A table that comes into view again begins without its filter.
            self.watches.others_mut().for_each(|table| table.filter_by(Filter::default()));
        }
        let schema = self.schema();
        if let Some(view) = self.watches.view_mut() {
            view.release();
            if moved.order || moved.watched {
                view.sort_by(self.route.order(&schema));
            }
        }
        if moved.filter || moved.watched {
            self.filter(&schema);
        }
        self.arrived();
    }

    /// Has the table show what passes the filter. One that cannot be read lets everything through, and says so beside its
    /// field.
    fn filter(&mut self, schema: &TableSchema) {
        let parsed = Filter::over(&self.route.text, schema);
        put(self.screen.filter_error, parsed.as_ref().err().map(ToString::to_string));
        if let Some(view) = self.watches.view_mut() {
            view.filter_by(parsed.unwrap_or_default());
        }
    }

    /// Watches what the route asks for, and no more.
    fn watch(&mut self, now: f64) {
        let wanted = Wanted::at(&self.route, &self.catalog, &self.definitions);
        let mut around = Around { informers: &mut self.informers, announcer: &mut self.announcer, now };
        let Rewatched { ended, is_other } = self.watches.watch(&wanted, &mut around);
        ended.iter().for_each(|id| drop(self.drivers.remove(id)));
        self.watches.write_down(&self.audit);
        if is_other {
            // Rows of another table have the same numbers.
            self.layout.generation += 1;
            self.hands.cursor = Cursor::default();
        }
        self.drive();
    }

    /// Starts the informers that are new.
    pub(super) fn drive(&mut self) {
        let base = self.base.clone().expect("kinds are watched only once the API was found");
        for (id, resource, scope) in self.informers.start() {
            let lister_watcher = ListerWatcher { base: base.clone(), resource, scope };
            let page = self.this.clone();
            let driver = Driver::new(lister_watcher, move |input, moment| {
                let Some(page) = page.upgrade() else { return (None, None) };
                page.borrow_mut().handle(id, input, moment)
            });
            self.drivers.insert(id, driver.clone());
            // The drivers speak to the page, which is being borrowed now.
            wasm_bindgen_futures::spawn_local(async move { driver.input(Input::Start) });
        }
    }

    /// Hands an input to an informer, and passes on what its watch has to say.
    fn handle(&mut self, id: InformerId, input: Input<'_>, moment: Moment) -> (Option<Action>, Option<f64>) {
        // The inspector's own watches are no part of what the session saw of a kind.
        let is_own = self.inspection.as_ref().is_some_and(|open| open.watches(id));
        let of = self.informers.of(id).filter(|_| !is_own);
        let (resource, history) = (of.map(|(resource, _)| resource), &mut self.history);
        let Some(informer) = self.informers.get_mut(id) else { return (None, None) };
        let mut keep = |received: Received<'_>| {
            if let Some(resource) = resource {
                history.push(resource, received);
            }
        };
        let frames = informer.ledger().frames;
        let before = self.audit.before(informer, &input);
        let action = informer.handle_tapped(input, moment, &mut keep);
        self.undrained += (informer.ledger().frames - frames) as usize;
        let (deadline, notices) = (informer.reflector().deadline(), informer.take_notices());
        if let Some(before) = before
            && let Some((resource, scope)) = self.informers.of(id)
            && let Some(informer) = self.informers.get(id)
        {
            self.audit.handled(before, (&resource, scope), informer, action.as_ref(), moment);
        }
        if !notices.is_empty()
            && let Some((resource, scope)) = self.informers.of(id)
        {
            for notice in notices {
                let namespace = scope.namespace.clone();
                let said = Said { resource: resource.plural, namespace, news: News::Watch(id, notice) };
                self.audit.said(Some((&resource, scope)), &said);
                self.announcer.say(said);
            }
            self.announce();
        }
        if self.undrained >= UNDRAINED {
            self.undrained = 0;
            self.drain(true);
            self.take(moment.now);
        }
        self.frames.request();
        (action, deadline)
    }
}
