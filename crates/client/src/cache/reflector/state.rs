//! The states of a reflector.

use crate::cache::ledger::Ledger;
use crate::cache::reflector::list::List;
use crate::cache::reflector::objects::Objects;
use crate::cache::reflector::socket::{OPENING, Socket};
use crate::cache::reflector::streaming_list::StreamingList;
use crate::cache::reflector::watch::Watch;

/// The part of the cycle that a wait leads back to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// A new list, streamed if the server can.
    Start,
    /// The watch, from the last version.
    Watch,
}

/// The request or the wait that is under way. A state holds what ends with it.
#[derive(Clone, Debug)]
pub(super) enum State {
    /// Nothing: it was never started.
    Idle,
    /// Nothing: the user stopped it.
    Stopped,
    /// A streaming list.
    Stream(StreamingList),
    /// A list in pages.
    List(List),
    /// The watch that follows a list.
    Watch(Watch),
    /// A socket was refused, and the same is asked over HTTP to learn why: a streaming list where `phase` is `Start`, a
    /// watch where it is `Watch`.
    Probe { phase: Phase, requested: f64 },
    /// Nothing until then; what follows is `phase`.
    Waiting { until: f64, phase: Phase },
    /// Nothing: the server refuses the request itself.
    Refused,
}

impl State {
    /// The part of the cycle to which this belongs; `None` while nothing is to be done.
    pub(super) fn phase(&self) -> Option<Phase> {
        match self {
            State::Idle | State::Stopped | State::Refused => None,
            State::Watch(_) => Some(Phase::Watch),
            State::Waiting { phase, .. } | State::Probe { phase, .. } => Some(*phase),
            State::Stream(_) | State::List(_) => Some(Phase::Start),
        }
    }

    /// The socket that is under way.
    pub(super) fn socket(&self) -> Option<&Socket> {
        match self {
            State::Stream(list) => Some(&list.socket),
            State::Watch(watch) => Some(&watch.socket),
            _ => None,
        }
    }

    /// The socket that is under way, to count what it brings.
    pub(super) fn socket_mut(&mut self) -> Option<&mut Socket> {
        match self {
            State::Stream(list) => Some(&mut list.socket),
            State::Watch(watch) => Some(&mut watch.socket),
            _ => None,
        }
    }

    /// The objects that the list under way has brought so far.
    pub(super) fn items(&self) -> Option<&Objects> {
        match self {
            State::Stream(list) => Some(&list.items),
            State::List(list) => Some(&list.items),
            _ => None,
        }
    }

    /// Drops what an incomplete list has brought so far.
    pub(super) fn discard(&mut self, ledger: &mut Ledger) {
        let items = match self {
            State::Stream(list) => &mut list.items,
            State::List(list) => &mut list.items,
            _ => return,
        };
        let count = std::mem::take(items).len() as u64;
        if count > 0 {
            ledger.pending -= count;
            ledger.discarded += count;
        }
    }

    /// When this has taken too long.
    pub(super) fn ends_at(&self) -> Option<f64> {
        match self {
            State::Idle | State::Stopped | State::Refused => None,
            State::Waiting { until, .. } => Some(*until),
            State::List(list) => Some(list.deadline()),
            // A probe asks for a watch of one second only.
            State::Probe { requested, .. } => Some(requested + OPENING),
            State::Stream(list) => Some(list.socket.list_deadline()),
            State::Watch(watch) => Some(watch.socket.deadline()),
        }
    }

    /// How long the fetch that is under way has taken so far; 0 for a socket.
    pub(super) fn took(&self, now: f64) -> f64 {
        match self {
            State::List(list) => now - list.requested,
            State::Probe { requested, .. } => now - requested,
            _ => 0.0,
        }
    }

    /// When a notice is due that the end of a streaming list does not come.
    pub(super) fn late_at(&self) -> Option<f64> {
        match self {
            State::Stream(list) => list.late_at(),
            _ => None,
        }
    }

    /// When an open socket must have brought the event that the server has for it.
    pub(super) fn owed_at(&self) -> Option<f64> {
        match self {
            State::Watch(watch) => watch.owed,
            _ => None,
        }
    }

    /// Returns whether a list is complete, and its watch is under way or comes next.
    pub(super) fn is_past_its_list(&self) -> bool {
        self.phase() == Some(Phase::Watch)
    }

    /// Returns whether the next watch has not opened yet.
    pub(super) fn awaits_watch(&self) -> bool {
        match self {
            State::Watch(watch) => watch.socket.opened.is_none(),
            State::Waiting { phase, .. } => *phase == Phase::Watch,
            _ => false,
        }
    }
}
