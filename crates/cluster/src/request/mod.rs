//! What a request asks for: its path, its options, its body, and whether it wants a WebSocket. Nothing here knows an
//! answer.

pub mod body;
pub mod options;
pub mod paging;
pub mod protobuf;
pub mod target;
pub mod websocket;
