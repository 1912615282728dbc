//! The columns of every kind, and how an object's text becomes the cells of a row: what a frame goes through between the
//! client and the table.
//!
//! - [`kinds`] are the kinds that have columns here, as data, with their decoders; [`column`] is one column.
//! - [`custom`] makes columns of a definition's, and [`jsonpath`] follows their paths.
//! - [`state`] is what the columns say of the state that an object is in.
//!
//! This is a crate of its own because it is built for speed, and what shows the cells is built for size; and because the
//! demo cluster, which prints the same cells as a server does, needs no more of the page than this.
//! No socket, clock, randomness or view is known here.

#![warn(missing_docs)]

pub mod column;
pub mod custom;
pub mod jsonpath;
pub mod kinds;
pub mod state;
