//! kubechurn shows a Kubernetes cluster changing.
//!
//! In the page a [`Reflector`], like the one inside every Kubernetes controller, lists a resource and then watches it
//! through `kubectl proxy`. A [`DeltaFifo`] folds bursts per object before the store and its handlers are told.
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
//! A list is fetched, and goes the same way in pieces of its text ([`ListReader`]): each object is received as soon as it
//! has come, and reaches the queue with all others when the list is complete. A list that breaks off changes nothing.
//!
//! There is one [`SharedInformer`] for each resource, namespace and selector, however many look at it. Beside its log each
//! one has a tap: what it receives is offered with its text, at once, to [`page::history`], whose [`Recorder`] keeps every
//! version in the bytes in which it differs from another one, within a budget. The inspector reads them, and so does the feed
//! of [`page::changes`]: what changed in each, who seems to have written it, and what of it is noise, by `crates/changes`. So
//! do the counts of a chosen stretch of time, and the filters that are watched in the background (`page::{span, alerts}`).
//!
//! What a first list brings is shown while it comes: a table asks its informers for these items too, and makes provisional
//! rows of them ([`table::view`]). They count nowhere, and nothing is concluded from them. When the list is complete and
//! has gone through queue and store, each of its objects confirms its row in place, and the rest goes.
//!
//! Which kinds there are is asked of the server: [`cache::discovery`] says what to ask next, and [`Catalog`] makes kinds of
//! the answers and finds them by any of their names. A kind that has no columns here gets those of its definition
//! ([`custom`], whose paths [`jsonpath`] follows over the text), and is watched in the same way as all others; without its
//! definition, it has a name and an age. [`page::definitions`] knows which definitions are wanted.
//!
//! Of several clusters, the same kind is another kind for each: its resource says at which API server it is
//! ([`ApiResource::cluster`]), and so it has informers, rows and marks of its own, and its name is `pods@west`.
//!
//! That a socket is open does not prove that a watch is alive: [`cache::heartbeat`] asks the API server, over HTTP, for the
//! watch that has been silent longest, and the reflectors call live only what a frame or such an answer has proven.
//! [`page::verify`] compares what is held with what the server has.
//!
//! The page itself is a machine without IO, as the Reflector is: [`page::state`] takes commands ([`page::command`], one
//! vocabulary for clicks, keys, the palette and the address), answers, ticks and frames of the screen, and gives effects
//! ([`page::effect`]) and a view ([`page::view`], values as the screen shows them). `app` hands the inputs in, carries the
//! effects out and has `ui` draw what changed of the view; it decides nothing.
//!
//! What happens to a watch itself (a relist, a gap, a refusal) is said once, through a [`Broadcaster`], to the timelines,
//! the list of notices and the console. docs/client-go.md says which name of client-go is where.
//!
//! # Invariants
//!
//! - **Nothing vanishes.** Every frame and every listed item is counted by the [`Ledger`] and ends in exactly one place.
//!   The sums are shown, and must balance at every moment.
//! - **The core is pure.** `crates/client`, `crates/changes`, `crates/columns`, `crates/recorder` and `crates/model` know
//!   no socket, clock, randomness or view: the time (milliseconds, a number that never runs backwards) and random numbers
//!   are arguments.
//! - **Events travel by function call**, never through a signal: a signal keeps only its newest value.
//! - **Kinds are data** (a path, columns, a decoder), not type parameters: generic code would be copied into the wasm once
//!   per kind.
//! - **Fast where it is hot, small where it is not.** What each frame goes through (`crates/{client,columns,recorder}`) is built
//!   for speed, and all else (`src`, `crates/model`, and `crates/changes`, which is no faster otherwise) for size.
//! - **Dependencies point one way**, and the compiler holds it: `client ← columns ← changes ← model ← page`,
//!   `client ← recorder ← model` and `{client, columns} ← cluster ← cli`, and `cluster` answers as a server prints. Within the page `browser` names the client and
//!   nothing else of the project, `ui` shows what the model says, and `app` alone names both; `tests/it/tidy.rs` holds
//!   that, and the order within each crate: `api ← cache`, `workqueue ← record`, `kind_id ← {table, timeline} ← page`.
//!
//! # Deliberately absent
//!
//! No server of our own reads what the cluster says; `crates/cli` passes it on. No request that writes. No `serde_json::Value`
//! of an object on an event's way: a frame is decoded into the fields that its kind's columns need, borrowed from the text.
//!
//! [`Reflector`]: kubechurn_client::cache::reflector::Reflector
//! [`ListReader`]: kubechurn_client::api::list::ListReader
//! [`DeltaFifo`]: kubechurn_client::cache::delta_fifo::DeltaFifo
//! [`SharedInformer`]: kubechurn_client::cache::shared_informer::SharedInformer
//! [`page::history`]: kubechurn_model::page::history
//! [`Recorder`]: kubechurn_recorder::Recorder
//! [`page::changes`]: kubechurn_model::page::changes
//! [`cache::discovery`]: kubechurn_client::cache::discovery
//! [`Catalog`]: kubechurn_model::page::catalog::Catalog
//! [`table::view`]: kubechurn_model::table::view
//! [`ApiResource::cluster`]: kubechurn_client::api::resource::ApiResource::cluster
//! [`custom`]: kubechurn_columns::custom
//! [`jsonpath`]: kubechurn_columns::jsonpath
//! [`page::definitions`]: kubechurn_model::page::definitions
//! [`cache::heartbeat`]: kubechurn_client::cache::heartbeat
//! [`page::verify`]: kubechurn_model::page::verify
//! [`page::state`]: kubechurn_model::page::state
//! [`page::command`]: kubechurn_model::page::command
//! [`page::effect`]: kubechurn_model::page::effect
//! [`page::view`]: kubechurn_model::page::view
//! [`Broadcaster`]: kubechurn_client::record::broadcaster::Broadcaster
//! [`Ledger`]: kubechurn_client::cache::ledger::Ledger

#[cfg(target_arch = "wasm32")]
pub mod app;
#[cfg(target_arch = "wasm32")]
pub mod browser;
#[cfg(target_arch = "wasm32")]
pub mod ui;
