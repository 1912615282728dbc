//! Texts that are held as they are: the newest of each object, because what comes next is most likely a version of the same
//! objects; and for a moment those that they replaced, because every change is soon compared with the version before it.

use std::collections::VecDeque;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

/// The memory of an entry beside its text, in bytes: an upper estimate.
const ENTRY: usize = 64;
/// The part of a text that is allocated beyond its end.
const ROOM: usize = 16;
/// The part of the budget for texts that were replaced.
const REPLACED: usize = 4;
/// The most bytes of them. They are compared within a few frames, and memory that is used again soon is still in the processor's
/// cache.
const MOST_REPLACED: usize = 2 << 20;

/// Texts by the numbers of their versions; the oldest give way.
#[derive(Debug, Default)]
struct Held {
    texts: HashMap<u64, Vec<u8>, FxBuildHasher>,
    /// The numbers, in the order in which the texts came; some are of texts that are gone.
    order: VecDeque<u64>,
    bytes: usize,
}

impl Held {
    fn put(&mut self, sequence: u64, text: Vec<u8>) {
        self.bytes += text.capacity() + ENTRY;
        self.texts.insert(sequence, text);
        self.order.push_back(sequence);
        if self.order.len() > 2 * self.texts.len() + 64 {
            let texts = &self.texts;
            self.order.retain(|sequence| texts.contains_key(sequence));
        }
    }

    fn take(&mut self, sequence: u64) -> Option<Vec<u8>> {
        let text = self.texts.remove(&sequence)?;
        self.bytes -= text.capacity() + ENTRY;
        Some(text)
    }

    /// Drops what is beyond so many bytes. Returns the last text that was dropped, whose memory can be used again.
    fn trim(&mut self, budget: usize) -> Option<Vec<u8>> {
        let mut dropped = None;
        while self.bytes > budget
            && let Some(oldest) = self.order.pop_front()
        {
            dropped = self.take(oldest).or(dropped);
        }
        dropped
    }

    fn memory(&self) -> usize {
        self.bytes + self.order.capacity() * 8
    }
}

/// Texts within a budget.
#[derive(Debug)]
pub struct Texts {
    newest: Held,
    replaced: Held,
    budget: usize,
}

impl Texts {
    /// No texts, and at most so many bytes of them.
    pub fn new(budget: usize) -> Texts {
        Texts { newest: Held::default(), replaced: Held::default(), budget }
    }

    /// The memory that is taken, in bytes.
    pub fn memory(&self) -> usize {
        self.newest.memory() + self.replaced.memory()
    }

    /// Changes the budget, and drops what is beyond it.
    pub fn limit(&mut self, budget: usize) {
        self.budget = budget;
        self.replaced.trim(replaced(budget));
        self.newest.trim(budget - replaced(budget));
    }

    /// The text of a version, if it is at hand.
    pub fn get(&self, sequence: u64) -> Option<&[u8]> {
        self.newest.texts.get(&sequence).or_else(|| self.replaced.texts.get(&sequence)).map(Vec::as_slice)
    }

    /// Holds a text in place of that of the version before it. `read` is the text before, if it was not at hand and had to be
    /// read.
    pub fn replace(&mut self, previous: Option<u64>, read: Option<Vec<u8>>, sequence: u64, text: &[u8]) {
        if let Some(previous) = previous
            && let Some(old) = self.newest.take(previous).or(read)
        {
            self.replaced.put(previous, old);
        }
        let mut held = self.replaced.trim(replaced(self.budget)).unwrap_or_default();
        held.clear();
        // Left to itself it would grow to twice its size, and be copied once more when it shrinks. With some room, the memory will
        // do for the next text that is slightly longer, too.
        if held.capacity() < text.len() {
            held.reserve_exact(text.len() + text.len() / ROOM);
        }
        held.extend_from_slice(text);
        held.shrink_to(text.len() + text.len() / 4);
        self.newest.put(sequence, held);
        self.newest.trim(self.budget - replaced(self.budget));
    }
}

/// How many bytes of texts that were replaced are held.
fn replaced(budget: usize) -> usize {
    MOST_REPLACED.min(budget / REPLACED)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_text_and_the_one_before_it_are_at_hand_within_the_budget() {
        let mut texts = Texts::new(40_000);
        let text = |version: u64| format!("{version}{}", "x".repeat(1_000)).into_bytes();
        for version in 0..100_u64 {
            texts.replace(version.checked_sub(1), None, version, &text(version));
            assert_eq!(texts.get(version), Some(&*text(version)));
            assert!(texts.get(version.saturating_sub(3)).is_some_and(|held| held.len() > 1_000));
        }
        // Of one object a single text is the newest: what else is held was replaced.
        assert!(texts.get(80).is_none() && texts.newest.texts.len() == 1 && texts.memory() < 12_000);
        texts.replace(Some(7), Some(text(7)), 1_000, &text(1_000));
        assert_eq!(
            (texts.get(7), texts.get(1_000)),
            (Some(&*text(7)), Some(&*text(1_000))),
            "what had to be read is held"
        );
        for version in 2_000..2_100 {
            texts.replace(None, None, version, &text(version));
        }
        assert!(texts.get(2_099).is_some() && texts.get(2_000).is_none() && texts.memory() <= 44_000);
        texts.limit(4_000);
        assert!(texts.newest.texts.len() <= 2 && texts.memory() < 8_000, "{}", texts.memory());
    }
}
