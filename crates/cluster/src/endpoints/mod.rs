//! What a request goes through: guards, paths, options, and the handlers of reads.

pub mod base64;
pub mod binding;
pub mod body;
pub mod discovery;
pub mod eviction;
pub mod list;
pub mod openapi;
pub mod options;
pub mod paging;
pub mod protobuf;
pub mod scale;
pub mod server;
pub mod status;
pub mod target;
pub mod watch;
