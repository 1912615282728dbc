//! The marks of closed groups: how many of each type came in each part of the window, for the groups on the screen.
//!
//! All of them are counted in one pass over the marks of the window, the newest first. A scene counts some ten thousand
//! of them. Afterwards only new marks are counted, as long as the groups on the screen and the scale stay the same.
//! While other groups are counted, those that were counted before are drawn.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use crate::kind_id::KindId;
use crate::timeline::blocks::Block;
use crate::timeline::groups::GroupId;
use crate::timeline::groups::index::Index;
use crate::timeline::mark::{Counts, Mark, MarkType};
use crate::timeline::marks::Marks;
use crate::timeline::scale::Scale;

/// A scene counts so many marks.
const AT_ONCE: usize = 20_000;

/// Where marks that one manager made are counted, they are counted anew when one of so many is evicted.
const LOST: u64 = 64;

/// How wide a part is, in pixels.
pub(super) const PART: f64 = 2.0;

/// More parts than any screen has.
const MOST_PARTS: i64 = 20_000;

/// What came in a part of the window.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    /// The marks together. Its last mark is of [`Part::kind`]; its states mean nothing.
    pub(super) block: Block,
    pub(super) kind: KindId,
    /// The newest delete: its time, its number, and its kind.
    pub(super) delete: Option<(f64, u64, KindId)>,
}

/// The marks of one group.
#[derive(Debug, Default)]
struct Parts {
    first: i64,
    parts: VecDeque<Option<Part>>,
}

impl Parts {
    fn add(&mut self, at: i64, mark: &Mark<'_>, kind: KindId) {
        if self.parts.is_empty() {
            self.first = at;
        }
        let (before, after) = (self.first - at, at - self.first - self.parts.len() as i64 + 1);
        if before.max(after) > MOST_PARTS {
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

    fn drop_before(&mut self, at: i64) {
        while self.first < at && self.parts.pop_front().is_some() {
            self.first += 1;
        }
    }
}

/// What is counted, and how far that is.
#[derive(Debug, Default)]
struct Counted {
    groups: FxHashMap<GroupId, (u32, Parts)>,
    ms_per_part: f64,
    /// When the window begins of which marks are counted.
    from: f64,
    /// Of each kind the marks that are counted: `first <= seq < end`.
    seqs: Vec<(u64, u64)>,
}

impl Counted {
    /// Whether marks of this scale, and of these groups, are counted.
    fn is_of(&self, groups: &[(GroupId, u32)], scale: &Scale) -> bool {
        self.has_scale(scale)
            && self.groups.len() == groups.len()
            && groups.iter().all(|(id, revision)| self.groups.get(id).is_some_and(|(own, _)| own == revision))
    }

    fn has_scale(&self, scale: &Scale) -> bool {
        let part = scale.ms_per_pixel() * PART;
        (self.ms_per_part - part).abs() <= part * 1e-9
    }

    fn begin(groups: &[(GroupId, u32)], scale: &Scale, (marks, index): (&[&Marks], &Index)) -> Counted {
        let end = |(kind, own): (usize, &&Marks)| {
            let end = own.ring.after(scale.window.to).min(index.known(kind).1);
            (end, end)
        };
        Counted {
            groups: groups.iter().map(|(id, revision)| (*id, (*revision, Parts::default()))).collect(),
            ms_per_part: scale.ms_per_pixel() * PART,
            from: scale.window.from,
            seqs: marks.iter().enumerate().map(end).collect(),
        }
    }

    /// Counts marks of the window that are not counted yet, the newest first, at most `left`. Returns whether some are
    /// left.
    fn go_on(&mut self, marks: &[&Marks], index: &Index, scale: &Scale, mut left: usize) -> bool {
        let mut is_behind = false;
        let mut seqs = std::mem::take(&mut self.seqs);
        for ((kind, own), (first, end)) in (0..).map(KindId).zip(marks).zip(&mut seqs) {
            let ring = &own.ring;
            let (first_known, end_known) = index.known(kind.index());
            let upto = ring.after(scale.window.to).min(end_known);
            while *end < upto && left > 0 {
                self.add(ring.get(*end), kind, index);
                *end += 1;
                left -= 1;
            }
            let from = ring.from(scale.window.from).max(first_known);
            while *first > from && left > 0 {
                *first -= 1;
                self.add(ring.get(*first), kind, index);
                left -= 1;
            }
            is_behind |= *end < upto || *first > from;
        }
        self.seqs = seqs;
        is_behind
    }

    fn add(&mut self, mark: Option<Mark<'_>>, kind: KindId, index: &Index) {
        let Some(mark) = mark else { return };
        let Some(at) = index.of_mark(kind, &mark) else { return };
        let part = (mark.at / self.ms_per_part).floor() as i64;
        for at in [at].into_iter().chain(index.around(at)) {
            if let Some((_, parts)) = self.groups.get_mut(&index.id(at)) {
                parts.add(part, &mark, kind);
            }
        }
    }

    fn drop_before(&mut self, from: f64, marks: &[&Marks]) {
        // Half a window more is kept, so that one can move about in it.
        let first = (from / self.ms_per_part).floor() as i64;
        self.groups.values_mut().for_each(|(_, parts)| parts.drop_before(first));
        self.from = first as f64 * self.ms_per_part;
        for ((first, end), own) in self.seqs.iter_mut().zip(marks) {
            *first = (*first).max(own.ring.from(self.from)).min(*end);
        }
    }
}

/// The marks of the closed groups on the screen.
#[derive(Debug, Default)]
pub(super) struct GroupMarks {
    shown: Counted,
    /// What is shown as soon as all is counted.
    next: Option<Counted>,
}

impl GroupMarks {
    pub(super) fn bytes(&self) -> usize {
        let all = self.shown.groups.values().chain(self.next.iter().flat_map(|next| next.groups.values()));
        all.map(|(_, parts)| parts.parts.capacity() * size_of::<Option<Part>>()).sum()
    }

    /// Counts the marks of these groups, each with its revision. Returns whether some are left.
    pub(super) fn count(&mut self, groups: &[(GroupId, u32)], scale: &Scale, known: (&[&Marks], &Index)) -> bool {
        let (marks, index) = known;
        if groups.is_empty() {
            *self = GroupMarks::default();
            return false;
        }
        let window = scale.window;
        let far = self.shown.seqs.len() != marks.len() || self.shown.is_far(marks, scale);
        let has_lost = index.is_by_manager() && self.shown.has_lost(marks);
        if self.shown.is_of(groups, scale) && !far && !has_lost {
            self.next = None;
        } else if self.next.as_ref().is_none_or(|next| !next.is_of(groups, scale) || next.is_far(marks, scale)) {
            self.next = Some(Counted::begin(groups, scale, known));
        }
        if let Some(next) = &mut self.next {
            if next.go_on(marks, index, scale, AT_ONCE) {
                if self.shown.has_scale(scale) && !far {
                    // What is shown meanwhile goes on, too.
                    self.shown.go_on(marks, index, scale, AT_ONCE / 4);
                }
                return true;
            }
            self.shown = std::mem::take(next);
            self.next = None;
        }
        let is_behind = self.shown.go_on(marks, index, scale, AT_ONCE);
        let kept = window.from - window.span() / 2.0;
        if self.shown.from < kept - window.span() / 2.0 || self.shown.from > window.from {
            self.shown.drop_before(kept, marks);
        }
        is_behind
    }

    /// The parts of a group that are in the window, from left to right.
    pub(super) fn of(&self, id: GroupId, scale: &Scale) -> impl Iterator<Item = &Part> {
        let has = |counted: &&Counted| counted.has_scale(scale) && counted.groups.contains_key(&id);
        let counted = Some(&self.shown).filter(has).or_else(|| self.next.as_ref().filter(has));
        let parts = counted.and_then(|counted| counted.groups.get(&id));
        let window = scale.window;
        let all = parts.into_iter().flat_map(|(_, parts)| parts.parts.iter().flatten());
        all.filter(move |part| part.block.last_at >= window.from && part.block.first_at <= window.to)
    }

    /// How many frames of each type a group has in the window, as far as they are counted.
    pub(super) fn counts(&self, id: GroupId, scale: &Scale) -> Counts {
        let mut counts = Counts::default();
        self.of(id, scale).for_each(|part| counts += &part.block.counts);
        counts
    }
}

impl Counted {
    /// Whether so many of the counted marks are evicted that it is better to begin anew.
    fn has_lost(&self, marks: &[&Marks]) -> bool {
        let (mut lost, mut all) = (0, 0);
        for ((first, end), own) in self.seqs.iter().zip(marks) {
            lost += own.ring.first_seq().min(*end).saturating_sub(*first);
            all += end - first;
        }
        lost * LOST > all
    }

    /// Whether the window is far from what is counted, so that it is better to begin anew.
    fn is_far(&self, marks: &[&Marks], scale: &Scale) -> bool {
        self.seqs.iter().zip(marks).any(|((first, end), own)| {
            let (from, upto) = (own.ring.from(scale.window.from), own.ring.after(scale.window.to));
            let is_apart = (*first > upto || *end < from) && from < upto;
            // What is right of the window takes memory, too.
            is_apart || own.ring.after(scale.window.to + 2.0 * scale.window.span()) < *end
        })
    }
}
