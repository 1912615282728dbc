//! What somebody noted at a time: it stands in the feed between the changes.

use std::sync::Arc;

/// The most characters of a note.
pub const LONGEST: usize = 1_000;

/// A note.
#[derive(Clone, Debug, PartialEq)]
pub struct Note {
    /// The number of the note.
    pub id: u64,
    /// The time that it is about, in milliseconds.
    pub at: f64,
    /// What was noted, at most [`LONGEST`] characters.
    pub text: Arc<str>,
}

/// A text as it is kept: without the blanks around it, and without what is beyond its longest. `None` where nothing is left.
pub fn kept(text: &str) -> Option<Arc<str>> {
    let text = text.trim();
    let end = text.char_indices().nth(LONGEST).map_or(text.len(), |(at, _)| at);
    (!text.is_empty()).then(|| text[..end].into())
}
