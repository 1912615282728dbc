//! The processor time of this thread. The benchmark never waits, so on a quiet machine this is the elapsed time, and on
//! a busy machine the time of other processes is left out.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// The thread's processor time so far.
fn now() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(now.tv_sec as u64, now.tv_nsec as u32)
}

/// The time that `run` took, and its result.
pub fn timed<T>(run: impl FnOnce() -> T) -> (Duration, T) {
    let start = now();
    let result = run();
    (now() - start, result)
}
