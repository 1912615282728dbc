//! Records what is sent on one connection, and how the connection ends.

use std::sync::Arc;

use crate::faults::frames::Outgoing;
use crate::ledger::Ledger;
use crate::ledger::connection::{Connection, Shared};
use crate::ledger::file::Permit;
use crate::ledger::record::{Record, Sent, hash};
use crate::ledger::stamp::Stamp;

/// Records what happens on one connection. If it is dropped without a call to [`Account::close`], the client is
/// recorded as gone.
#[derive(Debug)]
pub struct Account {
    ledger: Arc<Ledger>,
    connection: Arc<Connection>,
}

impl Account {
    /// A new account of a connection.
    pub(super) fn new(ledger: Arc<Ledger>, connection: Arc<Connection>) -> Self {
        Self { ledger, connection }
    }

    /// Waits until the ledger has room for the next record.
    pub async fn permit(&self) -> Permit {
        self.ledger.file.permit().await
    }

    /// Records frames that are handed to the transport now.
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

    /// Records the end of the connection: `end` is the regular end of the watch, `cut` the effect of a control request,
    /// `fault-close` and `fault-drop` those of a fault, and `client` an end that the server did not cause. Only the
    /// first call counts.
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
