//! The changes: those of now, those of a time range, and those that the user is notified of.

mod alerts;
mod changes;
mod glance;
pub mod span;
