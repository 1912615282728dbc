//! The moments in the ledger.

use kubechurn_client::record::time::Time;
use serde::{Serialize, Serializer};

use crate::clock;

/// A moment, written to the microsecond: `2026-11-21T08:14:24.123456Z`. It is the machine's, whatever the cluster's
/// clock says.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stamp(pub Time);

impl Stamp {
    /// This moment.
    pub fn now() -> Self {
        Self(clock::unskewed())
    }
}

impl Serialize for Stamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&clock::micro_time(self.0))
    }
}
