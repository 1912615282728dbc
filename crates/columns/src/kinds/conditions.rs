//! Conditions, as the status of most kinds has them.

use serde_json::Result;

use kubechurn_client::json::Text;

use super::printed::Fields;

/// A condition (apimachinery `meta/v1/types.go`), and what columns show of it.
pub struct Condition<'a> {
    /// The type, such as `Available`.
    pub kind: Text<'a>,
    /// `True`, `False` or `Unknown`.
    pub status: Text<'a>,
    /// Why the condition has this status.
    pub reason: Text<'a>,
}

/// The conditions that a value is, in the order of the text.
///
/// # Errors
///
/// When the value is no list of conditions.
pub fn conditions<'de>(fields: &Fields<'_, 'de>, at: usize) -> Result<Vec<Condition<'de>>> {
    let mut conditions = Vec::new();
    fields.each(at, &["type", "status", "reason"], &mut |one| {
        conditions.push(Condition { kind: one.words(0)?, status: one.words(1)?, reason: one.words(2)? });
        Ok(())
    })?;
    Ok(conditions)
}
