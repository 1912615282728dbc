//! Wall time as Kubernetes writes it: RFC 3339, in UTC, to the second. A fault can skew this clock.

use std::time::{SystemTime, UNIX_EPOCH};

use axum::http::{HeaderMap, HeaderValue, header};
use jiff::Timestamp;
use jiff::fmt::rfc2822::DateTimePrinter;
use tokio::time::Instant;

use kubechurn_client::record::time::Time;

const NANOS: i64 = 1_000_000_000;

/// The current time in seconds since 1970.
pub fn now() -> i64 {
    time().seconds()
}

/// The current time to the nanosecond.
pub fn time() -> Time {
    Time(unskewed().0.saturating_add(skew::get().saturating_mul(NANOS)))
}

/// A time as `metav1.MicroTime` writes it: `2026-11-21T08:14:24.123456Z`.
pub fn micro_time(time: Time) -> String {
    format!("{:.6}", Timestamp::from_nanosecond(i128::from(time.0)).unwrap_or_default())
}

/// The current time of the machine's own clock, without the skew.
pub fn unskewed() -> Time {
    #[cfg(test)]
    if let Some(moved) = moved::get() {
        return moved;
    }
    machine()
}

fn machine() -> Time {
    let nanos = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos());
    Time(i64::try_from(nanos).unwrap_or(i64::MAX))
}

/// A time as text, such as `2026-11-21T08:14:24Z`.
pub fn timestamp(seconds: i64) -> String {
    Time::from_seconds(seconds).to_string()
}

/// Skews the clock by this many seconds.
pub fn set_skew(seconds: i64) {
    skew::set(seconds);
}

/// Sets the `Date` header of an answer while the clock is skewed; otherwise the transport sets it.
pub fn stamp(headers: &mut HeaderMap) {
    if skew::get() != 0
        && let Ok(date) = HeaderValue::from_str(&http_date(now()))
    {
        headers.insert(header::DATE, date);
    }
}

/// A time as HTTP writes it (RFC 9110, IMF-fixdate), such as `Sat, 21 Nov 2026 08:14:24 GMT`.
fn http_date(seconds: i64) -> String {
    let time = Timestamp::from_second(seconds).unwrap_or_default();
    DateTimePrinter::new().timestamp_to_rfc9110_string(&time).unwrap_or_default()
}

/// Sleeps until `deadline`; never resolves without one, and resolves at once if it has passed. A timer would take a
/// millisecond even then.
pub async fn sleep_until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) if deadline <= Instant::now() => {}
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}

#[cfg(not(test))]
mod skew {
    use std::sync::atomic::{AtomicI64, Ordering};

    static SECONDS: AtomicI64 = AtomicI64::new(0);

    pub fn get() -> i64 {
        SECONDS.load(Ordering::Relaxed)
    }

    pub fn set(seconds: i64) {
        SECONDS.store(seconds, Ordering::Relaxed);
    }
}

/// The skew is kept per thread: each test runs its server on its own thread, and tests run at the same time.
#[cfg(test)]
mod skew {
    use std::cell::Cell;

    thread_local!(static SECONDS: Cell<i64> = const { Cell::new(0) });

    pub fn get() -> i64 {
        SECONDS.get()
    }

    pub fn set(seconds: i64) {
        SECONDS.set(seconds);
    }
}

/// On the thread of a test that moves tokio's clock, wall time can go with that clock.
#[cfg(test)]
pub mod moved {
    use std::cell::Cell;

    use super::{Instant, Time};

    thread_local!(static SINCE: Cell<Option<(Instant, Time)>> = const { Cell::new(None) });

    /// When wall time begins, in seconds since 1970. It is the same in each run, so that whatever depends on it goes the same way.
    const BEGINS: i64 = 1_795_248_864;

    /// From now on, wall time on this thread passes as tokio's clock does.
    pub fn follow() {
        SINCE.set(Some((Instant::now(), Time::from_seconds(BEGINS))));
    }

    pub(super) fn get() -> Option<Time> {
        let (since, began) = SINCE.get()?;
        let nanos = i64::try_from(since.elapsed().as_nanos()).unwrap_or(i64::MAX);
        Some(Time(began.0.saturating_add(nanos)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn wall_time_can_follow_the_clock_of_a_test() {
        moved::follow();
        let before = unskewed();
        tokio::time::advance(std::time::Duration::from_secs(600)).await;
        let passed = unskewed().0 - before.0;
        assert!((600 * NANOS..601 * NANOS).contains(&passed), "{passed}");
    }

    #[test]
    fn micro_times() {
        assert_eq!(micro_time(Time(1_795_248_864_123_456_789)), "2026-11-21T08:14:24.123456Z");
        assert_eq!(micro_time(Time::from_seconds(0)), "1970-01-01T00:00:00.000000Z");
        assert_eq!(micro_time(Time(-1_000)), "1969-12-31T23:59:59.999999Z");
    }

    #[test]
    fn dates_of_http() {
        for (seconds, text) in [
            (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
            (-1, "Wed, 31 Dec 1969 23:59:59 GMT"),
            (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"),
            (1_795_248_864, "Sat, 21 Nov 2026 08:14:24 GMT"),
        ] {
            assert_eq!(http_date(seconds), text);
        }
    }
}
