//! Distributes one stream of changes to all watches of this process. It does not depend on etcd: the stream is fed in.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::{Notify, mpsc, watch};

use crate::storage::{Change, Changes, StorageError, WatchItem};

/// The watches, and the position of the stream.
#[derive(Debug)]
pub struct Demux {
    state: Mutex<State>,
    seen: watch::Sender<u64>,
    asked: Notify,
}

#[derive(Debug)]
struct State {
    /// The newest revision that the stream has reached, or the error while there is no stream.
    position: Result<u64, StorageError>,
    watches: BTreeMap<u64, Watch>,
    next_id: u64,
    /// The revisions that were requested and the stream has not reached yet.
    wanted: BTreeSet<u64>,
}

#[derive(Debug)]
struct Watch {
    prefix: String,
    /// Changes up to this revision are skipped.
    after: u64,
    /// The items of the stream while the watch still receives earlier changes; `None` once it is level with the stream.
    held: Option<Vec<WatchItem>>,
    items: mpsc::UnboundedSender<WatchItem>,
}

/// A watch that has just been registered.
#[derive(Debug)]
pub enum Joined {
    /// The stream brings everything that the watch asked for.
    Level(Changes),
    /// The stream is past the start of the watch: the earlier changes must come from elsewhere.
    Behind(Changes, Latecomer),
}

/// The changes that a watch misses because it began too late: those after `after`, up to `until`.
#[derive(Debug)]
pub struct Latecomer {
    id: u64,
    /// The prefix of the keys.
    pub prefix: String,
    /// The changes begin after this revision.
    pub after: u64,
    /// The changes end with this revision; later ones come from the stream.
    pub until: u64,
    /// The channel for the changes.
    pub items: mpsc::UnboundedSender<WatchItem>,
}

impl Watch {
    fn wants(&self, change: &Change) -> bool {
        change.revision > self.after && change.key.starts_with(&self.prefix)
    }

    /// Sends an item; returns whether the receiver still exists.
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
    /// A receiver of the newest revision that this process has seen.
    pub fn seen(&self) -> watch::Receiver<u64> {
        self.seen.subscribe()
    }

    /// Records a revision from an answer of etcd.
    pub fn note(&self, revision: u64) {
        self.seen.send_if_modified(|seen| std::mem::replace(seen, revision.max(*seen)) < revision);
    }

    /// Called when a stream is open; it brings every change after a revision.
    pub fn opened(&self, position: u64) {
        self.lock().position = Ok(position);
        self.note(position);
    }

    /// Called when the stream is lost: every watch ends, and none can begin until the next stream is open.
    pub fn closed(&self, error: &StorageError) {
        let mut state = self.lock();
        state.position = Err(error.clone());
        state.wanted.clear();
        for watch in std::mem::take(&mut state.watches).into_values() {
            // A receiver that was dropped need not be notified.
            let _ = watch.items.send(WatchItem::Failed(error.clone()));
        }
    }

    /// Distributes the next changes of the stream, which is then complete up to `position`.
    pub fn bring(&self, changes: &[Change], position: u64) {
        let mut state = self.lock();
        state.watches.retain(|_, watch| {
            changes.iter().all(|one| !watch.wants(one) || watch.send(WatchItem::Change(one.clone())))
        });
        state.position = Ok(position);
        let still_wanted = state.wanted.split_off(&(position + 1));
        if !std::mem::replace(&mut state.wanted, still_wanted).is_empty() {
            state.notify(position);
        }
        drop(state);
        self.note(position);
    }

    /// Registers a watch of the keys that begin with `prefix`, from the first change after a revision.
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

    /// Ends the catching up of a latecomer, or ends its watch with the error.
    pub fn release(&self, latecomer: &Latecomer, result: Result<(), StorageError>) {
        let mut state = self.lock();
        // A watch that is gone was sent the reason.
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

    /// Notifies all watches of the position of the stream, at once or when it has reached this revision.
    pub fn request(&self, revision: u64) {
        let mut state = self.lock();
        match state.position {
            Ok(position) if position >= revision => state.notify(position),
            Ok(_) => {
                state.wanted.insert(revision);
                self.asked.notify_one();
            }
            // The watches have ended.
            Err(_) => {}
        }
    }

    /// Resolves when a revision was requested that the stream has not reached.
    pub async fn asked(&self) {
        self.asked.notified().await;
    }

    /// Whether a requested revision that exists is still missing, where `newest` is the newest. Requests for future
    /// revisions are dropped; they will be repeated.
    pub fn is_owing(&self, newest: u64) -> bool {
        let mut state = self.lock();
        state.wanted.split_off(&(newest + 1));
        !state.wanted.is_empty()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // No code panics between two changes that belong together, so the state behind a poisoned lock is consistent.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn notify(&mut self, position: u64) {
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

    /// The items that have arrived so far, as `key@revision`.
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
    fn progress_is_reported_when_the_stream_has_come_so_far_and_not_before() {
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
