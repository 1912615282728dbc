//! The refusals of the server, so that a notice reports each once and not with every attempt.

use crate::api::status::{Failure, Verdict};

/// The verb that was refused. The permission to list and the permission to watch are separate ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verb {
    /// A page of a list.
    List,
    /// A watch, or a streaming list, which is a watch to the server.
    Watch,
}

/// The last refusal of each verb, in words.
#[derive(Clone, Debug, Default)]
pub(super) struct Refusals {
    list: Option<String>,
    watch: Option<String>,
}

impl Refusals {
    /// Takes a failure. Returns the words for a notice if it is a refusal that was not reported yet.
    pub(super) fn refused(&mut self, verb: Verb, failure: &Failure) -> Option<String> {
        if !is_refusal(failure) {
            return None;
        }
        let (reported, name) = match verb {
            Verb::List => (&mut self.list, "list"),
            Verb::Watch => (&mut self.watch, "watch"),
        };
        let words = format!("{name} ({}): {}", failure.code, failure.words);
        if reported.as_ref() == Some(&words) {
            return None;
        }
        *reported = Some(words.clone());
        Some(words)
    }

    /// The verb is allowed, so that a later refusal is to be reported.
    pub(super) fn allowed(&mut self, verb: Verb) {
        match verb {
            Verb::List => self.list = None,
            Verb::Watch => self.watch = None,
        }
    }
}

/// Returns whether the server understood the request, and refuses it.
pub(super) fn is_refusal(failure: &Failure) -> bool {
    matches!(failure.verdict, Verdict::Forbidden | Verdict::Unauthorized | Verdict::Refused)
}
