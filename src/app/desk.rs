//! Which kinds are watched, and the drivers that keep their reflectors going.

use crate::app::Page;
use crate::browser::driver::Driver;
use crate::browser::lister_watcher::ListerWatcher;
use crate::cache::backoff::Moment;
use crate::cache::factory::InformerId;
use crate::cache::reflector::{Action, Input};
use crate::cache::shared_informer::Received;
use crate::page::notices::{News, Said};
use crate::page::route::Route;
use crate::page::watched::{Watched, scopes};
use crate::timeline::Timeline;
use crate::ui::screen::put;

impl Page {
    /// Goes to a place: watches what it asks for, and lets go what it does not.
    pub(super) fn go(&mut self, route: Route) {
        let now = crate::browser::clock::now();
        self.selected = route.selection();
        if self.route != route && self.route.has_table_of(&route) && !self.desks.is_empty() {
            // The table stays as it is, under whatever the user is doing to it.
            self.route = route;
            put(self.screen.route, self.route.clone());
            self.frames.request();
            return;
        }
        let scope = |route: &Route| {
            let Route { resource, namespaces, labels, fields, .. } = route.clone();
            (resource, namespaces, labels, fields)
        };
        if scope(&self.route) != scope(&route) {
            // A table that was never drained would look as if it were still being listed.
            self.pause(false, now);
            // Another table counts its rows anew: none may be taken for one of the last table.
            self.layout.generation += 1;
        }
        self.route = route.resolved(&self.catalog);
        if self.base.is_some() {
            self.watch(now);
        }
        let (order, text) = (self.order(), self.route.text.clone());
        if let Some(desk) = self.desk_mut() {
            desk.view_mut().release();
            desk.view_mut().filter_by(&text);
            desk.view_mut().sort_by(order);
        }
        // A table that comes into view again begins without its filter.
        for desk in self.desks.iter_mut().skip(1) {
            desk.view_mut().filter_by("");
        }
        self.arrived();
    }

    /// Makes the desks those that the route asks for, in its order. What is let go is let go last, so that an
    /// informer that is still looked at in another way goes on, and its rows are there at once.
    fn watch(&mut self, now: f64) {
        let mut before = std::mem::take(&mut self.desks);
        let mut after = Vec::new();
        let in_view = self.kind();
        for kind in self.route.watched(&self.catalog) {
            let scopes = scopes(kind, &self.route, in_view == Some(kind));
            let same = before.iter().position(|watched| watched.kind() == kind && watched.scopes() == scopes);
            match same {
                Some(at) => after.push(before.remove(at)),
                None => {
                    let watched =
                        Watched::new(kind, scopes, Timeline::default(), &mut self.informers, &mut self.announcer, now);
                    after.push(watched);
                }
            }
        }
        for watched in before {
            self.leave(watched, now);
        }
        for watched in &mut after {
            // What was seen of the kind in other scopes, or before it was let go, stays on its timeline.
            if let Some(mut past) = self.past.remove(watched.kind().name) {
                past.close_gap(now);
                *watched.timeline_mut() = past;
            }
        }
        self.desks = after;
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
        let action = informer.handle_tapped(input, moment, &mut keep);
        let (deadline, notices) = (informer.reflector().deadline(), informer.take_notices());
        if !notices.is_empty()
            && let Some((resource, scope)) = self.informers.of(id)
        {
            for notice in notices {
                let namespace = scope.namespace.clone();
                self.announcer.say(Said { resource: resource.plural, namespace, news: News::Watch(id, notice) });
            }
            self.announce();
        }
        self.frames.request();
        (action, deadline)
    }

    fn leave(&mut self, mut watched: Watched, now: f64) {
        watched.take(&mut self.informers);
        let resource = watched.kind().name;
        let (mut timeline, ended) = watched.end(&mut self.informers, &mut self.announcer);
        ended.iter().for_each(|id| drop(self.drivers.remove(id)));
        timeline.open_gap(now, "not watched");
        self.past.insert(resource, timeline);
    }
}
