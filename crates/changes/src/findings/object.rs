//! Objects that are written over and over, and objects that are deleted and made again.

use std::sync::Arc;

use smol_str::SmolStr;

use kubechurn_client::api::object::ObjectKey;
use kubechurn_client::api::uid::Uid;
use kubechurn_client::cache::delta::DeltaType;

use crate::findings::recent::{Evidence, Recent};
use crate::findings::{Card, Finding, REPORTED_FOR};
use crate::line::Line;
use crate::writer::Evidence::OwnsField;

/// More writes than this within a minute are too many. A heartbeat every two seconds is the fastest that is usual.
const MOST_A_MINUTE: usize = 30;
/// So many within ten seconds are too many as well, so that a fast loop is reported soon.
const MOST_IN_TEN_SECONDS: usize = 10;
const MINUTE: f64 = 60_000.0;
const TEN_SECONDS: f64 = 10_000.0;

/// How often an object must have been made again.
const TIMES: u64 = 3;
/// The same of what a controller makes again under its name, as a StatefulSet its Pods: a drain and two rollouts are no loop.
const TIMES_OWNED: u64 = 6;
/// Within which time it must be made again, in milliseconds.
const AGAIN: f64 = 120_000.0;

#[derive(Debug, Default)]
struct Writes {
    kind: Arc<str>,
    key: Option<ObjectKey>,
    manager: SmolStr,
    writes: Evidence,
}

#[derive(Debug, Default)]
struct Lives {
    uid: Uid,
    /// The uid of the object that was deleted last.
    deleted: Option<Uid>,
    made: Evidence,
    is_owned: bool,
}

/// The objects that changed last.
#[derive(Debug, Default)]
pub(super) struct Objects {
    writes: Recent<Uid, Writes>,
    /// By cluster, kind and key.
    lives: Recent<(&'static str, Arc<str>, ObjectKey), Lives>,
}

impl Objects {
    pub(super) fn push(&mut self, line: &Line) {
        match line.delta_type {
            DeltaType::Added => self.made(line),
            DeltaType::Deleted => {
                self.writes.remove(&line.uid);
                let lives = self.lives.entry((line.cluster, line.kind.clone(), line.key.clone()), line.at);
                lives.deleted = Some(line.uid.clone());
            }
            _ => self.written(line),
        }
    }

    fn made(&mut self, line: &Line) {
        // Most objects that are made were never deleted before, and are not remembered.
        let Some(lives) = self.lives.get_mut(&(line.cluster, line.kind.clone(), line.key.clone())) else { return };
        if lives.deleted.take().is_some_and(|deleted| deleted != line.uid) {
            lives.uid = line.uid.clone();
            lives.is_owned = line.owners.iter().any(|owner| owner.is_controller);
            lives.made.add(line.at, line.seq, AGAIN);
        }
    }

    fn written(&mut self, line: &Line) {
        // What a Deployment writes to its ReplicaSet follows from what is written to the Deployment.
        let is_copy = &*line.kind == "ReplicaSet" && line.owners.iter().any(|owner| owner.is_controller);
        if line.uid.is_empty() || line.asks || is_copy || !is_rewrite(line) {
            return;
        }
        let state = self.writes.entry(line.uid.clone(), line.at);
        // A write that moved no time follows another one within a second, and is named after the owner of its field alone: the
        // count of a loop does not begin with it.
        if let [writer] = &line.writers[..]
            && writer.evidence != OwnsField
        {
            if state.manager != writer.manager {
                state.writes = Evidence::default();
            }
            state.manager.clone_from(&writer.manager);
        }
        state.kind = line.kind.clone();
        state.key = Some(line.key.clone());
        state.writes.add(line.at, line.seq, MINUTE);
    }

    pub(super) fn report(&self, now: f64, cards: &mut Vec<Card>) {
        for (uid, state) in self.writes.iter() {
            let (Some(last_at), Some(key)) = (state.writes.last_at(), &state.key) else { continue };
            let is_much = || {
                state.writes.after(last_at - MINUTE) > MOST_A_MINUTE
                    || state.writes.after(last_at - TEN_SECONDS) > MOST_IN_TEN_SECONDS
            };
            if now - last_at <= REPORTED_FOR && is_much() {
                let finding = Finding::Rewriting { manager: state.manager.to_string() };
                cards.push(card(finding, (&state.kind, key, uid), &state.writes, last_at));
            }
        }
        for ((_, kind, key), lives) in self.lives.iter() {
            let Some(last_at) = lives.made.last_at() else { continue };
            let times = if lives.is_owned { TIMES_OWNED } else { TIMES };
            if lives.made.count >= times && now - last_at <= REPORTED_FOR {
                cards.push(card(Finding::Recreated, (kind, key, &lives.uid), &lives.made, last_at));
            }
        }
    }
}

/// Whether a write changes nothing that matters: only noise, only metadata, or only times.
fn is_rewrite(line: &Line) -> bool {
    let is_nothing =
        |path: &str| path.starts_with("metadata.") || path.ends_with("Time") || path.ends_with("Timestamp");
    line.more == 0 && line.fields.iter().all(|field| is_nothing(&field.path))
}

fn card(finding: Finding, object: (&Arc<str>, &ObjectKey, &Uid), evidence: &Evidence, last_at: f64) -> Card {
    let (kind, key, uid) = object;
    Card {
        finding,
        kind: kind.clone(),
        key: key.clone(),
        uid: uid.clone(),
        since: evidence.since,
        last_at,
        count: evidence.count,
        seqs: evidence.seqs(),
    }
}
