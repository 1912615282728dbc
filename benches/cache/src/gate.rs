//! The limits of ratios. Ratios, unlike times, can be compared with a limit on any machine.

use std::process::ExitCode;

/// Ratios and their limits.
#[derive(Default)]
pub struct Gates {
    failed: bool,
}

impl Gates {
    /// Compares a ratio with its limit, and prints the result. A ratio that was not measured, because of a filter on
    /// the command line, is left out.
    pub fn at_most(&mut self, what: &str, ratio: f64, most: f64) {
        let verdict = if ratio.is_nan() {
            "not measured"
        } else if ratio <= most {
            "holds"
        } else {
            self.failed = true;
            "FAILS"
        };
        println!("{verdict}: {what}: {ratio:.3}, at most {most}");
    }

    /// The exit code.
    pub fn verdict(&self) -> ExitCode {
        ExitCode::from(u8::from(self.failed))
    }
}
