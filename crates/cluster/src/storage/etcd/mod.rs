//! The etcd backend: an etcd outlives the servers, and several servers may share it.
//!
//! All watches of the process share one watch of etcd, over everything under [`ROOT`]: once it has brought a change of
//! revision R, it has brought everything up to R for every prefix. So etcd's own progress notifications are not needed,
//! which before 3.4.31 and 3.5.13 could run ahead of the changes. See `stream.rs`.
//!
//! A write whose answer is lost may or may not have been made; like the real server, this one does not repeat it.

mod answer;
mod demux;
mod stream;

use std::sync::Arc;
use std::time::Duration;

use etcd_client::{Client, Compare, CompareOp, ConnectOptions, GetOptions, KvClient, TxnOp, TxnOpResponse};
use futures::FutureExt;
use futures::future::BoxFuture;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use self::answer::{error, is_compacted, is_future, key_value, revision_of};
use self::demux::{Demux, Joined};
use self::stream::Stream;
use super::{Changes, KeyValue, ROOT, Range, RangeRequest, Storage, StorageError, Txn, Write, fits, prefix_end};

/// The number of keys per request when a long range is read, all at one revision.
const PAGE: usize = 500;
/// The largest accepted answer, as in clientv3: pages, and watches that have fallen behind, can be long.
const LONGEST_ANSWER: usize = i32::MAX as usize;
/// How long a request may take.
const TIMEOUT: Duration = Duration::from_secs(10);
/// After this time without data, a connection is tested with a ping. etcd treats more than one ping in 5 s as an
/// attack.
const KEEP_ALIVE: Duration = Duration::from_secs(10);
/// A key outside [`ROOT`] that is written to find out the position of the stream. It sorts right before the keys of
/// `ROOT`, because a dot sorts before a slash, so that one range contains them all.
const MARKER: &str = "/registry.progress";

/// Keys in an etcd.
#[derive(Debug)]
pub struct Etcd {
    link: Link,
    demux: Arc<Demux>,
    following: JoinHandle<()>,
}

/// A connection to etcd.
#[derive(Clone)]
struct Link {
    client: Client,
    kv: KvClient,
}

impl std::fmt::Debug for Link {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Link")
    }
}

impl Etcd {
    /// Connects to the etcd at an address such as `http://127.0.0.1:2379`; fails if it does not answer.
    pub async fn connect(address: &str) -> Result<Self, StorageError> {
        let options = ConnectOptions::new()
            .with_connect_timeout(TIMEOUT)
            .with_timeout(TIMEOUT)
            .with_keep_alive(KEEP_ALIVE, TIMEOUT);
        let client = Client::connect([address], Some(options)).await.map_err(error)?;
        let kv = client.kv_client().max_decoding_message_size(LONGEST_ANSWER);
        let link = Link { client, kv };
        let demux = Arc::new(Demux::default());
        let first = Stream::open(&link, &demux).await?;
        let following = tokio::spawn(stream::follow(link.clone(), Arc::clone(&demux), first));
        Ok(Self { link, demux, following })
    }
}

impl Drop for Etcd {
    fn drop(&mut self) {
        self.following.abort();
    }
}

impl Link {
    /// The newest revision, linearizably: reading a key goes through etcd's quorum.
    async fn revision(&self) -> Result<u64, StorageError> {
        let options = GetOptions::new().with_count_only();
        let answer = self.kv.clone().get(MARKER, Some(options)).await.map_err(error)?;
        revision_of(answer.header())
    }

    /// Writes the marker; returns its revision.
    async fn mark(&self) -> Result<u64, StorageError> {
        let answer = self.kv.clone().put(MARKER, "", None).await.map_err(error)?;
        revision_of(answer.header())
    }

    async fn compact(&self, revision: u64) -> Result<(), StorageError> {
        let asked = i64::try_from(revision).map_err(|_| StorageError::Unavailable("no such revision".to_owned()))?;
        match self.kv.clone().compact(asked, None).await.map_err(error) {
            Ok(_) => Ok(()),
            // Another server has compacted even more.
            Err(error) if is_compacted(&error) => Ok(()),
            Err(error) if is_future(&error) => Err(StorageError::Future(self.revision().await?)),
            Err(error) => Err(error),
        }
    }

    /// The error for a range at a revision, made more precise.
    async fn explained(&self, error: StorageError, at: u64) -> StorageError {
        let explained = if is_compacted(&error) {
            stream::compacted(self, at).await.map(StorageError::Compacted)
        } else if is_future(&error) {
            self.revision().await.map(StorageError::Future)
        } else {
            return error;
        };
        explained.unwrap_or_else(|error| error)
    }

    async fn range(&self, request: &RangeRequest) -> Result<Range, StorageError> {
        let mut range = Range { revision: 0, values: Vec::new(), count: 0 };
        if request.from >= request.until {
            range.revision = self.revision().await?;
            return Ok(range);
        }
        let (mut from, mut at) = (request.from.clone(), request.at);
        loop {
            let missing = if request.limit == 0 { PAGE } else { PAGE.min(request.limit - range.values.len()) };
            let options = GetOptions::new()
                .with_range(request.until.as_str())
                .with_limit(missing as i64)
                .with_revision(at.map_or(0, |at| i64::try_from(at).unwrap_or(i64::MAX)));
            let answer = match self.kv.clone().get(from, Some(options)).await.map_err(error) {
                Ok(answer) => answer,
                Err(error) => return Err(self.explained(error, at.unwrap_or_default()).await),
            };
            if range.revision == 0 {
                range.revision = revision_of(answer.header())?;
                range.count = usize::try_from(answer.count()).unwrap_or_default();
                at = at.or(Some(range.revision));
            }
            range.values.extend(answer.kvs().iter().map(key_value));
            match answer.kvs().last() {
                Some(last) if answer.more() && (request.limit == 0 || range.values.len() < request.limit) => {
                    from = String::from_utf8_lossy(last.key()).into_owned() + "\0";
                }
                _ => return Ok(range),
            }
        }
    }

    async fn txn(&self, key: &str, expected: u64, write: Write) -> Result<Txn, StorageError> {
        let is_deletion = write == Write::Delete;
        let operation = match write {
            Write::Put(value) => TxnOp::put(key, value.as_bytes(), None),
            Write::Delete => TxnOp::delete(key, None),
        };
        // In etcd, too, a key that does not exist has revision 0; and no key has revision i64::MAX.
        let unchanged = Compare::mod_revision(key, CompareOp::Equal, i64::try_from(expected).unwrap_or(i64::MAX));
        let txn = etcd_client::Txn::new();
        let txn = txn.when([unchanged]).and_then([operation]).or_else([TxnOp::get(key, None)]);
        let answer = self.kv.clone().txn(txn).await.map_err(error)?;
        if answer.succeeded() {
            // Deleting a key that does not exist takes no revision.
            let done = !(is_deletion && expected == 0);
            return Ok(if done { Txn::Written(revision_of(answer.header())?) } else { Txn::Lost(None) });
        }
        match answer.op_responses().first() {
            Some(TxnOpResponse::Get(newest)) => Ok(Txn::Lost(newest.kvs().first().map(key_value))),
            _ => Err(answer::broken("the newest value")),
        }
    }
}

impl Storage for Etcd {
    fn revision(&self) -> BoxFuture<'_, Result<u64, StorageError>> {
        async {
            let revision = self.link.revision().await?;
            self.demux.note(revision);
            Ok(revision)
        }
        .boxed()
    }

    fn seen(&self) -> watch::Receiver<u64> {
        self.demux.seen()
    }

    fn get<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<Option<KeyValue>, StorageError>> {
        async move {
            let answer = self.link.kv.clone().get(key, None).await.map_err(error)?;
            Ok(answer.kvs().first().map(key_value))
        }
        .boxed()
    }

    fn range<'a>(&'a self, request: &'a RangeRequest) -> BoxFuture<'a, Result<Range, StorageError>> {
        self.link.range(request).boxed()
    }

    fn txn<'a>(&'a self, key: &'a str, expected: u64, write: Write) -> BoxFuture<'a, Result<Txn, StorageError>> {
        async move {
            fits(key, &write)?;
            let txn = self.link.txn(key, expected, write).await?;
            if let Txn::Written(revision) = txn {
                self.demux.note(revision);
            }
            Ok(txn)
        }
        .boxed()
    }

    fn watch<'a>(&'a self, prefix: &'a str, after: u64) -> BoxFuture<'a, Result<Changes, StorageError>> {
        let joined = self.demux.join(prefix, after).map(|joined| match joined {
            Joined::Level(changes) => changes,
            Joined::Behind(changes, latecomer) => {
                tokio::spawn(stream::catch_up(self.link.clone(), Arc::clone(&self.demux), latecomer));
                changes
            }
        });
        futures::future::ready(joined).boxed()
    }

    fn request_progress(&self, revision: u64) {
        self.demux.request(revision);
    }

    fn compact(&self, revision: u64) -> BoxFuture<'_, Result<(), StorageError>> {
        self.link.compact(revision).boxed()
    }
}

/// The range of the watch: the marker, and everything under [`ROOT`].
fn watched() -> (&'static str, String) {
    (MARKER, prefix_end(ROOT))
}
