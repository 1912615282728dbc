//! The ways in which lists come: by fetch or streamed, whole or in pages.
//!
//! A browser does not let a page read what an API of another origin answers, unless that API allows it (CORS). The
//! browser does not say so to the page: it looks as if no answer came. WebSockets have no such rule, so that a
//! streaming list may come where a fetched one does not.

use crate::api::object::ResourceVersion;
use crate::api::request::ListRequest;
use crate::api::status::{Failure, Verdict};
use crate::cache::reflector::options::Options;

/// The number of items of a page where no other size is set, as client-go's pager asks for (`defaultPageSize`).
pub const PAGE: u32 = 500;

/// The ways to a list, as far as they are known.
#[derive(Clone, Debug)]
pub(super) struct Fetches {
    /// True if a streaming list is wanted first.
    watch_list: bool,
    /// True if answers over HTTP can be read at all.
    pub(super) readable: bool,
    answers: Answers,
    /// The first list at `0` came in pages, so later ones will too.
    paged: bool,
}

/// The answers over HTTP so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answers {
    /// None has come.
    Unknown,
    /// One has come.
    Come,
    /// A list was not answered, and the streaming list that was tried in its place was. So lists are streamed.
    Missing,
}

impl Fetches {
    pub(super) fn new(options: &Options) -> Fetches {
        let Options { watch_list, readable, .. } = *options;
        Fetches { watch_list, readable, answers: Answers::Unknown, paged: false }
    }

    /// Returns whether lists are to be streamed.
    pub(super) fn stream(&self) -> bool {
        self.watch_list || !self.readable || self.answers == Answers::Missing
    }

    /// The request for the first page of a list at this version. A list at a version comes without pages, so that the
    /// server's cache can answer.
    pub(super) fn first_page(&self, resource_version: ResourceVersion) -> ListRequest {
        let at_a_version = !resource_version.is_unset() && resource_version.as_str() != "0";
        let limit = (!at_a_version || self.paged).then_some(PAGE);
        ListRequest { resource_version, limit, continue_token: None }
    }

    /// A page came, and this is the request for the next one.
    pub(super) fn page_came(&mut self, next: &ListRequest) {
        self.paged |= next.resource_version.as_str() == "0";
    }

    /// An answer came over HTTP.
    pub(super) fn answered(&mut self) {
        self.answers = Answers::Come;
    }

    /// A frame of a streaming list came.
    pub(super) fn streamed(&mut self) {
        if self.answers == Answers::Unknown && !self.watch_list {
            self.answers = Answers::Missing;
        }
    }

    /// Returns whether the answer to a list that failed so may be one that cannot be read: none came, and none ever
    /// did.
    pub(super) fn may_be_unreadable(&self, failure: &Failure) -> bool {
        self.answers == Answers::Unknown && (failure.verdict, failure.code) == (Verdict::Unreachable, 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_streamed_where_only_a_streamed_one_came() {
        let mut fetches = Fetches::new(&Options { watch_list: false, ..Options::default() });
        let silence = Failure::unreachable("no answer");
        assert!(!fetches.stream() && fetches.may_be_unreadable(&silence));
        fetches.streamed();
        assert!(fetches.stream() && !fetches.may_be_unreadable(&silence));
        fetches.answered();
        fetches.streamed();
        assert!(!fetches.stream() && !fetches.may_be_unreadable(&silence));
    }

    #[test]
    fn lists_at_a_version_have_pages_only_where_the_first_list_had() {
        let mut fetches = Fetches::new(&Options::default());
        let limit = |fetches: &Fetches, version| fetches.first_page(ResourceVersion::new(version)).limit;
        assert_eq!(["", "0", "7"].map(|version| limit(&fetches, version)), [Some(PAGE), Some(PAGE), None]);
        fetches.page_came(&fetches.first_page(ResourceVersion::new("0")));
        assert_eq!(limit(&fetches, "7"), Some(PAGE));
    }
}
