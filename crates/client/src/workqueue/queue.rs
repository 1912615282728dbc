//! The work queue: a set of items that need work, in the order in which they began to need it. An item that is in work is not
//! handed out again before its work is done, and no call blocks.

use std::collections::{HashSet, VecDeque};
use std::hash::Hash;

use rustc_hash::FxBuildHasher;

/// What [`WorkQueue::get`] found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Got<T> {
    /// An item. Whoever got it says [`WorkQueue::done`] when its work is over, however it ended.
    Item(T),
    /// Nothing for now. Where client-go's `Get` blocks, the caller comes back after the next `add` or `done`.
    Empty,
    /// Nothing, now or later: the queue was shut down, and is drained.
    ShutDown,
}

/// How a queue was shut down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Open,
    ShutDown,
    ShutDownWithDrain,
}

/// The queue (client-go `queue.go`, `Typed`).
#[derive(Clone, Debug)]
pub struct WorkQueue<T> {
    /// The items that can be taken. Each of them is in `dirty`, and none is in `processing`.
    queue: VecDeque<T>,
    /// The items that need work. Those of them that are in work go to `queue` when that work is done.
    dirty: HashSet<T, FxBuildHasher>,
    processing: HashSet<T, FxBuildHasher>,
    phase: Phase,
}

impl<T> Default for WorkQueue<T> {
    fn default() -> Self {
        WorkQueue {
            queue: VecDeque::new(),
            dirty: HashSet::default(),
            processing: HashSet::default(),
            phase: Phase::Open,
        }
    }
}

impl<T: Clone + Eq + Hash> WorkQueue<T> {
    /// Adds an item that needs work. An item that waits already keeps its place; one that is in work waits again when that
    /// work is done. Returns false, and does nothing, once the queue is shutting down.
    pub fn add(&mut self, item: T) -> bool {
        if self.is_shutting_down() {
            return false;
        }
        if !self.dirty.contains(&item) {
            if !self.processing.contains(&item) {
                self.queue.push_back(item.clone());
            }
            self.dirty.insert(item);
        }
        true
    }

    /// Takes the item that has waited longest; it is in work until [`WorkQueue::done`].
    ///
    /// After a shutdown, items that wait can still be taken. In client-go a worker may be asked to quit while an item of
    /// another worker has still to be worked on again; here `ShutDown` comes only when that is over, too.
    pub fn get(&mut self) -> Got<T> {
        let Some(item) = self.queue.pop_front() else {
            return if self.is_drained() { Got::ShutDown } else { Got::Empty };
        };
        self.dirty.remove(&item);
        self.processing.insert(item.clone());
        Got::Item(item)
    }

    /// Says that the work on an item is over. If it was added meanwhile it waits again, after a shutdown as well.
    /// An item that is not in work is left as it is.
    pub fn done(&mut self, item: &T) {
        let Some(item) = self.processing.take(item) else { return };
        if self.dirty.contains(&item) {
            self.queue.push_back(item);
        }
    }

    /// From now on no item is added; items that wait can still be taken. After an earlier
    /// [`WorkQueue::shut_down_with_drain`], the queue no longer waits for items that are in work.
    pub fn shut_down(&mut self) {
        self.phase = Phase::ShutDown;
    }

    /// Like [`WorkQueue::shut_down`], but the queue is not drained before the items in work are done.
    pub fn shut_down_with_drain(&mut self) {
        self.phase = Phase::ShutDownWithDrain;
    }

    /// Whether it was shut down, drained or not.
    pub fn is_shutting_down(&self) -> bool {
        self.phase != Phase::Open
    }

    /// Whether it was shut down and nothing more will come: what client-go's `ShutDownWithDrain` waits for.
    pub fn is_drained(&self) -> bool {
        match self.phase {
            Phase::Open => false,
            Phase::ShutDown => self.dirty.is_empty(),
            Phase::ShutDownWithDrain => self.dirty.is_empty() && self.processing.is_empty(),
        }
    }

    /// How many items wait; those in work are not among them.
    pub fn len(&self) -> usize {
        self.queue.len()
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Plays words on a queue and writes what `get` found: `+a` adds (`!` follows if it was refused), `g` gets,
    /// `-a` is done, `X` shuts down, `D` shuts down with drain, `#` writes the length.
    fn check(words: &str, expected: &str) {
        let mut queue = WorkQueue::default();
        let mut seen = Vec::new();
        for word in words.split(' ') {
            match word.split_at(1) {
                ("+", item) => {
                    if !queue.add(item) {
                        seen.push(String::from("!"));
                    }
                }
                ("-", item) => queue.done(&item),
                ("g", _) => seen.push(match queue.get() {
                    Got::Item(item) => item.to_owned(),
                    Got::Empty => String::from("."),
                    Got::ShutDown => String::from("end"),
                }),
                ("X", _) => queue.shut_down(),
                ("D", _) => queue.shut_down_with_drain(),
                _ => seen.push(queue.len().to_string()),
            }
        }
        assert_eq!(seen.join(" "), expected, "{words}");
    }

    #[test]
    fn items_come_in_order_and_shutdown_lets_what_waits_out() {
        check("g +a +b g g g", ". a b .");
        check("+a +b X +c g -a g -b g", "! a b end");
        check("+a +b D +c g -a g -b g", "! a b end");
    }

    #[test]
    fn len_counts_what_waits_and_each_item_once() {
        check("+a # +b # +a # g #", "1 2 2 a 1");
    }

    /// 76. TestAddWhileProcessing.
    #[test]
    fn add_while_processing_reruns_after_done_and_not_before() {
        check("+a g +a # g -a # g -a g", "a 0 . 1 a .");
        // Behind what waited before, as one that is new.
        check("+a g +a +b -a g g", "a b a");
    }

    #[test]
    fn collapse_before_and_while_processing() {
        check("+a +a g -a g", "a .");
        check("+a g +a +a -a g -a g", "a a .");
    }

    #[test]
    fn drain_waits_for_what_is_in_work() {
        check("+a +b g g D g -a g -b g", "a b . . end");
        check("+a g +a D g -a g g -a g", "a . a . end");
    }

    #[test]
    fn plain_shutdown_does_not_wait_and_forces_a_drain_to_end() {
        check("+a +b g g X g", "a b end");
        check("+a +b g g D g X g", "a b . end");
        // But what was added while in work is still to come.
        check("+a g +a X g -a g g", "a . a end");
    }

    #[test]
    fn done_of_what_is_not_in_work_changes_nothing() {
        check("+a -a -b # g", "1 a");
    }
}
