//! Points in time as the API server writes them, and durations as `kubectl` prints them.

use std::fmt::Write;

/// Whole seconds since 1970-01-01T00:00:00Z.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(pub i64);

impl Timestamp {
    /// Reads RFC 3339 (`2026-11-21T08:13:27Z`, fractions and offsets allowed); `None` for anything else.
    ///
    /// The code is the project's own, because in wasm a date library takes more than the rest of the decoder together.
    pub fn parse(text: &str) -> Option<Timestamp> {
        let bytes = text.as_bytes();
        let number = |from: usize, to: usize| -> Option<i64> {
            let digits = bytes.get(from..to)?;
            digits.iter().try_fold(0, |sum, digit| digit.is_ascii_digit().then(|| sum * 10 + i64::from(digit - b'0')))
        };
        let byte = |at: usize| bytes.get(at).copied();
        let separators = [(4, b'-'), (7, b'-'), (13, b':'), (16, b':')];
        if separators.iter().any(|&(at, separator)| byte(at) != Some(separator))
            || !matches!(byte(10), Some(b'T' | b't' | b' '))
        {
            return None;
        }
        let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
        let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
        if !(1..=12).contains(&month) || !(1..=31).contains(&day) || hour > 23 || minute > 59 || second > 60 {
            return None;
        }
        let mut at = 19;
        if byte(at) == Some(b'.') {
            at += 1;
            while byte(at).is_some_and(|digit| digit.is_ascii_digit()) {
                at += 1;
            }
        }
        let offset = match byte(at)? {
            b'Z' | b'z' if bytes.len() == at + 1 => 0,
            sign @ (b'+' | b'-') if bytes.len() == at + 6 && byte(at + 3) == Some(b':') => {
                let seconds = number(at + 1, at + 3)? * 3600 + number(at + 4, at + 6)? * 60;
                if sign == b'+' { seconds } else { -seconds }
            }
            _ => return None,
        };
        Some(Timestamp(days_from_civil(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second - offset))
    }

    /// Reads an optional time of an object: besides what [`Timestamp::parse`] refuses, Go's zero time
    /// (`0001-01-01T00:00:00Z`) is none, as `metav1.Time.IsZero` has it (apimachinery `meta/v1/time.go`).
    pub fn parse_set(text: &str) -> Option<Timestamp> {
        Timestamp::parse(text).filter(|&time| time != GO_ZERO)
    }

    /// Reads the time of an HTTP header (`Sat, 21 Nov 2026 08:13:27 GMT`), as servers write it; `None` for anything else.
    pub fn parse_http(text: &str) -> Option<Timestamp> {
        const MONTHS: &str = "JanFebMarAprMayJunJulAugSepOctNovDec";
        let mut words = text.split_once(", ")?.1.split(' ');
        let (day, month, year, time) = (words.next()?, words.next()?, words.next()?, words.next()?);
        let at = MONTHS.find(month).filter(|at| month.len() == 3 && at % 3 == 0)?;
        let is_whole = words.next() == Some("GMT") && words.next().is_none();
        is_whole.then(|| Timestamp::parse(&format!("{year}-{:02}-{day}T{time}Z", at / 3 + 1))).flatten()
    }

    /// The seconds from `earlier` to `self`; negative if `earlier` is the later one.
    ///
    /// The result is at most 292 years either way, as that of Go's `Time.Sub`, which counts nanoseconds in 64 bits.
    pub fn seconds_since(self, earlier: Timestamp) -> i64 {
        self.0.saturating_sub(earlier.0).clamp(-GO_LONGEST, GO_LONGEST)
    }
}

/// Go's `time.Time{}`.
const GO_ZERO: Timestamp = Timestamp(-62_135_596_800);

/// The whole seconds of Go's longest `time.Duration`.
const GO_LONGEST: i64 = i64::MAX / 1_000_000_000;

/// A minute, an hour, a day in seconds. A year here has 365 days, whatever the calendar says.
const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;
const YEAR: i64 = 365 * DAY;

/// Writes a duration with the two or three digits that `kubectl get` gives an age: `90s`, `2m28s`, `3h5m`, `8d`.
///
/// The steps are those of `HumanDuration` (apimachinery `util/duration/duration.go`). A time one second in the future counts
/// as now, because clocks disagree; a later one is `<invalid>`.
pub fn write_human_duration(seconds: i64, out: &mut String) {
    match seconds {
        ..-1 => out.push_str("<invalid>"),
        -1 => out.push_str("0s"),
        _ if seconds < 2 * MINUTE => write_units(out, [(seconds, "s"), (0, "")]),
        _ if seconds < 10 * MINUTE => write_units(out, [(seconds / MINUTE, "m"), (seconds % MINUTE, "s")]),
        _ if seconds < 3 * HOUR => write_units(out, [(seconds / MINUTE, "m"), (0, "")]),
        _ if seconds < 8 * HOUR => write_units(out, [(seconds / HOUR, "h"), (seconds % HOUR / MINUTE, "m")]),
        _ if seconds < 2 * DAY => write_units(out, [(seconds / HOUR, "h"), (0, "")]),
        _ if seconds < 8 * DAY => write_units(out, [(seconds / DAY, "d"), (seconds % DAY / HOUR, "h")]),
        _ if seconds < 2 * YEAR => write_units(out, [(seconds / DAY, "d"), (0, "")]),
        _ if seconds < 8 * YEAR => write_units(out, [(seconds / YEAR, "y"), (seconds % YEAR / DAY, "d")]),
        _ => write_units(out, [(seconds / YEAR, "y"), (0, "")]),
    }
}

/// Writes the first number and unit, and the second unless its number is 0.
fn write_units(out: &mut String, [(many, large), (few, small)]: [(i64, &str); 2]) {
    // Writing to a String cannot fail.
    let _ = write!(out, "{many}{large}");
    if few > 0 {
        let _ = write!(out, "{few}{small}");
    }
}

/// Days since 1970-01-01 of a date in the proleptic Gregorian calendar.
///
/// The era arithmetic is Howard Hinnant's `days_from_civil` (chrono-Compatible Low-Level Date Algorithms).
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_the_api_server_writes() {
        assert_eq!(Timestamp::parse("1970-01-01T00:00:00Z"), Some(Timestamp(0)));
        assert_eq!(Timestamp::parse("2026-11-21T08:13:27Z"), Some(Timestamp(1_795_248_807)));
        assert_eq!(Timestamp::parse("2024-02-29T23:59:59.123456Z"), Some(Timestamp(1_709_251_199)));
        assert_eq!(Timestamp::parse("2026-11-21T09:13:27+01:00"), Timestamp::parse("2026-11-21T08:13:27Z"));
    }

    #[test]
    fn refuses_what_is_no_time() {
        for text in [
            "",
            "null",
            "2026-11-21",
            "2026-13-01T00:00:00Z",
            "2026-11-21T08:13:27",
            "2026-11-21T08:13:27Zx",
            "２026-11-21T08:13:27Z",
        ] {
            assert_eq!(Timestamp::parse(text), None, "{text}");
        }
    }

    #[test]
    fn go_s_zero_time_is_no_time() {
        assert_eq!(Timestamp::parse("0001-01-01T00:00:00Z"), Some(GO_ZERO));
        assert_eq!(Timestamp::parse_set("0001-01-01T00:00:00Z"), None);
        assert_eq!(Timestamp::parse_set("1970-01-01T00:00:00Z"), Some(Timestamp(0)));
    }

    #[test]
    fn spans_stop_where_go_s_do() {
        assert_eq!(Timestamp(10).seconds_since(Timestamp(13)), -3);
        assert_eq!(Timestamp(i64::MAX).seconds_since(Timestamp(i64::MIN)), 9_223_372_036);
        assert_eq!(Timestamp(i64::MIN).seconds_since(Timestamp(i64::MAX)), -9_223_372_036);
    }

    fn check(write: fn(i64, &mut String), cases: &[(i64, &str)]) {
        for &(seconds, expected) in cases {
            let mut printed = String::new();
            write(seconds, &mut printed);
            assert_eq!(printed, expected, "{seconds} s");
        }
    }

    #[test]
    fn ages_change_their_units_where_kubectl_s_do() {
        check(
            write_human_duration,
            &[
                (i64::MIN, "<invalid>"),
                (-2, "<invalid>"),
                (-1, "0s"),
                (0, "0s"),
                (1, "1s"),
                (119, "119s"),
                (120, "2m"),
                (121, "2m1s"),
                (10 * MINUTE - 1, "9m59s"),
                (10 * MINUTE, "10m"),
                (10 * MINUTE + 59, "10m"),
                (3 * HOUR - 1, "179m"),
                (3 * HOUR, "3h"),
                (3 * HOUR + 59, "3h"),
                (3 * HOUR + MINUTE, "3h1m"),
                (8 * HOUR - 1, "7h59m"),
                (8 * HOUR, "8h"),
                (2 * DAY - 1, "47h"),
                (2 * DAY, "2d"),
                (2 * DAY + HOUR - 1, "2d"),
                (2 * DAY + HOUR, "2d1h"),
                (8 * DAY - 1, "7d23h"),
                (8 * DAY, "8d"),
                (2 * YEAR - 1, "729d"),
                (2 * YEAR, "2y"),
                (2 * YEAR + DAY, "2y1d"),
                (8 * YEAR - 1, "7y364d"),
                (8 * YEAR, "8y"),
                (9 * YEAR - 1, "8y"),
                (GO_LONGEST, "292y"),
            ],
        );
    }
}
