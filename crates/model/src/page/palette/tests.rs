//! What the palette finds.

use super::*;
use crate::table::schema::MOST;
use kubechurn_client::api::discovery::{self, Answer};

fn names(namespaces: &[&str]) -> Vec<String> {
    namespaces.iter().map(|name| name.to_string()).collect()
}

fn find(query: &str) -> Vec<FoundEntry> {
    let (catalog, namespaces) = (Catalog::default(), names(&["default", "kube-system", "payments", "shop"]));
    let recent = [("pods", ObjectKey::new("shop", "cart-7")), ("gone", ObjectKey::new("shop", "cart-8"))];
    let route = Route::parse("#/nodes?pin=jobs&q=x");
    Known {
        route: &route,
        catalog: &catalog,
        namespaces: &namespaces,
        recent: &recent,
        objects: &[],
        clusters: &[],
        recordings: &[],
    }
    .find(query)
}

#[test]
fn the_best_comes_first() {
    for (query, expected) in [
        ("pods", "Pods"),
        (":po", "Pods"),
        ("po", "Pods"),
        ("deploy", "Deployments"),
        ("dep", "Deployments"),
        ("rs", "ReplicaSets"),
        ("set", "ReplicaSets"),
        ("svc", "Services"),
        ("node", "Nodes"),
        ("ns", "Namespaces"),
        ("deployment.apps", "Deployments"),
        ("shop", "shop"),
        ("kubesys", "kube-system"),
        ("all", "all namespaces"),
        ("pause", "Pause, or go live"),
        ("csv", "Export the table as CSV"),
        ("copy link", "Copy the link"),
        ("link copy", "Copy the link"),
        ("dark", "Dark or light"),
        ("cart", "shop/cart-7"),
        ("pods shop", "Pods in shop"),
        ("po not-known-yet", "Pods in not-known-yet"),
        ("po -A", "Pods in all namespaces"),
        ("all shop", "Everything in shop"),
        ("everything not-known-yet", "Everything in not-known-yet"),
        (":deploy,rs,po", "Deployments, ReplicaSets and Pods"),
        ("deploy,po shop", "Deployments and Pods in shop"),
        ("po,no,nosuch -A", "Pods and Nodes in all namespaces"),
        ("po,", "Pods"),
        ("no,pv shop", "Nodes and PersistentVolumes"),
        ("", "shop/cart-7"),
    ] {
        let first = find(query).into_iter().next().map(|found| found.entry.title);
        assert_eq!(first.as_deref(), Some(expected), "{query}");
    }
    // Beside a namespace, and a kind of it, stands all of it.
    for query in ["shop", "pods shop"] {
        assert_eq!(find(query)[1].entry.title, "Everything in shop", "{query}");
    }
    for query in ["zzz", "noise", "nodes shop zzz", "pods shop cart x"] {
        assert_eq!(find(query), [], "{query}");
    }
    assert!(find("cart").iter().all(|found| found.entry.title != "shop/cart-8"), "its kind is gone");
}

#[test]
fn an_entry_leads_where_it_says() {
    let route = |query: &str| match find(query).into_iter().next().map(|found| found.entry.command) {
        Some(Command::Go(route)) => route.fragment(),
        other => format!("{other:?}"),
    };
    for (query, expected) in [
        ("po", "#/pods?q=x&pin=jobs"),
        ("nodes", "#/nodes?q=x&pin=jobs"),
        ("shop", "#/nodes?ns=shop&q=x&pin=jobs"),
        ("pods shop", "#/pods?ns=shop&q=x&pin=jobs"),
        ("deploy,RS,,po shop", "#/deployments,replicasets,pods?ns=shop&q=x&pin=jobs"),
        ("po,nosuch", "#/pods,nosuch?q=x&pin=jobs"),
        ("no,", "#/nodes?q=x&pin=jobs"),
    ] {
        assert_eq!(route(query), expected, "{query}");
    }
    let first = find("theme").into_iter().chain(find("light")).next().unwrap();
    assert_eq!(first.entry.command, Command::ToggleTheme);
    let first = find("cart-7").into_iter().next().unwrap();
    assert_eq!(first.entry.command, Command::Visit("pods", ObjectKey::new("shop", "cart-7")));
}

#[test]
fn everything_in_a_namespace_has_the_kinds_that_the_server_has_and_says_which_are_too_many() {
    let gadget = |number: u8| {
        format!(
            r#"{{"resource":"gadget{number}","responseKind":{{"kind":"Gadget{number}"}},"scope":"Namespaced","verbs":["list","watch"]}}"#
        )
    };
    let gadgets: Vec<String> = (0..40).map(gadget).collect();
    let group = format!(
        r#"{{"metadata":{{"name":"example.org"}},"versions":[{{"version":"v1","resources":[{}]}}]}}"#,
        gadgets.join(",")
    );
    let custom = format!(r#"{{"kind":"APIGroupDiscoveryList","items":[{group}]}}"#);
    let real = [
        include_str!("../../../../../tests/fixtures/discovery/discovery-api.json"),
        include_str!("../../../../../tests/fixtures/discovery/discovery-apis.json"),
        &custom,
    ];
    let kinds = real.into_iter().flat_map(|text| match discovery::read(text).unwrap() {
        Answer::Aggregated { resources, .. } => resources,
        other => panic!("{other:?}"),
    });
    let catalog = Catalog::of(&kinds.collect::<Vec<_>>(), &Catalog::default());
    let route = Route::parse("#/nodes?q=x").everything_in("shop", &catalog);
    let shown: Vec<&str> = route.kinds(&catalog).iter().map(|kind| kind.name).collect();
    assert_eq!((shown.len(), route.namespaces.join(","), &*route.text), (MOST, String::from("shop"), "x"));
    assert_eq!(shown[..3], ["deployments", "statefulsets", "daemonsets"], "what matters comes first");
    assert!(shown.contains(&"events") && !route.resource.contains("events.k8s.io") && !shown.contains(&"nodes"));
    assert!(shown.contains(&"gadget0.example.org") && !shown.contains(&"leases"), "{shown:?}");
    let left_out = route.left_out(&catalog);
    assert_eq!(left_out.len(), 1, "one sentence for all");
    assert!(left_out[0].to_string().ends_with(&format!(": a table shows {MOST} kinds at most")), "{}", left_out[0]);
    assert!(route.is_all_of_namespace(&catalog) && !route.joining("leases").is_all_of_namespace(&catalog));
    let few = Catalog::default();
    let route = Route::default().everything_in("shop", &few);
    assert!(route.is_all_of_namespace(&few) && route.left_out(&few).is_empty());
    assert!(route.shows("pods") && route.shows("configmaps") && !route.shows("namespaces"));
}

#[test]
fn what_was_looked_for_is_marked() {
    for (query, expected) in [
        ("pod", "[Pod]s"),
        ("sets", "Replica[Sets]"),
        ("svc", "[S]er[v]i[c]es"),
        ("the copy", "[Copy] [the] name"),
        ("kubs", "[kub]e-[s]ystem"),
    ] {
        let found = find(query).into_iter().next().unwrap();
        let marked = |(is_marked, text): (bool, String)| if is_marked { format!("[{text}]") } else { text };
        assert_eq!(found.pieces().into_iter().map(marked).collect::<String>(), expected, "{query}");
    }
}

#[test]
fn any_text_can_be_looked_for() {
    let namespaces = names(&["ÄÖ", "ß", "İstanbul"]);
    let (catalog, route) = (Catalog::default(), Route::default());
    let page = String::from("http://127.0.0.1:1/a/");
    let clusters = [ClusterPage { name: String::from("Düsseldorf"), page: page.clone(), is_own: false, api: None }];
    let known = Known {
        route: &route,
        catalog: &catalog,
        namespaces: &namespaces,
        recent: &[],
        objects: &[],
        clusters: &clusters,
        recordings: &[],
    };
    for query in ["ä", "ÄÖ", "ß", "i̇s", "st", "İ", "\u{301}", "a\u{0}b", "::::", "   ", "- -"] {
        for found in known.find(query) {
            assert_eq!(found.pieces().into_iter().map(|(_, text)| text).collect::<String>(), found.entry.title);
        }
    }
    for query in ["düs", "cluster"] {
        let first = known.find(query).into_iter().next().map(|found| found.entry.command);
        assert_eq!(first, Some(Command::Cluster(page.clone())), "{query}");
    }
    let actions = known.find("").into_iter().filter(|found| found.entry.group == Group::Action);
    let all: Vec<Command> = actions.map(|found| found.entry.command).collect();
    let offered = OFFERS.iter().filter(|offer| offer.is_in_palette).map(|offer| offer.command.clone());
    assert_eq!(all, offered.collect::<Vec<_>>(), "everything that can be done is in the empty palette");
}
