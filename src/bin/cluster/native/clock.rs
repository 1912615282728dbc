//! Wall time as Kubernetes writes it: RFC 3339, in UTC, to the second.

use std::time::{SystemTime, UNIX_EPOCH};

use kubechurn::record::time::Time;

/// Seconds since 1970.
pub fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() as i64)
}

/// The moment to the nanosecond.
pub fn time() -> Time {
    let nanos = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos());
    Time(i64::try_from(nanos).unwrap_or(i64::MAX))
}

/// The moment as text, such as `2026-11-21T08:14:24Z`.
pub fn timestamp(seconds: i64) -> String {
    Time::from_seconds(seconds).to_string()
}
