//! What holds an object back that is to go, and what uses an object: as far as it was known at the time that is shown.

pub mod finalizers;
pub mod search;
