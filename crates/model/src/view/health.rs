//! The health of the watches, as it is shown.

/// All watches.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HealthModel {
    /// Whose watches these are.
    pub whose: String,
    /// Each of them.
    pub rows: Vec<HealthRow>,
    /// What all of them together cost.
    pub total: String,
}

/// One watch. What is not known is empty.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HealthRow {
    /// The kind's title.
    pub title: &'static str,
    /// The namespace, and the selectors; empty for all.
    pub scope: String,
    /// The connection's state.
    pub state: &'static str,
    /// The newest version.
    pub version: String,
    /// How long ago the last proof came that what is held is true.
    pub heard: String,
    /// How long ago the last bookmark came.
    pub bookmark: String,
    /// Events a second.
    pub events: String,
    /// Bytes a second.
    pub bytes: String,
    /// Bytes so far.
    pub so_far: String,
    /// Paths of charts of the last minutes: of events, of bytes, and of when everything was listed again.
    pub charts: [String; 3],
    /// How many complete lists there were, and how many of them were relists.
    pub lists: String,
    /// What else is to be said, in sentences, the most urgent first.
    pub words: Vec<String>,
}
