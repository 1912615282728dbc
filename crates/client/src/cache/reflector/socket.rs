//! One socket: when it opened, what it has brought, and when it has taken too long.

use crate::cache::ledger::Ledger;
use crate::cache::reflector::timers::SHORT;

/// How long after its timeout a watch may end before it counts as lost, in milliseconds (kube-rs).
const GRACE: f64 = 5_000.0;
/// A watch without a frame for this long, in milliseconds, is opened anew at its last version. Servers send a bookmark
/// about every 60 s, and a browser cannot ping: a half-open socket looks just like one of a cluster in which nothing
/// happens.
const QUIET: f64 = 90_000.0;
/// A socket that has not opened within this time, in milliseconds, counts as refused. So does a streaming list of which
/// nothing has come within this time of the opening: a proxy may accept a socket long before it reaches the server. A
/// server may hold such a list back for 3 s.
pub(super) const OPENING: f64 = 15_000.0;
/// A page or a streaming list that has begun to arrive, and of which nothing more comes for this long, in milliseconds,
/// counts as failed. There is no limit for the whole list: one of 200 MB must come to its end on a slow line, too.
pub(super) const STALLED: f64 = 30_000.0;

/// One socket, which brings a streaming list, or the watch that follows a list. All times are milliseconds.
#[derive(Clone, Debug)]
pub(super) struct Socket {
    /// When the socket was asked for.
    pub(super) requested: f64,
    pub(super) opened: Option<f64>,
    /// When the last frame came.
    pub(super) last_frame: Option<f64>,
    /// After how long the server is to end the watch.
    pub(super) timeout: f64,
    /// How many frames have come.
    pub(super) frames: u64,
    /// How many of them were events or bookmarks.
    pub(super) events: u64,
    /// Whether it is no socket, but a watch over HTTP.
    pub(super) over_http: bool,
}

/// The end of a socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    /// It never was a watch, or nothing shows that it was one. Only a probe over HTTP says why.
    Unproven,
    /// It ended within a second and without an event.
    AtOnce,
    /// It brought something, or was open for some time.
    AtLength,
}

impl Socket {
    pub(super) fn new(now: f64, timeout_seconds: u32) -> Socket {
        Socket {
            requested: now,
            opened: None,
            last_frame: None,
            timeout: f64::from(timeout_seconds) * 1000.0,
            frames: 0,
            events: 0,
            over_http: false,
        }
    }

    /// The socket opened.
    pub(super) fn open(&mut self, now: f64, ledger: &mut Ledger) {
        if self.opened.is_none() {
            self.opened = Some(now);
            ledger.watches += 1;
        }
    }

    /// A frame came, which proves that the socket opened, whether or not anyone saw it open.
    pub(super) fn frame(&mut self, now: f64, ledger: &mut Ledger) {
        self.open(now, ledger);
        self.last_frame = Some(now);
        self.frames += 1;
    }

    /// Returns whether the socket had opened at that time. What was asked before it opened says nothing about it.
    pub(super) fn was_open(&self, at: f64) -> bool {
        self.opened.is_some_and(|opened| opened <= at)
    }

    /// When the last frame came, or when the socket opened if none did.
    pub(super) fn heard(&self) -> Option<f64> {
        self.last_frame.or(self.opened)
    }

    /// When a streaming list has taken too long: it must begin soon after the socket opened, and then not stand still
    /// for longer than a fetched one may.
    pub(super) fn list_deadline(&self) -> f64 {
        match (self.opened, self.last_frame) {
            (Some(_), Some(frame)) => self.deadline().min(frame + STALLED),
            (Some(opened), None) => opened + OPENING,
            (None, _) => self.deadline(),
        }
    }

    /// When a watch has taken too long.
    pub(super) fn deadline(&self) -> f64 {
        match self.opened {
            None => self.requested + OPENING,
            Some(opened) => (opened + self.timeout + GRACE).min(self.last_frame.unwrap_or(opened) + QUIET),
        }
    }

    /// The end of the socket, which closed with this code. `failing` says that a failure is not over.
    ///
    /// The proxy of Trunk accepts a socket before it has reached the server. A socket that closes uncleanly and without
    /// a frame, within a second or while a failure is not over, never was a watch.
    pub(super) fn ended(&self, code: u16, now: f64, failing: bool) -> Ended {
        let Some(opened) = self.opened else { return Ended::Unproven };
        let short = now - opened < SHORT;
        if self.frames == 0 && code != 1000 && (short || failing) {
            return Ended::Unproven;
        }
        if short && self.events == 0 { Ended::AtOnce } else { Ended::AtLength }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_socket_without_a_frame_is_a_watch_only_if_it_ends_cleanly_or_late() {
        let ended = |opened: Option<f64>, code: u16, now: f64| {
            Socket { opened, ..Socket::new(0.0, 300) }.ended(code, now, false)
        };
        assert_eq!(ended(None, 1000, 5_000.0), Ended::Unproven);
        assert_eq!(ended(Some(0.0), 1006, 999.0), Ended::Unproven);
        assert_eq!(ended(Some(0.0), 1006, 1_000.0), Ended::AtLength);
        assert_eq!(ended(Some(0.0), 1000, 999.0), Ended::AtOnce);
        let frames = Socket { opened: Some(0.0), frames: 1, ..Socket::new(0.0, 300) };
        assert_eq!(frames.ended(1006, 999.0, true), Ended::AtOnce);
        let events = Socket { events: 1, ..frames };
        assert_eq!(events.ended(1006, 999.0, true), Ended::AtLength);
        let silent = Socket { opened: Some(0.0), ..Socket::new(0.0, 300) };
        assert_eq!(silent.ended(1006, 9_000.0, true), Ended::Unproven, "the failure before it is not over");
    }
}
