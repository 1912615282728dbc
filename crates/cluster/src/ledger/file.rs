//! The ledger's file: JSON lines, written by a thread of its own.
//!
//! The channel to the thread is bounded and no record is dropped, so a full channel makes senders wait. Waiting falls
//! to the task of the connection or the list whose records do not fit. That task waits before it sends, like one whose
//! client does not read, and the cacher treats its watcher like any other slow one: the buffer fills, and the watcher
//! is ended once its time is up. The dispatch of events never waits for the file, because it writes no records. Records
//! of writes come from a storage watch that only the ledger uses, so writers do not wait either.

use std::io::{BufWriter, Write};
use std::path::Path;

use tokio::sync::mpsc;

use crate::ledger::record::Record;

/// How many batches may wait to be written. A batch is what one connection sends at once.
const WAITING: usize = 1024;

/// The sending side of the channel. Without a file, everything is accepted and dropped.
#[derive(Debug, Clone, Default)]
pub struct File {
    records: Option<mpsc::Sender<Vec<Record>>>,
}

/// Room for one batch.
#[derive(Debug)]
pub struct Permit(Option<mpsc::OwnedPermit<Vec<Record>>>);

impl Permit {
    /// Sends a batch. `batch` is called only if there is a file.
    pub fn send(self, batch: impl FnOnce() -> Vec<Record>) {
        if let Some(permit) = self.0 {
            permit.send(batch());
        }
    }
}

impl File {
    /// Creates or empties a file, and starts the thread that writes to it.
    ///
    /// # Errors
    /// When the file cannot be created, or the thread cannot be started.
    pub fn create(path: &Path) -> std::io::Result<Self> {
        let file = std::fs::File::create(path)?;
        let (records, inbox) = mpsc::channel(WAITING);
        std::thread::Builder::new().name("ledger".to_owned()).spawn(move || {
            if let Err(error) = write(BufWriter::new(file), inbox) {
                // The channel closes at this point: no more records are kept, and no sender waits.
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

    /// Writes one record as soon as there is room, for callers that cannot wait, such as at the end of a connection.
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
        // The channel is empty, so the file is flushed for readers that follow it.
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
        // A file that can no longer be written must not make senders wait.
        file.permit().await.send(|| vec![restart(3)]);
    }
}
