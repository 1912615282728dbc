//! The life of a Pod: from its creation to its end, out of the versions that were received, out of Events, and out of what the
//! object itself says of the time before.

pub mod container;
pub mod event;
pub mod pod;
pub mod seen;
