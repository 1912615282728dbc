//! Faults on demand: which requests are refused, which connections are cut, whether anything is sent at all.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use tokio::sync::watch;

use super::resource::Resource;

/// A live watch that is further behind than this is closed, as the real server closes a slow consumer.
const DEFAULT_BACKLOG: usize = 4096;

/// The switches; the control endpoints turn them.
#[derive(Debug)]
pub struct Faults {
    forbidden: Mutex<HashSet<(String, usize)>>,
    /// By the resources' ids; who watches a resource has an entry.
    cuts: Mutex<HashMap<usize, watch::Sender<u64>>>,
    stalled: watch::Sender<bool>,
    backlog: AtomicUsize,
}

impl Default for Faults {
    fn default() -> Self {
        Self {
            forbidden: Mutex::default(),
            cuts: Mutex::default(),
            stalled: watch::Sender::new(false),
            backlog: AtomicUsize::new(DEFAULT_BACKLOG),
        }
    }
}

impl Faults {
    /// Refuses a verb on a resource, and cuts its watches: whoever watches comes back and is refused.
    pub fn forbid(&self, verb: &str, resource: &Resource) {
        self.lock().insert((verb.to_owned(), resource.id));
        self.cut(resource);
    }

    /// Takes a refusal back.
    pub fn allow(&self, verb: &str, resource: &Resource) {
        self.lock().remove(&(verb.to_owned(), resource.id));
    }

    /// Whether a verb on a resource is refused.
    pub fn is_forbidden(&self, verb: &str, resource: &Resource) -> bool {
        // The key is a pair of owned values; the set is almost always empty.
        self.lock().iter().any(|(refused, id)| refused == verb && *id == resource.id)
    }

    /// Drops every watch of a resource.
    pub fn cut(&self, resource: &Resource) {
        if let Some(cuts) = self.lock_cuts().get(&resource.id) {
            cuts.send_modify(|count| *count += 1);
        }
    }

    /// Drops every watch.
    pub fn cut_all(&self) {
        self.lock_cuts().values().for_each(|cuts| cuts.send_modify(|count| *count += 1));
    }

    /// Changes once the watches of a resource are dropped.
    pub fn cuts(&self, resource: &Resource) -> watch::Receiver<u64> {
        self.lock_cuts().entry(resource.id).or_insert_with(|| watch::Sender::new(0)).subscribe()
    }

    /// Stops sending anything, or starts again.
    pub fn stall(&self, on: bool) {
        self.stalled.send_replace(on);
    }

    /// Whether nothing is sent.
    pub fn stalled(&self) -> watch::Receiver<bool> {
        self.stalled.subscribe()
    }

    /// Closes live watches that are further behind than so many events.
    pub fn set_backlog(&self, events: usize) {
        self.backlog.store(events, Ordering::Relaxed);
    }

    /// How far behind a live watch may be.
    pub fn backlog(&self) -> usize {
        self.backlog.load(Ordering::Relaxed)
    }

    fn lock_cuts(&self) -> std::sync::MutexGuard<'_, HashMap<usize, watch::Sender<u64>>> {
        self.cuts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashSet<(String, usize)>> {
        self.forbidden.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
