//! How long it takes from a change of what is asked for until a controller has seen it, and until the object is ready.

use std::collections::BTreeMap;

use kubechurn_changes::line::Line;
use kubechurn_client::api::sort::sort_by;
use kubechurn_client::api::uid::Uid;
use kubechurn_client::cache::delta::DeltaType;
use kubechurn_client::json;
use kubechurn_columns::state;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// The condition by which a Job says that what was asked for is there; others say it by those that sum them up.
const COMPLETE: &str = "Complete";
/// How many times of a kind are kept.
const MOST: usize = 2_000;

/// What is waited for of an object.
#[derive(Debug)]
struct Waiting {
    kind: Arc<str>,
    generation: i64,
    since: f64,
    is_seen: bool,
}

/// Times, in milliseconds.
#[derive(Clone, Debug, Default)]
pub struct Times(Vec<f64>);

impl Times {
    /// Adds one, unless there are too many.
    pub fn push(&mut self, milliseconds: f64) {
        if self.0.len() < MOST {
            self.0.push(milliseconds.max(0.0));
        }
    }

    /// The middle one, and the longest; `None` where there are none.
    pub fn middle_and_longest(&self) -> Option<(f64, f64)> {
        let mut sorted = self.0.clone();
        sort_by(&mut sorted, f64::total_cmp);
        Some((*sorted.get(sorted.len() / 2)?, *sorted.last()?))
    }
}

/// What became of what was asked for of the objects of a kind.
#[derive(Clone, Debug, Default)]
pub struct Progress {
    /// How often something else was asked for.
    pub asked: usize,
    /// How long it took until `status.observedGeneration` was that of what was asked for.
    pub seen: Times,
    /// How long it took until after that a condition said that it is ready.
    pub ready: Times,
    /// How many objects wait to be seen, and how many to be ready.
    pub waiting: [usize; 2],
}

/// What is asked for, and when it is there.
#[derive(Debug, Default)]
pub struct Course {
    kinds: BTreeMap<Arc<str>, Progress>,
    waiting: FxHashMap<Uid, Waiting>,
}

impl Course {
    /// Takes a change, with the text of the new version.
    pub fn add(&mut self, line: &Line, text: Option<&str>) {
        if line.delta_type == DeltaType::Deleted {
            self.waiting.remove(&line.uid);
            return;
        }
        let Some(text) = text else { return };
        let observed = json::value_at(text, &["status", "observedGeneration"]).and_then(json::integer);
        if let (true, Some(generation)) = (line.asks, line.generation)
            && line.noise.is_none()
        {
            // A kind whose controllers report no generation is seen by nobody, as far as it says.
            let reports =
                observed.is_some() || self.waiting.contains_key(&line.uid) || self.kinds.contains_key(&line.kind);
            if reports || line.delta_type == DeltaType::Added {
                let (kind, since) = (Arc::clone(&line.kind), line.at);
                let new = Waiting { kind, generation, since, is_seen: false };
                self.waiting.insert(line.uid.clone(), new);
            }
        }
        let Some(observed) = observed else { return };
        let Some(waiting) = self.waiting.get_mut(&line.uid) else { return };
        if observed < waiting.generation {
            return;
        }
        let progress = self.kinds.entry(Arc::clone(&waiting.kind)).or_default();
        if !waiting.is_seen {
            waiting.is_seen = true;
            progress.asked += 1;
            progress.seen.push(line.at - waiting.since);
        }
        if is_ready(text) {
            progress.ready.push(line.at - waiting.since);
            self.waiting.remove(&line.uid);
        }
    }

    /// The kinds in the order of their names, with what waits at the moment.
    pub fn kinds(&self) -> Vec<(Arc<str>, Progress)> {
        let mut kinds = self.kinds.clone();
        for waiting in self.waiting.values() {
            if let Some(progress) = kinds.get_mut(&waiting.kind) {
                progress.asked += usize::from(!waiting.is_seen);
                progress.waiting[usize::from(waiting.is_seen)] += 1;
            }
        }
        kinds.into_iter().collect()
    }
}

/// Whether the first of these conditions that the object has is true.
fn is_ready(text: &str) -> bool {
    let conditions = json::value_at(text, &["status", "conditions"]).and_then(json::items).unwrap_or_default();
    let word = |condition, name| json::value_at(condition, &[name]).and_then(json::unescaped);
    let named = |wanted: &&str| {
        conditions.iter().copied().find(|condition| word(condition, "type").as_deref() == Some(*wanted))
    };
    state::WHOLE
        .iter()
        .chain([&COMPLETE])
        .find_map(named)
        .is_some_and(|condition| word(condition, "status").as_deref() == Some("True"))
}
