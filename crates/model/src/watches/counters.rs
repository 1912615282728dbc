//! How many changes of each kind the store has seen.

use serde::Serialize;

use kubechurn_client::cache::handler::{Handled, ResourceEventHandler};
use kubechurn_client::cache::store::Change;

/// Counts since the watch of the kind began. Objects that the store held at that moment count as added.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counters {
    /// Objects that appeared.
    pub added: u64,
    /// New versions of objects.
    pub updated: u64,
    /// Objects that a resync or a list repeated without a change.
    pub synced: u64,
    /// Objects that disappeared.
    pub deleted: u64,
}

impl Counters {
    /// The sum of both.
    #[must_use]
    pub fn plus(self, other: Counters) -> Counters {
        Counters {
            added: self.added + other.added,
            updated: self.updated + other.updated,
            synced: self.synced + other.synced,
            deleted: self.deleted + other.deleted,
        }
    }
}

impl ResourceEventHandler for Counters {
    fn changed(&mut self, _now: f64, change: &Change) -> Handled {
        let counter = match change {
            Change::Added { .. } => &mut self.added,
            Change::Updated { .. } => &mut self.updated,
            Change::Synced { .. } => &mut self.synced,
            Change::Deleted { .. } => &mut self.deleted,
        };
        *counter += 1;
        Ok(())
    }
}
