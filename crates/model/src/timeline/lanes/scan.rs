//! Which lanes have marks in a window, and how many: for windows of the past, and for the order by churn.
//!
//! A window that follows the time and is not ordered by churn needs none of it: there the last change of each group is
//! known.

use std::ops::ControlFlow;

use crate::kind_id::KindId;
use crate::timeline::lanes::index::Index;
use crate::timeline::scale::Window;
use crate::timeline::store::block::Block;
use crate::timeline::store::lane::Lane;
use crate::timeline::store::mark::{LaneId, LaneOf};
use crate::timeline::store::marks::Marks;
use crate::timeline::store::ring::Ring;
use crate::timeline::store::walk::{Part, Step, walk};

/// A scene does so many steps: lanes, marks and blocks.
const AT_ONCE: usize = 16_384;

/// What a lane or a group has in the window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct FoundMarks {
    /// How many frames the marks stand for.
    pub(crate) frames: u64,
    /// When the last mark was stamped; negative infinity where there is none.
    pub(crate) last_at: f64,
}

const NOTHING: FoundMarks = FoundMarks { frames: 0, last_at: f64::NEG_INFINITY };

/// What was found by entry, and what is being looked for.
#[derive(Debug, Default)]
pub(crate) struct Scan {
    /// The window, and what is in it.
    window: Option<Window>,
    found: Vec<FoundMarks>,
    /// The window that is being looked at, and where that goes on: the kind, and the number of a lane, or one more than
    /// that of a mark.
    next: Option<(Window, usize, u64)>,
    finding: Vec<FoundMarks>,
}

impl Scan {
    pub(crate) fn bytes(&self) -> usize {
        (self.found.capacity() + self.finding.capacity()) * size_of::<FoundMarks>()
    }

    /// What an entry has in the window that was looked at last.
    pub(crate) fn of(&self, at: u32) -> FoundMarks {
        let found = if self.window.is_some() { &self.found } else { &self.finding };
        found.get(at as usize).copied().unwrap_or(NOTHING)
    }

    /// The window that was looked at last, or whose first look is under way.
    pub(crate) fn window(&self) -> Option<Window> {
        self.window
    }

    /// Looks at a window from the beginning, unless one that is nearly the same is being looked at.
    pub(crate) fn begin(&mut self, window: Window) {
        let near = window.span() / 10.0;
        let is_near = |other: Window| (other.from - window.from).abs() < near && (other.to - window.to).abs() < near;
        if self.next.is_none_or(|(other, ..)| !is_near(other)) {
            self.next = Some((window, 0, 0));
            self.finding.clear();
        }
    }

    /// Goes on. Returns whether something is left.
    pub(crate) fn go_on(&mut self, marks: &[&Marks], index: &Index) -> bool {
        let Some((window, mut at, mut slot)) = self.next else { return false };
        self.finding.resize(index.tree.slots(), NOTHING);
        let mut left = AT_ONCE;
        while left > 0 {
            let Some(own) = marks.get(at) else {
                std::mem::swap(&mut self.found, &mut self.finding);
                (self.window, self.next) = (Some(window), None);
                return false;
            };
            let kind = KindId(at as u8);
            left -= 1;
            if index.is_by_manager() {
                let (known, end) = index.known(at);
                slot = slot.max(own.ring.from(window.from)).max(known);
                let mark = own.ring.get(slot).filter(|mark| slot < end && mark.at <= window.to);
                if let Some(mark) = &mark {
                    let found = FoundMarks { frames: u64::from(mark.frames()), last_at: mark.at };
                    self.add(index, index.of_mark(kind, mark), found);
                }
                (at, slot) = if mark.is_some() { (at, slot + 1) } else { (at + 1, 0) };
                continue;
            }
            let lane = LaneId(slot as u32);
            if let Some(known) = own.lanes.get(lane) {
                let (found, steps) = count(&own.ring, known, window);
                left = left.saturating_sub(steps);
                self.add(index, index.of_lane(LaneOf { kind, lane }), found);
            }
            slot += 1;
            if slot >= own.lanes.slots() as u64 {
                (at, slot) = (at + 1, 0);
            }
        }
        self.next = Some((window, at, slot));
        true
    }

    /// Adds what was found of an entry to it and to what is around it.
    fn add(&mut self, index: &Index, entry: Option<u32>, found: FoundMarks) {
        let Some(at) = entry.filter(|_| found.frames > 0) else { return };
        for at in [at].into_iter().chain(index.tree.around(at)) {
            let Some(sum) = self.finding.get_mut(at as usize) else { continue };
            sum.frames += found.frames;
            sum.last_at = sum.last_at.max(found.last_at);
        }
    }
}

/// What a lane has in a window, and how many steps it took to count that.
fn count(ring: &Ring, lane: &Lane, window: Window) -> (FoundMarks, usize) {
    let (mut found, mut steps) = (NOTHING, 0);
    if lane.marks == 0 || lane.last_at < window.from || lane.first_at > window.to {
        return (found, steps);
    }
    let step = |block: &Block| Step::outside(block, window).unwrap_or(Step::Whole);
    walk(ring, lane, step, |part| {
        steps += 1;
        let (first_at, last_at, frames) = match part {
            Part::Mark(mark) => (mark.at, mark.at, u64::from(mark.frames())),
            Part::Block(block) => (block.first_at, block.last_at, block.frames()),
        };
        if last_at < window.from {
            return ControlFlow::Break(());
        }
        if first_at <= window.to {
            found.frames += frames;
            found.last_at = found.last_at.max(last_at);
        }
        ControlFlow::Continue(())
    });
    (found, steps)
}
