//! The watch of the inspected object's Events.

use std::sync::Arc;

use kubechurn_client::api::object::Object;
use kubechurn_client::cache::factory::{InformerId, Registration};
use kubechurn_client::cache::handler::HandlerOptions;
use kubechurn_client::cache::reflector::{Health, Options};
use kubechurn_client::cache::shared_informer::{InformerOptions, SharedInformer};

use crate::inspector::events;
use crate::page::context::Context;
use crate::page::inspector::object::InspectedObject;
use crate::view::inspector::EventsModel;
use kubechurn_columns::kinds::events::KIND;

/// How long an object must be selected before the page opens a watch of its Events, in milliseconds.
const WORTH: f64 = 350.0;

/// The watch of an object's Events.
#[derive(Debug)]
pub struct EventWatch {
    /// When the object was selected.
    since: f64,
    registration: Option<Registration>,
}

impl EventWatch {
    /// Nothing is watched yet.
    pub fn new(now: f64) -> EventWatch {
        EventWatch { since: now, registration: None }
    }

    /// Whether the Events come through this informer.
    pub fn is_through(&self, id: InformerId) -> bool {
        self.registration.is_some_and(|registration| registration.informer == id)
    }

    /// Watches the object's Events once it has been selected for a moment, so that walking through the rows opens no
    /// watch.
    pub fn ensure(&mut self, object: &InspectedObject, cx: &mut Context<'_>) {
        let Some(row) = &object.row else { return };
        let scope = events::scope(object.kind, &object.key, &row.uid);
        let resource = KIND.resource.at(object.kind.resource.cluster);
        let informers = &cx.watching.informers;
        let own = self.registration.and_then(|registration| informers.of(registration.informer));
        if own == Some((resource, &scope)) || cx.now - self.since < WORTH || !cx.navigation.found {
            return;
        }
        self.end(cx);
        let informers = &mut cx.watching.informers;
        let reflector = Options { kind: Some(KIND.resource.kind), ..informers.options_of(&resource) };
        let options = InformerOptions { reflector, ..InformerOptions::default() };
        let make = || SharedInformer::new(KIND.decode, options);
        let informer = informers.informer_for(resource, &scope, make);
        // The Events are read from the store, and so no notifications are needed.
        let nothing = HandlerOptions { changes: false, ..HandlerOptions::default() };
        self.registration = informers.add_event_handler(informer, nothing, cx.now);
        cx.watching.start(cx.effects);
    }

    /// Ends the watch.
    pub fn end(&mut self, cx: &mut Context<'_>) {
        if let Some(registration) = self.registration.take() {
            cx.watching.unwatch(registration, cx.effects);
        }
    }

    /// Shows the Events that were received.
    pub fn present(&self, cx: &mut Context<'_>) {
        let informer = self.registration.and_then(|registration| cx.watching.informers.get(registration.informer));
        let Some(informer) = informer else { return };
        let until = cx.watching.moment.map(|_| cx.server_time(KIND.resource.cluster));
        let had_come = |event: &&Arc<Object>| until.is_none_or(|until| events::last_seen(&KIND, event) <= Some(until));
        let (items, more) = events::items(&KIND, informer.store().iter().filter(had_come));
        let later = informer.store().iter().filter(|event| !had_come(event)).count();
        let failure = informer.reflector().failure().map(|failure| failure.words.clone()).unwrap_or_default();
        let words = match informer.health(cx.now) {
            Health::Live if later > 0 => {
                format!("{later} of its Events came or were counted on after this moment, and are not shown.")
            }
            Health::Live if items.is_empty() => {
                String::from("No Events: none happened, or the server has let them go (it keeps them for an hour).")
            }
            Health::Live => String::new(),
            Health::Connecting | Health::Listing => String::from("Asking for its Events …"),
            Health::Stale => format!("Its Events are stale: {failure}"),
            Health::Unauthorized => {
                format!("Its Events cannot be read, for the server does not know who asks: {failure}")
            }
            Health::Forbidden => format!("Its Events may not be read: {failure}"),
            Health::Stopped => format!("Its Events are refused: {failure}"),
        };
        cx.view.inspector.events.put(EventsModel { items, more, words });
    }
}
