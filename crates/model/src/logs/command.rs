//! What the user asks of logs.

/// What the user asks of logs.
#[derive(Clone, Debug, PartialEq)]
pub enum LogCommand {
    /// Look at the log of the object that is selected, or whose row is in hand.
    Show,
    /// Read the log of the Pods of the incident that is shown.
    Open,
    /// Show the lines with these words.
    Filter(String),
    /// Show the lines of this container alone, or of all.
    Only(Option<u16>),
    /// The lines are scrolled down by so many pixels, and so many are in sight.
    Scroll {
        /// The first pixel.
        top: f64,
        /// How many.
        height: f64,
        /// Whether the last line is in sight, so that what comes is followed.
        is_at_end: bool,
    },
    /// Follow the log while it is not in sight, or end with the view.
    Keep(bool),
    /// Ask again for what was refused or broke off.
    Again,
    /// Read the logs from their beginning.
    Whole,
    /// Save the lines that are shown as a text file.
    Save,
}
