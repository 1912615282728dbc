//! Everything that touches the browser's clock, network and frames. It carries out what the core decides.

pub mod base;
pub mod clock;
pub mod discovery;
pub mod driver;
pub mod fetch;
pub mod frame;
pub mod lister_watcher;
pub mod socket;
pub mod text;
pub mod watchdog;
