//! Marks of a lane that follow each other, taken together as one block.

use crate::timeline::store::mark::{Mark, MarkType};
use crate::timeline::store::state::State;
use crate::timeline::store::states::States;

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

    /// Adds the block that follows. `tail` is how long the last state lasts at most at the end of this block, and
    /// becomes that of the sum.
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

    /// Whether the block can be split: its state changes once at most, so that any part of it is known by its ends.
    pub fn can_be_split(&self) -> bool {
        let is_counted = self.counts.iter().all(|count| *count < u32::MAX);
        is_counted && (self.states.is_one() || self.changed_at().is_some())
    }

    /// Adds the mark before the first one.
    pub(super) fn prepend(&mut self, mark: &Mark<'_>) {
        let (own, gap) = (Block::of(mark), (self.first_at - mark.at) as f32);
        self.changed = match (own.states.first() == self.states.first(), self.states.is_one()) {
            (true, true) => 0.0,
            (true, false) => self.changed + gap,
            (false, true) => gap,
            (false, false) => f32::INFINITY,
        };
        self.states = own.states.then(self.states);
        self.widest = self.widest.max(gap * 1.000_001);
        self.begin((mark.at, mark.seq), own.counts);
    }

    /// Adds all marks of a block that come before, of which `counts` are not in this one.
    pub(super) fn prepend_rest(&mut self, whole: &Block, counts: [u32; 5]) {
        let (first, last) = (States::of(whole.first_state()), States::of(self.last_state()));
        (self.states, self.changed) = if first == last { (first, 0.0) } else { (first.then(last), whole.changed) };
        self.widest = self.widest.max(whole.widest);
        self.begin((whole.first_at, whole.first_seq()), counts);
    }

    fn begin(&mut self, (at, seq): (f64, u64), counts: [u32; 5]) {
        self.first_at = at;
        self.seqs = u32::try_from(self.last_seq - seq).unwrap_or(u32::MAX);
        for (sum, count) in self.counts.iter_mut().zip(counts) {
            *sum = sum.saturating_add(count);
        }
    }
}

/// The sum of blocks that follow each other; `None` if there are none.
pub(super) fn merged<'a>(mut blocks: impl Iterator<Item = &'a Block>) -> Option<Block> {
    let mut sum = *blocks.next()?;
    let mut tail = sum.tail();
    blocks.for_each(|block| sum.append(block, &mut tail));
    Some(sum)
}
