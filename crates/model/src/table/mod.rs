//! A table of one or several kinds: its columns as data, its rows, and the view of them that is on the screen.

pub mod column;
pub mod custom;
pub mod filter;
mod json;
pub mod jsonpath;
pub mod kinds;
pub mod order;
pub mod schema;
pub mod view;
