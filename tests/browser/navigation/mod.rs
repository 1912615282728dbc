//! Where the user is, and which API the page asks.

mod address;
mod controls;
mod cross_origin;
mod source;
