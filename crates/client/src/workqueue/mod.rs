//! What a controller author knows as client-go's `util/workqueue`: what is to be worked on, each thing once, and
//! after how long again.
//!
//! Nothing here waits, reads a clock or knows what is worked on. Times and delays are milliseconds; times are on a
//! clock that never runs backwards.

pub mod delaying;
pub mod queue;
pub mod rate_limiter;
pub mod rate_limiting;
pub mod token_bucket;
