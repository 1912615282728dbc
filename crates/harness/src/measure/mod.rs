//! What the benchmarks measure in common.

/// From a write's acknowledgement to the cell that shows it.
#[cfg(feature = "browser")]
pub mod freshness;
/// What the browser says of a page.
#[cfg(feature = "browser")]
pub mod metrics;
/// Medians and worse.
pub mod quantile;
