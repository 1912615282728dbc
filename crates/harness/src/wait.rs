//! Waiting for a condition with a deadline. Nothing here ever waits for a fixed time.

use std::time::Duration;

use tokio::time::{Instant, MissedTickBehavior, interval, timeout_at};

/// Between two looks at a condition.
const POLL: Duration = Duration::from_millis(50);

/// What a condition that is still being looked at may overrun its deadline by: one slow browser command.
const GRACE: Duration = Duration::from_secs(20);

/// Looks at `condition` until it holds, and returns what it found. Past the deadline it panics with the last
/// thing seen, which is what the condition's `Err` says.
pub async fn wait_until<T>(what: &str, within: Duration, mut condition: impl AsyncFnMut() -> Result<T, String>) -> T {
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

/// A condition's verdict: `Ok` if it holds, else what was seen instead.
pub fn holds(condition: bool, seen: impl FnOnce() -> String) -> Result<(), String> {
    if condition { Ok(()) } else { Err(seen()) }
}
