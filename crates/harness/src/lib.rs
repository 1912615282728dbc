//! What tests and benchmarks have in common: real processes, a real browser, and an independent judgement of what the page
//! should show.
//!
//! Without the feature `browser` there is only what the tests of the demo cluster need: processes that cannot outlive their
//! test, ports, programs, and waiting.

#![allow(clippy::unwrap_used, missing_docs)] // Only tests stand on it, and one that panics has said what it has to say.

pub mod measure;
pub mod ports;
pub mod process;
pub mod tools;
pub mod wait;

#[cfg(feature = "browser")]
pub mod bench_page;
#[cfg(feature = "browser")]
pub mod browser;
#[cfg(feature = "browser")]
pub mod cluster;
#[cfg(feature = "browser")]
pub mod faults;
#[cfg(feature = "browser")]
pub mod judge;
#[cfg(feature = "browser")]
pub mod kubectl;
#[cfg(feature = "browser")]
pub mod page;
#[cfg(feature = "browser")]
pub mod proxy;
#[cfg(feature = "browser")]
pub mod relay;
#[cfg(feature = "browser")]
pub mod truth;
#[cfg(feature = "browser")]
pub mod turn;
