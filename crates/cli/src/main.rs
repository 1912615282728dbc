//! `kubechurn`: the page and a cluster behind it, in one program.
//!
//! ```text
//! browser ─► server ─► guard ─┬─► page: the files that build.rs has put into the program
//!  (127.0.0.1)   (who, what)  └─► upstream ─┬─► the demo cluster, in this process
//!                                           └─► kubectl proxy, at a Unix socket ─► API server
//! ```
//!
//! Several contexts are several such clusters at one port, each with a page, a `kubectl proxy` and a secret path of its own. So
//! they are of one origin, and a page may ask all of them.
//!
//! The page is the same one that `kubectl churn` and `./dev serve` show, and the cluster's answers reach it unchanged: nothing
//! of them is read here. What this program adds is who is let in, and to what (`guard`, `api_path`); it is stricter than
//! `kubectl proxy`, which looks at no Origin. The address has 128 random bits, a new one at each start, and stands in no
//! argument of kubectl.
//!
//! What was started ends with this program: `kubectl proxy` is killed and its folder removed when [`kubectl::Proxy`] is dropped,
//! and every signal that ends a program by a person's wish is awaited, so that it is dropped.
//!
//! # Deliberately absent
//!
//! TLS and every address but 127.0.0.1: whoever wants the page from elsewhere has `ssh -L`. Credentials, which kubectl has.
//! Any answer that was changed or kept.

mod api_path;
mod args;
mod browser;
mod guard;
mod kubectl;
mod page;
mod server;
mod upstream;

use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::net::Ipv4Addr;
use std::process::ExitCode;

use futures::future::try_join_all;
use futures::stream::{FuturesUnordered, StreamExt};
use kubechurn_cluster::{Demo, DemoError};
use tokio::net::TcpListener;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::args::{ArgsError, Cluster, Command, Contexts, HELP, Kubectl, Serve};
use crate::guard::Guard;
use crate::kubectl::{KubectlError, Proxy};
use crate::page::Page;
use crate::server::Site;
use crate::upstream::Upstream;

/// Why the program ends before anybody ends it.
#[derive(Debug, thiserror::Error)]
enum Error {
    #[error(transparent)]
    Args(#[from] ArgsError),
    #[error("this kubechurn was built without the page: `./dev release` builds it with the page in it")]
    NoPage,
    #[error(transparent)]
    Kubectl(#[from] KubectlError),
    #[error(transparent)]
    Demo(#[from] DemoError),
    #[error("port {0} is taken: choose another one with --port, or leave the flag out")]
    PortTaken(u16),
    #[error("cannot listen on 127.0.0.1: {0}")]
    Listen(#[source] io::Error),
    #[error("kubectl proxy ended: {0}")]
    KubectlEnded(String),
    #[error("{0}")]
    System(#[from] io::Error),
}

fn main() -> ExitCode {
    let done = args::parse(std::env::args_os().skip(1)).map_err(Error::from).and_then(|command| match command {
        Command::Help => print(HELP).map(|()| ExitCode::SUCCESS),
        Command::Version => print(concat!("kubechurn ", env!("CARGO_PKG_VERSION"), "\n")).map(|()| ExitCode::SUCCESS),
        Command::Serve(serve) => {
            let runtime = tokio::runtime::Runtime::new()?;
            let code = runtime.block_on(until_ended(serve));
            // What still runs there, as a browser that was opened, is not waited for.
            runtime.shutdown_background();
            code
        }
    });
    done.unwrap_or_else(|error| {
        tell(&error);
        ExitCode::FAILURE
    })
}

/// Tells what went wrong.
fn tell(error: &Error) {
    // Whoever closed the output does not wait for these words.
    let _ = writeln!(io::stderr(), "kubechurn: {error}");
}

/// Writes to the standard output, which may be closed.
fn print(text: &str) -> Result<(), Error> {
    let mut out = io::stdout();
    out.write_all(text.as_bytes())?;
    Ok(out.flush()?)
}

/// Runs until a signal comes, or until that fails. All that was started has ended then.
async fn until_ended(serve: Serve) -> Result<ExitCode, Error> {
    let mut hang_up = signal(SignalKind::hangup())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let came = async |signal: &mut Signal, number: u8| {
        // A signal that can no longer come is waited for without end.
        if signal.recv().await.is_none() {
            std::future::pending::<()>().await;
        }
        // As a shell says it: https://pubs.opengroup.org/onlinepubs/9799919799/utilities/V3_chap02.html#tag_19_08_02
        ExitCode::from(128 + number)
    };
    tokio::select! {
        ended = run(serve) => ended.map(|()| ExitCode::SUCCESS),
        code = came(&mut hang_up, 1) => Ok(code),
        code = came(&mut interrupt, 2) => Ok(code),
        code = came(&mut terminate, 15) => Ok(code),
    }
}

/// A cluster behind a page.
struct Backend {
    upstream: Upstream,
    /// Its name, as the page shows it.
    name: String,
    /// The context by which it is chosen among several.
    context: String,
    /// The namespace that it shows at first unless the user names others; empty for all.
    namespace: String,
    /// What is said of it on the terminal.
    words: String,
    secrets: bool,
    /// What must run as long as it is served.
    running: Running,
}

enum Running {
    Demo { _cluster: Demo },
    Kubectl(Box<Proxy>),
}

impl Running {
    /// Waits until `kubectl proxy` ends, and says of which context and with which words; a demo cluster does not.
    async fn ended(&mut self, context: &str) -> String {
        match self {
            Self::Demo { .. } => std::future::pending().await,
            Self::Kubectl(proxy) => {
                let said = proxy.ended().await;
                if context.is_empty() { said } else { format!("{said} (context {context})") }
            }
        }
    }
}

async fn run(serve: Serve) -> Result<(), Error> {
    if Page::new("", "").is_none() {
        return Err(Error::NoPage);
    }
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, serve.port)).await.map_err(|error| match error.kind() {
        ErrorKind::AddrInUse => Error::PortTaken(serve.port),
        _ => Error::Listen(error),
    })?;
    let port = listener.local_addr().map_err(Error::Listen)?.port();
    let backends = match serve.cluster {
        Cluster::Demo(options) => vec![demo(options).await?],
        Cluster::Kubectl(contexts, kubectl) => real(contexts, &kubectl).await?,
    };
    let tokens = backends.iter().map(|_| token()).collect::<io::Result<Vec<String>>>()?;
    let page_at = |token: &str| format!("http://127.0.0.1:{port}/{token}/");
    let named = tokens.iter().zip(&backends);
    let named = named.map(|(token, one)| format!("{} {}", page_at(token), page::shown(&one.context)));
    let clusters = if backends.len() > 1 { named.collect::<Vec<_>>().join(",") } else { String::new() };
    let namespaces = serve.namespaces.as_deref().or(backends.first().map(|first| &*first.namespace));
    let scope = namespaces.filter(|names| !names.is_empty()).map(|names| format!("?ns={names}")).unwrap_or_default();
    let url = format!("{}#/{}{scope}", tokens.first().map_or_else(String::new, |first| page_at(first)), serve.view);
    let (mut sites, mut running, mut words) = (Vec::new(), Vec::new(), String::new());
    for (token, backend) in tokens.into_iter().zip(backends) {
        let page = Page::new(&backend.name, &clusters).ok_or(Error::NoPage)?;
        let guard = Guard { token, port, secrets: backend.secrets };
        sites.push(Site { guard, page, upstream: backend.upstream });
        running.push((backend.context, backend.running));
        words.push_str(&format!("Cluster  {}\n", backend.words));
    }
    print(&format!(
        "{words}Page     {url}\n         \
         Keep this address to yourself: who has it reads the cluster as you do. Ctrl-C ends it.\n"
    ))?;
    if serve.open {
        tokio::spawn(async move {
            if !browser::open(&url).await {
                // Whoever closed the output does not wait for these words.
                let _ = print("No browser could be opened from here: open the address yourself.\n");
            }
        });
    }
    tokio::select! {
        served = server::serve(listener, sites) => Ok(served?),
        error = all_ended(&mut running) => Err(error),
    }
}

/// Waits until no cluster is left. One of several that ends is named, and the others go on.
async fn all_ended(running: &mut [(String, Running)]) -> Error {
    let mut left: FuturesUnordered<_> = running.iter_mut().map(|(context, one)| one.ended(context)).collect();
    loop {
        let said = left.next().await.unwrap_or_default();
        if left.is_empty() {
            return Error::KubectlEnded(said);
        }
        tell(&Error::KubectlEnded(said));
    }
}

async fn demo(options: Vec<std::ffi::OsString>) -> Result<Backend, Error> {
    let cluster = Demo::start(options).await?;
    Ok(Backend {
        upstream: Upstream::Demo(cluster.router()),
        name: "demo cluster".to_owned(),
        context: String::new(),
        namespace: String::new(),
        words: "demo cluster, made up in this program; --context NAME shows one of yours".to_owned(),
        secrets: true,
        running: Running::Demo { _cluster: cluster },
    })
}

async fn real(contexts: Contexts, kubectl: &Kubectl) -> Result<Vec<Backend>, Error> {
    let of = |context| Kubectl { context: Some(context), ..kubectl.clone() };
    let all: Vec<Kubectl> = match contexts {
        Contexts::Current => vec![kubectl.clone()],
        Contexts::Named(names) => names.into_iter().map(of).collect(),
        Contexts::All => kubectl.contexts().await?.into_iter().map(of).collect(),
    };
    let several = all.len() > 1;
    try_join_all(all.iter().map(|one| one_of(one, several))).await
}

/// One cluster. Of several, one that does not answer is named, and served all the same: it may answer later.
async fn one_of(kubectl: &Kubectl, several: bool) -> Result<Backend, Error> {
    let mut found = kubectl.find().await?;
    match found.trouble.take() {
        Some(trouble) if several => tell(&trouble.into()),
        Some(trouble) => return Err(trouble.into()),
        None => {}
    }
    // A name may contain what a terminal would take for a command.
    let plain = |name: &str| name.replace(char::is_control, "_");
    // Of several, one may name a namespace that another one does not have.
    let is_shown = !several && args::is_name(&found.namespace);
    let proxy = kubectl.proxy().await?;
    Ok(Backend {
        upstream: Upstream::Kubectl(proxy.socket().to_owned()),
        namespace: if is_shown { found.namespace } else { String::new() },
        words: format!("{} (context {}), read-only", plain(&found.cluster), plain(&found.context)),
        name: found.cluster,
        context: if several { plain(&found.context) } else { String::new() },
        secrets: kubectl.secrets,
        running: Running::Kubectl(Box::new(proxy)),
    })
}

/// 128 random bits, in hexadecimal.
///
/// # Errors
/// When the system has none.
fn token() -> io::Result<String> {
    let mut bits = [0_u8; 16];
    File::open("/dev/urandom")?.read_exact(&mut bits)?;
    Ok(bits.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_another_one_each_time() {
        let (one, other) = (token().unwrap(), token().unwrap());
        assert!(one.len() == 32 && one.bytes().all(|byte| byte.is_ascii_hexdigit()), "{one}");
        assert_ne!(one, other);
    }
}
