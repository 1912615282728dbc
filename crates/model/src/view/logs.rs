//! The log of a Pod or of several, as it is shown.

/// The height of a row, in CSS pixels.
pub const LINE: f64 = 19.0;

/// The log of one container.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LogSource {
    /// Its number.
    pub number: u16,
    /// The container and, among several Pods, the end of the Pod's name.
    pub name: String,
    /// `follows`, `reads`, `waits`, `over` or `refused`.
    pub state: &'static str,
    /// What is to be said of it.
    pub words: String,
    /// Whether its lines alone are shown.
    pub is_only: bool,
}

/// A row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LogRow {
    /// `line`, `change` or `remark`.
    pub what: &'static str,
    /// The time of day, by the server's clock; empty for a line without one.
    pub time: String,
    /// The same in milliseconds, by the page's clock.
    pub at: f64,
    /// How long before or after the incident it was; empty where none is shown.
    pub after: String,
    /// Which container wrote it; empty where there is one alone.
    pub source: String,
    /// The line.
    pub text: String,
    /// What was cut of it, in words.
    pub cut: String,
    /// Where a change is looked at.
    pub href: String,
    /// Whether it came after the moment that is shown.
    pub is_later: bool,
}

/// The log that is shown.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LogModel {
    /// Whether one is shown.
    pub is_open: bool,
    /// Whether it is that of an incident, and not of the inspector's object.
    pub is_of_incident: bool,
    /// Whose log it is.
    pub title: String,
    /// The containers.
    pub sources: Vec<LogSource>,
    /// What is to be said of it, in sentences.
    pub notes: Vec<String>,
    /// How much of it is kept, in words.
    pub kept: String,
    /// How many lines came, are kept, and were dropped.
    pub counts: (u64, u64, u64),
    /// The words that lines must have.
    pub filter: String,
    /// Whether it is followed while it is not in sight.
    pub keeps: bool,
    /// Whether something can be asked for again.
    pub can_ask_again: bool,
    /// Whether the end of the log alone was asked for.
    pub is_end_only: bool,
    /// How many rows there are.
    pub total: usize,
    /// The place of the first of these.
    pub first: usize,
    /// The rows in sight.
    pub rows: Vec<LogRow>,
    /// How many rows before the first one were dropped since the filter is this one.
    pub gone: u64,
    /// Whether the last row is followed.
    pub is_at_end: bool,
    /// Where the rows are scrolled to, in pixels, and how often they were.
    pub scroll: (u32, f64),
}
