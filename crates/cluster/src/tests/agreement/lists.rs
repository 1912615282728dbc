//! The recorded lists, compared with lists of the same objects in this server: shapes, order and texts.

use std::collections::BTreeSet;

use super::ordered::{Ordered, compare};
use super::*;

fn key(item: &Ordered) -> (String, String) {
    let text = |field: &str| item.get("metadata").map(|metadata| metadata.text(field)).unwrap_or_default().to_owned();
    (text("namespace"), text("name"))
}

/// The path of a recorded list, from its own kind and version.
fn path_of(name: &str, list: &Value) -> String {
    let api_version = list["apiVersion"].as_str().unwrap();
    let prefix = if api_version.contains('/') { "/apis" } else { "/api" };
    format!("{prefix}/{api_version}/{}", name.split('.').next().unwrap())
}

/// Writes the recorded objects to this server, and compares the lists.
#[tokio::test]
async fn lists_are_as_recorded() {
    let server = serve(bare()).await;
    let mut found = BTreeSet::new();
    let mut recorded = of_each_resource!("lists");
    // The Widgets' definition is written before the Widgets.
    recorded.sort_by_key(|(name, _)| !name.starts_with("customresourcedefinitions"));
    for (name, text) in recorded {
        let list: Value = serde_json::from_str(text).unwrap();
        let path = path_of(name, &list);
        if server.get(&format!("{path}?limit=1")).await.0 != 200 {
            found.insert(format!("{name}: not served"));
            continue;
        }
        for item in list["items"].as_array().unwrap() {
            let mut object = item.clone();
            object["kind"] = list["kind"].as_str().unwrap().strip_suffix("List").unwrap().into();
            object["apiVersion"] = list["apiVersion"].clone();
            put(&server, &object).await;
        }
        // A recording that was cut off at 40 items is requested with that limit, and needs one more object here.
        let is_page = list["metadata"]["continue"].as_str().is_some_and(|token| !token.is_empty());
        if let Some(last) = list["items"].as_array().and_then(|items| items.last()).filter(|_| is_page) {
            let mut object = last.clone();
            object["kind"] = list["kind"].as_str().unwrap().strip_suffix("List").unwrap().into();
            object["apiVersion"] = list["apiVersion"].clone();
            object["metadata"]["name"] = "zzz".into();
            object["metadata"]["uid"] = "another".into();
            put(&server, &object).await;
        }
        let theirs = Ordered::parse(text);
        let url = server.url(&format!("{path}?limit={}", if is_page { 40 } else { 500 }));
        let response = within(server.client.get(url).send()).await.unwrap();
        let mut ours = Ordered::parse(&within(response.text()).await.unwrap());
        // This cluster also has objects of its own.
        if let (Some(Ordered::List(ours)), Some(theirs)) = (ours.get_mut("items"), theirs.get("items")) {
            ours.retain(|item| theirs.elements().iter().any(|other| key(other) == key(item)));
            let [left, right] = [theirs.elements(), ours].map(|all| all.iter().map(key).collect::<Vec<_>>());
            if left != right {
                found.insert(format!("{name}: items in another order"));
            }
        }
        compare(name, &theirs, &ours, &mut found);
    }
    check("Lists", &found);
}
