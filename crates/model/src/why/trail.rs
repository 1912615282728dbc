//! The way from a write to what it caused, step by step.

use kubechurn_client::api::object::ObjectKey;
use kubechurn_client::api::resource::ApiResource;
use kubechurn_client::cache::delta::DeltaType;
use kubechurn_client::json;

use crate::feed::wrong::{Fault, is_wrong};
use crate::history::{APART, Entry, History};
use crate::why::cause::{Cause, Proof};
use crate::why::incident::Incident;
use crate::why::references::{is_of, text};
use crate::why::ties::{Tie, Ties, resource_of};

/// How many versions are searched for the Event that says what is wrong.
const EVENTS: usize = 4_000;

/// A step.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// When it was received, in milliseconds.
    pub at: f64,
    /// The object.
    pub what: String,
    /// What happened to it.
    pub words: String,
    /// What leads from the step before to this one; empty for the first.
    pub link: String,
    /// Whether that is proven, and not inferred.
    pub is_proven: bool,
    /// The number of the version.
    pub seq: Option<u64>,
}

/// The steps from a cause to an incident. Nothing counts that was received after so many versions.
pub fn trail(incident: &Incident, ties: &Ties, cause: Option<&Cause>, history: &History, until: u64) -> Vec<Step> {
    let mut steps = Vec::new();
    let subject = &incident.subject;
    let step = |entry: &Entry, what: String, words: String, link: &str, is_proven: bool| Step {
        at: entry.at,
        what,
        words,
        link: link.to_owned(),
        is_proven,
        seq: Some(entry.sequence),
    };
    if let Some(cause) = cause {
        steps.push(Step {
            at: cause.at,
            what: format!("{} {}", cause.resource.kind, cause.key),
            words: cause.title.clone(),
            link: String::new(),
            is_proven: true,
            seq: Some(cause.seq),
        });
    }
    let own = cause.filter(|cause| cause.tie == Tie::Own && cause.proof == Proof::Proven);
    if let (Some(cause), Some(resource)) = (own, subject.resource) {
        let generation = number(history, cause.seq, &["metadata", "generation"]);
        let entries = history.of(&resource, &subject.key);
        let seen = entries.iter().find(|entry| {
            let observed = number(history, entry.sequence, &["status", "observedGeneration"]);
            entry.sequence > cause.seq && generation.is_some() && observed >= generation
        });
        let sets = resource_of(history, "ReplicaSet", resource.cluster);
        let made = ties.sets.first().zip(sets).and_then(|(key, sets)| {
            // Of two watches one may be behind the other.
            let is_new = |entry: &Entry| entry.delta_type == DeltaType::Added && entry.at + APART >= cause.at;
            let entries =
                history.of(&sets, key).into_iter().filter(|entry| entry.sequence > cause.seq || is_new(entry));
            let wanted = entries.map(|entry| (number(history, entry.sequence, &["spec", "replicas"]), entry));
            // One that was there before is scaled up after it got its new number.
            let (replicas, made) = wanted.reduce(|one, other| if one.0 == Some(0) { other } else { one })?;
            Some((key, replicas, made))
        });
        // A controller may write its status after what it has made.
        let seen = seen.filter(|seen| made.as_ref().is_none_or(|(.., made)| seen.at <= made.at));
        if let (Some(seen), Some(generation)) = (seen, generation) {
            let link = format!("generation {generation}");
            steps.push(step(
                seen,
                format!("{} {}", subject.kind, subject.key),
                "its controller has seen it".into(),
                &link,
                true,
            ));
        }
        if let Some((key, replicas, made)) = &made {
            let words = match replicas {
                Some(1) => String::from("is to have 1 Pod"),
                Some(replicas) => format!("is to have {replicas} Pods"),
                None => String::from("written"),
            };
            steps.push(step(made, format!("ReplicaSet {}", key.name), words, "owner", true));
        }
    }
    let pod = incident.objects.iter().find(|object| object.kind == "Pod" && object.uid != subject.uid);
    let failing = pod.unwrap_or(subject);
    let resource = failing.resource.or_else(|| resource_of(history, &failing.kind, ties.cluster()));
    let Some(resource) = resource else { return steps };
    let entries: Vec<Entry> =
        history.of(&resource, &failing.key).into_iter().filter(|entry| entry.sequence < until.max(1)).collect();
    let what = format!("{} {}", failing.kind, failing.key.name);
    let is_proven = cause.is_none_or(|cause| cause.proof == Proof::Proven);
    let leads = match cause {
        None => "",
        _ if own.is_some() => "owner",
        Some(cause) if cause.proof == Proof::Proven => "named, or matched",
        Some(cause) if cause.proof == Proof::Possible => "inferred: it fits",
        _ => "inferred: by time alone",
    };
    let is_after = |first: &&Entry, cause: &Cause| {
        let early = if own.is_some() && first.delta_type == DeltaType::Added { APART } else { 0.0 };
        first.at + early >= cause.at
    };
    let is_own = |entry: &&Entry| entry.uid == failing.uid;
    let is_begin = |first: &&Entry| first.delta_type == DeltaType::Added || first.delta_type.is_of_list();
    let first = entries.iter().find(is_own).filter(is_begin);
    let first = first.filter(|first| pod.is_some() && cause.is_none_or(|cause| is_after(first, cause)));
    if let Some(first) = first {
        let words = if first.delta_type == DeltaType::Added { "created" } else { "first seen, in a list" };
        steps.push(step(first, what.clone(), words.into(), leads, is_proven));
    }
    let since = || entries.iter().filter(|entry| entry.at >= incident.since - 1.0);
    let shows = |entry: &&Entry| {
        history.text(entry.sequence).is_some_and(|text| incident.fault.is_none() || is_wrong(&resource, &text))
    };
    // Of a workload that is refused its Pods, an Event may say that before its status does.
    let other = || since().next().or(entries.last()).filter(|_| pod.is_some());
    let trouble = since().find(shows).or_else(other);
    let is_other = |entry: &&Entry| Some(entry.sequence) != steps.last().and_then(|step| step.seq);
    if let Some(trouble) = trouble.filter(is_other) {
        // How many Pods it concerns is said of all of them.
        let counts = usize::from(pod.is_some());
        let words: Vec<&str> = incident.words.iter().skip(counts).map(|(words, _)| &**words).collect();
        let (link, proven) = match own {
            _ if first.is_some() => ("the same Pod", true),
            Some(_) if pod.is_none() => ("the same object", true),
            _ => (leads, is_proven),
        };
        let last = step(trouble, what, words.join(" "), link, proven);
        steps.push(Step { at: trouble.at.max(incident.since), ..last });
    }
    if let Some(fault) = &incident.fault
        && let Some((entry, reason)) = event(history, (&resource, &failing.key), fault, incident.since)
    {
        steps.push(step(&entry, String::from("Event"), reason, "it names the object", true));
    }
    steps
}

fn number(history: &History, sequence: u64, path: &[&str]) -> Option<i64> {
    let text = history.text(sequence)?;
    json::value_at(&text, path).and_then(json::integer)
}

/// The first Warning about an object that came with an incident, and is about what is wrong with it.
fn event(
    history: &History,
    (resource, key): (&ApiResource, &ObjectKey),
    fault: &Fault,
    since: f64,
) -> Option<(Entry, String)> {
    let from = history.moment(since - 2_000.0).received;
    let mut found: Vec<u64> = Vec::new();
    history.each_received(from, EVENTS, &mut |record, life, of| {
        let is_here = of.cluster == resource.cluster && life.key.namespace == key.namespace;
        if of.kind == "Event" && is_here && is_of(&life.key.name, &key.name) {
            found.push(record.sequence);
        }
    });
    found.into_iter().find_map(|sequence| {
        let event = history.text(sequence)?;
        let about = ["involvedObject", "regarding"].iter().find_map(|name| text(&event, &[name, "name"]))?;
        let is_it = *about == *key.name && text(&event, &["type"])? == "Warning";
        let reason = text(&event, &["reason"]).filter(|reason| is_it && fault.is_reported_as(reason))?.into_owned();
        let of = history.of_number(sequence)?;
        let entry = history.of(&of.resource, &of.key).into_iter().find(|entry| entry.sequence == sequence)?;
        Some((entry, reason))
    })
}
