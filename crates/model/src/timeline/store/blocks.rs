//! The blocks of a lane: its marks taken together by 16, by 256, and so on, so that a lane is drawn, and searched,
//! without walking all its marks.
//!
//! Blocks are made when their last mark is pushed, and go with it. They cost some four bytes a mark, and a lane of
//! fewer than 16 marks has none. Nothing is only in them: each block can be opened into the blocks and marks it is made
//! of.

use std::collections::VecDeque;

use crate::timeline::store::block::{Block, merged};
use crate::timeline::store::mark::Mark;
use crate::timeline::store::ring::Ring;

/// How many marks a block of the lowest level has, and how many blocks one of each other level.
pub(super) const FAN: u64 = 16;

/// The blocks of a lane.
#[derive(Debug, Default)]
pub struct Blocks {
    /// By level, the lowest first. At each level they follow each other without a hole, up to the newest whole block.
    pub(super) levels: Vec<VecDeque<Block>>,
}

/// How many marks a block of this level has.
pub(super) fn size(level: usize) -> u64 {
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

    /// Forgets the blocks all of whose marks are evicted. `pushed` is how many marks the lane has had, and `evicted`
    /// how many of them are evicted.
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

    /// The block of a level that ends with the mark after which the lane had had `end` marks, if there is one and none
    /// of its marks is evicted.
    pub(super) fn ending_at(&self, level: usize, end: u64, (pushed, evicted): (u64, u64)) -> Option<&Block> {
        let size = size(level);
        if !end.is_multiple_of(size) || end - size < evicted {
            return None;
        }
        self.at(level, end / size - 1, pushed)
    }

    pub(super) fn at(&self, level: usize, number: u64, pushed: u64) -> Option<&Block> {
        let blocks = self.levels.get(level)?;
        let first = (pushed / size(level)).checked_sub(blocks.len() as u64)?;
        blocks.get(usize::try_from(number.checked_sub(first)?).ok()?)
    }
}
