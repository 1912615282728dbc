//! What a reflector knows of one socket.

use crate::cache::ledger::Ledger;
use crate::cache::reflector::{GRACE, OPENING, QUIET, STALLED};

/// One socket, which brings a streaming list, or the watch that follows a list. All times are milliseconds.
#[derive(Debug)]
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
        }
    }

    /// The socket opened, or a frame shows that it did.
    pub(super) fn open(&mut self, now: f64, ledger: &mut Ledger) {
        if self.opened.is_none() {
            self.opened = Some(now);
            ledger.watches += 1;
        }
    }

    /// Whether the socket had opened at that time. What was asked before it opened says nothing about it.
    pub(super) fn was_open(&self, at: f64) -> bool {
        self.opened.is_some_and(|opened| opened <= at)
    }

    /// When the last frame came, or when the socket opened if none did.
    pub(super) fn heard(&self) -> Option<f64> {
        self.last_frame.or(self.opened)
    }

    /// When a streaming list has taken too long: it must begin soon after the socket opened, and then not stand still for
    /// longer than a fetched one may.
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
}
