//! A controller's work queue: the crate's rate-limiting queue, and workers that wait for it.

use std::cell::RefCell;
use std::fmt::Debug;
use std::hash::Hash;
use std::rc::Rc;

use kubechurn_client::workqueue::queue::Got;
use kubechurn_client::workqueue::rate_limiter::{MaxOfRateLimiter, default_controller_rate_limiter};
use kubechurn_client::workqueue::rate_limiting::RateLimitingQueue;
use tokio::sync::Notify;
use tokio::time::{Duration, Instant};

/// The queue; clones are the same one. A key is never worked on twice at once, and one that is added while it is worked
/// on is worked on again.
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
    /// Has a key worked on as soon as a worker is free.
    pub fn add(&self, key: K) {
        self.0.queue.borrow_mut().queue.add(key);
        self.0.changed.notify_waiters();
    }

    /// Has a key worked on after a while; of several times the earliest counts.
    pub fn add_after(&self, key: K, delay: Duration) {
        let now = self.now();
        self.0.queue.borrow_mut().queue.add_after(key, delay.as_secs_f64() * 1000.0, now);
        self.0.changed.notify_waiters();
    }

    /// Has a key that failed worked on again, the later the more often it has failed.
    pub fn add_rate_limited(&self, key: K) {
        let now = self.now();
        self.0.queue.borrow_mut().add_rate_limited(key, now);
        self.0.changed.notify_waiters();
    }

    /// The key did not fail: its next failure counts as its first.
    pub fn forget(&self, key: &K) {
        self.0.queue.borrow_mut().forget(key);
    }

    /// Waits for a key to work on; `None` once the queue is shut down and what waited was handed out.
    /// [`Self::done`] follows, however the work ends.
    pub async fn get(&self) -> Option<K> {
        loop {
            // Made before the look, so that what is added after it is not missed.
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
                        // A timer's millisecond may end before the queue's does.
                        () = tokio::time::sleep_until(until + Duration::from_millis(1)) => {}
                    }
                }
                None => changed.await,
            }
        }
    }

    /// The work on a key is over.
    pub fn done(&self, key: &K) {
        self.0.queue.borrow_mut().queue.done(key);
        self.0.changed.notify_waiters();
    }

    /// Takes no more keys. What waits for its time is dropped, and what waits for a worker is handed out.
    pub fn shut_down(&self) {
        self.0.queue.borrow_mut().queue.shut_down();
        self.0.changed.notify_waiters();
    }

    fn now(&self) -> f64 {
        self.0.began.elapsed().as_secs_f64() * 1000.0
    }
}
