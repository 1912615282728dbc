//! Opens a block of marks without looking at all of them.
//!
//! A block that reaches from one fold into the next is looked at mark by mark, from the newest one, and the marks lie far apart in
//! memory. Where only marks of one fold are left, nobody needs to look at those: what they come to is the block less what was
//! seen.

use std::ops::ControlFlow;

use crate::timeline::blocks::{Block, FAN, Part};
use crate::timeline::mark::Mark;
use crate::timeline::ring::Ring;
use crate::timeline::states::States;

/// So many marks are taken together at least. Fewer are drawn one by one.
const LEAST: u64 = 3;

impl Block {
    /// Whether the block can be split: its state changes once at most, so that any part of it is known by its ends.
    pub fn can_be_split(&self) -> bool {
        let is_counted = self.counts.iter().all(|count| *count < u32::MAX);
        is_counted && (self.states.is_one() || self.changed_at().is_some())
    }

    /// Adds the mark before the first one.
    fn prepend(&mut self, mark: &Mark<'_>) {
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
    fn prepend_rest(&mut self, whole: &Block, counts: [u32; 5]) {
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

/// Calls `visit` for the marks of a block of the lowest level, none of which is evicted, from the newest to the oldest.
/// `together` says whether marks between two times are taken together, if none of them is farther than so much from the next.
pub(super) fn split<'a>(
    ring: &'a Ring,
    block: &Block,
    together: &impl Fn(f64, f64, f32) -> bool,
    visit: &mut impl FnMut(Part<'a>) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let (mut left, mut rest) = (FAN, block.counts);
    let mut next = ring.get(block.last_seq);
    while let Some(newest) = next.filter(|_| left > 0) {
        let mut part = Block { longest: block.longest, ..Block::of(&newest) };
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
