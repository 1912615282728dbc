//! What must hold: ratios, so that it holds on any machine.

use std::process::ExitCode;

/// Ratios and what they may be at most.
#[derive(Default)]
pub struct Gates {
    failed: bool,
}

impl Gates {
    /// Says whether a ratio is small enough. One that was not measured (a filter on the command line) is left out.
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
