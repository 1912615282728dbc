//! Where the user is, as the fragment of the URL writes it: `#/pods?ns=a,b&labels=app%3Dweb&q=text&sort=-AGE`.

mod words;

use std::fmt::{self, Display, Formatter};

use form_urlencoded::{Serializer, parse};

use kubechurn_client::api::object::ObjectKey;

use crate::kind_id::{listed, plain};
use crate::navigation::catalog::{Catalog, MATTERS, at, is_of};
use crate::navigation::range;
use crate::navigation::recorded::{OPEN, URL, named};
use crate::table::layout::{CHANGED, CLUSTER, KIND};
use crate::table::schema::{MOST, TableSchema};
use crate::table::view::{Sort, SortKey};
use crate::timeline::lanes::{LaneChoice, LaneOrder, LanesBy};
use crate::timeline::scale::Window;
use kubechurn_columns::kinds::Kind;

/// A place in the page. All of it survives a reload, and a link to a place shows the same place to another user.
#[derive(Clone, Debug, PartialEq)]
pub struct Route {
    /// The kind in view, or several kinds with commas between: the page's names for them, or the words that the user
    /// typed.
    pub resource: String,
    /// The namespaces to watch; empty for all.
    pub namespaces: Vec<String>,
    /// A label selector in kubectl's grammar, evaluated by the server.
    pub labels: String,
    /// A field selector in kubectl's grammar, evaluated by the server.
    pub fields: String,
    /// The filter of table, feed and lanes.
    pub text: String,
    /// `AGE`, or, for the reverse order, `-AGE`; empty for namespace and name.
    pub sort: String,
    /// The clusters whose objects are shown beside those of the page's own, by name.
    pub clusters: Vec<String>,
    /// Other resources that stay watched.
    pub pinned: Vec<String>,
    /// Whether the columns that kubectl shows on demand are shown.
    pub wide: bool,
    /// The object that the inspector shows, as `namespace/name`, or as `name` where the kind has no namespaces. Where
    /// several kinds are in view, the kind comes first: `pods/namespace/name`. Empty for none.
    pub selected: String,
    /// The inspector's tab; empty for the first.
    pub tab: String,
    /// The version of the selected object that the inspector marks among its changes.
    pub change: Option<ChosenVersion>,
    /// The version with which that one is compared, or else the newest.
    pub against: Option<ChosenVersion>,
    /// Whether the feed of changes is shown in place of the table.
    pub changes: bool,
    /// How lanes stand on the timeline.
    pub lanes: Box<LaneChoice>,
    /// The chosen stretch of time.
    pub span: Option<Window>,
    /// Whether the feed shows what is different between the ends of that stretch, rather than each change in it. The end may be
    /// infinity then: now, or the moment that is shown.
    pub net: bool,
    /// The moment that the page shows, in milliseconds; `None` for now.
    pub at: Option<f64>,
    /// Whether the health of the watches is shown.
    pub health: bool,
    /// Whose writes are shown, or all writers if empty; `None` while they are not shown.
    pub writers: Option<String>,
    /// Where the user is inside of the informer of the kind, as a query; `None` while not inside.
    pub inside: Option<String>,
    /// The incident that is shown in place of the feed.
    pub why: Option<WhyPlace>,
}

/// An incident: an object, and since when something is wrong with it.
#[derive(Clone, Debug, PartialEq)]
pub struct WhyPlace {
    /// The object, as `deployments/namespace/name`.
    of: String,
    /// Since when, in milliseconds.
    pub since: f64,
}

impl WhyPlace {
    /// The incident of an object.
    pub fn of(kind: &Kind, key: &ObjectKey, since: f64) -> WhyPlace {
        WhyPlace { of: format!("{}/{key}", kind.name), since: since.max(0.0).floor() }
    }

    /// The object, if the server has its kind.
    pub fn object(&self, catalog: &Catalog) -> Option<Chosen> {
        let (kind, key) = self.of.split_once('/')?;
        let (namespace, name) = key.split_once('/').unwrap_or(("", key));
        let kind = catalog.find(kind)?;
        (!name.is_empty()).then(|| (kind, ObjectKey::new(namespace, name)))
    }

    /// The object's namespace and name.
    pub fn name(&self) -> &str {
        self.of.split_once('/').map_or("", |(_, key)| key)
    }
}

/// A version of an object. The number is the page's own: a visit numbers what it receives anew, and so the resourceVersion
/// says whether that is still the version that was meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChosenVersion {
    /// The sequence number among everything that the page received.
    pub sequence: u64,
    /// The resourceVersion.
    pub resource_version: String,
}

impl ChosenVersion {
    fn parse(text: &str) -> Option<ChosenVersion> {
        let (sequence, resource_version) = text.split_once('.')?;
        Some(ChosenVersion { sequence: sequence.parse().ok()?, resource_version: resource_version.to_owned() })
    }

    fn written(&self) -> String {
        format!("{}.{}", self.sequence, self.resource_version)
    }
}

/// What stands in the address for the feed over these kinds.
const CHANGES: &str = "changes";
/// What stands in the address for an incident.
const WHY: &str = "why";

/// What stands in the address for the inside of a kind's informer, and for the kind.
const INSIDE: (&str, &str) = ("inside", "kind");

/// What must be done again at another place: see [`Route::moved_to`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moved {
    /// The table shows other objects: the kind, the namespaces or the selectors changed.
    pub scope: bool,
    /// The set of watches changed.
    pub watched: bool,
    /// The filter changed.
    pub filter: bool,
    /// The order of the rows changed.
    pub order: bool,
    /// The columns changed.
    pub columns: bool,
}

impl Moved {
    /// Whether the table stays as it is, and only the inspector changes.
    pub fn keeps_table(self) -> bool {
        self == Moved::default()
    }
}

impl Default for Route {
    fn default() -> Route {
        Route {
            resource: String::from("pods"),
            namespaces: Vec::new(),
            labels: String::new(),
            fields: String::new(),
            text: String::new(),
            sort: String::new(),
            clusters: Vec::new(),
            pinned: Vec::new(),
            wide: false,
            selected: String::new(),
            tab: String::new(),
            change: None,
            against: None,
            changes: false,
            lanes: Box::default(),
            span: None,
            net: false,
            at: None,
            health: false,
            writers: None,
            inside: None,
            why: None,
        }
    }
}

/// So many lanes are kept on top at most.
const KEPT: usize = 32;

/// A resource that the user asked for and that cannot be shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// The name that the user typed.
    pub what: String,
    /// Why the resource cannot be shown.
    pub why: String,
}

/// All of these in one sentence.
pub fn joined(left_out: &[LeftOut]) -> String {
    left_out.iter().map(LeftOut::to_string).collect::<Vec<_>>().join("; ")
}

impl Display for LeftOut {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.what, self.why)
    }
}

/// An object of a kind.
pub type Chosen = (&'static Kind, ObjectKey);

impl Route {
    /// Reads a fragment, with or without its `#`. Parts that make no sense are ignored.
    pub fn parse(fragment: &str) -> Route {
        let fragment = fragment.trim_start_matches('#').trim_start_matches('/');
        let (resource, query) = fragment.split_once('?').unwrap_or((fragment, ""));
        let mut route = Route::default();
        let list =
            |value: &str| once(value.split(',').map(str::trim).filter(|item| !item.is_empty()).map(str::to_owned));
        let names = list(&decoded(resource));
        match &names[..] {
            // Whoever comes without an address sees what changed.
            names
                if names.is_empty()
                    || names == [CHANGES]
                    || names == [WHY]
                    || (names == [OPEN] && named(fragment).is_some()) =>
            {
                (route.resource, route.changes) = (MATTERS.to_owned(), true);
            }
            names if names == [INSIDE.0] => route.inside = Some(String::new()),
            names => route.resource = names.join(","),
        }
        let (mut of, mut since) = (String::new(), None);
        for (name, value) in parse(query.as_bytes()) {
            match &*name {
                "ns" => route.namespaces = list(&value),
                "labels" => route.labels = value.trim().to_owned(),
                "fields" => route.fields = value.trim().to_owned(),
                "q" => route.text = value.into_owned(),
                "sort" => route.sort = value.into_owned(),
                "cluster" => route.clusters = list(&value),
                "pin" => route.pinned = list(&value),
                "wide" => route.wide = value == "1",
                "sel" => route.selected = value.into_owned(),
                "tab" => route.tab = value.into_owned(),
                "change" => route.change = ChosenVersion::parse(&value),
                "against" => route.against = ChosenVersion::parse(&value),
                "span" => route.span = range::parse(&value),
                "net" => route.net = value == "1",
                "at" => route.at = range::moment(&value),
                "health" => route.health = value == "1",
                "writers" => route.writers = Some(value.into_owned()),
                "of" => of = value.into_owned(),
                "since" => since = range::moment(&value),
                "view" => route.changes |= value == CHANGES,
                "lanes" => route.lanes.by = LanesBy::of(&value),
                "order" => route.lanes.order = LaneOrder::of(&value),
                "keep" => route.lanes.kept = words::read(&value, KEPT),
                "open" => route.lanes.open = words::read_open(&value),
                URL => {}
                name => {
                    if let Some(inside) = &mut route.inside {
                        match name == INSIDE.1 {
                            true => route.resource = list(&value).join(","),
                            false => {
                                *inside = Serializer::new(std::mem::take(inside)).append_pair(name, &value).finish()
                            }
                        }
                    }
                }
            }
        }
        route.why = since.filter(|_| names == [WHY] && !of.is_empty()).map(|since| WhyPlace { of, since });
        // What goes on has no end at which each of its changes is counted.
        route.net = route.span.is_some_and(|span| route.net || span.to.is_infinite());
        route
    }

    /// Writes the fragment, its `#` included.
    pub fn fragment(&self) -> String {
        let mut query = Serializer::new(String::new());
        let wide = if self.wide { "1" } else { "" };
        let [namespaces, clusters, pinned] =
            [&self.namespaces, &self.clusters, &self.pinned].map(|list| list.join(","));
        let LaneChoice { by, order, kept, open } = &*self.lanes;
        let (kept, open) = (words::written(kept), words::written_open(open));
        let span = self.span.as_ref().map(range::written).unwrap_or_default();
        let at = self.at.map(range::moment_written).unwrap_or_default();
        let version = |of: &Option<ChosenVersion>| {
            of.as_ref().filter(|_| !self.selected.is_empty()).map(ChosenVersion::written).unwrap_or_default()
        };
        let (change, against) = (version(&self.change), version(&self.against));
        let (of, since) = match &self.why {
            Some(why) => (&*why.of, range::moment_written(why.since)),
            None => ("", String::new()),
        };
        let pairs = [
            ("of", of),
            ("since", &*since),
            ("ns", &*namespaces),
            ("labels", &*self.labels),
            ("fields", &*self.fields),
            ("q", &*self.text),
            ("sort", &*self.sort),
            ("cluster", &*clusters),
            ("pin", &*pinned),
            ("wide", wide),
            ("sel", &*self.selected),
            ("tab", if self.selected.is_empty() { "" } else { &*self.tab }),
            ("change", &*change),
            ("against", &*against),
            ("span", &*span),
            ("net", if self.net && self.span.is_some() { "1" } else { "" }),
            ("at", &*at),
            ("health", if self.health { "1" } else { "" }),
            ("view", if self.changes && !self.is_everything() { CHANGES } else { "" }),
            ("lanes", if *by == LanesBy::default() { "" } else { by.name() }),
            ("order", if *order == LaneOrder::default() { "" } else { order.name() }),
            ("keep", &*kept),
            ("open", &*open),
        ];
        for (name, value) in pairs.into_iter().filter(|(_, value)| !value.is_empty()) {
            query.append_pair(name, value);
        }
        if let Some(name) = &self.writers {
            query.append_pair("writers", name);
        }
        if let Some(inside) = &self.inside {
            query.append_pair(INSIDE.1, &self.resource).extend_pairs(parse(inside.as_bytes()));
        }
        let query = query.finish();
        // A comma, a colon and a slash need no escape in a query, and people read links too.
        let query = query.replace("%2C", ",").replace("%2F", "/").replace("%3A", ":");
        if self.is_everything() {
            let place = if self.why.is_some() { WHY } else { CHANGES };
            return format!("#/{place}{}{query}", if query.is_empty() { "" } else { "?" });
        }
        let resource = if self.inside.is_some() { INSIDE.0 } else { &*self.resource };
        let resource: String = form_urlencoded::byte_serialize(resource.as_bytes()).collect();
        let resource = resource.replace('+', "%20").replace("%2C", ",");
        format!("#/{resource}{}{query}", if query.is_empty() { "" } else { "?" })
    }

    /// Whether this is the feed over everything that matters.
    pub fn is_everything(&self) -> bool {
        self.changes && self.resource == MATTERS && self.inside.is_none()
    }

    /// The feed over everything that matters, in the same namespaces, with the same filter.
    pub fn what_changed(&self) -> Route {
        let Route { namespaces, text, clusters, pinned, lanes, span, net, at, .. } = self.clone();
        let resource = MATTERS.to_owned();
        Route { resource, namespaces, text, clusters, pinned, lanes, span, net, at, changes: true, ..Route::default() }
    }

    /// The table of all kinds of a namespace, which is named.
    pub fn everything_in(&self, namespace: &str, catalog: &Catalog) -> Route {
        let names: Vec<&str> = catalog.in_namespace().iter().map(|kind| kind.name).collect();
        Route { namespaces: vec![namespace.to_owned()], ..self.showing(&names.join(",")) }
    }

    /// Whether all kinds of one namespace are in view.
    pub fn is_all_of_namespace(&self, catalog: &Catalog) -> bool {
        let all = catalog.in_namespace().into_iter().map(|kind| kind.name);
        self.namespaces.len() == 1 && !self.is_everything() && self.names().eq(all)
    }

    /// The names of the kinds in view.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.resource.split(',')
    }

    /// Whether several kinds are asked for; the same kind of several clusters counts as several.
    pub fn is_several(&self) -> bool {
        self.resource.contains(',') || !self.clusters.is_empty()
    }

    /// Whether the kind with this name of the page's is in view.
    pub fn shows(&self, name: &str) -> bool {
        let is_joined = name != plain(name) && self.clusters.iter().any(|cluster| is_of(name, cluster));
        self.names().any(|other| other == name || (is_joined && other == plain(name)))
    }

    /// The kinds in view that the server has and that one table can show together.
    pub fn kinds(&self, catalog: &Catalog) -> Vec<&'static Kind> {
        self.sorted_out(catalog).0
    }

    /// What the user asked for and the table cannot show, with the reason; empty where a single kind is asked for.
    pub fn left_out(&self, catalog: &Catalog) -> Vec<LeftOut> {
        if self.is_several() && !self.is_everything() { self.sorted_out(catalog).1 } else { Vec::new() }
    }

    fn sorted_out(&self, catalog: &Catalog) -> (Vec<&'static Kind>, Vec<LeftOut>) {
        let (mut kinds, mut left_out): (Vec<&'static Kind>, Vec<LeftOut>) = (Vec::new(), Vec::new());
        let mut beyond: Vec<&'static str> = Vec::new();
        for cluster in self.clusters.iter().filter(|name| catalog.cluster(name).is_none()) {
            let why = String::from("whoever serves this page names no such cluster, or it is this one");
            left_out.push(LeftOut { what: format!("the cluster “{cluster}”"), why });
        }
        let joined: Vec<&'static str> = self.clusters.iter().filter_map(|name| catalog.cluster(name)).collect();
        for name in self.names() {
            let (what, why) = match catalog.find(name) {
                Some(kind) => {
                    let beside = joined.iter().filter(|_| kind.resource.cluster.is_empty());
                    for kind in [kind].into_iter().chain(beside.map(|cluster| at(kind, cluster))) {
                        if kinds.iter().any(|other| other.resource == kind.resource) {
                            continue;
                        }
                        match kinds.len() < MOST {
                            true => kinds.push(kind),
                            false => beyond.push(kind.title),
                        }
                    }
                    continue;
                }
                None if !catalog.is_settled() => (format!("“{name}”"), String::from("looking for it")),
                None if catalog.gone(name).is_some() => {
                    (format!("“{name}”"), String::from("this server has it no longer"))
                }
                None => (format!("“{name}”"), String::from(catalog.lacks())),
            };
            left_out.push(LeftOut { what, why });
        }
        if !beyond.is_empty() {
            let why = format!("a table shows {MOST} kinds at most");
            left_out.push(LeftOut { what: listed(&beyond), why });
        }
        (kinds, left_out)
    }

    /// The kinds to watch: those in view first, then the pinned ones.
    pub fn watched(&self, catalog: &Catalog) -> Vec<&'static Kind> {
        let mut watched: Vec<&'static Kind> = Vec::new();
        for kind in self.kinds(catalog).into_iter().chain(self.pinned.iter().filter_map(|name| catalog.find(name))) {
            if watched.iter().all(|other| other.resource != kind.resource) {
                watched.push(kind);
            }
        }
        watched
    }

    /// The same place with the page's own names for kinds. Names that match no kind stay as they are, because the
    /// server may get the kind later.
    pub fn resolved(self, catalog: &Catalog) -> Route {
        let name = |name: &str| catalog.find(name).map_or_else(|| name.to_owned(), |kind| kind.name.to_owned());
        let pinned = once(self.pinned.iter().map(|pinned| name(pinned)));
        let names = once(self.names().map(name));
        let selected = match self.selected.split_once('/').filter(|_| self.is_several()) {
            Some((kind, rest)) if names.iter().any(|own| *own == plain(&name(kind))) => match names.len() {
                1 if self.clusters.is_empty() => rest.to_owned(),
                _ => format!("{}/{rest}", name(kind)),
            },
            // The selected object belongs to none of these kinds: the text stays.
            _ => self.selected.clone(),
        };
        Route { resource: names.join(","), pinned, selected, ..self }
    }

    /// The order of the rows of a schema.
    pub fn order(&self, schema: &TableSchema) -> Sort {
        let (title, descending) = match self.sort.strip_prefix('-') {
            Some(title) => (title, true),
            None => (&*self.sort, false),
        };
        let column = schema.columns().iter().position(|column| column.title == title);
        let key = match (title, column) {
            // Events are shown newest first, because their names say nothing.
            ("", _) if !schema.leads_with_name() => SortKey::Column(0),
            (KIND, _) if schema.has_labels() => SortKey::Kind,
            (CLUSTER, _) if schema.has_clusters() => SortKey::Cluster,
            ("NAMESPACE", _) => SortKey::Key,
            (CHANGED, _) => SortKey::Changed,
            (_, Some(column)) => SortKey::Column(column),
            ("NAME", None) => SortKey::Name,
            _ => return Sort::default(),
        };
        Sort { key, descending }
    }

    /// The object that the inspector shows.
    pub fn selection(&self, catalog: &Catalog) -> Option<Chosen> {
        let (kind, key) = match self.is_several() {
            true => self.selected.split_once('/').map(|(kind, key)| (Some(kind), key))?,
            false => (None, &*self.selected),
        };
        let mut kinds = self.kinds(catalog).into_iter();
        let kind = kinds.find(|known| kind.is_none_or(|kind| known.name == kind))?;
        let (namespace, name) = key.split_once('/').unwrap_or(("", key));
        (!name.is_empty()).then(|| (kind, ObjectKey::new(namespace, name)))
    }

    /// The route with the inspector open on an object of a kind, by the page's name for the kind, or closed.
    pub fn selecting(&self, object: Option<(&str, &ObjectKey)>) -> Route {
        let selected = match object {
            Some((kind, key)) if self.is_several() => format!("{kind}/{key}"),
            object => object.map(|(_, key)| key.to_string()).unwrap_or_default(),
        };
        Route { selected, change: None, against: None, ..self.clone() }
    }

    /// What must be done again to go from here to another place. Going to the same place means that the set of kinds
    /// has changed: everything that depends on the kinds is done again.
    pub fn moved_to(&self, next: &Route) -> Moved {
        if self == next {
            return Moved { scope: false, watched: true, filter: true, order: true, columns: true };
        }
        let Route { resource, namespaces, labels, fields, text, sort, clusters, pinned, wide, changes, .. } = self;
        let scope = (resource, namespaces, labels, fields, clusters)
            != (&next.resource, &next.namespaces, &next.labels, &next.fields, &next.clusters);
        Moved {
            scope,
            watched: scope || *pinned != next.pinned,
            filter: scope || *text != next.text || *changes != next.changes,
            order: scope || *sort != next.sort,
            columns: scope || *wide != next.wide,
        }
    }

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

    /// The route with another kind in view. Order and field selector belong to the table that is left, and are dropped. The
    /// filter stays.
    pub fn showing(&self, resource: &str) -> Route {
        // A kind of a cluster that is shown beside the others is shown with theirs.
        let is_joined = self.clusters.iter().any(|cluster| is_of(resource, cluster));
        let resource = if is_joined { plain(resource) } else { resource };
        if resource == self.resource && !self.changes && self.inside.is_none() {
            return self.clone();
        }
        let (resource, nothing) = (resource.to_owned(), String::new());
        Route {
            resource,
            sort: nothing.clone(),
            fields: nothing.clone(),
            selected: nothing,
            change: None,
            against: None,
            changes: false,
            health: false,
            writers: None,
            inside: None,
            why: None,
            ..self.clone()
        }
    }

    /// The inside of the informer of a kind, before its first step.
    pub fn inside_of(&self, kind: &str) -> Route {
        let stays = kind == self.resource && !self.changes;
        Route { inside: Some(String::new()), ..if stays { self.clone() } else { self.showing(kind) } }
    }

    /// The route with another kind in view, for the sake of one object, which no filter must hide.
    pub fn visiting(&self, resource: &str) -> Route {
        Route { text: String::new(), ..self.showing(resource) }
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

/// The items without repetition, each at the place of its first occurrence.
fn once(items: impl Iterator<Item = String>) -> Vec<String> {
    let mut once = Vec::new();
    for item in items {
        if !once.contains(&item) {
            once.push(item);
        }
    }
    once
}

/// A part of a path with its percent escapes decoded.
fn decoded(word: &str) -> String {
    // In a form a plus means a space; in a path it means a plus.
    let pair = format!("={}", word.replace('+', "%2B"));
    parse(pair.as_bytes()).next().map_or_else(String::new, |(_, value)| value.into_owned())
}

/// Takes a name out of a list, or adds it at the end.
fn turn(names: &mut Vec<String>, name: &str) {
    match names.iter().position(|other| other == name) {
        Some(at) => drop(names.remove(at)),
        None => names.push(name.to_owned()),
    }
}

#[cfg(test)]
mod tests;
