//! How many Pods a workload has, and how many of them are as they should be.

use kubechurn_client::json::{self, Member};

/// How far a workload is: a Deployment, a StatefulSet or a DaemonSet; or how many Pods a ReplicaSet has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Replicas {
    /// How many Pods there should be.
    pub desired: u64,
    /// How many there are.
    pub all: u64,
    /// How many are of the newest version.
    pub updated: u64,
    /// How many are available; of a ReplicaSet, how many are ready.
    pub available: u64,
    /// The generation of which this is said.
    pub observed: i64,
}

impl Replicas {
    /// Reads them from an object of this kind. `None` for other kinds, and where updates wait for a person: a Deployment
    /// that is paused, a strategy that updates a Pod when it is deleted, or only a part of the Pods.
    pub(crate) fn read(kind: &str, object: &[Member<'_>]) -> Option<Replicas> {
        let names = match kind {
            "Deployment" | "StatefulSet" => ["replicas", "updatedReplicas", "availableReplicas"],
            "DaemonSet" => ["currentNumberScheduled", "updatedNumberScheduled", "numberAvailable"],
            "ReplicaSet" => ["replicas", "replicas", "readyReplicas"],
            _ => return None,
        };
        let spec = json::named(object, "spec").unwrap_or_default();
        let strategy = json::member(spec, "updateStrategy").unwrap_or_default();
        let is_part = json::value_at(strategy, &["rollingUpdate", "partition"]).is_some_and(|part| part != "0");
        let is_manual = json::member(strategy, "type") == Some("\"OnDelete\"");
        if is_part || is_manual || json::member(spec, "paused") == Some("true") {
            return None;
        }
        let status = json::named(object, "status").unwrap_or_default();
        let number = |text: &str, name: &str| json::member(text, name).and_then(json::integer);
        let count = |name: &str| number(status, name).and_then(|count| u64::try_from(count).ok());
        let desired = match kind {
            "DaemonSet" => count("desiredNumberScheduled"),
            _ => {
                let asked = number(spec, "replicas");
                asked.map_or(Some(1), |asked| u64::try_from(asked).ok())
            }
        };
        let [all, updated, available] = names.map(|name| count(name).unwrap_or(0));
        let observed = number(status, "observedGeneration").unwrap_or(0);
        Some(Replicas { desired: desired.unwrap_or(0), all, updated, available, observed })
    }

    /// Whether all Pods are of the newest version and available.
    pub fn is_complete(&self, generation: Option<i64>) -> bool {
        generation.is_none_or(|own| self.observed >= own)
            && [self.all, self.updated, self.available].iter().all(|count| *count == self.desired)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(kind: &str, text: &str) -> Option<Replicas> {
        Replicas::read(kind, &json::members(text).unwrap_or_default())
    }

    #[test]
    fn they_are_read_from_spec_and_status() {
        let text = r#"{"spec":{"replicas":3},"status":{"replicas":4,"updatedReplicas":2,"availableReplicas":3,"observedGeneration":5}}"#;
        let found = Replicas { desired: 3, all: 4, updated: 2, available: 3, observed: 5 };
        assert_eq!(read("Deployment", text), Some(found));
        assert!(!found.is_complete(Some(5)));
        let complete = Replicas { all: 3, updated: 3, ..found };
        assert!(complete.is_complete(Some(5)) && complete.is_complete(None) && !complete.is_complete(Some(6)));
        assert_eq!(read("Pod", text), None);
        let set = r#"{"spec":{"replicas":3},"status":{"replicas":3,"readyReplicas":2,"availableReplicas":1}}"#;
        assert_eq!(
            read("ReplicaSet", set),
            Some(Replicas { desired: 3, all: 3, updated: 3, available: 2, observed: 0 })
        );
        assert_eq!(read("Deployment", r#"{"spec":{"paused":true}}"#), None);
        assert_eq!(read("StatefulSet", r#"{"spec":{"updateStrategy":{"type":"OnDelete"}}}"#), None);
        let part = r#"{"spec":{"updateStrategy":{"rollingUpdate":{"partition":1}}}}"#;
        assert_eq!(read("StatefulSet", part), None);
        assert_eq!(read("Deployment", "{").map(|replicas| replicas.desired), Some(1));
        let daemons =
            r#"{"status":{"desiredNumberScheduled":2,"currentNumberScheduled":2,"updatedNumberScheduled":1}}"#;
        assert_eq!(read("DaemonSet", daemons).map(|replicas| (replicas.desired, replicas.updated)), Some((2, 1)));
        assert_eq!(read("Deployment", r#"{"spec":{"replicas":-1}}"#).map(|replicas| replicas.desired), Some(0));
    }
}
