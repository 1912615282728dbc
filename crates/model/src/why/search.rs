//! Searches what was received before an incident for what may have caused it, a share at a time.

use kubechurn_changes::line::Line;
use kubechurn_changes::noise::Marks;
use kubechurn_client::api::object::ObjectKey;
use kubechurn_client::api::sort::sort_by;
use kubechurn_client::cache::delta::DeltaType;
use kubechurn_client::json;
use rustc_hash::FxHashMap;
use smol_str::SmolStr;

use crate::feed::wrong::Fault;
use crate::history::{APART, History};
use crate::why::cause::{Cause, Check, Facts, Proof};
use crate::why::incident::Incident;
use crate::why::ties::{Tie, Ties, resource_of, text_at};
use crate::why::trail::{Step, trail};

/// How long before an incident is looked at, in milliseconds.
pub const BEFORE: f64 = 1_800_000.0;
/// How many versions are looked at between two readings of the clock.
const BATCH: usize = 1_000;
/// How long the Pods of a version must have been ready, in milliseconds, so that they were well.
const WELL: f64 = 15_000.0;

/// Changes of one field of one object: of a fight, by one writer. That an object came and that it went are two.
type Same = (Tie, ObjectKey, SmolStr, bool, SmolStr);

/// What was found.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// The changes that may be the cause, the most likely first.
    pub causes: Vec<Cause>,
    /// The steps from the first of them to what is wrong.
    pub trail: Vec<Step>,
    /// How many changes came in the time that was looked at.
    pub looked_at: usize,
    /// How many of them are of objects that have something to do with it, and say nothing.
    pub noise: usize,
    /// How many have nothing in common with it.
    pub others: usize,
    /// From when on was looked, in milliseconds: the beginning of the time, or what is kept.
    pub from: f64,
}

/// A search that goes on.
#[derive(Debug)]
pub struct Search {
    incident: Incident,
    /// What it has to do with other objects.
    pub ties: Ties,
    said: String,
    own: String,
    was_well_at: Option<f64>,
    /// When a Pod was created last in the namespace before the incident.
    created_at: Option<f64>,
    next: u64,
    until: u64,
    /// The last change of each field, and how many there were.
    causes: FxHashMap<Same, (Cause, usize)>,
    found: Found,
    is_done: bool,
}

impl Search {
    /// Begins to search. Nothing counts that came after so many versions.
    pub fn begin(incident: Incident, received: u64, history: &History) -> Search {
        let (since, from) = (incident.since, incident.since - BEFORE);
        // A fight goes on, and has more than one writer.
        let until = if incident.path.is_empty() { history.moment(since + APART).received } else { received };
        let until = until.min(received);
        let ties = Ties::of(&incident, history, received);
        let subject = &incident.subject;
        let resource = subject.resource.or_else(|| resource_of(history, &subject.kind, ties.cluster()));
        let own = resource.and_then(|resource| text_at(history, resource, &subject.key, received));
        let from = history.whole_since().unwrap_or(0.0).max(from);
        Search {
            said: incident.said(),
            own: own.map(|(_, text)| text).unwrap_or_default(),
            was_well_at: was_well_at(&ties, &incident, history),
            created_at: None,
            next: history.moment(from).received,
            until,
            causes: FxHashMap::default(),
            found: Found { from, ..Found::default() },
            incident,
            ties,
            is_done: false,
        }
    }

    /// The incident.
    pub fn incident(&self) -> &Incident {
        &self.incident
    }

    /// Goes on while `goes_on` says so. Returns whether something is left.
    pub fn work(&mut self, history: &History, marks: &Marks, mut goes_on: impl FnMut() -> bool) -> bool {
        while !self.is_done {
            self.read(history, marks);
            if self.is_done {
                self.finish(history);
            } else if !goes_on() {
                return true;
            }
        }
        false
    }

    fn read(&mut self, history: &History, marks: &Marks) {
        let (mut tied, mut seen) = (Vec::new(), 0);
        let next = history.each_received(self.next, BATCH, &mut |record, life, resource| {
            if record.sequence >= self.until {
                return;
            }
            // What had its name before is another object.
            let subject = &self.incident.subject;
            let is_its = self.incident.fault.is_none() || life.key != subject.key || life.uid == subject.uid;
            let tie = self.ties.find(&resource, &life.key).filter(|tie| *tie != Tie::Own || is_its);
            // Lists are long, and only what may be a cause is worth a look.
            if record.delta_type == DeltaType::Replaced && !(tie.is_some() && history.is_compared(record)) {
                return;
            }
            seen += 1;
            let is_created = record.delta_type == DeltaType::Added && resource.kind == "Pod";
            if is_created && *life.key.namespace == *self.ties.namespace() && resource.cluster == self.ties.cluster() {
                self.created_at = Some(record.at);
            }
            if let Some(tie) = tie {
                tied.push((record.sequence, tie));
            }
        });
        self.found.looked_at += seen;
        self.found.others += seen - tied.len();
        for (sequence, tie) in tied {
            let Some(change) = history.change(sequence) else { continue };
            let (old, new) = (change.old.as_deref(), change.new.as_deref());
            let line = Line::new(change.received(sequence, change.resource.kind.into()), marks);
            let facts = Facts {
                incident: &self.incident,
                ties: &self.ties,
                said: &self.said,
                was_well_at: self.was_well_at,
                own: &self.own,
            };
            match Cause::weigh(&line, change.resource, tie, new.or(old).unwrap_or("{}"), &facts) {
                Some(cause) => {
                    let writer = if self.is_fight() { cause.writer.clone() } else { SmolStr::default() };
                    let is_gone = line.delta_type == DeltaType::Deleted;
                    let same = (cause.tie, cause.key.clone(), cause.path.clone(), is_gone, writer);
                    let times = self.causes.get(&same).map_or(0, |(_, times)| *times);
                    self.causes.insert(same, (cause, times + 1));
                }
                None => self.found.noise += 1,
            }
        }
        match next {
            Some(next) if next < self.until => self.next = next,
            _ => self.is_done = true,
        }
    }

    /// Whether it is about a field over which managers fight, or that goes to and fro.
    fn is_fight(&self) -> bool {
        !self.incident.path.is_empty()
    }

    fn finish(&mut self, history: &History) {
        let is_fight = self.is_fight();
        let causes = std::mem::take(&mut self.causes).into_values().map(|(mut cause, times)| {
            // In a fight that it happens again and again is what is wrong.
            if is_fight {
                cause.times = times
            } else {
                cause.happened(times)
            }
            cause
        });
        let mut causes: Vec<Cause> = causes.collect();
        weigh_quotas(&mut causes);
        weigh_webhooks(&mut causes, self.created_at);
        sort_by(&mut causes, |one, other| other.score.cmp(&one.score).then(other.seq.cmp(&one.seq)));
        // A fight has its writers, and no beginning.
        if !is_fight {
            self.found.trail = trail(&self.incident, &self.ties, causes.first(), history, self.until);
        }
        self.found.causes = causes;
    }

    /// What was found; `None` while the search goes on.
    pub fn found(&self) -> Option<&Found> {
        self.is_done.then_some(&self.found)
    }
}

/// A quota that became less is not what is wrong where more Pods were asked for afterwards.
fn weigh_quotas(causes: &mut [Cause]) {
    let scaled =
        |cause: &&Cause| cause.tie == Tie::Own && cause.path == "spec.replicas" && cause.proof != Proof::ByTime;
    let scaled = causes.iter().filter(scaled).map(|cause| cause.at).reduce(f64::max);
    for cause in causes.iter_mut().filter(|cause| cause.tie == Tie::Quota) {
        if scaled.is_some_and(|scaled| scaled > cause.at) {
            cause.proof = cause.proof.min(Proof::Possible);
            cause.score = cause.score.min(300);
            let words = String::from("more Pods were asked for after it");
            cause.checks.push(Check { holds: false, words, seq: None });
        }
    }
}

/// A webhook that lets Pods be created is not what refuses them, and neither is what answers for it.
fn weigh_webhooks(causes: &mut [Cause], created_at: Option<f64>) {
    let of_webhook = |cause: &&mut Cause| matches!(cause.tie, Tie::Webhook | Tie::Service | Tie::Behind);
    for cause in causes.iter_mut().filter(of_webhook) {
        if created_at.is_some_and(|created| created > cause.at + APART) {
            cause.proof = cause.proof.min(Proof::Possible);
            cause.score = cause.score.min(300);
            let words = String::from("Pods were created in this namespace after it");
            cause.checks.push(Check { holds: false, words, seq: None });
        }
    }
}

/// When Pods of the version that fails were ready, long before the incident. Where new ones are refused, or no node takes them, it
/// need not be long: the others were created, and had a node.
fn was_well_at(ties: &Ties, incident: &Incident, history: &History) -> Option<f64> {
    let well = match incident.fault {
        Some(Fault::Schedule { .. } | Fault::Create { .. }) => APART,
        _ => WELL,
    };
    let resource = resource_of(history, "ReplicaSet", ties.cluster())?;
    let entries = ties.sets.iter().flat_map(|key| history.of(&resource, key));
    let is_ready = |sequence: u64| {
        let text = history.text(sequence)?;
        json::value_at(&text, &["status", "readyReplicas"]).and_then(json::integer)
    };
    let well =
        entries.filter(|entry| entry.at + well < incident.since).filter(|entry| is_ready(entry.sequence) > Some(0));
    well.map(|entry| entry.at).reduce(f64::max)
}
