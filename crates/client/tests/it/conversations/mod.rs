//! Whole conversations with a server. Each test is named after the fault in it.

mod doubts; // What of it cannot be believed, or not be read.
mod lists; // How the first list and every relist come to their end, in pages.
mod permissions; // What is forbidden, and what becomes allowed.
mod pieces; // Lists that are read as they come, and those that break in the middle.
mod queue; // Events against a queue that is drained late, twice or in the middle.
mod sockets; // Openings, endings and silences.
mod streams; // How they come to their end, streamed.
mod unreadable; // An API whose answers over HTTP a browser keeps from the page.
mod watches; // What comes over a watch.
