//! What a controller author knows as client-go's `tools/record`: what happened is sent to everyone who watches, and kept at the
//! API server as Events, without flooding it.
//!
//! Nothing here writes to a server, waits, reads a clock or makes random numbers. Durations are milliseconds on a clock that never runs
//! backwards; the times inside Events are wall time.

pub mod broadcaster;
pub mod correlator;
pub mod event;
pub mod lru;
pub mod recorder;
pub mod sink;
pub mod time;
