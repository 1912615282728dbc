//! How long an item that failed is to wait before it is tried again.

use std::collections::HashMap;
use std::fmt::Debug;
use std::hash::Hash;

use rustc_hash::FxBuildHasher;

use crate::workqueue::token_bucket::TokenBucket;

/// The first wait of an item that fails, in milliseconds. All constants are client-go's
/// (`default_rate_limiters.go`, `DefaultTypedControllerRateLimiter`).
const FIRST: f64 = 5.0;
/// The longest wait of an item, in milliseconds.
const LONGEST: f64 = 1_000_000.0;
/// How far apart the retries of all items together are, in milliseconds: ten a second.
const EVERY: f64 = 100.0;
/// How many retries may come at once before that rate holds.
const BURST: u32 = 100;

/// Decides how long an item waits.
pub trait RateLimiter<T>: Debug {
    /// How long an item that failed at `now` has to wait, in milliseconds. Each call counts as a failure.
    fn when(&mut self, item: &T, now: f64) -> f64;
    /// Forgets the failures of an item, because it succeeded or is given up.
    fn forget(&mut self, item: &T);
    /// How often the item has failed since it was last forgotten.
    fn num_requeues(&self, item: &T) -> u32;
}

/// How often each item has failed.
type Failures<T> = HashMap<T, u32, FxBuildHasher>;

/// Adds a failure; returns how many there were before.
fn fail<T: Clone + Eq + Hash>(failures: &mut Failures<T>, item: &T) -> u32 {
    let count = failures.entry(item.clone()).or_insert(0);
    *count = count.saturating_add(1);
    *count - 1
}

/// An item waits twice as long after each failure.
#[derive(Clone, Debug)]
pub struct ItemExponentialFailureRateLimiter<T> {
    failures: Failures<T>,
    first: f64,
    longest: f64,
}

impl<T> ItemExponentialFailureRateLimiter<T> {
    /// Waits of `first` milliseconds, doubling up to `longest`.
    pub fn new(first: f64, longest: f64) -> Self {
        ItemExponentialFailureRateLimiter { failures: Failures::default(), first, longest }
    }
}

impl<T: Clone + Debug + Eq + Hash> RateLimiter<T> for ItemExponentialFailureRateLimiter<T> {
    fn when(&mut self, item: &T, _now: f64) -> f64 {
        // The power is infinite before its exponent is too large for its type.
        let doublings = i32::try_from(fail(&mut self.failures, item)).unwrap_or(i32::MAX);
        (self.first * 2.0_f64.powi(doublings)).min(self.longest)
    }

    fn forget(&mut self, item: &T) {
        self.failures.remove(item);
    }

    fn num_requeues(&self, item: &T) -> u32 {
        self.failures.get(item).copied().unwrap_or(0)
    }
}

/// An item waits a short time after each of its first failures, and a long time after each further one.
#[derive(Clone, Debug)]
pub struct ItemFastSlowRateLimiter<T> {
    failures: Failures<T>,
    fast: f64,
    slow: f64,
    most_fast: u32,
}

impl<T> ItemFastSlowRateLimiter<T> {
    /// `most_fast` waits of `fast` milliseconds, then waits of `slow` milliseconds.
    pub fn new(fast: f64, slow: f64, most_fast: u32) -> Self {
        ItemFastSlowRateLimiter { failures: Failures::default(), fast, slow, most_fast }
    }
}

impl<T: Clone + Debug + Eq + Hash> RateLimiter<T> for ItemFastSlowRateLimiter<T> {
    fn when(&mut self, item: &T, _now: f64) -> f64 {
        if fail(&mut self.failures, item) < self.most_fast { self.fast } else { self.slow }
    }

    fn forget(&mut self, item: &T) {
        self.failures.remove(item);
    }

    fn num_requeues(&self, item: &T) -> u32 {
        self.failures.get(item).copied().unwrap_or(0)
    }
}

/// All items share one bucket of tokens. It does not know single items, so that there is nothing to forget.
#[derive(Clone, Debug)]
pub struct BucketRateLimiter {
    /// An item waits until there is a token for it in this bucket.
    pub bucket: TokenBucket,
}

impl<T> RateLimiter<T> for BucketRateLimiter {
    fn when(&mut self, _item: &T, now: f64) -> f64 {
        self.bucket.reserve(now)
    }

    fn forget(&mut self, _item: &T) {}

    fn num_requeues(&self, _item: &T) -> u32 {
        0
    }
}

/// Asks several limiters, and takes the longest of their waits.
#[derive(Debug)]
pub struct MaxOfRateLimiter<T> {
    limiters: Vec<Box<dyn RateLimiter<T>>>,
}

impl<T> MaxOfRateLimiter<T> {
    /// A limiter that asks all of these.
    pub fn new(limiters: Vec<Box<dyn RateLimiter<T>>>) -> Self {
        MaxOfRateLimiter { limiters }
    }
}

impl<T: Debug> RateLimiter<T> for MaxOfRateLimiter<T> {
    fn when(&mut self, item: &T, now: f64) -> f64 {
        self.limiters.iter_mut().map(|limiter| limiter.when(item, now)).fold(0.0, f64::max)
    }

    fn forget(&mut self, item: &T) {
        self.limiters.iter_mut().for_each(|limiter| limiter.forget(item));
    }

    fn num_requeues(&self, item: &T) -> u32 {
        self.limiters.iter().map(|limiter| limiter.num_requeues(item)).max().unwrap_or(0)
    }
}

/// The limiter of a controller: each item waits 5 ms, doubling up to 1000 s, and all items together are tried again ten times
/// a second after a burst of a hundred.
pub fn default_controller_rate_limiter<T: Clone + Debug + Eq + Hash + 'static>() -> MaxOfRateLimiter<T> {
    MaxOfRateLimiter::new(vec![
        Box::new(ItemExponentialFailureRateLimiter::new(FIRST, LONGEST)),
        Box::new(BucketRateLimiter { bucket: TokenBucket::new(EVERY, BURST) }),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The waits of an item that fails at one moment, over and over.
    fn waits(limiter: &mut dyn RateLimiter<&'static str>, item: &'static str, count: usize) -> Vec<f64> {
        (0..count).map(|_| limiter.when(&item, 0.0)).collect()
    }

    /// Item `one` waits as expected, then `two` like it, and `one` begins anew when it is forgotten.
    fn check(mut limiter: impl RateLimiter<&'static str>, expected: &[f64]) {
        let count = expected.len();
        assert_eq!(waits(&mut limiter, "one", count), expected);
        assert_eq!(waits(&mut limiter, "two", 2), expected[..2]);
        assert_eq!((limiter.num_requeues(&"one"), limiter.num_requeues(&"two")), (count as u32, 2));
        limiter.forget(&"one");
        assert_eq!((limiter.num_requeues(&"one"), limiter.num_requeues(&"two")), (0, 2));
        assert_eq!(waits(&mut limiter, "one", 1), expected[..1]);
    }

    /// 77. TestItemExponentialFailureRateLimiter.
    #[test]
    fn backoff_grows_and_forget_resets_one_item_alone() {
        check(ItemExponentialFailureRateLimiter::new(1.0, 1000.0), &[1.0, 2.0, 4.0, 8.0, 16.0]);
        check(ItemFastSlowRateLimiter::new(5.0, 10_000.0, 3), &[5.0, 5.0, 5.0, 10_000.0, 10_000.0]);
        let max = MaxOfRateLimiter::new(vec![
            Box::new(ItemFastSlowRateLimiter::new(5.0, 3000.0, 3)),
            Box::new(ItemExponentialFailureRateLimiter::new(1.0, 1000.0)),
        ]);
        check(max, &[5.0, 5.0, 5.0, 3000.0, 3000.0]);
        check(default_controller_rate_limiter(), &[5.0, 10.0, 20.0, 40.0, 80.0]);
    }

    #[test]
    fn backoff_never_exceeds_its_longest() {
        for (first, longest, times, last) in [
            (1.0, 1e6, 6, 32.0),
            (1.0, 1e6, 1001, 1e6),
            (60_000.0, 3.6e9, 3, 240_000.0),
            (60_000.0, 3.6e9, 1101, 3.6e9),
        ] {
            let mut limiter = ItemExponentialFailureRateLimiter::new(first, longest);
            assert_eq!(waits(&mut limiter, "one", times).last(), Some(&last));
        }
    }

    #[test]
    fn different_items_share_ten_a_second_after_a_burst_of_a_hundred() {
        let mut limiter = default_controller_rate_limiter();
        let waits: Vec<f64> = (0..103).map(|item| limiter.when(&item, 0.0)).collect();
        assert!(waits[..100].iter().all(|wait| *wait == 5.0), "{waits:?}");
        assert_eq!(waits[100..], [100.0, 200.0, 300.0]);
        assert_eq!(limiter.when(&200, 1000.0), 5.0, "seven tokens are there again");
    }
}
