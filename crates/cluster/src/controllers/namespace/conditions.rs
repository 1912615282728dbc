//! The conditions of a Namespace that is being deleted (`status_condition_utils.go`).

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::super::controller::SyncError;
use super::content::Remaining;

/// The conditions when nothing fails, in their order: type, reason, message.
const GOOD: [(&str, &str, &str); 5] = [
    ("NamespaceDeletionDiscoveryFailure", "ResourcesDiscovered", "All resources successfully discovered"),
    ("NamespaceDeletionGroupVersionParsingFailure", "ParsedGroupVersions", "All legacy kube types successfully parsed"),
    (
        "NamespaceDeletionContentFailure",
        "ContentDeleted",
        "All content successfully deleted, may be waiting on finalization",
    ),
    ("NamespaceContentRemaining", "ContentRemoved", "All content successfully removed"),
    ("NamespaceFinalizersRemaining", "ContentHasNoFinalizers", "All content-preserving finalizers finished"),
];

/// The conditions that report a problem: reason and message by type.
#[derive(Debug, Default)]
pub struct Conditions(BTreeMap<&'static str, (&'static str, String)>);

impl Conditions {
    pub fn discovery_failed(&mut self, why: &str) {
        let message = format!("Discovery failed for some groups, 1 failing: {why}");
        self.0.insert("NamespaceDeletionDiscoveryFailure", ("DiscoveryFailed", message));
    }

    /// Some objects could not be deleted.
    pub fn content_failed(&mut self, failures: &[SyncError]) {
        let mut messages: Vec<String> = failures.iter().map(SyncError::to_string).collect();
        messages.sort();
        let message =
            format!("Failed to delete all resource types, {} remaining: {}", messages.len(), messages.join(", "));
        self.0.insert("NamespaceDeletionContentFailure", ("ContentDeletionFailed", message));
    }

    /// Some objects are left.
    pub fn content_remains(&mut self, remaining: &Remaining) {
        let list = |counts: &BTreeMap<String, usize>, between: &str| {
            let each = counts.iter().map(|(what, count)| format!("{what} {between} {count} resource instances"));
            each.collect::<Vec<_>>().join(", ")
        };
        if !remaining.counts.is_empty() {
            let message = format!("Some resources are remaining: {}", list(&remaining.counts, "has"));
            self.0.insert("NamespaceContentRemaining", ("SomeResourcesRemain", message));
        }
        if !remaining.finalizers.is_empty() {
            let message = format!(
                "Some content in the namespace has finalizers remaining: {}",
                list(&remaining.finalizers, "in")
            );
            self.0.insert("NamespaceFinalizersRemaining", ("SomeFinalizersRemain", message));
        }
    }

    /// The conditions that the Namespace gets. A condition whose status stays the same keeps its time; `now` is RFC
    /// 3339.
    pub fn over(&self, known: &[Value], now: &str) -> Vec<Value> {
        let mut all = known.to_vec();
        for (condition_type, reason, message) in GOOD {
            let (status, reason, message) = match self.0.get(condition_type) {
                Some((reason, message)) => ("True", *reason, &**message),
                None => ("False", reason, message),
            };
            let mut new = json!({"type": condition_type, "status": status, "lastTransitionTime": now, "reason": reason,
                "message": message});
            match all.iter_mut().find(|one| one["type"] == condition_type) {
                Some(old) => {
                    let is_same = ["status", "reason", "message"].iter().all(|field| old[*field] == new[*field]);
                    if is_same {
                        new["lastTransitionTime"] = old["lastTransitionTime"].take();
                    }
                    *old = new;
                }
                None => all.push(new),
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_remains_is_reported_and_what_stays_keeps_its_time() {
        let good = Conditions::default().over(&[], "then");
        assert!(good.iter().all(|one| one["status"] == "False") && good.len() == 5);
        let mut remaining = Remaining::default();
        remaining.counts.insert("widgets.example.org".to_owned(), 2);
        remaining.counts.insert("pods.".to_owned(), 1);
        remaining.finalizers.insert("example.org/hold".to_owned(), 3);
        let mut conditions = Conditions::default();
        conditions.content_remains(&remaining);
        let after = conditions.over(&good, "now");
        let message = |at: usize| after[at]["message"].as_str().unwrap();
        assert_eq!(
            message(3),
            "Some resources are remaining: pods. has 1 resource instances, widgets.example.org has 2 resource instances"
        );
        assert_eq!(
            message(4),
            "Some content in the namespace has finalizers remaining: example.org/hold in 3 resource instances"
        );
        let times: Vec<&Value> = after.iter().map(|one| &one["lastTransitionTime"]).collect();
        assert_eq!(times, ["then", "then", "then", "now", "now"]);
    }
}
