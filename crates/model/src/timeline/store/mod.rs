//! The marks of each kind, in memory: packed in a ring, linked by lane, and taken together in blocks.
//!
//! [`marks::Marks`] are kept once for each kind, however many timelines draw them. Nothing walks all marks: each mark
//! points at the one before it in its lane ([`mark::Mark::before`]), and where the marks of a lane stand closer than
//! pixels, [`blocks`] of them are taken together.

pub mod block;
pub mod blocks;
mod chunk;
pub mod event_targets;
pub mod lane;
pub mod lanes;
pub mod mark;
pub mod marks;
pub mod overview;
pub mod placement;
pub mod ring;
pub mod state;
pub mod states;
pub mod walk;
