//! The inspector: what is behind a row, and what changed in it. Everything here is read from the texts of objects
//! when someone looks, and is bounded, whatever a cluster sends.

pub mod diff;
pub mod events;
pub mod fields;
pub mod relatives;
pub mod secret;
pub mod summary;
pub mod tab;
pub mod versions;
pub mod width;
pub mod yaml;
