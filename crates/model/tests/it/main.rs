//! What is shown, from the server's words to the row: on the client's informers, with the decoders of real kinds.

#![allow(clippy::unwrap_used)] // A test that panics has said what it has to say.

/// What the page writes down of the way of the data.
mod audit;
/// Whatever a broken or hostile server may say, and the end that it has.
mod bad_input;
/// Every kind's columns against the tables that a real API server printed, and against damaged objects.
mod columns;
/// What the fuzzers found worth keeping, replayed.
mod fuzz;
/// Informers, their handlers, their factory, and two queues side by side.
mod informers;
/// How far a first list has come, and of how many.
mod listing;
/// What the queue takes of memory.
mod memory;
/// The whole page without a browser.
mod page;
/// What is watched and in view, for the tests of both.
mod play;
/// The page checks itself against the server.
mod verify;
/// One kind or several in one table and on one timeline.
mod views;
/// The page as handlers of shared informers.
mod watched;
