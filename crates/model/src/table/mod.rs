//! A table of one or several kinds: its columns, its rows, and the view of them that is on the screen.

pub mod filter;
pub mod order;
pub mod schema;
pub mod view;
