//! Why something is broken: what changed before it, ranked, each with its reason, and the way from the write to what it caused.
//!
//! A change is *proven* to be the cause where owner and version, a name in the error, or a node's selector say so, and what changed
//! can do what is wrong. Everything else is inferred, and called so.

pub mod cause;
pub mod incident;
pub mod references;
pub mod search;
pub mod ties;
pub mod trail;
pub mod unchanged;
mod webhooks;

/// What the user asks of an incident.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhyCommand {
    /// Ask why, of what is in hand: the row, the change, or the object.
    Ask,
    /// Copy the incident as text.
    Copy,
    /// Go back to where one came from.
    Leave,
}
