//! The recorded rollout: the events of twelve watches, and their order.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::ordered::{Ordered, compare};
use super::socket::{Frame, Socket, watch};
use super::*;
use crate::controllers::namespace::Namespaces;
use crate::controllers::tests::run;
use crate::resources::registry::Registry;

const RECORDING: &str = fixture!("rollout.jsonl");

/// The query in the recording.
const QUERY: &str = "watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";

/// The frames of each watch.
fn frames() -> BTreeMap<String, Vec<String>> {
    let mut all = BTreeMap::<String, Vec<String>>::new();
    for line in RECORDING.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        if let Some(frame) = line["frame"].as_str() {
            all.entry(line["resource"].as_str().unwrap().to_owned()).or_default().push(frame.to_owned());
        }
    }
    all
}

/// The type, key and revision of a frame, and whether it ends the initial events.
struct Event {
    value: Value,
    event_type: String,
    key: String,
    revision: u64,
    is_end: bool,
}

fn event(frame: &str) -> Event {
    let value: Value = serde_json::from_str(frame).unwrap();
    let metadata = &value["object"]["metadata"];
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let (namespace, name) = (text(&metadata["namespace"]), text(&metadata["name"]));
    Event {
        event_type: text(&value["type"]),
        key: if namespace.is_empty() { name } else { format!("{namespace}/{name}") },
        revision: text(&metadata["resourceVersion"]).parse().unwrap(),
        is_end: metadata["annotations"]["k8s.io/initial-events-end"] == "true",
        value,
    }
}

/// Checks the rules for a watch that begins with the state: the state comes in the order of the keys, only ADDED events
/// come before the end bookmark, no later version is smaller than an earlier one, and the version of each change,
/// deletions included, is greater than those of all earlier changes.
fn check_order(name: &str, frames: &[String]) {
    let events: Vec<Event> = frames.iter().map(|frame| event(frame)).collect();
    let end = events.iter().position(|event| event.is_end).unwrap_or_else(|| panic!("{name}: no end bookmark"));
    let (initial, live) = (&events[..end], &events[end + 1..]);
    assert!(initial.iter().all(|event| event.event_type == "ADDED"), "{name}");
    assert!(initial.is_sorted_by(|one, next| one.key < next.key), "{name}: the state comes in the order of its keys");
    let mut newest = events[end].revision;
    assert!(initial.iter().all(|event| event.revision <= newest), "{name}: the bookmark is as new as the state");
    for event in live {
        let is_new = if event.event_type == "BOOKMARK" { event.revision >= newest } else { event.revision > newest };
        assert!(is_new, "{name}: {} {} at {} after {newest}", event.event_type, event.key, event.revision);
        newest = event.revision;
    }
}

async fn next(socket: &mut Socket) -> String {
    match socket.next().await {
        Frame::Text(text) => text,
        other => panic!("a frame was expected, not {other:?}"),
    }
}

/// Plays the writes of one recorded watch on this server; returns the events of a watch here, without those that the
/// recording cannot contain.
async fn play(name: &str, recorded: &[Event]) -> Vec<String> {
    let server = serve(bare()).await;
    if name.starts_with("widgets") {
        let table: Value =
            serde_json::from_str(fixture!("tables/customresourcedefinitions.apiextensions.k8s.io.json")).unwrap();
        put(&server, &table["rows"][0]["object"]).await;
    }
    let object = &recorded[0].value["object"];
    let api_version = object["apiVersion"].as_str().unwrap();
    let prefix = if api_version.contains('/') { "/apis" } else { "/api" };
    let collection = format!("{prefix}/{api_version}/{}", name.split('.').next().unwrap());
    let end = recorded.iter().position(|event| event.is_end).unwrap();
    for event in &recorded[..end] {
        put(&server, &event.value["object"]).await;
    }
    let keys: BTreeSet<&str> = recorded.iter().map(|event| event.key.as_str()).collect();
    let mut socket = watch(&server, &format!("{collection}?{QUERY}")).await;
    let mut said = Vec::new();
    loop {
        let frame = next(&mut socket).await;
        let heard = event(&frame);
        if heard.is_end || keys.contains(heard.key.as_str()) {
            said.push(frame);
        }
        if heard.is_end {
            break;
        }
    }
    for event in &recorded[end + 1..] {
        let metadata = &event.value["object"]["metadata"];
        match event.event_type.as_str() {
            "BOOKMARK" => continue,
            "DELETED" => {
                let name = metadata["name"].as_str().unwrap();
                let item = match metadata["namespace"].as_str() {
                    Some(namespace) => collection
                        .replace(&format!("{api_version}/"), &format!("{api_version}/namespaces/{namespace}/")),
                    None => collection.clone(),
                };
                let (status, answer) = server.delete(&format!("{item}/{name}?gracePeriodSeconds=0")).await;
                assert_eq!(status, 200, "{item}/{name}: {answer}");
            }
            _ => put(&server, &event.value["object"]).await,
        }
        said.push(next(&mut socket).await);
    }
    said
}

/// The same writes cause the same events in the same order, with the same contents.
#[tokio::test]
async fn the_rollout_s_events_are_as_recorded() {
    let mut found = BTreeSet::new();
    let all = frames();
    assert_eq!(all.len(), 12);
    for (name, recorded) in &all {
        assert!(Registry::default().by_name(name).is_some() || name.starts_with("widgets"), "{name} is served");
        check_order(name, recorded);
        let mut events: Vec<Event> = recorded.iter().map(|frame| event(frame)).collect();
        if name == "namespaces" {
            // Later events are caused by controllers, and are not played.
            let is_being_deleted = |event: &Event| event.value["object"]["metadata"]["deletionTimestamp"].is_string();
            events.truncate(events.iter().position(is_being_deleted).unwrap());
        }
        let said = play(name, &events).await;
        check_order(name, &said);
        // Bookmarks depend on time; only the one that ends the initial events has a fixed place.
        let theirs: Vec<&String> = recorded
            .iter()
            .zip(&events)
            .filter(|(_, event)| event.event_type != "BOOKMARK" || event.is_end)
            .map(|(frame, _)| frame)
            .collect();
        assert_eq!(theirs.len(), said.len(), "{name}");
        for (theirs, ours) in theirs.iter().zip(&said) {
            compare(name, &Ordered::parse(theirs), &Ordered::parse(ours), &mut found);
        }
    }
    check("Rollout", &found);
}

/// The writes of a namespace and of the objects in it: revision, type and key.
type Written = Vec<(u64, String, String)>;

/// Checks that a namespace is marked first, then its contents are deleted, and it is deleted last.
fn check_teardown(who: &str, namespace: &str, mut written: Written) {
    written.sort();
    let own = |event_type: &str| {
        let all = written.iter().filter(|(_, found, key)| found == event_type && key == namespace);
        all.map(|(revision, ..)| *revision).collect::<Vec<_>>()
    };
    let ([marked, ..], [gone]) = (&own("MODIFIED")[..], &own("DELETED")[..]) else {
        panic!("{who}: {namespace} is marked and goes once: {written:?}")
    };
    let within = format!("{namespace}/");
    let contents: Vec<u64> = written
        .iter()
        .filter(|(_, event_type, key)| event_type == "DELETED" && key.starts_with(&within))
        .map(|(revision, ..)| *revision)
        .collect();
    assert!(contents.len() > 1, "{who}: there was something in it");
    assert!(contents.iter().all(|revision| (marked..gone).contains(&revision)), "{who}: {written:?}");
    let last =
        written.iter().filter(|(_, _, key)| key == namespace || key.starts_with(&within)).map(|(at, ..)| *at).max();
    assert_eq!(last, Some(*gone), "{who}: nothing is written after it");
}

/// Checks the order of the recorded deletion, and of that in this server.
#[tokio::test]
async fn a_namespace_goes_after_what_was_in_it() {
    let all = frames();
    let recorded = all.values().flatten().map(|frame| event(frame)).filter(|event| event.event_type != "BOOKMARK");
    check_teardown("the recording", "temp", recorded.map(|one| (one.revision, one.event_type, one.key)).collect());

    let server = serve(bare()).await;
    let _controllers = run(&server, |manager| manager.add::<Namespaces>());
    server.post("/api/v1/namespaces", &json!({"metadata": {"name": "temp"}})).await;
    for (path, object) in [
        ("/api/v1/namespaces/temp/configmaps", json!({"metadata": {"name": "one"}})),
        ("/api/v1/namespaces/temp/secrets", json!({"metadata": {"name": "two"}})),
        (
            "/apis/apps/v1/namespaces/temp/deployments",
            json!({"metadata": {"name": "t"}, "spec": {"selector": {"matchLabels": {"app": "t"}},
                "template": {"metadata": {"labels": {"app": "t"}}, "spec": {"containers": [{"name": "t", "image": "t"}]}}}}),
        ),
    ] {
        let (status, answer) = server.post(path, &object).await;
        assert_eq!(status, 201, "{answer}");
    }
    assert_eq!(server.delete("/api/v1/namespaces/temp").await.0, 200);
    let gone = async {
        while server.get("/api/v1/namespaces/temp").await.0 != 404 {
            tokio::task::yield_now().await;
        }
    };
    within(gone).await;
    let (_, log) = server.get("/_control/log").await;
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let written = log.as_array().unwrap().iter();
    let written =
        written.map(|one| (one["revision"].as_u64().unwrap_or_default(), text(&one["type"]), text(&one["key"])));
    check_teardown("ours", "temp", written.collect());
}
