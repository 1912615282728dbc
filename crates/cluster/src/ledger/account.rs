//! Writes down what is sent on one connection, and how it ends.

use std::sync::Arc;

use crate::faults::frames::Outgoing;
use crate::ledger::Ledger;
use crate::ledger::connection::{Connection, Shared};
use crate::ledger::file::Permit;
use crate::ledger::record::{Record, Sent, hash};
use crate::ledger::stamp::Stamp;

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
        let time = Stamp::now();
        let bytes: usize = gone.iter().map(|one| one.frame.text.len()).sum();
        let first = self.connection.count(gone.len(), bytes);
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
        if self.connection.close(reason) {
            self.ledger.file.send_later(Record::Close(Shared(Arc::clone(&self.connection))));
        }
    }
}

impl Drop for Account {
    fn drop(&mut self) {
        self.close("client");
    }
}
