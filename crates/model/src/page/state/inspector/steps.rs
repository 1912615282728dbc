//! From one change of the selected object to another: the inspector shows it, and the timeline has it in sight.

use crate::page::environment::Environment;
use crate::page::inspector::tab::Tab;
use crate::page::state::Page;
use crate::page::state::inspector::VERSIONS;

impl Page {
    /// Goes so many changes on, or back to older ones; at first to the newest.
    pub(super) fn step_change(&mut self, by: isize, env: &dyn Environment) {
        let Some(open) = &self.inspector.open else { return };
        let kept = self.watching.history.of(&open.kind.resource, &open.key);
        let Some(last) = kept.len().checked_sub(1) else { return };
        let at = match open.marked {
            Some(marked) => kept.partition_point(|entry| entry.sequence < marked).saturating_add_signed(by).min(last),
            None => last,
        };
        if let Some(entry) = kept.get(at) {
            self.show_change(entry.sequence, env);
        }
    }

    /// Shows a version among the object's changes, and marks it. Does nothing if the version is no longer kept.
    pub(super) fn show_change(&mut self, sequence: u64, env: &dyn Environment) {
        let Some(open) = &mut self.inspector.open else { return };
        let kept = self.watching.history.of(&open.kind.resource, &open.key);
        let Some(at) = kept.iter().position(|entry| entry.sequence == sequence) else { return };
        open.marked = Some(sequence);
        let shown = open.shown(&kept);
        if !shown.contains(&at) {
            // As many versions as at first, with the marked one in their middle.
            open.most = VERSIONS;
            open.newest = kept.get(at + VERSIONS / 2).map(|entry| entry.sequence);
        }
        self.timeline.show(kept[at].at, env.now());
        self.go_to_tab(Tab::Changes);
    }
}
