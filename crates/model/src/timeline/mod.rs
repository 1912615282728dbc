//! The timeline of one kind, or of several: who changed, when and how, drawn as plain data.
//!
//! Each kind's [`Marks`](marks::Marks) are kept once, whichever timelines draw them. A [`Chart`] is the memory of one
//! timeline: the rows of its lanes, and the last scene. A timeline of several kinds draws their lanes among each other,
//! the most recently changed first, and their relists and gaps by name. Folds keep their counts by type, and a delete
//! is drawn on top of whatever it would be folded into.
//!
//! A mark also has the state in which its object is from then on, with the word of the table ([`store::state`]). A band
//! is the time between two marks of different states. The marks of an Event are drawn on the lane of the object that it
//! is about ([`store::event_targets`]), and are held by the Events' own kind alone.
//!
//! Nothing here paints. A scene costs the lanes and the pixels that are on the screen, however many marks there are.

mod chart;
pub mod lanes;
pub mod scale;
pub mod scene;
pub mod store;
pub mod words;

pub use chart::{Chart, Timeline, TimelineMut};
pub use scene::hit;
pub use store::{lane, mark, marks};
pub use words::kinds::KindName;

#[cfg(test)]
mod tests;
