//! The lanes on the screen, and their rows: each object in a row of its own ([`order`]), or in groups ([`groups`]).

pub(crate) mod ask;
pub mod choice;
pub(crate) mod counts;
mod event_lanes;
pub(crate) mod groups;
pub(crate) mod index;
pub(crate) mod order;
pub(crate) mod rows;
mod scan;

pub use choice::{GroupId, GroupRow, LaneChoice, LaneOrder, LanesBy, OpenGroups};
