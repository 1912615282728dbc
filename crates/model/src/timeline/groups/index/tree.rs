//! How entries are linked: what is below what, and what that comes to for everything around it.

use crate::timeline::groups::index::{DEEPEST, Entry, Index, NONE, ROOT, entry};

impl Index {
    /// Whether an entry may stand below another one.
    pub(super) fn fits(&self, at: u32, parent: u32) -> bool {
        if parent == ROOT {
            return true;
        }
        let depth = 1 + self.around(parent).count();
        let is_in_itself = at == parent || self.around(parent).any(|around| around == at);
        !is_in_itself && depth + usize::from(self.entries[at as usize].height) < usize::from(DEEPEST)
    }

    pub(super) fn make(&mut self) -> u32 {
        let at = match self.free.pop() {
            Some(at) => {
                let generation = self.entries[at as usize].generation;
                self.entries[at as usize] = entry(generation, self.opens);
                at
            }
            None => {
                self.entries.push(entry(0, self.opens));
                (self.entries.len() - 1) as u32
            }
        };
        self.link(at, ROOT);
        at
    }

    /// Frees an entry that is neither a lane nor has anything below it, and then what was around it alone.
    pub(super) fn free_if_empty(&mut self, at: u32) {
        let Some(entry) = self.get(at).filter(|entry| entry.lane.is_none() && entry.first_child == NONE) else {
            return;
        };
        if at == ROOT || entry.parent == NONE {
            return;
        }
        let parent = entry.parent;
        if let Some(anchor) = entry.label.as_ref().map(|label| label.anchor.clone()) {
            self.anchors.remove(&anchor);
        }
        self.unlink(at);
        let entry = &mut self.entries[at as usize];
        entry.generation = entry.generation.wrapping_add(1);
        (entry.parent, entry.label) = (NONE, None);
        self.free.push(at);
        self.free_if_empty(parent);
    }

    /// Puts an entry below another one.
    pub(super) fn move_to(&mut self, at: u32, parent: u32) {
        let Entry { members, lane, first_at, last_at, height, parent: before, .. } = self.entries[at as usize];
        let count = members + u32::from(lane.is_some());
        // Marks that come from now on are counted when they come.
        let is_known = first_at <= self.before;
        self.change(before, |entry| {
            entry.members = entry.members.saturating_sub(count);
            entry.revision = entry.revision.wrapping_add(u32::from(is_known));
        });
        self.unlink(at);
        self.link(at, parent);
        let mut below = height;
        self.change(parent, |entry| {
            below = below.saturating_add(1);
            entry.height = entry.height.max(below);
            entry.members += count;
            entry.first_at = entry.first_at.min(first_at);
            entry.last_at = entry.last_at.max(last_at);
            entry.revision = entry.revision.wrapping_add(u32::from(is_known));
        });
        if before != ROOT {
            self.free_if_empty(before);
        }
    }

    /// Changes an entry and all that are around it.
    pub(super) fn change(&mut self, at: u32, mut change: impl FnMut(&mut Entry)) {
        let mut next = at;
        for _ in 0..=DEEPEST {
            let Some(entry) = self.entries.get_mut(next as usize).filter(|_| next != ROOT) else { return };
            change(entry);
            next = entry.parent;
        }
    }

    pub(super) fn link(&mut self, at: u32, parent: u32) {
        let first = std::mem::replace(&mut self.entries[parent as usize].first_child, at);
        let entry = &mut self.entries[at as usize];
        (entry.parent, entry.next, entry.previous) = (parent, first, NONE);
        if let Some(first) = self.entries.get_mut(first as usize) {
            first.previous = at;
        }
    }

    pub(super) fn unlink(&mut self, at: u32) {
        let Entry { parent, next, previous, .. } = self.entries[at as usize];
        match self.entries.get_mut(previous as usize) {
            Some(entry) => entry.next = next,
            None => self.entries[parent as usize].first_child = next,
        }
        if let Some(entry) = self.entries.get_mut(next as usize) {
            entry.previous = previous;
        }
    }
}
