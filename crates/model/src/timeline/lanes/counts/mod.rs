//! The marks of closed groups: how many of each type came in each part of the window, for the groups on the screen.
//!
//! All of them are counted in one pass over the marks of the window, the newest first. A scene counts some ten thousand
//! of them. Afterwards only new marks are counted, as long as the groups on the screen and the scale stay the same.
//! While other groups are counted, those that were counted before are drawn.
//!
//! What is counted of a group are the marks that are held, and in the window: those that are evicted are taken off the
//! counts (see [`oldest`]), and so are those of a part that are beyond an end of the window (see [`edge`]).

mod edge;
mod oldest;
pub(crate) mod parts;

use rustc_hash::FxHashMap;

use crate::kind_id::KindId;
use crate::timeline::lanes::choice::GroupId;
use crate::timeline::lanes::counts::edge::Edge;
use crate::timeline::lanes::counts::oldest::Oldest;
use crate::timeline::lanes::counts::parts::{Part, Parts};
use crate::timeline::lanes::index::Index;
use crate::timeline::scale::{Scale, Window};
use crate::timeline::store::block::Block;
use crate::timeline::store::mark::{Counts, Mark};
use crate::timeline::store::marks::Marks;
use crate::timeline::store::ring::Ring;

/// A scene counts so many marks.
const AT_ONCE: usize = 20_000;

/// How wide a part is, in pixels.
const PART: f64 = 2.0;

/// The marks of each group that are counted, with the group's revision.
type Groups = FxHashMap<GroupId, (u32, Parts)>;

/// What is counted, and how far that is.
#[derive(Debug, Default)]
struct Counted {
    groups: Groups,
    ms_per_part: f64,
    /// When the window begins of which marks are counted.
    from: f64,
    /// Of each kind the marks that are counted: `first <= seq < end`.
    seqs: Vec<(u64, u64)>,
    /// What is known of the oldest of them.
    oldest: Vec<Oldest>,
    /// The ends of the window.
    edges: [Edge; 2],
    /// Whether marks were evicted of which it was not known where they are counted.
    has_lost: bool,
}

/// The groups that count a mark.
fn owners(groups: &Groups, index: &Index, kind: KindId, mark: &Mark<'_>, mut each: impl FnMut(GroupId)) {
    let Some(at) = index.of_mark(kind, mark) else { return };
    let ids = [at].into_iter().chain(index.tree.around(at)).map(|at| index.tree.id(at));
    ids.filter(|id| groups.contains_key(id)).for_each(&mut each);
}

/// The part in which a time is.
fn part_of(at: f64, ms_per_part: f64) -> i64 {
    (at / ms_per_part).floor() as i64
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

    fn begin(groups: &[(GroupId, u32)], scale: &Scale, marks: &[&Marks], index: &Index) -> Counted {
        let end = |(kind, own): (usize, &&Marks)| {
            let end = own.ring.after(scale.window.to).min(index.known(kind).1);
            (end, end)
        };
        Counted {
            groups: groups.iter().map(|(id, revision)| (*id, (*revision, Parts::default()))).collect(),
            ms_per_part: scale.ms_per_pixel() * PART,
            from: scale.window.from,
            seqs: marks.iter().enumerate().map(end).collect(),
            oldest: marks.iter().map(|_| Oldest::default()).collect(),
            ..Counted::default()
        }
    }

    fn bytes(&self) -> usize {
        let parts: usize = self.groups.values().map(|(_, parts)| parts.bytes()).sum();
        let oldest: usize = self.oldest.iter().map(Oldest::bytes).sum();
        parts + oldest + self.edges.iter().map(Edge::bytes).sum::<usize>()
    }

    /// Takes off what is evicted.
    fn evict(&mut self, marks: &[&Marks]) {
        let Counted { groups, seqs, oldest, edges, has_lost, .. } = self;
        for (((kind, own), (first, end)), known) in (0..).map(KindId).zip(marks).zip(seqs).zip(oldest) {
            let held = own.ring.first_seq();
            if held <= *first {
                continue;
            }
            let gone = held.min(*end);
            *has_lost |= gone > *first && (*first < known.first || gone > known.end);
            known.begin_at(held, |mark| {
                let frames = mark.frames();
                if let Some((_, parts)) = groups.get_mut(&mark.id) {
                    parts.take(mark.part, &frames);
                }
                edges.iter_mut().for_each(|edge| edge.evict((kind, mark.seq), mark.id, &frames));
            });
            edges.iter_mut().for_each(|edge| edge.begin_at(kind, held));
            (*first, *end) = (held, held.max(*end));
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
            let begin = ring.from(scale.window.from);
            let from = begin.max(first_known);
            while *first > from && left > 0 {
                *first -= 1;
                self.add(ring.get(*first), kind, index);
                left -= 1;
            }
            is_behind |= *end < upto || *first > from;
            if *first <= begin {
                self.know_oldest(ring, (kind, *first, *end), index);
            }
        }
        self.seqs = seqs;
        self.go_on_at_edges(marks, index, scale.window, &mut left) || is_behind
    }

    fn add(&mut self, mark: Option<Mark<'_>>, kind: KindId, index: &Index) {
        let Some(mark) = mark else { return };
        let Some(at) = index.of_mark(kind, &mark) else { return };
        let part = part_of(mark.at, self.ms_per_part);
        for at in [at].into_iter().chain(index.tree.around(at)) {
            if let Some((_, parts)) = self.groups.get_mut(&index.tree.id(at)) {
                parts.add(part, &mark, kind);
            }
        }
    }

    /// Notes where the oldest of the counted marks of a kind are counted, if they may be evicted soon.
    fn know_oldest(&mut self, ring: &Ring, (kind, first, end): (KindId, u64, u64), index: &Index) {
        let Some(known) = self.oldest.get_mut(kind.index()) else { return };
        if ring.evicted().total() == 0 {
            return;
        }
        known.begin_at(first, |_| {});
        let upto = end.min(ring.first_seq() + oldest::MOST);
        while known.end < upto {
            if let Some(mark) = ring.get(known.end) {
                let part = part_of(mark.at, self.ms_per_part);
                let (seq, mark_type, frames) = (mark.seq, mark.mark_type as u8, mark.frames());
                owners(&self.groups, index, kind, &mark, |id| {
                    known.marks.push_back(oldest::CountedMark { seq, id, part, mark_type, frames });
                });
            }
            known.end += 1;
        }
    }

    /// Counts what is beyond the ends of the window, in the parts in which these are. Returns whether something is
    /// left.
    fn go_on_at_edges(&mut self, marks: &[&Marks], index: &Index, window: Window, left: &mut usize) -> bool {
        let Counted { groups, ms_per_part, seqs, edges: [begin, end], .. } = self;
        let ms_per_part = *ms_per_part;
        let part = |at: f64| part_of(at, ms_per_part);
        let (from, to) = (part(window.from), part(window.to));
        let wanted = |of: &dyn Fn(&Ring) -> (u64, u64)| -> Vec<(u64, u64)> {
            let counted = |((first, end), own): (&(u64, u64), &&Marks)| {
                let (begin, upto) = of(&own.ring);
                let begin = begin.clamp(*first, *end);
                (begin, upto.clamp(begin, *end))
            };
            seqs.iter().zip(marks).map(counted).collect()
        };
        let before = wanted(&|ring| (ring.partition(|at| part(at) < from), ring.from(window.from)));
        let after = wanted(&|ring| (ring.after(window.to), ring.partition(|at| part(at) <= to)));
        let owners = |kind: KindId, seq: u64, each: &mut dyn FnMut(GroupId, parts::Frames)| {
            let Some(mark) = marks.get(kind.index()).and_then(|own| own.ring.get(seq)) else { return };
            let frames = Block::of(&mark).counts;
            owners(groups, index, kind, &mark, |id| each(id, frames));
        };
        let is_left = begin.go_on((from, &before), left, owners);
        end.go_on((to, &after), left, owners) || is_left
    }

    /// The parts of a group that are in a window, from left to right, without what is beyond it.
    fn within(&self, id: GroupId, window: Window) -> impl Iterator<Item = Part> {
        let [from, to] = [window.from, window.to].map(|at| part_of(at, self.ms_per_part));
        let parts = self.groups.get(&id).map(|(_, parts)| parts.between(from, to));
        parts.into_iter().flatten().filter_map(move |(at, part)| {
            let mut part = *part;
            let is_in = self.edges.iter().all(|edge| edge.cut(id, at, &mut part));
            part.clip(window);
            is_in.then_some(part)
        })
    }

    fn drop_before(&mut self, from: f64, marks: &[&Marks]) {
        // Half a window more is kept, so that one can move about in it.
        let (part, ms_per_part) = (part_of(from, self.ms_per_part), self.ms_per_part);
        self.groups.values_mut().for_each(|(_, parts)| parts.drop_before(part));
        self.from = part as f64 * ms_per_part;
        for ((first, end), own) in self.seqs.iter_mut().zip(marks) {
            *first = (*first).max(own.ring.partition(|at| part_of(at, ms_per_part) < part)).min(*end);
        }
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

/// The marks of the closed groups on the screen.
#[derive(Debug, Default)]
pub(crate) struct GroupCounts {
    shown: Counted,
    /// What is shown as soon as all is counted.
    next: Option<Counted>,
}

impl GroupCounts {
    pub(crate) fn bytes(&self) -> usize {
        self.shown.bytes() + self.next.as_ref().map_or(0, Counted::bytes)
    }

    /// Counts the marks of these groups, each with its revision. Returns whether some are left.
    pub(crate) fn count(&mut self, groups: &[(GroupId, u32)], scale: &Scale, marks: &[&Marks], index: &Index) -> bool {
        if groups.is_empty() {
            *self = GroupCounts::default();
            return false;
        }
        let window = scale.window;
        [&mut self.shown].into_iter().chain(&mut self.next).for_each(|counted| counted.evict(marks));
        let far = self.shown.seqs.len() != marks.len() || self.shown.is_far(marks, scale);
        let is_good = |counted: &Counted| counted.is_of(groups, scale) && !counted.has_lost;
        if is_good(&self.shown) && !far {
            self.next = None;
        } else if self.next.as_ref().is_none_or(|next| !is_good(next) || next.is_far(marks, scale)) {
            self.next = Some(Counted::begin(groups, scale, marks, index));
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
    pub(crate) fn of(&self, id: GroupId, scale: &Scale) -> impl Iterator<Item = Part> {
        let has = |counted: &&Counted| counted.has_scale(scale) && counted.groups.contains_key(&id);
        let counted = Some(&self.shown).filter(has).or_else(|| self.next.as_ref().filter(has));
        let window = scale.window;
        counted.into_iter().flat_map(move |counted| counted.within(id, window))
    }

    /// How many frames of each type a group has in the window, as far as they are counted.
    pub(crate) fn counts(&self, id: GroupId, scale: &Scale) -> Counts {
        let mut counts = Counts::default();
        self.of(id, scale).for_each(|part| counts += &part.block.counts);
        counts
    }
}
