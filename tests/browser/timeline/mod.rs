//! The marks of the timeline, and its lanes.

mod lanes;
mod painting;
mod words;
