//! Compacts the history of the storage, as the API server does it for etcd.

use std::sync::Arc;
use std::time::Duration;

use crate::storage::Storage;

/// The default of `--etcd-compaction-interval`.
const INTERVAL: Duration = Duration::from_secs(300);

/// Compacts a storage every five minutes, up to the revision that was newest five minutes before; it never returns.
/// Pages and watches can therefore continue from any revision of the last five minutes.
pub async fn run(storage: Arc<dyn Storage>) {
    let mut before = storage.revision().await.ok();
    loop {
        tokio::time::sleep(INTERVAL).await;
        let newest = storage.revision().await;
        // Another server over the same storage may have compacted first. A failed compaction is tried again in five
        // minutes.
        if let Some(before) = before
            && let Err(error) = storage.compact(before).await
        {
            eprintln!("cluster: the history before {before} stays: {error}");
        }
        before = newest.ok();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::memory::Memory;
    use crate::storage::{RangeRequest, StorageError, Write};

    #[tokio::test(start_paused = true)]
    async fn five_minutes_of_history_are_kept() {
        let storage: Arc<dyn Storage> = Arc::new(Memory::new(10));
        let task = tokio::spawn(run(Arc::clone(&storage)));
        let second = Duration::from_secs(1);
        for name in ["a", "b", "c"] {
            // These writes fall between two compactions, at 11, 12 and 13 minutes.
            tokio::time::sleep(second).await;
            let key = format!("/registry/core/pods/{name}");
            storage.txn(&key, 0, Write::Put(Arc::from("{}"))).await.expect("it is written");
            tokio::time::sleep(INTERVAL - second).await;
        }
        tokio::time::sleep(second).await;
        let request = |at| RangeRequest { at: Some(at), ..RangeRequest::prefix("/registry/") };
        assert_eq!(storage.range(&request(11)).await.err(), Some(StorageError::Compacted(12)));
        assert_eq!(storage.range(&request(12)).await.map(|range| range.count), Ok(2));
        task.abort();
    }
}
