//! The ledger's file: JSON lines, written by a thread of its own.
//!
//! Its channel is bounded and nothing is ever left out, so a full one holds somebody up. That is the task of the one
//! connection, or of the one list, whose records do not fit; it waits before it sends, like one whose client does not
//! read, and the cacher deals with it as with any such: its channel fills, and it is closed once its time is up.
//! Whoever dispatches events to watches never waits for the file, for it never writes to it. Writes come from a watch of
//! the storage that belongs to the ledger alone, so whoever writes does not wait either.

use std::io::{BufWriter, Write};
use std::path::Path;

use tokio::sync::mpsc;

use crate::ledger::record::Record;

/// So many batches may wait to be written; a batch is what one connection sends at once.
const WAITING: usize = 1024;

/// The end of the channel that is written to; without a file, everything is let through and forgotten.
#[derive(Debug, Clone, Default)]
pub struct File {
    records: Option<mpsc::Sender<Vec<Record>>>,
}

/// Room for one batch.
#[derive(Debug)]
pub struct Permit(Option<mpsc::OwnedPermit<Vec<Record>>>);

impl Permit {
    /// Puts a batch there; it is made only if there is a file.
    pub fn send(self, batch: impl FnOnce() -> Vec<Record>) {
        if let Some(permit) = self.0 {
            permit.send(batch());
        }
    }
}

impl File {
    /// Creates a file, or empties it, and begins to write to it.
    ///
    /// # Errors
    /// When the file cannot be created, or the thread not be started.
    pub fn create(path: &Path) -> std::io::Result<Self> {
        let file = std::fs::File::create(path)?;
        let (records, inbox) = mpsc::channel(WAITING);
        std::thread::Builder::new().name("ledger".to_owned()).spawn(move || {
            if let Err(error) = write(BufWriter::new(file), inbox) {
                // The channel closes with this: from now on nothing is kept, and nobody waits.
                eprintln!("cluster: the ledger cannot be written: {error}");
            }
        })?;
        Ok(Self { records: Some(records) })
    }

    /// Waits for room.
    pub async fn permit(&self) -> Permit {
        match self.records.clone() {
            Some(records) => Permit(records.reserve_owned().await.ok()),
            None => Permit(None),
        }
    }

    /// Writes one record as soon as there is room, for those who cannot wait: at the end of a connection.
    pub fn send_later(&self, record: Record) {
        let Some(records) = &self.records else { return };
        if let Err(mpsc::error::TrySendError::Full(batch)) = records.try_send(vec![record])
            && let Ok(runtime) = tokio::runtime::Handle::try_current()
        {
            let records = records.clone();
            runtime.spawn(async move { records.send(batch).await });
        }
    }
}

fn write(mut file: BufWriter<std::fs::File>, mut inbox: mpsc::Receiver<Vec<Record>>) -> std::io::Result<()> {
    while let Some(batch) = inbox.blocking_recv() {
        let mut batch = Some(batch);
        while let Some(records) = batch {
            for record in records {
                serde_json::to_writer(&mut file, &record)?;
                file.write_all(b"\n")?;
            }
            batch = inbox.try_recv().ok();
        }
        // Idle: whoever reads along sees everything.
        file.flush()?;
    }
    file.flush()
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    #[tokio::test]
    async fn a_full_channel_holds_up_and_loses_nothing() {
        let (records, mut inbox) = mpsc::channel(1);
        let file = File { records: Some(records) };
        let restart = |revision| Record::Restart { revision };
        file.permit().await.send(|| vec![restart(1)]);
        assert!(file.permit().now_or_never().is_none(), "there is no room");
        file.send_later(restart(2));
        let mut read = Vec::new();
        for _ in 0..2 {
            read.extend(inbox.recv().await.expect("both come"));
        }
        let read: Vec<u64> =
            read.iter().map(|one| if let Record::Restart { revision } = one { *revision } else { 0 }).collect();
        assert_eq!(read, [1, 2]);
        drop(inbox);
        // A file that can no longer be written holds nobody up.
        file.permit().await.send(|| vec![restart(3)]);
    }
}
