//! Everything that runs natively and goes through more than one module, in one binary.

#![allow(clippy::unwrap_used)] // A test that panics has said what it has to say.

mod talk; // The language of the conversations: what the server says, and what is expected of us.

mod conversations; // Whole conversations with a server, each named after its fault.
mod model; // Random histories and faults leave the store equal to a plain map.
mod rollout; // The recording of a real cluster, at several drain sizes.
mod tidy; // Who may depend on whom, and how long a file may be.
mod watch_errors; // The recorded watches that fail or end.
