//! A table of one kind: its columns as data, its rows, and the view of them that is on the screen.

pub mod column;
pub mod filter;
pub mod kinds;
pub mod order;
pub mod view;
