//! A work queue in which an item that failed waits the longer the more often it has failed.

use std::hash::Hash;

use crate::workqueue::delaying::DelayingQueue;
use crate::workqueue::rate_limiter::RateLimiter;

/// The queue (client-go `rate_limiting_queue.go`). When the work on an item succeeded, or the item is given up, call
/// [`RateLimitingQueue::forget`]; when it failed, call [`RateLimitingQueue::add_rate_limited`]. In both cases call
/// `queue.done` then.
#[derive(Clone, Debug)]
pub struct RateLimitingQueue<T, L> {
    /// The items that wait for work or for their time.
    pub queue: DelayingQueue<T>,
    limiter: L,
}

impl<T: Clone + Eq + Hash, L: RateLimiter<T>> RateLimitingQueue<T, L> {
    /// An empty queue.
    pub fn new(limiter: L) -> Self {
        RateLimitingQueue { queue: DelayingQueue::default(), limiter }
    }

    /// Adds an item that failed, after the time that the limiter says. Returns false if the queue is shutting down; the
    /// failure is counted all the same.
    pub fn add_rate_limited(&mut self, item: T, now: f64) -> bool {
        let delay = self.limiter.when(&item, now);
        self.queue.add_after(item, delay, now)
    }

    /// Forgets the failures of an item, so that its next failure counts as its first. An item that is in the queue stays
    /// there.
    pub fn forget(&mut self, item: &T) {
        self.limiter.forget(item);
    }

    /// How often the item has failed since it was last forgotten.
    pub fn num_requeues(&self, item: &T) -> u32 {
        self.limiter.num_requeues(item)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workqueue::queue::Got;
    use crate::workqueue::rate_limiter::default_controller_rate_limiter;

    #[test]
    fn a_failing_item_comes_back_later_each_time_until_it_is_forgotten() {
        let mut queue = RateLimitingQueue::new(default_controller_rate_limiter());
        let mut now = 0.0;
        queue.queue.add("a");
        for (failures, wait) in [(1, 5.0), (2, 10.0), (3, 20.0)] {
            assert_eq!(queue.queue.get(), Got::Item("a"));
            assert!(queue.add_rate_limited("a", now));
            queue.queue.done(&"a");
            assert_eq!((queue.num_requeues(&"a"), queue.queue.deadline()), (failures, Some(now + wait)));
            now += wait;
            queue.queue.tick(now);
        }
        queue.forget(&"a");
        assert_eq!((queue.num_requeues(&"a"), queue.queue.get()), (0, Got::Item("a")));
        queue.add_rate_limited("a", now);
        assert_eq!(queue.queue.deadline(), Some(now + 5.0));
        queue.queue.shut_down();
        assert!(!queue.add_rate_limited("a", now));
    }
}
