//! Proofs: what shows that a watch is whole, and what follows where nothing does.
//!
//! Only a frame, or an answer of the API server itself, proves anything. That a socket opened proves nothing: a proxy
//! may accept it before it has dialled, and it stays open where nothing reaches it any more.

use crate::cache::reflector::refusals::Verb;
use crate::cache::reflector::{
    Action, Continuity, Failure, Moment, Notice, OWED, Phase, Reflector, ReflectorStore, Silence, State, Verdict,
    WatchRequest,
};

/// An open watch, as the heartbeat sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenWatch {
    /// The same watch from its last version on.
    pub request: WatchRequest,
    /// When the last proof came that what is known is true, in milliseconds.
    pub heard: f64,
    /// When the socket opened.
    pub opened: f64,
    /// Whether a proof is needed before it can be called live.
    pub unproven: bool,
}

impl Reflector {
    /// The open watch, for the heartbeat to ask for; `None` while there is none, or while something is owed to it.
    pub fn open_watch(&self) -> Option<OpenWatch> {
        let State::Watch { socket, owed } = &self.state else { return None };
        let (opened, heard) = (socket.opened?, self.heard?);
        if owed.is_some() || self.last_sync.version().is_unset() {
            return None;
        }
        let unproven = self.failure.is_some() || self.continuity.silence().is_some();
        Some(OpenWatch { request: self.resumed(), heard, opened, unproven })
    }

    /// The watch from the last version on, for one second.
    pub fn resumed(&self) -> WatchRequest {
        WatchRequest { resource_version: self.last_sync.version().clone(), initial_events: false, timeout_seconds: 1 }
    }

    pub(super) fn opened(&mut self, moment: Moment, store: &mut dyn ReflectorStore) {
        let (State::Stream { socket, .. } | State::Watch { socket, .. }) = &mut self.state else { return };
        socket.open(moment.now, store.ledger());
        // A server that ended the watch before as it should has sent everything. Whether it will send more on this one
        // is asked when it has been silent for a while, as with any other.
        if self.failure.is_none() && matches!(self.continuity, Continuity::Silent(silence) if silence.is_clean()) {
            self.continuity = Continuity::Unbroken;
        }
    }

    /// When an open socket must have brought what the server has for it.
    pub(super) fn owed_at(&self) -> Option<f64> {
        match &self.state {
            State::Watch { owed, .. } => *owed,
            _ => None,
        }
    }

    /// The API server has answered for this watch. Without an event nothing was missed, up to when it was asked. With one,
    /// the socket must bring something within a second; any frame will do, for what comes before it comes first.
    pub(super) fn answered(
        &mut self,
        asked: f64,
        event: bool,
        checked: bool,
        moment: Moment,
        store: &mut dyn ReflectorStore,
    ) {
        let State::Watch { socket, owed } = &mut self.state else { return };
        // What was asked for another socket says nothing about this one.
        if socket.opened.is_none_or(|opened| opened > asked) {
            return;
        }
        if event {
            if socket.last_frame.is_none_or(|frame| frame < asked) {
                *owed = Some(moment.now + OWED);
            }
            return;
        }
        self.heard = Some(self.heard.map_or(asked, |heard| heard.max(asked)));
        if checked {
            self.quiet = 0;
        }
        self.refusals.allowed(Verb::Watch);
        self.settle(false, moment, store);
    }

    /// The API server did not answer for this watch, or not with a watch. The socket stays open, for it may only be slow;
    /// what is shown is as old as its last proof.
    pub(super) fn unproven(
        &mut self,
        asked: f64,
        failure: Failure,
        moment: Moment,
        store: &mut dyn ReflectorStore,
    ) -> Option<Action> {
        let State::Watch { socket, .. } = &self.state else { return None };
        let before = |time: Option<f64>| time.is_none_or(|time| time <= asked);
        if socket.opened.is_none_or(|opened| opened > asked) || !before(self.heard) || !before(socket.last_frame) {
            return None;
        }
        match failure.verdict {
            // Nothing could ever prove it again from that version on.
            Verdict::Expired | Verdict::TooLarge => self.failed(failure, moment, store),
            _ => {
                self.silent(false, moment);
                self.failure.get_or_insert(failure);
                None
            }
        }
    }

    /// What the server had for it did not come: the socket is dead, whatever the browser thinks. One that never brought
    /// anything is opened anew after a wait, for the next one may be no better.
    pub(super) fn dead(&mut self, moment: Moment) -> Option<Action> {
        let State::Watch { socket, .. } = &self.state else { return None };
        let frames = socket.frames;
        self.silent(false, moment);
        let words = "the socket no longer brings what the server has";
        self.failure.get_or_insert_with(|| Failure::unreachable(words));
        Some(match frames {
            0 => self.wait(Phase::Watch, None, moment),
            _ => self.enter_after(Phase::Watch, moment),
        })
    }

    /// The socket is gone, or nothing proves it. A server that ends a watch as it should has sent everything; after
    /// anything else, only what was proven is known.
    pub(super) fn silent(&mut self, clean: bool, moment: Moment) {
        if clean && self.failure.is_none() {
            self.heard = Some(moment.now);
        }
        let from = if clean { moment.now } else { self.heard.unwrap_or(moment.now) };
        self.continuity.fall_silent(Silence { from, since: moment.now });
    }

    /// The server was heard on a socket: with an object, or only with a bookmark or the like.
    pub(super) fn prove(&mut self, object: bool, moment: Moment, store: &mut dyn ReflectorStore) {
        self.heard = Some(moment.now);
        self.refusals.allowed(Verb::Watch);
        if let State::Watch { owed, .. } = &mut self.state {
            *owed = None;
            self.settle(object, moment, store);
        }
    }

    /// The watch is whole again: what was silent is a gap, and it is over. A silence that nobody told of is one only
    /// where something came of it.
    pub(super) fn settle(&mut self, missed: bool, moment: Moment, store: &mut dyn ReflectorStore) {
        let failure = self.failure.take();
        let (from, unsaid) = match std::mem::replace(&mut self.continuity, Continuity::Unbroken) {
            Continuity::Unbroken | Continuity::Outage(None) => return,
            Continuity::Outage(Some(Silence { from, .. })) => (from, Some("the next watch was long in coming")),
            Continuity::Silent(Silence { from, .. }) => (from, missed.then_some("a silent watch was opened anew")),
        };
        let reason = failure.map(|failure| failure.words).or(unsaid.map(String::from));
        if let Some(reason) = reason.filter(|_| from < moment.now) {
            store.notice(Notice::Gap { from, to: moment.now, reason });
        }
    }
}
