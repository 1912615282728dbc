//! Whether lists come by fetch at all.
//!
//! A browser does not let a page read what an API of another origin answers, unless that API allows it (CORS). The browser
//! does not say so to the page: it looks as if no answer came. WebSockets have no such rule, so that a streaming list may
//! come where a fetched one does not.

use crate::cache::reflector::{Action, Failure, Moment, Reflector, State, Verdict};

/// Whether answers over HTTP can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fetches {
    /// No answer has come over HTTP.
    Unknown,
    /// An answer has come.
    Readable,
    /// A list was not answered, and the streaming list that was tried in its place was. So lists are streamed.
    Unreadable,
}

impl Reflector {
    /// Whether lists are to be streamed.
    pub(super) fn streams_lists(&self) -> bool {
        self.options.watch_list || !self.options.readable || self.fetches == Fetches::Unreadable
    }

    /// What is told of a socket that was refused where no answer over HTTP can be read.
    pub(super) fn refused_without_words(&self) -> Option<Failure> {
        let words = "the WebSocket was refused, and the browser keeps the reason from the page";
        (!self.options.readable).then(|| Failure::unreachable(words))
    }

    /// Whether a list failed in such a way that its answer may be one that cannot be read: none came, and none ever did.
    pub(super) fn may_be_unreadable(&self, failure: &Failure) -> bool {
        matches!(self.state, State::List { .. })
            && self.fetches == Fetches::Unknown
            && (failure.verdict, failure.code) == (Verdict::Unreachable, 0)
    }

    /// Tries a streaming list in place of the one that was not answered. Where this one fails, too, the next attempt begins
    /// with a fetch again, after a wait: then it is more likely that nothing answers at all.
    pub(super) fn stream_instead(&mut self, moment: Moment) -> Action {
        self.silent(false, moment);
        self.open(moment, true)
    }

    /// A frame of a streaming list came.
    pub(super) fn streamed_list_came(&mut self) {
        if self.fetches == Fetches::Unknown && !self.options.watch_list {
            self.fetches = Fetches::Unreadable;
        }
    }
}
