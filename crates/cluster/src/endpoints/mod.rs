//! The handlers of reads, and of the subresources that need more than a plain write.

pub mod binding;
pub mod connection;
pub mod discovery;
pub mod discovery_controller;
pub mod eviction;
pub mod list;
pub mod log;
pub mod openapi;
pub mod scale;
pub mod watch;
