//! Rollouts that do not progress.

use std::sync::Arc;

use kubechurn_client::api::object::ObjectKey;
use kubechurn_client::api::uid::Uid;
use kubechurn_client::cache::delta::DeltaType;

use crate::findings::recent::{Evidence, Recent};
use crate::findings::{Card, Finding, REPORTED_FOR};
use crate::line::Line;
use crate::replicas::Replicas;

/// How long without progress is too long, in milliseconds, if nothing is wrong with the newest Pods. An image may take
/// that long to be pulled.
const LONG: f64 = 120_000.0;
/// How long if their image cannot be pulled: a registry may answer again.
const PULLING: f64 = 45_000.0;
/// How long if they crash.
const CRASHING: f64 = 8_000.0;

/// How long after a scale Pods come and go because of it, in milliseconds.
const SCALING: f64 = 10_000.0;
/// How long old Pods must be gone, in milliseconds, before that is progress.
const GONE: f64 = 3_000.0;

/// What only grows while a rollout progresses: updated Pods, old Pods gone, and, when there are no old ones, available
/// Pods.
type Progress = (u64, i64, u64);

fn progress(replicas: &Replicas) -> Progress {
    let old = replicas.all.saturating_sub(replicas.updated);
    (replicas.updated, -i64::try_from(old).unwrap_or(i64::MAX), if old == 0 { replicas.available } else { 0 })
}

/// Whether a change asks for another version. How many Pods there are to be is none.
fn asks_for_version(line: &Line) -> bool {
    let mut paths = line.fields.iter().map(|field| &field.path).chain(&line.other_paths);
    line.delta_type == DeltaType::Added || paths.any(|path| path.starts_with("spec.template"))
}

#[derive(Debug, Default)]
struct State {
    kind: Arc<str>,
    key: Option<ObjectKey>,
    generation: Option<i64>,
    is_running: bool,
    /// When it was scaled last.
    scaled_at: Option<f64>,
    /// Old Pods that went, and when: progress, unless they come back, as they do when a node is drained.
    fewer: Option<(Progress, f64)>,
    replicas: Replicas,
    /// The best that was reached, and when.
    best: Option<Progress>,
    progressed_at: f64,
    /// The last state of one of its Pods in which something was wrong, since it progressed.
    trouble: Option<String>,
    seqs: Evidence,
}

/// The rollouts that were heard of last, and whose the Pods are.
#[derive(Debug, Default)]
pub(super) struct Rollouts {
    states: Recent<Uid, State>,
    /// For each ReplicaSet its owner.
    owners: Recent<Uid, Uid>,
    /// The Pods that are to go: how they end says nothing of the rollout.
    going: Recent<Uid, ()>,
}

impl Rollouts {
    pub(super) fn push(&mut self, line: &Line) {
        let owner = line.controller().filter(|owner| owner.is_controller).map(|owner| &owner.uid);
        match (&*line.kind, owner) {
            ("ReplicaSet", Some(owner)) => *self.owners.entry(line.uid.clone(), line.at) = owner.clone(),
            ("Pod", Some(_)) if line.is_marked_for_deletion() => *self.going.entry(line.uid.clone(), line.at) = (),
            ("Pod", Some(owner)) if self.going.get(&line.uid).is_none() => {
                let Some(trouble) = line.trouble() else { return };
                let owner = self.owners.get(owner).unwrap_or(owner).clone();
                if let Some(state) = self.states.get_mut(&owner).filter(|state| state.is_running) {
                    state.trouble = Some(trouble.to_owned());
                    state.seqs.add(line.at, line.seq, f64::INFINITY);
                }
            }
            _ => {}
        }
        if line.delta_type == DeltaType::Deleted {
            self.states.remove(&line.uid);
        } else if let Some(replicas) = line.replicas.filter(|_| !line.uid.is_empty() && &*line.kind != "ReplicaSet") {
            let state = self.states.entry(line.uid.clone(), line.at);
            state.kind = line.kind.clone();
            state.key = Some(line.key.clone());
            state.push(line, replicas);
        }
    }

    pub(super) fn report(&self, now: f64, cards: &mut Vec<Card>) {
        cards.extend(self.states.iter().filter_map(|(uid, state)| state.card(now, uid)));
    }
}

impl State {
    fn push(&mut self, line: &Line, replicas: Replicas) {
        // A Pod that is lost later is no rollout. Of what was there before the page, only what is not updated is one.
        let is_first = self.progressed_at == 0.0;
        let is_other = self.generation != line.generation;
        // Where not all fields are known, it may be another version.
        let is_new = is_first || (is_other && (asks_for_version(line) || line.fields.is_empty()));
        if is_other && !is_new {
            self.scaled_at = Some(line.at);
        }
        let is_begun = if is_first && (line.is_listed || line.unknown.is_some()) {
            replicas.updated < replicas.desired
        } else {
            is_new
        };
        self.is_running = (self.is_running || is_begun) && !replicas.is_complete(line.generation);
        self.generation = line.generation;
        self.replicas = replicas;
        let is_seen = line.generation.is_none_or(|own| replicas.observed >= own);
        // What is said of the version before is no measure.
        let reached = is_seen.then(|| progress(&replicas));
        self.take_fewer(line.at);
        if is_new || !self.is_running {
            self.progressed(line.at, reached);
        } else if let Some(better) = reached.filter(|reached| Some(*reached) > self.best) {
            let is_scaling = self.scaled_at.is_some_and(|at| line.at - at < SCALING);
            match self.best {
                _ if is_scaling => self.best = reached,
                Some((updated, ..)) if updated == better.0 => {
                    self.fewer.get_or_insert((better, line.at)).0 = better;
                }
                _ => self.progressed(line.at, reached),
            }
        } else if reached.is_some() {
            self.fewer = None;
        }
        if self.is_running {
            self.seqs.add(line.at, line.seq, f64::INFINITY);
        }
    }

    fn progressed(&mut self, at: f64, best: Option<Progress>) {
        self.best = best;
        self.progressed_at = at;
        (self.trouble, self.fewer) = (None, None);
        self.seqs = Evidence::default();
    }

    /// Old Pods that are gone for long enough were progress at the time at which they went.
    fn take_fewer(&mut self, now: f64) {
        if let Some((better, at)) = self.fewer.filter(|(_, at)| now - at >= GONE) {
            self.progressed(at, Some(better));
        }
    }

    fn card(&self, now: f64, uid: &Uid) -> Option<Card> {
        let gone_at = self.fewer.map(|(_, at)| at).filter(|at| now - at >= GONE);
        let progressed_at = gone_at.unwrap_or(self.progressed_at);
        let patience = match self.trouble.as_deref() {
            None => LONG,
            Some(word) if word.contains("Image") => PULLING,
            Some(_) => CRASHING,
        };
        let waited = now - progressed_at;
        // A rollout that nobody has touched for long is not news: it was reported, and the feed has it.
        let is_news = waited <= LONG + 10.0 * REPORTED_FOR;
        (self.is_running && waited >= patience && is_news).then_some(())?;
        Some(Card {
            finding: Finding::Stuck {
                updated: self.replicas.updated,
                desired: self.replicas.desired,
                trouble: self.trouble.clone(),
            },
            kind: self.kind.clone(),
            key: self.key.clone()?,
            uid: uid.clone(),
            since: progressed_at,
            last_at: self.seqs.last_at()?,
            count: self.seqs.count,
            seqs: self.seqs.seqs(),
        })
    }
}
