//! What a reflector knows of its socket.

use crate::cache::ledger::Ledger;
use crate::cache::reflector::{GRACE, OPENING, QUIET};

/// One socket: a streaming list, or the watch that follows a list.
#[derive(Debug)]
pub(super) struct Socket {
    pub(super) requested: f64,
    pub(super) opened: Option<f64>,
    pub(super) last_frame: Option<f64>,
    pub(super) timeout: f64,
    pub(super) frames: u64,
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

    /// It opened, or a frame shows that it has.
    pub(super) fn open(&mut self, now: f64, ledger: &mut Ledger) {
        if self.opened.is_none() {
            self.opened = Some(now);
            ledger.watches += 1;
        }
    }

    /// When it last said something; without a word, when it opened.
    pub(super) fn heard(&self) -> Option<f64> {
        self.last_frame.or(self.opened)
    }

    /// When a streaming list has taken too long: it must begin soon after the socket opened.
    pub(super) fn list_deadline(&self) -> f64 {
        match self.opened {
            Some(opened) if self.frames == 0 => opened + OPENING,
            _ => self.deadline(),
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
