//! One stream of changes shared by all watches of this process. It knows nothing of etcd: the stream is told to it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::{Notify, mpsc, watch};

use crate::storage::{Change, Changes, StorageError, WatchItem};

/// The watches, and how far the stream is.
#[derive(Debug)]
pub struct Demux {
    state: Mutex<State>,
    seen: watch::Sender<u64>,
    asked: Notify,
}

#[derive(Debug)]
struct State {
    /// The newest revision that the stream has brought, or why there is no stream.
    position: Result<u64, StorageError>,
    watches: BTreeMap<u64, Watch>,
    next_id: u64,
    /// The revisions that somebody waits for and the stream has not brought yet.
    wanted: BTreeSet<u64>,
}

#[derive(Debug)]
struct Watch {
    prefix: String,
    /// Changes up to here are not its business.
    after: u64,
    /// What the stream has brought while the watch still gets what came before; `None` once it has it all.
    held: Option<Vec<WatchItem>>,
    items: mpsc::UnboundedSender<WatchItem>,
}

/// A watch that has just begun.
#[derive(Debug)]
pub enum Joined {
    /// The stream brings all that it asked for.
    Level(Changes),
    /// The stream is beyond its start: somebody has to bring what came before.
    Behind(Changes, Latecomer),
}

/// What a watch that began too late is still owed: every change after `after`, up to `until`.
#[derive(Debug)]
pub struct Latecomer {
    id: u64,
    /// What the keys begin with.
    pub prefix: String,
    /// The first change is the next one after this revision.
    pub after: u64,
    /// The stream brings what is after this revision.
    pub until: u64,
    /// Where the changes go.
    pub items: mpsc::UnboundedSender<WatchItem>,
}

impl Watch {
    fn wants(&self, change: &Change) -> bool {
        change.revision > self.after && change.key.starts_with(&self.prefix)
    }

    /// Tells whether anybody still reads it.
    fn send(&mut self, item: WatchItem) -> bool {
        match &mut self.held {
            Some(held) => {
                held.push(item);
                !self.items.is_closed()
            }
            None => self.items.send(item).is_ok(),
        }
    }
}

impl Default for Demux {
    fn default() -> Self {
        let state = State {
            position: Err(StorageError::Unavailable("not connected yet".to_owned())),
            watches: BTreeMap::new(),
            next_id: 0,
            wanted: BTreeSet::new(),
        };
        Self { state: Mutex::new(state), seen: watch::Sender::new(0), asked: Notify::new() }
    }
}

impl Demux {
    /// Follows the newest revision that this process has seen.
    pub fn seen(&self) -> watch::Receiver<u64> {
        self.seen.subscribe()
    }

    /// Notes a revision that an answer of etcd told of.
    pub fn note(&self, revision: u64) {
        self.seen.send_if_modified(|seen| std::mem::replace(seen, revision.max(*seen)) < revision);
    }

    /// A stream is there; it brings every change after a revision.
    pub fn opened(&self, position: u64) {
        self.lock().position = Ok(position);
        self.note(position);
    }

    /// The stream is lost: every watch ends, and none can begin until the next one is opened.
    pub fn closed(&self, error: &StorageError) {
        let mut state = self.lock();
        state.position = Err(error.clone());
        state.wanted.clear();
        for watch in std::mem::take(&mut state.watches).into_values() {
            // Who no longer reads has nothing to begin anew.
            let _ = watch.items.send(WatchItem::Failed(error.clone()));
        }
    }

    /// The stream has brought these, and with them everything up to a revision.
    pub fn bring(&self, changes: &[Change], position: u64) {
        let mut state = self.lock();
        state.watches.retain(|_, watch| {
            changes.iter().all(|one| !watch.wants(one) || watch.send(WatchItem::Change(one.clone())))
        });
        state.position = Ok(position);
        let still_wanted = state.wanted.split_off(&(position + 1));
        if !std::mem::replace(&mut state.wanted, still_wanted).is_empty() {
            state.tell(position);
        }
        drop(state);
        self.note(position);
    }

    /// Begins a watch on the keys that begin with `prefix`, from the first change after a revision.
    pub fn join(&self, prefix: &str, after: u64) -> Result<Joined, StorageError> {
        let mut state = self.lock();
        let position = state.position.clone()?;
        let (items, changes) = mpsc::unbounded_channel();
        let id = state.next_id;
        state.next_id += 1;
        let behind = after < position;
        let held = behind.then(Vec::new);
        let watch = Watch { prefix: prefix.to_owned(), after: after.max(position), held, items: items.clone() };
        state.watches.insert(id, watch);
        let latecomer = Latecomer { id, prefix: prefix.to_owned(), after, until: position, items };
        Ok(if behind { Joined::Behind(changes, latecomer) } else { Joined::Level(changes) })
    }

    /// A latecomer has got all that it was owed, or cannot get it; then it ends with the error.
    pub fn release(&self, latecomer: &Latecomer, result: Result<(), StorageError>) {
        let mut state = self.lock();
        // One that is gone already was told why.
        let Some(watch) = state.watches.get_mut(&latecomer.id) else { return };
        let held = watch.held.take().unwrap_or_default();
        match result {
            Ok(()) => {
                for item in held {
                    watch.send(item);
                }
            }
            Err(error) => {
                watch.send(WatchItem::Failed(error));
                state.watches.remove(&latecomer.id);
            }
        }
    }

    /// Tells all watches how far the stream is, at once or when it has brought this revision.
    pub fn request(&self, revision: u64) {
        let mut state = self.lock();
        match state.position {
            Ok(position) if position >= revision => state.tell(position),
            Ok(_) => {
                state.wanted.insert(revision);
                self.asked.notify_one();
            }
            // The watches have ended.
            Err(_) => {}
        }
    }

    /// Resolves when somebody has asked for a revision that the stream has not brought.
    pub async fn asked(&self) {
        self.asked.notified().await;
    }

    /// Whether somebody waits for a revision that exists, `newest` being the newest. Whoever waits for one that is
    /// still to come is forgotten: he asks again.
    pub fn is_owing(&self, newest: u64) -> bool {
        let mut state = self.lock();
        state.wanted.split_off(&(newest + 1));
        !state.wanted.is_empty()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // No code panics between two changes that belong together, so a poisoned state is a whole one.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn tell(&mut self, position: u64) {
        self.watches.retain(|_, watch| watch.send(WatchItem::Progress(position)));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn change(key: &str, revision: u64) -> Change {
        Change { key: key.into(), revision, value: Some(Arc::from("")), previous: None }
    }

    /// What has come by now: changes as `key@revision`.
    fn came(changes: &mut Changes) -> Vec<String> {
        let text = |item| match item {
            WatchItem::Change(change) => format!("{}@{}", change.key, change.revision),
            WatchItem::Progress(revision) => format!("progress {revision}"),
            WatchItem::Failed(error) => error.to_string(),
        };
        std::iter::from_fn(|| changes.try_recv().ok()).map(text).collect()
    }

    fn level(demux: &Demux, prefix: &str, after: u64) -> Changes {
        match demux.join(prefix, after) {
            Ok(Joined::Level(changes)) => changes,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn each_watch_gets_its_own_keys_after_its_own_start() {
        let demux = Demux::default();
        demux.opened(10);
        let (mut all, mut some, mut later) = (level(&demux, "/", 10), level(&demux, "/a/", 10), level(&demux, "/", 12));
        demux.bring(&[change("/a/x", 11), change("/b/x", 12)], 12);
        demux.bring(&[change("/a/y", 13)], 13);
        assert_eq!(came(&mut all), ["/a/x@11", "/b/x@12", "/a/y@13"]);
        assert_eq!(came(&mut some), ["/a/x@11", "/a/y@13"]);
        assert_eq!(came(&mut later), ["/a/y@13"]);
        assert_eq!(*demux.seen().borrow(), 13);
    }

    #[test]
    fn a_latecomer_gets_what_came_before_first() {
        let demux = Demux::default();
        demux.opened(10);
        let Ok(Joined::Behind(mut changes, latecomer)) = demux.join("/a/", 8) else { panic!("it is level") };
        assert_eq!((latecomer.after, latecomer.until), (8, 10));
        demux.bring(&[change("/a/x", 11)], 11);
        demux.request(11);
        latecomer.items.send(WatchItem::Change(change("/a/w", 9))).unwrap();
        demux.release(&latecomer, Ok(()));
        demux.bring(&[change("/a/y", 12)], 12);
        assert_eq!(came(&mut changes), ["/a/w@9", "/a/x@11", "progress 11", "/a/y@12"]);
    }

    #[test]
    fn progress_is_told_when_the_stream_has_come_so_far_and_not_before() {
        let demux = Demux::default();
        demux.opened(10);
        let mut changes = level(&demux, "/a/", 10);
        demux.request(9);
        demux.request(12);
        demux.request(50);
        assert_eq!(came(&mut changes), ["progress 10"]);
        demux.bring(&[change("/b/x", 11)], 11);
        assert!(came(&mut changes).is_empty());
        demux.bring(&[change("/b/y", 12)], 12);
        assert_eq!(came(&mut changes), ["progress 12"]);
        assert!(!demux.is_owing(40), "50 is still to come, and forgotten");
        demux.bring(&[], 60);
        assert!(came(&mut changes).is_empty());
    }

    #[test]
    fn a_lost_stream_ends_every_watch_and_lets_none_begin() {
        let demux = Demux::default();
        let lost = StorageError::Unavailable("lost".to_owned());
        demux.opened(10);
        let mut changes = level(&demux, "/", 10);
        let Ok(Joined::Behind(mut late, latecomer)) = demux.join("/", 8) else { panic!("it is level") };
        demux.closed(&lost);
        demux.release(&latecomer, Ok(()));
        for changes in [&mut changes, &mut late] {
            assert_eq!(came(changes), [lost.to_string()]);
            assert!(changes.is_closed() || changes.try_recv().is_err());
        }
        assert_eq!(demux.join("/", 10).err(), Some(lost));
        demux.opened(20);
        level(&demux, "/", 20);
    }
}
