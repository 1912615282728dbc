//! Label and field selectors as `kubectl -l` and `--field-selector` take them: parsed, matched, and printed again.
//!
//! The grammar is that of apimachinery's `pkg/labels/selector.go` and `pkg/fields/selector.go`. A selector that
//! was parsed prints in one canonical form, which parses to the same selector.

mod fields;
mod labels;

pub use fields::{FieldRequirement, FieldSelector};
pub use labels::{LabelOperator, LabelRequirement, LabelSelector};

use std::fmt;

/// Why a text is no selector.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{words}, at byte {at}")]
pub struct SelectorError {
    /// What is wrong, in the server's words.
    pub words: String,
    /// Where it was found: the offset in bytes into the text, at most its length.
    pub at: usize,
}

impl SelectorError {
    fn new(at: usize, words: impl Into<String>) -> SelectorError {
        SelectorError { words: words.into(), at }
    }
}

/// Writes the parts with commas between them.
fn write_joined<T: fmt::Display>(
    parts: impl IntoIterator<Item = T>,
    formatter: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    for (index, part) in parts.into_iter().enumerate() {
        if index > 0 {
            formatter.write_str(",")?;
        }
        write!(formatter, "{part}")?;
    }
    Ok(())
}
