//! A work queue to which items can be added after a delay. It never waits: it says when it is to be given the time next.

use std::cmp::Ordering;
use std::hash::Hash;

use crate::workqueue::heap::Heap;
use crate::workqueue::queue::{Got, WorkQueue};

/// The queue (client-go `delaying_queue.go`).
#[derive(Clone, Debug)]
pub struct DelayingQueue<T> {
    queue: WorkQueue<T>,
    /// The items that wait for their time.
    waiting: Heap<T>,
}

impl<T> Default for DelayingQueue<T> {
    fn default() -> Self {
        DelayingQueue { queue: WorkQueue::default(), waiting: Heap::default() }
    }
}

impl<T: Clone + Eq + Hash> DelayingQueue<T> {
    /// Adds an item at once; see [`WorkQueue::add`]. If the same item also waits for a time, it goes on waiting.
    pub fn add(&mut self, item: T) -> bool {
        self.queue.add(item)
    }

    /// Adds an item `delay` milliseconds after `now`, or at once if the delay is not positive. An item that waits for a time
    /// already is added once, at the earlier of the two times. Returns false, and does nothing, once the queue is shutting
    /// down.
    pub fn add_after(&mut self, item: T, delay: f64, now: f64) -> bool {
        if self.queue.is_shutting_down() {
            return false;
        }
        // A delay that is no number counts as none.
        if delay.is_nan() || delay <= 0.0 {
            return self.queue.add(item);
        }
        self.waiting.put(now + delay, item);
        true
    }

    /// Adds the items whose time has come at `now`, in the order of their times. Which one of two with the same time comes
    /// first is left open, and is as in client-go. Returns how many there were.
    pub fn tick(&mut self, now: f64) -> usize {
        let mut count = 0;
        // A time that is no number is greater than no other, and so it is due.
        while self.waiting.first().is_some_and(|first| first.partial_cmp(&now) != Some(Ordering::Greater)) {
            let Some(item) = self.waiting.pop() else { break };
            self.queue.add(item);
            count += 1;
        }
        count
    }

    /// When the next [`DelayingQueue::tick`] is needed; `None` if nothing waits for its time.
    pub fn deadline(&self) -> Option<f64> {
        self.waiting.first()
    }

    /// How many items wait for their time.
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Takes an item; see [`WorkQueue::get`]. An item whose time has come can be taken after the next
    /// [`DelayingQueue::tick`].
    pub fn get(&mut self) -> Got<T> {
        self.queue.get()
    }

    /// Says that the work on an item is over; see [`WorkQueue::done`].
    pub fn done(&mut self, item: &T) {
        self.queue.done(item);
    }

    /// How many items wait for work, without those that wait for their time.
    pub fn len(&self) -> usize {
        self.queue.len()
    }

    /// Whether nothing waits for work; something may wait for its time.
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// Shuts down; see [`WorkQueue::shut_down`]. Items that wait for their time are dropped, as in client-go. Returns how many
    /// there were.
    pub fn shut_down(&mut self) -> usize {
        self.queue.shut_down();
        self.drop_waiting()
    }

    /// Shuts down; see [`WorkQueue::shut_down_with_drain`]. Items that wait for their time are dropped. Returns how many there
    /// were.
    pub fn shut_down_with_drain(&mut self) -> usize {
        self.queue.shut_down_with_drain();
        self.drop_waiting()
    }

    /// Whether it was shut down, drained or not.
    pub fn is_shutting_down(&self) -> bool {
        self.queue.is_shutting_down()
    }

    /// Whether it was shut down and nothing more will come; see [`WorkQueue::is_drained`].
    pub fn is_drained(&self) -> bool {
        self.queue.is_drained()
    }

    fn drop_waiting(&mut self) -> usize {
        std::mem::take(&mut self.waiting).len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is added after how long and when, and what has come at which moments; everything is done at once.
    fn check(added: &[(&'static str, f64, f64)], moments: &[(f64, &str)]) {
        let mut queue = DelayingQueue::default();
        for &(item, delay, now) in added {
            assert!(queue.add_after(item, delay, now));
        }
        for &(now, expected) in moments {
            queue.tick(now);
            let mut got = Vec::new();
            while let Got::Item(item) = queue.get() {
                queue.done(&item);
                got.push(item);
            }
            assert_eq!(got.join(" "), expected, "{added:?} at {now}");
            assert!(queue.deadline().is_none_or(|deadline| deadline > now), "{added:?} at {now}");
        }
    }

    #[test]
    fn simple_queue_adds_once_when_due() {
        check(&[("a", 50.0, 0.0)], &[(49.0, ""), (50.0, "a"), (10_060.0, "")]);
        check(&[("a", 0.0, 5.0), ("b", -1.0, 5.0), ("c", f64::NAN, 5.0)], &[(5.0, "a b c")]);
    }

    #[test]
    fn deduping_takes_the_earliest_time() {
        check(&[("a", 50.0, 0.0), ("a", 70.0, 0.0)], &[(60.0, "a"), (80.0, "")]);
        check(&[("a", 50.0, 0.0), ("a", 30.0, 0.0)], &[(40.0, "a"), (60.0, "")]);
        // An addition at once does not take back the later one.
        check(&[("a", 50.0, 0.0), ("a", 0.0, 0.0)], &[(0.0, "a"), (50.0, "a")]);
    }

    #[test]
    fn two_fire_in_the_order_of_their_times() {
        check(&[("a", 1000.0, 0.0), ("b", 50.0, 0.0)], &[(60.0, "b"), (1060.0, "a")]);
        check(&[("a", 1000.0, 0.0), ("b", 500.0, 0.0), ("c", 250.0, 0.0)], &[(2000.0, "c b a")]);
        check(&[("a", 10.0, 0.0), ("b", 5.0, 5.0), ("c", 10.0, 0.0)], &[(10.0, "a c b")]);
    }

    /// client-go's heap moves the last item to the front when the first one is taken.
    #[test]
    fn of_those_with_one_time_the_order_is_that_of_the_heap() {
        let same = ["a", "b", "c", "d", "e", "f"].map(|item| (item, 10.0, 0.0));
        check(&same, &[(10.0, "a f e d c b")]);
        check(&[("x", 5.0, 0.0), ("a", 10.0, 0.0), ("b", 10.0, 0.0)], &[(10.0, "x b a")]);
        // One whose time is moved to the front stays behind those that had that time before.
        check(&[("a", 10.0, 0.0), ("b", 20.0, 0.0), ("b", 10.0, 0.0)], &[(10.0, "a b")]);
    }

    #[test]
    fn the_deadline_is_that_of_the_first() {
        let mut queue = DelayingQueue::default();
        assert_eq!(queue.deadline(), None);
        queue.add_after("a", 50.0, 100.0);
        queue.add_after("b", 70.0, 100.0);
        queue.add_after("b", 20.0, 100.0);
        assert_eq!((queue.deadline(), queue.waiting(), queue.len()), (Some(120.0), 2, 0));
        assert_eq!(queue.tick(120.0), 1);
        assert_eq!((queue.deadline(), queue.waiting(), queue.len()), (Some(150.0), 1, 1));
    }

    #[test]
    fn due_while_processing_waits_for_done() {
        let mut queue = DelayingQueue::default();
        queue.add("a");
        assert_eq!(queue.get(), Got::Item("a"));
        queue.add_after("a", 10.0, 0.0);
        queue.tick(10.0);
        assert_eq!(queue.get(), Got::Empty);
        queue.done(&"a");
        assert_eq!(queue.get(), Got::Item("a"));
    }

    #[test]
    fn shutdown_drops_what_is_not_due_and_says_how_many() {
        for shut_down in [DelayingQueue::shut_down, DelayingQueue::shut_down_with_drain] {
            let mut queue = DelayingQueue::default();
            queue.add_after("a", 10.0, 0.0);
            queue.add_after("b", 10.0, 0.0);
            queue.add("c");
            assert_eq!(shut_down(&mut queue), 2);
            assert!(!queue.add_after("d", 10.0, 0.0) && !queue.add_after("e", 0.0, 0.0));
            assert_eq!((queue.tick(100.0), queue.deadline()), (0, None));
            assert_eq!(queue.get(), Got::Item("c"));
            queue.done(&"c");
            assert!(queue.is_drained());
        }
    }
}
