//! The recorded rollout, as the page receives it.

use std::collections::HashMap;

use kubechurn_changes::line::{Line, ReceivedChange};
use kubechurn_changes::noise::Marks;
use kubechurn_client::api::object::ObjectKey;
use kubechurn_client::api::uid::Uid;
use kubechurn_client::cache::delta::DeltaType;
use serde_json::Value;
use serde_json::value::RawValue;

/// A change of an object, with the text before and after.
pub struct Step {
    pub seq: u64,
    pub ms: f64,
    pub frame_type: String,
    pub kind: String,
    pub key: ObjectKey,
    pub uid: String,
    /// Whether the object came with the first list.
    pub listed: bool,
    pub old: Option<String>,
    pub new: String,
}

impl Step {
    pub fn delta_type(&self) -> DeltaType {
        match &*self.frame_type {
            "ADDED" if self.listed => DeltaType::Replaced,
            "ADDED" => DeltaType::Added,
            "DELETED" => DeltaType::Deleted,
            _ => DeltaType::Updated,
        }
    }

    pub fn line(&self, marks: &Marks) -> Line {
        let received = ReceivedChange {
            seq: self.seq,
            at: self.ms,
            kind: self.kind.as_str().into(),
            key: self.key.clone(),
            uid: Uid::new(&self.uid),
            delta_type: self.delta_type(),
            old: self.old.as_deref(),
            new: Some(&self.new),
        };
        Line::new(received, marks)
    }
}

/// All changes of the recording, bookmarks left out.
pub fn steps() -> Vec<Step> {
    let mut last: HashMap<String, String> = HashMap::new();
    let mut steps = Vec::new();
    for line in include_str!("../../../../tests/fixtures/rollout.jsonl").lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        let Some(frame) = line["frame"].as_str() else { continue };
        let parts: HashMap<&str, &RawValue> = serde_json::from_str(frame).unwrap();
        let frame_type: String = serde_json::from_str(parts["type"].get()).unwrap();
        if frame_type == "BOOKMARK" {
            continue;
        }
        let new = parts["object"].get().to_owned();
        let object: Value = serde_json::from_str(&new).unwrap();
        let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let metadata = &object["metadata"];
        let uid = word(&metadata["uid"]);
        let ms = line["ms"].as_f64().unwrap();
        steps.push(Step {
            seq: steps.len() as u64,
            ms,
            // The initial events of all watches come within the first 200 ms, and nothing else does.
            listed: frame_type == "ADDED" && ms < 200.0,
            frame_type,
            kind: word(&object["kind"]),
            key: ObjectKey::new(&word(&metadata["namespace"]), &word(&metadata["name"])),
            old: last.insert(uid.clone(), new.clone()),
            uid,
            new,
        });
    }
    assert!(steps.len() > 500);
    steps
}
