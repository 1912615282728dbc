//! The time with which the server begins a line.

use kubechurn_client::api::time::Timestamp;

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
}
