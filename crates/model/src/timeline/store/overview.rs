//! Counts of the whole recording in buckets of time, for the strip above the lanes.
//!
//! Kept while marks arrive, so that drawing costs the width of the strip and not the number of marks. The buckets of
//! the last ten minutes are a quarter of a second long. Older ones are merged, four at a time and again and again, so
//! that the memory is bounded: what is a week old is in buckets of 17 minutes.

use crate::timeline::scale::Scale;
use crate::timeline::store::mark::{Counts, MarkType};

/// How long a bucket is, in milliseconds.
pub const BUCKET: f64 = 250.0;

/// How many buckets of the finest level there are: ten minutes.
const FINE: usize = 2_401;
/// How many buckets each other level has.
const COARSE: usize = 600;
/// How many buckets are merged into one of the next level, as a power of two.
const MERGED: u32 = 2;
/// How many levels there are. The last one holds a week.
const LEVELS: usize = 7;

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

/// Counts of one type each, in one bucket.
type Bucket = [u32; MarkType::COUNT];

/// Buckets of one length, the newest of which are held.
#[derive(Debug, Default)]
struct Level {
    /// Empty before the first count.
    buckets: Vec<Bucket>,
    /// The number of the newest bucket, counted from the time 0 in lengths of a bucket.
    newest: i64,
}

impl Level {
    fn slot(&self, number: i64) -> usize {
        number.rem_euclid(self.buckets.len().max(1) as i64) as usize
    }

    /// The number of the oldest bucket that is held.
    fn oldest(&self) -> i64 {
        self.newest - self.buckets.len() as i64 + 1
    }

    /// Makes the bucket of a number the newest one, unless a newer one is there. Buckets for which there is no more
    /// room are handed to `merge` with their numbers, the oldest first.
    fn advance(&mut self, number: i64, len: usize, mut merge: impl FnMut(i64, &Bucket)) {
        if self.buckets.is_empty() {
            self.buckets = vec![[0; MarkType::COUNT]; len];
            self.newest = number;
        }
        let steps = number.saturating_sub(self.newest).clamp(0, len as i64);
        for old in self.oldest()..self.oldest() + steps {
            let slot = self.slot(old);
            let bucket = std::mem::take(&mut self.buckets[slot]);
            if bucket.iter().any(|count| *count > 0) {
                merge(old, &bucket);
            }
        }
        self.newest = self.newest.max(number);
    }

    /// Adds to the bucket of a number, or to the oldest bucket if that one is not held any more.
    fn add(&mut self, number: i64, counts: &Bucket) {
        let slot = self.slot(number.max(self.oldest()));
        if let Some(bucket) = self.buckets.get_mut(slot) {
            for (sum, count) in bucket.iter_mut().zip(counts) {
                *sum = sum.saturating_add(*count);
            }
        }
    }
}

/// Counts in buckets of time.
#[derive(Debug, Default)]
pub struct Overview {
    /// From the finest to the coarsest. Each time is counted in one level.
    levels: [Level; LEVELS],
    /// The number of the first bucket of the finest level that ever counted something.
    first: i64,
}

/// The number of the bucket of the finest level.
fn number(at: f64) -> i64 {
    (at / BUCKET).floor() as i64
}

/// Two to this power is how many buckets of the finest level one of this level is as long as.
fn power(level: usize) -> u32 {
    level as u32 * MERGED
}

impl Overview {
    /// Counts `frames` of a type. Times never run backwards.
    pub fn add(&mut self, at: f64, mark_type: MarkType, frames: u32) {
        let number = number(at);
        if self.is_empty() {
            self.first = number;
        }
        let mut counts = [0; MarkType::COUNT];
        counts[mark_type as usize] = frames;
        add_to_level(&mut self.levels, number, &counts, FINE);
    }

    /// How many frames of each type came from one time to another, both extended to the edges of their buckets.
    pub fn counts(&self, from: f64, to: f64) -> Counts {
        let mut counts = Counts::default();
        self.add_to(&mut counts, number(from), number(to));
        counts
    }

    /// When the first mark was counted, down to the edge of its bucket.
    pub fn first_at(&self) -> Option<f64> {
        if self.is_empty() { None } else { Some(self.first as f64 * BUCKET) }
    }

    /// The bytes that the buckets take.
    pub fn bytes(&self) -> usize {
        self.levels.iter().map(|level| level.buckets.capacity() * size_of::<Bucket>()).sum()
    }

    fn is_empty(&self) -> bool {
        self.levels[0].buckets.is_empty()
    }

    fn newest(&self) -> i64 {
        self.levels[0].newest
    }

    /// The power of the coarsest level that has counts of this time or later, which is the number of a finest bucket.
    fn coarsest(&self, number: i64) -> u32 {
        let levels = self.levels.iter().enumerate();
        let used = levels.filter(|(at, level)| !level.buckets.is_empty() && level.newest >= number >> power(*at));
        used.map(|(at, _)| power(at)).max().unwrap_or(0)
    }

    /// Adds what the buckets from one number to another have counted.
    fn add_to(&self, counts: &mut Counts, first: i64, last: i64) {
        for (at, level) in self.levels.iter().enumerate().filter(|(_, level)| !level.buckets.is_empty()) {
            let (first, last) = (first >> power(at), last >> power(at));
            for number in first.max(level.oldest())..=last.min(level.newest) {
                *counts += &level.buckets[level.slot(number)];
            }
        }
    }
}

/// Adds counts to the first of these levels, and what it has no more room for to the others.
fn add_to_level(levels: &mut [Level], number: i64, counts: &Bucket, len: usize) {
    let Some((level, coarser)) = levels.split_first_mut() else {
        return;
    };
    level.advance(number, len, |old, bucket| add_to_level(coarser, old >> MERGED, bucket, COARSE));
    level.add(number, counts);
}

/// Writes the columns of a strip, each about `pixels` wide: what was counted by all of these together. A column is a
/// whole number of buckets that stand at fixed times, so that moving the strip never changes its counts. Where there
/// are coarse buckets, a column is at least as long as one of them.
pub fn columns(overviews: &[&Overview], scale: &Scale, pixels: f64, columns: &mut Vec<Column>) {
    columns.clear();
    let counted = || overviews.iter().filter(|overview| !overview.is_empty());
    let oldest = counted().map(|overview| overview.first).min();
    let newest = counted().map(|overview| overview.newest()).max();
    let (Some(oldest), Some(newest)) = (oldest, newest) else {
        return;
    };
    if scale.width < 1.0 {
        return;
    }
    let first = number(scale.window.from).max(oldest);
    let coarsest = counted().map(|overview| overview.coarsest(first)).max().unwrap_or(0);
    let wanted = (scale.ms_per_pixel() * pixels / BUCKET).ceil().max(1.0) as i64;
    let per_column = ((wanted + (1 << coarsest) - 1) >> coarsest) << coarsest;
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
        let scale = Scale { window: Window { from: 0.0, to: 600_000.0 }, left: 0.0, width: 500.0 };
        super::columns(&[&overview], &scale, 3.0, &mut columns);
        assert_eq!(columns.len(), 1);
        assert_eq!(columns[0].counts.of(MarkType::Deleted), 1);
        assert!(columns[0].heights[4] >= LEAST * 0.9);
        assert!(columns[0].heights.iter().sum::<f32>() <= 1.001);
    }

    const MINUTE: f64 = 60_000.0;
    const HOUR: f64 = 60.0 * MINUTE;

    #[test]
    fn what_is_older_is_merged_and_only_what_is_older_than_a_week_is_gone() {
        let mut overview = Overview::default();
        for minute in 0..=7 * 24 * 60 {
            let at = f64::from(minute) * MINUTE;
            overview.add(at, MarkType::Updated, 3);
            if minute % 60 == 0 {
                overview.add(at, MarkType::Deleted, 1);
            }
            if minute % 37 > 0 {
                continue;
            }
            let counts = overview.counts(0.0, at);
            let [updated, deleted] = [MarkType::Updated, MarkType::Deleted].map(|mark_type| counts.of(mark_type));
            assert_eq!((updated, deleted), (3 * (minute as u64 + 1), minute as u64 / 60 + 1), "after {minute} minutes");
            assert!(overview.bytes() <= (FINE + (LEVELS - 1) * COARSE) * size_of::<Bucket>());
        }
        let week = 7.0 * 24.0 * HOUR;
        assert_eq!(overview.counts(week - 5.0 * MINUTE, week).of(MarkType::Updated), 18, "new ones are told apart");
        // The deletes of each hour of the week are still distinguished.
        for hour in 1..7 * 24 {
            let from = f64::from(hour) * HOUR - 0.5 * HOUR;
            assert_eq!(overview.counts(from, from + 0.9 * HOUR).of(MarkType::Deleted), 1, "hour {hour}");
        }
        overview.add(1e12, MarkType::Added, 1);
        assert_eq!(overview.counts(-1e13, 1e13).of(MarkType::Added), 1);
        assert!(overview.bytes() <= (FINE + (LEVELS - 1) * COARSE) * size_of::<Bucket>());
    }

    #[test]
    fn a_strip_of_the_whole_recording_holds_every_count_at_every_age() {
        for hours in [0.1, 0.5, 1.0, 3.7, 24.0, 160.0] {
            let (mut overview, end) = (Overview::default(), hours * HOUR);
            for step in 0..=5_000 {
                overview.add(f64::from(step) / 5_000.0 * end, MarkType::Updated, 2);
            }
            let scale = Scale { window: Window { from: 0.0, to: end }, left: 0.0, width: 750.0 };
            let mut columns = Vec::new();
            super::columns(&[&overview], &scale, 3.0, &mut columns);
            assert_eq!(columns.iter().map(|column| column.counts.total()).sum::<u64>(), 10_002, "{hours} hours");
            assert!((120..=251).contains(&columns.len()), "{} columns for {hours} hours", columns.len());
        }
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
            let window = Window { from: at - 600_000.0 + 2.0 * BUCKET, to: at };
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
