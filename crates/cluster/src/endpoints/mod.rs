//! The handlers of reads, and of the subresources that are no plain writes.

pub mod binding;
pub mod discovery;
pub mod eviction;
pub mod list;
pub mod openapi;
pub mod scale;
pub mod server;
pub mod watch;
