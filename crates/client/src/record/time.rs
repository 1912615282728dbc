//! Wall time as Kubernetes writes it: RFC 3339, in UTC, to the second.

use std::fmt;

use serde::{Serialize, Serializer};

const NANOS: i64 = 1_000_000_000;

/// A moment: nanoseconds since 1970-01-01T00:00:00Z. Its text and JSON, such as `2026-11-21T08:14:24Z`, leave out the
/// parts of a second, as `metav1.Time` does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(pub i64);

impl Time {
    /// The moment so many seconds after 1970, at most 292 years away.
    pub fn from_seconds(seconds: i64) -> Time {
        Time(seconds.saturating_mul(NANOS))
    }

    /// The whole seconds since 1970.
    pub fn seconds(self) -> i64 {
        self.0.div_euclid(NANOS)
    }
}

impl fmt::Display for Time {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.seconds();
        let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
        // Howard Hinnant's civil_from_days: https://howardhinnant.github.io/date_algorithms.html
        let shifted = days + 719_468;
        let era = shifted.div_euclid(146_097);
        let day_of_era = shifted.rem_euclid(146_097);
        let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let shifted_month = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
        let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
        let year = year_of_era + era * 400 + i64::from(month <= 2);
        let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
        write!(formatter, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
    }
}

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn civil_dates() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (-1, "1969-12-31T23:59:59Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_795_248_864, "2026-11-21T08:14:24Z"),
            (i64::MAX, "2262-04-11T23:47:16Z"),
            (i64::MIN, "1677-09-21T00:12:43Z"),
        ] {
            assert_eq!(Time::from_seconds(seconds).to_string(), text);
        }
        assert_eq!(Time(-1).to_string(), "1969-12-31T23:59:59Z");
        assert_eq!(Time(NANOS - 1).to_string(), "1970-01-01T00:00:00Z");
    }
}
