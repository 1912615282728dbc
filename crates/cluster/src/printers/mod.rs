//! The forms in which objects are sent: whole, as rows of a Table, or as metadata only.

pub mod columns;
pub mod form;
pub mod response;
pub mod table;
