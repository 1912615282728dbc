//! The work queue of a controller: the rate-limiting queue of the client crate, with workers that wait for keys.

use std::cell::RefCell;
use std::fmt::Debug;
use std::hash::Hash;
use std::rc::Rc;

use kubechurn_client::workqueue::queue::Got;
use kubechurn_client::workqueue::rate_limiter::{MaxOfRateLimiter, default_controller_rate_limiter};
use kubechurn_client::workqueue::rate_limiting::RateLimitingQueue;
use tokio::sync::Notify;
use tokio::time::{Duration, Instant};

/// The queue. Clones share the same queue. A key is never worked on twice at the same time; a key that is added during
/// the work on it is queued again afterwards.
#[derive(Debug)]
pub struct Queue<K>(Rc<Shared<K>>);

#[derive(Debug)]
struct Shared<K> {
    queue: RefCell<RateLimitingQueue<K, MaxOfRateLimiter<K>>>,
    changed: Notify,
    began: Instant,
}

impl<K> Clone for Queue<K> {
    fn clone(&self) -> Self {
        Self(Rc::clone(&self.0))
    }
}

impl<K: Clone + Debug + Eq + Hash + 'static> Default for Queue<K> {
    fn default() -> Self {
        let queue = RefCell::new(RateLimitingQueue::new(default_controller_rate_limiter()));
        Self(Rc::new(Shared { queue, changed: Notify::new(), began: Instant::now() }))
    }
}

impl<K: Clone + Debug + Eq + Hash + 'static> Queue<K> {
    /// Queues a key for the next free worker.
    pub fn add(&self, key: K) {
        self.log(&key);
        self.0.queue.borrow_mut().queue.add(key);
        self.0.changed.notify_waiters();
    }

    /// Queues a key after a delay; of several delays the earliest applies.
    pub fn add_after(&self, key: K, delay: Duration) {
        self.log(&key);
        let now = self.now();
        self.0.queue.borrow_mut().queue.add_after(key, delay.as_secs_f64() * 1000.0, now);
        self.0.changed.notify_waiters();
    }

    /// Queues a key that failed, with a delay that grows with the number of failures.
    pub fn add_rate_limited(&self, key: K) {
        let now = self.now();
        self.0.queue.borrow_mut().add_rate_limited(key, now);
        self.0.changed.notify_waiters();
    }

    /// Resets the failures of a key, so that its next failure counts as the first.
    pub fn forget(&self, key: &K) {
        self.0.queue.borrow_mut().forget(key);
    }

    /// Waits for a key; `None` once the queue is shut down and all remaining keys were handed out. The caller must call
    /// [`Self::done`], however the work ends.
    pub async fn get(&self) -> Option<K> {
        loop {
            // Created before the queue is read, so that a key that is added after that is not missed.
            let changed = self.0.changed.notified();
            let (got, deadline) = {
                let mut queue = self.0.queue.borrow_mut();
                queue.queue.tick(self.now());
                (queue.queue.get(), queue.queue.deadline())
            };
            match got {
                Got::Item(key) => return Some(key),
                Got::ShutDown => return None,
                Got::Empty => {}
            }
            match deadline {
                Some(deadline) => {
                    let until = self.0.began + Duration::from_secs_f64((deadline / 1000.0).clamp(0.0, 1e9));
                    tokio::select! {
                        () = changed => {}
                        // The timer counts whole milliseconds, and might fire before the queue's deadline.
                        () = tokio::time::sleep_until(until + Duration::from_millis(1)) => {}
                    }
                }
                None => changed.await,
            }
        }
    }

    /// Ends the work on a key.
    pub fn done(&self, key: &K) {
        self.0.queue.borrow_mut().queue.done(key);
        self.0.changed.notify_waiters();
    }

    /// Accepts no more keys. Delayed keys are dropped, and queued keys are still handed out.
    pub fn shut_down(&self) {
        self.0.queue.borrow_mut().queue.shut_down();
        self.0.changed.notify_waiters();
    }

    /// A number of its own, which distinguishes it from other queues.
    #[cfg(test)]
    pub fn number(&self) -> usize {
        Rc::as_ptr(&self.0) as usize
    }

    #[cfg(test)]
    fn log(&self, key: &K) {
        super::answered::added(self.number(), key);
    }

    #[cfg(not(test))]
    fn log(&self, _key: &K) {}

    fn now(&self) -> f64 {
        self.0.began.elapsed().as_secs_f64() * 1000.0
    }
}
