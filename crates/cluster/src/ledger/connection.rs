//! One watch's connection in the ledger: its identity, how much was sent on it, and how it ended.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

use crate::ledger::stamp::Stamp;

/// The identity and the state of a connection.
#[derive(Debug)]
pub struct Connection {
    /// Its number, from 1.
    pub number: u64,
    /// `websocket` or `http`.
    pub transport: &'static str,
    /// The resource with its group.
    pub resource: String,
    /// Path and query of the request.
    pub path: String,
    pub user_agent: String,
    /// When it was opened.
    pub opened: Stamp,
    frames: AtomicU64,
    bytes: AtomicU64,
    closed: OnceLock<(Stamp, &'static str)>,
}

impl Connection {
    /// A connection that is opened now.
    pub fn new(number: u64, transport: &'static str, resource: String, path: String, user_agent: String) -> Self {
        let opened = Stamp::now();
        let (frames, bytes, closed) = (AtomicU64::new(0), AtomicU64::new(0), OnceLock::new());
        Self { number, transport, resource, path, user_agent, opened, frames, bytes, closed }
    }

    /// Counts `frames` frames with `bytes` bytes in total; returns the number of the first frame.
    pub fn count(&self, frames: usize, bytes: usize) -> u64 {
        self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        self.frames.fetch_add(frames as u64, Ordering::Relaxed) + 1
    }

    /// Closes the connection now; returns false if it was closed already.
    pub fn close(&self, reason: &'static str) -> bool {
        self.closed.set((Stamp::now(), reason)).is_ok()
    }
}

impl Serialize for Connection {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (closed, reason) = self.closed.get().copied().unzip();
        let mut line = serializer.serialize_struct("Connection", 10)?;
        line.serialize_field("connection", &self.number)?;
        line.serialize_field("transport", self.transport)?;
        line.serialize_field("resource", &self.resource)?;
        line.serialize_field("path", &self.path)?;
        line.serialize_field("userAgent", &self.user_agent)?;
        line.serialize_field("opened", &self.opened)?;
        line.serialize_field("closed", &closed)?;
        line.serialize_field("reason", &reason)?;
        line.serialize_field("frames", &self.frames.load(Ordering::Relaxed))?;
        line.serialize_field("bytes", &self.bytes.load(Ordering::Relaxed))?;
        line.end()
    }
}

/// A connection that is shared with others.
#[derive(Debug, Clone)]
pub struct Shared(pub Arc<Connection>);

impl Serialize for Shared {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}
