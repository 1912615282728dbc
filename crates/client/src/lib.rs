//! A client of the Kubernetes API server that keeps what it is told: client-go's reflector, DeltaFIFO, store and informers,
//! its work queue and its events, as pure functions.
//!
//! Nothing here opens a socket, reads a clock, throws dice or starts a thread: whoever uses it tells it what came and when
//! (milliseconds, a number that never runs backwards), and is told what to ask next. So it runs in a browser, natively, and
//! in tests that play hours in milliseconds. `docs/client-go.md` says which name of client-go is where.
//!
//! - [`api`] is what is sent and received: requests, frames, lists, objects, errors, selectors.
//! - [`cache`] is client-go's `tools/cache`: a [`cache::reflector::Reflector`] lists and then watches, a
//!   [`cache::delta_fifo::DeltaFifo`] folds bursts per object, a [`cache::store::Store`] holds what is known, and a
//!   [`cache::shared_informer::SharedInformer`] tells everyone who looks at it.
//! - [`workqueue`] and [`record`] are the rest of what a controller is made of; the demo cluster runs on them.
//!
//! Modules point one way: `api ← cache`, `workqueue ← record`; `tests/it/tidy.rs` of the project holds this.

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

pub mod api;
pub mod cache;
pub mod record;
pub mod workqueue;
