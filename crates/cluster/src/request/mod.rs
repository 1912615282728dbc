//! Parses requests: path, options, body, and whether a WebSocket is asked for. Nothing here answers a request.

pub mod body;
pub mod options;
pub mod paging;
pub mod protobuf;
pub mod target;
pub mod websocket;
