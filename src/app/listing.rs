//! How far the list of the table in view has come: asks the server for the number of objects where one lasts, and shows
//! it.

use futures::future::{AbortHandle, abortable};
use wasm_bindgen_futures::spawn_local;

use kubechurn_client::cache::factory::InformerId;
use kubechurn_client::cache::reflector::Health;
use kubechurn_model::page::listing::{Counts, Progress};

use kubechurn_model::page::view::ListingModel;

use crate::app::Page;
use crate::browser::lister_watcher::ListerWatcher;
use crate::ui::screen::put;

/// The numbers of objects that were asked for.
#[derive(Debug, Default)]
pub(super) struct Listing {
    pub(super) counts: Counts,
    /// Questions that are under way.
    asked: Vec<(InformerId, AbortHandle)>,
}

impl Page {
    /// Asks for the numbers that are worth it, and gives up asking for those that are not any longer: to be called a few
    /// times a second.
    pub(super) fn count_lists(&mut self, now: f64) {
        let informers = &self.informers;
        self.listing.asked.retain(|(id, handle)| {
            let lasts = informers.get(*id).is_some_and(|informer| informer.health(now) == Health::Listing);
            if !lasts {
                handle.abort();
            }
            lasts
        });
        let Some(base) = self.base.clone() else { return };
        for id in self.listing.counts.look(now, self.watches.members(), &self.informers) {
            let Some((resource, scope)) = self.informers.of(id) else { continue };
            let lister_watcher = ListerWatcher { base: base.clone(), resource, scope: scope.clone() };
            let page = self.this.clone();
            let (work, handle) = abortable(async move {
                let total = lister_watcher.count().await;
                if let Some(page) = page.upgrade() {
                    let mut page = page.borrow_mut();
                    page.listing.counts.answered(id, total);
                    page.listing.asked.retain(|(asked, _)| *asked != id);
                }
            });
            self.listing.asked.push((id, handle));
            spawn_local(async move {
                // What was given up has nothing more to say.
                let _ = work.await;
            });
        }
    }

    /// Shows how far the first list of the table in view has come, where the server said of how many.
    pub(super) fn present_listing(&self, progress: Option<Progress>, now: f64) {
        let progress = progress.filter(|_| self.watches.health(&self.informers, now) == Some(Health::Listing));
        let model = progress.and_then(|progress| {
            let (title, words) = (self.layout.schema().title(), progress.words());
            Some(ListingModel { title, listed: progress.listed, about: progress.about?, words })
        });
        put(self.screen.listing, model);
    }
}
