//! The timeline of one kind, or of several: who changed, when and how, drawn as plain data.
//!
//! Each kind's [`Marks`] are kept once, whichever timelines draw them. A [`Chart`] is what one timeline remembers of
//! its drawing: which lanes stand in which rows, and the last scene. A timeline of several kinds draws their lanes
//! among each other, the most recently changed first, and their relists and gaps by name. Folds keep their counts by
//! type, and a delete is drawn on top of whatever it would be folded into.
//!
//! A mark also says in which state its object is from then on, with the word that the table has for it ([`store::state`]). A band is
//! the time between two marks of different states. The marks of an Event are drawn on the lane of the object that it is
//! about ([`store::event_targets`]), and are held by the Events' own kind alone.
//!
//! Nothing here paints, and nothing walks all marks: each mark points at the one before it in its lane
//! ([`mark::Mark::before`]), and where the marks of a lane stand closer than pixels, [`store::blocks`] of them are taken
//! together. So a scene costs the lanes and the pixels that are on the screen.

mod chart;
pub mod lanes;
pub mod scale;
pub mod scene;
pub mod store;
pub mod words;

pub use chart::{Chart, Timeline, TimelineMut};
pub use scene::hit;
pub use store::{mark, marks};
pub use words::kinds::KindName;

#[cfg(test)]
mod tests;
