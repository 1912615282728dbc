//! A recorded rollout goes through reflector, queue and informer. The store must hold in the end what a simple evaluation of
//! the same frames gives, however seldom the queue is drained.

use std::collections::BTreeMap;

use kubechurn_client::api::object::{Object, ResourceVersion};
use kubechurn_client::cache::delta::DeltaType;
use kubechurn_client::cache::reflector::{Input, Options};
use kubechurn_client::cache::store::Change;
use serde_json::Value;

use kubechurn_client::testing::Conversation;

/// One line of the recording.
enum Heard {
    Frame(String),
    Close(u16),
}

type Recording = Vec<(f64, String, Heard)>;

/// namespace/name → (uid, resourceVersion).
type Fold = BTreeMap<String, (String, String)>;

#[test]
fn at_one_drain_per_frame() {
    let coalesced = check(1);
    assert_eq!(coalesced, 0, "nothing waits, so nothing can fold");
}

#[test]
fn at_one_drain_per_ten_frames() {
    assert!(check(10) > 0);
}

#[test]
fn at_one_drain_per_thousand_frames() {
    assert!(check(1000) > check(10));
}

/// Plays the recording, draining after every `frames` frames and at the end; returns how many deltas folded.
fn check(frames: usize) -> u64 {
    let recording = recording();
    let mut talks: BTreeMap<&str, Conversation> = BTreeMap::new();
    for (number, (ms, resource, heard)) in recording.iter().enumerate() {
        let talk = talks.entry(resource).or_insert_with(|| begin(*ms));
        talk.now = *ms;
        match heard {
            Heard::Frame(text) => {
                assert_eq!(talk.input(Input::Frame(text)), "", "{resource} goes on");
            }
            Heard::Close(code) => {
                // The frames that follow, if any, are the next socket's.
                let next = talk.input(Input::Closed(*code));
                assert!(next.starts_with("watch "), "{resource} resumes: {next}");
                talk.input(Input::Opened);
            }
        }
        assert!(talk.informer.is_balanced(), "frame {number}: {:?}", talk.informer.ledger());
        if (number + 1) % frames == 0 {
            talks.values_mut().for_each(drain);
        }
    }
    talks.values_mut().for_each(drain);

    for (resource, talk) in &talks {
        let own = recording.iter().filter(|(_, of, _)| of == resource);
        let frames: Vec<&str> = own
            .filter_map(|(_, _, heard)| match heard {
                Heard::Frame(text) => Some(text.as_str()),
                Heard::Close(_) => None,
            })
            .collect();
        check_store(resource, talk, &frames);
        check_marks(resource, talk, &frames);
        check_steps(resource, &talk.log.changes);
        assert!(talk.informer.has_synced(), "{resource}");
        assert_eq!(talk.informer.ledger().frames, frames.len() as u64, "{resource}");
    }
    assert_eq!(talks.len(), 12, "every resource of the recording was played");
    talks.values().map(|talk| talk.informer.ledger().coalesced).sum()
}

fn begin(ms: f64) -> Conversation {
    let mut talk = Conversation::new(Options::default());
    talk.now = ms;
    assert_eq!(talk.input(Input::Start), "stream unset");
    talk.input(Input::Opened);
    talk
}

fn drain(talk: &mut Conversation) {
    talk.drain(usize::MAX);
    assert!(talk.informer.is_balanced());
}

fn check_store(resource: &str, talk: &Conversation, frames: &[&str]) {
    let store: Fold = talk.informer.store().iter().map(|object| (key(object), version(object))).collect();
    assert_eq!(store, fold(frames), "{resource}");
}

/// The simple evaluation, which uses nothing of the reflector.
fn fold(frames: &[&str]) -> Fold {
    let mut fold = Fold::new();
    for (word, key, version) in frames.iter().filter_map(|text| parse(text)) {
        match &*word {
            "DELETED" => drop(fold.remove(&key)),
            _ => drop(fold.insert(key, version)),
        }
    }
    fold
}

/// Each frame that is an event has its mark, in order of arrival.
fn check_marks(resource: &str, talk: &Conversation, frames: &[&str]) {
    let marks: Vec<_> = talk
        .log
        .marks
        .iter()
        .map(|(delta_type, object)| {
            let word = match delta_type {
                DeltaType::Added | DeltaType::Replaced => "ADDED",
                DeltaType::Updated | DeltaType::Sync => "MODIFIED",
                DeltaType::Deleted => "DELETED",
            };
            (String::from(word), key(object), version(object))
        })
        .collect();
    let events: Vec<_> = frames.iter().filter_map(|text| parse(text)).collect();
    assert_eq!(marks, events, "{resource}");
}

/// No row goes back: the versions of one uid never fall, and nothing follows its deletion.
fn check_steps(resource: &str, changes: &[Change]) {
    let mut last: BTreeMap<String, (ResourceVersion, bool)> = BTreeMap::new();
    for change in changes {
        let (object, gone) = match change {
            Change::Added { new, .. } | Change::Updated { new, .. } | Change::Synced { new, .. } => (new, false),
            Change::Deleted { last, .. } => (last, true),
        };
        let before = last.insert(object.uid.to_string(), (object.resource_version.clone(), gone));
        if let Some((version, was_gone)) = before {
            assert!(!was_gone, "{resource}: {change:?} after its deletion");
            assert!(!object.resource_version.is_older_than(&version), "{resource}: {change:?} after {version}");
        }
    }
}

/// Type, key and version of a frame that is an event.
fn parse(text: &str) -> Option<(String, String, (String, String))> {
    let frame: Value = serde_json::from_str(text).unwrap();
    let word = frame["type"].as_str().unwrap();
    let metadata = &frame["object"]["metadata"];
    let field = |name: &str| metadata[name].as_str().unwrap_or_default().to_owned();
    let key = format!("{}/{}", field("namespace"), field("name"));
    matches!(word, "ADDED" | "MODIFIED" | "DELETED")
        .then(|| (word.to_owned(), key, (field("uid"), field("resourceVersion"))))
}

fn key(object: &Object) -> String {
    format!("{}/{}", object.key.namespace, object.key.name)
}

fn version(object: &Object) -> (String, String) {
    (object.uid.to_string(), object.resource_version.to_string())
}

fn recording() -> Recording {
    include_str!("../../../../tests/fixtures/rollout.jsonl")
        .lines()
        .map(|line| {
            let line: Value = serde_json::from_str(line).unwrap();
            let heard = match line["frame"].as_str() {
                Some(frame) => Heard::Frame(frame.to_owned()),
                None => Heard::Close(line["close"].as_u64().unwrap() as u16),
            };
            (line["ms"].as_f64().unwrap(), line["resource"].as_str().unwrap().to_owned(), heard)
        })
        .collect()
}
