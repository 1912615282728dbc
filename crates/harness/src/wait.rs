//! Waiting for a condition with a deadline. Nothing here ever waits for a fixed time.
//!
//! A deadline ends a test that would wait for ever. It does not judge how fast the page is: the benchmarks do that, and native
//! tests which move the time themselves.

use std::time::Duration;

use tokio::time::{Instant, MissedTickBehavior, interval, timeout_at};

/// The time between two checks of a condition.
const POLL: Duration = Duration::from_millis(50);

/// How many times as long as on an idle machine a wait may take on a busy one.
const PATIENCE: u32 = 4;

/// How long a check that is under way may go on after the deadline: one slow command of a browser.
const GRACE: Duration = Duration::from_secs(20);

/// Checks `condition` until it holds, and returns its `Ok`. `within` is how long that takes at most on an idle machine. After
/// [`PATIENCE`] times that long it panics with the last `Err`.
pub async fn wait_until<T>(what: &str, within: Duration, mut condition: impl AsyncFnMut() -> Result<T, String>) -> T {
    let within = within * PATIENCE;
    let deadline = Instant::now() + within;
    let mut ticks = interval(POLL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut last_seen = "nothing yet".to_owned();
    loop {
        ticks.tick().await;
        match timeout_at(deadline + GRACE, condition()).await {
            Ok(Ok(value)) => return value,
            Ok(Err(seen)) => last_seen = seen,
            Err(_) => panic!("{what}: no answer within {within:?}; last seen: {last_seen}"),
        }
        assert!(Instant::now() < deadline, "{what}: not within {within:?}; last seen: {last_seen}");
    }
}

/// The result of a check: `Ok` if the condition holds, else what was seen instead.
pub fn holds(condition: bool, seen: impl FnOnce() -> String) -> Result<(), String> {
    if condition { Ok(()) } else { Err(seen()) }
}
