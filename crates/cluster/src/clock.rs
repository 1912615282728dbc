//! Wall time as Kubernetes writes it: RFC 3339, in UTC, to the second. A fault can skew this clock.

use std::time::{SystemTime, UNIX_EPOCH};

use axum::http::{HeaderMap, HeaderValue, header};

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
    let seconds = time.to_string();
    format!("{}.{:06}Z", seconds.trim_end_matches('Z'), time.0.rem_euclid(NANOS) / 1000)
}

/// The current time of the machine's own clock, without the skew.
pub fn unskewed() -> Time {
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
    const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
    const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    // 1970-01-01 was a Thursday.
    let weekday = DAYS[seconds.div_euclid(86_400).rem_euclid(7) as usize];
    let text = timestamp(seconds);
    let month = text.get(5..7).and_then(|month| month.parse::<usize>().ok()).unwrap_or(1);
    let month = MONTHS[month.clamp(1, 12) - 1];
    let part = |range| text.get(range).unwrap_or_default();
    format!("{weekday}, {} {month} {} {} GMT", part(8..10), part(0..4), part(11..19))
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

#[cfg(test)]
mod tests {
    use super::*;

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
