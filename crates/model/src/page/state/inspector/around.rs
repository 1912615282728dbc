//! What surrounds the selected object: its owners, the objects that it owns, and its Events.

use kubechurn_client::api::owner::OwnerReference;
use kubechurn_client::cache::factory::Registration;
use kubechurn_client::cache::handler::HandlerOptions;
use kubechurn_client::cache::reflector::{Health, Options};
use kubechurn_client::cache::shared_informer::{InformerOptions, SharedInformer};

use crate::page::inspector::relatives::{self, DEPTH, Link};
use crate::page::inspector::{events, summary};
use crate::page::state::Page;
use crate::page::state::inspector::Inspection;
use crate::page::state::requests::Purpose;
use crate::page::view::inspector::EventsModel;
use kubechurn_columns::kinds::events as event_kind;

/// How long an object must be selected before the page opens a watch of its Events, in milliseconds.
const WORTH: f64 = 350.0;

impl Page {
    /// Shows the owners above the object. Owners that are not watched are fetched.
    pub(super) fn present_owners(&mut self, open: &mut Inspection) {
        let mut above = match (&open.text.full, &open.row) {
            (Some(full), _) => summary::owners(&full.value),
            (None, Some(row)) => row.owners().to_vec(),
            (None, None) => Vec::new(),
        };
        let mut links = Vec::new();
        while let Some(owner) = above.first().cloned()
            && links.len() < DEPTH
        {
            // Only the first owner's own owners are followed: it is the controller where there is one. The others are
            // leaves.
            let others = above.split_off(1);
            let kind = relatives::kind_of(&self.place.catalog, &owner, open.kind.resource.cluster);
            let key = kind.map(|kind| relatives::key_of(kind, &owner, &open.key.namespace));
            let mut words = "";
            let mut status = (String::new(), Default::default());
            above = Vec::new();
            if let Some((kind, key)) = kind.zip(key) {
                let (watches, informers) = (&self.watching.watches, &self.watching.informers);
                let row = relatives::find(watches, informers, kind, &key).filter(|row| row.uid == owner.uid);
                match (row, open.owners.get(&owner.uid)) {
                    (Some(row), _) => {
                        status = relatives::status(row);
                        above = row.owners().to_vec();
                    }
                    (None, Some(Some(owners))) => above = owners.clone(),
                    (None, Some(None)) => words = "not found",
                    (None, None) => {
                        // The owner is fetched only once. Until the answer comes, its own owners are unknown.
                        open.owners.insert(owner.uid.clone(), Some(Vec::new()));
                        self.get(Purpose::Owner(kind, owner.uid.clone()), kind, &key);
                    }
                }
            }
            links.push(Link { status, ..self.link_to_owner(&owner, open, words) });
            links.extend(others.iter().map(|other| self.link_to_owner(other, open, "also")));
        }
        links.reverse();
        self.out.view.inspector.owners.put(links);
    }

    fn link_to_owner(&self, owner: &OwnerReference, open: &Inspection, words: &'static str) -> Link {
        let kind = relatives::kind_of(&self.place.catalog, owner, open.kind.resource.cluster);
        let href = kind.map(|kind| {
            let key = relatives::key_of(kind, owner, &open.key.namespace);
            relatives::link(&self.place.route, kind.name, &key)
        });
        let (kind, name) = (owner.kind.to_string(), owner.name.to_string());
        Link { kind, name, href, status: (String::new(), Default::default()), words, depth: 0 }
    }

    pub(super) fn dependents_of(&self, open: &Inspection) -> relatives::Dependents {
        let uid = match (&open.row, &open.text.full) {
            (Some(row), _) => &row.uid,
            (None, Some(full)) => &full.uid,
            (None, None) => return relatives::Dependents::default(),
        };
        let cluster = open.kind.resource.cluster;
        relatives::dependents(&self.watching.watches, &self.watching.informers, &self.place.route, cluster, uid)
    }

    /// Watches the object's Events once it has been selected for a moment, so that walking through the rows opens no
    /// watch.
    pub(super) fn watch_events(&mut self, open: &mut Inspection, now: f64) {
        let Some(row) = &open.row else { return };
        let scope = events::scope(open.kind, &open.key, &row.uid);
        let resource = event_kind::KIND.resource.at(open.kind.resource.cluster);
        let informers = &self.watching.informers;
        let wanted = Some((resource, &scope));
        let is_of = |registration: &Registration| informers.of(registration.informer) == wanted;
        if open.events.as_ref().is_some_and(is_of) || now - open.since < WORTH || !self.place.found {
            return;
        }
        if let Some(other) = open.events.take() {
            self.unwatch(other);
        }
        let kind = event_kind::KIND;
        let reflector = Options { kind: Some(kind.resource.kind), ..self.watching.informers.options_of(&resource) };
        let options = InformerOptions { reflector, ..InformerOptions::default() };
        let make = || SharedInformer::new(kind.decode, options);
        let informer = self.watching.informers.informer_for(resource, &scope, make);
        // The Events are read from the store, and so no notifications are needed.
        let nothing = HandlerOptions { changes: false, ..HandlerOptions::default() };
        open.events = self.watching.informers.add_event_handler(informer, nothing, now);
        self.start_informers();
    }

    pub(super) fn present_events(&mut self, open: &Inspection, now: f64) {
        let informer = open.events.and_then(|registration| self.watching.informers.get(registration.informer));
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
        self.out.view.inspector.events.put(EventsModel { items, more, words });
    }
}
