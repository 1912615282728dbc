//! The ledger of the server, compared with what a client saw.

use super::*;
use crate::args::Args;
use crate::ledger::record::hash;

#[tokio::test]
async fn every_frame_is_written_down_as_it_was_sent() {
    let server = serve(quiet()).await;
    server.fault("frame=not-json,after=2,times=2").await;
    for (index, transport) in BOTH.into_iter().enumerate() {
        let path = server.path_from_now().await;
        let mut watch = Watch::open(&server, transport, &path).await;
        let mut uids = Vec::new();
        for name in ["one", "two", "three"] {
            server.config_map(&format!("{name}-{transport}"), "web").await;
            let (_, object) = server.get(&format!("{CONFIG_MAPS}/{name}-{transport}")).await;
            uids.push(object["metadata"]["uid"].clone());
        }
        let connection = index + 1;
        for number in 1..=3 {
            let Frame::Text(text) = watch.frame().await else { panic!("a frame") };
            let (_, frames) = server.get(&format!("/_control/frames?connection={connection}")).await;
            let frame = &frames[number - 1];
            let field = |field: &str| frame[field].as_str().unwrap_or_default().to_owned();
            assert_eq!(
                (field("transport"), field("resource"), field("path")),
                (transport.into(), "configmaps".into(), path.clone())
            );
            assert_eq!((&frame["frame"], field("type")), (&number.into(), "ADDED".into()));
            assert_eq!((&frame["uid"], &frame["bytes"]), (&uids[number - 1], &text.len().into()));
            assert_eq!(field("hash"), format!("{:016x}", hash(text.as_bytes()).0));
            assert_eq!(field("fault"), if number == 3 { "not-json" } else { "" });
            if number < 3 {
                let event: Value = serde_json::from_str(&text).unwrap();
                assert_eq!(field("resourceVersion"), event["object"]["metadata"]["resourceVersion"]);
                assert_eq!(field("key"), format!("default/{}", event["object"]["metadata"]["name"].as_str().unwrap()));
            }
        }
    }
    let (_, frames) = server.get("/_control/frames?resource=configmaps").await;
    assert_eq!(frames.as_array().unwrap().len(), 6);
    assert_eq!(server.get("/_control/frames?resource=nosuch").await.0, 400);
    assert_eq!(server.get("/_control/frames?connection=x").await.0, 400);
}

#[tokio::test]
async fn a_connection_s_end_has_a_reason() {
    let server = serve(quiet()).await;
    for (order, reason) in [
        ("cut", "cut"),
        ("fault?end=close&times=1", "fault-close"),
        ("fault?end=drop&times=1", "fault-drop"),
        ("", "end"),
        ("leave", "client"),
    ] {
        for transport in BOTH {
            server.control("clear").await;
            let seconds = if reason == "end" { 1 } else { 600 };
            let path = format!("{}&timeoutSeconds={seconds}", server.path_from_now().await);
            let mut watch = Watch::open(&server, transport, &path).await;
            match order {
                "leave" => drop(watch),
                "" => assert_eq!(watch.brief().await, "closed"),
                order => {
                    server.control(order).await;
                    assert_eq!(watch.brief().await, if reason == "fault-close" { "closed" } else { "gone" });
                }
            }
            let ended = within(async {
                loop {
                    let (_, connections) = server.get("/_control/connections?resource=configmaps").await;
                    let last = connections.as_array().unwrap().last().unwrap().clone();
                    if !last["reason"].is_null() {
                        return last;
                    }
                }
            })
            .await;
            assert_eq!((&ended["transport"], &ended["reason"]), (&transport.into(), &reason.into()), "{order}");
            assert_eq!(ended["path"], path);
        }
    }
}

#[tokio::test]
async fn the_file_has_it_all() {
    let path = std::env::temp_dir().join(format!("cluster-ledger-{}.jsonl", std::process::id()));
    // In memory, where the first revision is known, and each one after it is a write.
    let server = serve_from_memory(Args { ledger: Some(path.clone()), ..quiet() }).await;
    let mut watch = Watch::open(&server, "websocket", &server.path_from_now().await).await;
    let created = server.config_map("one", "web").await;
    let Frame::Text(text) = watch.frame().await else { panic!("a frame") };
    server.delete(&format!("{CONFIG_MAPS}/one")).await;
    assert_eq!(watch.brief().await, "DELETED one");
    drop(watch);
    let records = within(async {
        loop {
            let text = std::fs::read_to_string(&path).unwrap();
            // The last line may be incomplete.
            let lines = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
            let records: Vec<Value> = lines.map(|line| serde_json::from_str(line).unwrap()).collect();
            if records.iter().any(|record| record["record"] == "close") {
                return records;
            }
            tokio::task::yield_now().await;
        }
    })
    .await;
    std::fs::remove_file(&path).unwrap();
    let of = |kind: &'static str| records.iter().filter(move |record| record["record"] == kind);
    let newest = records.iter().filter_map(|record| record["revision"].as_u64()).max().unwrap();
    let (_, log) = server.get("/_control/log").await;
    let log = log.as_array().unwrap();
    assert_eq!(of("write").count(), log.len(), "each write once");
    assert_eq!((newest, log.len()), (created + 1, (created - 1000 + 1) as usize));
    for (verb, revision) in [("create", created), ("delete", created + 1)] {
        let write = of("write").find(|write| write["revision"] == revision).unwrap();
        assert_eq!(
            (&write["verb"], &write["resource"], &write["key"]),
            (&verb.into(), &"configmaps".into(), &"default/one".into())
        );
        assert_eq!(write["hash"].as_str().unwrap().len(), 16);
    }
    let frames: Vec<_> = of("frame").map(|frame| (frame["frame"].as_u64().unwrap(), frame["type"].clone())).collect();
    assert_eq!(frames, [(1, "ADDED".into()), (2, "DELETED".into())]);
    assert_eq!(of("frame").next().unwrap()["hash"], format!("{:016x}", hash(text.as_bytes()).0));
    assert_eq!((of("open").count(), of("close").count()), (1, 1));
    let close = of("close").next().unwrap();
    assert_eq!((&close["reason"], &close["frames"]), (&"client".into(), &2.into()));
    let list = of("list").find(|list| list["resource"] == "configmaps").unwrap();
    assert_eq!((&list["items"], &list["namespace"]), (&1.into(), &"default".into()));
}
