//! A kind that is watched, with the drivers that keep its reflectors going.

use std::rc::Rc;

use crate::app::Page;
use crate::browser::driver::Driver;
use crate::browser::lister_watcher::ListerWatcher;
use crate::cache::reflector::Input;
use crate::page::route::Route;
use crate::page::watched::{Watched, scopes};
use crate::table::kinds::Kind;

/// One watched kind.
pub(super) struct Desk {
    pub(super) id: u64,
    pub(super) watched: Watched,
    pub(super) drivers: Vec<Rc<Driver>>,
}

impl Page {
    /// Goes to a place: watches what it asks for, and lets go what it does not.
    pub(super) fn go(&mut self, route: Route) {
        let now = crate::browser::clock::now();
        if self.route.resource != route.resource {
            self.selected = None;
        }
        let scope = |route: &Route| (route.resource.clone(), route.namespaces.clone(), route.labels.clone());
        if scope(&self.route) != scope(&route) {
            // A table that was never drained would look as if it were still being listed.
            self.pause(false, now);
        }
        self.route = route;
        if self.base.is_some() {
            self.watch(now);
        }
        let (order, text) = (self.route.order(), self.route.text.clone());
        if let Some(desk) = self.desk_mut() {
            desk.watched.view_mut().release();
            desk.watched.view_mut().filter_by(&text);
            desk.watched.view_mut().sort_by(order);
        }
        // A table that comes into view again begins without its filter.
        for desk in self.desks.iter_mut().skip(1) {
            desk.watched.view_mut().filter_by("");
        }
        self.arrived();
    }

    /// Makes the desks those that the route asks for, in its order.
    fn watch(&mut self, now: f64) {
        let mut before = std::mem::take(&mut self.desks);
        for kind in self.route.watched() {
            let scopes = scopes(kind, &self.route);
            let same = before
                .iter()
                .position(|desk| desk.watched.kind().resource == kind.resource && desk.watched.scopes() == scopes);
            if let Some(at) = same {
                self.desks.push(before.remove(at));
                continue;
            }
            // What was seen of the kind in other scopes, or before it was let go, stays on its timeline.
            if let Some(at) = before.iter().position(|desk| desk.watched.kind().resource == kind.resource) {
                let desk = before.remove(at);
                self.leave(desk, now);
            }
            let mut timeline = self.past.remove(kind.resource.plural).unwrap_or_default();
            timeline.close_gap(now);
            let desk = self.open(kind, Watched::new(kind, scopes, timeline));
            self.desks.push(desk);
        }
        for desk in before {
            self.leave(desk, now);
        }
    }

    fn open(&mut self, kind: &'static Kind, watched: Watched) -> Desk {
        self.next_desk += 1;
        let id = self.next_desk;
        let base = self.base.clone().expect("desks are opened only once the API was found");
        let drivers = watched.scopes().iter().enumerate().map(|(informer, scope)| {
            let lister_watcher = ListerWatcher { base: base.clone(), resource: kind.resource, scope: scope.clone() };
            let page = self.this.clone();
            Driver::new(lister_watcher, move |input, moment| {
                let Some(page) = page.upgrade() else { return (None, None) };
                let mut page = page.borrow_mut();
                let Some(desk) = page.desks.iter_mut().find(|desk| desk.id == id) else { return (None, None) };
                let outcome = desk.watched.handle(informer, input, moment);
                page.frames.request();
                (outcome.action, outcome.deadline)
            })
        });
        let drivers: Vec<Rc<Driver>> = drivers.collect();
        // The drivers speak to the page, which is being borrowed now.
        for driver in &drivers {
            let driver = driver.clone();
            wasm_bindgen_futures::spawn_local(async move { driver.input(Input::Start) });
        }
        Desk { id, watched, drivers }
    }

    fn leave(&mut self, desk: Desk, now: f64) {
        let resource = desk.watched.kind().resource.plural;
        let mut timeline = desk.watched.into_timeline();
        timeline.open_gap(now, "not watched");
        self.past.insert(resource, timeline);
    }
}
