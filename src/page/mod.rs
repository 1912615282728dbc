//! The page without a browser: what it watches, where the user is, and what it says of itself. All of it pure.

pub mod catalog;
pub mod counters;
pub mod history;
pub mod inspector;
pub mod notices;
pub mod report;
pub mod route;
pub mod selectors;
pub mod watched;
