//! Watches of etcd: the one that all of this process hang on, and those of its latecomers until they are level with it.
//!
//! # How far the stream is
//!
//! Every write of a server is under [`ROOT`], or is the marker, and changes one key: a stream that has brought a
//! change of revision R has brought everything up to R. The newest revision can nevertheless be another's, written
//! beside `ROOT`, and then no change would ever tell. So when a revision is asked for and does not come by itself
//! within [`GRACE`], and exists, the marker is written: the stream brings it, and with it everything before.
//!
//! [`ROOT`]: crate::storage::ROOT

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use etcd_client::{WatchOptions, WatchResponse, WatchStream};

use super::answer::{self, error};
use super::demux::{Demux, Latecomer};
use super::{LONGEST_ANSWER, Link, watched};
use crate::storage::{Change, StorageError, WatchItem};

/// How long a revision that exists may take to come by itself.
const GRACE: Duration = Duration::from_millis(50);
/// A lost stream is opened anew after this; after each failure, twice as long.
const FIRST_RETRY: Duration = Duration::from_millis(100);
/// But never longer.
const LAST_RETRY: Duration = Duration::from_secs(5);

/// A watch of etcd over everything that is watched.
pub struct Stream {
    inner: WatchStream,
}

impl Stream {
    /// Opens the stream that all watches of the process shall hang on, and lets them.
    pub async fn open(link: &Link, demux: &Demux) -> Result<Self, StorageError> {
        let position = link.mark().await?;
        let stream = Self::after(link, position).await?;
        demux.opened(position);
        Ok(stream)
    }

    /// The changes after a revision.
    async fn after(link: &Link, revision: u64) -> Result<Self, StorageError> {
        let start = revision.checked_add(1).and_then(|start| i64::try_from(start).ok());
        let start = start.ok_or_else(|| StorageError::Unavailable("no such revision".to_owned()))?;
        let (from, until) = watched();
        // In fragments: a stream that has fallen behind would bring a thousand revisions in one message.
        let options = WatchOptions::new().with_range(until).with_start_revision(start).with_prev_key().with_fragment();
        let mut client = link.client.watch_client().max_decoding_message_size(LONGEST_ANSWER);
        Ok(Self { inner: client.watch(from, Some(options)).await.map_err(error)? })
    }

    /// The next changes, at least one.
    async fn next(&mut self) -> Result<Vec<Change>, StorageError> {
        loop {
            let answer = self.message().await?;
            if !answer.events().is_empty() {
                return answer.events().iter().map(answer::change).collect();
            }
            // Else it says that the watch is there.
        }
    }

    async fn message(&mut self) -> Result<WatchResponse, StorageError> {
        let answer = self.inner.message().await.map_err(error)?;
        let answer = answer.ok_or_else(|| StorageError::Unavailable("the watch has ended".to_owned()))?;
        match u64::try_from(answer.compact_revision()) {
            Ok(oldest) if oldest > 0 => Err(StorageError::Compacted(oldest)),
            _ if answer.canceled() => Err(StorageError::Unavailable(answer.cancel_reason().to_owned())),
            _ => Ok(answer),
        }
    }
}

/// Tells the watches what the stream brings, and opens it anew whenever it is lost. Never ends.
pub async fn follow(link: Link, demux: Arc<Demux>, first: Stream) {
    let mut stream = Some(first);
    let mut retry = FIRST_RETRY;
    loop {
        let lost = match stream.take() {
            Some(open) => {
                retry = FIRST_RETRY;
                let Err(lost) = tokio::select! {
                    lost = tell(&demux, open) => lost,
                    lost = mark_when_asked(&link, &demux) => lost,
                };
                lost
            }
            None => match Stream::open(&link, &demux).await {
                Ok(open) => {
                    stream = Some(open);
                    continue;
                }
                Err(error) => error,
            },
        };
        demux.closed(&lost);
        tokio::time::sleep(retry).await;
        retry = LAST_RETRY.min(retry * 2);
    }
}

async fn tell(demux: &Demux, mut stream: Stream) -> Result<Infallible, StorageError> {
    loop {
        let changes = stream.next().await?;
        if let Some(last) = changes.last() {
            demux.bring(&changes, last.revision);
        }
    }
}

async fn mark_when_asked(link: &Link, demux: &Demux) -> Result<Infallible, StorageError> {
    loop {
        demux.asked().await;
        tokio::time::sleep(GRACE).await;
        let newest = link.revision().await?;
        if demux.is_owing(newest) {
            link.mark().await?;
        }
    }
}

/// Brings a latecomer what it is owed. The stream over everything ends it: its last change is one that the shared
/// stream has brought, or the marker that this one was opened after.
pub async fn catch_up(link: Link, demux: Arc<Demux>, latecomer: Latecomer) {
    let brought = tokio::select! {
        brought = bring(&link, &latecomer) => brought,
        () = latecomer.items.closed() => Ok(()),
    };
    demux.release(&latecomer, brought);
}

async fn bring(link: &Link, latecomer: &Latecomer) -> Result<(), StorageError> {
    let mut stream = Stream::after(link, latecomer.after).await?;
    loop {
        let changes = stream.next().await?;
        let level = changes.last().is_some_and(|last| last.revision >= latecomer.until);
        let owed = changes.into_iter().filter(|one| one.revision <= latecomer.until);
        for change in owed.filter(|one| one.key.starts_with(&latecomer.prefix)) {
            // Nobody reads it: `catch_up` finds out.
            let _ = latecomer.items.send(WatchItem::Change(change));
        }
        if level {
            return Ok(());
        }
    }
}

/// The oldest revision that is kept, of an etcd that has compacted the given one. It says so to watches alone.
pub async fn compacted(link: &Link, revision: u64) -> Result<u64, StorageError> {
    let mut stream = Stream::after(link, revision.saturating_sub(1)).await?;
    match stream.next().await {
        Err(StorageError::Compacted(oldest)) => Ok(oldest),
        Err(error) => Err(error),
        // It was not compacted, after all.
        Ok(_) => Ok(revision),
    }
}
