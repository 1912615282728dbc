//! Events as the storm records them: repeated ones are counted, similar ones are combined, and floods are dropped.
//!
//! These tests run in memory, because the storm writes to no other backend.

use kubechurn_client::record::time::Time;

use super::socket::watch;
use super::*;
use crate::resources::builtin::{DEPLOYMENTS, NODES};
use crate::resources::resource::Resource;
use crate::scenario::storm::direct::Direct;
use crate::scenario::storm::recorder::{About, Recorder, What};

/// A time in 2026, plus some seconds.
fn at(second: i64) -> Time {
    Time::from_seconds(1_795_248_864 + second)
}

/// Records an Event about an object called `one`.
fn record(recorder: &mut Recorder, server: &Server, resource: &'static Resource, message: &str, second: i64) {
    let namespace = if resource.namespaced { "shop" } else { "" };
    let about = About { resource, namespace, name: "one", uid: "u", container: None };
    let what = What { reason: "Happened", message, component: "test", host: "", warning: false };
    recorder.record(&Direct(Arc::clone(&server.app.api.store)), about, what, at(second));
}

/// The Events of a namespace: count and message, in the order of their creation.
async fn events(server: &Server, namespace: &str) -> Vec<(u64, String)> {
    let (_, list) = server.get(&format!("/api/v1/namespaces/{namespace}/events")).await;
    let row = |item: &Value| (item["count"].as_u64().unwrap(), item["message"].as_str().unwrap().to_owned());
    list["items"].as_array().unwrap().iter().map(row).collect()
}

#[tokio::test]
async fn a_repeated_event_grows_by_patch() {
    let server = serve_from_memory(quiet()).await;
    let revision = server.app.api.store.revision();
    let mut socket = watch(&server, &format!("/api/v1/events?watch=1&resourceVersion={revision}")).await;
    let mut recorder = Recorder::new(1);
    let mut name = Value::Null;
    for (count, event_type) in [(1, "ADDED"), (2, "MODIFIED"), (3, "MODIFIED")] {
        record(&mut recorder, &server, &NODES, "again", count);
        let frame = socket.event().await;
        let event = &frame["object"];
        assert_eq!((&frame["type"], &event["count"]), (&json!(event_type), &json!(count)));
        assert_eq!(event["firstTimestamp"], json!(at(1).to_string()));
        assert_eq!(event["lastTimestamp"], json!(at(count).to_string()));
        assert_eq!((&event["metadata"]["namespace"], &event["type"]), (&json!("default"), &json!("Normal")));
        if count == 1 {
            name = event["metadata"]["name"].clone();
        }
        assert_eq!(event["metadata"]["name"], name);
    }
    assert_eq!(server.app.api.store.revision(), revision + 3);

    // After it has expired, the next one creates it again with the count so far.
    assert!(!recorder.expire(&Direct(Arc::clone(&server.app.api.store)), at(300).seconds()));
    assert!(recorder.expire(&Direct(Arc::clone(&server.app.api.store)), at(302).seconds()));
    assert_eq!(socket.event().await["type"], "DELETED");
    record(&mut recorder, &server, &NODES, "again", 303);
    let frame = socket.event().await;
    assert_eq!((&frame["type"], &frame["object"]["count"]), (&json!("ADDED"), &json!(4)));
    assert_eq!(frame["object"]["metadata"]["creationTimestamp"], json!(at(303).to_string()));
    assert!(!recorder.expire(&Direct(Arc::clone(&server.app.api.store)), at(600).seconds()), "it has its own lifetime");
}

#[tokio::test]
async fn similar_events_are_combined_and_a_flood_is_left_out() {
    let server = serve_from_memory(quiet()).await;
    let mut recorder = Recorder::new(1);
    for number in 0..30 {
        record(&mut recorder, &server, &DEPLOYMENTS, &format!("message {number}"), number);
    }
    let mut expected: Vec<(u64, String)> = (0..9).map(|number| (1, format!("message {number}"))).collect();
    // The burst is 25: nine separate Events, and sixteen combined ones.
    expected.push((16, "(combined from similar events): message 24".to_owned()));
    assert_eq!(events(&server, "shop").await, expected);
    // Other objects have a burst of their own.
    record(&mut recorder, &server, &NODES, "other", 30);
    assert_eq!(events(&server, "default").await, [(1, "other".to_owned())]);
}

#[tokio::test]
async fn events_of_one_moment_have_names_of_their_own() {
    let server = serve_from_memory(quiet()).await;
    let mut recorder = Recorder::new(1);
    for message in ["one", "two", "three"] {
        record(&mut recorder, &server, &DEPLOYMENTS, message, 0);
    }
    let (_, list) = server.get("/api/v1/namespaces/shop/events").await;
    let start = format!("one.{:x}", at(0).0);
    assert_eq!(names(&list)[0], start);
    assert_eq!(names(&list).len(), 3);
}
