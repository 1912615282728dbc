//! Keeps marks in the order of their arrival, within a budget of bytes. The oldest marks are evicted first, and
//! counted.

use std::collections::VecDeque;
use std::mem::size_of;

use kubechurn_client::api::cell::Tone;

use crate::timeline::mark::{Counts, Mark, MarkType, Subject};

/// The bytes that one mark is charged. The buffer grows by quarters, so that at most a quarter of it is spare. Charging
/// the spare part to the marks keeps the memory that is really taken within the budget.
const SLOT: usize = size_of::<Mark>() * 5 / 4;

/// Marks within a budget, whose times never run backwards.
#[derive(Debug)]
pub struct Ring {
    marks: VecDeque<Mark>,
    /// The sequence number of the next mark. The marks that are held have the numbers right before it, without a hole.
    next: u64,
    heap: usize,
    budget: usize,
    last_at: f64,
    evicted: Counts,
}

impl Ring {
    /// An empty ring that may take `budget` bytes.
    pub fn new(budget: usize) -> Ring {
        Ring {
            marks: VecDeque::new(),
            next: 1,
            heap: 0,
            budget,
            last_at: f64::NEG_INFINITY,
            evicted: Counts::default(),
        }
    }

    /// The time that a mark gets that is stamped `at`: never before the time of the last mark.
    pub fn clamp(&self, at: f64) -> f64 {
        // `max` also replaces NaN, which would make the order of times meaningless.
        let at = at.max(self.last_at);
        if at.is_finite() { at } else { self.last_at.max(0.0) }
    }

    /// Appends a mark and returns its sequence number. The caller must then call [`Ring::evict`] until that returns
    /// `None`.
    pub fn push(&mut self, at: f64, mark_type: MarkType, tone: Tone, before: u32, subject: Subject) -> u64 {
        let seq = self.next;
        let at = self.clamp(at);
        let mark = Mark { seq, at, mark_type, tone, before, subject };
        if self.marks.len() == self.marks.capacity() {
            self.marks.reserve_exact(self.marks.len() / 4 + 64);
        }
        self.heap += mark.heap_bytes();
        self.marks.push_back(mark);
        self.last_at = at;
        self.next += 1;
        seq
    }

    /// Takes out the oldest mark, if the marks and the `beside` bytes that are kept because of them exceed the budget.
    pub fn evict(&mut self, beside: usize) -> Option<Mark> {
        if self.bytes() + beside <= self.budget {
            return None;
        }
        let mark = self.marks.pop_front()?;
        if self.marks.capacity() * size_of::<Mark>() > 2 * self.budget {
            self.marks.shrink_to(self.budget / size_of::<Mark>());
        }
        self.heap -= mark.heap_bytes();
        self.evicted.add(mark.mark_type, 1);
        Some(mark)
    }

    /// Lowers the budget to so many bytes. The caller must then call [`Ring::evict`] until that returns `None`.
    pub fn limit(&mut self, budget: usize) {
        self.budget = self.budget.min(budget);
    }

    /// The bytes that the marks take, texts included.
    pub fn bytes(&self) -> usize {
        self.marks.len() * SLOT + self.heap
    }

    /// How many marks were evicted, by type.
    pub fn evicted(&self) -> &Counts {
        &self.evicted
    }

    /// How many marks are held.
    pub fn len(&self) -> usize {
        self.marks.len()
    }

    /// Whether no mark is held.
    pub fn is_empty(&self) -> bool {
        self.marks.is_empty()
    }

    /// The sequence number that the next mark gets.
    pub fn next_seq(&self) -> u64 {
        self.next
    }

    /// The time of the newest mark that ever was; negative infinity before the first.
    pub fn last_at(&self) -> f64 {
        self.last_at
    }

    /// The oldest mark that is held.
    pub fn oldest(&self) -> Option<&Mark> {
        self.marks.front()
    }

    /// The mark with this sequence number; `None` if it is evicted or still to come.
    pub fn get(&self, seq: u64) -> Option<&Mark> {
        let index = seq.checked_sub(self.marks.front()?.seq)?;
        self.marks.get(usize::try_from(index).ok()?)
    }

    /// The mark that `mark.before` points at; `None` if there is none or it is evicted.
    pub fn before(&self, mark: &Mark) -> Option<&Mark> {
        if mark.before == 0 { None } else { self.get(mark.seq.checked_sub(u64::from(mark.before))?) }
    }

    /// All marks, the newest first.
    pub fn newest_first(&self) -> impl DoubleEndedIterator<Item = &Mark> + ExactSizeIterator {
        self.marks.iter().rev()
    }

    /// The marks with `from <= at <= to`, the newest first.
    pub fn range(&self, from: f64, to: f64) -> impl DoubleEndedIterator<Item = &Mark> + ExactSizeIterator {
        let start = self.marks.partition_point(|mark| mark.at < from);
        let end = self.marks.partition_point(|mark| mark.at <= to).max(start);
        self.marks.range(start..end).rev()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::timeline::mark::LaneId;
    use kubechurn_client::api::object::ResourceVersion;

    fn subject(version: &str) -> Subject {
        Subject::Object { lane: LaneId(0), life: 0, resource_version: ResourceVersion::new(version), folded: 1 }
    }

    fn push(ring: &mut Ring, at: f64, mark_type: MarkType, version: &str) -> Vec<u64> {
        ring.push(at, mark_type, Tone::Plain, 0, subject(version));
        std::iter::from_fn(|| ring.evict(0)).map(|mark| mark.seq).collect()
    }

    #[test]
    fn a_clock_that_runs_backwards_is_clamped() {
        let mut ring = Ring::new(1 << 20);
        for at in [5.0, 3.0, f64::NAN, f64::NEG_INFINITY, 7.0] {
            push(&mut ring, at, MarkType::Added, "1");
        }
        let times: Vec<f64> = ring.newest_first().map(|mark| mark.at).collect();
        assert_eq!(times, [7.0, 5.0, 5.0, 5.0, 5.0]);
        assert_eq!(ring.range(5.0, 6.0).count(), 4);
        assert_eq!(ring.range(6.0, 5.0).count(), 0);
    }

    #[test]
    fn the_oldest_go_first_and_are_counted_by_type() {
        let mut ring = Ring::new(4 * SLOT);
        let types = [MarkType::Added, MarkType::Updated, MarkType::Deleted, MarkType::Added];
        for (at, mark_type) in types.into_iter().enumerate() {
            assert!(push(&mut ring, at as f64, mark_type, "").is_empty());
        }
        assert_eq!(push(&mut ring, 9.0, MarkType::Updated, ""), [1]);
        assert_eq!(push(&mut ring, 9.0, MarkType::Updated, "123"), [2, 3], "the text's bytes count too");
        assert_eq!(ring.evicted().of(MarkType::Deleted), 1);
        assert_eq!(ring.evicted().total(), 3);
        assert!(ring.get(3).is_none() && ring.get(4).is_some() && ring.get(7).is_none());
    }

    proptest! {
        #[test]
        fn bytes_stay_within_the_budget_and_nothing_is_evicted_uncounted(
            budget in 0usize..4_000,
            marks in proptest::collection::vec((0usize..7, 0usize..60, -5.0f64..20.0), 0..200),
        ) {
            let mut ring = Ring::new(budget);
            let mut pushed = Counts::default();
            let mut at = 0.0;
            for (mark_type, text, step) in marks {
                at += step;
                let mark_type = MarkType::ALL[mark_type];
                pushed.add(mark_type, 1);
                push(&mut ring, at, mark_type, &"9".repeat(text));
                prop_assert!(ring.bytes() <= budget);
                let held: usize = ring.newest_first().map(|mark| SLOT + mark.heap_bytes()).sum();
                prop_assert_eq!(ring.bytes(), held);
                prop_assert!(ring.marks.capacity() * size_of::<Mark>() <= budget + 64 * size_of::<Mark>() + SLOT);
            }
            let mut counted = *ring.evicted();
            for mark in ring.newest_first() {
                counted.add(mark.mark_type, 1);
            }
            prop_assert_eq!(counted, pushed);
            let marks: Vec<&Mark> = ring.newest_first().collect();
            prop_assert!(marks.windows(2).all(|pair| pair[0].seq == pair[1].seq + 1 && pair[0].at >= pair[1].at));
            let (from, to) = (at * 0.25, at * 0.75);
            let inside = marks.iter().filter(|mark| from <= mark.at && mark.at <= to).count();
            prop_assert_eq!(ring.range(from, to).count(), inside);
        }
    }
}
