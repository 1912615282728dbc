//! The server's own record of what was written and what was sent to which client, for comparison with what a client has
//! seen.
//!
//! The newest records are kept in memory and served at `/_control/log`, `/_control/frames` and `/_control/connections`.
//! All records go to the file of `--ledger`, as lines of JSON with a field `record`: `write`, `open`, `frame`, `close`,
//! `list` or `restart`. A frame is recorded before it is sent, so every frame that a client has seen is in the ledger;
//! the last frames before a connection broke may not have arrived. The watches of the cluster's own controllers are not
//! recorded.

pub mod account;
pub mod connection;
pub mod file;
pub mod record;
pub mod stamp;

use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::Deserialize;
use tokio::sync::watch;

use crate::faults::about::About;
use crate::resources::resource::Resource;
use crate::storage::{Change, Changes, ROOT, Storage, StorageError, WatchItem};
use crate::store::Page;
use account::Account;
use connection::{Connection, Shared};
use file::File;
use record::{Listed, Record, Sent, Write, hash};
use stamp::Stamp;

/// How many writes are kept in memory.
const WRITES: usize = 200_000;
/// How many frames of all connections are kept in memory.
const FRAMES: usize = 100_000;
/// How many connections are kept in memory.
const CONNECTIONS: usize = 10_000;
/// How long a request waits until the ledger has reached the newest revision.
const WAIT: Duration = Duration::from_secs(20);
/// The delay before a storage that failed is asked again.
const RETRY: Duration = Duration::from_millis(100);

/// The ledger.
#[derive(Debug)]
pub struct Ledger {
    writes: Mutex<VecDeque<Write>>,
    frames: Mutex<VecDeque<Sent>>,
    connections: Mutex<VecDeque<Arc<Connection>>>,
    last_connection: AtomicU64,
    reached: watch::Sender<u64>,
    file: File,
}

impl Ledger {
    /// Starts to watch a storage, from the first write after a revision.
    pub fn start(storage: Arc<dyn Storage>, after: u64, file: File) -> Arc<Self> {
        let ledger = Arc::new(Self {
            writes: Mutex::default(),
            frames: Mutex::default(),
            connections: Mutex::default(),
            last_connection: AtomicU64::new(0),
            reached: watch::Sender::new(after),
            file,
        });
        tokio::spawn(Arc::clone(&ledger).follow(storage, after));
        ledger
    }

    /// The writes of one resource, or all, once everything up to a revision is recorded.
    pub async fn writes(&self, resource: Option<&Resource>, revision: u64) -> Vec<Write> {
        let mut reached = self.reached.subscribe();
        let _ = tokio::time::timeout(WAIT, reached.wait_for(|reached| *reached >= revision)).await;
        let prefix = resource.map_or_else(|| ROOT.to_owned(), Resource::prefix);
        lock(&self.writes).iter().filter(|write| write.path.starts_with(&prefix)).cloned().collect()
    }

    /// The newest frames: of one connection, of one resource, or all.
    pub fn frames(&self, connection: Option<u64>, resource: Option<&str>) -> Vec<Sent> {
        let wanted = |one: &&Sent| is_wanted(&one.connection, connection, resource);
        lock(&self.frames).iter().filter(wanted).cloned().collect()
    }

    /// The newest connections: one, those of one resource, or all.
    pub fn connections(&self, connection: Option<u64>, resource: Option<&str>) -> Vec<Shared> {
        let wanted = |one: &&Arc<Connection>| is_wanted(one, connection, resource);
        lock(&self.connections).iter().filter(wanted).cloned().map(Shared).collect()
    }

    /// Records that a watch is accepted.
    pub async fn open(self: &Arc<Self>, about: &About, transport: &'static str, path: &str) -> Account {
        let permit = self.file.permit().await;
        let number = self.last_connection.fetch_add(1, Ordering::Relaxed) + 1;
        let resource = about.resource.as_ref().map(|resource| resource.qualified()).unwrap_or_default();
        let connection = Connection::new(number, transport, resource, path.to_owned(), about.user_agent.clone());
        let connection = Arc::new(connection);
        push(&self.connections, Arc::clone(&connection), CONNECTIONS);
        permit.send(|| vec![Record::Open(Shared(Arc::clone(&connection)))]);
        Account::new(Arc::clone(self), connection)
    }

    /// Records the answer to a list.
    pub async fn listed(&self, resource: &Resource, namespace: Option<&str>, page: &Page) {
        let (revision, items, remaining) = (page.revision, page.objects.len(), page.remaining);
        let (resource, namespace) = (resource.qualified(), namespace.map(str::to_owned));
        let time = Stamp::now();
        let listed = || vec![Record::List(Listed { time, resource, namespace, revision, items, remaining })];
        self.file.permit().await.send(listed);
    }

    fn note_frames(&self, sent: &[Sent]) {
        let mut frames = lock(&self.frames);
        frames.extend(sent.iter().cloned());
        let surplus = frames.len().saturating_sub(FRAMES);
        frames.drain(..surplus);
    }

    async fn follow(self: Arc<Self>, storage: Arc<dyn Storage>, mut after: u64) {
        loop {
            let error = match storage.watch(ROOT, after).await {
                Ok(changes) => self.read(changes, &mut after).await,
                Err(error) => error,
            };
            if let StorageError::Compacted(oldest) = error {
                // This is also the answer of a storage that was restarted, perhaps at lower revisions.
                after = oldest;
                self.reached.send_replace(oldest);
                self.file.permit().await.send(|| vec![Record::Restart { revision: oldest }]);
            } else {
                tokio::time::sleep(RETRY).await;
            }
        }
    }

    /// Records the changes from a watch of the storage; returns the error that ended it.
    async fn read(&self, mut changes: Changes, after: &mut u64) -> StorageError {
        while let Some(item) = changes.recv().await {
            match item {
                WatchItem::Change(change) => {
                    *after = change.revision;
                    self.note(change).await;
                }
                WatchItem::Progress(_) => {}
                WatchItem::Failed(error) => return error,
            }
        }
        StorageError::Unavailable("the watch has ended".to_owned())
    }

    async fn note(&self, change: Change) {
        let (event_type, verb) = match (&change.value, &change.previous) {
            (None, _) => ("DELETED", "delete"),
            (_, None) => ("ADDED", "create"),
            _ => ("MODIFIED", "update"),
        };
        let text = change.value.as_ref().or(change.previous.as_ref().map(|previous| &previous.value));
        let text = text.map(|text| &**text).unwrap_or_default();
        let uid = serde_json::from_str::<Stored<'_>>(text).map(|stored| stored.metadata.uid.into_owned());
        let uid = uid.unwrap_or_default();
        // The group, the plural name and the key.
        let mut parts = change.key.strip_prefix(ROOT).unwrap_or_default().splitn(3, '/');
        let mut part = || parts.next().unwrap_or_default().to_owned();
        let (group, plural, key) = (part(), part(), part());
        let resource = if group == "core" { plural } else { format!("{plural}.{group}") };
        let (revision, hash, path) = (change.revision, hash(text.as_bytes()), change.key);
        let write = Write { revision, event_type, key, uid, resource, verb, hash, path };
        let permit = self.file.permit().await;
        permit.send(|| vec![Record::Write(write.clone())]);
        push(&self.writes, write, WRITES);
        self.reached.send_replace(revision);
    }
}

/// The fields of a stored text that the ledger reads.
#[derive(Deserialize)]
struct Stored<'a> {
    #[serde(borrow)]
    metadata: Metadata<'a>,
}

#[derive(Deserialize)]
struct Metadata<'a> {
    #[serde(borrow, default)]
    uid: Cow<'a, str>,
}

fn is_wanted(own: &Connection, connection: Option<u64>, resource: Option<&str>) -> bool {
    connection.is_none_or(|number| number == own.number) && resource.is_none_or(|resource| resource == own.resource)
}

fn push<T>(list: &Mutex<VecDeque<T>>, item: T, most: usize) {
    let mut list = lock(list);
    if list.len() == most {
        list.pop_front();
    }
    list.push_back(item);
}

fn lock<T>(list: &Mutex<T>) -> MutexGuard<'_, T> {
    // No code panics between two changes that belong together, so the list behind a poisoned lock is consistent.
    list.lock().unwrap_or_else(PoisonError::into_inner)
}
