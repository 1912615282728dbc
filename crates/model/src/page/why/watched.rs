//! What is known of a kind of which an incident may speak.

use kubechurn_client::cache::reflector::Health;

use crate::page::context::Context;
use crate::why::unchanged::Watched;

/// What was known of a kind at a time, in milliseconds.
pub(super) fn watched(kind: &str, at: f64, cx: &Context<'_>) -> Watched {
    let history = &cx.watching.history;
    let of = cx.navigation.catalog.kinds().find(|known| known.resource.kind == kind);
    let Some(resource) = of.map(|kind| kind.resource) else { return Watched::Not };
    if !history.coverage.known(resource, history.moment(at)).is_nothing()
        && let Some(listed) = history.coverage.listed_at(resource)
    {
        return Watched::Since(listed);
    }
    let is_it = |watched: &&crate::watches::watched::Watched| watched.kind().resource == resource;
    let informers = &cx.watching.informers;
    let is_forbidden = cx.watching.watches.iter().find(is_it).is_some_and(|watched| {
        watched.informers(informers).any(|informer| informer.health(cx.now) == Health::Forbidden)
    });
    if is_forbidden { Watched::Forbidden } else { Watched::Not }
}
