//! What the palette finds.

use super::*;

fn names(namespaces: &[&str]) -> Vec<String> {
    namespaces.iter().map(|name| name.to_string()).collect()
}

fn find(query: &str) -> Vec<FoundEntry> {
    let (catalog, namespaces) = (Catalog::default(), names(&["default", "kube-system", "payments", "shop"]));
    let recent = [("pods", ObjectKey::new("shop", "cart-7")), ("gone", ObjectKey::new("shop", "cart-8"))];
    let route = Route::parse("#/nodes?pin=jobs&q=x");
    Known { route: &route, catalog: &catalog, namespaces: &namespaces, recent: &recent, clusters: &[] }.find(query)
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
    for query in ["zzz", "nodes shop zzz", "pods shop cart x"] {
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
    let known = Known { route: &route, catalog: &catalog, namespaces: &namespaces, recent: &[], clusters: &clusters };
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
