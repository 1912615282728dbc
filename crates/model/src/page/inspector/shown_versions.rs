//! The versions of the inspected object that this session received, as far as the user looks at them.

use std::ops::Range;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use kubechurn_client::cache::delta::DeltaType;

use crate::history::Entry;
use crate::history::who::joining;
use crate::inspector::unified::unified;
use crate::inspector::versions::{ShownVersion, show};
use crate::inspector::yaml;
use crate::navigation::route::ChosenVersion;
use crate::page::context::Context;
use crate::page::inspector::comparison::find;
use crate::page::inspector::full_text::with_type;
use crate::page::inspector::object::InspectedObject;
use crate::view::inspector::VersionsModel;

/// How many versions are read at first. More are read on demand.
const FIRST: usize = 40;

/// The versions that are shown.
#[derive(Debug)]
pub struct ShownVersions {
    /// The versions that were read, by sequence number.
    read: FxHashMap<u64, Arc<ShownVersion>>,
    /// How many versions are shown.
    most: usize,
    /// The number of the newest version that is shown; `None` for the newest that is kept.
    newest: Option<u64>,
    /// The number of the version that is marked.
    marked: Option<u64>,
    /// The version of the address to which this went last.
    followed: Option<ChosenVersion>,
}

impl Default for ShownVersions {
    fn default() -> ShownVersions {
        ShownVersions { read: FxHashMap::default(), most: FIRST, newest: None, marked: None, followed: None }
    }
}

impl ShownVersions {
    /// Shows the newest versions again.
    pub fn show_newest(&mut self) {
        (self.newest, self.most) = (None, FIRST);
    }

    /// Reads the versions again when they are shown, because their times are shown by another clock.
    pub fn read_again(&mut self) {
        self.read.clear();
    }

    /// The number of the version that is marked.
    pub fn marked(&self) -> Option<u64> {
        self.marked
    }

    /// Shows older versions as well.
    pub fn show_older(&mut self) {
        self.most += 5 * FIRST;
    }

    /// The lines of YAML in which the version that is marked, or else the newest, differs from the one that it is compared with,
    /// or else from the one before it; with the times at which both came, as `diff -u` writes those of files.
    pub fn difference(&self, object: &InspectedObject, cx: &Context<'_>) -> Option<String> {
        let history = &cx.watching.history;
        let kept = cx.versions_of(object.kind, &object.key);
        let is_marked = |entry: &Entry| self.marked.is_none_or(|marked| entry.sequence == marked);
        let at = kept.iter().rposition(is_marked)?;
        let before = match &cx.navigation.route.against {
            Some(against) => find(against, &kept)?,
            None => at.checked_sub(1)?,
        };
        let (old, new) = (&kept[before], &kept[at]);
        let read = |entry: &Entry| {
            let value = serde_json::from_str(&history.version(entry).text?).ok()?;
            let (kind, time) = (object.kind.resource.kind, cx.words().rfc3339(entry.at));
            let name = format!("{kind} {} {}\t{time}", object.key, entry.resource_version);
            Some((name, yaml::text(&with_type(object.kind, value), false)))
        };
        let ((old_name, old), (new_name, new)) = (read(old)?, read(new)?);
        Some(unified((&old_name, &old), (&new_name, &new))).filter(|text| !text.is_empty())
    }

    /// Goes to the version that the address names, once. One that is not kept, or not yet, is not marked.
    pub fn follow_address(&mut self, object: &InspectedObject, cx: &Context<'_>) {
        let named = &cx.navigation.route.change;
        if *named == self.followed {
            return;
        }
        let Some(change) = named else {
            (self.followed, self.marked) = (None, None);
            self.show_newest();
            return;
        };
        let kept = cx.versions_of(object.kind, &object.key);
        let is_it = |entry: &Entry| {
            entry.sequence == change.sequence && entry.resource_version.to_string() == change.resource_version
        };
        match kept.iter().position(is_it) {
            Some(at) => {
                self.mark(at, &kept);
                self.followed.clone_from(named);
            }
            None => self.marked = None,
        }
    }

    /// The version that is marked, as the address names it. It is where the address leads already.
    pub fn named(&mut self, object: &InspectedObject, cx: &Context<'_>) -> Option<ChosenVersion> {
        let kept = cx.versions_of(object.kind, &object.key);
        let entry = kept.iter().find(|entry| Some(entry.sequence) == self.marked)?;
        let named = ChosenVersion { sequence: entry.sequence, resource_version: entry.resource_version.to_string() };
        self.followed = Some(named.clone());
        Some(named)
    }

    /// Goes so many changes on, or back to older ones; at first to the newest. Returns the time of the change.
    pub fn step(&mut self, by: isize, object: &InspectedObject, cx: &Context<'_>) -> Option<f64> {
        let kept = cx.versions_of(object.kind, &object.key);
        let last = kept.len().checked_sub(1)?;
        let at = match self.marked {
            Some(marked) => kept.partition_point(|entry| entry.sequence < marked).saturating_add_signed(by).min(last),
            None => last,
        };
        Some(self.mark(at, &kept))
    }

    /// Shows the version of this number, and marks it. Returns the time of the change. A version that is no longer kept
    /// changes nothing.
    pub fn go_to(&mut self, sequence: u64, object: &InspectedObject, cx: &Context<'_>) -> Option<f64> {
        let kept = cx.versions_of(object.kind, &object.key);
        let at = kept.iter().position(|entry| entry.sequence == sequence)?;
        Some(self.mark(at, &kept))
    }

    /// Marks the version at this place, and returns its time.
    fn mark(&mut self, at: usize, kept: &[Entry]) -> f64 {
        self.marked = Some(kept[at].sequence);
        let range = self.range(kept);
        // Versions that come later are counted, and do not push the marked one out of sight.
        let newest = if range.contains(&at) {
            range.end - 1
        } else {
            // As many versions as at first, with the marked one in their middle.
            self.most = FIRST;
            (at + FIRST / 2).min(kept.len() - 1)
        };
        self.newest = Some(kept[newest].sequence);
        kept[at].at
    }

    /// The places of the versions that are shown among those that are kept, the oldest first.
    fn range(&self, kept: &[Entry]) -> Range<usize> {
        let newest = self.newest.map(|newest| kept.partition_point(|entry| entry.sequence <= newest));
        let end = newest.unwrap_or(kept.len());
        end.saturating_sub(self.most)..end
    }

    /// Shows the versions, and how many are no longer kept.
    pub fn present(&mut self, object: &InspectedObject, cx: &mut Context<'_>) {
        let history = &cx.watching.history;
        let kept = cx.versions_of(object.kind, &object.key);
        let range = self.range(&kept);
        let (older, newer) = (range.start, kept.len() - range.end);
        let (mut shown, words) = (Vec::with_capacity(range.len()), cx.words());
        for (at, entry) in kept.iter().enumerate().take(range.end).skip(older) {
            let read = self.read.entry(entry.sequence).or_insert_with(|| {
                let before = at.checked_sub(1).map(|before| history.version(&kept[before]));
                let version = show(object.kind.resource.kind, &history.version(entry), before.as_ref());
                Arc::new(ShownVersion { time: words.time_of_day(entry.at), ..version })
            });
            let by = joining::by(history, entry.sequence);
            if read.by != by {
                *read = Arc::new(ShownVersion { by, ..ShownVersion::clone(read) });
            }
            shown.push(read.clone());
        }
        // A version that the history no longer keeps is not shown either.
        let oldest = kept.first().map_or(u64::MAX, |version| version.sequence);
        self.read.retain(|sequence, _| *sequence >= oldest);
        shown.reverse();
        let let_go = evicted(object, &kept, cx);
        let later = cx.watching.history.of(&object.kind.resource, &object.key).len() - kept.len();
        let resynced = resynced(cx);
        let model = VersionsModel { shown, older, newer, later, marked: self.marked, let_go, resynced };
        cx.view.inspector.versions.put(model);
    }
}

/// How many versions were evicted, in words; empty for none.
fn evicted(object: &InspectedObject, kept: &[Entry], cx: &Context<'_>) -> String {
    let history = &cx.watching.history;
    let uid = object.row.as_ref().map(|row| &row.uid).or_else(|| Some(&kept.last()?.uid));
    let (count, perhaps) = uid.map_or((0, false), |uid| history.let_go(uid, &object.kind.resource, &object.key));
    let keeps = if history.is_off() {
        String::from("the recorder is off")
    } else {
        format!("the recorder keeps {} MB", history.bytes().1 / 1_000_000)
    };
    let began = kept.first().is_some_and(|first| first.delta_type == DeltaType::Added);
    match (count, perhaps && !began) {
        (0, false) => String::new(),
        (0, true) => format!("Older versions may have been evicted: {keeps}."),
        (1, _) => format!("1 older version was evicted: {keeps}."),
        (count, _) => format!("{count} older versions were evicted: {keeps}."),
    }
}

/// How often resyncs repeated the object since its newest version, and when the last one did.
fn resynced(cx: &Context<'_>) -> Option<(u64, String, f64)> {
    if cx.watching.moment.is_some() {
        return None;
    }
    let (kind, key) = cx.navigation.selected_in_view()?;
    let (count, at) = cx.watching.watches.timeline()?.resyncs_since_change(kind, &key)?;
    Some((count, cx.words().time_of_day(at), at))
}

/// Shows how often resyncs repeated the object, if that changed.
pub fn present_resynced(cx: &mut Context<'_>) {
    let resynced = resynced(cx);
    let shown = &mut cx.view.inspector.versions;
    if shown.resynced != resynced {
        shown.put(VersionsModel { resynced, ..VersionsModel::clone(shown) });
    }
}
