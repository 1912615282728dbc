//! What tests and benchmarks have in common: real processes, a real browser, and an independent judgement of what the page
//! should show.
//!
//! Without a feature there is only what the tests of the demo cluster need: processes that cannot outlive their test, ports,
//! programs, and waiting.

#![allow(clippy::unwrap_used)] // Only tests stand on it, and one that panics has said what it has to say.

pub mod measure;
pub mod ports;
pub mod process;
pub mod tools;
pub mod wait;

#[cfg(feature = "browser")]
pub mod bench_page;
#[cfg(feature = "browser")]
pub mod browser;
#[cfg(feature = "cluster")]
pub mod cluster;
#[cfg(feature = "browser")]
pub mod faults;
#[cfg(feature = "cluster")]
pub mod handles;
#[cfg(feature = "cluster")]
pub mod history;
#[cfg(feature = "cluster")]
pub mod judge;
#[cfg(feature = "cluster")]
pub mod kubectl;
#[cfg(feature = "browser")]
pub mod page;
#[cfg(feature = "cluster")]
pub mod proxy;
#[cfg(feature = "cluster")]
pub mod relay;
#[cfg(feature = "cluster")]
pub mod truth;
#[cfg(feature = "browser")]
pub mod turn;
