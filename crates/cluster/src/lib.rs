//! The demo cluster: a Kubernetes API server for demos and tests, with controllers, kubelets, and users who change it.
//!
//! ```text
//! kubectl, the page ─┐                           ┌─► cacher (one per resource) ─► watcher ─► form ─► frames
//! scenario (users)  ─┼─► endpoints ─► store ─► storage (memory, etcd)     │      HTTP, WebSocket
//! controllers       ─┤   faults ↑       │        └─► ledger               │
//! scheduler, kubelets┘                  └────────────── lists ◄───────────┘
//! ```
//!
//! From the ground up; no folder imports one above it:
//!
//! - `storage/` keeps keys under one revision; `resources/` is what is served, `status.rs` how a refusal is told, and
//!   `printers/` in which form an object is sent.
//! - `cacher/` and `store.rs` read and write objects; `request/` is what is asked for.
//! - `faults/` breaks what is answered; `ledger/` writes down what was really sent.
//! - `write/` and `endpoints/` are the handlers, who share `api.rs`; `server.rs` says which of them answers a request.
//!
//! `client/` is client-go to what runs inside the same process, and knows nothing of the server: `controllers/` bring
//! the cluster to where it should be, `scenario/` is what happens in it. Only what a scenario writes past the API uses
//! the store. `control/` is how a test turns all of it.
//!
//! It listens on 127.0.0.1 only and answers only requests whose Host, and Origin if any, is loopback. Behind
//! `kubectl -s http://127.0.0.1:PORT proxy` it looks like a cluster, and kubectl itself takes it for one:
//! `crates/cluster/tests/kubectl/`. `--help` lists the options.
//!
//! # Control
//!
//! For tests; JSON answers, a `Status` on mistakes. `RESOURCE` is a plural name such as `pods`.
//!
//! | request | effect |
//! |---|---|
//! | `POST /_control/rate?value=R` | a storm writes R times a second from now on; at 0 users rest as well. Answered, with the newest revision, after the storm's last write at the old rate |
//! | `GET /_control/scenario`, `POST /_control/scenario?name=NAME&on=true\|false` | what users play now; starts and ends a scenario |
//! | `POST /_control/compact` | older revisions expire: watches from them and pages at them get 410. Running watches go on |
//! | `POST /_control/forbid?verb=list\|watch\|get&resource=RESOURCE` | 403 from now on; cuts the resource's watches |
//! | `POST /_control/allow?verb=…&resource=RESOURCE` | takes it back |
//! | `POST /_control/cut[?resource=RESOURCE]` | drops the watches' connections, sockets without a close frame |
//! | `POST /_control/stall?on=true\|false` | nothing is sent, no answer and no event, except by `/_control`. Watches that fall behind meanwhile end when it is over |
//! | `POST /_control/watchlist?on=true\|false` | the feature gate WatchList: without it `sendInitialEvents` is 422, as before Kubernetes 1.34 |
//! | `GET /_control/watches?resource=RESOURCE` | how many watches of it there are |
//! | `POST /_control/node?name=NAME&down=true\|false` | a node's kubelet falls silent, while its containers run on; and comes back |
//! | `POST /_control/put` | writes the object in the body, whatever its name; `kind` and `apiVersion` say where |
//! | `GET /_control/log[?resource=RESOURCE]` | the newest 200,000 writes since the start, population included: `[{revision,type,key,uid,resource,verb,hash}]` |
//! | `GET /_control/frames[?connection=N&resource=RESOURCE]` | the newest 100,000 frames that were sent: `[{time,connection,transport,resource,path,frame,type,key,uid,resourceVersion,bytes,hash,fault}]` |
//! | `GET /_control/connections[?connection=N&resource=RESOURCE]` | the newest 10,000 watches' connections: `[{connection,transport,resource,path,userAgent,opened,closed,reason,frames,bytes}]` |
//! | `POST /_control/fault?WORDS` | a fault, such as `status=429&verb=list&resource=pods&times=3`; the words below |
//! | `GET /_control/faults` | the faults: `{rules: [{id,fault,matched,struck,over}], orders: {cut: 3}}`, with how often each has struck |
//! | `DELETE /_control/faults[?id=N]`, `POST /_control/clear[?id=N]` | takes one fault back, or all |
//! | `POST /_control/restart?revision=N` | the server begins anew: connections drop, caches are empty, the objects stay and get the revisions after N |
//!
//! The words of a fault, on the command line with commas between: `--fault status=429,verb=list,times=3`. Exactly one
//! row says what happens; the cluster's own controllers are spared.
//!
//! | words | effect |
//! |---|---|
//! | `status=CODE [retry-after=SECONDS] [body=text]` | refused, with a `Status` or plain text; 429 and 503 say `Retry-After: 1` by themselves |
//! | `delay-ms=N`, `drip=BYTES [pause-ms=N]` | answered late; the body so many bytes at a time |
//! | `stall=true` | not answered, and running watches bring nothing, until it is taken back |
//! | `watch-list=off` | 422 for `sendInitialEvents` |
//! | `frame=delay [delay-ms=N]`, `duplicate`, `reorder`, `lose`, `truncate`, `not-json`, `wrong-type`, `unknown-type`, `huge`, `no-end-bookmark` | what happens to a watch's frame |
//! | `end=close\|drop` | a watch ends with 1000, or without a word |
//! | `skew=SECONDS` | the clock is wrong: timestamps, ages, `Date` |
//! | `resource=` `verb=` `namespace=` `user-agent=`, for frames `event=` | whom it strikes |
//! | `times=N` `after=N` `probability=P [seed=S]` | how often: at most N times, not the first N requests or frames of a connection, by dice |
//!
//! # Containers
//!
//! No container runs anything. What one does is told by its Pod, so that kubectl can make it fail:
//!
//! | told by | effect |
//! |---|---|
//! | an image tag with `typo`, `nosuch` or `missing` in it | `ErrImagePull`, `ImagePullBackOff` |
//! | a command of `sleep`, `true`, `false`, `echo`, `exit`, alone or as `sh -c 'sleep 5; exit 3'` | it ends so, and is restarted, or not, as its Pod says; any other command runs on, but a Job's Pod succeeds after some seconds |
//! | `demo.kubechurn.dev/run-for: 30s`, with `…/exit-code: "3"` | the first container ends after that |
//! | `demo.kubechurn.dev/oom-after: 20s` | it is killed for its memory: 137, `OOMKilled` |
//! | `demo.kubechurn.dev/fail-ready: always`, or `10s` | it is never ready; or not for so long, and then for so long, in turns |
//! | `demo.kubechurn.dev/fail-live: 20s` | its liveness probe fails then, and it is restarted |
//!
//! The last four are annotations of the Pod. `--pace` scales back-offs and what follows when a node fails.
//!
//! # Deliberately absent
//!
//! No compression, no schemas (fields are not validated, OpenAPI names operations only), no admission but defaults,
//! no field ownership: a server-side apply is a merge that creates what is missing. Protobuf is read where `kubectl
//! create` and `drain` write it, and never written. Lists of custom resources are merged as one. Only with `--etcd`
//! does anything outlive the process. A foreign Origin is refused, which the real server does not do.
//! `docs/differences.md` lists what else is different from what a real server was recorded to say; a test holds that
//! list.

mod api;
mod args;
mod bootstrap;
mod cacher;
mod client;
mod control;
mod controllers;
mod endpoints;
mod faults;
mod ledger;
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
use crate::client::rest::Client;
use crate::control::Control;
use crate::faults::Faults;
use crate::ledger::Ledger;
use crate::ledger::file::File;
use crate::resources::registry::Registry;
use crate::scenario::director::Director;
use crate::server::App;
use crate::storage::{Storage, StorageError};
use crate::store::Store;

/// Runs the server until it is killed.
pub fn main() -> ExitCode {
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
    let app = start(&args).await?;
    let controllers = match args.controllers {
        true => {
            let options = controllers::options::Options {
                seed: args.seed,
                lease: Some(Default::default()),
                fleet: app.control.fleet.clone(),
                pace: args.pace,
                ..Default::default()
            };
            Some(controllers::start(server::router(Arc::clone(&app)), options)?)
        }
        false => None,
    };
    if args.scenarios.iter().any(|one| !one.is_load()) {
        let client = Client::new(server::router(Arc::clone(&app)), "kubectl");
        app.control.director.begin(client, &args.scenarios);
    }
    let mut stdout = std::io::stdout();
    writeln!(stdout, "listening on http://{address}")?;
    stdout.flush()?;
    let Some(controllers) = controllers else {
        return server::serve(listener, app).await;
    };
    tokio::select! {
        served = server::serve(listener, app) => served,
        // The controllers let go of what is theirs alone, so that others need not wait for it.
        () = terminated() => {
            controllers.stop().await;
            Ok(())
        }
    }
}

/// Resolves when the process is asked to end.
async fn terminated() {
    use tokio::signal::unix::{SignalKind, signal};

    match (signal(SignalKind::interrupt()), signal(SignalKind::terminate())) {
        (Ok(mut interrupt), Ok(mut terminate)) => {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
        }
        // Without handlers the signals end the process as they always do.
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
    let app = start_on(storage, faults, file, args).await.map_err(std::io::Error::other)?;
    let own = controllers::start_servers_own(server::router(Arc::clone(&app)), args.seed)?;
    // They end with the runtime that serves.
    tokio::spawn(async move {
        let _own = own;
        std::future::pending::<()>().await;
    });
    Ok(app)
}

/// Populates a cluster, unless there is one in the storage already.
async fn start_on(
    storage: Arc<dyn Storage>,
    faults: Arc<Faults>,
    file: File,
    args: &Args,
) -> Result<Arc<App>, StorageError> {
    let ledger = Ledger::start(Arc::clone(&storage), storage.revision().await?, file);
    tokio::spawn(cacher::compactor::run(Arc::clone(&storage)));
    tokio::spawn(write::event_ttl::run(Arc::clone(&storage), args.events));
    let store = Arc::new(Store::new(Arc::clone(&storage)));
    let director = Director::new(args.seed);
    // Writes past the API do not wait, which an etcd would have them do.
    let is_load = args.etcd.is_none() && args.scenarios.iter().any(|one| one.is_load());
    director.populate(&store, args.pods, is_load.then_some(args.rate)).await?;
    bootstrap::system_namespaces(&store).await?;
    let api = Arc::new(Api {
        store,
        ledger,
        registry: Registry::default(),
        faults,
        bookmark_every: args.bookmark_every,
        watches: std::sync::atomic::AtomicU64::new(args.seed),
    });
    endpoints::discovery_controller::start(Arc::clone(&api), storage).await?;
    // From here on every cache knows what happens, so that a watch may start anywhere after.
    let cachers: Vec<_> = api.registry.all().iter().map(|resource| api.store.cacher(resource)).collect();
    for cacher in cachers {
        cacher.wait_until_fresh(0).await;
    }
    Ok(Arc::new(App { api, control: Control { fleet: Default::default(), director } }))
}
