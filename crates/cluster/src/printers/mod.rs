//! The forms in which objects are sent: whole, as a Table's rows, or their metadata alone.

pub mod columns;
pub mod form;
pub mod response;
pub mod table;
