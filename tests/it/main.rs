//! The integration tests, in one binary; what plays in the page itself has its own.

#![allow(clippy::unwrap_used)] // A test that panics has said what it has to say.

/// The language of the conversations: what the server says, and what is expected of us.
mod talk;

/// What the page writes down of the way of the data.
mod audit;
/// Whatever a broken or hostile server may say, and the end that it has.
mod bad_input;
/// What the page is built from.
mod built_page;
/// The table of rules and their tests, in docs/checklist.md.
mod checklist;
/// Every kind's columns against the tables that a real API server printed, and against damaged objects.
mod columns;
/// What is held compared with what the server holds at the same version.
mod consistency;
/// Whole conversations with a server, each named after its fault.
mod conversations;
/// What the fuzzers found worth keeping, replayed.
mod fuzz;
/// Several watches, one heartbeat, and sockets that only seem to live.
mod heartbeat;
/// Informers, their handlers, their factory, and two queues side by side.
mod informers;
/// Several kinds in one table and on one timeline.
mod joint;
/// How far a first list has come, and of how many.
mod listing;
/// What the queue takes of memory.
mod memory;
/// Random histories and faults leave the store equal to a plain map.
mod model;
/// The ways in which the code is broken to test the tests.
mod mutants;
/// The recording of a real cluster, at several drain sizes.
mod rollout;
/// Who may depend on whom, what may not be written, and how long a file may be.
mod tidy;
/// The page checks itself against the server.
mod verify;
/// The recorded watches that fail or end.
mod watch_errors;
/// The page as handlers of shared informers.
mod watched;
/// Random work on a work queue loses nothing.
mod work_queue;
