//! The width of the inspector: as the user dragged it, stored for the next visit, and never beyond the window.

/// The least width, in pixels.
pub const NARROWEST: f64 = 320.0;
/// How much of the window the inspector leaves free at least, in pixels.
const LEFT_OVER: f64 = 420.0;

/// The greatest width in a window of this width.
pub fn widest(window: f64) -> f64 {
    (window - LEFT_OVER).max(NARROWEST).min(window)
}

/// The possible width that is closest to the wanted one, in a window of this width.
pub fn fit(wanted: f64, window: f64) -> f64 {
    wanted.max(NARROWEST).min(widest(window)).round()
}

/// Reads a stored width; `None` for any other text.
pub fn read(text: &str) -> Option<f64> {
    text.parse().ok().filter(|width: &f64| width.is_finite() && *width > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_never_reaches_beyond_the_window() {
        for (wanted, window, expected) in [
            (500.4, 1440.0, 500.0),
            (5_000.0, 1440.0, 1020.0),
            (f64::INFINITY, 1024.0, 604.0),
            (10.0, 1440.0, 320.0),
            (-1e300, 1440.0, 320.0),
            (f64::NAN, 1440.0, 320.0),
            (900.0, 700.0, 320.0),
            (900.0, 200.0, 200.0),
            (900.0, 0.0, 0.0),
        ] {
            assert_eq!(fit(wanted, window), expected, "{wanted} in {window}");
        }
    }

    #[test]
    fn what_was_kept_and_is_no_width_is_nothing() {
        for (text, expected) in [
            ("640", Some(640.0)),
            ("1e9", Some(1e9)),
            ("", None),
            ("NaN", None),
            ("inf", None),
            ("-3", None),
            ("6px", None),
        ] {
            assert_eq!(read(text), expected, "{text}");
        }
    }
}
