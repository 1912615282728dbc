//! The kinds that can be watched: those that the page has columns for, and every other one that the server has.

use std::cell::RefCell;

use kubechurn_changes::filter::grammar::is_same_title;
use kubechurn_client::api::definition::PrinterColumn;
use kubechurn_client::api::discovery::Discovered;
use kubechurn_client::api::object::{Decode, decode_age};
use kubechurn_client::api::release::Release;
use kubechurn_client::api::resource::{ApiResource, intern};
use kubechurn_client::api::sort::sort_by_key;

use kubechurn_columns::column::Column;
use kubechurn_columns::custom;
use kubechurn_columns::kinds::{KINDS, Kind, printed_by};

use crate::kind_id::plain;

/// The verbs that the page needs to watch a kind. A resource that lacks one of them is no kind of the catalog.
const VERBS: [&str; 2] = ["list", "watch"];

/// The kinds whose changes the feed shows where none is named: workloads and what they own, nodes and Events, and what is
/// changed when a workload is configured, scaled, limited, admitted or given storage.
pub const MATTERS: &str = "deployments,statefulsets,daemonsets,replicasets,jobs,cronjobs,pods,nodes,events,\
                           configmaps,horizontalpodautoscalers,resourcequotas,persistentvolumeclaims,\
                           serviceaccounts,priorityclasses,storageclasses,validatingwebhookconfigurations,\
                           mutatingwebhookconfigurations";

/// Those of them that change seldom, and are watched because a change of theirs may be why something else fails. Many users may
/// not list them, and miss nothing else by that.
const ONLY_CAUSES: [&str; 5] = [
    "serviceaccounts",
    "priorityclasses",
    "storageclasses",
    "validatingwebhookconfigurations",
    "mutatingwebhookconfigurations",
];

/// Whether a kind is watched by itself only because its changes may be causes.
pub fn is_only_cause(kind: &Kind) -> bool {
    ONLY_CAUSES.contains(&plain(kind.name))
}

/// The kinds that can be watched, in the sidebar's order.
#[derive(Clone, Debug, PartialEq)]
pub struct Catalog {
    kinds: Vec<&'static Kind>,
    /// The kinds that the server had and no longer has.
    gone: Vec<&'static Kind>,
    /// Whether the server has reported which resources it has.
    is_discovered: bool,
    /// Whether the server cannot be asked.
    is_fixed: bool,
    /// The clusters whose objects the page can show beside its own, by name.
    clusters: Vec<&'static str>,
    /// The server's release, if known. The columns that the page itself defines follow what this release prints.
    release: Option<Release>,
}

impl Default for Catalog {
    /// Before discovery, the kinds that the page has columns for are assumed to exist.
    fn default() -> Catalog {
        Catalog::printed_by(None)
    }
}

impl Catalog {
    /// The kinds before discovery, with the columns that a server of this release prints.
    pub fn printed_by(release: Option<Release>) -> Catalog {
        Catalog {
            kinds: printed_by(release).collect(),
            gone: Vec::new(),
            is_discovered: false,
            is_fixed: false,
            clusters: Vec::new(),
            release,
        }
    }

    /// The server's release, if known.
    pub fn release(&self) -> Option<Release> {
        self.release
    }

    /// The same kinds, of these clusters, too. Which kinds those clusters have is not asked: the first cluster's are assumed.
    pub fn with_clusters(self, clusters: Vec<&'static str>) -> Catalog {
        Catalog { clusters, ..self }
    }

    /// The clusters whose objects the page can show beside its own, by name.
    pub fn clusters(&self) -> &[&'static str] {
        &self.clusters
    }

    /// A cluster by its name; `None` for one that the page does not know.
    pub fn cluster(&self, name: &str) -> Option<&'static str> {
        self.clusters.iter().find(|known| **known == name).copied()
    }

    /// The same kinds, at a server that cannot be asked for its resources: there will be no others.
    pub fn fixed(self) -> Catalog {
        Catalog { is_fixed: true, ..self }
    }

    /// The kinds of a server. Kinds that the page itself has columns for come first, then the others by group. A kind
    /// that `before` holds already is the same value here.
    pub fn of(discovered: &[Discovered], before: &Catalog) -> Catalog {
        let watchable = || discovered.iter().filter(|one| one.supports(&VERBS));
        let serves = |kind: &&Kind| watchable().any(|one| one.resource == kind.resource);
        let mut kinds: Vec<&'static Kind> = printed_by(before.release).filter(serves).collect();
        let own = kinds.clone();
        let is_known = |one: &Discovered| own.iter().any(|kind| same(kind, &one.resource));
        let mut others: Vec<&'static Kind> = watchable()
            .filter(|one| one.preferred && !is_known(one))
            .map(|one| {
                let names = names(one);
                let known = |kind: &&&'static Kind| kind.resource == one.resource && *kind.short_names == *names;
                before.kinds.iter().find(known).copied().unwrap_or_else(|| new(one.resource, &names, &[AGE], || BARE))
            })
            .collect();
        sort_by_key(&mut others, |kind| (kind.heading, kind.title));
        kinds.extend(others);
        let had = if before.is_discovered { &before.kinds[..] } else { &[] };
        let mut gone: Vec<&'static Kind> = Vec::new();
        for kind in had.iter().chain(&before.gone) {
            if !kinds.iter().chain(&gone).any(|other| same(other, &kind.resource)) {
                gone.push(kind);
            }
        }
        let (clusters, release) = (before.clusters.clone(), before.release);
        Catalog { kinds, gone, is_discovered: true, is_fixed: false, clusters, release }
    }

    /// Every kind.
    pub fn kinds(&self) -> impl Iterator<Item = &'static Kind> + Clone + use<'_> {
        self.kinds.iter().copied()
    }

    /// The kinds of everything in a namespace: what matters most first, then what the server has of its own, and then the
    /// others. The Events of the group `events.k8s.io` are those of the core.
    pub fn in_namespace(&self) -> Vec<&'static Kind> {
        let mut kinds: Vec<&'static Kind> = self.kinds().filter(|kind| kind.resource.namespaced).collect();
        kinds.retain(|kind| kind.resource.group != "events.k8s.io");
        let matters = |kind: &Kind| MATTERS.split(',').position(|name| name == kind.name);
        let is_custom = |kind: &Kind| KINDS.iter().all(|known| !same(known, &kind.resource));
        let rest = MATTERS.len();
        sort_by_key(&mut kinds, |kind| matters(kind).unwrap_or(if is_custom(kind) { rest } else { rest + 1 }));
        kinds
    }

    /// Whether no more kinds are to be expected: the server has reported which resources it has, or cannot be asked. Until then
    /// kinds may be missing. Kinds may be listed that do not exist until the server has reported them.
    pub fn is_settled(&self) -> bool {
        self.is_discovered || self.is_fixed
    }

    /// Whether the server cannot be asked for its resources.
    pub fn is_fixed(&self) -> bool {
        self.is_fixed
    }

    /// Why there is no kind of a name that is none of the catalog's, once the catalog is settled.
    pub fn lacks(&self) -> &'static str {
        match self.is_fixed {
            true => "it is no kind that the page knows by itself, and this API cannot be asked for others (no CORS)",
            false => "this server has no such kind that can be watched",
        }
    }

    /// The kind with this name: the page's own name for it, or any name that kubectl understands. `pods@west` is the kind of
    /// the cluster `west`.
    pub fn find(&self, name: &str) -> Option<&'static Kind> {
        if let Some((name, tag)) = name.split_once('@') {
            let cluster = self.clusters.iter().find(|cluster| tag_of(cluster) == tag)?;
            return Some(at(self.find(name)?, cluster));
        }
        self.kinds().find(|kind| kind.name == name).or_else(|| self.kinds().find(|kind| kind.is_called(name)))
    }

    /// The title of a column that some kind has, as the column writes it.
    pub fn column(&self, title: &str) -> Option<&'static str> {
        let titles = self.kinds().flat_map(|kind| kind.columns).map(|column| column.title);
        titles.into_iter().find(|known| is_same_title(known, title))
    }

    /// The kind of a resource, at any cluster.
    pub fn of_resource(&self, resource: &ApiResource) -> Option<&'static Kind> {
        let home = resource.at("");
        Some(at(self.kinds().find(|kind| kind.resource == home)?, resource.cluster))
    }

    /// The kind of an owner in a cluster, if the page can watch that kind. Owners are named by group and kind.
    pub fn of_owner(&self, group: &str, kind: &str, cluster: &'static str) -> Option<&'static Kind> {
        let is_it = |known: &&Kind| (known.resource.group, known.resource.kind) == (group, kind);
        self.kinds().find(is_it).map(|kind| at(kind, cluster))
    }

    /// The kind with this name of the page's, among those that the server no longer has.
    pub fn gone(&self, name: &str) -> Option<&'static Kind> {
        self.gone.iter().find(|kind| kind.name == name).copied()
    }

    /// Replaces the description of a kind, because its columns have become known.
    pub fn replace(&mut self, kind: &'static Kind) {
        if let Some(known) = self.kinds.iter_mut().find(|known| known.resource == kind.resource) {
            *known = kind;
        }
    }

    /// Gives a resource's kind the columns of its definition, or, if there is no readable definition, AGE alone.
    pub fn define(&mut self, resource: &ApiResource, definition: Option<&[PrinterColumn]>) {
        let Some(known) = self.kinds().find(|kind| kind.resource == *resource) else { return };
        let kind = match definition {
            None => new(*resource, known.short_names, &[AGE], || BARE),
            Some(definition) => {
                let (columns, printers) = custom::columns(definition);
                new(*resource, known.short_names, &columns, || {
                    let printers: &'static custom::Printers = Box::leak(Box::new(printers));
                    Decode(Box::leak(Box::new(|text: &str| printers.decode(text))))
                })
            }
        };
        self.replace(kind);
    }
}

/// Whether a known kind is this resource, in any version.
fn same(kind: &Kind, resource: &ApiResource) -> bool {
    (kind.resource.group, kind.resource.plural) == (resource.group, resource.plural)
}

/// The names that kubectl understands in addition to plural and kind.
fn names(one: &Discovered) -> Vec<&'static str> {
    one.short_names.iter().copied().chain([one.singular]).collect()
}

thread_local! {
    /// Every kind that was made, so that none is made twice. Kinds are leaked; a cluster has few of them, but
    /// definitions appear, disappear and change for as long as the page is open.
    static MADE: RefCell<Vec<&'static Kind>> = const { RefCell::new(Vec::new()) };
}

/// The kind of a resource with these names and columns. It lives as long as the program.
fn new(
    resource: ApiResource,
    names: &[&'static str],
    columns: &[Column],
    decode: impl FnOnce() -> Decode,
) -> &'static Kind {
    let is_it =
        |kind: &&&'static Kind| kind.resource == resource && *kind.short_names == *names && *kind.columns == *columns;
    if let Some(kind) = MADE.with_borrow(|made| made.iter().find(is_it).copied()) {
        return kind;
    }
    let (name, heading) = match resource.group {
        "" => (resource.plural, "Cluster"),
        group => (intern(&format!("{}.{group}", resource.plural)), group),
    };
    let kind: &'static Kind = Box::leak(Box::new(Kind {
        resource,
        name,
        short_names: Vec::leak(names.to_vec()),
        heading,
        title: resource.kind,
        columns: Vec::leak(columns.to_vec()),
        decode: decode(),
    }));
    MADE.with_borrow_mut(|made| made.push(kind));
    kind
}

/// The same kind at another cluster. The page's name for it has the cluster after an `@`, and its title has it, too.
pub fn at(kind: &'static Kind, cluster: &'static str) -> &'static Kind {
    if kind.resource.cluster == cluster || cluster.is_empty() {
        return kind;
    }
    let resource = kind.resource.at(cluster);
    let is_it = |made: &&&'static Kind| {
        (made.resource, made.short_names, made.columns) == (resource, kind.short_names, kind.columns)
            && std::ptr::addr_eq(made.decode.0, kind.decode.0)
    };
    if let Some(made) = MADE.with_borrow(|made| made.iter().find(is_it).copied()) {
        return made;
    }
    let name = intern(&format!("{}@{}", kind.name, tag_of(cluster)));
    let title = intern(&format!("{} of {cluster}", kind.title));
    let made: &'static Kind = Box::leak(Box::new(Kind { resource, name, title, ..*kind }));
    MADE.with_borrow_mut(|all| all.push(made));
    made
}

/// Whether the page's name for a kind has this cluster.
pub fn is_of(name: &str, cluster: &str) -> bool {
    name.split_once('@').is_some_and(|(_, tag)| tag == tag_of(cluster))
}

/// A cluster's name as part of a kind's name, in which commas and slashes have a meaning of their own.
fn tag_of(cluster: &str) -> String {
    cluster.replace('%', "%25").replace(',', "%2C").replace('/', "%2F")
}

/// The column that every kind has.
const AGE: Column = Column::figures("AGE");

/// How objects of a kind with only that column are read.
const BARE: Decode = Decode(&decode_age);

#[cfg(test)]
mod tests {
    use super::*;
    use kubechurn_client::api::discovery::{self, Answer};

    fn real() -> Vec<Discovered> {
        let documents = [
            include_str!("../../../../tests/fixtures/discovery/discovery-api.json"),
            include_str!("../../../../tests/fixtures/discovery/discovery-apis.json"),
        ];
        let resources = documents.into_iter().map(|text| match discovery::read(text).unwrap() {
            Answer::Aggregated { resources, .. } => resources,
            other => panic!("{other:?}"),
        });
        resources.flatten().collect()
    }

    #[test]
    fn every_kind_that_can_be_watched_is_there_once() {
        let catalog = Catalog::of(&real(), &Catalog::default());
        let expected = real().iter().filter(|one| one.supports(&VERBS) && one.preferred).count();
        assert_eq!(catalog.kinds().count(), expected);
        for (at, kind) in catalog.kinds().enumerate() {
            assert_eq!(catalog.find(kind.name), Some(kind), "{}", kind.name);
            assert!(catalog.kinds().skip(at + 1).all(|other| other.name != kind.name), "{}", kind.name);
        }
    }

    #[test]
    fn kinds_stay_as_the_server_s_release_prints_them() {
        let release = Release { major: 1, minor: 32 };
        let first = Catalog::printed_by(Some(release));
        let titles = |catalog: &Catalog| {
            let accounts = catalog.find("sa").unwrap();
            accounts.columns.iter().map(|column| column.title).collect::<Vec<_>>()
        };
        let second = Catalog::of(&real(), &first);
        let third = Catalog::of(&real(), &second);
        assert_eq!([&first, &second, &third].map(titles), [["SECRETS", "AGE"]; 3]);
        assert_eq!(titles(&Catalog::of(&real(), &Catalog::default())), ["AGE"]);
    }

    #[test]
    fn names_are_understood_as_kubectl_understands_them() {
        let catalog = Catalog::of(&real(), &Catalog::default());
        for (name, expected) in [
            ("po", "pods"),
            ("wd", "widgets.example.org"),
            ("widget", "widgets.example.org"),
            ("Widget.example.org", "widgets.example.org"),
            ("widgets.v1.example.org", "widgets.example.org"),
            ("events", "events"),
            ("deploy.apps", "deployments"),
        ] {
            assert_eq!(catalog.find(name).map(|kind| kind.name), Some(expected), "{name}");
        }
        // A resource that can only be created, or only be listed, cannot be watched.
        for name in ["bindings", "componentstatuses", "tokenreviews", "nothing", "widgets.apps", ""] {
            assert!(catalog.find(name).is_none(), "{name}");
        }
    }

    #[test]
    fn kinds_come_and_go_and_the_rest_stays_as_it_is() {
        let (all, first) = (real(), Catalog::default());
        assert!(!first.is_settled() && first.find("pods").is_some());
        let with = Catalog::of(&all, &first);
        let less: Vec<Discovered> = all.iter().filter(|one| one.resource.plural != "widgets").cloned().collect();
        let without = Catalog::of(&less, &with);
        assert!(without.find("widgets").is_none() && without.is_settled());
        let again = Catalog::of(&all, &with);
        let widgets = |catalog: &Catalog| std::ptr::from_ref(catalog.find("widgets").unwrap());
        assert_eq!(widgets(&with), widgets(&again));
    }

    fn column(name: &str, json_path: &str) -> PrinterColumn {
        let value_type = String::from("integer");
        PrinterColumn { name: name.to_owned(), json_path: json_path.to_owned(), value_type, ..PrinterColumn::default() }
    }

    #[test]
    fn a_definition_that_was_seen_makes_no_kind_anew() {
        let mut catalog = Catalog::of(&real(), &Catalog::default());
        let bare = catalog.find("widgets").unwrap();
        let mut define = |definition: Option<&[PrinterColumn]>| {
            catalog.define(&bare.resource, definition);
            catalog.find("widgets").unwrap()
        };
        let first = define(Some(&[column("Size", ".spec.size")]));
        let titles: Vec<&str> = first.columns.iter().map(|column| column.title).collect();
        assert_eq!((titles, first.name, first.is_called("wd")), (vec!["SIZE"], "widgets.example.org", true));
        let object = first.decode.read(r#"{"metadata":{"name":"a"},"spec":{"size":3}}"#).unwrap();
        assert_eq!(object.cells.get(0), Some(kubechurn_client::api::cell::CellRef::Number(3)));
        let moved = define(Some(&[column("Size", ".spec.width")]));
        assert_ne!(first, moved, "the same title, but another value");
        assert!(std::ptr::eq(first, define(Some(&[column("Size", ".spec.size")]))));
        assert!(std::ptr::eq(bare, define(None)) && bare != first);
        let aged = define(Some(&[]));
        assert_eq!((aged.columns[0].title, aged == bare), ("AGE", false));
        // A definition survives discovery, but not the disappearance and return of its resource.
        let again = Catalog::of(&real(), &catalog);
        assert!(std::ptr::eq(aged, again.find("widgets").unwrap()));
        let less: Vec<Discovered> = real().into_iter().filter(|one| one.resource.plural != "widgets").collect();
        let back = Catalog::of(&real(), &Catalog::of(&less, &again));
        assert!(std::ptr::eq(bare, back.find("widgets").unwrap()));
    }

    #[test]
    fn what_went_is_remembered_until_it_comes_back() {
        let with = Catalog::of(&real(), &Catalog::default());
        let less: Vec<Discovered> = real().into_iter().filter(|one| one.resource.plural != "widgets").collect();
        let without = Catalog::of(&less, &with);
        assert_eq!(without.gone("widgets.example.org"), with.find("widgets"));
        assert!(Catalog::of(&less, &without).gone("widgets.example.org").is_some());
        assert!(Catalog::of(&real(), &without).gone("widgets.example.org").is_none());
        assert!(with.gone("widgets.example.org").is_none() && without.gone("nothing").is_none());
        // A kind that was only assumed to exist does not count as gone.
        assert!(Catalog::of(&[], &Catalog::default()).gone("pods").is_none());
    }
}
