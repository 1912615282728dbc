//! The step that follows a failure: the request in another way, a wait, or a relist because the version has expired
//! (410).

use crate::api::status::Verdict;
use crate::cache::reflector::state::Phase;

/// The request that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Failed {
    /// A streaming list, or the probe for one.
    Stream,
    /// A page of a list.
    List {
        /// True if it was a later page than the first.
        continued: bool,
    },
    /// An open watch, with an ERROR event.
    Watch,
    /// A watch that did not open: its probe failed.
    Opening,
}

/// The step after a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// A streaming list of the server's newest state, at once.
    StreamNewest,
    /// A list of the server's newest state, at once.
    ListNewest,
    /// The whole list instead of pages, at once, at the version that was asked for first.
    ListWhole,
    /// A list by fetch instead of a streaming one, at once.
    List,
    /// This phase, after a wait.
    Wait(Phase),
    /// Nothing: the server will refuse the same request again.
    Nothing,
}

/// Returns the step after a failure. `newest` says that the server was already asked for its newest state and for no
/// version.
pub(super) fn after(failed: Failed, verdict: Verdict, newest: bool) -> Next {
    match (failed, verdict) {
        (Failed::Stream, Verdict::TooManyRequests | Verdict::Unreachable | Verdict::NotReady) => {
            Next::Wait(Phase::Start)
        }
        (Failed::Stream, Verdict::Expired | Verdict::TooLarge) if !newest => Next::StreamNewest,
        (Failed::Stream, _) => Next::List,
        // From the second page on, the token may have expired. Then the whole list is asked for at once, at the version
        // that was asked for first, as client-go does.
        (Failed::List { continued: true }, Verdict::Expired) => Next::ListWhole,
        (Failed::List { .. }, Verdict::Expired | Verdict::TooLarge) if !newest => Next::ListNewest,
        // A list that is refused will be refused again. Where only the watch is refused, the lists between the attempts
        // keep what is held fresh.
        (Failed::List { .. }, Verdict::Refused) => Next::Nothing,
        (Failed::List { .. }, _) => Next::Wait(Phase::Start),
        (Failed::Watch | Failed::Opening, Verdict::TooManyRequests | Verdict::Unreachable | Verdict::NotReady) => {
            Next::Wait(Phase::Watch)
        }
        // A refusal says nothing about the version: as soon as it is over, the watch goes on from there.
        (Failed::Opening, Verdict::Forbidden | Verdict::Unauthorized | Verdict::Failing) => Next::Wait(Phase::Watch),
        // The watch cannot go on from its version: a relist follows.
        (Failed::Watch | Failed::Opening, _) => Next::Wait(Phase::Start),
    }
}

impl Next {
    /// Returns whether the server only cannot answer this kind of list, or not from this version, and is asked in
    /// another way. Then the failure is no reason to doubt what is held.
    pub(super) fn asks_otherwise(self, verdict: Verdict) -> bool {
        match self {
            Next::StreamNewest | Next::ListNewest | Next::ListWhole => true,
            Next::List => matches!(verdict, Verdict::Expired | Verdict::TooLarge | Verdict::Refused),
            Next::Wait(_) | Next::Nothing => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expired_version_leads_to_a_list() {
        let (first, later) = (Failed::List { continued: false }, Failed::List { continued: true });
        for (failed, newest, next, otherwise) in [
            (Failed::Watch, false, Next::Wait(Phase::Start), false),
            (Failed::Watch, true, Next::Wait(Phase::Start), false),
            (Failed::Stream, false, Next::StreamNewest, true),
            (Failed::Stream, true, Next::List, true),
            (first, false, Next::ListNewest, true),
            (first, true, Next::Wait(Phase::Start), false),
            (later, false, Next::ListWhole, true),
            (later, true, Next::ListWhole, true),
        ] {
            let found = after(failed, Verdict::Expired, newest);
            assert_eq!((found, found.asks_otherwise(Verdict::Expired)), (next, otherwise), "{failed:?} {newest}");
        }
    }

    #[test]
    fn a_server_that_does_not_answer_is_asked_again_for_the_same() {
        for verdict in [Verdict::TooManyRequests, Verdict::Unreachable] {
            assert_eq!(after(Failed::Watch, verdict, false), Next::Wait(Phase::Watch));
            assert_eq!(after(Failed::Stream, verdict, false), Next::Wait(Phase::Start));
            assert_eq!(after(Failed::List { continued: true }, verdict, false), Next::Wait(Phase::Start));
        }
        assert_eq!(after(Failed::List { continued: false }, Verdict::Refused, false), Next::Nothing);
        assert_eq!(after(Failed::Watch, Verdict::Refused, false), Next::Wait(Phase::Start));
    }

    #[test]
    fn a_watch_that_is_refused_for_now_goes_on_from_its_version() {
        for verdict in [Verdict::Forbidden, Verdict::Unauthorized, Verdict::Failing, Verdict::NotReady] {
            assert_eq!(after(Failed::Opening, verdict, false), Next::Wait(Phase::Watch), "{verdict:?}");
        }
        for verdict in [Verdict::Expired, Verdict::TooLarge, Verdict::Refused] {
            assert_eq!(after(Failed::Opening, verdict, false), Next::Wait(Phase::Start), "{verdict:?}");
        }
        assert_eq!(after(Failed::Watch, Verdict::Failing, false), Next::Wait(Phase::Start), "the server cannot go on");
    }
}
