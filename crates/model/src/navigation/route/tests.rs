//! Places, their links, and places that name what a server does not have.

use super::*;

#[test]
fn a_link_shows_the_same_to_someone_else() {
    for fragment in [
        "#/pods",
        "#/pods?ns=a,b&labels=app%3Dweb&q=text&sort=-AGE",
        "#/pods?fields=status.phase%21%3DRunning&q=text",
        "#/deployments?q=a+%26+b&pin=pods,nodes&wide=1",
        "#/nodes?sort=%CE%94",
        "#/pods?sel=shop/web-1&tab=yaml",
        "#/deployments,replicasets,pods?ns=shop&q=KIND:pod&sort=-KIND",
        "#/widgets.example.org,nodes?sel=nodes/n-1",
    ] {
        assert_eq!(Route::parse(fragment).fragment(), fragment);
    }
}

fn parse_resolved(fragment: &str) -> Route {
    Route::parse(fragment).resolved(&Catalog::default())
}

fn order(fragment: &str) -> Sort {
    let route = Route::parse(fragment);
    route.order(&TableSchema::of(&route.kinds(&Catalog::default())))
}

#[test]
fn what_makes_no_sense_is_left_out() {
    assert_eq!((Route::parse(""), Route::parse("#/?ns=a").is_everything()), (Route::parse("#/changes"), true));
    let route = parse_resolved("#/po?ns=,a,,a&pin=nosuch,no,node&x=y&sort=NOPE");
    assert_eq!(route.fragment(), "#/pods?ns=a&sort=NOPE&pin=nosuch,nodes");
    assert_eq!(order("#/po?sort=NOPE"), Sort::default());
    assert_eq!(order("#/events"), Sort { key: SortKey::Column(0), descending: false });
}

#[test]
fn a_kind_that_is_not_there_keeps_its_name() {
    for name in ["widgets.example.org", "no such/thing?", "a+b", "%", "ä"] {
        let route = Route { resource: name.to_owned(), ..Route::default() };
        assert_eq!(Route::parse(&route.fragment()), route);
        assert!(route.kinds(&Catalog::default()).is_empty() && route.watched(&Catalog::default()).is_empty());
    }
    assert_eq!(parse_resolved("#/deploy").resource, "deployments");
}

#[test]
fn the_address_has_how_lanes_stand() {
    let fragment = "#/changes?lanes=owner&order=churn&keep=deployments/shop/web,node:n-1";
    let route = parse_resolved(fragment);
    assert_eq!((route.lanes.by, route.lanes.order), (LanesBy::Owner, LaneOrder::Churn));
    assert_eq!(route.lanes.kept, ["deployments/shop/web", "node:n-1"]);
    assert_eq!(route.fragment(), fragment);
    assert_eq!(route.what_changed().lanes, route.lanes);
    assert_eq!(route.showing("pods").lanes, route.lanes);
    let route = route.keeping("pods/shop/a").keeping("node:n-1");
    assert_eq!(route.lanes.kept, ["pods/shop/a", "deployments/shop/web"]);
    // Nothing else is done again for it.
    assert!(Route::default().moved_to(&Route { lanes: route.lanes, ..Route::default() }).keeps_table());
    assert_eq!(parse_resolved("#/pods?lanes=nonsense&order=&keep=,,").fragment(), "#/pods");
    for open in ["*", "*,namespace:shop", "clusterroles/a%252Cb,deployments/shop/web"] {
        let fragment = format!("#/changes?lanes=owner&keep=clusterroles/a%252Cb&open={open}");
        let route = parse_resolved(&fragment);
        assert_eq!((route.fragment(), &*route.lanes.kept), (fragment, &[String::from("clusterroles/a,b")][..]));
        assert!(Route::default().moved_to(&Route { lanes: route.lanes, ..Route::default() }).keeps_table());
    }
    let many: Vec<String> = (0..5_000).map(|at| format!("pods/a/{at}")).collect();
    assert_eq!(parse_resolved(&format!("#/pods?keep={}", many.join(","))).lanes.kept, many[..32]);
}

#[test]
fn a_title_sorts_then_turns_around_then_lets_go() {
    let descending = |route: &Route| route.order(&TableSchema::of(&route.kinds(&Catalog::default()))).descending;
    let route = Route::default().sorted_by("STATUS");
    assert_eq!((&*route.sort, descending(&route)), ("STATUS", false));
    let route = route.sorted_by("STATUS");
    assert_eq!((&*route.sort, descending(&route)), ("-STATUS", true));
    assert_eq!(route.sorted_by("STATUS").sort, "");
    assert_eq!(route.sorted_by("AGE").sort, "AGE");
}

#[test]
fn the_order_in_force_turns_around() {
    for (fragment, once, twice) in [
        ("#/pods", "-NAMESPACE", "NAMESPACE"),
        ("#/pods?sort=NOPE", "-NAMESPACE", "NAMESPACE"),
        ("#/pods,jobs", "-NAMESPACE", "NAMESPACE"),
        ("#/pods,jobs?sort=-KIND", "KIND", "-KIND"),
        ("#/pods?sort=NAME", "-NAME", "NAME"),
        ("#/pods?sort=AGE", "-AGE", "AGE"),
        ("#/pods?sort=%CE%94", "-Δ", "Δ"),
        ("#/events", "-LAST SEEN", "LAST SEEN"),
    ] {
        let route = Route::parse(fragment);
        let schema = TableSchema::of(&route.kinds(&Catalog::default()));
        let turned = route.turned(&schema);
        let back = turned.turned(&schema);
        assert_eq!((&*turned.sort, &*back.sort), (once, twice), "{fragment}");
        let (at_first, then) = (route.order(&schema), turned.order(&schema));
        assert_eq!((at_first.key, at_first.descending), (then.key, !then.descending), "{fragment}");
    }
}

#[test]
fn a_link_opens_the_inspector() {
    for (fragment, expected) in [
        ("#/pods?sel=a/b", Some(("pods", ObjectKey::new("a", "b")))),
        ("#/nodes,pods?sel=pods/a/b", Some(("pods", ObjectKey::new("a", "b")))),
        ("#/nodes,pods?sel=nodes/n", Some(("nodes", ObjectKey::new("", "n")))),
        ("#/nodes,pods?sel=jobs/a/b", None),
        ("#/nodes,pods?sel=a", None),
        ("#/nodes?sel=n", Some(("nodes", ObjectKey::new("", "n")))),
        ("#/pods?sel=a/", None),
        ("#/pods", None),
    ] {
        let found = Route::parse(fragment).selection(&Catalog::default());
        assert_eq!(found.map(|(kind, key)| (kind.name, key)), expected, "{fragment}");
    }
    let route = Route::parse("#/pods?ns=a&sel=a/b&tab=yaml");
    assert_eq!(route.showing("nodes").fragment(), "#/nodes?ns=a");
    let other = route.selecting(Some(("pods", &ObjectKey::new("a", "c"))));
    assert_eq!(other.fragment(), "#/pods?ns=a&sel=a/c&tab=yaml");
    assert!(other.moved_to(&route).keeps_table() && other.selecting(None).moved_to(&route).keeps_table());
    assert!(!other.moved_to(&route.choosing("b")).keeps_table());
}

#[test]
fn a_link_names_a_version_of_the_object_and_of_no_other() {
    let compared = Route::parse("#/pods?sel=a/b&tab=changes&change=57.1012&against=12.1003");
    assert_eq!(compared.fragment(), "#/pods?sel=a/b&tab=changes&change=57.1012&against=12.1003");
    assert_eq!(compared.against, Some(ChosenVersion { sequence: 12, resource_version: String::from("1003") }));
    assert_eq!((compared.selecting(None).against, compared.showing("nodes").against), (None, None));
    assert_eq!(Route::parse("#/pods?against=57.1").fragment(), "#/pods");
    let there = "#/pods?sel=a/b&tab=changes&change=57.1012";
    let route = Route::parse(there);
    assert_eq!(route.change, Some(ChosenVersion { sequence: 57, resource_version: String::from("1012") }));
    assert_eq!(route.fragment(), there);
    let other = route.selecting(Some(("pods", &ObjectKey::new("a", "c"))));
    assert_eq!((other.change, route.showing("nodes").change), (None, None));
    assert!(route.moved_to(&Route { change: None, ..route.clone() }).keeps_table());
    for odd in ["", "57", "x.1", "-1.1", ".1", "99999999999999999999999.1"] {
        assert_eq!(Route::parse(&format!("#/pods?sel=a/b&change={odd}")).change, None, "{odd}");
    }
    assert_eq!(Route::parse("#/pods?change=57.1").fragment(), "#/pods");
}

#[test]
fn several_kinds_go_by_any_names_and_what_nothing_goes_by_is_said() {
    for (fragment, expected) in [
        ("#/deploy,rs,po", "#/deployments,replicasets,pods"),
        ("#/deploy.apps,Deployment,,po, pods ,", "#/deployments,pods"),
        ("#/po,pods?sel=po/a/b", "#/pods?sel=a/b"),
        ("#/po,rs?sel=po/a/b&q=x", "#/pods,replicasets?q=x&sel=pods/a/b"),
        ("#/po%2Crs", "#/pods,replicasets"),
        ("#/po,rs?sel=no/n", "#/pods,replicasets?sel=no/n"),
        ("#/po,pods?sel=nodes/n", "#/pods?sel=nodes/n"),
        ("#/,", "#/changes"),
        ("#/po,nosuch,widgets.example.org", "#/pods,nosuch,widgets.example.org"),
    ] {
        assert_eq!(parse_resolved(fragment).fragment(), expected, "{fragment}");
        assert_eq!(parse_resolved(expected).fragment(), expected, "{fragment}");
    }
    let real = Catalog::of(&[], &Catalog::default());
    let route = Route::parse("#/pods,nosuch,rs");
    let kinds: Vec<&str> = route.kinds(&Catalog::default()).iter().map(|kind| kind.name).collect();
    assert_eq!(kinds, ["pods", "replicasets"]);
    let words = route.left_out(&Catalog::default()).iter().map(LeftOut::to_string).collect::<Vec<_>>();
    assert_eq!(words, ["“nosuch”: looking for it"]);
    let odd = Route::parse("#/pods,no: such").left_out(&real);
    assert_eq!(odd.last().map(|left| &*left.what), Some("“no: such”"), "a name may hold anything but a comma");
    assert_eq!((route.left_out(&real).len(), route.kinds(&real).len()), (3, 0));
    assert!(Route::parse("#/nosuch").left_out(&real).is_empty(), "a single one has a page of its own");
    let all: Vec<&str> = kubechurn_columns::kinds::KINDS.iter().map(|kind| kind.name).collect();
    let route = Route { resource: all.join(","), ..Route::default() };
    assert_eq!(route.kinds(&Catalog::default()).len(), MOST);
    assert!(route.left_out(&Catalog::default()).iter().all(|left| left.why.ends_with("at most")));
    assert_eq!(order("#/po,deploy?sort=-KIND"), Sort { key: SortKey::Kind, descending: true });
    assert_eq!(order("#/po,deploy"), Sort::default());
    assert_eq!(order("#/ev,po"), Sort::default());
    assert_eq!(order("#/po?sort=KIND"), Sort::default(), "a single kind has no such column");
}

#[test]
fn a_kind_joins_those_in_view_and_leaves_them_again() {
    for (fragment, name, expected) in [
        ("#/pods?ns=a&q=x&sort=AGE&sel=a/b", "jobs", "#/pods,jobs?ns=a&q=x&sort=AGE&sel=pods/a/b"),
        ("#/pods,jobs?sel=pods/a/b", "jobs", "#/pods?sel=a/b"),
        ("#/pods,jobs?sel=pods/a/b", "pods", "#/jobs"),
        ("#/pods,jobs,nodes?sel=nodes/n", "pods", "#/jobs,nodes?sel=nodes/n"),
        ("#/pods,jobs?sel=nodes/n", "jobs", "#/pods?sel=nodes/n"),
        ("#/pods,jobs?sel=nodes/n", "services", "#/pods,jobs,services?sel=nodes/n"),
        ("#/pods?fields=spec.nodeName%3Dn&labels=a%3Db", "jobs", "#/pods,jobs?labels=a%3Db"),
        ("#/pods,jobs?fields=metadata.name%3Dn", "jobs", "#/pods?fields=metadata.name%3Dn"),
        ("#/pods?sel=a/b", "pods", "#/pods?sel=a/b"),
    ] {
        assert_eq!(Route::parse(fragment).joining(name).fragment(), expected, "{fragment} {name}");
    }
    let route = Route::parse("#/pods,jobs?q=x&sel=jobs/a/b");
    assert_eq!(route.showing("jobs").fragment(), "#/jobs?q=x", "the filter stays");
    assert_eq!(route.visiting("jobs").fragment(), "#/jobs", "no filter hides what is visited");
    assert!(route.shows("jobs") && !route.shows("nodes"));
    let key = ObjectKey::new("a", "c");
    assert_eq!(route.selecting(Some(("pods", &key))).fragment(), "#/pods,jobs?q=x&sel=pods/a/c");
}

#[test]
fn a_namespace_that_is_named_twice_counts_once() {
    for fragment in ["#/pods?ns=a,a", "#/pods?ns=a,%20a", "#/pods?ns=a%2Ca,", "#/pods?ns=a&ns=a"] {
        let route = Route::parse(fragment);
        assert_eq!((&*route.namespaces, &*route.fragment()), (&["a".to_owned()][..], "#/pods?ns=a"), "{fragment}");
    }
}

#[test]
fn the_kind_in_view_is_watched_once() {
    let route = Route::parse("#/pods?pin=nodes,pods");
    let watched: Vec<&str> = route.watched(&Catalog::default()).iter().map(|kind| kind.resource.plural).collect();
    assert_eq!(watched, ["pods", "nodes"]);
    let route = Route::parse("#/pods,jobs?pin=nodes,pods");
    let watched: Vec<&str> = route.watched(&Catalog::default()).iter().map(|kind| kind.name).collect();
    assert_eq!(watched, ["pods", "jobs", "nodes"]);
    let route = Route::parse("#/pods?pin=nodes,pods");
    assert_eq!(route.pinning("nodes").pinned, ["pods"]);
    assert_eq!(route.choosing("shop").choosing("shop"), route);
}

#[test]
fn only_what_changed_is_done_anew() {
    let moved = |from: &str, to: &str| {
        let Moved { scope, watched, filter, order, columns } = Route::parse(from).moved_to(&Route::parse(to));
        let all = [(scope, "scope"), (watched, "watched"), (filter, "filter"), (order, "order"), (columns, "columns")];
        all.into_iter().filter(|(is, _)| *is).map(|(_, word)| word).collect::<Vec<_>>().join(" ")
    };
    let here = "#/pods?ns=shop&q=web&sort=AGE";
    assert_eq!(moved(here, "#/pods?ns=shop&q=web&sort=-AGE"), "order");
    assert_eq!(moved(here, "#/pods?ns=shop&q=db&sort=AGE"), "filter");
    assert_eq!(moved(here, "#/pods?ns=shop&q=web&sort=AGE&wide=1"), "columns");
    assert_eq!(moved(here, "#/pods?ns=shop&q=web&sort=AGE&pin=nodes"), "watched");
    assert_eq!(moved(here, "#/pods?q=web&sort=AGE"), "scope watched filter order columns");
    assert_eq!(moved(here, "#/nodes?ns=shop&q=web&sort=AGE"), "scope watched filter order columns");
    assert_eq!(moved(here, here), "watched filter order columns");
    let open = Route { selected: String::from("shop/web"), ..Route::parse(here) };
    assert!(Route::parse(here).moved_to(&open).keeps_table());
    assert!(open.moved_to(&Route { tab: String::from("yaml"), ..open.clone() }).keeps_table());
}

#[test]
fn the_feed_is_a_place_of_its_own() {
    let route = Route::parse("#/changes?ns=shop&q=path:spec");
    assert!(route.changes && route.is_everything() && route.shows("pods") && route.shows("events"));
    assert!(["configmaps", "horizontalpodautoscalers", "resourcequotas"].iter().all(|name| route.shows(name)));
    assert_eq!(route.fragment(), "#/changes?ns=shop&q=path:spec");
    assert_eq!(route.left_out(&Catalog::default()), [], "a server that lacks one of these kinds is nothing to report");
    let named = Route::parse("#/pods,nodes?view=changes");
    assert!(named.changes && !named.is_everything());
    assert_eq!(named.fragment(), "#/pods,nodes?view=changes");
    assert_eq!(named.showing("pods").fragment(), "#/pods", "a kind of the sidebar leads to its table");
    assert_eq!(Route::parse("#/pods?view=changes").showing("pods").fragment(), "#/pods");
    assert_eq!(Route::parse("#/pods?ns=a&pin=nodes&q=x").what_changed().fragment(), "#/changes?ns=a&q=x&pin=nodes");
    let key = ObjectKey::new("a", "b");
    assert_eq!(route.selecting(Some(("pods", &key))).fragment(), "#/changes?ns=shop&q=path:spec&sel=pods/a/b");
    // The table is the same: only the filter is another one's.
    let moved = Route::parse("#/pods?q=x").moved_to(&Route::parse("#/pods?q=x&view=changes"));
    assert_eq!(moved, Moved { filter: true, ..Moved::default() });
}

#[test]
fn a_chosen_time_is_in_the_address_and_makes_no_table_anew() {
    let route = Route::parse("#/pods?q=a&span=1790000000000-1790000030000&view=changes");
    assert_eq!(route.span, Some(Window { from: 1_790_000_000_000.0, to: 1_790_000_030_000.0 }));
    assert_eq!(route.fragment(), "#/pods?q=a&span=1790000000000-1790000030000&view=changes");
    assert!(route.moved_to(&Route { span: None, ..route.clone() }).keeps_table());
    assert_eq!(route.what_changed().span, route.span);
    assert_eq!(Route::parse("#/pods?span=5-1").span, None);
}

#[test]
fn a_moment_is_in_the_address_and_goes_along_to_other_places() {
    let fragment = "#/pods?ns=shop&at=2026-11-25T14:02:11.408Z";
    let route = Route::parse(fragment);
    assert_eq!((route.at, &*route.fragment()), (Some(1_795_615_331_408.0), fragment));
    assert!(route.moved_to(&Route { at: None, ..route.clone() }).keeps_table());
    for other in [route.what_changed(), route.showing("nodes"), route.joining("nodes")] {
        assert_eq!(other.at, route.at, "{}", other.fragment());
    }
    assert_eq!(Route::parse("#/pods?at=14:02").at, None);
}

#[test]
fn an_incident_is_a_place_of_its_own() {
    let place = "#/why?of=deployments/shop/web&since=2026-11-27T07:00:01.250Z&ns=shop";
    let route = Route::parse(place);
    assert!(route.is_everything());
    assert_eq!(route.fragment(), place);
    let why = route.why.as_ref().expect("an incident");
    assert_eq!((why.name(), why.since), ("shop/web", 1_795_762_801_250.0));
    let (kind, key) = why.object(&Catalog::default()).expect("an object");
    assert_eq!((kind.name, key), ("deployments", ObjectKey::new("shop", "web")));
    assert_eq!(WhyPlace::of(kind, &ObjectKey::new("shop", "web"), why.since), *why);
    // Elsewhere there is none; and what makes no sense is the feed.
    assert_eq!((route.showing("pods").why, route.what_changed().why), (None, None));
    assert_eq!(Route::parse("#/why?of=deployments/shop/web").fragment(), "#/changes");
    assert_eq!(Route::parse("#/pods?of=deployments/shop/web&since=2026-11-27T07:00:01.250Z").why, None);
}
