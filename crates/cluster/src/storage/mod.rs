//! Where the objects are kept, as etcd keeps them: keys and texts under one global revision, with their history.
//!
//! Nothing above this trait knows which backend it has. What it knows of Kubernetes is one thing: every key begins
//! with [`ROOT`].

#[cfg(feature = "etcd")]
pub mod etcd;
pub mod memory;
pub mod swap;
#[cfg(test)]
mod tests;

use std::fmt::Debug;
use std::sync::Arc;

use futures::future::BoxFuture;
use tokio::sync::{mpsc, watch};

/// Every key begins so, as in the etcd of a real cluster.
pub const ROOT: &str = "/registry/";

/// A storage: one revision counter for all keys, transactions on one key, ranges at any revision that is not
/// compacted, and watches from any such revision.
pub trait Storage: Debug + Send + Sync {
    /// The newest revision, linearizably: of all writes that were acknowledged before the call, by whichever server.
    fn revision(&self) -> BoxFuture<'_, Result<u64, StorageError>>;

    /// Follows the newest revision that this process has seen.
    fn seen(&self) -> watch::Receiver<u64>;

    /// The newest value of a key.
    fn get<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<Option<KeyValue>, StorageError>>;

    /// The keys of a range, in the order of their bytes.
    fn range<'a>(&'a self, request: &'a RangeRequest) -> BoxFuture<'a, Result<Range, StorageError>>;

    /// Writes a key if its newest value is of the revision `expected`; 0 is a key that is not there.
    fn txn<'a>(&'a self, key: &'a str, expected: u64, write: Write) -> BoxFuture<'a, Result<Txn, StorageError>>;

    /// Follows the keys that begin with `prefix`, from the first change after a revision. A storage that has compacted
    /// what would come first says so with [`StorageError::Compacted`], here or as the first item.
    fn watch<'a>(&'a self, prefix: &'a str, after: u64) -> BoxFuture<'a, Result<Changes, StorageError>>;

    /// Asks that every watch be told, by [`WatchItem::Progress`], when it has got everything up to a revision. Nothing
    /// is told while the revision is still to come.
    fn request_progress(&self, revision: u64);

    /// Forgets the history before a revision.
    fn compact(&self, revision: u64) -> BoxFuture<'_, Result<(), StorageError>>;
}

/// One key at one revision.
#[derive(Debug, Clone, PartialEq)]
pub struct KeyValue {
    /// The key.
    pub key: Arc<str>,
    /// Its value.
    pub value: Arc<str>,
    /// The revision of the write that made the value.
    pub revision: u64,
}

/// The largest write, key included, in bytes: etcd's `--max-request-bytes`, 1.5 MiB.
const LARGEST_WRITE: usize = 1536 * 1024;

/// Refuses what is too large for a storage, in etcd's words.
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

/// Which keys, and as of when.
#[derive(Debug, Clone, Default)]
pub struct RangeRequest {
    /// The first key that may come.
    pub from: String,
    /// The first key that may not come any more.
    pub until: String,
    /// At exactly this revision; the newest if absent.
    pub at: Option<u64>,
    /// At most so many; 0 is all.
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
    // Prefixes end in a slash, which is no character's last one.
    if let Some(last) = end.pop() {
        end.push(char::from_u32(u32::from(last) + 1).unwrap_or(char::MAX));
    }
    end
}

/// An answer to a range request.
#[derive(Debug, Clone, PartialEq)]
pub struct Range {
    /// The newest revision of the storage when it answered.
    pub revision: u64,
    /// The keys.
    pub values: Vec<KeyValue>,
    /// How many keys the range has, those beyond the limit included.
    pub count: usize,
}

/// What is written.
#[derive(Debug, Clone, PartialEq)]
pub enum Write {
    /// A value.
    Put(Arc<str>),
    /// The key goes.
    Delete,
}

/// How a transaction ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Txn {
    /// It is written, at this revision.
    Written(u64),
    /// The key is of another revision than expected: its newest value, and `None` if it is not there.
    Lost(Option<KeyValue>),
}

/// A change of one key.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// The key.
    pub key: Arc<str>,
    /// The revision of the write.
    pub revision: u64,
    /// Its new value; `None` if it is gone.
    pub value: Option<Arc<str>>,
    /// The value before, if there was one.
    pub previous: Option<KeyValue>,
}

/// What a watch brings.
#[derive(Debug, Clone, PartialEq)]
pub enum WatchItem {
    /// A change.
    Change(Change),
    /// Everything up to this revision has been brought.
    Progress(u64),
    /// The watch has ended and must be begun anew.
    Failed(StorageError),
}

/// A running watch. The storage never waits for it: its reader is to read at once.
pub type Changes = mpsc::UnboundedReceiver<WatchItem>;

/// What a storage refuses.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum StorageError {
    /// The revision is forgotten; the oldest that is known follows.
    #[error("the revision has been compacted; {0} is the oldest that is kept")]
    Compacted(u64),
    /// The revision is still to come; the newest follows.
    #[error("the revision is still to come; {0} is the newest")]
    Future(u64),
    /// The storage cannot be reached, or refuses: in its own words, which the API passes on.
    #[error("the storage does not answer: {0}")]
    Unavailable(String),
}
