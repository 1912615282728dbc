//! Walks through the marks of a lane from the newest to the oldest, block by block where that is enough.
//!
//! A block that reaches from one fold into the next is split: its marks are looked at from the newest one, and they lie
//! far apart in memory. Where only marks of one fold are left, nobody needs to look at those: they are the block less
//! the marks that were seen.

use std::ops::ControlFlow;

use crate::timeline::scale::Window;
use crate::timeline::store::block::Block;
use crate::timeline::store::blocks::{FAN, size};
use crate::timeline::store::lane::Lane;
use crate::timeline::store::mark::{Mark, MarkType};
use crate::timeline::store::ring::Ring;

/// So many marks are taken together at least. Fewer are drawn one by one.
const LEAST: u64 = 3;

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
    /// What to do with a block that is not wholly in a window, so that the walk ends at the first part before the
    /// window; `None` for a block that is.
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

/// The same. Of a block that is [`Step::Split`], marks are taken together of which `together` says so, by the first and
/// the last time and the longest time between two of them; three at least. The block must be one that can be split.
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
                    Step::Split if split(ring, block, &together, &mut visit).is_break() => return,
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

/// Calls `visit` for the marks of a block of the lowest level, none of which is evicted, from the newest to the oldest.
/// `together` says whether marks between two times are taken together, if none of them is farther than so much from the
/// next.
fn split<'a>(
    ring: &'a Ring,
    block: &Block,
    together: &impl Fn(f64, f64, f32) -> bool,
    visit: &mut impl FnMut(Part<'a>) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let (mut left, mut rest) = (FAN, block.counts);
    let mut next = ring.get(block.last_seq);
    while let Some(newest) = next.filter(|_| left > 0) {
        let mut part = Block::of(&newest);
        part.longest = block.longest;
        let (mut mark, mut second, mut count) = (newest, None, 1);
        left -= 1;
        take(&mut rest, &newest);
        while left > 0 {
            if count + left >= LEAST && together(block.first_at, part.last_at, block.widest) {
                part.prepend_rest(block, rest);
                count += left;
                left = 0;
                break;
            }
            next = ring.before(&mark);
            let Some(older) = next else { break };
            if !together(older.at, part.last_at, part.widest.max((part.first_at - older.at) as f32)) {
                break;
            }
            part.prepend(&older);
            take(&mut rest, &older);
            second.get_or_insert(older);
            mark = older;
            count += 1;
            left -= 1;
        }
        if count >= LEAST {
            visit(Part::Block(part))?;
            continue;
        }
        for mark in [Some(newest), second].into_iter().flatten() {
            visit(Part::Mark(mark))?;
        }
    }
    ControlFlow::Continue(())
}

/// Takes a mark's frames off those of a block.
fn take(rest: &mut [u32; 5], mark: &Mark<'_>) {
    if let Some(count) = rest.get_mut(mark.mark_type as usize) {
        *count = count.saturating_sub(mark.frames());
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::timeline::store::marks::{Detail, Marks, NewMark};
    use crate::timeline::store::state::TONES;
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
                    crate::timeline::store::mark::SubjectRef::Object { lane, .. } if lane == id);
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
                        _ if block.first_seq() == block.last_seq => Step::Open,
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
