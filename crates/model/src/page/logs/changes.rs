//! The changes of a Pod that stand among the lines of its log.

use rustc_hash::FxHashMap;

use kubechurn_changes::line::Line;
use kubechurn_changes::noise::Marks;
use kubechurn_client::api::sort::sort_by;
use kubechurn_client::cache::delta::DeltaType;

use crate::page::context::Context;
use crate::page::logs::pods::Pods;

/// How many versions of a Pod are read.
const MOST: usize = 200;
/// How long the words of a change are at most, in letters.
const LONGEST: usize = 200;

/// A change among the lines.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ChangeRow {
    /// When it was received, in milliseconds.
    pub at: f64,
    /// The number of the version.
    pub seq: u64,
    /// What changed.
    pub words: String,
}

/// The words of each change that was read; `None` for one that says nothing.
#[derive(Debug, Default)]
pub(super) struct Changes {
    read: FxHashMap<u64, Option<String>>,
}

impl Changes {
    /// The changes of some Pods, the oldest first.
    pub fn of(&mut self, pods: &Pods, cx: &Context<'_>) -> Vec<ChangeRow> {
        let Some(kind) = pods.kind else { return Vec::new() };
        let mut rows = Vec::new();
        for key in &pods.keys {
            let entries = cx.watching.history.of(&kind.resource, key);
            for entry in entries.iter().rev().take(MOST) {
                let read = self.read.entry(entry.sequence).or_insert_with(|| words(entry.sequence, cx));
                if let Some(words) = read {
                    rows.push(ChangeRow { at: entry.at, seq: entry.sequence, words: format!("{} {words}", key.name) });
                }
            }
        }
        sort_by(&mut rows, |one, other| one.at.total_cmp(&other.at).then(one.seq.cmp(&other.seq)));
        rows
    }
}

/// What a version changed, in a few words.
fn words(sequence: u64, cx: &Context<'_>) -> Option<String> {
    let change = cx.watching.history.change(sequence)?;
    let line = Line::new(change.received(sequence, change.resource.kind.into()), &Marks::default());
    let word = line.pod.as_ref().map(|pod| pod.word.to_string()).unwrap_or_default();
    match change.delta_type {
        DeltaType::Deleted => return Some(String::from("deleted")),
        DeltaType::Added => return Some(format!("created, {word}").trim_end_matches(", ").to_owned()),
        _ if change.old.is_none() || line.noise.is_some() => return None,
        _ => {}
    }
    let words = line.fields.first()?.to_string();
    Some(words.chars().take(LONGEST).collect())
}
