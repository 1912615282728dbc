//! A summary of an object: facts, a Pod's containers, conditions, labels, annotations and owners.

use serde_json::Value;

use kubechurn_client::api::cell::Tone;
use kubechurn_client::api::object::Object;
use kubechurn_client::api::owner::OwnerReference;
use kubechurn_client::api::sort::{sort, sort_by_key};
use kubechurn_client::api::time::Timestamp;

use crate::history::secret;
use crate::inspector::containers::{Container, containers};
use crate::inspector::deletion::deletion;
use crate::inspector::diff::{brief, cut};
use crate::inspector::relatives::status;
use kubechurn_columns::kinds::Kind;
use kubechurn_columns::state;

/// The most conditions, labels and annotations that are shown.
const MOST: usize = 200;
/// The length limit of an annotation that is shown, in bytes.
const LONGEST: usize = 2_000;

/// A value of a fact.
#[derive(Clone, Debug, PartialEq)]
pub enum FactValue {
    /// Words, and how alarming they are.
    Words(String, Tone),
    /// A time, shown as the age since then.
    Since(Timestamp),
    /// The same, with words after it.
    SinceWith(Timestamp, String),
}

/// One condition.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// `Ready`.
    pub name: String,
    /// `True`, `False` or `Unknown`.
    pub status: String,
    /// How alarming the status is.
    pub tone: Tone,
    /// The reason, in one word.
    pub reason: String,
    /// The reason, for people.
    pub message: String,
    /// When the status last changed.
    pub since: Option<Timestamp>,
}

/// The summary.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Summary {
    /// The facts, each by its name.
    pub facts: Vec<(&'static str, FactValue)>,
    /// The containers of a Pod, in the order in which they start.
    pub containers: Vec<Container>,
    /// The conditions, in the object's order.
    pub conditions: Vec<Condition>,
    /// `metadata.labels`, by name.
    pub labels: Vec<(String, String)>,
    /// `metadata.annotations`, by name.
    pub annotations: Vec<(String, String)>,
    /// How many of all these are not shown.
    pub more: usize,
}

/// Makes a summary from the whole object, and from the row for facts that only the row's columns compute.
pub fn summary(kind: &Kind, row: Option<&Object>, object: &Value) -> Summary {
    let mut facts = Vec::new();
    let at = |path: &str| path.split('.').try_fold(object, |value, step| value.get(step));
    let words = |path: &str| at(path).filter(|value| !value.is_null()).map(brief);
    let status = row.map(|row| status(kind, row)).filter(|(word, _)| !word.is_empty());
    let has_status = status.is_some();
    facts.extend(status.map(|(word, tone)| ("status", FactValue::Words(word, tone))));
    let mut say = |label: &'static str, words: Option<String>, tone: Tone| {
        facts.extend(words.map(|words| (label, FactValue::Words(words, tone))));
    };
    let phase = words("status.phase").filter(|_| !has_status || kind.resource.plural == "pods");
    say("phase", phase, Tone::Plain);
    let generations =
        (at("metadata.generation").and_then(Value::as_i64), at("status.observedGeneration").and_then(Value::as_i64));
    if let (Some(wanted), Some(seen)) = generations {
        let behind = seen < wanted;
        let seen = if behind { format!("{wanted}, observed {seen}") } else { format!("{wanted}, observed") };
        say("generation", Some(seen), if behind { Tone::Wait } else { Tone::Plain });
    }
    say("node", words("spec.nodeName"), Tone::Plain);
    say("IP", words("status.podIP").or_else(|| words("spec.clusterIP")), Tone::Plain);
    say("QoS", words("status.qosClass"), Tone::Plain);
    say("service account", words("spec.serviceAccountName"), Tone::Plain);
    match deletion(object) {
        Some(deletion) => {
            let held = Some(deletion.held()).filter(|held| !held.is_empty());
            say("held by", held, Tone::Wait);
            facts.push(("deletion asked for", FactValue::SinceWith(deletion.asked, deletion.grace())));
        }
        None => say("finalizers", words("metadata.finalizers"), Tone::Plain),
    }
    let time = |path: &str| at(path).and_then(Value::as_str).and_then(Timestamp::parse_set);
    facts.extend(time("metadata.creationTimestamp").map(|at| ("age", FactValue::Since(at))));
    let mut say = |label: &'static str, words: Option<String>| {
        facts.extend(words.map(|words| (label, FactValue::Words(words, Tone::Plain))));
    };
    say("uid", words("metadata.uid"));
    say("version", at("metadata.resourceVersion").and_then(Value::as_str).map(|version| cut(version, 64)));

    let (containers, more) = if kind.resource.plural == "pods" { containers(object) } else { (Vec::new(), 0) };
    let conditions = at("status.conditions").and_then(Value::as_array).map_or(&[][..], |list| list);
    let labels = pairs(at("metadata.labels"));
    let annotations = pairs(at("metadata.annotations"));
    let counts = [conditions.len(), labels.len(), annotations.len()];
    Summary {
        facts,
        containers,
        conditions: conditions.iter().take(MOST).map(|one| condition(kind.resource.kind, one)).collect(),
        labels: labels.into_iter().take(MOST).collect(),
        annotations: annotations.into_iter().take(MOST).collect(),
        more: more + counts.into_iter().map(|count| count.saturating_sub(MOST)).sum::<usize>(),
    }
}

fn pairs(map: Option<&Value>) -> Vec<(String, String)> {
    let members = map.and_then(Value::as_object).into_iter().flatten();
    let mut pairs: Vec<(String, String)> = members
        .map(|(name, value)| {
            let text = value.as_str().map_or_else(|| brief(value), str::to_owned);
            (cut(name, LONGEST), cut(secret::mask(&text).unwrap_or(&text), LONGEST))
        })
        .collect();
    sort(&mut pairs);
    pairs
}

fn condition(kind: &str, condition: &Value) -> Condition {
    let text = |name: &str| condition.get(name).and_then(Value::as_str).unwrap_or_default();
    let time = |name: &str| Timestamp::parse_set(text(name));
    Condition {
        name: cut(text("type"), LONGEST),
        status: cut(text("status"), LONGEST),
        tone: state::condition(kind, text("type"), text("status")),
        reason: cut(text("reason"), LONGEST),
        message: cut(text("message"), LONGEST),
        since: time("lastTransitionTime").or_else(|| time("lastUpdateTime")),
    }
}

/// The object's owners, the controller first.
pub fn owners(object: &Value) -> Vec<OwnerReference> {
    let list = object.get("metadata").and_then(|metadata| metadata.get("ownerReferences")).and_then(Value::as_array);
    let mut owners: Vec<OwnerReference> = list
        .into_iter()
        .flatten()
        .take(MOST)
        .map(|owner| {
            let text = |name: &str| owner.get(name).and_then(Value::as_str).unwrap_or_default();
            OwnerReference {
                api_version: text("apiVersion").into(),
                kind: text("kind").into(),
                name: text("name").into(),
                uid: text("uid").into(),
                controller: owner.get("controller").and_then(Value::as_bool).unwrap_or(false),
            }
        })
        .collect();
    sort_by_key(&mut owners, |owner| !owner.controller);
    owners
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use kubechurn_columns::kinds::pods;

    #[test]
    fn it_says_what_the_object_says() {
        let object = json!({
            "metadata": {"name": "a", "uid": "u", "generation": 3, "labels": {"b": "2", "a": "1"}, "resourceVersion": "7",
                "creationTimestamp": "2026-11-21T08:13:27Z", "annotations": {"x": "y"},
                "ownerReferences": [{"kind": "A", "name": "a"}, {"kind": "B", "name": "b", "controller": true}]},
            "spec": {"nodeName": "node-1", "containers": [{"name": "web", "image": "web:2"}]},
            "status": {"phase": "Running", "observedGeneration": 2, "conditions": [
                {"type": "Ready", "status": "True", "lastTransitionTime": "2026-11-21T08:13:27Z"},
                {"type": "MemoryPressure", "status": "False"}, {"type": "DiskPressure", "status": "True"}, 7]},
        });
        let summary = summary(&pods::KIND, None, &object);
        let fact = |name: &str| summary.facts.iter().find(|(label, _)| *label == name).map(|(_, value)| value.clone());
        assert_eq!(fact("phase"), Some(FactValue::Words("Running".into(), Tone::Plain)));
        assert_eq!(fact("generation"), Some(FactValue::Words("3, observed 2".into(), Tone::Wait)));
        assert_eq!(fact("node"), Some(FactValue::Words("node-1".into(), Tone::Plain)));
        assert_eq!(fact("version"), Some(FactValue::Words("7".into(), Tone::Plain)));
        assert!(matches!(fact("age"), Some(FactValue::Since(_))));
        let tones: Vec<Tone> = summary.conditions.iter().map(|condition| condition.tone).collect();
        assert_eq!(tones, [Tone::Good, Tone::Plain, Tone::Bad, Tone::Plain]);
        let containers: Vec<(&str, &str)> = summary.containers.iter().map(|one| (&*one.name, &*one.image)).collect();
        assert_eq!(containers, [("web", "web:2")]);
        assert_eq!(summary.labels, [("a".into(), "1".into()), ("b".into(), "2".into())]);
        let owners: Vec<String> = owners(&object).iter().map(|owner| owner.name.to_string()).collect();
        assert_eq!(owners, ["b", "a"]);
    }

    #[test]
    fn conditions_of_one_type_stand_beside_each_other() {
        let ready = |status: &str, reason: &str| json!({"type": "Ready", "status": status, "reason": reason});
        let all = [ready("Unknown", "Pending"), ready("True", "Created"), ready("False", "IsReady")];
        let summary = summary(&pods::KIND, None, &json!({"metadata": {"name": "a"}, "status": {"conditions": all}}));
        let reasons: Vec<(&str, &str)> = summary.conditions.iter().map(|one| (&*one.status, &*one.reason)).collect();
        assert_eq!(reasons, [("Unknown", "Pending"), ("True", "Created"), ("False", "IsReady")]);
    }

    #[test]
    fn what_is_to_go_says_since_when_and_what_holds_it() {
        let object = json!({"metadata": {"name": "a", "deletionTimestamp": "2026-11-25T10:00:30Z",
            "deletionGracePeriodSeconds": 30, "finalizers": ["example.com/a"]}});
        let summary = summary(&pods::KIND, None, &object);
        let fact = |name: &str| summary.facts.iter().find(|(label, _)| *label == name).map(|(_, value)| value.clone());
        let asked = Timestamp::parse("2026-11-25T10:00:00Z").unwrap();
        let words = String::from("with a grace period of 30 seconds");
        assert_eq!(
            fact("deletion asked for"),
            Some(FactValue::SinceWith(asked, words)),
            "a time that has been, not one to come"
        );
        assert_eq!(fact("held by"), Some(FactValue::Words("the finalizer example.com/a".into(), Tone::Wait)));
        assert_eq!(fact("finalizers"), None);
    }

    #[test]
    fn whatever_comes_it_is_bounded() {
        for odd in [json!(null), json!([]), json!({"metadata": 7, "status": {"conditions": "x"}})] {
            assert_eq!(summary(&pods::KIND, None, &odd), Summary::default());
        }
        let labels: serde_json::Map<String, Value> =
            (0..1000).map(|at| (format!("l{at}"), json!("x".repeat(10_000)))).collect();
        let summary = summary(&pods::KIND, None, &json!({"metadata": {"labels": labels}}));
        assert_eq!((summary.labels.len(), summary.more), (MOST, 1000 - MOST));
        assert!(summary.labels.iter().all(|(_, value)| value.len() < 2 * LONGEST));
    }
}
