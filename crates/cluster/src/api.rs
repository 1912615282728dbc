//! The state that the handlers of requests share.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::faults::Faults;
use crate::ledger::Ledger;
use crate::log_ends::LogEnds;
use crate::random::Random;
use crate::resources::registry::Registry;
use crate::store::Store;

/// The objects and the resources of one server, and the faults between them and a client.
#[derive(Debug)]
pub struct Api {
    /// The objects.
    pub store: Arc<Store>,
    /// The resources that are served.
    pub registry: Registry,
    /// Records what was written.
    pub ledger: Arc<Ledger>,
    /// The faults that are switched on.
    pub faults: Arc<Faults>,
    /// The time between two bookmarks of one watch.
    pub bookmark_every: Duration,
    /// When the last lines of logs were written.
    pub log_ends: Arc<LogEnds>,
    /// Counts the watches without a timeout, for [`Self::random_timeout`].
    pub watches: AtomicU64,
}

impl Api {
    /// A random duration from 30 to 60 minutes: how long a watch without a timeout lasts.
    pub fn random_timeout(&self) -> Duration {
        let mut random = Random::new(self.watches.fetch_add(1, Ordering::Relaxed));
        Duration::from_secs(random.between(1800, 3600) as u64)
    }
}
