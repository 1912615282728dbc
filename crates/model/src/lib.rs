//! What kubechurn shows, decided without a browser, so that it can be tested natively.
//!
//! - [`table`] makes rows of objects, with the columns of `kubechurn_columns`: filters, orders, the view.
//! - [`timeline`] makes marks of what was received, and a scene to paint.
//! - [`kind_id`] numbers the kinds of a table or a timeline.
//! - [`page`] is what the page is: where the user is, what is watched, what it says of itself.
//!
//! No socket, clock, randomness or view is known here: the time and random numbers are arguments. Modules point one way:
//! `kind_id ← {table, timeline} ← page`; `tests/it/tidy.rs` of the project holds this.

pub mod kind_id;
pub mod page;
pub mod table;
pub mod timeline;
