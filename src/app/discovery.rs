//! Which kinds there are: asked when the page begins, and again every few seconds while someone looks at it; and the
//! definitions of those that are looked at.

use gloo_timers::future::TimeoutFuture;
use wasm_bindgen_futures::spawn_local;

use kubechurn_client::api::resource::ApiResource;
use kubechurn_client::cache::discovery::CachedDiscovery;
use kubechurn_model::page::catalog::Catalog;
use kubechurn_model::page::definitions::Next;
use kubechurn_model::page::report;
use kubechurn_model::page::route::joined;
use kubechurn_model::table::kinds::Kind;

use crate::app::{Page, Shared};
use crate::browser::base::Base;
use crate::browser::{clock, discovery};
use crate::ui::screen::put;

/// How often it is looked whether it is time to ask, in milliseconds.
const LOOK: u32 = 500;
/// How soon the server is asked again while it says that it does not have what is watched.
const MISSING: u32 = 1_500;
/// How soon a definition is asked for again that could not be had.
const DEFINITION: u32 = 2_000;
/// The HTTP status of what is not there.
const NOT_FOUND: u16 = 404;

/// Keeps the page's catalog what the server says.
pub(super) fn begin(page: &Shared) {
    spawn_local(keep(page.clone()));
}

impl Page {
    /// Takes in what the server has. A kind that came is shown if it was asked for, and one that went is let go.
    fn learn(&mut self, catalog: Catalog) {
        if self.catalog != catalog {
            self.catalog = catalog;
            self.arrange();
        }
    }

    /// Goes to where the user is already, for the kinds there are others now.
    fn arrange(&mut self) {
        let route = self.route.clone();
        self.go(route);
    }

    /// Asks for the definitions that the user's place wants.
    pub(super) fn ask_for_definitions(&mut self) {
        let (Some(base), Some(page)) = (self.base.clone(), self.this.upgrade()) else { return };
        for resource in self.definitions.visit(&self.kinds(), &self.route.watched(&self.catalog)) {
            spawn_local(define(page.clone(), base.clone(), resource));
        }
    }

    /// How a resource is described, and whether it waits for that.
    fn described(&self, resource: &ApiResource) -> Option<(&'static Kind, bool)> {
        let kind = self.catalog.kinds().find(|kind| kind.resource == *resource)?;
        Some((kind, self.definitions.awaits(kind)))
    }

    /// Why there is no table for what is in view: the state, and the words.
    pub(super) fn absence(&self) -> (&'static str, String) {
        let name = &self.route.resource;
        let kinds = self.kinds();
        if self.route.is_several() && kinds.is_empty() {
            if !self.catalog.is_discovered() {
                let names = self.route.names().map(|name| format!("“{name}”")).collect::<Vec<_>>();
                return ("connecting", format!("Looking for {} …", names.join(", ")));
            }
            return (
                "stopped",
                format!("None of these can be shown. {}.", joined(&self.route.left_out(&self.catalog))),
            );
        }
        match kinds.first() {
            Some(kind) if self.definitions.awaits(kind) => {
                ("connecting", format!("Asking which columns {} has …", kind.title))
            }
            _ if !self.catalog.is_discovered() => ("connecting", format!("Looking for “{name}” …")),
            _ if self.catalog.gone(name).is_some() => {
                ("stopped", format!("This server has “{name}” no longer. When it comes back, it is shown again."))
            }
            _ => ("stopped", format!("This server has no kind “{name}” that can be watched.")),
        }
    }

    /// The kinds that wait for their columns, as `status()` tells of them.
    pub(super) fn waiting(&self) -> Vec<report::Waiting> {
        let kinds = self.route.watched(&self.catalog).into_iter();
        kinds.filter(|kind| self.definitions.awaits(kind)).map(report::waiting).collect()
    }

    /// Whether the server says of something watched that there is no such thing.
    fn misses_some(&self) -> bool {
        let mut complaints = self.watches.iter().filter_map(|watched| watched.complaint(&self.informers));
        complaints.any(|complaint| complaint.code == NOT_FOUND)
    }
}

async fn keep(page: Shared) {
    let mut cached = CachedDiscovery::default();
    loop {
        let base = page.borrow().base.clone();
        if let Some(base) = base.filter(|_| !clock::is_hidden()) {
            discovery::refresh(&mut cached, &base).await;
            let resources = cached.resources();
            let mut page = page.borrow_mut();
            // With half of it heard the other half would seem to be gone; if it stays silent, that is said.
            if !resources.is_empty() && (cached.is_heard() || cached.trouble().is_some()) {
                let catalog = Catalog::of(&resources, &page.catalog);
                page.learn(catalog);
            }
            // What a server does not say of itself is missing from the rail; the kinds that are known stay there.
            put(page.screen.rail_trouble, cached.trouble());
        }
        let asked = clock::now();
        loop {
            TimeoutFuture::new(LOOK).await;
            let wait = if page.borrow().misses_some() { MISSING } else { cached.wait() };
            // While nothing answers the heartbeat asks, ever more seldom, and this with its first answer.
            let answers = !page.borrow().heartbeat.has_outage();
            if answers && clock::now() - asked >= f64::from(wait) {
                break;
            }
        }
    }
}

/// Asks for a definition until it is answered, or nobody looks at the kind any longer.
async fn define(page: Shared, base: Base, resource: ApiResource) {
    loop {
        let answer = discovery::definition(&base, &resource).await;
        {
            let mut page = page.borrow_mut();
            let page = &mut *page;
            let before = page.described(&resource);
            let next = page.definitions.heard(&resource, answer.as_deref(), &mut page.catalog);
            if page.described(&resource) != before {
                page.arrange();
            }
            if next == Next::Done {
                return;
            }
        }
        TimeoutFuture::new(DEFINITION).await;
    }
}
