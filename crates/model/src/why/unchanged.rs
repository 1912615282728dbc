//! What did not change before an incident, and what is not known.

use crate::why::cause::Cause;
use crate::why::ties::{Tie, Ties};

/// What is known of the objects of a kind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Watched {
    /// They are watched, since this time in milliseconds.
    Since(f64),
    /// They are not watched.
    Not,
    /// They may not be watched.
    Forbidden,
}

/// Something that did not change, or of which it is not known.
#[derive(Clone, Debug, PartialEq)]
pub struct Unchanged {
    /// The kind.
    pub kind: &'static str,
    /// The kind, and the names where there are few.
    pub what: String,
    /// What is known of it.
    pub watched: Watched,
}

/// The kinds that are looked at, and what one calls them.
const KINDS: [(Tie, &str, &str); 12] = [
    (Tie::Node, "Node", "node"),
    (Tie::ConfigMap, "ConfigMap", "ConfigMap"),
    (Tie::Secret, "Secret", "Secret"),
    (Tie::Claim, "PersistentVolumeClaim", "claim"),
    (Tie::Class, "StorageClass", "StorageClass"),
    (Tie::Account, "ServiceAccount", "ServiceAccount"),
    (Tie::Priority, "PriorityClass", "PriorityClass"),
    (Tie::Quota, "ResourceQuota", "quota"),
    (Tie::Autoscaler, "HorizontalPodAutoscaler", "autoscaler"),
    (Tie::Service, "Service", "Service"),
    (Tie::Webhook, "ValidatingWebhookConfiguration", "validating webhook"),
    (Tie::Webhook, "MutatingWebhookConfiguration", "mutating webhook"),
];

/// What did not change of what an incident has to do with. `watched` says what is known of a kind.
pub fn unchanged(ties: &Ties, causes: &[Cause], watched: &dyn Fn(&str) -> Watched) -> Vec<Unchanged> {
    let mut all = Vec::new();
    for (tie, kind, word) in KINDS {
        let names = ties.names(tie);
        let counts = match tie {
            Tie::Node => ties.has_all_nodes() || !names.is_empty(),
            Tie::Quota | Tie::Autoscaler => !ties.namespace().is_empty() && !ties.is_of_condition(),
            Tie::Webhook => ties.creates(),
            _ => !names.is_empty(),
        };
        if !counts || causes.iter().any(|cause| cause.tie == tie) {
            continue;
        }
        let what = match &names[..] {
            [] => word.to_owned(),
            [one] => format!("{word} {one}"),
            [one, two] => format!("{word} {one}, {two}"),
            [first, ..] => format!("{word} {first} and {} more", names.len() - 1),
        };
        all.push(Unchanged { kind, what, watched: watched(kind) });
    }
    all
}

/// What did not change, in one sentence; empty if nothing of that is known.
/// `span` says in which time.
pub fn sentence(all: &[Unchanged], span: &str) -> String {
    let known: Vec<String> =
        all.iter().filter(|one| matches!(one.watched, Watched::Since(_))).map(|one| one.what.clone()).collect();
    match known.is_empty() {
        true => String::new(),
        false => format!("No {} changed {span}.", known.join(", no ")),
    }
}
