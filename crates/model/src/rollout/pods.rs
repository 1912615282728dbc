//! The objects that a rollout made: its ReplicaSet or ControllerRevision, and its Pods.

use kubechurn_client::api::object::ObjectKey;
use kubechurn_client::api::resource::ApiResource;
use kubechurn_client::api::uid::Uid;
use kubechurn_client::cache::delta::DeltaType;
use kubechurn_client::json;

use crate::history::{APART, Entry};
use crate::life::seen::{Known, Seen};
use crate::rollout::fields::are_same;
use crate::rollout::own::{Begun, template};
use crate::why::references::{is_of, text};
use crate::why::ties::{resource_of, text_at};

/// The most Pods of one rollout that are read.
pub const MOST: usize = 300;
/// Times of a server are in whole seconds; in milliseconds.
const SECOND: f64 = 1_000.0;

/// What a workload's template became: a ReplicaSet or a ControllerRevision.
#[derive(Clone, Debug, PartialEq)]
pub struct Made {
    /// The kind.
    pub kind: &'static str,
    /// The object.
    pub key: ObjectKey,
    /// Its uid.
    pub uid: Uid,
    /// When it was made, or made use of again.
    pub seen: Option<Seen>,
    /// Whether it had been there before, and is used again.
    pub is_again: bool,
    /// Its revision.
    pub revision: String,
}

/// The owner of an object that is its controller.
pub fn controller(object: &str) -> Option<String> {
    let owners = json::value_at(object, &["metadata", "ownerReferences"]).and_then(json::items)?;
    let is_it = |owner: &&str| json::member(owner, "controller") == Some("true");
    text(owners.into_iter().find(is_it)?, &["uid"]).map(std::borrow::Cow::into_owned)
}

/// The keys of the objects of a resource whose names begin with that of a workload.
fn keys_of(known: &Known<'_>, resource: ApiResource, key: &ObjectKey) -> Vec<ObjectKey> {
    let is_its = |other: &&ObjectKey| other.namespace == key.namespace && is_of(&other.name, &key.name);
    known.history.names(resource).filter(is_its).cloned().collect()
}

/// The revisions of a workload that are there, each with its number and its text.
pub fn revisions(known: &Known<'_>, of: ApiResource, key: &ObjectKey, uid: &str) -> Vec<(u64, ObjectKey, String)> {
    let kind = if of.kind == "Deployment" { "ReplicaSet" } else { "ControllerRevision" };
    let Some(resource) = resource_of(known.history, kind, of.cluster) else { return Vec::new() };
    let read = |key: ObjectKey| {
        let (_, object) = text_at(known.history, resource, &key, known.received)?;
        (controller(&object).as_deref() == Some(uid)).then_some(())?;
        let number = match kind {
            "ReplicaSet" => {
                text(&object, &["metadata", "annotations", "deployment.kubernetes.io/revision"])?.parse().ok()
            }
            _ => {
                json::member(&object, "revision").and_then(json::integer).and_then(|number| u64::try_from(number).ok())
            }
        };
        Some((number?, key, object))
    };
    keys_of(known, resource, key).into_iter().filter_map(read).collect()
}

/// The latest time at which an object may have been made, of which this is the first version that is kept; in milliseconds. One
/// that a list has brought had been made before.
fn born(known: &Known<'_>, first: &Entry, object: &str) -> f64 {
    match first.delta_type {
        DeltaType::Added => first.at,
        _ => known.time(object, &["metadata", "creationTimestamp"]).map_or(f64::NEG_INFINITY, |at| at + SECOND),
    }
}

/// What the template of a rollout became.
pub fn made(known: &Known<'_>, of: ApiResource, begun: &Begun, all: &[(u64, ObjectKey, String)]) -> Option<Made> {
    let kind = if of.kind == "Deployment" { "ReplicaSet" } else { "ControllerRevision" };
    let is_it = |object: &str| template(kind, object).is_some_and(|of| are_same(&begun.template, of));
    let (number, key, object) = all.iter().rev().find(|(_, _, object)| is_it(object))?;
    let resource = resource_of(known.history, kind, of.cluster)?;
    let entries = known.history.of(&resource, key);
    let first = entries.first()?;
    let is_older = begun.asked.is_some_and(|asked| born(known, first, object) + APART < asked.at);
    let is_again = is_older && first.sequence < begun.seq;
    // One that was there is scaled up, or has another number then.
    let entry: Option<&Entry> = if is_again {
        entries.iter().find(|entry| entry.sequence > begun.seq && entry.sequence < known.received)
    } else {
        Some(first)
    };
    let own = known.time(object, &["metadata", "creationTimestamp"]);
    let seen = entry.and_then(|entry| known.seen(entry, !is_again, own));
    Some(Made { kind, key: key.clone(), uid: first.uid.clone(), seen, is_again, revision: number.to_string() })
}

/// The Pods of a rollout, each with its uid: those that its ReplicaSet owns, or that the workload owns and that came since;
/// and how many more there are.
pub fn pods(
    known: &Known<'_>,
    (of, key, uid): (ApiResource, &ObjectKey, &str),
    begun: &Begun,
    made: Option<&Made>,
) -> (ApiResource, Vec<(ObjectKey, Uid)>, usize) {
    let Some(resource) = resource_of(known.history, "Pod", of.cluster) else { return (of, Vec::new(), 0) };
    let (owner, prefix) = match (of.kind, made) {
        ("Deployment", Some(made)) => (made.uid.to_string(), &made.key),
        ("Deployment", None) => return (resource, Vec::new(), 0),
        _ => (uid.to_owned(), key),
    };
    // What comes after it is complete is another Pod in the place of one, or a scale.
    let ends = begun.well.or(begun.replaced.and_then(|seen| seen.seq)).unwrap_or(known.received);
    let until = if begun.asked.is_some() { ends.min(known.received) } else { known.received };
    let from = begun.asked.filter(|asked| !asked.is_from_object).map(|_| begun.seq);
    let hash = made.filter(|made| made.kind == "ControllerRevision").map(|made| &*made.key.name);
    let hash = hash.or((of.kind == "StatefulSet").then_some(&*begun.revision));
    let (mut found, mut more) = (Vec::new(), 0);
    for key in keys_of(known, resource, prefix) {
        let mut last: Option<Uid> = None;
        for entry in known.history.of(&resource, &key).iter().filter(|entry| entry.sequence < until) {
            if last.as_ref() == Some(&entry.uid) || !entry.has_text {
                continue;
            }
            last = Some(entry.uid.clone());
            let Some(pod) = known.history.text(entry.sequence) else { continue };
            // A list may bring a Pod sooner than a watch brings what it was made for.
            let is_near = begun.asked.is_some_and(|asked| born(known, entry, &pod) + APART >= asked.at);
            let is_new = from.is_none_or(|from| entry.sequence > from || is_near);
            // Pods name their revision, by its name or by its hash alone.
            let label = text(&pod, &["metadata", "labels", "controller-revision-hash"]);
            let is_of = hash.zip(label).is_none_or(|(hash, label)| hash.is_empty() || hash.ends_with(&*label));
            if !is_new || !is_of || controller(&pod).as_ref() != Some(&owner) {
                continue;
            }
            if found.len() < MOST { found.push((key.clone(), entry.uid.clone())) } else { more += 1 }
        }
    }
    (resource, found, more)
}
