//! kube-controller-manager: one thread on which every controller runs, apart from the threads that serve.

use std::rc::Rc;
use std::thread;

use axum::Router;
use tokio::sync::{oneshot, watch};
use tokio::task::{JoinHandle, LocalSet};
use tokio::time::{Duration, timeout};

use super::context::Context;
use super::controller::{Controller, work};
use super::events::EventSink;
use super::options::Options;
use super::queue::Queue;
use crate::client::informers::Informers;
use crate::client::rest::Client;

/// The User-Agent of the program.
const NAME: &str = "kube-controller-manager";
/// How long requests and syncs in progress may take to finish when the manager stops.
const GRACE: Duration = Duration::from_secs(5);

/// The running controllers. Dropping this stops them soon; [`Self::stop`] also waits for that.
#[derive(Debug)]
pub struct Controllers {
    stop: watch::Sender<bool>,
    stopped: oneshot::Receiver<()>,
}

impl Controllers {
    /// Lets syncs in progress finish, and stops.
    pub async fn stop(self) {
        self.stop.send_replace(true);
        // The thread drops its sender when it ends for any reason.
        let _ = self.stopped.await;
    }
}

/// The controllers that are to be started.
#[derive(Debug)]
pub struct Manager {
    context: Context,
    running: Vec<Running>,
}

/// The workers of one controller.
struct Running {
    start: Box<dyn FnOnce() -> Vec<JoinHandle<()>>>,
    shut_down: Box<dyn Fn()>,
}

impl std::fmt::Debug for Running {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Running")
    }
}

impl Manager {
    /// Adds a controller. Its workers start when all informers have synced.
    pub fn add<C: Controller>(&mut self) {
        let queue = Queue::default();
        let client = self.context.client.with_service_account(NAME, C::NAME);
        let controller = Rc::new(C::new(&Context { client, ..self.context.clone() }, queue.clone()));
        let waiting = queue.clone();
        let start = move || {
            let worker = |_| tokio::task::spawn_local(work(Rc::clone(&controller), waiting.clone()));
            (0..C::WORKERS.max(1)).map(worker).collect()
        };
        self.running.push(Running { start: Box::new(start), shut_down: Box::new(move || queue.shut_down()) });
    }
}

/// Starts the controllers that `add` adds, on a thread of their own.
///
/// # Errors
/// When the system has no thread for it.
///
/// # Panics
/// Outside a runtime of tokio, on which the requests are handled.
pub fn start(
    router: Router,
    options: Options,
    add: impl FnOnce(&mut Manager) + Send + 'static,
) -> std::io::Result<Controllers> {
    let client = Client::new(router, NAME);
    let (stop, stopping) = watch::channel(false);
    let (done, stopped) = oneshot::channel();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    thread::Builder::new().name("controllers".to_owned()).spawn(move || {
        runtime.block_on(run(client, options, stopping, add));
        // The receiver may have been dropped.
        let _ = done.send(());
    })?;
    Ok(Controllers { stop, stopped })
}

/// Runs the controllers that `add` adds on the runtime of the caller, whose clock a test may move, until this is dropped.
#[cfg(test)]
pub async fn run_here(router: Router, options: Options, add: impl FnOnce(&mut Manager)) {
    let (_stop, stopping) = watch::channel(false);
    run(Client::new(router, NAME), options, stopping, add).await;
}

/// Runs the controllers until they are stopped.
async fn run(client: Client, options: Options, stopping: watch::Receiver<bool>, add: impl FnOnce(&mut Manager)) {
    // What the controllers start ends with them, because its tasks belong to this set.
    let tasks = LocalSet::new();
    let events = EventSink::default();
    let informers = Informers::new(client.clone(), options.seed);
    let context = Context { client: client.clone(), informers: informers.clone(), events: events.clone(), options };
    let work = async {
        let writer = tokio::task::spawn_local(events.clone().write(client));
        work_until(context, is_stopped(stopping), add).await;
        events.shut_down();
        // A writer that panicked will write nothing more. One that takes longer ends with the thread.
        let _ = timeout(GRACE, writer).await;
    };
    tasks.run_until(work).await;
    informers.shutdown();
}

/// Runs the controllers until `stop` resolves, and then lets syncs in progress finish.
async fn work_until(context: Context, stop: impl Future<Output = ()>, add: impl FnOnce(&mut Manager)) {
    let informers = context.informers.clone();
    let mut manager = Manager { context, running: Vec::new() };
    add(&mut manager);
    informers.start();
    let mut workers = Vec::new();
    let mut shut_down = Vec::new();
    tokio::pin!(stop);
    tokio::select! {
        () = informers.wait_for_cache_sync() => {
            for running in manager.running {
                workers.extend((running.start)());
                shut_down.push(running.shut_down);
            }
            stop.await;
        }
        () = &mut stop => {}
    }
    shut_down.iter().for_each(|shut_down| shut_down());
    // A worker that panicked has no sync in progress.
    let _ = timeout(GRACE, futures::future::join_all(workers)).await;
}

/// Resolves when the manager is to stop, or when the sender is dropped.
async fn is_stopped(mut stopping: watch::Receiver<bool>) {
    let _ = stopping.wait_for(|stop| *stop).await;
}
