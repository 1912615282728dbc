//! Rules about lists, and about the forms of what is listed and watched.

use serde_json::{Value, json};

use super::*;

/// 4. TestComputeListLimit: a list at `0` comes from the cache, which returns everything without pages.
#[tokio::test]
async fn a_list_at_0_ignores_the_limit() {
    let server = serve(quiet()).await;
    for (query, items, continues) in [
        ("limit=5", 5, true),
        ("limit=5&resourceVersion=0", 12, false),
        ("limit=5&resourceVersion=0&resourceVersionMatch=NotOlderThan", 12, false),
    ] {
        let (_, list) = server.get(&format!("/api/v1/pods?{query}")).await;
        assert_eq!((names(&list).len(), list["metadata"]["continue"].is_string()), (items, continues), "{query}");
    }
}

/// 8. RunTestListInconsistentContinuation: the token in a 410 continues at the newest revision, and the answer says
/// which that is.
#[tokio::test]
async fn an_inconsistent_continue_token_yields_the_newest_revision() {
    let server = serve(quiet()).await;
    let (_, page) = server.get("/api/v1/pods?limit=5").await;
    let token = page["metadata"]["continue"].as_str().unwrap();
    let newest = server.config_map("one", "web").await;
    server.control("compact").await;
    let (status, expired) = server.get(&format!("/api/v1/pods?limit=5&continue={token}")).await;
    assert_eq!((status, &expired["reason"]), (410, &json!("Expired")));
    let token = expired["metadata"]["continue"].as_str().unwrap();
    let (status, rest) = server.get(&format!("/api/v1/pods?continue={token}")).await;
    assert_eq!((status, names(&rest).len(), revision(&rest)), (200, 7, newest));
}

/// 9. RunTestList: the number of remaining items is given only without selectors.
#[tokio::test]
async fn the_remaining_count_is_absent_with_selectors() {
    let server = serve(quiet()).await;
    for (query, remaining) in [
        ("limit=5", json!(7)),
        ("limit=12", Value::Null),
        ("limit=5&labelSelector=app", Value::Null),
        ("limit=5&fieldSelector=metadata.name!%3Dx", Value::Null),
    ] {
        let (_, list) = server.get(&format!("/api/v1/pods?{query}")).await;
        assert_eq!(names(&list).len(), if query == "limit=12" { 12 } else { 5 }, "{query}");
        assert_eq!(list["metadata"]["remainingItemCount"], remaining, "{query}");
    }
}

/// 10. RunTestListResourceVersionMatch: the combinations of version, match and limit.
#[tokio::test]
async fn the_matrix_of_version_match_and_limit() {
    let server = serve(quiet()).await;
    // An etcd still has its first revision; the memory backend begins at a later one.
    server.control("compact").await;
    let then = server.config_map("one", "web").await;
    let now = server.config_map("two", "web").await;
    // The number of items and the revision, or the code of the refusal. One ConfigMap existed before.
    let (newest, exact, page, invalid) = (Ok((3, now)), Ok((2, then)), Ok((1, now)), Err(422));
    for (version, version_match, limit, expected) in [
        ("", "", 0, newest),
        ("", "", 1, page),
        ("0", "", 0, newest),
        ("0", "", 1, newest),
        ("0", "NotOlderThan", 0, newest),
        ("0", "NotOlderThan", 1, newest),
        ("THEN", "", 0, newest),
        ("THEN", "", 5, exact),
        ("THEN", "", 1, Ok((1, then))),
        ("THEN", "NotOlderThan", 0, newest),
        ("THEN", "NotOlderThan", 5, newest),
        ("THEN", "Exact", 0, exact),
        ("THEN", "Exact", 1, Ok((1, then))),
        ("", "NotOlderThan", 0, invalid),
        ("", "Exact", 0, invalid),
        ("0", "Exact", 0, invalid),
        ("THEN", "Nearest", 0, invalid),
        ("1", "Exact", 0, Err(410)),
        ("abc", "NotOlderThan", 0, Err(500)),
    ] {
        let version = version.replace("THEN", &then.to_string());
        let mut query = format!("limit={limit}");
        for (name, value) in [("resourceVersion", &*version), ("resourceVersionMatch", version_match)] {
            if !value.is_empty() {
                query += &format!("&{name}={value}");
            }
        }
        let (status, answer) = server.get(&format!("{CONFIG_MAPS}?{query}")).await;
        let found = if status == 200 { Ok((names(&answer).len(), revision(&answer))) } else { Err(status) };
        assert_eq!(found, expected, "{query}: {answer}");
    }
    // With a continue token, both a version and a match are refused.
    let (_, page) = server.get(&format!("{CONFIG_MAPS}?limit=1")).await;
    let token = page["metadata"]["continue"].as_str().unwrap();
    for (query, code) in [
        (format!("resourceVersion={then}"), 400),
        (format!("resourceVersion={then}&resourceVersionMatch=Exact"), 422),
        ("sendInitialEvents=true".to_owned(), 422),
    ] {
        assert_eq!(server.get(&format!("{CONFIG_MAPS}?continue={token}&{query}")).await.0, code, "{query}");
    }
}

/// 12. Items of a built-in list have no kind, because the kind of the list implies it; single and watched objects have
/// one.
#[tokio::test]
async fn items_of_built_in_lists_are_kindless_and_watched_objects_are_not() {
    let server = serve(quiet()).await;
    server.config_map("one", "web").await;
    let (_, list) = server.get(CONFIG_MAPS).await;
    assert_eq!((&list["kind"], &list["apiVersion"]), (&json!("ConfigMapList"), &json!("v1")));
    for item in list["items"].as_array().unwrap() {
        assert_eq!((item.get("kind"), item.get("apiVersion")), (None, None));
    }
    for transport in BOTH {
        let path = format!("{CONFIG_MAPS}?watch=true&resourceVersion=0&timeoutSeconds=1");
        let events = watch(&server, transport, &path).await.rest().await;
        assert_eq!(summary(&events), ["ADDED kube-root-ca.crt", "ADDED one"], "{transport:?}");
        for event in &events {
            let object = &event["object"];
            assert_eq!((&object["kind"], &object["apiVersion"]), (&json!("ConfigMap"), &json!("v1")), "{transport:?}");
        }
    }
}

/// 13. TestWatchTable: only the first event of a watch has the column definitions.
#[tokio::test]
async fn a_watch_of_tables_names_its_columns_once() {
    let server = serve(quiet()).await;
    server.config_map("one", "web").await;
    // A watch from 0 begins with the state of the cache, which is complete after a consistent list.
    server.get(CONFIG_MAPS).await;
    let accept = ("accept", "application/json;as=Table;v=v1;g=meta.k8s.io,application/json");
    for transport in BOTH {
        let path = format!("{CONFIG_MAPS}?watch=true&resourceVersion=0&timeoutSeconds=1&allowWatchBookmarks=true");
        let headers = [accept, ("origin", "http://localhost")];
        let events = open_with(&server, transport, &path, &headers).await.ok().unwrap().rest().await;
        let columns: Vec<bool> = events.iter().map(|one| one["object"]["columnDefinitions"].is_array()).collect();
        assert_eq!(columns, [true, false, false], "{transport:?}: {events:?}");
        assert!(events.iter().all(|event| event["object"]["kind"] == "Table"), "{transport:?}");
        assert_eq!(
            (&events[1]["object"]["rows"][0]["cells"][0], &events[2]["type"]),
            (&json!("one"), &json!("BOOKMARK"))
        );
    }
}
