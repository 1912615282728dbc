//! The part in which an end of the window lies: its marks that are not in the window, which are taken off its counts.
//!
//! When the window moves, only the marks are looked at that come in or go out, because a part may have very many.

use rustc_hash::FxHashMap;

use crate::kind_id::KindId;
use crate::timeline::lanes::choice::GroupId;
use crate::timeline::lanes::counts::parts::{Frames, Part};

/// The marks of a part that are beyond an end of the window.
#[derive(Debug, Default)]
pub(crate) struct Edge {
    part: Option<i64>,
    /// Of each kind the marks that are counted: `first <= seq < end`.
    seqs: Vec<(u64, u64)>,
    /// The frames of each group.
    beyond: FxHashMap<GroupId, Frames>,
}

impl Edge {
    pub(crate) fn bytes(&self) -> usize {
        self.beyond.capacity() * (size_of::<(GroupId, Frames)>() + 1) + self.seqs.capacity() * size_of::<(u64, u64)>()
    }

    /// Has these marks of a part counted, by kind: looks at most at `left` marks, and takes those off it. `owners`
    /// calls back with each group of a mark, and the mark's frames. Returns whether something is left to do.
    pub(crate) fn go_on(
        &mut self,
        (part, wanted): (i64, &[(u64, u64)]),
        left: &mut usize,
        owners: impl Fn(KindId, u64, &mut dyn FnMut(GroupId, Frames)),
    ) -> bool {
        if self.part != Some(part) || self.seqs.len() != wanted.len() {
            (self.part, self.seqs) = (Some(part), wanted.iter().map(|(first, _)| (*first, *first)).collect());
            self.beyond.clear();
        }
        let beyond = &mut self.beyond;
        let mut change = |kind: KindId, seq: u64, is_new: bool| {
            owners(kind, seq, &mut |id, frames| {
                let own = beyond.entry(id).or_default();
                for (count, frames) in own.iter_mut().zip(frames) {
                    *count = if is_new { count.saturating_add(frames) } else { count.saturating_sub(frames) };
                }
            });
        };
        for ((kind, (first, end)), wanted) in (0..).map(KindId).zip(&mut self.seqs).zip(wanted) {
            while *left > 0 && (*first, *end) != *wanted {
                *left -= 1;
                if *first == *end {
                    (*first, *end) = (wanted.0, wanted.0);
                    if wanted.0 == wanted.1 {
                        continue;
                    }
                }
                if *first < wanted.0 {
                    change(kind, *first, false);
                    *first += 1;
                } else if *end > wanted.1 {
                    *end -= 1;
                    change(kind, *end, false);
                } else if *first > wanted.0 {
                    *first -= 1;
                    change(kind, *first, true);
                } else {
                    change(kind, *end, true);
                    *end += 1;
                }
            }
        }
        self.seqs != wanted
    }

    /// Takes out a mark of a kind that is evicted.
    pub(crate) fn evict(&mut self, (kind, seq): (KindId, u64), id: GroupId, frames: &Frames) {
        let is_counted = self.seqs.get(kind.index()).is_some_and(|(first, end)| (*first..*end).contains(&seq));
        if let Some(own) = self.beyond.get_mut(&id).filter(|_| is_counted) {
            for (count, less) in own.iter_mut().zip(frames) {
                *count = count.saturating_sub(*less);
            }
        }
    }

    /// All marks of a kind before this one are evicted.
    pub(crate) fn begin_at(&mut self, kind: KindId, oldest: u64) {
        if let Some((first, end)) = self.seqs.get_mut(kind.index()) {
            (*first, *end) = ((*first).max(oldest), (*end).max(oldest));
        }
    }

    /// Takes what is beyond the window off the part of a group. Returns whether something is left.
    pub(crate) fn cut(&self, id: GroupId, at: i64, part: &mut Part) -> bool {
        let beyond = if self.part == Some(at) { self.beyond.get(&id) } else { None };
        beyond.is_none_or(|beyond| part.take(beyond))
    }
}
