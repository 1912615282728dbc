//! Rollouts that do not progress.

use std::sync::Arc;

use kubechurn_client::api::object::ObjectKey;
use kubechurn_client::api::uid::Uid;
use kubechurn_client::cache::delta::DeltaType;

use crate::findings::recent::{Evidence, Recent};
use crate::findings::{Card, Finding, TOLD_FOR};
use crate::line::Line;
use crate::replicas::Replicas;

/// How long without progress is too long, in milliseconds, if nothing is wrong with the newest Pods. An image may take
/// that long to be pulled.
const LONG: f64 = 120_000.0;
/// How long if their image cannot be pulled: a registry may answer again.
const PULLING: f64 = 45_000.0;
/// How long if they crash.
const CRASHING: f64 = 8_000.0;

/// What only grows while a rollout progresses: updated Pods, old Pods gone, and, when there are no old ones, available
/// Pods.
type Progress = (u64, i64, u64);

fn progress(replicas: &Replicas) -> Progress {
    let old = replicas.all.saturating_sub(replicas.updated);
    (replicas.updated, -i64::try_from(old).unwrap_or(i64::MAX), if old == 0 { replicas.available } else { 0 })
}

#[derive(Debug, Default)]
struct State {
    kind: Arc<str>,
    key: Option<ObjectKey>,
    generation: Option<i64>,
    is_running: bool,
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
}

impl Rollouts {
    pub(super) fn push(&mut self, line: &Line) {
        let owner = line.controller().filter(|owner| owner.is_controller).map(|owner| &owner.uid);
        match (&*line.kind, owner) {
            ("ReplicaSet", Some(owner)) => *self.owners.entry(line.uid.clone(), line.at) = owner.clone(),
            ("Pod", Some(owner)) => {
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
        } else if let Some(replicas) = line.replicas.filter(|_| !line.uid.is_empty()) {
            let state = self.states.entry(line.uid.clone(), line.at);
            state.kind = line.kind.clone();
            state.key = Some(line.key.clone());
            state.push(line, replicas);
        }
    }

    pub(super) fn tell(&self, now: f64, cards: &mut Vec<Card>) {
        cards.extend(self.states.iter().filter_map(|(uid, state)| state.card(now, uid)));
    }
}

impl State {
    fn push(&mut self, line: &Line, replicas: Replicas) {
        // A Pod that is lost later is no rollout. Of what was there before the page, only what is not updated is one.
        let is_first = self.progressed_at == 0.0;
        let is_new = self.generation != line.generation || is_first;
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
        if is_new || !self.is_running || (reached.is_some() && reached > self.best) {
            self.best = if is_new { None } else { reached };
            self.progressed_at = line.at;
            self.trouble = None;
            self.seqs = Evidence::default();
        }
        if self.is_running {
            self.seqs.add(line.at, line.seq, f64::INFINITY);
        }
    }

    fn card(&self, now: f64, uid: &Uid) -> Option<Card> {
        let patience = match self.trouble.as_deref() {
            None => LONG,
            Some(word) if word.contains("Image") => PULLING,
            Some(_) => CRASHING,
        };
        let waited = now - self.progressed_at;
        // A rollout that nobody has touched for long is not news: it was told, and the feed has it.
        let is_news = waited <= LONG + 10.0 * TOLD_FOR;
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
            since: self.progressed_at,
            last_at: self.seqs.last_at()?,
            count: self.seqs.count,
            seqs: self.seqs.seqs(),
        })
    }
}
