//! What came in each part of the window.

use std::collections::VecDeque;

use crate::kind_id::KindId;
use crate::timeline::scale::Window;
use crate::timeline::store::block::Block;
use crate::timeline::store::mark::{Mark, MarkType};

/// More parts than any screen has.
const MOST: i64 = 20_000;

/// Frames by the types of objects' marks, as [`Block::counts`] has them.
pub(crate) type Frames = [u32; 5];

/// What came in a part of the window.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    /// The marks together. Its last mark is of [`Part::kind`]; its states mean nothing.
    pub(crate) block: Block,
    pub(crate) kind: KindId,
    /// The newest delete: its time, its number, and its kind.
    pub(crate) delete: Option<(f64, u64, KindId)>,
}

impl Part {
    /// Takes frames off. Returns whether some are left.
    pub(crate) fn take(&mut self, frames: &Frames) -> bool {
        for (count, less) in self.block.counts.iter_mut().zip(frames) {
            *count = count.saturating_sub(*less);
        }
        if self.block.deletes() == 0 {
            self.delete = None;
        }
        self.block.frames() > 0
    }

    /// Has all times within a window in which the part's marks are.
    pub(crate) fn clip(&mut self, window: Window) {
        let clipped = |at: f64| at.max(window.from).min(window.to);
        (self.block.first_at, self.block.last_at) = (clipped(self.block.first_at), clipped(self.block.last_at));
        self.delete = self.delete.map(|(at, seq, kind)| (clipped(at), seq, kind));
    }
}

/// The marks of one group.
#[derive(Debug, Default)]
pub(crate) struct Parts {
    first: i64,
    parts: VecDeque<Option<Part>>,
}

impl Parts {
    pub(crate) fn bytes(&self) -> usize {
        self.parts.capacity() * size_of::<Option<Part>>()
    }

    pub(crate) fn add(&mut self, at: i64, mark: &Mark<'_>, kind: KindId) {
        if self.parts.is_empty() {
            self.first = at;
        }
        let (before, after) = (self.first - at, at - self.first - self.parts.len() as i64 + 1);
        if before.max(after) > MOST {
            return;
        }
        for _ in 0..before {
            self.parts.push_front(None);
            self.first -= 1;
        }
        for _ in 0..after {
            self.parts.push_back(None);
        }
        let Some(place) = self.parts.get_mut((at - self.first) as usize) else { return };
        let delete = (mark.mark_type == MarkType::Deleted).then_some((mark.at, mark.seq, kind));
        let one = Block::of(mark);
        let Some(part) = place else {
            *place = Some(Part { block: one, kind, delete });
            return;
        };
        for (sum, count) in part.block.counts.iter_mut().zip(one.counts) {
            *sum = sum.saturating_add(count);
        }
        part.block.first_at = part.block.first_at.min(mark.at);
        if mark.at > part.block.last_at || (kind == part.kind && mark.seq > part.block.last_seq) {
            (part.block.last_at, part.block.last_seq, part.kind) = (mark.at.max(part.block.last_at), mark.seq, kind);
        }
        if let Some(delete) = delete.filter(|delete| part.delete.is_none_or(|(at, ..)| delete.0 >= at)) {
            part.delete = Some(delete);
        }
    }

    /// Takes the frames of a mark out of the part in which it was counted.
    pub(crate) fn take(&mut self, at: i64, frames: &Frames) {
        let place = at.checked_sub(self.first).and_then(|at| self.parts.get_mut(usize::try_from(at).ok()?));
        let Some(place) = place else { return };
        if place.as_mut().is_some_and(|part| !part.take(frames)) {
            *place = None;
        }
    }

    /// The parts from one number to another, with their numbers.
    pub(crate) fn between(&self, from: i64, to: i64) -> impl Iterator<Item = (i64, &Part)> {
        let place = |at: i64| at.saturating_sub(self.first).clamp(0, self.parts.len() as i64) as usize;
        let (from, end) = (place(from), place(to.saturating_add(1)));
        let parts = self.parts.range(from.min(end)..end);
        (self.first + from as i64..).zip(parts).filter_map(|(at, part)| Some((at, part.as_ref()?)))
    }

    pub(crate) fn drop_before(&mut self, at: i64) {
        while self.first < at && self.parts.pop_front().is_some() {
            self.first += 1;
        }
    }
}
