//! The feed's word for a Pod's state is the table's.

use kubechurn_changes::line::{Line, ReceivedChange};
use kubechurn_changes::noise::Marks;
use kubechurn_client::api::object::ObjectKey;
use kubechurn_client::api::time::Timestamp;
use kubechurn_client::api::uid::Uid;
use kubechurn_client::cache::delta::DeltaType;
use kubechurn_columns::kinds::pods;
use serde_json::Value;

use crate::recording::steps;

/// What the table shows of a Pod as STATUS.
fn table_word(text: &str) -> String {
    let at = pods::KIND.columns.iter().position(|column| column.title == "STATUS").unwrap();
    let mut word = String::new();
    let object = pods::decode(text).unwrap();
    object.cells.get(at).unwrap().write(Timestamp::parse("2026-01-01T00:00:00Z").unwrap(), &mut word);
    word
}

/// A change of a Pod from one text to another; without an old one, it is new.
fn line(old: Option<&str>, new: &str) -> Line {
    let delta_type = if old.is_some() { DeltaType::Updated } else { DeltaType::Added };
    let (key, uid) = (ObjectKey::new("default", "p"), Uid::new("u"));
    let received = ReceivedChange { seq: 1, at: 0.0, kind: "Pod".into(), key, uid, delta_type, old, new: Some(new) };
    Line::new(received, &Marks::default())
}

/// What the feed shows of a new Pod; nothing is shown of a Pod without a word.
fn feed_word(text: &str) -> String {
    let status = line(None, text).fields.into_iter().find(|field| field.path == "STATUS");
    status.map_or_else(String::new, |field| field.new.unwrap().kept().to_owned())
}

/// A Pod with two init containers, of which the first is a sidecar, and with this status.
fn pod(is_deleting: bool, status: &str) -> String {
    let deletion = if is_deleting { r#","deletionTimestamp":"2026-01-01T00:00:30Z""# } else { "" };
    format!(
        r#"{{"metadata":{{"name":"p"{deletion}}},"spec":{{"initContainers":[{{"name":"s","restartPolicy":"Always"}},
            {{"name":"i"}}],"containers":[{{"name":"c"}},{{"name":"d"}}]}},"status":{status}}}"#
    )
}

#[test]
fn every_recorded_pod_has_the_table_s_word_in_the_feed() {
    let list: Value = serde_json::from_str(include_str!("../../../../tests/fixtures/lists/pods.json")).unwrap();
    let listed = list["items"].as_array().unwrap().iter().map(Value::to_string);
    let received = steps().into_iter().filter(|step| step.kind == "Pod").map(|step| step.new);
    let texts: Vec<String> = listed.chain(received).collect();
    assert!(texts.len() > 50, "{}", texts.len());
    for text in texts {
        assert_eq!(feed_word(&text), table_word(&text), "{text}");
    }
}

#[test]
fn every_state_of_a_pod_has_the_table_s_word_in_the_feed() {
    let init = |state: &str| {
        format!(
            r#"{{"phase":"Pending","initContainerStatuses":[{{"name":"s","started":true,"state":{{"running":{{}}}}}},
                {{"name":"i","state":{state}}}],"containerStatuses":[{{"state":{{"waiting":{{"reason":"PodInitializing"}}}}}}]}}"#
        )
    };
    let ended = |state: &str| {
        format!(
            r#"{{"phase":"Running","containerStatuses":[{{"name":"c","state":{{"terminated":{state}}}}},
                {{"name":"d","ready":true,"state":{{"running":{{}}}}}}]}}"#
        )
    };
    let gated = r#"{"phase":"Pending","conditions":[{"type":"PodScheduled","reason":"SchedulingGated"}]}"#;
    let lost = r#"{"phase":"Running","reason":"NodeLost"}"#;
    for (is_deleting, status, expected) in [
        (false, "{}".into(), ""),
        (true, "{}".into(), "Terminating"),
        (false, r#"{"phase":"Pending"}"#.into(), "Pending"),
        (false, init(r#"{"running":{}}"#), "Init:1/2"),
        (false, init(r#"{"waiting":{"reason":"PodInitializing"}}"#), "Init:1/2"),
        (false, init(r#"{"waiting":{"reason":"CrashLoopBackOff"}}"#), "Init:CrashLoopBackOff"),
        (false, init(r#"{"terminated":{"exitCode":2}}"#), "Init:ExitCode:2"),
        (false, init(r#"{"terminated":{"exitCode":9,"signal":9}}"#), "Init:Signal:9"),
        (true, init(r#"{"waiting":{"reason":"CrashLoopBackOff"}}"#), "Terminating"),
        (false, ended(r#"{"exitCode":1}"#), "ExitCode:1"),
        (false, ended(r#"{"exitCode":137,"signal":9}"#), "Signal:9"),
        (false, ended(r#"{"exitCode":137,"reason":"OOMKilled"}"#), "OOMKilled"),
        (false, ended(r#"{"exitCode":0,"reason":"Completed"}"#), "NotReady"),
        (false, gated.into(), "SchedulingGated"),
        (true, gated.into(), "Terminating"),
        (false, lost.into(), "NodeLost"),
        (true, lost.into(), "Unknown"),
        (true, r#"{"phase":"Succeeded"}"#.into(), "Succeeded"),
        (false, r#"{"phase":"Failed","reason":"Evicted"}"#.into(), "Evicted"),
    ] {
        let text = pod(is_deleting, &status);
        assert_eq!((&*feed_word(&text), &*table_word(&text)), (expected, expected), "{text}");
    }
}

#[test]
fn a_state_is_trouble_where_the_table_s_colour_says_so() {
    let waiting = |reason: &str| {
        format!(
            r#"{{"phase":"Pending","initContainerStatuses":[{{"name":"s","state":{{"waiting":{{"reason":"{reason}"}}}}}}]}}"#
        )
    };
    let (before, after) = (pod(false, &waiting("PodInitializing")), pod(false, &waiting("CrashLoopBackOff")));
    assert_eq!(line(Some(&before), &after).trouble(), Some("Init:CrashLoopBackOff"));
    assert_eq!(line(Some(&before), &after).to_string(), "status Init:0/2 → Init:CrashLoopBackOff + 1 more field");
    assert_eq!(line(Some(&after), &before).trouble(), None);
    // A Pod whose status cannot be read has no word, as it has no cell.
    assert_eq!(feed_word(&pod(false, r#"{"phase":7}"#)), "");
}
