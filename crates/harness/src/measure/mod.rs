//! What the benchmarks measure in common.

/// How long it takes from the acknowledgement of a write to the cell that shows it.
#[cfg(feature = "browser")]
pub mod freshness;
/// The browser's figures for a page.
#[cfg(feature = "browser")]
pub mod metrics;
/// The processor time of a browser's processes.
#[cfg(feature = "browser")]
pub mod processes;
/// Medians and other quantiles.
pub mod quantile;
/// The timers, frames and requests of a page.
#[cfg(feature = "browser")]
pub mod wakes;
