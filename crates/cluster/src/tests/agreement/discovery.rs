//! The recorded discovery, aggregated and legacy, and `/version`.

use std::collections::BTreeSet;

use super::ordered::{Ordered, compare};
use super::*;

const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";

/// The lists whose elements have names: the field with the name of an element, and the list within it.
const NAMED: &[(&str, &str)] = &[
    ("items", ""),
    ("groups", "name"),
    ("versions", "version"),
    ("resources", "resource"),
    ("subresources", "subresource"),
];

fn name_of<'a>(list: &str, element: &'a Ordered) -> &'a str {
    match NAMED.iter().find(|(named, _)| *named == list) {
        // The core group has no name.
        Some((_, "")) => element.get("metadata").map_or("", |metadata| metadata.text("name")),
        Some((_, field)) => element.text(field),
        None => "",
    }
}

/// Like `compare`, but pairs the elements of lists by their names, so that a missing element does not shift the others.
fn compare_named(path: &str, theirs: &Ordered, ours: &Ordered, found: &mut BTreeSet<String>) {
    let (Ordered::Object(left), Ordered::Object(right)) = (theirs, ours) else {
        return compare(path, theirs, ours, found);
    };
    // Compared without their nested lists, which are compared below.
    let bare = |members: &[(String, Ordered)]| {
        let is_named = |key: &str, value: &Ordered| {
            NAMED.iter().any(|(list, _)| *list == key)
                && value.elements().iter().any(|one| matches!(one, Ordered::Object(_)))
        };
        let null = || Ordered::Scalar("null", String::new());
        let all =
            members.iter().map(|(key, value)| (key.clone(), if is_named(key, value) { null() } else { value.clone() }));
        Ordered::Object(all.collect())
    };
    compare(path, &bare(left), &bare(right), found);
    for (list, _) in NAMED {
        let (Some(left), Some(right)) = (theirs.get(list), ours.get(list)) else { continue };
        let (mut of_left, mut of_right) = (Vec::new(), Vec::new());
        for element in left.elements() {
            let name = name_of(list, element);
            match right.elements().iter().find(|other| name_of(list, other) == name) {
                Some(other) => {
                    of_left.push(name);
                    compare_named(&format!("{path}/{name}"), element, other, found);
                }
                None => drop(found.insert(format!("{path}/{name}: missing"))),
            }
        }
        for element in right.elements() {
            let name = name_of(list, element);
            if left.elements().iter().any(|other| name_of(list, other) == name) {
                of_right.push(name);
            } else {
                found.insert(format!("{path}/{name}: ours alone"));
            }
        }
        if of_left != of_right {
            found.insert(format!("{path}: {list} in another order"));
        }
    }
}

/// Compares groups, versions, resources and subresources: names, verbs, kinds, scopes, and the order of everything.
#[tokio::test]
async fn discovery_is_as_recorded() {
    let server = serve(bare()).await;
    let definitions: Value =
        serde_json::from_str(fixture!("tables/customresourcedefinitions.apiextensions.k8s.io.json")).unwrap();
    put(&server, &definitions["rows"][0]["object"]).await;
    let mut found = BTreeSet::new();
    for (path, accept, recorded) in [
        ("/api", AGGREGATED, fixture!("discovery/discovery-api.json")),
        ("/apis", AGGREGATED, fixture!("discovery/discovery-apis.json")),
        ("/api", "application/json", fixture!("discovery/legacy-api.json")),
        ("/apis", "application/json", fixture!("discovery/legacy-apis.json")),
        ("/version", "application/json", fixture!("discovery/version.json")),
    ] {
        let request = server.client.get(server.url(path)).header("accept", accept);
        let text = within(within(request.send()).await.unwrap().text()).await.unwrap();
        let form = if accept == AGGREGATED { "aggregated " } else { "" };
        compare_named(&format!("{form}{path}"), &Ordered::parse(recorded), &Ordered::parse(&text), &mut found);
    }
    check("Discovery", &found);
}
