//! Which watches are open, and what each of them costs.

use leptos::prelude::GetUntracked;

use kubechurn_client::api::request::Scope;
use kubechurn_client::api::resource::ApiResource;
use kubechurn_model::timeline::mark::grouped;

use kubechurn_model::page::view::{WatchItem, bytes, bytes_of};

use crate::app::Page;
use crate::ui::screen::put;
use kubechurn_model::page::rates::{RateMeter, Rates, Sample};

impl Page {
    /// Measures each watch, and lists them if someone looks.
    pub(super) fn present_watches(&mut self, now: f64) {
        self.shares.retain(|id, _| self.informers.get(*id).is_some());
        for (id, informer) in self.informers.iter() {
            let ledger = informer.ledger();
            let (frames, bytes) = (ledger.frames, ledger.bytes);
            self.shares.entry(id).or_default().take(Sample { at: now, frames, bytes, ..Sample::default() });
        }
        let items = if self.screen.watches_open.get_untracked() { self.watch_items(now) } else { Vec::new() };
        put(self.screen.watches, items);
    }

    fn watch_items(&self, now: f64) -> Vec<WatchItem> {
        let items = self.informers.iter().filter_map(|(id, informer)| {
            let (resource, scope) = self.informers.of(id)?;
            let rates = self.shares.get(&id).map(RateMeter::rates).unwrap_or_default();
            let kind = self.catalog.kinds().find(|kind| kind.resource == resource);
            let words = [&*scope.namespace, &*scope.label_selector, &*scope.field_selector];
            Some(WatchItem {
                title: kind.map_or(resource.kind, |kind| kind.title),
                scope: words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" · "),
                state: informer.health(now).word(),
                frames: format!("{:.0}", rates.frames),
                rate: bytes(rates.bytes),
                bytes: bytes_of(informer.ledger().bytes as f64),
                objects: grouped(informer.store().len() as u64),
            })
        });
        items.collect()
    }

    /// The rates of one watch.
    pub(super) fn share(&self, resource: &ApiResource, scope: &Scope) -> Option<Rates> {
        let is_it = |id| self.informers.of(id).is_some_and(|(other, own)| other == *resource && own == scope);
        let (id, _) = self.informers.iter().find(|(id, _)| is_it(*id))?;
        self.shares.get(&id).map(RateMeter::rates)
    }
}
