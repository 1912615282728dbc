//! One watch's connection in the ledger: who it is, what was sent on it, and how it ended.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

use crate::clock;
use crate::faults::frames::Outgoing;
use crate::faults::ledger::Ledger;
use crate::faults::ledger::file::Permit;
use crate::faults::ledger::record::{Record, Sent, Stamp, hash};

/// Who a connection is, and how it fares.
#[derive(Debug)]
pub struct Connection {
    /// Its number, from 1.
    pub number: u64,
    /// `websocket` or `http`.
    pub transport: &'static str,
    /// The resource, with its group.
    pub resource: String,
    /// Path and query of the request.
    pub path: String,
    /// The User-Agent.
    pub user_agent: String,
    /// When it was opened.
    pub opened: Stamp,
    frames: AtomicU64,
    bytes: AtomicU64,
    closed: OnceLock<(Stamp, &'static str)>,
}

impl Connection {
    /// Opens it now.
    pub fn new(number: u64, transport: &'static str, resource: String, path: String, user_agent: String) -> Self {
        let opened = Stamp(clock::unskewed());
        let (frames, bytes, closed) = (AtomicU64::new(0), AtomicU64::new(0), OnceLock::new());
        Self { number, transport, resource, path, user_agent, opened, frames, bytes, closed }
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

/// A connection that somebody else has too.
#[derive(Debug, Clone)]
pub struct Shared(pub Arc<Connection>);

impl Serialize for Shared {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

/// Writes down what happens on one connection. Whoever drops it without a word says that the client is gone.
#[derive(Debug)]
pub struct Account {
    ledger: Arc<Ledger>,
    connection: Arc<Connection>,
}

impl Account {
    /// Begins to write down.
    pub(super) fn new(ledger: Arc<Ledger>, connection: Arc<Connection>) -> Self {
        Self { ledger, connection }
    }

    /// Waits until the ledger has room for what is sent next.
    pub async fn permit(&self) -> Permit {
        self.ledger.file.permit().await
    }

    /// Writes down frames that are handed to the transport now.
    pub fn sent(&self, permit: Permit, gone: &[Outgoing]) {
        let time = Stamp(clock::unskewed());
        let bytes: usize = gone.iter().map(|one| one.frame.text.len()).sum();
        let first = self.connection.frames.fetch_add(gone.len() as u64, Ordering::Relaxed) + 1;
        self.connection.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        let sent = (first..).zip(gone).map(|(number, one)| Sent {
            time,
            connection: Arc::clone(&self.connection),
            frame: number,
            event_type: one.frame.event_type,
            about: one.frame.about.clone(),
            revision: one.frame.revision,
            bytes: one.frame.text.len(),
            hash: hash(one.frame.text.as_bytes()),
            fault: one.fault,
        });
        let sent: Vec<Sent> = sent.collect();
        self.ledger.note_frames(&sent);
        permit.send(|| sent.into_iter().map(Record::Frame).collect());
    }

    /// Says how it ended: `end` is the watch's ordinary end, `cut` an order's, `fault-close` and `fault-drop` a
    /// fault's, `client` what the server has not done. The first word counts.
    pub fn close(&self, reason: &'static str) {
        if self.connection.closed.set((Stamp(clock::unskewed()), reason)).is_ok() {
            self.ledger.file.send_later(Record::Close(Shared(Arc::clone(&self.connection))));
        }
    }
}

impl Drop for Account {
    fn drop(&mut self) {
        self.close("client");
    }
}
