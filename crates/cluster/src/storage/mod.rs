//! Keeps the objects as etcd keeps them: keys and values under one global revision, with their history.
//!
//! The users of this trait do not know which backend it is. The trait knows one thing about Kubernetes: every key
//! begins with [`ROOT`].

#[cfg(feature = "etcd")]
pub mod etcd;
pub mod memory;
pub mod restartable;
#[cfg(test)]
mod tests;

use std::fmt::Debug;
use std::sync::Arc;

use futures::future::BoxFuture;
use tokio::sync::{mpsc, watch};

/// The prefix of every key, as in the etcd of a real cluster.
pub const ROOT: &str = "/registry/";

/// A storage: one revision counter for all keys, transactions on one key, ranges at any revision that is not
/// compacted, and watches from any such revision.
pub trait Storage: Debug + Send + Sync {
    /// The newest revision, linearizably: it includes every write that any server acknowledged before the call.
    fn revision(&self) -> BoxFuture<'_, Result<u64, StorageError>>;

    /// A receiver of the newest revision that this process has seen.
    fn seen(&self) -> watch::Receiver<u64>;

    /// The newest value of a key.
    fn get<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<Option<KeyValue>, StorageError>>;

    /// The keys of a range, in the order of their bytes.
    fn range<'a>(&'a self, request: &'a RangeRequest) -> BoxFuture<'a, Result<Range, StorageError>>;

    /// Writes a key if its newest value has the revision `expected`; 0 stands for a key that does not exist.
    fn txn<'a>(&'a self, key: &'a str, expected: u64, write: Write) -> BoxFuture<'a, Result<Txn, StorageError>>;

    /// Watches the keys that begin with `prefix`, from the first change after a revision. If that change is compacted,
    /// the error is [`StorageError::Compacted`], here or as the first item.
    fn watch<'a>(&'a self, prefix: &'a str, after: u64) -> BoxFuture<'a, Result<Changes, StorageError>>;

    /// Asks for a [`WatchItem::Progress`] on every watch once it has received everything up to a revision. Nothing is
    /// sent while the revision is in the future.
    fn request_progress(&self, revision: u64);

    /// Drops the history before a revision.
    fn compact(&self, revision: u64) -> BoxFuture<'_, Result<(), StorageError>>;
}

/// One key at one revision.
#[derive(Debug, Clone, PartialEq)]
pub struct KeyValue {
    pub key: Arc<str>,
    /// Its value.
    pub value: Arc<str>,
    /// The revision of the write that made the value.
    pub revision: u64,
}

/// The largest write, key included, in bytes: etcd's `--max-request-bytes`, 1.5 MiB.
const LARGEST_WRITE: usize = 1536 * 1024;

/// Refuses a write that is too large, with etcd's message.
fn fits(key: &str, write: &Write) -> Result<(), StorageError> {
    let size = match write {
        Write::Put(value) => key.len() + value.len(),
        Write::Delete => key.len(),
    };
    if size <= LARGEST_WRITE {
        return Ok(());
    }
    Err(StorageError::Unavailable("etcdserver: request is too large".to_owned()))
}

/// Which keys to read, and at which revision.
#[derive(Debug, Clone, Default)]
pub struct RangeRequest {
    /// The first key of the range.
    pub from: String,
    /// The end of the range, which is not part of it.
    pub until: String,
    /// The exact revision to read at; the newest if absent.
    pub at: Option<u64>,
    /// The largest number of keys to return; 0 for all.
    pub limit: usize,
}

impl RangeRequest {
    /// All keys that begin with a prefix.
    pub fn prefix(prefix: &str) -> Self {
        Self { from: prefix.to_owned(), until: prefix_end(prefix), at: None, limit: 0 }
    }
}

/// The first key after all those that begin with a prefix.
pub fn prefix_end(prefix: &str) -> String {
    let mut end = prefix.to_owned();
    // Prefixes end in a slash, which is not the last character there is.
    if let Some(last) = end.pop() {
        end.push(char::from_u32(u32::from(last) + 1).unwrap_or(char::MAX));
    }
    end
}

/// An answer to a range request.
#[derive(Debug, Clone, PartialEq)]
pub struct Range {
    /// The newest revision of the storage at the time of the answer.
    pub revision: u64,
    /// The keys.
    pub values: Vec<KeyValue>,
    /// The number of keys in the range, including those beyond the limit.
    pub count: usize,
}

/// What is written to a key.
#[derive(Debug, Clone, PartialEq)]
pub enum Write {
    /// A new value.
    Put(Arc<str>),
    /// The deletion of the key.
    Delete,
}

/// The outcome of a transaction.
#[derive(Debug, Clone, PartialEq)]
pub enum Txn {
    /// It was written at this revision.
    Written(u64),
    /// The key has another revision than expected: its newest value, or `None` if it does not exist.
    Lost(Option<KeyValue>),
}

/// A change of one key.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    pub key: Arc<str>,
    /// The revision of the write.
    pub revision: u64,
    /// The new value; `None` if the key was deleted.
    pub value: Option<Arc<str>>,
    /// The value before, if there was one.
    pub previous: Option<KeyValue>,
}

/// An item of a watch.
#[derive(Debug, Clone, PartialEq)]
pub enum WatchItem {
    Change(Change),
    /// Everything up to this revision has been sent.
    Progress(u64),
    /// The watch has ended and must be started again.
    Failed(StorageError),
}

/// A running watch. The storage never waits for the reader, so the reader must keep up.
pub type Changes = mpsc::UnboundedReceiver<WatchItem>;

/// Why the storage fails.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum StorageError {
    /// The revision is compacted; the value is the oldest that is kept.
    #[error("the revision has been compacted; {0} is the oldest that is kept")]
    Compacted(u64),
    /// The revision is in the future; the value is the newest.
    #[error("the revision is still to come; {0} is the newest")]
    Future(u64),
    /// The storage cannot be reached, or refuses; the API passes its message on.
    #[error("the storage does not answer: {0}")]
    Unavailable(String),
}
