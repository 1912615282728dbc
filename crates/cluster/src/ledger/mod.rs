//! The server's own account of what was written, and of what was sent to whom, for whoever wants to compare it with
//! what was seen.
//!
//! The newest of it is kept in memory and asked for at `/_control/log`, `/_control/frames` and
//! `/_control/connections`; all of it goes to the file of `--ledger`, in lines of JSON with a field `record`: `write`,
//! `open`, `frame`, `close`, `list` or `restart`. A frame is written down before it is sent, so what a client has seen
//! is there already; what was sent last before a connection broke may not have arrived. The watches of the cluster's own
//! controllers are no connections, and are not in it.

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

/// So many writes are remembered.
const WRITES: usize = 200_000;
/// So many frames, of all connections.
const FRAMES: usize = 100_000;
/// So many connections.
const CONNECTIONS: usize = 10_000;
/// Whoever asks for the newest write waits so long for it.
const PATIENCE: Duration = Duration::from_secs(20);
/// A storage that fails is asked again after this.
const RETRY: Duration = Duration::from_millis(100);

/// The account.
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
    /// Begins to follow a storage, from the first write after a revision.
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

    /// The writes of one resource, or all, when everything up to a revision is in.
    pub async fn writes(&self, resource: Option<&Resource>, revision: u64) -> Vec<Write> {
        let mut reached = self.reached.subscribe();
        let _ = tokio::time::timeout(PATIENCE, reached.wait_for(|reached| *reached >= revision)).await;
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

    /// Writes down that a watch is accepted.
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

    /// Writes down what a list is answered.
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
                // Also what a storage says that has begun anew, perhaps with lower revisions.
                after = oldest;
                self.reached.send_replace(oldest);
                self.file.permit().await.send(|| vec![Record::Restart { revision: oldest }]);
            } else {
                tokio::time::sleep(RETRY).await;
            }
        }
    }

    /// Writes down what a watch of the storage brings; answers why it has ended.
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
        // Group, plural and key.
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

/// What the ledger reads of a stored text.
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
    // Nothing panics between two changes that belong together.
    list.lock().unwrap_or_else(PoisonError::into_inner)
}
