//! Folds the marks of one lane that stand too close to be told apart.

use crate::timeline::mark::{Counts, MarkType};

/// Marks nearer than this, in pixels, belong together.
pub const NEAR: f64 = 10.0;

/// The longest fold, in pixels, without the room for its number. A long burst becomes a row of folds, whose numbers
/// tell how the burst went.
pub const LONGEST: f64 = 64.0;

/// A fold of at least so many frames is drawn as a pill.
pub const PILL_FROM: u64 = 3;

/// How far a pill reaches beyond its first mark's middle.
pub const PILL_PAD: f64 = 7.0;

/// How much room a cross needs, in pixels. Deletes of a fold that are nearer to each other share a cross.
pub const CROSS: f64 = 9.0;

/// How wide a character of the timeline's text is, in pixels: 0.6 of the font's 11 pixels.
pub const CHAR: f64 = 6.6;

/// A mark on its way to the screen.
#[derive(Clone, Copy, Debug)]
pub struct Spot {
    /// The x coordinate.
    pub x: f64,
    /// The time, in milliseconds.
    pub at: f64,
    /// The sequence number of the mark.
    pub seq: u64,
    /// What happened.
    pub mark_type: MarkType,
    /// How many frames the mark stands for.
    pub frames: u32,
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
    let cell = |spot: &Spot| (spot.at / (LONGEST * ms_per_pixel)).floor();
    let mut start = 0;
    let mut counts = Counts::default();
    for (index, spot) in spots.iter().enumerate() {
        if index > start {
            let (first, last) = (&spots[start], &spots[index - 1]);
            let near = spot.x - last.x < NEAR && cell(spot) == cell(last);
            let covered = counts.total() >= PILL_FROM && spot.x - PILL_PAD < label_right(first.x, &counts);
            if !near && !covered {
                emit(Fold { spots: &spots[start..index], counts });
                start = index;
                counts = Counts::default();
            }
        }
        counts.add(spot.mark_type, u64::from(spot.frames));
    }
    if start < spots.len() {
        emit(Fold { spots: &spots[start..], counts });
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn spots(xs: &[(f64, MarkType)]) -> Vec<Spot> {
        let spot = |(seq, (x, mark_type)): (usize, &(f64, MarkType))| Spot {
            x: *x,
            at: *x * 100.0,
            seq: seq as u64,
            mark_type: *mark_type,
            frames: 1,
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
                assert_eq!(fold.spots[0].seq, seen);
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
