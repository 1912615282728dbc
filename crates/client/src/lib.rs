//! A client of the Kubernetes API server without IO: client-go's reflector, DeltaFIFO, store and informers, its work queue and
//! its events.
//!
//! Nothing here opens a socket, reads a clock, makes random numbers or starts a thread. The caller hands over what came from
//! the server and when (milliseconds, a number that never runs backwards), and is given what to ask for next. So the same code
//! runs in a browser, natively, and in tests that play hours in milliseconds. `docs/client-go.md` says which name of client-go
//! is where.
//!
//! - [`json`] reads JSON text in place.
//! - [`api`] is what is sent and received: requests, frames, lists, objects, errors, selectors.
//! - [`cache`] is client-go's `tools/cache`: a [`cache::reflector::Reflector`] lists and then watches, a
//!   [`cache::delta_fifo::DeltaFifo`] folds bursts per object, a [`cache::store::Store`] holds what is known, and a
//!   [`cache::shared_informer::SharedInformer`] notifies every handler.
//! - [`workqueue`] and [`record`] are the rest of what a controller is made of; the demo cluster runs on them.
//! - `testing`, a feature, is the language of the conversations in which informers are tested.
//!
//! Modules point one way: `json ← api ← cache`, `workqueue ← record`; `tests/it/tidy.rs` of the project holds this.

#![warn(missing_docs)]

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

pub mod api;
pub mod cache;
pub mod json;
pub mod record;
#[cfg(feature = "testing")]
pub mod testing;
pub mod workqueue;
