//! Puts the parts together: reads the command line, populates the cluster, serves it and lets it change.

mod args;
mod bootstrap;
mod cacher;
mod client;
mod controllers;
mod endpoints;
mod faults;
mod printers;
mod resources;
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

use crate::native::args::{Args, Command};
use crate::native::client::rest::Client;
use crate::native::endpoints::server::App;
use crate::native::faults::Faults;
use crate::native::faults::ledger::Ledger;
use crate::native::faults::ledger::file::File;
use crate::native::resources::registry::Registry;
use crate::native::scenario::director::Director;
use crate::native::storage::{Storage, StorageError};
use crate::native::store::Store;

/// Runs the server until it is killed.
pub fn main() -> ExitCode {
    let args = match args::parse(std::env::args().skip(1)) {
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
            let options = controllers::manager::Options {
                seed: args.seed,
                lease: Some(Default::default()),
                fleet: app.fleet.clone(),
                pace: args.pace,
                ..Default::default()
            };
            Some(controllers::start(endpoints::server::router(Arc::clone(&app)), options)?)
        }
        false => None,
    };
    if args.scenarios.iter().any(|one| !one.is_load()) {
        let client = Client::new(endpoints::server::router(Arc::clone(&app)), "kubectl");
        app.director.begin(client, &args.scenarios);
    }
    let mut stdout = std::io::stdout();
    writeln!(stdout, "listening on http://{address}")?;
    stdout.flush()?;
    let Some(controllers) = controllers else {
        return endpoints::server::serve(listener, app).await;
    };
    tokio::select! {
        served = endpoints::server::serve(listener, app) => served,
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
    let own = controllers::start_servers_own(endpoints::server::router(Arc::clone(&app)), args.seed)?;
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
    director.populate(&store, args).await?;
    bootstrap::system_namespaces(&store).await?;
    let app = Arc::new(App {
        store,
        ledger,
        registry: Registry::default(),
        faults,
        fleet: Default::default(),
        bookmark_every: args.bookmark_every,
        director,
        watches: std::sync::atomic::AtomicU64::new(args.seed),
    });
    resources::discovery_controller::start(Arc::clone(&app), storage).await?;
    // From here on every cache knows what happens, so that a watch may start anywhere after.
    let cachers: Vec<_> = app.registry.all().iter().map(|resource| app.store.cacher(resource)).collect();
    for cacher in cachers {
        cacher.wait_until_fresh(0).await;
    }
    Ok(app)
}
