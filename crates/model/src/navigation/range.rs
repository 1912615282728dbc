//! A time range in the address.

use crate::timeline::scale::{HISTORY, Window};

/// Reads a stretch as the address has it: `FROM-TO`, in milliseconds since 1970.
pub fn parse(text: &str) -> Option<Window> {
    let (from, to) = text.split_once('-')?;
    let time = |text: &str| Some(text.parse::<u64>().ok().filter(|at| *at < 1 << 52)? as f64);
    let (from, to) = (time(from)?, time(to)?);
    (from < to && to - from <= HISTORY).then_some(Window { from, to })
}

/// Writes a stretch for the address.
pub fn written(window: &Window) -> String {
    format!("{}-{}", window.from as u64, window.to as u64)
}

/// The stretch between two times, whichever comes first, in whole milliseconds.
pub fn between(one: f64, other: f64) -> Window {
    let (from, to) = (one.min(other).max(0.0).floor(), one.max(other).ceil());
    Window { from, to: to.clamp(from + 1.0, from + HISTORY) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stretch_is_written_into_the_address_and_read_from_it() {
        let window = Window { from: 1_790_000_000_000.0, to: 1_790_000_030_000.0 };
        assert_eq!(written(&window), "1790000000000-1790000030000");
        assert_eq!(parse(&written(&window)), Some(window));
        let weeks = "1790000000000-1790604800001";
        for text in
            ["", "-", "1", "5-5", "6-5", "a-b", "1-99999999999999999999999", "-1-5", "1e3-2e3", "NaN-inf", weeks]
        {
            assert_eq!(parse(text), None, "{text}");
        }
        assert_eq!(between(20.5, 10.5), Window { from: 10.0, to: 21.0 });
        assert_eq!(between(10.0, 10.0), Window { from: 10.0, to: 11.0 });
    }
}
