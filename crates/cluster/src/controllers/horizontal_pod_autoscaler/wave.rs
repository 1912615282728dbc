//! A simulated load that rises and falls in waves.

use std::f64::consts::TAU;

/// The annotation with the wave, such as `100..900/60s`: from the work of one Pod up to the work of nine Pods and back,
/// in one minute.
pub const LOAD: &str = "kubechurn.dev/load";

/// The load, in percent of what one Pod requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wave {
    /// The lowest load.
    pub low: i64,
    /// The highest load.
    pub high: i64,
    /// Seconds from one low to the next.
    pub period: i64,
}

impl Wave {
    /// Parses the annotation; `None` if it is not valid.
    pub fn parse(text: &str) -> Option<Self> {
        let (range, period) = text.trim().split_once('/')?;
        let (low, high) = range.split_once("..")?;
        let number = |text: &str| text.trim().parse::<i64>().ok().filter(|number| (0..=1_000_000).contains(number));
        let period = number(period.trim().strip_suffix('s')?)?.max(1);
        let (low, high) = (number(low)?, number(high)?);
        (low <= high).then_some(Self { low, high, period })
    }

    /// The load at a moment, in seconds since 1970.
    pub fn at(&self, now: i64) -> i64 {
        let turn = now.rem_euclid(self.period) as f64 / self.period as f64;
        let height = (1.0 - (turn * TAU).cos()) / 2.0;
        self.low + ((self.high - self.low) as f64 * height).round() as i64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Option<(i64, i64, i64)>) {
        let wave = expected.map(|(low, high, period)| Wave { low, high, period });
        assert_eq!(Wave::parse(text), wave, "{text}");
    }

    #[test]
    fn annotations_that_are_waves() {
        check("100..900/60s", Some((100, 900, 60)));
        check(" 5 .. 5 / 1s ", Some((5, 5, 1)));
        check("1..2/0s", Some((1, 2, 1)));
        for text in ["", "5", "1..2", "2..1/60s", "-1..2/60s", "1..2/60", "1..x/60s", "1..99999999999999999999/1s"] {
            check(text, None);
        }
    }

    #[test]
    fn it_comes_and_goes() {
        let wave = Wave { low: 100, high: 900, period: 60 };
        assert_eq!([0, 15, 30, 45, 60].map(|second| wave.at(second)), [100, 500, 900, 500, 100]);
    }
}
