//! Fields that come back to values which they had: one manager changes its mind, or two fight.

use std::sync::Arc;

use smallvec::SmallVec;
use smol_str::SmolStr;

use kubechurn_client::api::object::ObjectKey;
use kubechurn_client::api::uid::Uid;
use kubechurn_client::cache::delta::DeltaType;

use crate::field::Field;
use crate::findings::recent::{Evidence, Recent};
use crate::findings::{Card, Finding, REPORTED_FOR};
use crate::line::Line;
use crate::paths;
use crate::value::Value;

/// How far back the changes of a field are counted, in milliseconds.
const WITHIN: f64 = 120_000.0;
/// Within which time the field must come back again and again, in milliseconds. Rollouts that are taken back and begun
/// anew are slower: each lasts half a minute.
const RETURNS_WITHIN: f64 = 50_000.0;
/// The same for two managers, whichever undoes the other: one of them may look only every minute.
const FIGHT_WITHIN: f64 = 300_000.0;
/// How often it must come back in that time. A person who takes a change back comes back once.
const RETURNS: usize = 3;
/// The same, where it comes and goes in clusters on which somebody works: for a field of a Pod template that one manager
/// writes, because rollouts are taken back and begun anew in quick succession; and for a condition that sums up what Pods
/// are like, because Pods are deleted and scaled.
const USUAL_RETURNS: usize = 5;
/// Conditions that sum up what Pods are like: of a Deployment, and of a PodDisruptionBudget.
const SUMS: [&str; 2] = ["status.conditions[Available]", "status.conditions[DisruptionAllowed]"];
/// The most values of a field that are remembered.
const MOST_VALUES: usize = 3;

/// A value that the field had, and who seems to have set it.
#[derive(Debug)]
struct Had {
    value: Option<Value>,
    manager: SmolStr,
}

#[derive(Debug, Default)]
struct State {
    kind: Arc<str>,
    key: Option<ObjectKey>,
    /// The newest values, the last one last. Two beside each other differ. Most fields change once and have two.
    values: SmallVec<[Had; 2]>,
    changes: Evidence,
    returns: Evidence,
    /// How often in a row each of the last two values was set by a manager of its own.
    fights: usize,
}

/// The fields that changed last.
#[derive(Debug, Default)]
pub(super) struct Fields {
    states: Recent<(Uid, SmolStr), State>,
    /// The objects that were deleted last: nothing is wrong with what does not exist any more.
    gone: Recent<Uid, ()>,
}

impl Fields {
    pub(super) fn push(&mut self, line: &Line) {
        if line.uid.is_empty() {
            return;
        }
        if line.delta_type == DeltaType::Deleted {
            *self.gone.entry(line.uid.clone(), line.at) = ();
        }
        if line.noise.is_some() {
            return;
        }
        let restarts = restarts(line);
        for field in line.fields.iter().filter(|field| is_followed(field) && !is_consequence(line, &field.path)) {
            let of = (line.uid.clone(), field.path.clone());
            // What a Pod's state is follows from its containers, each start of which begins it anew.
            if restarts && (field.path.starts_with("status.") || field.path == paths::POD_STATUS) {
                self.states.remove(&of);
                continue;
            }
            let state = self.states.entry(of, line.at);
            state.kind = line.kind.clone();
            state.key = Some(line.key.clone());
            state.push(line, field);
        }
    }

    pub(super) fn report(&self, now: f64, cards: &mut Vec<Card>) {
        let found = self.states.iter().filter_map(|((uid, path), state)| state.card(now, uid, path));
        cards.extend(found.filter(|card| self.gone.get(&card.uid).is_none()));
    }
}

/// Counts in a status go up and down with each rollout, and times never come back.
fn is_followed(field: &Field) -> bool {
    let is_number = |value: &Option<Value>| value.as_ref().is_none_or(|value| value.kept().parse::<f64>().is_ok());
    let is_count = field.path.starts_with("status.") && is_number(&field.old) && is_number(&field.new);
    // A member that is there and not, without anything in it, says nothing of why.
    let is_empty = |value: &Option<Value>| value.as_ref().is_none_or(|value| matches!(value.kept(), "{}" | "[]" | ""));
    let is_nothing = is_empty(&field.old) && is_empty(&field.new);
    !is_count
        && !is_nothing
        && !field.path.ends_with("Time")
        && !field.path.starts_with("metadata.deletion")
        && !field.reordered
}

/// Whether a field follows another one that is reported: what a Deployment asks of its ReplicaSets goes up and down as it
/// goes from one to the other and back, and a condition's words go with its status. The sandbox of a Pod whose image
/// cannot be pulled is made anew with each try.
fn is_consequence(line: &Line, path: &str) -> bool {
    let is_words = path.ends_with(".message") || path.ends_with(".reason");
    // A Deployment copies its annotations to its ReplicaSets.
    let is_asked_by_owner = path == "spec.replicas" || (&*line.kind == "ReplicaSet" && path.starts_with("metadata."));
    (path.starts_with("status.conditions[") && is_words)
        || path.starts_with("status.conditions[PodReadyToStartContainers]")
        || (is_asked_by_owner && line.controller().is_some())
}

/// Whether a container of a Pod was started or ended in this change.
fn restarts(line: &Line) -> bool {
    let is_start = |path: &SmolStr| {
        let is_of_container =
            path.starts_with("status.containerStatuses[") || path.starts_with("status.initContainerStatuses[");
        is_of_container && (path.contains("].state") || path.ends_with("].restartCount"))
    };
    &*line.kind == "Pod" && line.fields.iter().map(|field| &field.path).chain(&line.other_paths).any(is_start)
}

impl State {
    fn push(&mut self, line: &Line, field: &Field) {
        let brief = |value: &Option<Value>| value.as_ref().map(Value::brief);
        let (old, new) = (brief(&field.old), brief(&field.new));
        let manager = match &line.writers[..] {
            [writer] => writer.manager.clone(),
            _ => SmolStr::default(),
        };
        if line.delta_type == DeltaType::Added {
            self.values.clear();
            self.had(new, manager);
            return;
        }
        if self.values.last().is_none_or(|last| last.value != old) {
            self.had(old, SmolStr::default());
        }
        self.compare(line, &new, &manager);
        self.had(new, manager);
    }

    fn had(&mut self, value: Option<Value>, manager: SmolStr) {
        if self.values.len() == MOST_VALUES {
            self.values.remove(0);
        }
        self.values.push(Had { value, manager });
    }

    /// Compares a value that comes with those that were there before.
    fn compare(&mut self, line: &Line, new: &Option<Value>, manager: &str) {
        self.changes.add(line.at, line.seq, WITHIN);
        let before = self.values.len().checked_sub(2).and_then(|at| self.values.get(at));
        let returned = before.filter(|before| before.value == *new);
        let last = self.values.last().map(|last| last.manager.as_str()).unwrap_or_default();
        let is_fight = !manager.is_empty() && !last.is_empty() && manager != last;
        let is_same_side = returned.is_some_and(|before| before.manager.is_empty() || before.manager == manager);
        self.fights = match returned {
            Some(_) if is_fight && is_same_side => self.fights + 1,
            // Who wrote is not known: that speaks neither for a fight nor against it.
            Some(_) if manager.is_empty() || last.is_empty() => self.fights,
            _ => 0,
        };
        // A field that is gone again may have another value each time.
        if returned.is_some() && new.is_some() {
            self.returns.add(line.at, line.seq, WITHIN);
        }
    }

    fn card(&self, now: f64, uid: &Uid, path: &SmolStr) -> Option<Card> {
        let last_at = self.changes.last_at()?;
        let is_now = now - last_at <= REPORTED_FOR && self.returns.last_at().is_some_and(|at| now - at <= REPORTED_FOR);
        // So it is with nearly all fields, each of which is asked ten times a second: no path is read for that.
        if !is_now || self.returns.count < RETURNS as u64 {
            return None;
        }
        let path = path.as_str();
        let [.., one, two] = &self.values[..] else { return None };
        let is_template_of_one = path.starts_with("spec.template.") && one.manager == two.manager;
        let is_usual = is_template_of_one || SUMS.iter().any(|sum| path.starts_with(sum));
        let least = if is_usual { USUAL_RETURNS } else { RETURNS };
        let is_fight = self.fights + 1 >= RETURNS && !one.manager.is_empty() && !two.manager.is_empty();
        let within = if is_fight { FIGHT_WITHIN } else { RETURNS_WITHIN };
        if self.returns.after(last_at - within) < least {
            return None;
        }
        let word = |had: &Had| had.value.as_ref().map_or("none".to_owned(), Value::to_string);
        // The sentence stays the same whoever wrote last.
        let (one, two) = if word(one) <= word(two) { (one, two) } else { (two, one) };
        let (path, values) = (path.to_owned(), [word(one), word(two)]);
        let finding = if is_fight {
            Finding::Fight { path, values, managers: [one.manager.to_string(), two.manager.to_string()] }
        } else {
            Finding::Flapping {
                path,
                values,
                manager: if one.manager == two.manager { one.manager.to_string() } else { String::new() },
            }
        };
        Some(Card {
            finding,
            kind: self.kind.clone(),
            key: self.key.clone()?,
            uid: uid.clone(),
            since: self.changes.since,
            last_at,
            count: self.changes.count,
            seqs: self.changes.seqs(),
        })
    }
}
