//! Two versions of the inspected object side by side. Which two these are is in the address.

use std::sync::Arc;

use serde_json::Value;

use crate::history::{Entry, Version};
use crate::inspector::comparison::{Rows, rows};
use crate::inspector::diff::{Diff, diff_field};
use crate::navigation::route::ChosenVersion;
use crate::page::command::Compare;
use crate::page::context::Context;
use crate::page::inspector::full_text::with_type;
use crate::page::inspector::object::InspectedObject;
use crate::timeline::mark::{MarkType, grouped};
use crate::timeline::scene::duration;
use crate::view::inspector::ComparisonModel;

/// So many versions are offered, besides the two that are compared.
const OFFERED: usize = 200;

/// What is compared.
#[derive(Debug, Default)]
pub struct Comparison {
    as_fields: bool,
    /// The folded parts that the user opened, and of which two versions.
    open: (Option<(u64, u64)>, Vec<usize>),
    /// The comparison that was made last: of which versions, and with how many opened parts.
    made: Option<((u64, u64, usize), Made)>,
}

/// A comparison.
#[derive(Clone, Debug, Default)]
struct Made {
    /// Why it could not be made.
    trouble: &'static str,
    fields: Arc<Diff>,
    rows: Arc<Rows>,
}

/// The place among the kept versions of one that the address names. A visit numbers what it receives anew, and then the
/// resourceVersion alone says which it is.
pub fn find(named: &ChosenVersion, kept: &[Entry]) -> Option<usize> {
    let is_it = |entry: &&Entry| entry.resource_version.to_string() == named.resource_version;
    let same = kept.iter().rposition(|entry| entry.sequence == named.sequence && is_it(&entry));
    same.or_else(|| kept.iter().rposition(|entry| entry.has_text && is_it(&entry)))
}

fn named(entry: &Entry) -> ChosenVersion {
    ChosenVersion { sequence: entry.sequence, resource_version: entry.resource_version.to_string() }
}

impl Comparison {
    /// Carries out a command. Returns whether the address is another one now.
    pub fn handle(
        &mut self,
        command: Compare,
        marked: Option<u64>,
        object: &InspectedObject,
        cx: &mut Context<'_>,
    ) -> bool {
        let kept = cx.versions_of(object.kind, &object.key);
        let place = |sequence: u64| kept.iter().position(|entry| entry.sequence == sequence);
        let (change, against) = (cx.navigation.route.change.clone(), cx.navigation.route.against.clone());
        let (old, new) = match command {
            Compare::Toggle if against.is_some() => (None, change),
            Compare::Toggle | Compare::With(_) => {
                let wanted = if let Compare::With(sequence) = command { Some(sequence) } else { marked };
                let Some(at) = wanted.map_or(kept.len().checked_sub(1), place) else {
                    cx.show_message("No version of the object is kept.");
                    return false;
                };
                let other = marked.filter(|marked| wanted != Some(*marked)).and_then(place);
                // The first has none before it, and is compared with the newest.
                let other = other.or(at.checked_sub(1)).unwrap_or(kept.len() - 1);
                if other == at {
                    cx.show_message("There is one version, and none to compare it with.");
                    return false;
                }
                (Some(named(&kept[at.min(other)])), Some(named(&kept[at.max(other)])))
            }
            Compare::Old(sequence) => (place(sequence).map(|at| named(&kept[at])).or(against), change),
            Compare::New(None) => (against, None),
            Compare::New(Some(sequence)) => (against, place(sequence).map(|at| named(&kept[at])).or(change)),
            Compare::Swap => (change.or_else(|| kept.last().map(named)), against),
            Compare::Fields(as_fields) => {
                self.as_fields = as_fields;
                return false;
            }
            Compare::Unfold(line) => {
                self.open.1.push(line);
                return false;
            }
            Compare::End => (None, change),
        };
        (cx.navigation.route.against, cx.navigation.route.change) = (old, new);
        true
    }

    /// Shows the two, if the address has them.
    pub fn present(&mut self, object: &InspectedObject, cx: &mut Context<'_>) {
        let (change, Some(against)) = (&cx.navigation.route.change, &cx.navigation.route.against) else {
            return cx.view.inspector.comparison.put(None);
        };
        let history = &cx.watching.history;
        let kept = cx.versions_of(object.kind, &object.key);
        let old = find(against, &kept);
        let new = change.as_ref().map_or(kept.len().checked_sub(1), |change| find(change, &kept));
        let made = old.zip(new).map(|(old, new)| {
            let two = (kept[old].sequence, kept[new].sequence);
            if self.open.0 != Some(two) {
                self.open = (Some(two), Vec::new());
            }
            let key = (two.0, two.1, self.open.1.len());
            let made = self.made.take().filter(|(of, _)| *of == key);
            let make = || make(object, &history.version(&kept[old]), &history.version(&kept[new]), &self.open.1);
            let made = made.map_or_else(make, |(_, made)| made);
            self.made = Some((key, made.clone()));
            made
        });
        let words = cx.words();
        let say = |entry: &Entry| {
            let mark = MarkType::from(entry.delta_type);
            format!("{} {} {} · {}", words.time_of_day(entry.at), mark.glyph(), mark.name(), entry.resource_version)
        };
        let first = kept.len().saturating_sub(OFFERED);
        let offered = (0..kept.len()).rev().filter(|at| *at >= first || Some(*at) == old || Some(*at) == new);
        let said = match (old.map(|at| &kept[at]), new.map(|at| &kept[at]), &made) {
            (Some(old), Some(new), Some(made)) => said(old, new, made),
            (old, _, _) => {
                let lost = if old.is_none() { Some(against) } else { change.as_ref() };
                let version = lost.map(|lost| format!(" {}", lost.resource_version)).unwrap_or_default();
                format!(
                    "The version{version} is not kept: it was evicted, or another visit had it. Choose another one."
                )
            }
        };
        let made = made.filter(|made| made.trouble.is_empty());
        let is_made = made.is_some();
        let Made { fields, rows, .. } = made.unwrap_or_default();
        let model = ComparisonModel {
            choices: offered.map(|at| (kept[at].sequence, say(&kept[at]))).collect(),
            older: first,
            old: old.map(|at| kept[at].sequence),
            new: new.map(|at| kept[at].sequence),
            follows: change.is_none(),
            words: said,
            is_made,
            as_fields: self.as_fields,
            fields,
            rows,
        };
        cx.view.inspector.comparison.put(Some(Arc::new(model)));
    }
}

/// What is to be said of two versions.
fn said(old: &Entry, new: &Entry, made: &Made) -> String {
    if !made.trouble.is_empty() {
        return made.trouble.to_owned();
    }
    if old.sequence == new.sequence {
        return String::from("Both are the same version.");
    }
    let Made { fields, rows, .. } = made;
    let differ = match fields.changes.len() + fields.more {
        0 => String::from("Nothing differs but resourceVersion and managedFields"),
        1 => String::from("1 field differs"),
        count => format!("{} fields differ", grouped(count as u64)),
    };
    let apart = match new.at - old.at {
        apart if apart < 0.0 => format!("; the right one is the older one, by {}", duration(-apart)),
        apart => format!("; {} lie between them", duration(apart)),
    };
    let lines = format!(", −{} +{} lines", rows.counts.0, rows.counts.1);
    let others =
        if old.uid == new.uid { "" } else { " They are two objects, which had this name one after the other." };
    format!("{differ}{lines}{apart}.{others}")
}

fn make(object: &InspectedObject, old: &Version, new: &Version, open: &[usize]) -> Made {
    let trouble = |trouble| Made { trouble, ..Made::default() };
    let (Some(old), Some(new)) = (&old.text, &new.text) else {
        return trouble("One of them is known only by its absence from a list: there is no text of it to compare.");
    };
    let read = |text: &str| serde_json::from_str::<Value>(text).ok().map(|value| with_type(object.kind, value));
    let (Some(before), Some(now), Ok(fields)) = (read(old), read(new), diff_field("", old, new)) else {
        return trouble("One of them cannot be read.");
    };
    let rows = Arc::new(rows(&before, &now, open));
    Made { trouble: "", fields: Arc::new(fields.unwrap_or_default()), rows }
}
