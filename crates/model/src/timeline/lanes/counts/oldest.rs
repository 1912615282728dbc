//! What is known of the oldest marks that are counted, so that they can be taken off the counts when they are evicted:
//! nothing else shows then to which group they belonged.

use std::collections::VecDeque;

use crate::timeline::lanes::choice::GroupId;
use crate::timeline::lanes::counts::parts::Frames;

/// So many of the oldest marks of a kind are known: more than are evicted between two scenes, where up to a few
/// thousand are evicted at once.
pub(crate) const MOST: u64 = 12_288;

/// A mark as one of the groups counts it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CountedMark {
    pub(crate) seq: u64,
    pub(crate) id: GroupId,
    pub(crate) part: i64,
    /// The place in [`Frames`], and the frames.
    pub(crate) mark_type: u8,
    pub(crate) frames: u32,
}

impl CountedMark {
    pub(crate) fn frames(&self) -> Frames {
        let mut frames = Frames::default();
        if let Some(count) = frames.get_mut(usize::from(self.mark_type)) {
            *count = self.frames;
        }
        frames
    }
}

/// The oldest counted marks of a kind.
#[derive(Debug, Default)]
pub(crate) struct Oldest {
    /// What is known are the marks with `first <= seq < end`.
    pub(crate) first: u64,
    pub(crate) end: u64,
    /// Those of them that a group counts.
    pub(crate) marks: VecDeque<CountedMark>,
}

impl Oldest {
    pub(crate) fn bytes(&self) -> usize {
        self.marks.capacity() * size_of::<CountedMark>()
    }

    /// Has what is known begin at this mark, and calls back with those before it.
    pub(crate) fn begin_at(&mut self, first: u64, mut take: impl FnMut(&CountedMark)) {
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
