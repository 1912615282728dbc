//! The texts of the versions that were written last, as they are: what comes next is most likely a version of the same objects.

use std::collections::VecDeque;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

/// The memory of an entry beside its text, in bytes: an upper estimate.
const ENTRY: usize = 64;

/// Texts within a budget, by the numbers of their versions; the oldest give way.
#[derive(Debug)]
pub struct Texts {
    texts: HashMap<u64, Vec<u8>, FxBuildHasher>,
    order: VecDeque<u64>,
    bytes: usize,
    budget: usize,
}

impl Texts {
    /// No texts, and at most so many bytes of them.
    pub fn new(budget: usize) -> Texts {
        Texts { texts: HashMap::default(), order: VecDeque::new(), bytes: 0, budget }
    }

    /// The memory that is taken, in bytes.
    pub fn memory(&self) -> usize {
        self.bytes + self.order.capacity() * 8
    }

    /// Changes the budget, and drops what is beyond it.
    pub fn limit(&mut self, budget: usize) {
        self.budget = budget;
        self.trim();
    }

    /// The text of a version, if it is at hand.
    pub fn get(&self, sequence: u64) -> Option<&[u8]> {
        self.texts.get(&sequence).map(Vec::as_slice)
    }

    /// Holds a text in place of that of the version before it.
    pub fn replace(&mut self, previous: Option<u64>, sequence: u64, text: &[u8]) {
        let mut bytes = previous.and_then(|previous| self.take(previous)).unwrap_or_default();
        bytes.clear();
        bytes.extend_from_slice(text);
        bytes.shrink_to(text.len() + text.len() / 4);
        self.bytes += bytes.capacity() + ENTRY;
        self.texts.insert(sequence, bytes);
        self.order.push_back(sequence);
        self.trim();
        // Those that were replaced are still in the order.
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

    fn trim(&mut self) {
        while self.bytes > self.budget
            && let Some(oldest) = self.order.pop_front()
        {
            self.take(oldest);
        }
    }
}
