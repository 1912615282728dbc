//! What a controller author knows as client-go's `tools/cache`: from the wire to a store that is true.
//!
//! Nothing here reads a clock, rolls dice or touches a socket. Times are milliseconds on a clock that never
//! runs backwards.

pub mod backoff;
pub mod delta;
pub mod delta_fifo;
pub mod informer;
pub mod ledger;
pub mod reflector;
pub mod store;
