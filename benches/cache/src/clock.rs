//! The processor's time that this thread took: the benchmark never waits, so on a quiet machine this is the time
//! that passed, and on a busy one the others are left out.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// The thread's time so far.
fn now() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(now.tv_sec as u64, now.tv_nsec as u32)
}

/// How long `run` took, and what came of it.
pub fn timed<T>(run: impl FnOnce() -> T) -> (Duration, T) {
    let start = now();
    let result = run();
    (now() - start, result)
}
