//! An object in full, and how it changed. All that is shown is read from the texts of objects when the user looks, and is
//! bounded, whatever a cluster sends.

pub mod command_lines;
pub mod comparison;
pub mod containers;
pub mod deletion;
pub mod diff;
pub mod events;
pub mod fields;
pub mod last_write;
pub mod relatives;
pub mod summary;
pub mod tab;
pub mod unified;
pub mod versions;
pub mod yaml;
