//! The annotations that a Deployment writes on its ReplicaSets (`pkg/controller/deployment/util`): the revision, how
//! many replicas were desired at the last scaling, and a copy of its own annotations.

use serde_json::{Map, Value, json};

use super::super::object;
use super::replicas;

/// The revision of a template; `kubectl rollout history` shows it.
pub const REVISION: &str = "deployment.kubernetes.io/revision";
/// Earlier revisions of the same template, separated by commas.
const REVISION_HISTORY: &str = "deployment.kubernetes.io/revision-history";
/// The number of replicas that the Deployment desired.
pub const DESIRED_REPLICAS: &str = "deployment.kubernetes.io/desired-replicas";
/// The largest number of Pods that the Deployment allowed.
pub const MAX_REPLICAS: &str = "deployment.kubernetes.io/max-replicas";
/// The length of the history in characters is limited to this (`maxRevHistoryLengthInChars`).
const MAX_REVISION_HISTORY_LENGTH: usize = 2000;

/// The annotations that are not copied.
const OWN: [&str; 6] = [
    "kubectl.kubernetes.io/last-applied-configuration",
    REVISION,
    REVISION_HISTORY,
    DESIRED_REPLICAS,
    MAX_REPLICAS,
    "deprecated.deployment.rollback.to",
];

/// The revision of a ReplicaSet or Deployment; 0 if it has none.
pub fn revision(object: &Value) -> u64 {
    object::annotation(object, REVISION).and_then(|text| text.parse().ok()).unwrap_or_default()
}

/// A number in an annotation of a ReplicaSet.
pub fn number(set: &Value, name: &str) -> Option<i64> {
    object::annotation(set, name)?.parse().ok().filter(|number| (0..=i64::from(i32::MAX) * 2).contains(number))
}

/// Sets the current revision of a ReplicaSet's template. A ReplicaSet that had another revision before was rolled back
/// to, and keeps the earlier number in its history (`SetNewReplicaSetAnnotations`).
pub fn set_new(deployment: &Value, set: &mut Value, new_revision: u64, is_there: bool) {
    let old_revision = object::annotation(set, REVISION).map(str::to_owned);
    let history = object::annotation(set, REVISION_HISTORY).unwrap_or_default().to_owned();
    change(set, |annotations| {
        for (name, value) in deployment["metadata"]["annotations"].as_object().into_iter().flatten() {
            if !OWN.contains(&name.as_str()) {
                annotations.insert(name.clone(), value.clone());
            }
        }
        let old = old_revision.as_deref().unwrap_or("0").parse::<u64>();
        if old.is_ok_and(|old| old < new_revision) {
            annotations.insert(REVISION.to_owned(), new_revision.to_string().into());
            if let Some(old) = old_revision {
                annotations.insert(REVISION_HISTORY.to_owned(), longer(&history, &old).into());
            }
        }
    });
    if !is_there {
        set_replicas(deployment, set);
    }
}

/// Sets the annotations for desired and allowed replicas; returns whether they changed.
pub fn set_replicas(deployment: &Value, set: &mut Value) -> bool {
    let wanted = replicas::wanted(deployment);
    let allowed = wanted + replicas::max_surge(deployment);
    let mut changed = false;
    change(set, |annotations| {
        for (name, number) in [(DESIRED_REPLICAS, wanted), (MAX_REPLICAS, allowed)] {
            let text = Value::from(number.to_string());
            changed |= annotations.insert(name.to_owned(), text.clone()) != Some(text);
        }
    });
    changed
}

/// A history with one more revision; the oldest is dropped where the text would be too long.
fn longer(history: &str, revision: &str) -> String {
    let mut revisions: Vec<&str> = history.split(',').filter(|one| !one.is_empty()).collect();
    revisions.push(revision);
    while revisions.iter().map(|one| one.len() + 1).sum::<usize>() > MAX_REVISION_HISTORY_LENGTH {
        revisions.remove(0);
    }
    revisions.join(",")
}

/// Changes the annotations of an object. An object without metadata has none and stays as it is.
fn change(object: &mut Value, change: impl FnOnce(&mut Map<String, Value>)) {
    if !object["metadata"]["annotations"].is_object() {
        object::set(object, &["metadata", "annotations"], json!({}));
    }
    if let Some(annotations) = object.pointer_mut("/metadata/annotations").and_then(Value::as_object_mut) {
        change(annotations);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_rolled_back_to_keeps_its_earlier_revisions() {
        let deployment = json!({"metadata": {"annotations": {"kubernetes.io/change-cause": "undo", REVISION: "9"}},
            "spec": {"replicas": 10, "strategy": {"rollingUpdate": {"maxSurge": "25%", "maxUnavailable": 0}}}});
        let mut set = json!({"metadata": {}});
        set_new(&deployment, &mut set, 1, false);
        let expected = json!({"kubernetes.io/change-cause": "undo", REVISION: "1", DESIRED_REPLICAS: "10",
            MAX_REPLICAS: "13"});
        assert_eq!(set["metadata"]["annotations"], expected);
        for (new, revision, history) in
            [(1, "1", None), (3, "3", Some("1")), (2, "3", Some("1")), (5, "5", Some("1,3"))]
        {
            set_new(&deployment, &mut set, new, true);
            let annotation = |name| object::annotation(&set, name);
            assert_eq!((annotation(REVISION), annotation(REVISION_HISTORY)), (Some(revision), history), "{new}");
        }
        assert_eq!(longer(&"1234,".repeat(400), "7").len(), 1996);
    }
}
