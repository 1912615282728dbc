//! Which kinds the server has, and the definitions of those that the user looks at. The page asks as soon as the API is
//! found, and again every few seconds while the page is visible.

use kubechurn_client::api::resource::ApiResource;
use kubechurn_client::api::status::Failure;
use kubechurn_client::cache::discovery::CachedDiscovery;

use crate::page::catalog::Catalog;
use crate::page::definitions::Next;
use crate::page::effect::Request;
use crate::page::environment::Environment;
use crate::page::state::Page;
use crate::page::state::requests::Purpose;
use kubechurn_columns::kinds::Kind;

/// How soon the server is asked again while it answers that it does not have a watched resource, in milliseconds.
const MISSING: f64 = 1_500.0;
/// How soon a definition that could not be fetched is asked for again, in milliseconds.
const DEFINITION: f64 = 2_000.0;
/// The HTTP status of a resource or object that does not exist.
const NOT_FOUND: u16 = 404;

/// What the server has told of its resources.
#[derive(Debug, Default)]
pub(super) struct Discovery {
    /// `None` while a request is under way.
    cached: Option<CachedDiscovery>,
    /// When the last answer was received.
    answered: f64,
    /// The definitions to ask for again, and when.
    definitions: Vec<(f64, ApiResource)>,
}

impl Discovery {
    /// When the first of the definitions is to be asked for again, in milliseconds.
    pub(super) fn definitions_at(&self) -> Option<f64> {
        self.definitions.iter().map(|(at, _)| *at).reduce(f64::min)
    }
}

impl Page {
    /// Asks which resources the server has.
    pub(super) fn discover(&mut self) {
        let cached = self.place.discovery.cached.take().unwrap_or_default();
        self.request(Purpose::Discovery, Request::Discovery(cached));
    }

    /// Asks again when it is time, and only while the page is visible.
    pub(super) fn discover_again(&mut self, env: &dyn Environment) {
        let Discovery { cached: Some(cached), answered, .. } = &self.place.discovery else { return };
        let wait = if self.misses_some() { MISSING } else { f64::from(cached.wait()) };
        // While nothing answers, the heartbeat asks at growing intervals; its first answer starts discovery again.
        let answers = !self.requests.heartbeat.has_outage();
        if answers && !env.is_hidden() && env.now() - answered >= wait {
            self.discover();
        }
    }

    /// Handles the result of a round of discovery requests.
    pub(super) fn discovered(&mut self, cached: CachedDiscovery, env: &dyn Environment) {
        let resources = cached.resources();
        // After only half of the answers, the resources of the other half would seem to be gone. If the other half does
        // not answer, the trouble says so.
        if !resources.is_empty() && (cached.is_heard() || cached.trouble().is_some()) {
            let catalog = Catalog::of(&resources, &self.place.catalog);
            self.learn(catalog, env);
        }
        // What a server does not answer is missing from the sidebar. The kinds that are known stay there.
        self.out.view.sidebar.trouble.put(cached.trouble());
        let discovery = &mut self.place.discovery;
        (discovery.cached, discovery.answered) = (Some(cached), env.now());
    }

    /// Adopts what the server has. A kind that appeared is shown if the user asked for it; a kind that disappeared is
    /// no longer watched.
    fn learn(&mut self, catalog: Catalog, env: &dyn Environment) {
        if self.place.catalog != catalog {
            self.place.catalog = catalog;
            self.go_on(env);
        }
    }

    /// Asks for the definitions that the current place needs.
    pub(super) fn ask_for_definitions(&mut self) {
        let place = &mut self.place;
        let kinds = place.route.kinds(&place.catalog);
        for resource in place.definitions.visit(&kinds, &place.route.watched(&place.catalog)) {
            self.request(Purpose::Definition(resource), Request::Definition(resource));
        }
    }

    /// Handles a definition, or the reason why there is none.
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

    /// How a resource is described, and whether it waits for its definition.
    fn described(&self, resource: &ApiResource) -> Option<(&'static Kind, bool)> {
        let kind = self.place.catalog.kinds().find(|kind| kind.resource == *resource)?;
        Some((kind, self.place.definitions.awaits(kind)))
    }

    /// Whether the server says that something watched does not exist.
    fn misses_some(&self) -> bool {
        let informers = &self.watching.informers;
        let own = self.watching.watches.iter().filter(|watched| watched.kind().resource.cluster.is_empty());
        let mut complaints = own.filter_map(|watched| watched.complaint(informers));
        complaints.any(|complaint| complaint.code == NOT_FOUND)
    }
}
