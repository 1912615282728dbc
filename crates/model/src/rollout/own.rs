//! The rollouts of a workload, out of its own versions: each begins where another template is asked for.

use kubechurn_changes::diff;
use kubechurn_client::cache::delta::DeltaType;
use kubechurn_client::json;

use crate::history::Entry;
use crate::life::seen::{Known, Seen};
use crate::why::references::text;

/// How far a workload is, as its status says it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// How many Pods there should be.
    pub desired: i64,
    /// How many there are, how many of them are of the newest version, and how many are ready or ended well.
    pub all: i64,
    pub updated: i64,
    pub ready: i64,
    /// How many are available.
    pub available: i64,
}

/// A rollout.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Begun {
    /// The number of the version that asks for it; where it began before what is kept, the first one that is known.
    pub seq: u64,
    /// When it was asked for; `None` where it began before what is kept.
    pub asked: Option<Seen>,
    /// The number of the version before.
    pub previous: Option<u64>,
    /// What is asked for of each Pod.
    pub template: String,
    /// Whether the workload is new.
    pub is_new: bool,
    /// When its controller had seen it.
    pub seen: Option<Seen>,
    /// When it was complete, and the number of the version that says so.
    pub done: Option<Seen>,
    pub well: Option<u64>,
    /// Why it failed for good, and when.
    pub failed: Option<(String, Option<Seen>)>,
    /// Its revision: a number, or a hash.
    pub revision: String,
    /// When the next one began.
    pub replaced: Option<Seen>,
    /// The number of its last version.
    pub last: u64,
    pub counts: Counts,
    /// How many Pods there should be, until it was complete: it may be scaled later.
    pub wanted: i64,
    generation: Option<i64>,
}

/// Reads a workload's versions one after the other.
#[derive(Debug, Default)]
pub struct Own {
    /// Its rollouts, the oldest first.
    pub begun: Vec<Begun>,
    /// Its uid.
    pub uid: String,
    before: Option<u64>,
}

fn number(object: &str, path: &[&str]) -> Option<i64> {
    json::value_at(object, path).and_then(json::integer)
}

/// A condition of an object.
pub fn condition<'a>(object: &'a str, name: &str) -> Option<&'a str> {
    let all = json::value_at(object, &["status", "conditions"]).and_then(json::items)?;
    all.into_iter().find(|one| text(one, &["type"]).is_some_and(|of| of == name))
}

fn is_true(condition: &str) -> bool {
    json::member(condition, "status") == Some("\"True\"")
}

/// What an object of this kind asks of each Pod. Of a kind that is not known, all that is asked for.
pub fn template<'a>(kind: &str, object: &'a str) -> Option<&'a str> {
    match kind {
        "Deployment" | "StatefulSet" | "DaemonSet" | "Job" | "ReplicaSet" => {
            json::value_at(object, &["spec", "template"])
        }
        "ControllerRevision" => json::value_at(object, &["data", "spec", "template"]),
        _ => json::value_at(object, &["spec"]),
    }
}

/// How far an object of this kind is.
pub fn counts(kind: &str, object: &str) -> Counts {
    let of = |name: &str| number(object, &["status", name]).unwrap_or(0);
    match kind {
        "DaemonSet" => Counts {
            desired: of("desiredNumberScheduled"),
            all: of("currentNumberScheduled"),
            updated: of("updatedNumberScheduled"),
            ready: of("numberReady"),
            available: of("numberAvailable"),
        },
        "Job" => {
            let (active, succeeded) = (of("active"), of("succeeded"));
            let desired = number(object, &["spec", "completions"]).unwrap_or(1);
            Counts {
                desired,
                all: active + succeeded,
                updated: active + succeeded,
                ready: succeeded,
                available: succeeded,
            }
        }
        _ => Counts {
            desired: number(object, &["spec", "replicas"]).unwrap_or(1),
            all: of("replicas"),
            updated: if kind == "ReplicaSet" { of("replicas") } else { of("updatedReplicas") },
            ready: of("readyReplicas"),
            available: of("availableReplicas"),
        },
    }
}

fn is_complete(kind: &str, object: &str, counts: Counts) -> bool {
    match kind {
        "Job" => condition(object, "Complete").is_some_and(is_true),
        "Deployment" | "StatefulSet" | "DaemonSet" | "ReplicaSet" => {
            let all = [counts.all, counts.updated, counts.available];
            is_observed(object) && all.iter().all(|count| *count == counts.desired)
        }
        _ => false,
    }
}

fn is_observed(object: &str) -> bool {
    let (own, seen) = (number(object, &["metadata", "generation"]), number(object, &["status", "observedGeneration"]));
    seen.is_none_or(|seen| own.is_none_or(|own| seen >= own)) && (seen.is_some() || own.is_none())
}

impl Own {
    /// Takes in a version.
    pub fn take(&mut self, kind: &str, entry: &Entry, object: &str, known: &Known<'_>) {
        let uid = text(object, &["metadata", "uid"]).unwrap_or_default();
        let is_other = *self.uid != *uid;
        if is_other {
            (self.begun, self.uid, self.before) = (Vec::new(), uid.into_owned(), None);
        }
        let now = template(kind, object).unwrap_or("{}");
        let is_begun = match self.begun.last() {
            None => true,
            // Of these another template makes no other Pods.
            Some(_) if matches!(kind, "Job" | "ReplicaSet") => false,
            Some(last) => last.template != now && diff::diff(&last.template, now).is_ok_and(|diff| !diff.is_empty()),
        };
        let counts = counts(kind, object);
        let is_first = self.before.is_none();
        if is_begun {
            let own = known.time(object, &["metadata", "creationTimestamp"]);
            // A workload that was there before is of the first template only if nobody has changed it since.
            let is_of_creation = number(object, &["metadata", "generation"]).is_none_or(|of| of == 1);
            let asked = known.seen(entry, is_first, own.filter(|_| is_of_creation));
            if let Some(last) = self.begun.last_mut() {
                last.replaced = Some(Seen { at: entry.at, seq: Some(entry.sequence), is_from_object: false });
            }
            self.begun.push(Begun {
                seq: entry.sequence,
                asked,
                previous: self.before,
                template: now.to_owned(),
                is_new: is_first && (entry.delta_type == DeltaType::Added || is_of_creation),
                generation: number(object, &["metadata", "generation"]),
                ..Begun::default()
            });
        }
        self.before = Some(entry.sequence);
        let Some(last) = self.begun.last_mut() else { return };
        (last.last, last.counts) = (entry.sequence, counts);
        if last.well.is_none() {
            last.wanted = counts.desired;
        }
        let observed = number(object, &["status", "observedGeneration"]);
        if last.seen.is_none() && observed.is_some() && observed >= last.generation {
            last.seen = known.seen(entry, is_first, None);
        }
        let revision = match kind {
            "Deployment" => text(object, &["metadata", "annotations", "deployment.kubernetes.io/revision"]),
            "StatefulSet" => text(object, &["status", "updateRevision"]),
            _ => None,
        };
        if let Some(revision) = revision.filter(|revision| observed >= last.generation && !revision.is_empty()) {
            last.revision = revision.into_owned();
        }
        if last.well.is_none() && is_complete(kind, object, counts) {
            last.well = Some(entry.sequence);
            last.done = known.seen(entry, is_first, None);
        }
        if last.failed.is_none()
            && let Some(failed) = condition(object, "Failed").filter(|one| kind == "Job" && is_true(one))
        {
            let word = |name: &str| text(failed, &[name]).unwrap_or_default().into_owned();
            let seen = known.seen(entry, is_first, known.time(failed, &["lastTransitionTime"]));
            last.failed = Some((format!("{}: {}", word("reason"), word("message")), seen));
        }
    }
}
