//! Which kinds are watched: what a route asks for is begun, and what it no longer asks for is let go.

use kubechurn_client::cache::factory::{InformerId, SharedInformerFactory};

use crate::navigation::catalog::{Catalog, is_only_cause};
use crate::navigation::definitions::Definitions;
use crate::navigation::route::Route;
use crate::table::schema::TableSchema;
use crate::watches::notices::Announcer;
use crate::watches::watched::scopes;
use kubechurn_client::api::request::Scope;
use kubechurn_client::api::resource::ApiResource;
use kubechurn_columns::kinds::Kind;

/// What a route asks for.
#[derive(Debug)]
pub struct Wanted<'a> {
    pub(super) route: &'a Route,
    /// The kinds whose columns are known, those in view first.
    pub(super) kinds: Vec<&'static Kind>,
    in_view: TableSchema,
    /// The watches of a recording, which alone has what is shown.
    recorded: Option<&'a [(ApiResource, Scope)]>,
}

/// What watches are made of, and the time.
#[derive(Debug)]
pub struct Around<'a> {
    /// The informers. Those that are added want to be started.
    pub informers: &'a mut SharedInformerFactory,
    /// Publishes what happens to a watch.
    pub announcer: &'a mut Announcer,
    /// The time, in milliseconds.
    pub now: f64,
}

/// What came of watching what a route asks for.
#[derive(Debug, Default)]
pub struct Rewatched {
    /// The informers that ended because they have no handler any more.
    pub ended: Vec<InformerId>,
    /// Whether another table is in view than before, or none any more. Rows of two tables may have the same keys.
    pub is_other: bool,
}

impl<'a> Wanted<'a> {
    /// What `route` asks for, among the kinds that there are. Kinds that wait for their columns are not watched yet.
    pub fn at(route: &'a Route, catalog: &Catalog, definitions: &Definitions) -> Wanted<'a> {
        let known = |kind: &&'static Kind| !definitions.awaits(kind);
        let kinds = route.watched(catalog).into_iter().filter(known).collect();
        let in_view: Vec<&'static Kind> = route.kinds(catalog).into_iter().filter(known).collect();
        Wanted { route, kinds, in_view: TableSchema::of(&in_view), recorded: None }
    }

    /// These kinds, too, as far as their columns are known.
    pub fn and(mut self, kept: &[&'static Kind], definitions: &Definitions) -> Wanted<'a> {
        for kind in kept.iter().filter(|kind| !definitions.awaits(kind)) {
            if self.kinds.iter().all(|other| other.resource != kind.resource) {
                self.kinds.push(kind);
            }
        }
        self
    }

    /// The scopes of a recording's watches, in place of those that the route asks for.
    pub fn recorded(self, recorded: Option<&'a [(ApiResource, Scope)]>) -> Wanted<'a> {
        Wanted { recorded, ..self }
    }

    /// The scopes in which a kind is wanted.
    pub(super) fn scopes(&self, kind: &Kind) -> Vec<Scope> {
        let Some(recorded) = self.recorded else { return scopes(kind, self.route, self.is_in_view(kind)) };
        let own = recorded.iter().filter(|(resource, _)| *resource == kind.resource).map(|(_, scope)| scope.clone());
        let own: Vec<Scope> = own.collect();
        if own.is_empty() { vec![Scope::default()] } else { own }
    }

    /// Whether nobody asked for a kind: *What changed* watches it, and does without where it may not be listed.
    pub(super) fn is_optional(&self, kind: &Kind) -> bool {
        let is_asked_for = self.route.pinned.iter().any(|pinned| pinned == kind.name)
            || (self.is_in_view(kind) && !self.route.is_everything());
        is_only_cause(kind) && !is_asked_for
    }

    pub(super) fn is_in_view(&self, kind: &Kind) -> bool {
        self.in_view.number(kind).is_some()
    }
}
