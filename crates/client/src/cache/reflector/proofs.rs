//! What proves that a watch brings everything, and what follows where nothing proves it.
//!
//! Only a frame, or an answer of the API server itself, is a proof. That a socket opened proves nothing: a proxy may accept
//! the socket before it has reached the server, and a socket stays open even where nothing reaches it any more.

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
    /// When the last proof came that what is held is true, in milliseconds.
    pub heard: f64,
    /// When the socket opened, in milliseconds.
    pub opened: f64,
    /// Whether the watch needs a proof before it can be called live.
    pub unproven: bool,
    /// Whether the server can be asked for its version, which only an answer over HTTP tells.
    pub readable: bool,
}

impl Reflector {
    /// The open watch, for which the heartbeat may ask. `None` while there is none, or while the socket is known to owe an
    /// event.
    pub fn open_watch(&self) -> Option<OpenWatch> {
        let State::Watch { socket, owed } = &self.state else { return None };
        let (opened, heard) = (socket.opened?, self.heard?);
        if owed.is_some() || self.last_sync.version().is_unset() {
            return None;
        }
        let unproven = self.failure.is_some() || self.continuity.silence().is_some();
        let readable = self.options.readable;
        Some(OpenWatch { request: self.resumed(), heard, opened, unproven, readable })
    }

    /// The request for the same watch from the last version on, for one second.
    pub fn resumed(&self) -> WatchRequest {
        WatchRequest { resource_version: self.last_sync.version().clone(), initial_events: false, timeout_seconds: 1 }
    }

    pub(super) fn opened(&mut self, moment: Moment, store: &mut dyn ReflectorStore) {
        let (State::Stream { socket, .. } | State::Watch { socket, .. }) = &mut self.state else { return };
        socket.open(moment.now, store.ledger());
        // A server that ended the last watch properly had sent everything. Whether this watch brings more is asked when it
        // has been silent for a while, as with any other watch.
        if self.failure.is_none() && matches!(self.continuity, Continuity::Silent(silence) if silence.is_clean()) {
            self.continuity = Continuity::Unbroken;
        }
    }

    /// When an open socket must have brought the event that the server has for it.
    pub(super) fn owed_at(&self) -> Option<f64> {
        match &self.state {
            State::Watch { owed, .. } => *owed,
            _ => None,
        }
    }

    /// The API server has an event for this watch: the socket must bring something within a second. Any frame will do, for
    /// what comes before that event comes first.
    pub(super) fn has_event(&mut self, asked: f64, moment: Moment) {
        if let State::Watch { socket, owed } = &mut self.state
            && socket.was_open(asked)
            && socket.last_frame.is_none_or(|frame| frame < asked)
        {
            *owed = Some(moment.now + OWED);
        }
    }

    /// The API server has no event for this watch: nothing was missed up to when it was asked. `checked` says that the
    /// server has come as far as the watch's version, so that the silence of the socket is no fault.
    pub(super) fn has_no_event(&mut self, asked: f64, checked: bool, moment: Moment, store: &mut dyn ReflectorStore) {
        if !matches!(&self.state, State::Watch { socket, .. } if socket.was_open(asked)) {
            return;
        }
        self.heard = Some(self.heard.map_or(asked, |heard| heard.max(asked)));
        if checked {
            self.quiet = 0;
        }
        self.refusals.allowed(Verb::Watch);
        self.settle(false, moment, store);
    }

    /// The API server did not answer when it was asked for this watch, or did not answer with a watch. The socket stays open,
    /// for the server may only be slow; what is held is as old as its last proof.
    pub(super) fn unproven(
        &mut self,
        asked: f64,
        failure: Failure,
        moment: Moment,
        store: &mut dyn ReflectorStore,
    ) -> Option<Action> {
        let State::Watch { socket, .. } = &self.state else { return None };
        let before = |time: Option<f64>| time.is_none_or(|time| time <= asked);
        if !socket.was_open(asked) || !before(self.heard) || !before(socket.last_frame) {
            return None;
        }
        match failure.verdict {
            // No answer could ever prove the watch again from that version on.
            Verdict::Expired | Verdict::TooLarge => self.failed(failure, moment, store),
            _ => {
                self.silent(false, moment);
                self.failure.get_or_insert(failure);
                None
            }
        }
    }

    /// The event that the server has did not come: the socket is dead, whatever the browser says of it. The watch is opened
    /// anew; after a wait if this socket never brought anything, for the next one may be no better.
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

    /// The socket is gone, or nothing proves it. A server that ends a watch properly (`clean`) has sent everything; after
    /// any other end, only what was proven is known.
    pub(super) fn silent(&mut self, clean: bool, moment: Moment) {
        if clean && self.failure.is_none() {
            self.heard = Some(moment.now);
        }
        let from = if clean { moment.now } else { self.heard.unwrap_or(moment.now) };
        self.continuity.fall_silent(Silence { from, since: moment.now });
    }

    /// A frame came: with an object (`object`), or with a bookmark.
    pub(super) fn prove(&mut self, object: bool, moment: Moment, store: &mut dyn ReflectorStore) {
        self.heard = Some(moment.now);
        self.refusals.allowed(Verb::Watch);
        if let State::Watch { owed, .. } = &mut self.state {
            *owed = None;
            self.settle(object, moment, store);
        }
    }

    /// The watch is proven again: the silence is over, and is told as a gap. A silence of which the user was not told is a
    /// gap only if something was missed in it.
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
