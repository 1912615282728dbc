//! Switches that a test uses to stop running watches: the watches of one resource can be dropped, and all can be
//! stalled.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

use crate::resources::resource::Resource;

/// The switches. Every watch reads them while it runs, and keeps them alive.
#[derive(Debug)]
pub struct Switches {
    /// By the id of the resource. A resource has an entry once it is watched.
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

    /// A receiver that changes when the watches of a resource are dropped.
    pub fn cuts(&self, resource: &Resource) -> watch::Receiver<u64> {
        self.lock().entry(resource.id).or_insert_with(|| watch::Sender::new(0)).subscribe()
    }

    /// The number of watches of a resource.
    pub fn watches(&self, resource: &Resource) -> usize {
        self.lock().get(&resource.id).map_or(0, watch::Sender::receiver_count)
    }

    /// Stalls all watches, or lets them send again.
    pub fn stall(&self, on: bool) {
        self.stalled.send_replace(on);
    }

    /// A receiver that says whether the watches are stalled.
    pub fn stalled(&self) -> watch::Receiver<bool> {
        self.stalled.subscribe()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<usize, watch::Sender<u64>>> {
        self.cuts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
