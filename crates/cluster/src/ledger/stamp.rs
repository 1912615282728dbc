//! The times in the ledger.

use kubechurn_client::record::time::Time;
use serde::{Serialize, Serializer};

use crate::clock;

/// A time to the microsecond: `2026-11-21T08:14:24.123456Z`. It is the time of the machine, without the skew of the
/// cluster's clock.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stamp(pub Time);

impl Stamp {
    /// The current time.
    pub fn now() -> Self {
        Self(clock::unskewed())
    }
}

impl Serialize for Stamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&clock::micro_time(self.0))
    }
}
