//! Everything that touches the browser's clock, network, storage and frames. It carries out what the core decides.

pub mod base;
pub mod clipboard;
pub mod clock;
pub mod discovery;
pub mod download;
pub mod driver;
pub mod fetch;
pub mod frame;
pub mod heartbeat;
pub mod lister_watcher;
pub mod location;
pub mod policy;
pub mod private_files;
pub mod recording;
pub mod socket;
pub mod storage;
pub mod task;
pub mod text;
pub mod watchdog;

/// The document that the page is in.
pub fn document() -> Option<web_sys::Document> {
    web_sys::window().and_then(|window| window.document())
}
