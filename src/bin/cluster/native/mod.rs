//! Puts the parts together: reads the command line, populates the cluster, serves it and lets it change.

mod args;

mod builtin;
mod columns;
mod definition;
mod jsonpath;
mod registry;
mod resource;

mod object;
mod storage;
mod watch_cache;

mod form;
mod table;
mod watcher;

mod control;
mod discovery;
mod faults;
mod list;
mod openapi;
mod options;
mod paging;
mod selector;
mod server;
mod status;
mod target;
mod watch;

mod body;
mod collector;
mod defaults;
mod delete;
mod json_patch;
mod managed_fields;
mod merge;
mod patch;
mod protobuf;
mod scale;
mod strategic;
mod validate;
mod write;

mod base64;
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

use args::{Args, Command};
use registry::Registry;
use scenario::Scenario;
use server::App;
use storage::Storage;

/// Runs the server until it is killed.
pub fn main() -> ExitCode {
    let args = match args::parse(std::env::args().skip(1)) {
        Ok(Command::Serve(args)) => args,
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
    let app = start(&args);
    let mut stdout = std::io::stdout();
    writeln!(stdout, "listening on http://{address}")?;
    stdout.flush()?;
    server::serve(listener, app).await
}

async fn bind(port: u16) -> std::io::Result<(TcpListener, SocketAddr)> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
    let address = listener.local_addr()?;
    Ok((listener, address))
}

/// Populates a cluster and starts its changes.
fn start(args: &Args) -> Arc<App> {
    let storage = Arc::new(Storage::new(args.seed, args.first_revision));
    let (orders, inbox) = tokio::sync::mpsc::channel(8);
    let scenario = Scenario::populate(Arc::clone(&storage), args);
    storage.settle();
    tokio::spawn(scenario.run(inbox, args.rate));
    let (collector, work) = tokio::sync::mpsc::unbounded_channel();
    let app = Arc::new(App {
        storage,
        registry: Registry::default(),
        collector,
        faults: Arc::default(),
        bookmark_every: args.bookmark_every,
        scenario: orders,
        watches: std::sync::atomic::AtomicU64::new(args.seed),
    });
    tokio::spawn(collector::run(Arc::clone(&app), work));
    app
}
