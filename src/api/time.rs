//! Points in time as the API server writes them.

/// Whole seconds since 1970-01-01T00:00:00Z.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(pub i64);

impl Timestamp {
    /// Reads RFC 3339 (`2026-11-21T08:13:27Z`, fractions and offsets allowed); `None` for anything else.
    ///
    /// By hand, because the date libraries weigh more than the rest of the decoder together.
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
}
