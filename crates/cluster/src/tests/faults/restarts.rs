//! Restarts at lower revisions. They are tested in memory, because an etcd would have to be restored from a backup.

use super::*;

#[tokio::test]
async fn objects_stay_and_revisions_fall() {
    for transport in BOTH {
        let server = serve_from_memory(quiet()).await;
        server.config_map("one", "web").await;
        let old = server.config_map("two", "web").await;
        let (_, before) = server.get(CONFIG_MAPS).await;
        let mut watch = Watch::open(&server, transport, &server.path_from_now().await).await;

        let begun = server.control("restart?revision=100").await["revision"].as_u64().unwrap();
        assert!((101..old).contains(&begun), "{begun} after {old}");
        assert_eq!(watch.brief().await, "gone");
        let (_, after) = server.get(CONFIG_MAPS).await;
        assert_eq!((names(&after), revision(&after)), (names(&before), begun));
        for (one, other) in before["items"].as_array().unwrap().iter().zip(after["items"].as_array().unwrap()) {
            assert_eq!((&one["metadata"]["uid"], &one["data"]), (&other["metadata"]["uid"], &other["data"]));
            assert!((101..=begun).contains(&revision(other)));
        }

        // The server works as before, from the lower revisions on.
        let mut watch = Watch::open(&server, transport, &server.path_from_now().await).await;
        assert_eq!(server.config_map("three", "web").await, begun + 1);
        assert_eq!(watch.brief().await, "ADDED three");
        let (_, log) = server.get("/_control/log?resource=configmaps").await;
        let last = log.as_array().unwrap().last().unwrap();
        assert_eq!((&last["key"], &last["revision"]), (&"default/three".into(), &(begun + 1).into()));
        let (_, faults) = server.get("/_control/faults").await;
        assert_eq!((&faults["orders"]["restart"], &faults["orders"]["cut"]), (&1.into(), &1.into()));
    }
}

#[tokio::test]
async fn revisions_from_before_are_of_no_use() {
    let server = serve_from_memory(quiet()).await;
    let old = server.config_map("one", "web").await;
    let (_, page) = server.get("/api/v1/pods?limit=5").await;
    let token = page["metadata"]["continue"].as_str().unwrap().to_owned();
    let begun = server.control("restart?revision=100").await["revision"].as_u64().unwrap();
    for (path, code, reason) in [
        (format!("/api/v1/pods?limit=5&continue={token}"), 504, "Timeout"),
        ("/api/v1/pods?limit=5&resourceVersion=99&resourceVersionMatch=Exact".to_owned(), 410, "Expired"),
    ] {
        let (status, answer) = server.get(&path).await;
        assert_eq!((status, &answer["reason"]), (code, &reason.into()), "{path}");
    }
    for transport in BOTH {
        let mut early = Watch::open(&server, transport, &format!("{CONFIG_MAPS}?watch=1&resourceVersion=99")).await;
        let Frame::Text(text) = early.frame().await else { panic!("an ERROR") };
        assert!(text.contains("\"code\":410"), "{text}");
        // An earlier revision is now in the future: no event comes until the deadline.
        let path = format!("{CONFIG_MAPS}?watch=1&resourceVersion={old}&timeoutSeconds=1");
        let mut silent = Watch::open(&server, transport, &path).await;
        server.config_map(transport, "web").await;
        assert_eq!(silent.brief().await, "closed");
    }
    assert!(begun + 2 < old, "the test wrote too much to prove anything");
}

#[tokio::test]
async fn only_to_a_revision() {
    let server = serve_from_memory(quiet()).await;
    let before = server.app.api.store.revision();
    for query in ["", "?revision=0", "?revision=x", "?revision=18446744073709551615"] {
        assert_eq!(server.post(&format!("/_control/restart{query}"), &Value::Null).await.0, 400, "{query}");
    }
    assert_eq!(server.app.api.store.revision(), before);
}
