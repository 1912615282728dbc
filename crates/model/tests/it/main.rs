//! What is shown, from the server's frames to the row: on the client's informers, with the decoders of real kinds.

#![allow(clippy::unwrap_used)] // A test that panics has said what it has to say.

/// The log of how data moves through the page.
mod audit;
/// Whatever a broken or hostile server may send, and the outcome of it.
mod bad_input;
/// Every kind's columns against the tables that a real API server printed, and against damaged objects.
mod columns;
/// The inputs that the fuzzers found, replayed.
mod fuzz;
/// Informers, their handlers, their factory, and two queues side by side.
mod informers;
/// An informer from the inside, step by step.
mod inside;
/// Lanes of the timeline in groups.
mod lanes;
/// The progress of a first list.
mod listing;
/// Logs of containers, line by line.
mod logs;
/// One word and one meaning for a state, wherever it is shown.
mod meanings;
/// The memory that the queue takes.
mod memory;
/// The whole page without a browser.
mod page;
/// What is watched and in view, for the tests of both.
mod play;
/// A first list on its way.
mod provisional;
mod rewind;
/// Rollouts, and the lives of Pods.
mod rollout;
/// The page checks itself against the server.
mod verify;
/// One kind or several in one table and on one timeline.
mod views;
/// The page as handlers of shared informers.
mod watched;
