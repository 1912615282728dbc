//! The page without a browser: what it watches, where the user is, and what the page says of itself. Nothing in this
//! module does IO.

pub mod account;
pub mod address;
pub mod alerts;
pub mod audit;
pub mod catalog;
pub mod changes;
pub mod clusters;
pub mod command;
pub mod command_line;
pub mod counters;
pub mod cursor;
pub mod definitions;
pub mod direction;
pub mod drain;
pub mod effect;
pub mod environment;
pub mod export;
pub mod first_list;
pub mod history;
pub mod inspector;
pub mod keys;
pub mod layout;
pub mod listing;
pub mod memory;
pub mod namespaces;
pub mod notices;
pub mod palette;
pub mod panel;

pub mod rates;
pub mod report;
pub mod resync;
pub mod route;
pub mod selectors;
pub mod sidebar;
pub mod span;
pub mod speech;
pub mod state;
pub mod verify;
pub mod view;
pub mod watched;
pub mod watches;
