//! (in work)

pub mod lanes;
pub mod mark;
pub mod overview;
pub mod ring;
pub mod scale;
