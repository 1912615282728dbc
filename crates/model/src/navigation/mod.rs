//! Where the user is, and which places there are.

pub mod address;
pub mod catalog;
pub mod clusters;
pub mod definitions;
pub mod first_list;
pub mod namespaces;
pub mod range;
pub mod recorded;
pub mod route;
pub mod selectors;

use std::sync::Arc;

use kubechurn_client::api::object::ObjectKey;
use kubechurn_client::api::request::Scope;
use kubechurn_client::api::resource::ApiResource;
use kubechurn_columns::kinds::Kind;

use crate::kind_id::KindId;
use crate::navigation::catalog::{Catalog, MATTERS};
use crate::navigation::clusters::ClusterPage;
use crate::navigation::definitions::Definitions;
use crate::navigation::route::{Chosen, Route};
use crate::table::schema::TableSchema;

/// How many of the objects that were looked at are kept.
const RECENT: usize = 12;

/// Where the user is, and which places the user can go to.
#[derive(Debug)]
pub struct Navigation {
    /// Where the user is.
    pub route: Route,
    /// The object that the route selects.
    pub selected: Option<Chosen>,
    /// The kinds that the server has.
    pub catalog: Catalog,
    /// Which kinds wait for the columns of their definition.
    pub definitions: Definitions,
    /// Whether the API was found.
    pub found: bool,
    /// The clusters to choose from.
    pub clusters: Vec<ClusterPage>,
    /// The name of the page's own cluster.
    pub home: &'static str,
    /// The kinds of the table in view, as far as their columns are known.
    pub schema: Arc<TableSchema>,
    /// The objects that were looked at, newest first.
    pub recent: Vec<(&'static str, ObjectKey)>,
    /// Whether what the feed shows without a kind stays watched in other views, once it was shown.
    pub keeps_changes: bool,
    /// Whether the feed over everything that matters was shown.
    has_shown_changes: bool,
    /// The recording that is shown in place of a cluster.
    pub recorded: Option<Recorded>,
}

/// A recording that is shown in place of a cluster.
#[derive(Debug, Default)]
pub struct Recorded {
    /// What it is called.
    pub title: String,
    /// The address from which it comes, as a fragment names it; empty for a file of the user's.
    pub url: String,
    /// When the last of what is in it was received, in milliseconds.
    pub end: f64,
    /// What was watched by then.
    pub watches: Vec<(ApiResource, Scope)>,
}

impl Navigation {
    /// Nothing is known yet of what the server has.
    pub fn new(route: Route, clusters: Vec<ClusterPage>, home: &'static str) -> Navigation {
        let others = clusters.iter().filter_map(|cluster| Some(cluster.api?.cluster)).collect();
        Navigation {
            route,
            selected: None,
            catalog: Catalog::default().with_clusters(others),
            definitions: Definitions::default(),
            found: false,
            clusters,
            home,
            schema: Arc::default(),
            recent: Vec::new(),
            keeps_changes: true,
            has_shown_changes: false,
            recorded: None,
        }
    }

    /// The kinds that stay watched though they are not in view, so that whoever comes back to *What changed* has missed
    /// nothing.
    pub fn kept(&mut self) -> Vec<&'static Kind> {
        if let Some(recorded) = &self.recorded {
            return recorded.watches.iter().filter_map(|(resource, _)| self.catalog.of_resource(resource)).collect();
        }
        self.has_shown_changes |= self.route.is_everything();
        let keeps = self.keeps_changes && self.has_shown_changes;
        let names = keeps.then_some(MATTERS).into_iter().flat_map(|names| names.split(','));
        names.filter_map(|name| self.catalog.find(name)).collect()
    }

    /// The recording that is shown ends at a time, in milliseconds: in whole ones, as the address has them.
    pub fn end_recording(&mut self, at: f64) {
        self.recorded.iter_mut().for_each(|recorded| recorded.end = at.ceil());
    }

    /// The word for a state of a watch. Nothing of a recording is live.
    pub fn state(&self, state: &'static str) -> &'static str {
        if self.recorded.is_some() { "recording" } else { state }
    }

    /// The newest time that can be shown: that of now, or the end of a recording; in milliseconds.
    pub fn newest(&self, now: f64) -> f64 {
        self.recorded.as_ref().map_or(now, |recorded| recorded.end)
    }

    /// The kinds in view that the server has.
    pub fn kinds(&self) -> Vec<&'static Kind> {
        self.route.kinds(&self.catalog)
    }

    /// The kinds in view whose columns are known, for a table that is about to be laid out.
    pub fn new_schema(&self) -> TableSchema {
        let kinds = self.kinds().into_iter().filter(|kind| !self.definitions.awaits(kind));
        TableSchema::of(&kinds.collect::<Vec<_>>()).at_home(self.home)
    }

    /// Whether this object, of the kind with this name of the page's, is selected.
    pub fn has_selected(&self, kind: &str, key: &ObjectKey) -> bool {
        self.selected.as_ref().is_some_and(|(own, other)| own.name == kind && other == key)
    }

    /// The selected object, with its kind's number in the table in view.
    pub fn selected_in_view(&self) -> Option<(KindId, ObjectKey)> {
        let (kind, key) = self.selected.as_ref()?;
        Some((self.schema.number(kind)?, key.clone()))
    }

    /// Adds an object to those that were looked at.
    pub fn remember(&mut self, kind: &'static str, key: &ObjectKey) {
        self.recent.retain(|(name, other)| (*name, other) != (kind, key));
        self.recent.insert(0, (kind, key.clone()));
        self.recent.truncate(RECENT);
    }

    /// The route to a table that shows an object of this kind, unless one is in view.
    pub fn route_to(&self, kind: &'static str, key: &ObjectKey) -> Option<Route> {
        if self.route.shows(kind) {
            return None;
        }
        let mut route = self.route.visiting(kind);
        if !route.namespaces.is_empty() && !key.namespace.is_empty() {
            route.namespaces = vec![key.namespace.to_string()];
        }
        Some(route)
    }

    /// The route with the kinds in view pinned or, if all of them are, without their pins.
    pub fn with_pins_turned(&self) -> Option<Route> {
        let names: Vec<&str> = self.kinds().iter().map(|kind| kind.name).collect();
        let is_pinned = |name: &&str| self.route.pinned.iter().any(|pinned| pinned == name);
        let all = names.iter().all(is_pinned);
        let turned = names.iter().filter(|name| all || !is_pinned(name));
        let route = turned.fold(self.route.clone(), |route, name| route.pinning(name));
        (!names.is_empty()).then_some(route)
    }

    /// The address of the same place in another cluster, whose page has this address.
    pub fn url_in(&self, page: &str) -> String {
        // What is selected there, and when something happened there, is another matter.
        let mut route = Route { selected: String::new(), span: None, at: None, ..self.route.clone() };
        // There the cluster that is shown beside this one is shown first, and this one beside it.
        let name = self.clusters.iter().find(|cluster| cluster.page == page).map(|cluster| &cluster.name);
        for cluster in route.clusters.iter_mut().filter(|cluster| Some(&**cluster) == name) {
            self.home.clone_into(cluster);
        }
        format!("{page}{}", route.fragment())
    }
}
