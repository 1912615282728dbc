//! Switches that stop running watches from outside: each resource's can be cut, and all held still.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

use crate::resources::resource::Resource;

/// The switches. A watch reads them as long as it runs, and keeps them alive.
#[derive(Debug)]
pub struct Switches {
    /// By the resources' ids; who watches a resource has an entry.
    cuts: Mutex<HashMap<usize, watch::Sender<u64>>>,
    stalled: watch::Sender<bool>,
}

impl Default for Switches {
    fn default() -> Self {
        Self { cuts: Mutex::default(), stalled: watch::Sender::new(false) }
    }
}

impl Switches {
    /// Drops every watch of a resource.
    pub fn cut(&self, resource: &Resource) {
        if let Some(cuts) = self.lock().get(&resource.id) {
            cuts.send_modify(|count| *count += 1);
        }
    }

    /// Drops every watch.
    pub fn cut_all(&self) {
        self.lock().values().for_each(|cuts| cuts.send_modify(|count| *count += 1));
    }

    /// Changes once the watches of a resource are dropped.
    pub fn cuts(&self, resource: &Resource) -> watch::Receiver<u64> {
        self.lock().entry(resource.id).or_insert_with(|| watch::Sender::new(0)).subscribe()
    }

    /// How many watches of a resource there are.
    pub fn watches(&self, resource: &Resource) -> usize {
        self.lock().get(&resource.id).map_or(0, watch::Sender::receiver_count)
    }

    /// Stops sending anything, or starts again.
    pub fn stall(&self, on: bool) {
        self.stalled.send_replace(on);
    }

    /// Whether nothing is sent.
    pub fn stalled(&self) -> watch::Receiver<bool> {
        self.stalled.subscribe()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<usize, watch::Sender<u64>>> {
        self.cuts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
