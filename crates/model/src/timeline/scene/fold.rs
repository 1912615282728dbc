//! Folds the marks of one lane that stand too close to be distinguished.

use kubechurn_client::api::cell::Tone;

use crate::timeline::scale::Scale;
use crate::timeline::store::block::Block;
use crate::timeline::store::mark::{Counts, MarkType};

/// Marks nearer than this, in pixels, belong together.
pub const NEAR: f64 = 10.0;

/// The longest fold, in pixels, without the room for its number. A long burst becomes a row of folds, whose numbers
/// show how the burst went.
pub const LONGEST: f64 = 64.0;

/// A fold of at least so many frames is drawn as a pill.
pub const PILL_FROM: u64 = 3;

/// How far a pill reaches beyond its first mark's middle.
pub const PILL_PAD: f64 = 7.0;

/// How much room a cross needs, in pixels. Deletes of a fold that are nearer to each other share a cross.
pub const CROSS: f64 = 9.0;

/// How wide a character of the timeline's text is, in pixels: 0.6 of the font's 11 pixels.
pub const CHAR: f64 = 6.6;

/// A mark on its way to the screen, or a block of marks that certainly end up in one fold.
#[derive(Clone, Copy, Debug)]
pub struct Spot {
    /// The x coordinate of the first mark.
    pub x: f64,
    /// The x coordinate of the last mark.
    pub last_x: f64,
    /// The marks.
    pub block: Block,
    /// What the marks mean: that something fails, or else the state after the last one.
    pub tone: Tone,
}

impl Spot {
    /// The spot of these marks.
    pub fn of(block: Block, scale: &Scale) -> Spot {
        let last = block.last_state().map_or(Tone::Plain, |state| state.tone);
        let tone = if block.states.has(Some(Tone::Bad)) { Tone::Bad } else { last };
        Spot { x: scale.x(block.first_at), last_x: scale.x(block.last_at), block, tone }
    }

    /// What happened last, of the types whose marks are there.
    pub fn mark_type(&self) -> MarkType {
        let has = |mark_type: &MarkType| self.block.counts.get(*mark_type as usize).is_some_and(|count| *count > 0);
        MarkType::OBJECT.into_iter().find(has).unwrap_or(MarkType::Updated)
    }
}

/// Whether the marks of a block may be in one fold, however the marks around it are folded. A short block may reach
/// from one cell into the next: it belongs to the cell of its first mark.
pub fn is_in_one_fold(block: &Block, ms_per_pixel: f64) -> bool {
    let near = NEAR * ms_per_pixel;
    let is_short = f64::from(block.widest) < near && block.span() < near;
    is_short || is_in_one_cell((block.first_at, block.last_at), block.widest, ms_per_pixel)
}

/// Whether marks between these times, none of which is farther than so much from the next, are in one fold.
pub fn is_in_one_cell((first, last): (f64, f64), widest: f32, ms_per_pixel: f64) -> bool {
    f64::from(widest) < NEAR * ms_per_pixel && cell(first, ms_per_pixel) == cell(last, ms_per_pixel)
}

/// The stretch of time to which a fold is confined.
fn cell(at: f64, ms_per_pixel: f64) -> f64 {
    (at / (LONGEST * ms_per_pixel)).floor()
}

/// Neighbouring marks, from left to right.
#[derive(Clone, Copy, Debug)]
pub struct Fold<'a> {
    /// The marks; there is at least one.
    pub spots: &'a [Spot],
    /// How many frames the marks stand for, by type.
    pub counts: Counts,
}

impl Fold<'_> {
    /// How many frames all marks stand for.
    pub fn frames(&self) -> u64 {
        self.counts.total()
    }

    /// What the marks mean: that something fails, or else what the last one means.
    pub fn tone(&self) -> Tone {
        let fails = self.spots.iter().any(|spot| spot.tone == Tone::Bad);
        if fails { Tone::Bad } else { self.spots.last().map_or(Tone::Plain, |spot| spot.tone) }
    }

    /// Whether it is drawn as one pill and not mark by mark.
    pub fn is_pill(&self) -> bool {
        self.frames() >= PILL_FROM
    }
}

/// A number as a pill shows it: `12`, `9999`, `12k`.
pub fn short(count: u64) -> String {
    if count < 10_000 { count.to_string() } else { format!("{}k", count / 1_000) }
}

/// The x coordinate where a pill's number ends, or the cross beside the number that stands for the deletes under it.
pub fn label_right(first_x: f64, counts: &Counts) -> f64 {
    let digits = match counts.total() {
        0..10 => 1.0,
        10..100 => 2.0,
        100..1_000 => 3.0,
        _ => 4.0,
    };
    let cross = if counts.of(MarkType::Deleted) > 0 { CROSS } else { 0.0 };
    first_x + PILL_PAD + digits * CHAR + cross
}

/// Calls `emit` for each fold of a lane, left to right. `spots` come left to right.
///
/// Where folds end depends only on times, so that they stay the same while the window moves.
pub fn fold<'a>(spots: &'a [Spot], ms_per_pixel: f64, mut emit: impl FnMut(Fold<'a>)) {
    let cell = |at: f64| cell(at, ms_per_pixel);
    let mut start = 0;
    let mut counts = Counts::default();
    for (index, spot) in spots.iter().enumerate() {
        if index > start {
            let (first, last) = (&spots[start], &spots[index - 1]);
            let near = || spot.x - last.last_x < NEAR && cell(spot.block.first_at) == cell(last.block.first_at);
            let covered = || counts.total() >= PILL_FROM && spot.x - PILL_PAD < label_right(first.x, &counts);
            if !near() && !covered() {
                emit(Fold { spots: &spots[start..index], counts });
                start = index;
                counts = Counts::default();
            }
        }
        counts += &spot.block.counts;
    }
    if start < spots.len() {
        emit(Fold { spots: &spots[start..], counts });
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::timeline::scale::Window;
    use crate::timeline::store::mark::{LaneId, Mark, SubjectRef, Version};

    fn spots(xs: &[(f64, MarkType)]) -> Vec<Spot> {
        let scale = Scale { window: Window { from: 0.0, to: 100_000.0 }, left: 0.0, width: 1_000.0 };
        let resource_version = Version::Number(1);
        let subject = SubjectRef::Object { lane: LaneId(0), life: 0, resource_version, folded: 1 };
        let spot = |(seq, (x, mark_type)): (usize, &(f64, MarkType))| {
            let (seq, at, mark_type, tone) = (seq as u64, *x * 100.0, *mark_type, Tone::Plain);
            Spot::of(Block::of(&Mark { seq, at, mark_type, state: tone.into(), before: 1, subject }), &scale)
        };
        xs.iter().enumerate().map(spot).collect()
    }

    #[test]
    fn a_long_burst_becomes_a_row_of_pills() {
        let marks: Vec<_> = (0..640).map(|x| (f64::from(x), MarkType::Updated)).collect();
        let mut found = Vec::new();
        fold(&spots(&marks), 100.0, |fold| found.push(fold.frames()));
        assert_eq!(found, [64; 10]);
    }

    #[test]
    fn a_burst_becomes_a_pill_and_two_marks_do_not() {
        let updated = MarkType::Updated;
        let marks =
            spots(&[(2.0, updated), (5.0, updated), (8.0, MarkType::Deleted), (60.0, updated), (66.0, updated)]);
        let mut found = Vec::new();
        fold(&marks, 100.0, |fold| found.push((fold.spots.len(), fold.is_pill(), fold.counts.of(MarkType::Deleted))));
        assert_eq!(found, [(3, true, 1), (1, false, 0), (1, false, 0)]);
        assert_eq!((short(9_999), short(12_345)), ("9999".into(), "12k".into()));
    }

    proptest! {
        #[test]
        fn folds_hold_every_mark_once_and_pills_stay_apart(
            steps in proptest::collection::vec((0.0f64..30.0, 0usize..5), 0..300),
        ) {
            let mut x = 0.0;
            let mut marks = Vec::new();
            for (step, mark_type) in steps {
                x += step;
                marks.push((x, MarkType::ALL[mark_type]));
            }
            let marks = spots(&marks);
            let (mut seen, mut right) = (0, f64::NEG_INFINITY);
            let mut apart = true;
            fold(&marks, 100.0, |fold| {
                assert_eq!(fold.spots[0].block.last_seq, seen);
                seen += fold.spots.len() as u64;
                assert_eq!(fold.frames(), fold.spots.len() as u64);
                let (first, last) = (fold.spots[0].x, fold.spots[fold.spots.len() - 1].x);
                apart &= first - PILL_PAD >= right;
                if fold.is_pill() {
                    right = label_right(first, &fold.counts);
                    apart &= last - first <= 2.0 * LONGEST;
                }
            });
            prop_assert_eq!(seen, marks.len() as u64);
            prop_assert!(apart);
        }
    }
}
