//! What a controller author knows as client-go's `tools/cache`: the way from the server's frames to a store that holds what
//! the server has.
//!
//! Nothing here reads a clock, makes random numbers or opens a socket: they are arguments. Times are milliseconds on a clock
//! that never runs backwards.

pub mod backlog;
pub mod backoff;
pub mod clock;
pub mod discovery;
pub mod lines;
pub mod reflector;
pub mod server_clock;

pub mod client_go;
pub mod complete_list;
pub mod delta;
pub mod delta_fifo;
mod keyed_slab;
pub mod queue;
pub mod real_fifo;

pub mod consistency;
pub mod journal;

pub mod index;
pub mod pipeline;
pub mod store;

pub mod factory;
pub mod handler;
pub mod heartbeat;
pub mod processor;
pub mod shared_informer;

pub mod ledger;
