//! Which kinds there are: asked when the API was found, and again every few seconds while someone looks at the page; and
//! the definitions of those that are looked at.

use kubechurn_client::api::resource::ApiResource;
use kubechurn_client::api::status::Failure;
use kubechurn_client::cache::discovery::CachedDiscovery;

use crate::page::catalog::Catalog;
use crate::page::definitions::Next;
use crate::page::effect::Request;
use crate::page::environment::Environment;
use crate::page::state::Page;
use crate::page::state::requests::Purpose;
use crate::table::kinds::Kind;

/// How soon the server is asked again while it says that it does not have what is watched, in milliseconds.
const MISSING: f64 = 1_500.0;
/// How soon a definition is asked for again that could not be had.
const DEFINITION: f64 = 2_000.0;
/// The HTTP status of what is not there.
const NOT_FOUND: u16 = 404;

/// What the server has said that it has.
#[derive(Debug, Default)]
pub(super) struct Discovery {
    /// `None` while it is being asked.
    cached: Option<CachedDiscovery>,
    /// When the last answer came.
    answered: f64,
    /// The definitions that are asked for again, and when.
    definitions: Vec<(f64, ApiResource)>,
}

impl Page {
    /// Asks what the server has.
    pub(super) fn discover(&mut self) {
        let cached = self.place.discovery.cached.take().unwrap_or_default();
        self.request(Purpose::Discovery, Request::Discovery(cached));
    }

    /// Asks again once it is time, and only while someone looks.
    pub(super) fn discover_again(&mut self, env: &dyn Environment) {
        let Discovery { cached: Some(cached), answered, .. } = &self.place.discovery else { return };
        let wait = if self.misses_some() { MISSING } else { f64::from(cached.wait()) };
        // While nothing answers the heartbeat asks, ever more seldom, and this with its first answer.
        let answers = !self.requests.heartbeat.has_outage();
        if answers && !env.is_hidden() && env.now() - answered >= wait {
            self.discover();
        }
    }

    /// A round of questions came to its end.
    pub(super) fn discovered(&mut self, cached: CachedDiscovery, env: &dyn Environment) {
        let resources = cached.resources();
        // With half of it heard the other half would seem to be gone; if it stays silent, that is said.
        if !resources.is_empty() && (cached.is_heard() || cached.trouble().is_some()) {
            let catalog = Catalog::of(&resources, &self.place.catalog);
            self.learn(catalog, env);
        }
        // What a server does not say of itself is missing from the sidebar; the kinds that are known stay there.
        self.out.view.sidebar.trouble.put(cached.trouble());
        let discovery = &mut self.place.discovery;
        (discovery.cached, discovery.answered) = (Some(cached), env.now());
    }

    /// Takes in what the server has. A kind that came is shown if it was asked for, and one that went is let go.
    fn learn(&mut self, catalog: Catalog, env: &dyn Environment) {
        if self.place.catalog != catalog {
            self.place.catalog = catalog;
            self.go_on(env);
        }
    }

    /// Asks for the definitions that the user's place wants.
    pub(super) fn ask_for_definitions(&mut self) {
        let place = &mut self.place;
        let kinds = place.route.kinds(&place.catalog);
        for resource in place.definitions.visit(&kinds, &place.route.watched(&place.catalog)) {
            self.request(Purpose::Definition(resource), Request::Definition(resource));
        }
    }

    /// A definition came, or why there is none.
    pub(super) fn defined(&mut self, resource: &ApiResource, answer: Result<&str, &Failure>, env: &dyn Environment) {
        let before = self.described(resource);
        let next = self.place.definitions.heard(resource, answer, &mut self.place.catalog);
        if self.described(resource) != before {
            self.go_on(env);
        }
        if next == Next::Again {
            self.place.discovery.definitions.push((env.now() + DEFINITION, *resource));
        }
    }

    pub(super) fn define_again(&mut self, now: f64) {
        let (due, later) = self.place.discovery.definitions.drain(..).partition(|(at, _)| *at <= now);
        self.place.discovery.definitions = later;
        let due: Vec<(f64, ApiResource)> = due;
        for (_, resource) in due {
            self.request(Purpose::Definition(resource), Request::Definition(resource));
        }
    }

    /// How a resource is described, and whether it waits for that.
    fn described(&self, resource: &ApiResource) -> Option<(&'static Kind, bool)> {
        let kind = self.place.catalog.kinds().find(|kind| kind.resource == *resource)?;
        Some((kind, self.place.definitions.awaits(kind)))
    }

    /// Whether the server says of something watched that there is no such thing.
    fn misses_some(&self) -> bool {
        let informers = &self.watching.informers;
        let mut complaints = self.watching.watches.iter().filter_map(|watched| watched.complaint(informers));
        complaints.any(|complaint| complaint.code == NOT_FOUND)
    }
}
