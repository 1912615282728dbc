//! Counts of the last ten minutes in buckets of a quarter of a second, for the strip above the lanes.
//!
//! Kept while marks arrive, so that drawing costs the width of the strip and not the number of marks.

use crate::timeline::mark::{Counts, MarkType};
use crate::timeline::scale::{HISTORY, Scale};

/// How long a bucket is, in milliseconds.
pub const BUCKET: f64 = 250.0;

const BUCKETS: usize = (HISTORY / BUCKET) as usize + 1;

/// One column of the strip. Heights are parts of the strip's height, stacked in the order of
/// [`MarkType::OBJECT`], deletes on top; whatever happened has at least a visible height.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Column {
    /// Its left edge.
    pub x: f64,
    /// Its width.
    pub width: f64,
    /// Where its time begins and ends.
    pub from: f64,
    /// Its end.
    pub to: f64,
    /// What happened in the column's time, by type.
    pub counts: Counts,
    /// How tall each type of [`MarkType::OBJECT`] is drawn.
    pub heights: [f32; 5],
}

/// Counts in buckets of time.
#[derive(Debug, Default)]
pub struct Overview {
    /// Empty before the first mark.
    buckets: Vec<[u32; MarkType::COUNT]>,
    /// The number of the newest bucket, counted from the time 0.
    newest: i64,
    /// The number of the first bucket that ever counted something.
    first: i64,
}

fn number(at: f64) -> i64 {
    (at / BUCKET).floor() as i64
}

fn slot(number: i64) -> usize {
    number.rem_euclid(BUCKETS as i64) as usize
}

impl Overview {
    /// Counts `frames` of a type. Times never run backwards.
    pub fn add(&mut self, at: f64, mark_type: MarkType, frames: u32) {
        let number = number(at);
        if self.buckets.is_empty() {
            self.buckets = vec![[0; MarkType::COUNT]; BUCKETS];
            (self.newest, self.first) = (number, number);
        }
        let steps = number.saturating_sub(self.newest).min(BUCKETS as i64);
        for step in 0..steps {
            self.buckets[slot(number - step)] = [0; MarkType::COUNT];
        }
        self.newest = self.newest.max(number);
        let count = &mut self.buckets[slot(self.newest)][mark_type as usize];
        *count = count.saturating_add(frames);
    }

    /// How many frames of each type came from one time to another, both extended to the edges of their buckets.
    pub fn counts(&self, from: f64, to: f64) -> Counts {
        let mut counts = Counts::default();
        self.add_to(&mut counts, number(from), number(to));
        counts
    }

    /// When the first mark was counted, down to the edge of its bucket.
    pub fn first_at(&self) -> Option<f64> {
        if self.buckets.is_empty() { None } else { Some(self.first as f64 * BUCKET) }
    }

    /// The bytes that the buckets take.
    pub fn bytes(&self) -> usize {
        self.buckets.capacity() * size_of::<[u32; MarkType::COUNT]>()
    }

    /// The number of the oldest bucket that is still known.
    fn oldest(&self) -> i64 {
        (self.newest - BUCKETS as i64 + 1).max(self.first)
    }

    /// Adds what the buckets from one number to another have counted.
    fn add_to(&self, counts: &mut Counts, first: i64, last: i64) {
        if self.buckets.is_empty() {
            return;
        }
        for number in first.max(self.oldest())..=last.min(self.newest) {
            *counts += &self.buckets[slot(number)];
        }
    }
}

/// Writes the columns of a strip, each about `pixels` wide: what was counted by all of these together. A column is a
/// whole number of buckets that stand at fixed times, so that moving the strip never changes its counts.
pub fn columns(overviews: &[&Overview], scale: &Scale, pixels: f64, columns: &mut Vec<Column>) {
    columns.clear();
    let counted = || overviews.iter().filter(|overview| !overview.buckets.is_empty());
    let oldest = counted().map(|overview| overview.oldest()).min();
    let newest = counted().map(|overview| overview.newest).max();
    let (Some(oldest), Some(newest)) = (oldest, newest) else {
        return;
    };
    if scale.width < 1.0 {
        return;
    }
    let per_column = (scale.ms_per_pixel() * pixels / BUCKET).ceil().max(1.0) as i64;
    let first = number(scale.window.from).max(oldest);
    let last = number(scale.window.to).min(newest);
    let mut index = first.div_euclid(per_column);
    let mut most = 1;
    while index * per_column <= last {
        let (start, end) = (index * per_column, (index + 1) * per_column);
        let mut counts = Counts::default();
        overviews.iter().for_each(|overview| overview.add_to(&mut counts, start, end - 1));
        index += 1;
        let total: u64 = MarkType::OBJECT.iter().map(|mark_type| counts.of(*mark_type)).sum();
        if total == 0 {
            continue;
        }
        most = most.max(total);
        let (from, to) = (start as f64 * BUCKET, end as f64 * BUCKET);
        let (x, right) = (scale.clamped(from), scale.clamped(to));
        let width = (right - x - 1.0).max(1.0);
        columns.push(Column { x, width, from, to, counts, heights: [0.0; 5] });
    }
    for column in columns {
        column.heights = heights(&column.counts, most);
    }
}

/// The least part of the strip's height that a type gets of which there is any.
const LEAST: f32 = 0.1;

/// How tall the types are drawn. Square roots keep single changes visible beside bursts. Deletes keep their room,
/// however much else there is.
fn heights(counts: &Counts, most: u64) -> [f32; 5] {
    let total: u64 = MarkType::OBJECT.iter().map(|mark_type| counts.of(*mark_type)).sum();
    let full = (total as f32 / most as f32).sqrt();
    let mut heights = MarkType::OBJECT.map(|mark_type| match counts.of(mark_type) {
        0 => 0.0,
        count => (full * count as f32 / total as f32).max(LEAST),
    });
    let sum: f32 = heights.iter().sum();
    if sum > 1.0 {
        let kept = heights.iter().filter(|height| **height <= LEAST).sum::<f32>();
        let shrink = (1.0 - kept) / (sum - kept);
        heights.iter_mut().filter(|height| **height > LEAST).for_each(|height| *height *= shrink);
    }
    heights
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::timeline::scale::Window;

    #[test]
    fn one_delete_among_a_million_updates_is_seen() {
        let mut overview = Overview::default();
        overview.add(1_000.0, MarkType::Updated, 1_000_000);
        overview.add(1_001.0, MarkType::Deleted, 1);
        let mut columns = Vec::new();
        let scale = Scale { window: Window { from: 0.0, to: HISTORY }, left: 0.0, width: 500.0 };
        super::columns(&[&overview], &scale, 3.0, &mut columns);
        assert_eq!(columns.len(), 1);
        assert_eq!(columns[0].counts.of(MarkType::Deleted), 1);
        assert!(columns[0].heights[4] >= LEAST * 0.9);
        assert!(columns[0].heights.iter().sum::<f32>() <= 1.001);
    }

    #[test]
    fn what_is_older_than_the_buckets_is_gone_and_a_long_sleep_empties_them() {
        let mut overview = Overview::default();
        overview.add(0.0, MarkType::Added, 5);
        overview.add(300_000.0, MarkType::Added, 1);
        assert_eq!(overview.counts(0.0, 300_000.0).total(), 6);
        overview.add(HISTORY + 1_000.0, MarkType::Added, 1);
        assert_eq!(overview.counts(-1e9, 1e9).total(), 2);
        overview.add(1e12, MarkType::Added, 1);
        assert_eq!(overview.counts(-1e13, 1e13).total(), 1);
    }

    proptest! {
        #[test]
        fn columns_hold_every_count(
            marks in proptest::collection::vec((0.0f64..3_000.0, 0usize..5), 1..200),
            width in 10.0f64..900.0,
        ) {
            let (mut overview, mut at) = (Overview::default(), 0.0);
            let mut deleted = 0;
            for (step, mark_type) in &marks {
                at += step;
                overview.add(at, MarkType::ALL[*mark_type], 1);
                deleted += u64::from(*mark_type == 2);
            }
            let window = Window { from: at - HISTORY + 2.0 * BUCKET, to: at };
            prop_assume!(window.from <= 0.0);
            let mut columns = Vec::new();
            super::columns(&[&overview], &Scale { window, left: 0.0, width }, 3.0, &mut columns);
            prop_assert_eq!(columns.iter().map(|column| column.counts.total()).sum::<u64>(), marks.len() as u64);
            prop_assert_eq!(columns.iter().map(|column| column.counts.of(MarkType::Deleted)).sum::<u64>(), deleted);
            let shown = |column: &Column| (column.counts.of(MarkType::Deleted) > 0) == (column.heights[4] > 0.0);
            prop_assert!(columns.iter().all(shown));
            prop_assert!(columns.windows(2).all(|pair| pair[0].x < pair[1].x));
        }
    }
}
