//! What kubechurn shows, decided without a browser, so that it can be tested natively.
//!
//! - [`kind_id`] numbers the kinds of a table or a timeline.
//! - [`local_time`] writes times by clock and calendar.
//! - [`table`] makes rows of objects, with the columns of `kubechurn_columns`: filters, orders, the layout of columns.
//! - [`timeline`] makes marks of what was received, and a scene to paint.
//! - [`navigation`] knows where the user is, and which places there are: addresses, kinds, clusters.
//! - [`history`] has the versions of objects that the session received.
//! - [`watches`] has what is watched, its accounts, and the page's notices about it.
//! - [`kept`] knows the files in which the browser keeps a recording.
//! - [`recording`] writes what was received into the lines of a file.
//! - [`rewind`] makes the rows of a table as they were at a moment.
//! - [`feed`] has the changes in rows, the counts of a time range, and the filters that the user is notified of.
//! - [`inspector`] reads an object in full, and how it changed.
//! - [`logs`] has the lines that containers write, in the order of time.
//! - [`why`] searches what changed before something broke.
//! - [`writers`] surveys who writes what, how often, and what that answers.
//! - [`life`] follows a Pod from its creation to its end.
//! - [`rollout`] reads a rollout with its steps, and compares it with the last one that went well.
//! - [`holds`] searches what holds an object back that is to go, and what uses an object.
//! - [`verification`] compares what the page holds with what the server has.
//! - [`inside`] plays a recorded stream through Reflector, queues, store, handlers and work queue, one step at a time.
//! - [`shell`] has what surrounds all that: the sidebar's groups, the sizes of panels, sentences for screen readers.
//! - [`view`] is what the page shows, panel by panel.
//! - [`page`] takes commands, answers and frames, and gives effects and a view: one file for the part of each subject.
//!
//! No socket, clock, randomness or Leptos is known here: the time and random numbers are arguments. Modules point one way,
//! in the order of this list; `tests/it/layout.rs` of the project holds this.

pub mod feed;
pub mod history;
pub mod holds;
pub mod inside;
pub mod inspector;
pub mod kept;
pub mod kind_id;
pub mod life;
pub mod local_time;
pub mod logs;
pub mod navigation;
pub mod page;
pub mod recording;
pub mod rewind;
pub mod rollout;
pub mod shell;
pub mod table;
pub mod timeline;
pub mod verification;
pub mod view;
pub mod watches;
pub mod why;
pub mod writers;
