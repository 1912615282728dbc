//! The health of a watch: how much of what is held can be believed, and the proofs of that.
//!
//! Only a frame, or an answer of the API server itself, is a proof. That a socket opened proves nothing: a proxy may
//! accept the socket before it has reached the server, and a socket stays open even where nothing reaches it any more.

use crate::api::status::{Failure, Verdict};
use crate::cache::reflector::continuity::{Continuity, Silence};
use crate::cache::reflector::notice::Notice;
use crate::cache::reflector::refusals::{Refusals, is_refusal};
use crate::cache::reflector::state::{Phase, State};
use crate::cache::reflector::store::ReflectorStore;

/// How much of what is held can be believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Health {
    /// Nothing has come from the server yet.
    Connecting,
    /// The first list is on its way.
    Listing,
    /// The watch is open: what is held is what the server has, except for what is on its way.
    Live,
    /// What is held was true at some time, and may be old.
    Stale,
    /// The server does not know who asks.
    Unauthorized,
    /// The server does not allow it.
    Forbidden,
    /// The request makes no sense to the server, or the user asked to stop.
    Stopped,
}

impl Health {
    /// The word that the user reads.
    pub fn word(self) -> &'static str {
        match self {
            Health::Connecting => "connecting",
            Health::Listing => "listing",
            Health::Live => "live",
            Health::Stale => "stale",
            Health::Unauthorized => "unauthorized",
            Health::Forbidden => "forbidden",
            Health::Stopped => "stopped",
        }
    }
}

/// The knowledge of the held objects. It outlives the states, and stays true while the reflector goes from a watch
/// through failures, waits and lists to the next watch. All times are milliseconds.
#[derive(Clone, Debug, Default)]
pub(super) struct Freshness {
    /// True if a complete list has been handed over.
    pub(super) synced: bool,
    /// Why what is held may be wrong, since the watch was last proven. It is not a part of `continuity`: a failure is
    /// there before the first list, too, and a silence needs none.
    pub(super) failure: Option<Failure>,
    pub(super) continuity: Continuity,
    pub(super) refusals: Refusals,
    /// When the last proof came that what is held is true.
    pub(super) heard: Option<f64>,
}

impl Freshness {
    pub(super) fn health(&self, state: &State, now: f64) -> Health {
        match (state, &self.failure) {
            (State::Stopped | State::Refused, _) => Health::Stopped,
            (_, Some(failure)) if failure.verdict == Verdict::Forbidden => Health::Forbidden,
            (_, Some(failure)) if failure.verdict == Verdict::Unauthorized => Health::Unauthorized,
            _ if !self.synced => match state {
                // After a failure, only what has come since shows that the failure is over.
                State::Stream(list) if list.socket.frames > 0 => Health::Listing,
                State::List(list) if self.failure.is_none() || list.items.len() > 0 => Health::Listing,
                _ => Health::Connecting,
            },
            (_, Some(_)) => Health::Stale,
            // That the socket opened proves nothing. The last proof holds until the heartbeat gets no answer.
            (State::Watch(watch), None)
                if watch.socket.opened.is_some() && !matches!(self.continuity, Continuity::Outage(Some(_))) =>
            {
                Health::Live
            }
            // A short time between the end of one watch and the next is as it should be.
            (State::Watch(_) | State::Waiting { phase: Phase::Watch, .. }, None) => {
                match self.continuity.silence().is_none_or(|silence| now < silence.counts_from()) {
                    true => Health::Live,
                    false => Health::Stale,
                }
            }
            _ => Health::Stale,
        }
    }

    /// Returns whether the reason to doubt is that nothing answers.
    pub(super) fn is_unreachable(&self) -> bool {
        self.failure.as_ref().is_some_and(|failure| failure.verdict == Verdict::Unreachable)
    }

    /// Returns whether an open watch needs a proof before it can be called live.
    pub(super) fn is_unproven(&self) -> bool {
        self.failure.is_some() || self.continuity.silence().is_some()
    }

    /// When a silence begins to count that no failure has explained.
    pub(super) fn stale_at(&self, state: &State) -> Option<f64> {
        match self.continuity {
            Continuity::Silent(silence) if state.awaits_watch() && self.synced && self.failure.is_none() => {
                Some(silence.counts_from())
            }
            _ => None,
        }
    }

    /// The socket is gone, or nothing proves it. A server that ends a watch properly (`clean`) has sent everything;
    /// after any other end, only what was proven is known.
    pub(super) fn silent(&mut self, clean: bool, now: f64) {
        if clean && self.failure.is_none() {
            self.heard = Some(now);
        }
        let from = if clean { now } else { self.heard.unwrap_or(now) };
        self.continuity.fall_silent(Silence { from, since: now });
    }

    /// A socket opened. A server that ended the last watch properly had sent everything. Whether this watch brings more
    /// is asked when it has been silent for a while, as with any other watch.
    pub(super) fn opened(&mut self) {
        if self.failure.is_none() && matches!(self.continuity, Continuity::Silent(silence) if silence.is_clean()) {
            self.continuity = Continuity::Unbroken;
        }
    }

    /// A complete list is handed over. Returns whether it is the first one.
    pub(super) fn listed(&mut self, now: f64) -> bool {
        self.heard = Some(now);
        let first = !std::mem::replace(&mut self.synced, true);
        if first {
            self.continuity.begin_at(now);
        }
        first
    }

    /// The watch is proven again: the silence is over, and a notice reports it as a gap. A silence that no notice has
    /// reported is a gap only if something was missed in it.
    pub(super) fn settle(&mut self, missed: bool, now: f64, store: &mut dyn ReflectorStore) {
        let failure = self.failure.take();
        let (from, unsaid) = match std::mem::take(&mut self.continuity) {
            Continuity::Unbroken | Continuity::Outage(None) => return,
            Continuity::Outage(Some(Silence { from, .. })) => (from, Some("the next watch was long in coming")),
            Continuity::Silent(Silence { from, .. }) => (from, missed.then_some("a silent watch was opened anew")),
        };
        let reason = failure.map(|failure| failure.words).or(unsaid.map(String::from));
        if let Some(reason) = reason.filter(|_| from < now) {
            store.notice(Notice::Gap { from, to: now, reason });
        }
    }

    /// Reports that the watch is lost, once in an outage. A refusal is reported as such instead, and nothing is
    /// reported while a probe asks why a socket was refused. `reason` is that of the list under way.
    pub(super) fn report_stale(&mut self, state: &State, reason: &str, now: f64, store: &mut dyn ReflectorStore) {
        if self.continuity.is_reported() || !self.synced || self.health(state, now) != Health::Stale {
            return;
        }
        let reason = match (&self.failure, state) {
            (Some(failure), _) if is_refusal(failure) => return,
            (Some(failure), _) => failure.words.clone(),
            (None, State::Probe { .. }) => return,
            (None, State::Watch(_) | State::Waiting { phase: Phase::Watch, .. }) => {
                String::from("it ended, and the next one does not open")
            }
            (None, _) => reason.to_owned(),
        };
        self.continuity.report();
        store.notice(Notice::Stale { at: now, reason });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clean_end_leaves_nothing_open_and_any_other_end_does() {
        let silence = |clean: bool| {
            let mut freshness = Freshness { heard: Some(10.0), ..Freshness::default() };
            freshness.silent(clean, 50.0);
            let silence = freshness.continuity.silence();
            freshness.opened();
            (silence, freshness.is_unproven())
        };
        assert_eq!(silence(true), (Some(Silence { from: 50.0, since: 50.0 }), false));
        assert_eq!(silence(false), (Some(Silence { from: 10.0, since: 50.0 }), true));
    }

    #[test]
    fn between_two_watches_what_is_held_is_live_for_a_short_time() {
        let mut freshness = Freshness::default();
        assert_eq!(freshness.health(&State::Idle, 0.0), Health::Connecting);
        assert!(freshness.listed(0.0) && !freshness.listed(1.0));
        freshness.silent(true, 1_000.0);
        let state = State::Waiting { until: 9_000.0, phase: Phase::Watch };
        assert_eq!(freshness.stale_at(&state), Some(3_000.0));
        assert_eq!([2_999.0, 3_000.0].map(|now| freshness.health(&state, now)), [Health::Live, Health::Stale]);
        freshness.failure = Some(Failure::unreachable("no answer"));
        assert_eq!((freshness.stale_at(&state), freshness.health(&state, 1_000.0)), (None, Health::Stale));
    }
}
