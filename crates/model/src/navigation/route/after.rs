//! The places that clicks lead to from a place.

use crate::kind_id::plain;
use crate::navigation::catalog::is_of;
use crate::navigation::route::{KEPT, Route};
use crate::table::layout::{CHANGED, CLUSTER, KIND};
use crate::table::schema::TableSchema;
use crate::table::view::{Sort, SortKey};

impl Route {
    /// The route after a click on a column's title. The first click sorts by the column, the second reverses the order,
    /// and the third restores the default.
    pub fn sorted_by(&self, title: &str) -> Route {
        let sort = match &*self.sort {
            sort if sort == title => format!("-{title}"),
            sort if sort.strip_prefix('-') == Some(title) => String::new(),
            _ => title.to_owned(),
        };
        Route { sort, ..self.clone() }
    }

    /// The route with the order of a schema's rows reversed. The default order can be reversed too.
    pub fn turned(&self, schema: &TableSchema) -> Route {
        let Sort { key, descending } = self.order(schema);
        let title = match key {
            SortKey::Key => "NAMESPACE",
            SortKey::Name => "NAME",
            SortKey::Kind => KIND,
            SortKey::Cluster => CLUSTER,
            SortKey::Changed => CHANGED,
            SortKey::Column(at) => schema.columns().get(at).map_or("", |column| column.title),
        };
        let sort = if descending { title.to_owned() } else { format!("-{title}") };
        Route { sort, ..self.clone() }
    }

    /// The route with another kind in view. Order, filter and field selector belong to the table that is left, and are
    /// dropped.
    pub fn showing(&self, resource: &str) -> Route {
        // A kind of a cluster that is shown beside the others is shown with theirs.
        let is_joined = self.clusters.iter().any(|cluster| is_of(resource, cluster));
        let resource = if is_joined { plain(resource) } else { resource };
        if resource == self.resource && !self.changes {
            return self.clone();
        }
        let (resource, nothing) = (resource.to_owned(), String::new());
        Route {
            resource,
            sort: nothing.clone(),
            text: nothing.clone(),
            fields: nothing.clone(),
            selected: nothing,
            changes: false,
            ..self.clone()
        }
    }

    /// The route with a kind added to those in view, or removed; the last kind cannot be removed. Everything else
    /// stays, except the field selector, which the other kind may not support.
    pub fn joining(&self, name: &str) -> Route {
        let mut names: Vec<&str> = self.names().filter(|other| *other != name).collect();
        let leaves = self.shows(name);
        if names.is_empty() {
            return self.clone();
        }
        if !leaves {
            names.push(name);
        }
        let resource = names.join(",");
        let stays_several = resource.contains(',') || !self.clusters.is_empty();
        let selected = match (self.is_several(), stays_several) {
            _ if self.selected.is_empty() => String::new(),
            (false, _) => format!("{}/{}", self.resource, self.selected),
            (true, stays_several) => match self.selected.split_once('/') {
                Some((kind, _)) if leaves && kind == name => String::new(),
                Some((kind, rest)) if !stays_several && kind == resource => rest.to_owned(),
                _ => self.selected.clone(),
            },
        };
        let fields = if leaves { self.fields.clone() } else { String::new() };
        Route { resource, fields, selected, ..self.clone() }
    }

    /// The route with a cluster's objects shown beside those of the page's own, or without them.
    pub fn beside(&self, cluster: &str) -> Route {
        let mut route = self.clone();
        turn(&mut route.clusters, cluster);
        let parts = self.selected.split_once('/');
        route.selected = match (self.is_several(), route.is_several(), parts) {
            _ if self.selected.is_empty() => String::new(),
            (false, true, _) => format!("{}/{}", self.resource, self.selected),
            (true, false, Some((kind, key))) if kind == self.resource => key.to_owned(),
            (true, true, Some((kind, _))) if route.shows(kind) => self.selected.clone(),
            _ => String::new(),
        };
        route
    }

    /// The route with a kind pinned, or with its pin removed.
    pub fn pinning(&self, resource: &str) -> Route {
        let mut route = self.clone();
        turn(&mut route.pinned, resource);
        route
    }

    /// The route with a lane kept on top, by its words in [`LaneChoice::kept`], or no longer kept. The newest comes
    /// first; too many are not kept.
    pub fn keeping(&self, lane: &str) -> Route {
        let mut route = self.clone();
        let kept = &mut route.lanes.kept;
        match kept.iter().position(|kept| kept == lane) {
            Some(at) => drop(kept.remove(at)),
            None => kept.insert(0, lane.to_owned()),
        }
        kept.truncate(KEPT);
        route
    }

    /// The route with a namespace chosen, or with the choice removed.
    pub fn choosing(&self, namespace: &str) -> Route {
        let mut route = self.clone();
        turn(&mut route.namespaces, namespace);
        route
    }
}

/// Takes a name out of a list, or adds it at the end.
fn turn(names: &mut Vec<String>, name: &str) {
    match names.iter().position(|other| other == name) {
        Some(at) => drop(names.remove(at)),
        None => names.push(name.to_owned()),
    }
}
