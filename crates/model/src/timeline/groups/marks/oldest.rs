//! What is known of the oldest marks that are counted, so that they can be taken off the counts when they are evicted:
//! nothing else tells then to which group they belonged.

use std::collections::VecDeque;

use crate::timeline::groups::GroupId;
use crate::timeline::groups::marks::parts::Frames;

/// So many of the oldest marks of a kind are known: more than are evicted between two scenes, where up to a few thousand are
/// evicted at once.
pub(super) const MOST: u64 = 12_288;

/// A mark as one of the groups counts it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Counted {
    pub(super) seq: u64,
    pub(super) id: GroupId,
    pub(super) part: i64,
    /// The place in [`Frames`], and the frames.
    pub(super) mark_type: u8,
    pub(super) frames: u32,
}

impl Counted {
    pub(super) fn frames(&self) -> Frames {
        let mut frames = Frames::default();
        if let Some(count) = frames.get_mut(usize::from(self.mark_type)) {
            *count = self.frames;
        }
        frames
    }
}

/// The oldest counted marks of a kind.
#[derive(Debug, Default)]
pub(super) struct Oldest {
    /// What is known are the marks with `first <= seq < end`.
    pub(super) first: u64,
    pub(super) end: u64,
    /// Those of them that a group counts.
    pub(super) marks: VecDeque<Counted>,
}

impl Oldest {
    pub(super) fn bytes(&self) -> usize {
        self.marks.capacity() * size_of::<Counted>()
    }

    /// Has what is known begin at this mark, and calls back with those before it.
    pub(super) fn begin_at(&mut self, first: u64, mut take: impl FnMut(&Counted)) {
        while let Some(mark) = self.marks.front().filter(|mark| mark.seq < first) {
            take(mark);
            self.marks.pop_front();
        }
        if first < self.first || first > self.end {
            self.marks.clear();
            self.end = first;
        }
        self.first = first;
    }
}
