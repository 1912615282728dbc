//! What the terminal shows while something is recorded: one line that is written over each second, or, where nobody watches, a
//! line now and then.

use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write as _};
use std::time::Duration;

use super::tape::Counts;

/// How often a line is written where the lines before it stay, in seconds.
const SELDOM: u64 = 10;

/// Takes the cursor to the beginning of the line, and clears it.
const CLEAR: &str = "\r\x1b[K";

/// Where the progress is shown.
#[derive(Debug)]
pub struct Progress {
    is_terminal: bool,
    /// Whether a line is there that is written over.
    is_shown: bool,
    /// How many lines that stay were due so far.
    due: u64,
    /// Whether it is shown how much there is.
    shows: bool,
}

impl Progress {
    /// The progress on standard error, which shows how much there is, or only what else is said.
    pub fn new(shows: bool) -> Progress {
        Progress { is_terminal: io::stderr().is_terminal(), is_shown: false, due: 0, shows }
    }

    /// Says something that stays.
    pub fn say(&mut self, words: &str) {
        let clear = if std::mem::take(&mut self.is_shown) { CLEAR } else { "" };
        // A name or a server's words may contain what a terminal would take for a command.
        write(&format!("{clear}{}\n", words.replace(char::is_control, " ")));
    }

    /// Shows how much there is, so long after the beginning.
    pub fn show(&mut self, after: Duration, counts: Counts) {
        if self.shows {
            write(&self.line(after, counts));
        }
    }

    fn line(&mut self, after: Duration, counts: Counts) -> String {
        if self.is_terminal {
            self.is_shown = true;
            return format!("{CLEAR}{}", words(after, counts));
        }
        let due = after.as_secs() / SELDOM;
        match due > std::mem::replace(&mut self.due, due) {
            true => words(after, counts) + "\n",
            false => String::new(),
        }
    }
}

fn write(text: &str) {
    // Whoever closed the output does not wait for these words.
    let _ = io::stderr().write_all(text.as_bytes());
}

/// How much there is, in words.
pub fn words(after: Duration, counts: Counts) -> String {
    let seconds = after.as_secs();
    let mut words = match seconds {
        0..60 => format!("{seconds}s"),
        60..3600 => format!("{}m{}s", seconds / 60, seconds % 60),
        _ => format!("{}h{}m", seconds / 3600, seconds / 60 % 60),
    };
    let Counts { kinds, objects, changes, bytes, gaps } = counts;
    for (count, one, several) in [
        (kinds as u64, "kind", "kinds"),
        (objects as u64, "object", "objects"),
        (changes, "change", "changes"),
        (gaps, "gap", "gaps"),
    ] {
        // Writing to a String cannot fail.
        let _ = write!(words, ", {count} {}", if count == 1 { one } else { several });
    }
    let _ = match bytes {
        0..1_000_000 => write!(words, ", {:.1} KB", bytes as f64 / 1e3),
        _ => write!(words, ", {:.1} MB", bytes as f64 / 1e6),
    };
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    const COUNTS: Counts = Counts { kinds: 13, objects: 1, changes: 87, bytes: 145_200, gaps: 0 };

    #[test]
    fn how_much_there_is_in_words() {
        let check = |seconds, expected: &str| assert_eq!(words(Duration::from_secs(seconds), COUNTS), expected);
        check(9, "9s, 13 kinds, 1 object, 87 changes, 0 gaps, 145.2 KB");
        check(61, "1m1s, 13 kinds, 1 object, 87 changes, 0 gaps, 145.2 KB");
        check(7_325, "2h2m, 13 kinds, 1 object, 87 changes, 0 gaps, 145.2 KB");
        let many = Counts { bytes: 2_150_000, gaps: 1, ..COUNTS };
        assert_eq!(words(Duration::ZERO, many), "0s, 13 kinds, 1 object, 87 changes, 1 gap, 2.1 MB");
    }

    #[test]
    fn a_line_is_written_over_where_somebody_watches_and_else_comes_now_and_then() {
        let mut watched = Progress { is_terminal: true, is_shown: false, due: 0, shows: true };
        let mut logged = Progress { is_terminal: false, is_shown: false, due: 0, shows: true };
        let mut lines = (0, 0);
        for second in 1..=30 {
            // Each tick is a little later than a second after the one before.
            let after = Duration::from_millis(1_030 * second);
            lines.0 += usize::from(watched.line(after, COUNTS).starts_with(CLEAR));
            lines.1 += usize::from(logged.line(after, COUNTS).ends_with('\n'));
        }
        assert_eq!(lines, (30, 3));
    }
}
