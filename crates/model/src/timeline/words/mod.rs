//! Words for the screen: the names of kinds, lengths of time, and names that fit a room.

pub mod kinds;
pub mod text;
