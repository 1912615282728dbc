//! Durations as Go writes them and reads them (`time.Duration.String`, `time.ParseDuration`).

use std::time::Duration;

/// Each unit in seconds.
const UNITS: [(&str, f64); 7] =
    [("ns", 1e-9), ("us", 1e-6), ("µs", 1e-6), ("ms", 1e-3), ("s", 1.0), ("m", 60.0), ("h", 3600.0)];

/// Parses a duration such as `1h30m`, `1.5s` or `500ms` into seconds; `None` if it is not valid, negative, or longer
/// than thirty years.
pub fn parse(text: &str) -> Option<f64> {
    let (mut total, mut rest) = (0.0, text);
    while !rest.is_empty() {
        let digits = rest.find(|letter: char| !letter.is_ascii_digit() && letter != '.')?;
        let (number, after) = rest.split_at(digits);
        let unit = after.find(|letter: char| letter.is_ascii_digit() || letter == '.').unwrap_or(after.len());
        let (unit, after) = after.split_at(unit);
        let (_, seconds) = UNITS.iter().find(|(name, _)| *name == unit)?;
        total += number.parse::<f64>().ok()? * seconds;
        rest = after;
    }
    (!text.is_empty() && total <= 1e9).then_some(total)
}

/// A duration in whole milliseconds as text: `10s`, `2m40s`, `500ms`.
pub fn text(duration: Duration) -> String {
    let millis = duration.as_millis();
    if millis < 1000 {
        return format!("{millis}ms");
    }
    let (minutes, seconds) = (millis / 60_000, millis % 60_000);
    let seconds = match seconds % 1000 {
        0 => format!("{}s", seconds / 1000),
        _ => format!("{}s", seconds as f64 / 1000.0),
    };
    if minutes == 0 { seconds } else { format!("{minutes}m{seconds}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_as_by_go() {
        for (text, expected) in [
            ("90s", Some(90.0)),
            ("1h30m", Some(5400.0)),
            ("1.5s", Some(1.5)),
            ("500ms", Some(0.5)),
            ("1m500ms", Some(60.5)),
            ("2us", Some(2e-6)),
            ("0s", Some(0.0)),
            ("", None),
            ("5", None),
            ("1m5", None),
            ("1d", None),
            ("s", None),
            (".s", None),
            ("1.2.3s", None),
            ("-5s", None),
            ("1 m", None),
            ("inf", None),
            ("9999999h", None),
        ] {
            assert_eq!(parse(text), expected, "{text}");
        }
    }

    #[test]
    fn durations_are_written_as_by_go() {
        for (millis, expected) in [(10_000, "10s"), (160_000, "2m40s"), (500, "500ms"), (1_250, "1.25s")] {
            assert_eq!(text(Duration::from_millis(millis)), expected);
        }
    }
}
