//! The inspector: an object in full, and how it changed. All that it shows is read from the texts of objects when the
//! user looks, and is bounded, whatever a cluster sends.
//!
//! `part` holds the part of the page, and `inspection` its look at the selected object.

pub mod diff;
mod event_watch;
pub mod events;
pub mod fields;
mod full_text;
mod inspection;
pub mod last_write;
mod last_write_question;
mod object;
mod owners;
pub(super) mod part;
pub mod relatives;
pub mod secret;
mod shown_versions;
pub mod summary;
pub mod tab;
pub mod versions;
pub mod yaml;
