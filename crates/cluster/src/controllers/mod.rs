//! The controllers of the demo cluster: kube-controller-manager's, each an ordinary client of the API.
//!
//! ```text
//! router ◄─ requests ─ client ◄───────── sync(key) ◄─ workers ◄─ Queue ◄─┐
//!   │                                       │  └─► Recorder ─► EventSink │ keys
//!   └─ LIST, WATCH ─► Informers ─► Lister ──┘ (reads)                    │
//!                         └─ handlers: what changed ─────────────────────┘
//! ```
//!
//! All of them run on one thread with a runtime of its own (`manager.rs`), so that they share state in `Rc`s and never
//! block the threads that serve requests. Injected faults do not apply to them: `client/internal.rs`.
//!
//! # A new controller
//!
//! 1. A file or folder here, with a type that implements [`controller::Controller`]: `new` asks the
//!    [`context::Context`] for listers ([`crate::client::lister::Lister`]; the informers behind them are shared),
//!    and has their changes add keys to the queue; `sync` does the work for one key. `replica_set/` is the example.
//! 2. A line in [`add_all`].
//! 3. Tests against the running server, in `controllers/tests/`: `Cluster::start(|manager| manager.add::<Yours>())`.
//!
//! What a controller can build on: [`object`] and [`pod`] read objects, which are JSON with their kind;
//! [`crate::resources::label_selector`] reads label selectors; [`controller_ref_manager`] adopts and releases objects;
//! [`expectations`] prevent a second creation; a [`pod_handler::PodHandler`] queues the workloads of changed Pods;
//! [`written`] waits until an informer shows what was written; [`history`] keeps templates as ControllerRevisions; a
//! [`events::Recorder`] records Events; [`queue::Queue::add_after`] queues a key after a delay. A conflict (409) is not
//! a mistake: return the error, and the key is queued again. While `sync` awaits a request, other keys are worked on,
//! but never the same one.
//!
//! Rules: read from listers and write through the client; write nothing that the object already has; a second `sync`
//! right after the first must do nothing; the passing of time causes no event, so use `add_after` for that. Objects are
//! written by clients that may get them wrong: read fields with `text`, `number` and `count` and set them with
//! [`object::set`], which do not panic on any shape of an object.

#[cfg(test)]
pub mod answered;
pub mod context;
pub mod controller;
pub mod controller_ref_manager;
pub mod events;
pub mod expectations;
pub mod failed_nodes;
pub mod history;
mod int_or_percent;
pub mod manager;
pub mod object;
pub mod options;
pub mod pace;
pub mod pod;
pub mod pod_handler;
pub mod pod_template;
pub mod pod_view;
pub mod quantity;
pub mod queue;
pub mod written;

pub mod cron_job;
pub mod daemon_set;
pub mod definition;
pub mod deployment;
pub mod duration;
pub mod garbage_collector;
pub mod job;
pub mod kubelet;
pub mod namespace;
pub mod node_lifecycle;
pub mod replica_set;
pub mod scheduler;
pub mod service_account;
pub mod stateful_set;
pub mod ttl_after_finished;
pub mod volume_binder;

#[cfg(test)]
pub mod tests;

use axum::Router;

use manager::{Controllers, Manager};
use options::Options;

/// Starts the controllers on a thread of their own.
///
/// # Errors
/// When the system has no thread for it.
pub fn start(router: Router, options: Options) -> std::io::Result<Controllers> {
    manager::start(router, options, add_all)
}

/// Runs the controllers on the runtime of the caller, whose clock a test may move, until this is dropped.
#[cfg(test)]
pub async fn run_here(router: Router, options: Options) {
    manager::run_here(router, options, add_all).await;
}

/// Starts the controllers of the API server itself, on a thread of their own. They run even if the others do not.
///
/// # Errors
/// When the system has no thread for it.
pub fn start_apiserver_controllers(router: Router, seed: u64) -> std::io::Result<Controllers> {
    let options = Options { seed, ..Options::default() };
    manager::start(router, options, |manager| manager.add::<definition::DefinitionFinalizer>())
}

/// Every controller.
fn add_all(manager: &mut Manager) {
    manager.add::<cron_job::CronJobs>();
    manager.add::<daemon_set::DaemonSets>();
    manager.add::<deployment::Deployments>();
    manager.add::<garbage_collector::GarbageCollector>();
    manager.add::<namespace::Namespaces>();
    manager.add::<job::Jobs>();
    manager.add::<replica_set::ReplicaSets>();
    manager.add::<scheduler::Scheduler>();
    manager.add::<kubelet::Kubelets>();
    manager.add::<kubelet::heartbeat::Heartbeats>();
    manager.add::<node_lifecycle::NodeLifecycle>();
    manager.add::<node_lifecycle::taint_eviction::TaintEviction>();
    manager.add::<service_account::ServiceAccounts>();
    manager.add::<stateful_set::StatefulSets>();
    manager.add::<ttl_after_finished::TtlAfterFinished>();
    manager.add::<volume_binder::VolumeBinder>();
}
