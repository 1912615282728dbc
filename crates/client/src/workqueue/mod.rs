//! What a controller author knows as client-go's `util/workqueue`: a queue in which each item waits at most once, and in which
//! an item that failed waits for a while before it is tried again.
//!
//! Nothing here waits, reads a clock or knows what is worked on. Times and delays are milliseconds; times are on a
//! clock that never runs backwards.

pub mod delaying;
mod heap;
pub mod queue;
pub mod rate_limiter;
pub mod rate_limiting;
pub mod token_bucket;
