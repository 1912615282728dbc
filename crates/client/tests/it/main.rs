//! The client from outside: conversations with a server, recordings of a real one, and random histories.

#![allow(clippy::unwrap_used)] // A test that panics has said what it has to say.

/// The queues against what client-go's own did.
mod client_go;
/// The store compared with what the server holds at the same version.
mod consistency;
/// Whole conversations with a server. Each test is named after the fault in it.
mod conversations;
/// What a handler is notified of while a first list comes.
mod first_list;
/// Several watches and one heartbeat, with sockets that are open but dead.
mod heartbeat;
/// Random histories and faults leave the store equal to a plain map.
mod histories;
/// The recording of a real cluster, at several drain sizes.
mod rollout;
/// The recorded watches that fail or end.
mod watch_errors;
/// Random work on a work queue loses nothing.
mod work_queue;
