//! A time range and a moment in the address.

use kubechurn_client::api::time::Timestamp;
use kubechurn_client::record::time::Time;

use crate::timeline::scale::{HISTORY, Window};

/// The end of a stretch that goes on.
const NOW: &str = "now";

/// Reads a stretch as the address has it: `FROM-TO`, in milliseconds since 1970. `FROM-now` ends at infinity.
pub fn parse(text: &str) -> Option<Window> {
    let (from, to) = text.split_once('-')?;
    let time = |text: &str| Some(text.parse::<u64>().ok().filter(|at| *at < 1 << 52)? as f64);
    let from = time(from)?;
    if to == NOW {
        return Some(Window { from, to: f64::INFINITY });
    }
    let to = time(to)?;
    (from < to && to - from <= HISTORY).then_some(Window { from, to })
}

/// Writes a stretch for the address.
pub fn written(window: &Window) -> String {
    match window.to {
        f64::INFINITY => format!("{}-{NOW}", window.from as u64),
        to => format!("{}-{}", window.from as u64, to as u64),
    }
}

/// The stretch between two times, whichever comes first, in whole milliseconds.
pub fn between(one: f64, other: f64) -> Window {
    let (from, to) = (one.min(other).max(0.0).floor(), one.max(other).ceil());
    Window { from, to: to.clamp(from + 1.0, from + HISTORY) }
}

/// Reads a moment as the address has it, in RFC 3339: `2026-11-25T14:02:11.408Z`. Returns milliseconds since 1970.
pub fn moment(text: &str) -> Option<f64> {
    let seconds = Timestamp::parse(text)?.0;
    let fraction = text.get(19..)?.strip_prefix('.').unwrap_or_default();
    let digits = fraction.find(|letter: char| !letter.is_ascii_digit()).map_or(fraction, |end| &fraction[..end]);
    let fraction: f64 = if digits.is_empty() { 0.0 } else { format!("0.{digits}").parse().ok()? };
    Some(seconds as f64 * 1_000.0 + (fraction * 1_000.0).floor()).filter(|at| (0.0..(1_u64 << 52) as f64).contains(at))
}

/// Writes a moment for the address, to the millisecond.
pub fn moment_written(at: f64) -> String {
    let milliseconds = at.max(0.0) as i64;
    let time = Time::from_seconds(milliseconds / 1_000).to_string();
    format!("{}.{:03}Z", time.trim_end_matches('Z'), milliseconds % 1_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stretch_is_written_into_the_address_and_read_from_it() {
        let window = Window { from: 1_790_000_000_000.0, to: 1_790_000_030_000.0 };
        assert_eq!(written(&window), "1790000000000-1790000030000");
        assert_eq!(parse(&written(&window)), Some(window));
        let open = Window { from: 1_790_000_000_000.0, to: f64::INFINITY };
        assert_eq!((&*written(&open), parse(&written(&open))), ("1790000000000-now", Some(open)));
        let weeks = "1790000000000-1790604800001";
        for text in
            ["", "-", "1", "5-5", "6-5", "a-b", "1-99999999999999999999999", "-1-5", "1e3-2e3", "NaN-inf", weeks]
        {
            assert_eq!(parse(text), None, "{text}");
        }
        for (text, at) in [
            ("2026-11-25T14:02:11.408Z", Some(1_795_615_331_408.0)),
            ("2026-11-25T15:02:11.4089+01:00", Some(1_795_615_331_408.0)),
            ("2026-11-25T14:02:11Z", Some(1_795_615_331_000.0)),
            ("2026-11-25T14:02:11.Z", Some(1_795_615_331_000.0)),
            ("1926-11-25T14:02:11Z", None),
            ("14:02:11", None),
            ("2026-11-25", None),
            ("", None),
        ] {
            assert_eq!(moment(text), at, "{text}");
        }
        assert_eq!(moment_written(1_795_615_331_408.9), "2026-11-25T14:02:11.408Z");
        assert_eq!(moment_written(-1.0), "1970-01-01T00:00:00.000Z");
        assert_eq!(between(20.5, 10.5), Window { from: 10.0, to: 21.0 });
        assert_eq!(between(10.0, 10.0), Window { from: 10.0, to: 11.0 });
    }
}
