//! Where the user is: the selectors of the table.

pub mod selectors;
