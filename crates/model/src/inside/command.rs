//! What the user asks of the inside of an informer.

use kubechurn_client::api::object::ObjectKey;

use crate::inside::Until;
use crate::inside::breaks::BreakKind;

/// So many steps a second it can be played.
pub const SPEEDS: [f64; 6] = [0.2, 0.5, 1.0, 2.0, 5.0, 20.0];

/// What the user asks.
#[derive(Clone, Debug, PartialEq)]
pub enum InsideCommand {
    /// Look inside, or leave.
    Toggle,
    /// Look at the stream of the kind of this name of the page's.
    Kind(String),
    /// Read the lesson of this name.
    Lesson(&'static str),
    /// Read the caption that is so many further on, or back if negative.
    Caption(isize),
    /// Go so many steps on, or back if negative.
    Step(isize),
    /// Go to the state after so many steps.
    To(usize),
    /// Go to the last step.
    End,
    /// Play, or stop.
    Play,
    /// Play so fast: a place in [`SPEEDS`].
    Speed(usize),
    /// Pause when this happens, by its word; empty for never.
    Pause(String),
    /// Go on to where that happens.
    Next,
    /// Set something from this step on, by its words: see [`Change`](crate::inside::Change).
    Set(String),
    /// Break what comes next.
    Break(BreakKind),
    /// Go to the first step that has come since.
    New,
    /// Begin anew, with the newest events.
    Renew,
}

/// What may happen, by the words of [`InsideCommand::Pause`].
pub fn until(word: &str) -> Option<Until> {
    Some(match word {
        "" => return None,
        "replace" => Until::Replace,
        "tombstone" => Until::Tombstone,
        "ended" => Until::Ended,
        key => {
            let (namespace, name) = key.split_once('/').unwrap_or(("", key));
            Until::Popped(ObjectKey::new(namespace, name))
        }
    })
}
