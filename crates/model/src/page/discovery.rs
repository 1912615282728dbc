//! Which kinds the server has, and the definitions of those that the user looks at. The page asks as soon as the API is
//! found, and again every few seconds while the page is visible.

use kubechurn_client::api::definition;
use kubechurn_client::api::resource::ApiResource;
use kubechurn_client::api::status::Failure;
use kubechurn_client::cache::discovery::CachedDiscovery;
use kubechurn_client::cache::heartbeat::Heartbeats;

use crate::navigation::catalog::Catalog;
use crate::navigation::definitions::Next;
use crate::page::context::Context;
use crate::page::effect::Request;
use crate::page::requests::Purpose;
use kubechurn_columns::kinds::Kind;

/// How soon the server is asked again while it answers that it does not have a watched resource, in milliseconds.
const MISSING: f64 = 1_500.0;
/// How soon a definition that could not be fetched is asked for again, in milliseconds.
const DEFINITION: f64 = 2_000.0;
/// How often the definitions of kinds in view are asked for again, in milliseconds: their columns may change, and nothing
/// else reports that.
const DEFINITIONS: f64 = 30_000.0;
/// The HTTP status of a resource or object that does not exist.
const NOT_FOUND: u16 = 404;

/// What the server has reported of its resources.
#[derive(Debug, Default)]
pub(super) struct Discovery {
    /// `None` while a request is under way.
    cached: Option<CachedDiscovery>,
    /// When the last answer was received.
    answered: f64,
    /// The definitions to ask for again, and when.
    definitions: Vec<(f64, ApiResource)>,
    /// When the definitions of the kinds in view were last asked for.
    defined: f64,
}

impl Discovery {
    /// When the first of the definitions is to be asked for again, in milliseconds.
    pub(super) fn definitions_at(&self) -> Option<f64> {
        self.definitions.iter().map(|(at, _)| *at).reduce(f64::min)
    }

    /// Asks which resources the server has.
    pub(super) fn discover(&mut self, cx: &mut Context<'_>) {
        let cached = self.cached.take().unwrap_or_default();
        cx.request(Purpose::Discovery, Request::Discovery(cached));
    }

    /// Asks again when it is time, and only while the page is visible.
    pub(super) fn discover_again(&mut self, heartbeat: &Heartbeats, cx: &mut Context<'_>) {
        let Discovery { cached: Some(cached), answered, .. } = &*self else { return };
        let wait = if misses_some(cx) { MISSING } else { f64::from(cached.wait()) };
        // While nothing answers, the heartbeat asks at growing intervals; its first answer starts discovery again.
        let answers = !heartbeat.has_outage();
        if answers && !cx.env.is_hidden() && cx.now - answered >= wait {
            self.discover(cx);
        }
    }

    /// Handles the result of a round of discovery requests. Returns whether the server has other kinds than before.
    pub(super) fn discovered(&mut self, cached: CachedDiscovery, cx: &mut Context<'_>) -> bool {
        let resources = cached.resources();
        let mut is_other = false;
        // After only half of the answers, the resources of the other half would seem to be gone. If the other half does
        // not answer, the trouble says so.
        if !resources.is_empty() && (cached.is_heard() || cached.trouble().is_some()) {
            let catalog = Catalog::of(&resources, &cx.navigation.catalog);
            is_other = cx.navigation.catalog != catalog;
            if is_other {
                cx.navigation.catalog = catalog;
            }
        }
        // What a server does not answer is missing from the sidebar. The kinds that are known stay there.
        cx.view.sidebar.trouble.put(cached.trouble());
        self.cached = Some(cached);
        self.answered = cx.now;
        is_other
    }

    /// Asks for the definitions that the current place needs.
    pub(super) fn ask_for_definitions(cx: &mut Context<'_>) {
        let place = &mut *cx.navigation;
        // A recording has its definitions before the kinds that they are of.
        if place.recorded.is_some() {
            return;
        }
        let kinds = place.route.kinds(&place.catalog);
        for resource in place.definitions.visit(&kinds, &place.route.watched(&place.catalog)) {
            cx.request(Purpose::Definition(resource), Request::Definition(resource));
        }
    }

    /// Handles a definition, or the reason why there is none. Returns whether the resource is described otherwise now.
    pub(super) fn defined(
        &mut self,
        resource: &ApiResource,
        answer: Result<&str, &Failure>,
        cx: &mut Context<'_>,
    ) -> bool {
        if let Some(brief) = answer.ok().and_then(definition::in_brief) {
            cx.watching.history.definitions.insert(*resource, brief);
        }
        let before = described(resource, cx);
        let next = cx.navigation.definitions.heard(resource, answer, &mut cx.navigation.catalog);
        if next == Next::Again {
            self.definitions.push((cx.now + DEFINITION, *resource));
        }
        described(resource, cx) != before
    }

    pub(super) fn define_again(&mut self, cx: &mut Context<'_>) {
        if cx.now - self.defined >= DEFINITIONS && !cx.env.is_hidden() {
            let begins = self.defined > 0.0;
            self.defined = cx.now;
            let again = cx.navigation.definitions.in_view();
            self.definitions.extend(again.filter(|_| begins).map(|resource| (cx.now, resource)));
        }
        let (due, later) = self.definitions.drain(..).partition(|(at, _)| *at <= cx.now);
        self.definitions = later;
        let due: Vec<(f64, ApiResource)> = due;
        for (_, resource) in due {
            cx.request(Purpose::Definition(resource), Request::Definition(resource));
        }
    }
}

/// How a resource is described, and whether it waits for its definition.
fn described(resource: &ApiResource, cx: &Context<'_>) -> Option<(&'static Kind, bool)> {
    let kind = cx.navigation.catalog.kinds().find(|kind| kind.resource == *resource)?;
    Some((kind, cx.navigation.definitions.awaits(kind)))
}

/// Whether the server says that something watched does not exist.
fn misses_some(cx: &Context<'_>) -> bool {
    let informers = &cx.watching.informers;
    let own = cx.watching.watches.iter().filter(|watched| watched.kind().resource.cluster.is_empty());
    let mut complaints = own.filter_map(|watched| watched.complaint(informers));
    complaints.any(|complaint| complaint.code == NOT_FOUND)
}
