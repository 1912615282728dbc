//! The feed, the inspector and the lanes by manager name the same writers of every change of the recorded rollout. The
//! time range counts the lines of the feed.

use std::sync::Arc;

use kubechurn_changes::line::{self, Line};
use kubechurn_changes::noise::Marks;
use kubechurn_changes::writer::{InferredWriter, Writers};
use kubechurn_client::api::cell::Tone;
use kubechurn_client::api::object::decode_metadata;
use kubechurn_client::api::resource::ApiResource;
use kubechurn_client::cache::delta::DeltaType;
use kubechurn_client::cache::shared_informer::ReceivedDelta;
use kubechurn_columns::kinds;
use kubechurn_model::history::History;
use kubechurn_model::inspector::last_write::{Outcome, Question, Search};
use kubechurn_model::inspector::versions::show;
use kubechurn_model::timeline::mark::MarkType;
use kubechurn_model::timeline::marks::MarkInfo;
use serde_json::Value;

const WIDGETS: ApiResource = ApiResource {
    group: "example.org",
    version: "v1",
    plural: "widgets",
    kind: "Widget",
    namespaced: true,
    cluster: "",
};

fn names(writers: &Writers) -> Vec<String> {
    writers.iter().map(|writer| InferredWriter::name(writer).to_string()).collect()
}

#[test]
fn feed_inspector_and_lanes_name_the_same_writers_of_every_change() {
    let mut history = History::new(64_000_000, 0);
    let (mut named, mut last_writes) = (0, 0);
    for recorded in include_str!("../../../../tests/fixtures/rollout.jsonl").lines() {
        let recorded: Value = serde_json::from_str(recorded).unwrap();
        let Some(frame) = recorded["frame"].as_str() else { continue };
        let frame: Value = serde_json::from_str(frame).unwrap();
        let (delta_type, mark_type) = match frame["type"].as_str().unwrap() {
            "ADDED" => (DeltaType::Added, MarkType::Added),
            "MODIFIED" => (DeltaType::Updated, MarkType::Updated),
            "DELETED" => (DeltaType::Deleted, MarkType::Deleted),
            _ => continue,
        };
        let (at, text) = (recorded["ms"].as_f64().unwrap(), frame["object"].to_string());
        let resource = kinds::kind(recorded["resource"].as_str().unwrap()).map_or(WIDGETS, |kind| kind.resource);
        let object = Arc::new(decode_metadata(&text).unwrap());
        let received = ReceivedDelta { now: at, delta_type, object: &object, text: Some(&text) };
        let Some(sequence) = history.push(resource, received) else { continue };

        let told = history.told(sequence).unwrap();
        let received = line::Received {
            seq: sequence,
            at,
            kind: resource.kind.into(),
            key: told.key,
            uid: told.uid,
            delta_type,
            old: told.old.as_deref(),
            new: told.new.as_deref(),
        };
        let feed = names(&Line::new(received, &Marks::default()).writers);
        named += usize::from(!feed.is_empty());

        let kept = history.of(&resource, &object.key);
        let newest = history.version(kept.last().unwrap());
        let before = kept.iter().rev().nth(1).map(|entry| history.version(entry));
        assert_eq!(show(&newest, before.as_ref()).writers, feed, "inspector: {text}");

        let mark = MarkInfo {
            sequence,
            at,
            from: at,
            mark_type,
            key: Some(&object.key),
            uid: &object.uid,
            resource_version: object.resource_version.clone(),
            folded: 1,
            tone: Tone::Plain,
            word: "",
            note: "",
            resync: None,
        };
        let lane = history.writer(resource, &mark);
        let manager = |name: &String| name.split(" (").next().unwrap_or_default().to_owned();
        assert_eq!(lane, feed.first().map(manager), "lane: {text}");

        let version = &object.resource_version;
        let question = Question { pointer: "", text: &text, uid: &object.uid, version, has_dropped: false };
        let outcome = Search::new(question, &kept).unwrap().step(1, |entry| history.version(entry).text);
        if let Outcome::Written(written) = outcome {
            assert_eq!(names(&written.writers), feed, "last write: {text}");
            last_writes += 1;
        }
    }
    assert!(named > 300 && last_writes > 300, "{named} {last_writes}");
}
