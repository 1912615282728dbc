//! The demo cluster: a Kubernetes API server for demos and tests, with controllers, kubelets, and users who change it.
//!
//! ```text
//! kubectl, the page ─┐                           ┌─► cacher (one per resource) ─► watcher ─► form ─► frames
//! scenario (users)  ─┼─► endpoints ─► store ─► storage (memory, etcd)     │      HTTP, WebSocket
//! controllers       ─┤   faults ↑       │        └─► ledger               │
//! scheduler, kubelets┘                  └────────────── lists ◄───────────┘
//! ```
//!
//! The folders from the bottom up; none imports one above it:
//!
//! - `storage/` keeps keys under one revision, `resources/` describes the resources that are served, `status.rs` builds
//!   the answers for errors, and `printers/` converts objects into the form that a client asks for.
//! - `cacher/` and `store.rs` read and write objects; `request/` parses requests.
//! - `faults/` disturbs answers on demand; `ledger/` records what was really sent; `log_ends.rs` remembers the ends of logs.
//! - `write/` and `endpoints/` are the handlers, which share `api.rs`; `server.rs` chooses the handler of a request.
//!
//! `client/` is the counterpart of client-go for components in the same process, and does not depend on the server. With
//! it, `controllers/` bring the cluster to the desired state, and `scenario/` plays the users who change it. Only load
//! that a scenario writes without the API uses the store. With `control/` a test steers the whole cluster.
//!
//! The server listens on 127.0.0.1 only and answers only requests whose Host, and Origin if any, is loopback. Behind
//! `kubectl -s http://127.0.0.1:PORT proxy` it looks like a cluster, and kubectl itself takes it for one:
//! `crates/cluster/tests/kubectl/`. `--help` lists the options.
//!
//! # Control
//!
//! The control endpoints are for tests. Answers are JSON, and a `Status` for errors. `RESOURCE` is a plural name such as
//! `pods`.
//!
//! | request | effect |
//! |---|---|
//! | `POST /_control/rate?value=R` | a storm writes R times per second from now on; at 0 the other scenarios pause as well. The answer, with the newest revision, comes after the storm's last write at the old rate |
//! | `GET /_control/scenario`, `POST /_control/scenario?name=NAME&on=true\|false` | lists the running scenarios; starts or ends one |
//! | `POST /_control/compact` | older revisions expire: watches from them and pages at them get 410. Running watches continue |
//! | `POST /_control/forbid?verb=list\|watch\|get&resource=RESOURCE` | answers 403 from now on, and drops the resource's watches |
//! | `POST /_control/allow?verb=…&resource=RESOURCE` | ends that refusal |
//! | `POST /_control/forbid?resource=pods/log`, `…/allow?resource=pods/log` | the same for logs |
//! | `POST /_control/cut[?resource=RESOURCE]` | drops the connections of watches, WebSockets without a close frame; those of Pods' logs with those of Pods |
//! | `POST /_control/stall?on=true\|false` | sends neither answers nor events, except by `/_control`. Watches that fall behind meanwhile end when the stall is over |
//! | `POST /_control/watchlist?on=true\|false` | the feature gate WatchList: without it `sendInitialEvents` is 422, as before Kubernetes 1.34 |
//! | `GET /_control/watches?resource=RESOURCE` | the number of its watches |
//! | `POST /_control/node?name=NAME&down=true\|false` | makes a node's kubelet fail, while its containers keep running; or recover |
//! | `POST /_control/put` | creates or replaces the object in the body, whose `kind` and `apiVersion` select the resource |
//! | `GET /_control/log[?resource=RESOURCE]` | the newest 200,000 writes since the start, population included: `[{revision,type,key,uid,resource,verb,hash}]` |
//! | `GET /_control/frames[?connection=N&resource=RESOURCE]` | the newest 100,000 frames that were sent: `[{time,connection,transport,resource,path,frame,type,key,uid,resourceVersion,bytes,hash,fault}]` |
//! | `GET /_control/connections[?connection=N&resource=RESOURCE]` | the newest 10,000 watches' connections: `[{connection,transport,resource,path,userAgent,opened,closed,reason,frames,bytes}]` |
//! | `POST /_control/fault?WORDS` | adds a fault, such as `status=429&verb=list&resource=pods&times=3`; the words are listed below |
//! | `GET /_control/faults` | the faults: `{rules: [{id,fault,matched,struck,over}], orders: {cut: 3}}`, with the number of strikes of each |
//! | `DELETE /_control/faults[?id=N]`, `POST /_control/clear[?id=N]` | removes one fault, or all |
//! | `POST /_control/restart?revision=N` | restarts the server: connections drop and caches are emptied; the objects stay and get the revisions after N |
//!
//! The words of a fault are separated by commas on the command line: `--fault status=429,verb=list,times=3`. Exactly one
//! row gives the effect. Faults do not affect the cluster's own controllers.
//!
//! | words | effect |
//! |---|---|
//! | `status=CODE [retry-after=SECONDS] [body=text]` | requests are refused, with a `Status` or plain text; 429 and 503 have `Retry-After: 1` by default |
//! | `delay-ms=N`, `drip=BYTES [pause-ms=N]` | answers are late; their bodies are sent in pieces of that many bytes |
//! | `stall=true` | requests are not answered and running watches send nothing, until the fault is removed |
//! | `watch-list=off` | `sendInitialEvents` is refused with 422 |
//! | `frame=delay [delay-ms=N]`, `duplicate`, `reorder`, `lose`, `truncate`, `not-json`, `wrong-type`, `unknown-type`, `huge`, `no-end-bookmark` | a frame of a watch is changed, delayed or dropped |
//! | `end=close\|drop` | a watch ends with 1000, or without a close |
//! | `skew=SECONDS` | the clock is skewed: timestamps, ages, `Date` |
//! | `resource=` `verb=` `namespace=` `user-agent=`, for frames `event=` | what is affected |
//! | `times=N` `after=N` `probability=P [seed=S]` | how often: at most N times, not for the first N requests or frames of a connection, with probability P |
//!
//! # Containers
//!
//! No container runs a program. Its Pod determines what the container does, so that kubectl can make it fail:
//!
//! | in the Pod | effect |
//! |---|---|
//! | an image tag with `typo`, `nosuch` or `missing` in it | `ErrImagePull`, `ImagePullBackOff` |
//! | a path of its readiness probe with such a word in it | it is never ready |
//! | a command of `sleep`, `true`, `false`, `echo`, `exit`, alone or as `sh -c 'sleep 5; exit 3'` | the container ends like that command, and is restarted according to the Pod's policy; any other command runs forever, except that a Job's Pod succeeds after some seconds |
//! | `demo.kubechurn.dev/run-for: 30s`, with `…/exit-code: "3"` | the first container ends after this time, with this code |
//! | `demo.kubechurn.dev/oom-after: 20s` | the first container is killed for exceeding its memory: 137, `OOMKilled` |
//! | `demo.kubechurn.dev/fail-ready: always`, or `10s` | the first container is never ready, or alternates between not ready and ready, each for this time |
//! | `demo.kubechurn.dev/fail-live: 20s` | the liveness probe of the first container fails after this time, and the container is restarted |
//! | `demo.kubechurn.dev/log-rate: "2000"` | the first container writes so many lines a second |
//!
//! The last five rows are annotations of the Pod. `--pace` scales back-offs, and the times after which a node counts as failed.
//!
//! Logs (`pods/log`) are made up: a start, requests, the last words of a crash, what a container says when it is stopped. A run has
//! the same lines whenever they are read.
//!
//! # Deliberately absent
//!
//! There is no compression, there are no schemas (fields are not validated, and OpenAPI names operations only), no
//! admission except defaults and what a Pod needs (`write/admission.rs`), and no field ownership: a server-side apply is a merge that creates the object if it is
//! missing. Protobuf is read where `kubectl create` and `drain` write it, and never written. A patch replaces a list of
//! a custom resource as a whole. Only with `--etcd` do objects outlive the process. A foreign Origin is refused, unlike
//! in the real server. `docs/differences.md` lists the other differences from recordings of a real server; a test
//! compares that list with the recordings.

mod api;
mod args;
mod audit;
mod bootstrap;
mod cacher;
mod client;
mod control;
mod controllers;
mod endpoints;
mod faults;
mod ledger;
mod log_ends;
mod printers;
mod request;
mod resources;
mod server;
mod status;
mod storage;
mod store;
mod write;

mod clock;
mod random;
mod scenario;

#[cfg(test)]
mod tests;

use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr};
use std::process::ExitCode;
use std::sync::Arc;

use tokio::net::TcpListener;

use crate::api::Api;
use crate::args::{Args, Command};
use crate::audit::AuditLog;
use crate::client::rest::Client;
use crate::control::Control;
pub use crate::controllers::duration;
use crate::controllers::manager::Controllers;
use crate::faults::Faults;
use crate::ledger::Ledger;
use crate::ledger::file::File;
use crate::resources::registry::Registry;
use crate::scenario::runner::Runner;
use crate::server::App;
use crate::storage::{Storage, StorageError};
use crate::store::Store;

/// Ends the process where any thread panics, as a release build does. Programs that are built for tests unwind, and a task that
/// panicked would go unnoticed there.
pub fn abort_on_panic() {
    let print = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panicked| {
        print(panicked);
        std::process::abort();
    }));
}

/// Runs the server until it is killed.
pub fn main() -> ExitCode {
    abort_on_panic();
    let args = match args::parse(std::env::args_os().skip(1)) {
        Ok(Command::Serve(args)) => *args,
        Ok(Command::Help) => {
            print!("{}", args::HELP);
            return ExitCode::SUCCESS;
        }
        Err(error) => {
            eprintln!("cluster: {error}");
            return ExitCode::from(2);
        }
    };
    let runtime = match tokio::runtime::Runtime::new() {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("cluster: cannot start: {error}");
            return ExitCode::FAILURE;
        }
    };
    match runtime.block_on(run(args)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("cluster: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run(args: Args) -> std::io::Result<()> {
    let port = args.port;
    let (listener, address) = bind(port)
        .await
        .map_err(|error| std::io::Error::new(error.kind(), format!("cannot listen on 127.0.0.1:{port}: {error}")))?;
    let Demo { app, controllers } = Demo::of(&args).await?;
    let mut stdout = std::io::stdout();
    writeln!(stdout, "listening on http://{address}")?;
    stdout.flush()?;
    let Some(controllers) = controllers else {
        return server::serve(listener, app).await;
    };
    tokio::select! {
        served = server::serve(listener, app) => served,
        // Syncs in progress end, and recorded Events are written.
        () = terminated() => {
            controllers.stop().await;
            Ok(())
        }
    }
}

/// A demo cluster inside another program, without a socket. It ends when this is dropped, or with the runtime in which it
/// was started.
#[derive(Debug)]
pub struct Demo {
    app: Arc<App>,
    controllers: Option<Controllers>,
}

/// Why a demo cluster did not start.
#[derive(Debug, thiserror::Error)]
pub enum DemoError {
    /// An option that there is not, or a value that it does not accept.
    #[error("{0}")]
    Options(String),
    /// Its objects could not be made, or its controllers did not start.
    #[error("the demo cluster did not start")]
    Start(#[from] std::io::Error),
}

impl Demo {
    /// Starts a demo cluster with the options of the program `cluster`, of which `--port` has no effect. Needs a Tokio
    /// runtime.
    ///
    /// # Errors
    /// When an option is wrong, or the cluster does not start.
    pub async fn start(options: impl IntoIterator<Item = impl Into<std::ffi::OsString>>) -> Result<Self, DemoError> {
        match args::parse(options) {
            Ok(Command::Serve(args)) => Ok(Self::of(&args).await?),
            Ok(Command::Help) => Err(DemoError::Options("--help is no option of a demo cluster".to_owned())),
            Err(error) => Err(DemoError::Options(error.to_string())),
        }
    }

    /// Its API server, as a service: every request is answered as on a socket, WebSockets included.
    pub fn router(&self) -> axum::Router {
        server::router(Arc::clone(&self.app))
    }

    async fn of(args: &Args) -> std::io::Result<Self> {
        let app = start(args).await?;
        let controllers = match args.controllers {
            true => {
                let options = controllers::options::Options {
                    seed: args.seed,
                    failed_nodes: app.control.failed_nodes.clone(),
                    pace: args.pace,
                };
                Some(controllers::start(server::router(Arc::clone(&app)), options)?)
            }
            false => None,
        };
        if args.scenarios.iter().any(|one| !one.is_load()) {
            let client = Client::new(server::router(Arc::clone(&app)), "kubectl");
            app.control.runner.begin(client, &args.scenarios);
        }
        Ok(Self { app, controllers })
    }
}

/// Resolves when the process receives a signal to end.
async fn terminated() {
    use tokio::signal::unix::{SignalKind, signal};

    match (signal(SignalKind::interrupt()), signal(SignalKind::terminate())) {
        (Ok(mut interrupt), Ok(mut terminate)) => {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
        }
        // Without handlers, a signal ends the process in the default way.
        _ => std::future::pending().await,
    }
}

async fn bind(port: u16) -> std::io::Result<(TcpListener, SocketAddr)> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
    let address = listener.local_addr()?;
    Ok((listener, address))
}

/// Opens the storage and starts a server on it.
async fn start(args: &Args) -> std::io::Result<Arc<App>> {
    let (storage, faults) = bootstrap::open(args).await?;
    args.faults.iter().cloned().for_each(|fault| drop(faults.add(fault)));
    let file = args.ledger.as_deref().map(File::create).transpose()?.unwrap_or_default();
    let audit = args.audit.as_deref().map(AuditLog::create).transpose()?.unwrap_or_default();
    let app = start_on(storage, faults, (file, audit), args).await.map_err(std::io::Error::other)?;
    let own = controllers::start_apiserver_controllers(server::router(Arc::clone(&app)), args.seed)?;
    // The task ends with the runtime that serves.
    tokio::spawn(async move {
        let _own = own;
        std::future::pending::<()>().await;
    });
    Ok(app)
}

/// Populates the cluster, unless the storage has one already.
async fn start_on(
    storage: Arc<dyn Storage>,
    faults: Arc<Faults>,
    (file, audit): (File, AuditLog),
    args: &Args,
) -> Result<Arc<App>, StorageError> {
    let ledger = Ledger::start(Arc::clone(&storage), storage.revision().await?, file);
    tokio::spawn(cacher::compactor::run(Arc::clone(&storage)));
    tokio::spawn(write::event_ttl::run(Arc::clone(&storage), args.events));
    let store = Arc::new(Store::new(Arc::clone(&storage)));
    let runner = Runner::new(args.seed);
    // The direct writes of a load do not wait for answers, which an etcd would require.
    let is_load = args.etcd.is_none() && args.scenarios.iter().any(|one| one.is_load());
    runner.populate(&store, args.pods, is_load.then_some(args.rate)).await?;
    bootstrap::system_namespaces(&store).await?;
    let api = Arc::new(Api {
        store,
        ledger,
        registry: Registry::default(),
        faults,
        bookmark_every: args.bookmark_every,
        log_ends: Default::default(),
        watches: std::sync::atomic::AtomicU64::new(args.seed),
    });
    endpoints::discovery_controller::start(Arc::clone(&api), storage).await?;
    // Every cache is started here, so that a watch may start from any later revision.
    let cachers: Vec<_> = api.registry.all().iter().map(|resource| api.store.cacher(resource)).collect();
    for cacher in cachers {
        cacher.wait_until_fresh(0).await;
    }
    Ok(Arc::new(App { api, control: Control { failed_nodes: Default::default(), runner }, audit }))
}
