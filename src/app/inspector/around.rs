//! What stands around the inspected object: owners, what belongs to it, and its Events.

use kubechurn_client::api::owner::OwnerReference;
use kubechurn_client::cache::factory::Registration;
use kubechurn_client::cache::handler::HandlerOptions;
use kubechurn_client::cache::reflector::{Health, Options};
use kubechurn_client::cache::shared_informer::{InformerOptions, SharedInformer};
use kubechurn_model::page::inspector::relatives::{self, DEPTH, Link};
use kubechurn_model::page::inspector::{events, summary};
use kubechurn_model::table::kinds::events as event_kind;

use crate::app::Page;
use crate::app::inspector::{Inspection, LINGERS};
use crate::ui::inspector::signals::EventsModel;
use crate::ui::screen::put;

impl Page {
    /// The owners above the object. Those that are not watched are asked for.
    pub(super) fn present_owners(&self, open: &mut Inspection) {
        let mut above = match (&open.full, &open.row) {
            (Some(full), _) => summary::owners(&full.value),
            (None, Some(row)) => row.owners().to_vec(),
            (None, None) => Vec::new(),
        };
        let mut links = Vec::new();
        while let Some(owner) = above.first().cloned()
            && links.len() < DEPTH
        {
            // Owners beside the controller are leaves: the chain goes on with the first.
            let others = above.split_off(1);
            let kind = relatives::kind_of(&self.catalog, &owner);
            let key = kind.map(|kind| relatives::key_of(kind, &owner, &open.key.namespace));
            let mut words = "";
            let mut status = (String::new(), Default::default());
            above = Vec::new();
            if let Some((kind, key)) = kind.zip(key.as_ref()) {
                let row = relatives::find(&self.watches, &self.informers, kind, key).filter(|row| row.uid == owner.uid);
                match (row, open.owners.get(&owner.uid)) {
                    (Some(row), _) => {
                        status = relatives::status(row);
                        above = row.owners().to_vec();
                    }
                    (None, Some(Some(owners))) => above = owners.clone(),
                    (None, Some(None)) => words = "not found",
                    (None, None) => {
                        open.owners.insert(owner.uid.clone(), Some(Vec::new()));
                        self.fetch_owner(kind, key.clone(), owner.uid.clone());
                    }
                }
            }
            let link = |owner: &OwnerReference, words, status| {
                let kind = relatives::kind_of(&self.catalog, owner);
                let key = kind.map(|kind| (kind, relatives::key_of(kind, owner, &open.key.namespace)));
                let href = key.map(|(kind, key)| relatives::link(&self.route, kind.name, &key));
                Link { kind: owner.kind.to_string(), name: owner.name.to_string(), href, status, words, depth: 0 }
            };
            links.push(link(&owner, words, status));
            links.extend(others.iter().map(|other| link(other, "also", Default::default())));
        }
        links.reverse();
        put(self.screen.inspector.owners, links);
    }

    pub(super) fn dependents_of(&self, open: &Inspection) -> relatives::Dependents {
        let uid = match (&open.row, &open.full) {
            (Some(row), _) => &row.uid,
            (None, Some(full)) => &full.uid,
            (None, None) => return relatives::Dependents::default(),
        };
        relatives::dependents(&self.watches, &self.informers, &self.route, uid)
    }

    /// One watch of the object's Events, once it has been looked at for a moment: who walks through rows opens none.
    pub(super) fn watch_events(&mut self, open: &mut Inspection, now: f64) {
        let Some(row) = &open.row else { return };
        let scope = events::scope(open.kind, &open.key, &row.uid);
        let is_of = |registration: &Registration| {
            self.informers.of(registration.informer).is_some_and(|(_, own)| *own == scope)
        };
        if open.events.as_ref().is_some_and(is_of) || now - open.since < LINGERS || self.base.is_none() {
            return;
        }
        if let Some(other) = open.events.take() {
            self.unwatch(other);
        }
        let kind = event_kind::KIND;
        let reflector = Options { kind: Some(kind.resource.kind), ..Options::default() };
        let options = InformerOptions { reflector, ..InformerOptions::default() };
        let make = || SharedInformer::new(kind.decode, options);
        let informer = self.informers.informer_for(kind.resource, &scope, make);
        // It is read from the store: nothing needs to be told.
        let nothing = HandlerOptions { changes: false, received: false, resync: None };
        open.events = self.informers.add_event_handler(informer, nothing, now);
        self.drive();
    }

    pub(super) fn present_events(&self, open: &Inspection, now: f64) {
        let informer = open.events.and_then(|registration| self.informers.get(registration.informer));
        let Some(informer) = informer else { return };
        let (items, more) = events::items(&event_kind::KIND, informer.store().iter());
        let said = informer.reflector().failure().map(|failure| failure.words.clone()).unwrap_or_default();
        let words = match informer.health(now) {
            Health::Live if items.is_empty() => {
                String::from("No Events: none happened, or the server has let them go (it keeps them for an hour).")
            }
            Health::Live => String::new(),
            Health::Connecting | Health::Listing => String::from("Asking for its Events …"),
            Health::Stale => format!("Its Events are stale: {said}"),
            Health::Forbidden => format!("Its Events may not be read: {said}"),
            Health::Stopped => format!("Its Events are refused: {said}"),
        };
        put(self.screen.inspector.events, EventsModel { items, more, words });
    }
}
