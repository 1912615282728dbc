//! The page without a browser: what it watches, where the user is, and what it says of itself. All of it pure.

pub mod catalog;
pub mod command_line;
pub mod counters;
pub mod cursor;
pub mod definitions;
pub mod desks;
pub mod direction;
pub mod drain;
pub mod export;
pub mod history;
pub mod inspector;
pub mod joint;
pub mod keys;
pub mod layout;
pub mod listing;
pub mod notices;
pub mod palette;
pub mod rail;
pub mod report;
pub mod route;
pub mod selectors;
pub mod sheet;
pub mod speech;
pub mod verify;
pub mod watched;
