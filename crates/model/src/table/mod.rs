//! A table of one or several kinds: its columns, its rows, and the view of them that is on the screen.

pub mod command_line;
pub mod cursor;
pub mod direction;
pub mod export;
pub mod filter;
pub mod layout;
pub mod order;
pub mod pointer;
pub mod schema;
pub mod view;
