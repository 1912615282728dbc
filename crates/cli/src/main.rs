//! `kubechurn`: the page and a cluster behind it, in one program; and, without a browser, a recorder of what happens in a
//! cluster.
//!
//! - `serve` serves the page and passes on what a cluster says, of which it reads nothing; or a recording in place of a cluster.
//! - `site` makes a folder of the page and recordings, for any web server.
//! - `record` writes what a cluster says into a file, and `changes` prints the changes in such a file.

mod args;
mod audit;
mod changes;
mod looked;
mod record;
mod serve;
mod site;
mod store;

use std::fmt::Display;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::args::{ArgsError, Command, Record};
use crate::changes::ChangesError;
use crate::record::RecordError;
use crate::serve::ServeError;
use crate::site::SiteError;
use crate::store::{Fetched, StoreError};

/// Why the program ends before anybody ends it.
#[derive(Debug, thiserror::Error)]
enum Error {
    #[error(transparent)]
    Args(#[from] ArgsError),
    #[error(transparent)]
    Serve(#[from] ServeError),
    #[error(transparent)]
    Record(#[from] RecordError),
    #[error(transparent)]
    Changes(#[from] ChangesError),
    #[error(transparent)]
    Site(#[from] SiteError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("{0}")]
    System(#[from] io::Error),
}

fn main() -> ExitCode {
    kubechurn_cluster::abort_on_panic();
    let done = args::parse(std::env::args_os().skip(1)).map_err(Error::from).and_then(|command| match command {
        Command::Help(text) => Ok(print(text).map(|()| ExitCode::SUCCESS)?),
        Command::Version => {
            Ok(print(concat!("kubechurn ", env!("CARGO_PKG_VERSION"), "\n")).map(|()| ExitCode::SUCCESS)?)
        }
        Command::Serve(serve) => serve_until_ended(async { Ok(serve::run(serve).await?) }),
        Command::Open(mut open) => serve_until_ended(async {
            let fetched = fetched(&open.path, open.from, open.to).await?;
            fetched.iter().for_each(|fetched| open.path.clone_from(&fetched.path));
            Ok(serve::open(open).await?)
        }),
        Command::Record(record) => {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            let code = runtime.block_on(record_until_ended(record));
            runtime.shutdown_background();
            code
        }
        Command::Changes(mut changes) => {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            let fetched = runtime.block_on(fetched(&changes.file, changes.from, changes.to))?;
            fetched.iter().for_each(|fetched| changes.file.clone_from(&fetched.path));
            Ok(changes::run(&changes).map(|()| ExitCode::SUCCESS)?)
        }
        Command::Site(site) => Ok(site::run(&site).map(|()| ExitCode::SUCCESS)?),
    });
    done.unwrap_or_else(|error| {
        report(&error);
        ExitCode::FAILURE
    })
}

/// The files of a recording that is in an object store; `None` for one that is here.
async fn fetched(path: &Path, from: Option<f64>, to: Option<f64>) -> Result<Option<Fetched>, StoreError> {
    match path.to_str().filter(|path| store::parts(path).is_some()) {
        Some(address) => store::fetch(address, from, to).await.map(Some),
        None => Ok(None),
    }
}

/// Says what went wrong.
fn report(error: &impl Display) {
    // Whoever closed the output does not wait for these words.
    let _ = writeln!(io::stderr(), "kubechurn: {error}");
}

/// Writes to the standard output, which may be closed.
fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout();
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// The signals by which a person ends a program.
struct Signals {
    hang_up: Signal,
    interrupt: Signal,
    terminate: Signal,
}

impl Signals {
    fn new() -> io::Result<Signals> {
        Ok(Signals {
            hang_up: signal(SignalKind::hangup())?,
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }

    /// Waits for one of them, and returns its number.
    async fn came(&mut self) -> u8 {
        let came = async |signal: &mut Signal, number: u8| {
            // A signal that can no longer come is waited for without end.
            if signal.recv().await.is_none() {
                std::future::pending::<()>().await;
            }
            number
        };
        tokio::select! {
            number = came(&mut self.hang_up, 1) => number,
            number = came(&mut self.interrupt, 2) => number,
            number = came(&mut self.terminate, 15) => number,
        }
    }
}

/// Serves until a signal comes, or until that fails. All that was started has ended then.
fn serve_until_ended(served: impl Future<Output = Result<(), Error>>) -> Result<ExitCode, Error> {
    let runtime = tokio::runtime::Runtime::new()?;
    let code = runtime.block_on(async {
        let mut signals = Signals::new()?;
        tokio::select! {
            ended = served => ended.map(|()| ExitCode::SUCCESS),
            // As a shell says it: https://pubs.opengroup.org/onlinepubs/9799919799/utilities/V3_chap02.html#tag_19_08_02
            number = signals.came() => Ok(ExitCode::from(128 + number)),
        }
    });
    // What still runs there, as a browser that was opened, is not waited for.
    runtime.shutdown_background();
    code
}

/// The exit code where a recording ends before the change has come at which it should.
const NOT_REACHED: u8 = 2;

/// Records until a signal comes, which is how a recording is meant to end.
async fn record_until_ended(record: Record) -> Result<ExitCode, Error> {
    let mut signals = Signals::new()?;
    let ended = async {
        signals.came().await;
    };
    let is_as_wanted = record::run(record, ended).await?;
    Ok(if is_as_wanted { ExitCode::SUCCESS } else { ExitCode::from(NOT_REACHED) })
}
