//! Which kinds there are: asked when the page begins, and again every few seconds while someone looks at it.

use gloo_timers::future::TimeoutFuture;
use leptos::prelude::Set;
use wasm_bindgen_futures::spawn_local;

use crate::app::{Page, Shared};
use crate::browser::clock;
use crate::browser::discovery::Discovery;
use crate::page::catalog::Catalog;

/// How often the server is asked, in milliseconds. It answers 304 while nothing has changed; a watch would do the same
/// for one kind of definitions only, and only for those who may watch them.
const AGAIN: u32 = 10_000;
/// How soon it is asked again while it has said nothing yet.
const SOON: u32 = 2_000;

/// Keeps the page's catalog what the server says.
pub(super) fn begin(page: &Shared) {
    spawn_local(keep(page.clone()));
}

impl Page {
    /// Takes in what the server has. A kind that came is shown if it was asked for, and one that went is let go.
    fn learn(&mut self, catalog: Catalog) {
        if self.catalog != catalog {
            self.catalog = catalog;
            let route = self.route.clone();
            self.go(route);
        }
    }
}

async fn keep(page: Shared) {
    let mut discovery = Discovery::default();
    loop {
        let base = page.borrow().base.clone();
        if let Some(base) = base.filter(|_| !clock::is_hidden()) {
            // What a server does not say of itself is missing from the rail; the kinds that are known stay there.
            let heard = discovery.refresh(&base).await;
            let resources = discovery.resources();
            let mut page = page.borrow_mut();
            if !resources.is_empty() {
                let catalog = Catalog::of(&resources, &page.catalog);
                page.learn(catalog);
            }
            page.screen.rail_trouble.set(heard.err().map(|failure| failure.words));
        }
        let wait = if page.borrow().catalog.is_discovered() { AGAIN } else { SOON };
        TimeoutFuture::new(wait).await;
    }
}
