//! How much of the feed is kept.

use kubechurn_changes::feed::Limits;

/// How much of the feed is kept.
pub(super) const LIMITS: Limits = Limits { rows: 2_000, lines: 6_000, bytes: 8 << 20 };
