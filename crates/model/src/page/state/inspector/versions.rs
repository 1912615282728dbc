//! The versions of the selected object that this session received.

use std::ops::Range;
use std::sync::Arc;

use kubechurn_client::cache::delta::DeltaType;

use crate::page::history::Entry;
use crate::page::inspector::versions;
use crate::page::state::Page;
use crate::page::state::inspector::Inspection;
use crate::page::view::inspector::VersionsModel;

impl Inspection {
    /// The places of the versions that are shown among those that are kept, the oldest first.
    pub(super) fn shown(&self, kept: &[Entry]) -> Range<usize> {
        let newest = self.newest.map(|newest| kept.partition_point(|entry| entry.sequence <= newest));
        let end = newest.unwrap_or(kept.len());
        end.saturating_sub(self.most)..end
    }
}

impl Page {
    /// Shows the newest versions, and how many are no longer kept.
    pub(super) fn present_versions(&mut self, open: &mut Inspection) {
        let history = &self.watching.history;
        let kept = history.of(&open.kind.resource, &open.key);
        let range = open.shown(&kept);
        let (older, newer) = (range.start, kept.len() - range.end);
        let mut shown = Vec::with_capacity(range.len());
        for (at, entry) in kept.iter().enumerate().take(range.end).skip(older) {
            let read = open.read.entry(entry.sequence).or_insert_with(|| {
                let before = at.checked_sub(1).map(|before| history.version(&kept[before]));
                Arc::new(versions::show(&history.version(entry), before.as_ref()))
            });
            shown.push(read.clone());
        }
        // A version that the history no longer keeps is not shown either.
        let oldest = kept.first().map_or(u64::MAX, |version| version.sequence);
        open.read.retain(|sequence, _| *sequence >= oldest);
        shown.reverse();
        let uid = open.row.as_ref().map(|row| row.uid.clone()).or_else(|| Some(kept.last()?.uid.clone()));
        let (count, perhaps) = uid.map_or((0, false), |uid| history.let_go(&uid, &open.kind.resource, &open.key));
        let keeps = if history.is_off() {
            String::from("the recorder is off")
        } else {
            format!("the recorder keeps {} MB", history.bytes().1 / 1_000_000)
        };
        let began = kept.first().is_some_and(|first| first.delta_type == DeltaType::Added);
        let let_go = match (count, perhaps && !began) {
            (0, false) => String::new(),
            (0, true) => format!("Older versions may have been evicted: {keeps}."),
            (1, _) => format!("1 older version was evicted: {keeps}."),
            (count, _) => format!("{count} older versions were evicted: {keeps}."),
        };
        let model = VersionsModel { shown, older, newer, marked: open.marked, let_go, resynced: self.resynced() };
        self.out.view.inspector.versions.put(model);
    }

    /// Shows how often resyncs repeated the object, if that changed.
    pub(super) fn present_resynced(&mut self) {
        let resynced = self.resynced();
        let shown = &mut self.out.view.inspector.versions;
        if shown.resynced != resynced {
            shown.put(VersionsModel { resynced, ..VersionsModel::clone(shown) });
        }
    }

    /// How often resyncs repeated the object since its newest version, and when the last one did.
    fn resynced(&self) -> Option<(u64, f64)> {
        let (kind, key) = self.selected_number()?;
        self.watching.watches.timeline()?.resyncs_since_change(kind, &key)
    }
}
