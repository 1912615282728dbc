//! kubechurn shows a Kubernetes cluster changing.
//!
//! In the page a [`cache::reflector::Reflector`], like the one inside every Kubernetes controller, lists a
//! resource and then watches it through `kubectl proxy`. A [`cache::delta_fifo::DeltaFifo`] folds bursts per
//! object before the store, and everyone who looks at it, is told.
//!
//! ```text
//! text frame ─► lister_watcher ─► SharedInformer ─────────────────────────────────────────────────────┐
//!  (socket)      (bytes, now)     │ Reflector ─┬─► DeltaFifo ─► one drain per animation frame ─► Store │
//!                                 │  (state    │    (key →                                         │   │
//!                                 │  machine)  ▼     Deltas)                                       ▼   │
//!                                 │  received, once per frame ─────────► log of notifications ◄─ Change│
//!                                 └──────────────────────────────────────┬─────────────────────────────┘
//!                              handlers, each with its place in the log: ├─► timeline: a mark for each received
//!                                                                        ├─► table: a row diff, that row's signal
//!                                                                        └─► counters
//! ```
//!
//! There is one [`cache::shared_informer::SharedInformer`] for each resource, namespace and selector, however many
//! look at it. Beside its log each one has a tap: what it receives is offered with its text, at once, to
//! [`page::history`], which keeps the newest texts within a budget; the inspector reads them, and nobody else.
//!
//! Which kinds there are is asked of the server: [`cache::discovery`] says what to ask next, and
//! [`page::catalog::Catalog`] makes kinds of the answers and finds them by any of their names. A kind that has no columns
//! here gets those of its definition ([`table::custom`], whose paths [`table::jsonpath`] follows over the text), and is
//! watched in the same way as all others; without its definition, it has a name and an age. [`page::definitions`] knows
//! which definitions are wanted.
//!
//! That a socket is open does not prove that a watch is alive: [`cache::heartbeat`] asks the API server, over HTTP, for the
//! watch that has been silent longest, and the reflectors call live only what a frame or such an answer has proven.
//! [`page::verify`] compares what is held with what the server has.
//!
//! What happens to a watch itself (a relist, a gap, a refusal) is said once, through a
//! [`record::broadcaster::Broadcaster`], to the timelines, the list of notices and the console. docs/client-go.md says
//! which name of client-go is where.
//!
//! # Invariants
//!
//! - **Nothing vanishes.** Every frame and every listed item is counted by the [`cache::ledger::Ledger`] and
//!   ends in exactly one place. The sums are shown, and must balance at every moment.
//! - **The core is pure.** `api`, `workqueue`, `record`, `cache`, `table`, `timeline` and `page` know no socket, clock,
//!   randomness or view: the time (milliseconds, a number that never runs backwards) and random numbers are arguments.
//! - **Events travel by function call**, never through a signal: a signal keeps only its newest value.
//! - **Kinds are data** (a path, columns, a decoder), not type parameters: generic code would be copied into
//!   the wasm once per kind.
//! - Dependencies point one way: `api ← cache ← {table, timeline} ← page ← ui`, `workqueue ← record ← page`,
//!   `browser → {api, cache}`, and `app` alone names both `browser` and `ui`. `tests/it/tidy.rs` holds this. `page`
//!   is what the page is without a browser (where the user is, what is watched, what it says of itself), so that it
//!   can be tested natively. `workqueue` and `record` are the rest of what a controller is made of; the demo cluster
//!   runs on them.
//!
//! # Deliberately absent
//!
//! No server of our own stands between the page and the cluster. No request that writes. No
//! `serde_json::Value` of an object on the way of an event: a frame is decoded into the fields that its kind's
//! columns need, borrowed from the text.

pub mod api;
pub mod cache;
pub mod page;
pub mod record;
pub mod table;
pub mod timeline;
pub mod workqueue;

#[cfg(target_arch = "wasm32")]
pub mod app;
#[cfg(target_arch = "wasm32")]
pub mod browser;
#[cfg(target_arch = "wasm32")]
pub mod ui;
