//! What the marks of a lane come to, in blocks of 16 marks, of 256, and so on: so that a lane is drawn, and searched,
//! without walking all its marks.
//!
//! Blocks are made when their last mark is pushed, and go with it. They cost some four bytes a mark, and a lane of fewer
//! than 16 marks has none. Nothing is only in them: each block can be opened into the blocks and marks it is made of.

mod split;

use std::collections::VecDeque;
use std::mem::size_of;
use std::ops::ControlFlow;

use crate::timeline::lanes::Lane;
use crate::timeline::mark::{Mark, MarkType};
use crate::timeline::ring::Ring;
use crate::timeline::scale::Window;
use crate::timeline::states::States;
use crate::timeline::words::State;

/// How many marks a block of the lowest level has, and how many blocks one of each other level.
const FAN: u64 = 16;

/// Marks of a lane that follow each other, taken together. Times are in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Block {
    /// When the first mark was stamped.
    pub first_at: f64,
    /// When the last mark was stamped.
    pub last_at: f64,
    /// The sequence number of the last mark.
    pub last_seq: u64,
    /// How far back in `seq` the first mark is from the last one.
    seqs: u32,
    /// How many frames the marks stand for, by the types of objects' marks.
    pub counts: [u32; 5],
    /// The longest time between two marks that follow each other.
    pub widest: f32,
    /// No state lasted longer than this within the block.
    pub longest: f32,
    /// The states after the marks.
    pub states: States,
    /// How long after the first mark the state changed, in milliseconds, if it changed once; infinity, if more often.
    changed: f32,
}

impl Block {
    /// The block of a single mark.
    pub fn of(mark: &Mark<'_>) -> Block {
        let mut counts = [0; 5];
        // Marks of objects have the first five types.
        if let Some(count) = counts.get_mut(mark.mark_type as usize) {
            *count = mark.frames();
        }
        let states = States::of(mark.state());
        let (first_at, last_at, last_seq) = (mark.at, mark.at, mark.seq);
        Block { first_at, last_at, last_seq, seqs: 0, counts, widest: 0.0, longest: 0.0, states, changed: 0.0 }
    }

    /// Adds the block that follows. `tail` is how long the last state lasts at most at the end of this block, and becomes
    /// that of the sum.
    fn append(&mut self, next: &Block, tail: &mut f32) {
        // Rounding must not make a time less than it is.
        let gap = (next.first_at - self.last_at) as f32 * 1.000_001;
        let lasts = *tail + gap;
        *tail = next.tail();
        let is_same = self.states.last() == next.states.first();
        if next.states.is_one() && is_same {
            *tail += lasts;
            self.longest = self.longest.max(*tail);
        } else {
            // Where the states of the next block are several, the first of them may be the same as the last one here.
            let head = if next.states.is_one() { 0.0 } else { next.longest };
            self.longest = self.longest.max(lasts + head).max(next.longest);
        }
        self.widest = self.widest.max(next.widest).max(gap);
        let offset = (next.first_at - self.first_at) as f32;
        self.changed = match (self.states.is_one(), is_same, next.states.is_one()) {
            (_, true, true) => self.changed,
            (true, false, true) => offset,
            (true, true, false) => offset + next.changed,
            _ => f32::INFINITY,
        };
        self.seqs = u32::try_from(next.last_seq - self.first_seq()).unwrap_or(u32::MAX);
        self.states = self.states.then(next.states);
        (self.last_at, self.last_seq) = (next.last_at, next.last_seq);
        for (sum, count) in self.counts.iter_mut().zip(next.counts) {
            *sum = sum.saturating_add(count);
        }
    }

    /// How long the last state lasts at most at the end of the block.
    fn tail(&self) -> f32 {
        if self.states.is_one() { self.span() as f32 * 1.000_001 } else { self.longest }
    }

    /// The sequence number of the first mark.
    pub fn first_seq(&self) -> u64 {
        self.last_seq - u64::from(self.seqs)
    }

    /// How long the block is, in milliseconds.
    pub fn span(&self) -> f64 {
        self.last_at - self.first_at
    }

    /// How many frames the marks stand for.
    pub fn frames(&self) -> u64 {
        self.counts.iter().map(|count| u64::from(*count)).sum()
    }

    /// How many of the marks' frames are deletes.
    pub fn deletes(&self) -> u32 {
        self.counts[MarkType::Deleted as usize]
    }

    /// The state after the last mark; `None` if the object is gone.
    pub fn last_state(&self) -> Option<State> {
        self.states.last()
    }

    /// The state after the first mark; `None` if the object is gone.
    pub fn first_state(&self) -> Option<State> {
        self.states.first()
    }

    /// When the state changed, if it changed once within the block.
    pub fn changed_at(&self) -> Option<f64> {
        (!self.states.is_one() && self.changed.is_finite()).then(|| self.first_at + f64::from(self.changed))
    }
}

/// The blocks of a lane.
#[derive(Debug, Default)]
pub struct Blocks {
    /// By level, the lowest first. At each level they follow each other without a hole, up to the newest whole block.
    levels: Vec<VecDeque<Block>>,
}

/// How many marks a block of this level has.
fn size(level: usize) -> u64 {
    FAN.pow(level as u32 + 1)
}

impl Blocks {
    /// The bytes that the blocks take.
    pub fn bytes(&self) -> usize {
        let blocks: usize = self.levels.iter().map(VecDeque::capacity).sum();
        blocks * size_of::<Block>() + self.levels.capacity() * size_of::<VecDeque<Block>>()
    }

    /// Whether a block ends with the mark after which a lane has had so many marks.
    pub fn ends_at(pushed: u64) -> bool {
        pushed.is_multiple_of(FAN)
    }

    /// Adds the block that ends with a mark: see [`Blocks::ends_at`].
    pub fn end(&mut self, ring: &Ring, last: Mark<'_>, pushed: u64) {
        let mut marks: Vec<Block> = Vec::with_capacity(FAN as usize);
        let mut next = Some(last);
        while let Some(mark) = next.filter(|_| marks.len() < FAN as usize) {
            marks.push(Block::of(&mark));
            next = ring.before(&mark);
        }
        // Where a mark of the block is evicted already, the block is opened whenever it is met, since it is worn.
        let mut ended = merged(marks.iter().rev());
        let mut level = 0;
        while let Some(block) = ended {
            if self.levels.len() == level {
                self.levels.reserve_exact(1);
                self.levels.push(VecDeque::new());
            }
            let blocks = &mut self.levels[level];
            if blocks.len() == blocks.capacity() {
                blocks.reserve_exact(blocks.len() / 8 + 1);
            }
            blocks.push_back(block);
            let is_whole = pushed.is_multiple_of(size(level + 1));
            let from = blocks.len().saturating_sub(FAN as usize);
            ended = if is_whole { merged(blocks.range(from..)) } else { None };
            level += 1;
        }
    }

    /// Forgets the blocks all of whose marks are evicted. `pushed` is how many marks the lane has had, and `evicted` how
    /// many of them are evicted.
    pub fn evict(&mut self, pushed: u64, evicted: u64) {
        for (level, blocks) in self.levels.iter_mut().enumerate() {
            let made = pushed / size(level);
            while !blocks.is_empty() && (made - blocks.len() as u64 + 1) * size(level) <= evicted {
                blocks.pop_front();
            }
            if 2 * blocks.capacity() > 3 * blocks.len() + 4 {
                blocks.shrink_to(blocks.len() + blocks.len() / 4);
            }
        }
    }

    /// The block of a level that ends with the mark after which the lane had had `end` marks, if there is one and none of
    /// its marks is evicted.
    fn ending_at(&self, level: usize, end: u64, (pushed, evicted): (u64, u64)) -> Option<&Block> {
        let size = size(level);
        if !end.is_multiple_of(size) || end - size < evicted {
            return None;
        }
        self.at(level, end / size - 1, pushed)
    }

    fn at(&self, level: usize, number: u64, pushed: u64) -> Option<&Block> {
        let blocks = self.levels.get(level)?;
        let first = (pushed / size(level)).checked_sub(blocks.len() as u64)?;
        blocks.get(usize::try_from(number.checked_sub(first)?).ok()?)
    }
}

fn merged<'a>(mut blocks: impl Iterator<Item = &'a Block>) -> Option<Block> {
    let mut sum = *blocks.next()?;
    let mut tail = sum.tail();
    blocks.for_each(|block| sum.append(block, &mut tail));
    Some(sum)
}

/// What to do with a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Take it as a whole.
    Whole,
    /// Pass it over.
    Skip,
    /// Look at what it is made of.
    Open,
    /// The same. Marks that follow each other may be taken together: see [`walk_split`].
    Split,
}

impl Step {
    /// What to do with a block that is not wholly in a window, so that the walk ends at the first part before the window;
    /// `None` for a block that is.
    pub fn outside(block: &Block, window: Window) -> Option<Step> {
        match () {
            () if block.first_at > window.to => Some(Step::Skip),
            () if block.last_at < window.from => Some(Step::Whole),
            () if block.first_at < window.from || block.last_at > window.to => Some(Step::Open),
            () => None,
        }
    }
}

/// A part of a lane.
#[derive(Clone, Copy, Debug)]
pub enum Part<'a> {
    /// A mark.
    Mark(Mark<'a>),
    /// A block that was taken as a whole, or a part of one.
    Block(Block),
}

/// Walks through the marks of a lane that are held, from the newest to the oldest, until `visit` breaks. `step` says of
/// each block that is met what to do with it.
pub fn walk<'a>(
    ring: &'a Ring,
    lane: &'a Lane,
    step: impl Fn(&Block) -> Step,
    visit: impl FnMut(Part<'a>) -> ControlFlow<()>,
) {
    walk_split(ring, lane, step, |_, _, _| false, visit);
}

/// The same. Of a block that is [`Step::Split`], marks are taken together of which `together` says so, by the first and the
/// last time and the longest time between two of them; three at least. The block must be one that can be split.
pub fn walk_split<'a>(
    ring: &'a Ring,
    lane: &'a Lane,
    step: impl Fn(&Block) -> Step,
    together: impl Fn(f64, f64, f32) -> bool,
    mut visit: impl FnMut(Part<'a>) -> ControlFlow<()>,
) {
    let (blocks, pushed) = (&lane.blocks, lane.pushed);
    let evicted = pushed - u64::from(lane.marks);
    let mut end = pushed;
    // The mark that ends there, where it is known.
    let mut next = ring.get(lane.last_seq);
    'parts: while end > evicted {
        if end.is_multiple_of(FAN) {
            for level in (0..blocks.levels.len()).rev() {
                let Some(block) = blocks.ending_at(level, end, (pushed, evicted)) else { continue };
                match step(block) {
                    Step::Open => continue,
                    Step::Split if level > 0 => continue,
                    Step::Split if split::split(ring, block, &together, &mut visit).is_break() => return,
                    Step::Whole if visit(Part::Block(*block)).is_break() => return,
                    Step::Whole | Step::Split | Step::Skip => {}
                }
                end -= size(level);
                next = None;
                continue 'parts;
            }
            if next.is_none() {
                next = blocks.at(0, end / FAN - 1, pushed).and_then(|block| ring.get(block.last_seq));
            }
        }
        let Some(mark) = next else { return };
        if visit(Part::Mark(mark)).is_break() {
            return;
        }
        end -= 1;
        next = ring.before(&mark);
    }
}

/// The newest mark of a lane that has a number below `seq`.
pub fn newest_below<'a>(ring: &'a Ring, lane: &'a Lane, seq: u64) -> Option<Mark<'a>> {
    let step = |block: &Block| match () {
        () if block.first_seq() >= seq => Step::Skip,
        () if block.last_seq < seq => Step::Whole,
        () => Step::Open,
    };
    find(ring, lane, step, |mark| mark.seq < seq)
}

/// The newest mark of a lane that was stamped at a time or before.
pub fn newest_until<'a>(ring: &'a Ring, lane: &'a Lane, at: f64) -> Option<Mark<'a>> {
    let step = |block: &Block| match () {
        () if block.first_at > at => Step::Skip,
        () if block.last_at <= at => Step::Whole,
        () => Step::Open,
    };
    find(ring, lane, step, |mark| mark.at <= at)
}

/// The newest delete among the marks of a lane with `first <= seq <= last`.
pub fn newest_delete<'a>(ring: &'a Ring, lane: &'a Lane, (first, last): (u64, u64)) -> Option<Mark<'a>> {
    let step = |block: &Block| match () {
        () if block.first_seq() > last || (block.deletes() == 0 && block.last_seq >= first) => Step::Skip,
        () if block.last_seq < first => Step::Whole,
        () => Step::Open,
    };
    let is_end = |mark: &Mark<'_>| mark.seq < first || (mark.seq <= last && mark.mark_type == MarkType::Deleted);
    find(ring, lane, step, is_end).filter(|mark| mark.seq >= first)
}

/// The first mark on the walk that is a match, or the last one of the first block that is taken as a whole.
fn find<'a>(
    ring: &'a Ring,
    lane: &'a Lane,
    step: impl Fn(&Block) -> Step,
    is_match: impl Fn(&Mark<'_>) -> bool,
) -> Option<Mark<'a>> {
    let mut found = None;
    walk(ring, lane, step, |part| {
        found = match part {
            Part::Mark(mark) => Some(mark).filter(&is_match),
            Part::Block(block) => ring.get(block.last_seq),
        };
        if found.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    found
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::timeline::marks::{Detail, Marks, NewMark};
    use crate::timeline::words::TONES;
    use kubechurn_client::api::cell::Tone;
    use kubechurn_client::api::object::{ObjectKey, ResourceVersion};
    use kubechurn_client::api::uid::Uid;

    /// Checks what a block says against the marks that it is made of, the oldest first.
    fn check(block: &Block, marks: &[Mark<'_>]) {
        let (first, last) = (marks[0], marks[marks.len() - 1]);
        assert_eq!((block.first_at, block.last_at), (first.at, last.at));
        assert_eq!((block.first_seq(), block.last_seq), (first.seq, last.seq));
        assert_eq!((block.first_state(), block.last_state()), (first.state(), last.state()));
        for (mark_type, count) in MarkType::ALL.into_iter().zip(block.counts) {
            let own = marks.iter().filter(|mark| mark.mark_type == mark_type);
            assert_eq!(own.map(Mark::frames).sum::<u32>(), count, "{mark_type:?}");
        }
        let all = [None, Some(Tone::Plain), Some(Tone::Good), Some(Tone::Wait), Some(Tone::Bad)];
        for tone in all {
            let is_there = marks.iter().any(|mark| mark.state().map(|state| state.tone) == tone);
            assert_eq!(block.states.has(tone), is_there, "{tone:?}");
        }
        let changes: Vec<f64> =
            marks.windows(2).filter(|pair| pair[0].state() != pair[1].state()).map(|pair| pair[1].at).collect();
        match (block.changed_at(), &changes[..]) {
            (Some(at), [only]) => assert!((at - only).abs() <= 1e-6 * (1.0 + block.span())),
            (None, [_]) | (Some(_), _) => panic!("{:?} for {changes:?}", block.changed_at()),
            (None, _) => assert_eq!(block.states.is_one(), changes.is_empty()),
        }
        let widest = marks.windows(2).map(|pair| pair[1].at - pair[0].at).fold(0.0, f64::max);
        // Of a part of a block it may be that of the block.
        let bounds = widest..=if marks.len().is_multiple_of(16) { widest * 1.000_01 } else { f64::INFINITY };
        assert!(bounds.contains(&f64::from(block.widest)), "{} for {widest}", block.widest);
        let begins = [first.at].into_iter().chain(changes.iter().copied());
        let ends = changes.iter().copied().chain([last.at]);
        let longest = begins.zip(ends).map(|(begin, end)| end - begin).fold(0.0, f64::max);
        assert!(longest <= f64::from(block.longest) * 1.000_01, "{} for {longest}", block.longest);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(96))]
        /// Whatever is taken as a whole, opened or evicted, the parts of a walk are the marks of the lane.
        #[test]
        fn blocks_are_the_marks_that_they_are_made_of(
            budget in prop_oneof![2_000usize..60_000, Just(1 << 20)],
            runs in proptest::collection::vec((1usize..90, 0usize..5, 0usize..4, 0.0f64..9.0, 0usize..3), 1..40),
            // After how many marks the word changes; never, for 0.
            wordy in prop_oneof![Just(0usize), Just(7), Just(90)],
            choices in proptest::collection::vec(0usize..4, 1..20),
            near in 0.5f32..20.0,
            place in 0.0f64..1.0,
        ) {
            let mut marks = Marks::new(budget);
            let mut at = 0.0;
            for (count, mark_type, tone, step, other) in runs {
                for index in 0..count {
                    at += step;
                    // Marks of other objects stand between.
                    let names = [("a", true), ("b", other > 0), ("c", other > 1 && index % 3 == 0)];
                    for (name, _) in names.into_iter().filter(|(_, is_there)| *is_there) {
                        let (key, uid) = (&ObjectKey::new("shop", name), &Uid::new("u"));
                        let (mark_type, tone) = (MarkType::ALL[mark_type], TONES[(tone + index / 50) % 4]);
                        let resource_version = &ResourceVersion::new("12");
                        let folded = 1 + u32::from(index == 7);
                        let word = index.checked_div(wordy).map_or("", |part| ["Running", "Pending", ""][part % 3]);
                        let new = NewMark { key, uid, mark_type, resource_version, folded, tone };
                        marks.push_with(at, new, Detail { word, ..Detail::default() });
                    }
                }
            }
            for (id, lane) in marks.lanes.newest_first() {
                let is_own = |mark: &Mark<'_>| matches!(mark.subject,
                    crate::timeline::mark::SubjectRef::Object { lane, .. } if lane == id);
                let own: Vec<Mark<'_>> = marks.ring.newest_first().filter(is_own).collect();
                prop_assert_eq!(own.len(), lane.marks as usize);
                let most = (own.len() / 10 + 9) * size_of::<Block>() + 128;
                prop_assert!(lane.blocks.bytes() <= most, "{} for {}", lane.blocks.bytes(), own.len());
                let chosen = std::cell::Cell::new(0);
                let mut walked = Vec::new();
                let mut skipped = 0;
                let mut left = &own[..];
                walk_split(&marks.ring, lane, |block| {
                    let next = chosen.get();
                    chosen.set(next + 1);
                    match choices[next % choices.len()] {
                        _ if block.seqs == 0 => Step::Open,
                        0 => Step::Whole,
                        1 => Step::Skip,
                        2 if block.can_be_split() => Step::Split,
                        _ => Step::Open,
                    }
                }, |first, last, widest| {
                    last - first < 4.0 * f64::from(near) && widest < near && (first < at * place) == (last < at * place)
                }, |part| {
                    // What was passed over lies between this part and the one before it.
                    let newest = match part { Part::Mark(mark) => mark.seq, Part::Block(block) => block.last_seq };
                    let begin = left.iter().position(|mark| mark.seq == newest).expect("a mark of the lane");
                    skipped += begin;
                    left = &left[begin..];
                    let length = match part {
                        Part::Mark(mark) => {
                            assert_eq!(mark, left[0]);
                            1
                        }
                        Part::Block(block) => {
                            let length = 1 + left.iter().position(|mark| mark.seq == block.first_seq()).expect("its first");
                            let inside: Vec<Mark<'_>> = left[..length].iter().rev().copied().collect();
                            check(&block, &inside);
                            length
                        }
                    };
                    walked.push(length);
                    left = &left[length..];
                    ControlFlow::Continue(())
                });
                prop_assert_eq!(walked.iter().sum::<usize>() + skipped + left.len(), own.len());
                prop_assert_eq!((skipped + left.len()) % 16, 0, "only whole blocks are passed over");
                let when = at * place;
                prop_assert_eq!(newest_until(&marks.ring, lane, when), own.iter().find(|mark| mark.at <= when).copied());
                let seq = (marks.made() as f64 * place) as u64;
                prop_assert_eq!(newest_below(&marks.ring, lane, seq), own.iter().find(|mark| mark.seq < seq).copied());
                let is_in = |mark: &&Mark<'_>| (seq / 2..=seq).contains(&mark.seq) && mark.mark_type == MarkType::Deleted;
                prop_assert_eq!(newest_delete(&marks.ring, lane, (seq / 2, seq)), own.iter().find(is_in).copied());
            }
        }
    }
}
