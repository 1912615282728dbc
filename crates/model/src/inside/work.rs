//! The work queue, and a made-up reconciler that reads the store and writes nothing.

use kubechurn_client::api::object::{ObjectKey, ResourceVersion};
use kubechurn_client::workqueue::queue::Got;
use kubechurn_client::workqueue::rate_limiter::ItemExponentialFailureRateLimiter;
use kubechurn_client::workqueue::rate_limiting::RateLimitingQueue;

/// What the reconciler is like.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReconcilerOptions {
    /// How many keys are in work at a time.
    pub workers: usize,
    /// How long one takes, in milliseconds.
    pub takes: f64,
    /// Every so many attempts one fails; 0 is never.
    pub fails_every: u64,
    /// Whether a key is forgotten by the rate limiter when it succeeded, as it should be.
    pub forgets: bool,
}

impl Default for ReconcilerOptions {
    fn default() -> ReconcilerOptions {
        ReconcilerOptions { workers: 1, takes: 50.0, fails_every: 0, forgets: true }
    }
}

/// A key in work.
#[derive(Clone, Debug, PartialEq)]
pub struct InWork {
    /// The key.
    pub key: ObjectKey,
    /// When it will be done, in milliseconds.
    pub until: f64,
    /// The version that the store had when the work began; unset where it had no such object.
    pub read: ResourceVersion,
}

/// What the work did next.
#[derive(Clone, Debug, PartialEq)]
pub enum Worked {
    /// Keys whose time had come were added.
    Due(usize),
    /// A worker took a key, and read the store.
    Took(InWork),
    /// A worker is done with a key.
    Done {
        /// The key, and what the worker read.
        work: InWork,
        /// Whether the attempt failed: then the key waits for its time.
        failed: bool,
    },
}

/// The queue and the workers.
#[derive(Clone, Debug)]
pub struct Work {
    queue: RateLimitingQueue<ObjectKey, ItemExponentialFailureRateLimiter<ObjectKey>>,
    in_work: Vec<InWork>,
    attempts: u64,
    added: u64,
    /// The keys that handlers added since a worker took them last, in order, and how often.
    adds: Vec<(ObjectKey, u64)>,
}

impl Default for Work {
    fn default() -> Work {
        // client-go's limits of a controller: 5 ms, doubling up to 1000 s.
        let limiter = ItemExponentialFailureRateLimiter::new(5.0, 1_000_000.0);
        Work { queue: RateLimitingQueue::new(limiter), in_work: Vec::new(), attempts: 0, added: 0, adds: Vec::new() }
    }
}

impl Work {
    /// A key needs work.
    pub fn add(&mut self, key: ObjectKey) {
        self.added += 1;
        match self.adds.iter_mut().find(|(own, _)| *own == key) {
            Some((_, count)) => *count += 1,
            None => self.adds.push((key.clone(), 1)),
        }
        self.queue.queue.add(key);
    }

    /// When something happens next, in milliseconds; `None` if nothing is to be done.
    pub fn due(&self, options: &ReconcilerOptions, now: f64) -> Option<f64> {
        let done = self.in_work.iter().map(|work| work.until.max(now));
        let take = (self.in_work.len() < options.workers && !self.queue.queue.is_empty()).then_some(now);
        done.chain(take).chain(self.queue.queue.deadline().map(|at| at.max(now))).min_by(f64::total_cmp)
    }

    /// Does what is due first. `read` returns the version that the store has of a key.
    pub fn step(
        &mut self,
        options: &ReconcilerOptions,
        now: f64,
        read: impl Fn(&ObjectKey) -> ResourceVersion,
    ) -> Option<Worked> {
        if let Some(at) = self.in_work.iter().position(|work| work.until <= now) {
            return Some(self.done(at, options, now));
        }
        let count = self.queue.queue.tick(now);
        if count > 0 {
            return Some(Worked::Due(count));
        }
        if self.in_work.len() >= options.workers {
            return None;
        }
        let Got::Item(key) = self.queue.queue.get() else { return None };
        self.adds.retain(|(own, _)| *own != key);
        let work = InWork { read: read(&key), key, until: now + options.takes };
        self.in_work.push(work.clone());
        Some(Worked::Took(work))
    }

    fn done(&mut self, at: usize, options: &ReconcilerOptions, now: f64) -> Worked {
        let work = self.in_work.remove(at);
        self.attempts += 1;
        let failed = options.fails_every > 0 && self.attempts.is_multiple_of(options.fails_every);
        if failed {
            self.queue.add_rate_limited(work.key.clone(), now);
        } else if options.forgets {
            self.queue.forget(&work.key);
        }
        self.queue.queue.done(&work.key);
        Worked::Done { work, failed }
    }

    /// The keys that handlers added since a worker took them last, in order, and how often. Those in work are added again when
    /// that work is done.
    pub fn adds(&self) -> &[(ObjectKey, u64)] {
        &self.adds
    }

    /// When the next key that waits for its time is due, in milliseconds.
    pub fn next_due(&self) -> Option<f64> {
        self.queue.queue.deadline()
    }

    /// The keys in work.
    pub fn in_work(&self) -> &[InWork] {
        &self.in_work
    }

    /// How many keys wait for a worker, and how many for their time.
    pub fn waiting(&self) -> (usize, usize) {
        (self.queue.queue.len(), self.queue.queue.waiting())
    }

    /// How often a key failed since it was last forgotten.
    pub fn failures(&self, key: &ObjectKey) -> u32 {
        self.queue.num_requeues(key)
    }

    /// How often a key was added, and how often one was worked on.
    pub fn counts(&self) -> (u64, u64) {
        (self.added, self.attempts)
    }
}
