//! The time with which the server begins a line.

use kubechurn_client::api::time::Timestamp;
use kubechurn_client::record::time::Time;

/// Nanoseconds in a second.
pub const SECOND: i64 = 1_000_000_000;
/// The most letters of a time: `2026-11-27T14:02:07.123456789+01:00`.
const LONGEST: usize = 35;

/// The time at the beginning of a line, in nanoseconds since 1970, and the rest of the line. `None` for the time where there is
/// none: a kubelet also answers with words of its own.
pub fn split(line: &[u8]) -> (Option<i64>, &[u8]) {
    let end = line.iter().take(LONGEST + 1).position(|byte| *byte == b' ');
    // A line without a text may end with its time.
    let end = end.unwrap_or(line.len());
    match line.get(..end).and_then(read) {
        Some(time) => (Some(time), line.get(end + 1..).unwrap_or_default()),
        None => (None, line),
    }
}

fn read(text: &[u8]) -> Option<i64> {
    if text.len() > LONGEST {
        return None;
    }
    let text = std::str::from_utf8(text).ok()?;
    let seconds = Timestamp::parse(text).filter(|_| text.as_bytes().get(10) == Some(&b'T'))?.0;
    let digits = text.get(19..)?.strip_prefix('.').unwrap_or_default();
    let digits = digits.bytes().take_while(u8::is_ascii_digit).take(9);
    let (nanos, unit) =
        digits.fold((0, SECOND), |(sum, unit), digit| (sum + i64::from(digit - b'0') * unit / 10, unit / 10));
    debug_assert!(unit > 0);
    seconds.checked_mul(SECOND)?.checked_add(nanos)
}

/// Writes times as the server does. The lines of a second have its letters in common.
#[derive(Clone, Debug, Default)]
pub struct Stamp {
    second: Option<i64>,
    letters: String,
}

impl Stamp {
    /// Writes a time, in nanoseconds since 1970, as `2026-11-21T08:13:27.000000001Z`.
    pub fn write(&mut self, time: i64, out: &mut String) {
        let (second, nanos) = (time.div_euclid(SECOND), time.rem_euclid(SECOND));
        if self.second.replace(second) != Some(second) {
            self.letters = Time::from_seconds(second).to_string();
        }
        out.push_str(self.letters.trim_end_matches('Z'));
        let mut digits = *b".000000000Z";
        let mut rest = nanos;
        for digit in digits[1..10].iter_mut().rev() {
            *digit = b'0' + (rest % 10) as u8;
            rest /= 10;
        }
        out.push_str(std::str::from_utf8(&digits).unwrap_or_default());
    }
}

/// A time of the server in milliseconds.
pub fn milliseconds(time: i64) -> f64 {
    time as f64 / 1e6
}

/// The same in nanoseconds.
pub fn nanoseconds(milliseconds: f64) -> i64 {
    (milliseconds * 1e6) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_begins_with_its_time() {
        let at = 1_795_248_807 * SECOND;
        for (line, time, text) in [
            ("2026-11-21T08:13:27Z GET /", Some(at), "GET /"),
            ("2026-11-21T08:13:27.000000001Z GET /", Some(at + 1), "GET /"),
            ("2026-11-21T08:13:27.5Z  two", Some(at + SECOND / 2), " two"),
            ("2026-11-21T08:13:27.123456789123Z x", Some(at + 123_456_789), "x"),
            ("2026-11-21T09:13:27.25+01:00 x", Some(at + SECOND / 4), "x"),
            ("2026-11-21T08:13:27.1Z", Some(at + SECOND / 10), ""),
            ("2026-11-21T08:13:27.1Z ", Some(at + SECOND / 10), ""),
            ("2026-11-21 08:13:27Z x", None, "2026-11-21 08:13:27Z x"),
            ("unable to retrieve container logs", None, "unable to retrieve container logs"),
            ("", None, ""),
            ("9999999-99-99T x", None, "9999999-99-99T x"),
        ] {
            assert_eq!(split(line.as_bytes()), (time, text.as_bytes()), "{line}");
        }
        assert_eq!(split(b"2026-11-21T08:13:27.\xff\xfeZ x").0, None);
        assert_eq!(nanoseconds(milliseconds(at)), at);
    }

    #[test]
    fn a_time_is_written_as_it_is_read() {
        let mut stamp = Stamp::default();
        let at = 1_795_248_807 * SECOND;
        for time in [at, at + 1, at + 123_456_789, at + SECOND - 1, at + SECOND, 0, -1] {
            let mut text = String::new();
            stamp.write(time, &mut text);
            assert_eq!((split(text.as_bytes()).0, text.len()), (Some(time), 30), "{text}");
        }
    }
}
