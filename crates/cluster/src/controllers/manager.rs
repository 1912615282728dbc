//! kube-controller-manager: one thread on which every controller runs, apart from the threads that serve.

use std::rc::Rc;
use std::thread;

use axum::Router;
use futures::FutureExt;
use tokio::sync::{oneshot, watch};
use tokio::task::{JoinHandle, LocalSet};
use tokio::time::{Duration, timeout};

use super::context::Context;
use super::controller::{Controller, work};
use super::events::EventSink;
use super::leader_election::LeaderElector;
use super::options::Options;
use super::queue::Queue;
use crate::client::informers::Informers;
use crate::client::rest::Client;
use crate::{clock, random};

/// The User-Agent of the program, and the name of its Lease.
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
        let controller = Rc::new(C::new(&self.context, queue.clone()));
        let waiting = queue.clone();
        let start = move || {
            let worker = |_| tokio::task::spawn_local(work(Rc::clone(&controller), waiting.clone()));
            (0..C::WORKERS.max(1)).map(worker).collect()
        };
        self.running.push(Running { start: Box::new(start), shut_down: Box::new(move || queue.shut_down()) });
    }
}

/// Starts the controllers that `add` adds, on a thread of their own. `add` is called each time that this manager
/// becomes the leader.
///
/// # Errors
/// When the system has no thread for it.
///
/// # Panics
/// Outside a runtime of tokio, on which the requests are handled.
pub fn start(
    router: Router,
    options: Options,
    add: impl Fn(&mut Manager) + Send + 'static,
) -> std::io::Result<Controllers> {
    let client = Client::new(router, NAME);
    let (stop, stopping) = watch::channel(false);
    let (done, stopped) = oneshot::channel();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    thread::Builder::new().name("controllers".to_owned()).spawn(move || {
        runtime.block_on(run(client, &options, stopping, &add));
        // The receiver may have been dropped.
        let _ = done.send(());
    })?;
    Ok(Controllers { stop, stopped })
}

/// Leads whenever possible, until it is stopped.
async fn run(client: Client, options: &Options, mut stopping: watch::Receiver<bool>, add: &impl Fn(&mut Manager)) {
    loop {
        // Everything that was started in one term ends with it, because its tasks belong to this set.
        let tasks = LocalSet::new();
        let events = EventSink::default();
        let informers = Informers::new(client.clone(), options.seed);
        let context = Context {
            client: client.clone(),
            informers: informers.clone(),
            events: events.clone(),
            options: options.clone(),
        };
        let stopped = tasks.run_until(term(context, options, stopping.clone(), add)).await;
        informers.shutdown();
        drop(tasks);
        if stopped || is_stopped(&mut stopping).now_or_never().is_some() {
            return;
        }
    }
}

/// Waits to become the leader, and leads. Returns true if it was stopped, and false if the Lease was lost.
async fn term(
    context: Context,
    options: &Options,
    mut stopping: watch::Receiver<bool>,
    add: &impl Fn(&mut Manager),
) -> bool {
    let events = context.events.clone();
    let writer = tokio::task::spawn_local(events.clone().write(context.client.clone()));
    let mut elector = options.lease.map(|timing| {
        let (client, recorder) = (context.client.clone(), context.recorder(NAME));
        LeaderElector::new(client, recorder, NAME, identity(), timing)
    });
    let stop = is_stopped(&mut stopping);
    tokio::pin!(stop);
    if let Some(elector) = &mut elector {
        tokio::select! {
            () = elector.acquire() => {}
            () = &mut stop => return true,
        }
    }
    let lost = async {
        match &mut elector {
            Some(elector) => elector.renew().await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        () = lead(context, stop, add) => {}
        () = lost => return false,
    }
    let farewell = async {
        if let Some(elector) = elector {
            elector.release().await;
        }
        events.shut_down();
        // A writer that panicked will write nothing more.
        let _ = writer.await;
    };
    // Anything that takes longer ends with the thread.
    let _ = timeout(GRACE, farewell).await;
    true
}

/// Runs the controllers that `add` adds on the runtime of the caller, whose clock a test may move, until this is dropped.
#[cfg(test)]
pub async fn run_here(router: Router, options: Options, add: impl Fn(&mut Manager)) {
    let (_stop, stopping) = watch::channel(false);
    run(Client::new(router, NAME), &options, stopping, &add).await;
}

/// Runs the controllers until `stop` resolves, and then lets syncs in progress finish.
async fn lead(context: Context, stop: impl Future<Output = ()>, add: &impl Fn(&mut Manager)) {
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
async fn is_stopped(stopping: &mut watch::Receiver<bool>) {
    let _ = stopping.wait_for(|stop| *stop).await;
}

/// A name that no other manager has, like `HOSTNAME_UUID`.
fn identity() -> String {
    let process = std::process::id();
    format!("cluster-{process}_{}", random::uid(clock::time().0.unsigned_abs(), NAME, u64::from(process)))
}
