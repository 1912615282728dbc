//! Keeps every version of every object that was received, so that any of them can be read back, to the byte.
//!
//! A version costs the bytes in which it differs from the version of the same object before it ([`difference`]), and the
//! first one those in which it differs from an object that resembles it: of the same owner, or of the same resource.
//! Everything is within one budget. What is oldest goes first, and what is dull before what is not: see [`Recorder`].

#![warn(missing_docs)]

mod alike;
pub mod difference;
mod lives;
mod log;
mod past;
mod recorder;
mod texts;

pub use lives::Life;
pub use log::Record;
pub use past::{Past, Then};
pub use recorder::{BUDGET, Interest, NewVersion, Pushed, Recorder, Stored, Totals};
