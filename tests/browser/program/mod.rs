//! The ways to serve the page, as their users have them.

mod binary;
mod guards;
mod plugin;
