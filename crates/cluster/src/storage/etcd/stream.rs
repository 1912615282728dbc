//! The watches of etcd: the one that all watches of this process share, and those of its latecomers until they are
//! level with it.
//!
//! # The position of the stream
//!
//! Every write of a server is under [`ROOT`] or is the marker, and changes one key. So a stream that has brought a
//! change of revision R has brought everything up to R. The newest revision may nevertheless belong to another program,
//! which wrote outside `ROOT`, and then no change would bring it. So when a requested revision exists but does not
//! arrive within [`GRACE`], the marker is written: the stream brings the marker, and with it everything before.
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

/// How long a revision that exists may take to arrive.
const GRACE: Duration = Duration::from_millis(50);
/// The delay before a lost stream is opened again; it doubles with each failure.
const FIRST_RETRY: Duration = Duration::from_millis(100);
/// The longest such delay.
const LAST_RETRY: Duration = Duration::from_secs(5);

/// A watch of etcd over the whole range.
pub struct Stream {
    inner: WatchStream,
}

impl Stream {
    /// Opens the stream for all watches of the process, and lets them begin.
    pub async fn open(link: &Link, demux: &Demux) -> Result<Self, StorageError> {
        let position = link.mark().await?;
        let stream = Self::after(link, position).await?;
        demux.opened(position);
        Ok(stream)
    }

    /// A stream of the changes after a revision.
    async fn after(link: &Link, revision: u64) -> Result<Self, StorageError> {
        let start = revision.checked_add(1).and_then(|start| i64::try_from(start).ok());
        let start = start.ok_or_else(|| StorageError::Unavailable("no such revision".to_owned()))?;
        let (from, until) = watched();
        // With fragments, because a stream that has fallen behind would otherwise bring a thousand revisions in one
        // message.
        let options = WatchOptions::new().with_range(until).with_start_revision(start).with_prev_key().with_fragment();
        let mut client = link.client.watch_client().max_decoding_message_size(LONGEST_ANSWER);
        Ok(Self { inner: client.watch(from, Some(options)).await.map_err(error)? })
    }

    /// Waits for the next changes, at least one.
    async fn next(&mut self) -> Result<Vec<Change>, StorageError> {
        loop {
            let answer = self.message().await?;
            if !answer.events().is_empty() {
                return answer.events().iter().map(answer::change).collect();
            }
            // Otherwise the message only says that the watch was created.
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

/// Feeds the stream to the watches, and opens it again whenever it is lost. Never returns.
pub async fn follow(link: Link, demux: Arc<Demux>, first: Stream) {
    let mut stream = Some(first);
    let mut retry = FIRST_RETRY;
    loop {
        let lost = match stream.take() {
            Some(open) => {
                retry = FIRST_RETRY;
                let Err(lost) = tokio::select! {
                    lost = forward(&demux, open) => lost,
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

async fn forward(demux: &Demux, mut stream: Stream) -> Result<Infallible, StorageError> {
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

/// Brings a latecomer the changes that it missed, with a watch of the whole range. That watch surely reaches
/// [`Latecomer::until`], which is the revision of a change that the shared stream has brought, or of the marker that was
/// written right before the shared stream was opened.
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
            // If the receiver is dropped, `catch_up` notices that.
            let _ = latecomer.items.send(WatchItem::Change(change));
        }
        if level {
            return Ok(());
        }
    }
}

/// The oldest revision that is kept, of an etcd that has compacted the given one. etcd reports it only to watches.
pub async fn compacted(link: &Link, revision: u64) -> Result<u64, StorageError> {
    let mut stream = Stream::after(link, revision.saturating_sub(1)).await?;
    match stream.next().await {
        Err(StorageError::Compacted(oldest)) => Ok(oldest),
        Err(error) => Err(error),
        // The revision was not compacted after all.
        Ok(_) => Ok(revision),
    }
}
