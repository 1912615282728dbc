//! Where the user is, as the URL's fragment says it: `#/pods?ns=a,b&labels=app%3Dweb&q=text&sort=-AGE`.

use form_urlencoded::{Serializer, parse};

use crate::table::kinds::{self, KINDS, Kind};
use crate::table::view::{Sort, SortKey};

/// A place in the page. Everything in it survives a reload, and a link to it shows the same to someone else.
#[derive(Clone, Debug, PartialEq)]
pub struct Route {
    /// The resource in view: its plural.
    pub resource: String,
    /// The namespaces to watch; empty for all.
    pub namespaces: Vec<String>,
    /// A label selector in kubectl's grammar, evaluated by the server.
    pub labels: String,
    /// Words that a row must hold.
    pub text: String,
    /// `AGE` or, turned around, `-AGE`; empty for namespace and name.
    pub sort: String,
    /// Other resources that stay watched.
    pub pinned: Vec<String>,
    /// Whether the columns that kubectl shows on demand are shown.
    pub wide: bool,
}

impl Default for Route {
    fn default() -> Route {
        Route {
            resource: String::from("pods"),
            namespaces: Vec::new(),
            labels: String::new(),
            text: String::new(),
            sort: String::new(),
            pinned: Vec::new(),
            wide: false,
        }
    }
}

/// The title of the column that says what changed last.
pub const CHANGED: &str = "Δ";

impl Route {
    /// Reads a fragment, with or without its `#`. What makes no sense is left out.
    pub fn parse(fragment: &str) -> Route {
        let fragment = fragment.trim_start_matches('#').trim_start_matches('/');
        let (resource, query) = fragment.split_once('?').unwrap_or((fragment, ""));
        let mut route = Route::default();
        if let Some(kind) = kinds::kind(resource) {
            route.resource = kind.resource.plural.to_owned();
        }
        let list = |value: &str| -> Vec<String> {
            let mut list: Vec<String> = Vec::new();
            for item in value.split(',').map(str::trim).filter(|item| !item.is_empty()) {
                if !list.iter().any(|other| other == item) {
                    list.push(item.to_owned());
                }
            }
            list
        };
        for (name, value) in parse(query.as_bytes()) {
            match &*name {
                "ns" => route.namespaces = list(&value),
                "labels" => route.labels = value.trim().to_owned(),
                "q" => route.text = value.into_owned(),
                "sort" => route.sort = value.into_owned(),
                "pin" => {
                    let known = list(&value).into_iter().filter_map(|name| kinds::kind(&name));
                    route.pinned = known.map(|kind| kind.resource.plural.to_owned()).collect();
                }
                "wide" => route.wide = value == "1",
                _ => {}
            }
        }
        route
    }

    /// Writes the fragment, its `#` included.
    pub fn fragment(&self) -> String {
        let mut query = Serializer::new(String::new());
        let wide = if self.wide { "1" } else { "" };
        let (namespaces, pinned) = (self.namespaces.join(","), self.pinned.join(","));
        let pairs = [
            ("ns", &*namespaces),
            ("labels", &*self.labels),
            ("q", &*self.text),
            ("sort", &*self.sort),
            ("pin", &*pinned),
            ("wide", wide),
        ];
        for (name, value) in pairs.into_iter().filter(|(_, value)| !value.is_empty()) {
            query.append_pair(name, value);
        }
        let query = query.finish();
        // A comma needs no escape in a query, and a link is read by people too.
        let query = query.replace("%2C", ",");
        format!("#/{}{}{query}", self.resource, if query.is_empty() { "" } else { "?" })
    }

    /// The kind in view.
    pub fn kind(&self) -> &'static Kind {
        kinds::kind(&self.resource).unwrap_or(&KINDS[0])
    }

    /// The kinds to watch: the one in view first, then the pinned ones.
    pub fn watched(&self) -> Vec<&'static Kind> {
        let mut watched = vec![self.kind()];
        for kind in self.pinned.iter().filter_map(|name| kinds::kind(name)) {
            if watched.iter().all(|other| other.resource != kind.resource) {
                watched.push(kind);
            }
        }
        watched
    }

    /// The order of the rows of the kind in view.
    pub fn order(&self) -> Sort {
        let (title, descending) = match self.sort.strip_prefix('-') {
            Some(title) => (title, true),
            None => (&*self.sort, false),
        };
        let column = self.kind().columns.iter().position(|column| column.title == title);
        let key = match (title, column) {
            // Events are read newest first; their names say nothing.
            ("", _) if !self.kind().leads_with_name() => SortKey::Column(0),
            ("NAMESPACE", _) => SortKey::Key,
            (CHANGED, _) => SortKey::Changed,
            (_, Some(column)) => SortKey::Column(column),
            ("NAME", None) => SortKey::Name,
            _ => return Sort::default(),
        };
        Sort { key, descending }
    }

    /// The route after a click on a column's title: sorted by it, then turned around, then as at first.
    pub fn sorted_by(&self, title: &str) -> Route {
        let sort = match &*self.sort {
            sort if sort == title => format!("-{title}"),
            sort if sort.strip_prefix('-') == Some(title) => String::new(),
            _ => title.to_owned(),
        };
        Route { sort, ..self.clone() }
    }

    /// The route with another kind in view. Sorting and filter belong to the table that is left.
    pub fn showing(&self, resource: &str) -> Route {
        if resource == self.resource {
            return self.clone();
        }
        Route { resource: resource.to_owned(), sort: String::new(), text: String::new(), ..self.clone() }
    }

    /// The route with a kind pinned, or no longer.
    pub fn pinning(&self, resource: &str) -> Route {
        let mut route = self.clone();
        match route.pinned.iter().position(|pinned| pinned == resource) {
            Some(at) => drop(route.pinned.remove(at)),
            None => route.pinned.push(resource.to_owned()),
        }
        route
    }

    /// The route with a namespace chosen, or no longer.
    pub fn choosing(&self, namespace: &str) -> Route {
        let mut route = self.clone();
        match route.namespaces.iter().position(|chosen| chosen == namespace) {
            Some(at) => drop(route.namespaces.remove(at)),
            None => route.namespaces.push(namespace.to_owned()),
        }
        route
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_shows_the_same_to_someone_else() {
        for fragment in [
            "#/pods",
            "#/pods?ns=a,b&labels=app%3Dweb&q=text&sort=-AGE",
            "#/deployments?q=a+%26+b&pin=pods,nodes&wide=1",
            "#/nodes?sort=%CE%94",
        ] {
            assert_eq!(Route::parse(fragment).fragment(), fragment);
        }
    }

    #[test]
    fn what_makes_no_sense_is_left_out() {
        assert_eq!(Route::parse(""), Route::default());
        assert_eq!(
            Route::parse("#/nosuch?ns=,a,,a&pin=nosuch,po&x=y&sort=NOPE").fragment(),
            "#/pods?ns=a&sort=NOPE&pin=pods"
        );
        assert_eq!(Route::parse("#/po?sort=NOPE").order(), Sort::default());
        assert_eq!(Route::parse("#/deploy").resource, "deployments");
        assert_eq!(Route::parse("#/events").order(), Sort { key: SortKey::Column(0), descending: false });
    }

    #[test]
    fn a_title_sorts_then_turns_around_then_lets_go() {
        let route = Route::default().sorted_by("STATUS");
        assert_eq!((&*route.sort, route.order().descending), ("STATUS", false));
        let route = route.sorted_by("STATUS");
        assert_eq!((&*route.sort, route.order().descending), ("-STATUS", true));
        assert_eq!(route.sorted_by("STATUS").sort, "");
        assert_eq!(route.sorted_by("AGE").sort, "AGE");
    }

    #[test]
    fn the_kind_in_view_is_watched_once() {
        let route = Route::parse("#/pods?pin=nodes,pods");
        let watched: Vec<&str> = route.watched().iter().map(|kind| kind.resource.plural).collect();
        assert_eq!(watched, ["pods", "nodes"]);
        assert_eq!(route.pinning("nodes").pinned, ["pods"]);
        assert_eq!(route.choosing("shop").choosing("shop"), route);
    }
}
