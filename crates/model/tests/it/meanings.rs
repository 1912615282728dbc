//! A state has the same word and means the same in the table, in the feed, in the bands of the timeline and in the
//! inspector.

use std::collections::BTreeSet;

use kubechurn_changes::line::{Line, ReceivedChange};
use kubechurn_changes::noise::Marks;
use kubechurn_client::api::cell::Tone;
use kubechurn_client::api::time::Timestamp;
use kubechurn_client::cache::delta::DeltaType;
use kubechurn_columns::column::StatePart;
use kubechurn_columns::kinds::{self, KINDS, Kind};
use kubechurn_columns::state::{tone_of, tone_of_cell, write_state};
use kubechurn_model::inspector::summary::{FactValue, summary};
use serde_json::{Value, json};

/// Each state that was looked at: kind, word, meaning.
type Seen = BTreeSet<(String, String, String)>;

#[track_caller]
fn agree(kind: &Kind, value: &Value, seen: &mut Seen) {
    let (name, text) = (kind.resource.kind, value.to_string());
    let object = (kind.decode.0)(&text).unwrap();
    let summary = summary(kind, Some(&object), value);

    let mut band = String::new();
    let tone = write_state(kind.columns, &object.cells, &mut band);
    if let Some(at) = kind.columns.iter().position(|column| column.state == StatePart::Word) {
        let mut cell = String::new();
        object.cells.get(at).unwrap().write(Timestamp(0), &mut cell);
        assert_eq!((&cell, tone_of_cell(kind.columns, &object.cells, at)), (&band, tone), "table and band: {text}");
    }
    if let Some(at) = kind.columns.iter().position(|column| column.state == StatePart::Part) {
        assert_eq!(tone_of_cell(kind.columns, &object.cells, at), tone, "table and band: {text}");
    }
    if !band.is_empty() {
        let fact = summary.facts.iter().find(|(label, _)| *label == "status").map(|(_, fact)| fact.clone());
        assert_eq!(fact, Some(FactValue::Words(band.clone(), tone)), "inspector and band: {text}");
        assert_eq!(tone_of(name, "STATUS", &band), tone, "feed and band: {text}");
        seen.insert((name.to_owned(), band.clone(), format!("{tone:?}")));
    }
    if name == "Pod" {
        let received = ReceivedChange {
            seq: 1,
            at: 0.0,
            kind: name.into(),
            key: object.key.clone(),
            uid: object.uid.clone(),
            delta_type: DeltaType::Added,
            old: None,
            new: Some(&text),
        };
        let line = Line::new(received, &Marks::default());
        let word = line.fields.iter().find(|field| field.path == "STATUS").and_then(|field| field.new.as_ref());
        assert_eq!(word.map_or("", |word| word.kept()), band, "feed and band: {text}");
        assert_eq!(line.trouble().is_some(), tone == Tone::Bad, "{text}");
    }
    if name == "Event" {
        let warning = tone_of(name, "type", value["type"].as_str().unwrap_or_default());
        assert_eq!(warning, tone, "feed and marks: {text}");
    }
    for condition in &summary.conditions {
        let path = format!("status.conditions[{}].status", condition.name);
        assert_eq!(tone_of(name, &path, &condition.status), condition.tone, "feed and inspector: {name} {path}");
        let meaning = format!("{:?}", condition.tone);
        seen.insert((name.to_owned(), format!("{}={}", condition.name, condition.status), meaning));
    }
}

#[test]
fn every_recorded_state_means_the_same_in_table_feed_bands_and_inspector() {
    let (mut seen, mut count) = (Seen::new(), 0);
    for kind in KINDS {
        let group = if kind.resource.group.is_empty() { String::new() } else { format!(".{}", kind.resource.group) };
        let path = format!("../../tests/fixtures/lists/{}{group}.json", kind.resource.plural);
        let Ok(list) = std::fs::read_to_string(&path) else { continue };
        let list: Value = serde_json::from_str(&list).unwrap();
        for object in list["items"].as_array().unwrap() {
            agree(kind, object, &mut seen);
            count += 1;
        }
    }
    for recorded in include_str!("../../../../tests/fixtures/rollout.jsonl").lines() {
        let recorded: Value = serde_json::from_str(recorded).unwrap();
        let Some(kind) = kinds::kind(recorded["resource"].as_str().unwrap()) else { continue };
        let frame: Value = serde_json::from_str(recorded["frame"].as_str().unwrap_or("null")).unwrap();
        if ["ADDED", "MODIFIED", "DELETED"].contains(&frame["type"].as_str().unwrap_or_default()) {
            agree(kind, &frame["object"], &mut seen);
            count += 1;
        }
    }
    assert!(count > 400, "{count}");
    let of = |kind: &str| seen.iter().filter(|(of, ..)| of == kind).count();
    assert!(of("Pod") > 12 && of("Deployment") > 4 && of("Job") > 3 && of("Node") > 1, "{seen:#?}");
    // What the recordings hold, and what each of it means.
    for (kind, word, meaning) in [
        ("Pod", "CrashLoopBackOff", "Bad"),
        ("Pod", "ImagePullBackOff", "Bad"),
        ("Pod", "Running", "Good"),
        ("Pod", "ContainerCreating", "Wait"),
        ("Pod", "Ready=False", "Wait"),
        ("Pod", "PodScheduled=True", "Good"),
        ("Node", "Ready=True", "Good"),
        ("Node", "Ready", "Good"),
        ("Deployment", "Available=False", "Wait"),
        ("Deployment", "Progressing=True", "Good"),
        ("Job", "Failed", "Bad"),
        ("Job", "Failed=True", "Bad"),
        ("Job", "FailureTarget=True", "Bad"),
        ("APIService", "Available=True", "Good"),
        ("FlowSchema", "Dangling=False", "Plain"),
        ("PersistentVolumeClaim", "Bound", "Good"),
        ("Namespace", "NamespaceContentRemaining=False", "Plain"),
    ] {
        let is_seen = seen.contains(&(kind.to_owned(), word.to_owned(), meaning.to_owned()));
        assert!(is_seen, "{kind} {word} is not {meaning} in {:#?}", seen.iter().filter(|(of, ..)| of == kind));
    }
}

#[test]
fn states_that_no_recording_holds_mean_the_same_everywhere_too() {
    let mut seen = Seen::new();
    let mut check = |kind: &str, rest: Value, expected: &[(&str, &str)]| {
        let mut object = json!({"metadata": {"name": "a", "uid": "u", "resourceVersion": "1"}});
        object.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
        agree(kinds::kind(kind).unwrap(), &object, &mut seen);
        for (word, meaning) in expected {
            assert!(seen.iter().any(|(_, seen, is)| seen == word && is == meaning), "{kind} {word}: {seen:#?}");
        }
    };
    let conditions = |list: &[(&str, &str)]| -> Vec<Value> {
        list.iter().map(|(name, status)| json!({"type": name, "status": status})).collect()
    };
    let lost = conditions(&[("MemoryPressure", "Unknown"), ("DiskPressure", "True"), ("Ready", "Unknown")]);
    let expected = [
        ("NotReady", "Bad"),
        ("Ready=Unknown", "Bad"),
        ("DiskPressure=True", "Bad"),
        ("MemoryPressure=Unknown", "Wait"),
    ];
    check("nodes", json!({"status": {"conditions": lost}}), &expected);
    let held = conditions(&[("NamespaceContentRemaining", "True"), ("NamespaceDeletionDiscoveryFailure", "True")]);
    let expected = [
        ("Terminating", "Wait"),
        ("NamespaceContentRemaining=True", "Bad"),
        ("NamespaceDeletionDiscoveryFailure=True", "Bad"),
    ];
    check("namespaces", json!({"status": {"phase": "Terminating", "conditions": held}}), &expected);
    let late = conditions(&[("Progressing", "False"), ("ReplicaFailure", "True")]);
    let expected = [("2/3", "Wait"), ("Progressing=False", "Bad"), ("ReplicaFailure=True", "Bad")];
    let status = json!({"spec": {"replicas": 3}, "status": {"readyReplicas": 2, "conditions": late}});
    check("deployments", status, &expected);
    let suspended = json!({"status": {"conditions": conditions(&[("Suspended", "True")])}});
    check("jobs", suspended, &[("Suspended", "Wait"), ("Suspended=True", "Wait")]);
    check("persistentvolumeclaims", json!({"status": {"phase": "Lost"}}), &[("Lost", "Bad")]);
    check("persistentvolumes", json!({"status": {"phase": "Released"}}), &[]);
    let waiting = |reason: &str| json!({"status": {"phase": "Running", "containerStatuses": [{"state": {"waiting": {"reason": reason}}}]}});
    for reason in
        ["CreateContainerConfigError", "RunContainerError", "InvalidImageName", "SomethingThatANewKubeletSays"]
    {
        check("pods", waiting(reason), &[(reason, "Bad")]);
    }
}
