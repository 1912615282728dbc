//! Serves the page and a cluster behind it.
//!
//! ```text
//! browser ─► server ─► guard ─┬─► page: the files that build.rs has put into the program
//!  (127.0.0.1)   (who, what)  ├─► recording: a file, or those of a folder, in place of a cluster
//!                             └─► upstream ─┬─► the demo cluster, in this process
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
//! What was started ends with this program: `kubectl proxy` is killed and its folder removed when [`kubectl::Proxy`] is dropped.
//!
//! # Deliberately absent
//!
//! TLS and every address but 127.0.0.1: whoever wants the page from elsewhere has `ssh -L`. Credentials, which kubectl has.
//! Any answer that was changed or kept.

mod api_path;
mod browser;
mod guard;
mod kubectl;
pub mod page;
mod recording;
mod server;
mod upstream;

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::net::Ipv4Addr;
use std::sync::Arc;

use futures::future::try_join_all;
use futures::stream::{FuturesUnordered, StreamExt};
use kubechurn_cluster::{Demo, DemoError};
use tokio::net::TcpListener;

use self::guard::Guard;
use self::kubectl::{KubectlError, Proxy};
use self::page::Page;
use self::recording::{Recording, RecordingError};
use self::server::{Site, Source};
use self::upstream::Upstream;
use crate::args::{self, Cluster, Contexts, Kubectl, Open, Serve};
use crate::{print, report};

/// Why nothing is served any more.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    #[error("this kubechurn was built without the page: `./dev release` builds it with the page in it")]
    NoPage,
    #[error(transparent)]
    Kubectl(#[from] KubectlError),
    #[error(transparent)]
    Demo(#[from] DemoError),
    #[error(transparent)]
    Recording(#[from] RecordingError),
    #[error("port {0} is taken: choose another one with --port, or leave the flag out")]
    PortTaken(u16),
    #[error("cannot listen on 127.0.0.1: {0}")]
    Listen(#[source] io::Error),
    #[error("kubectl proxy ended: {0}")]
    KubectlEnded(String),
    #[error("{0}")]
    System(#[from] io::Error),
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

/// Serves until that fails.
///
/// # Errors
/// When it cannot begin, or not go on.
pub async fn run(serve: Serve) -> Result<(), ServeError> {
    if Page::new("", "").is_none() {
        return Err(ServeError::NoPage);
    }
    let earlier = serve.recordings.map(|path| Recording::find(path, None, None).map(Arc::new)).transpose()?;
    let (listener, port) = listen(serve.port).await?;
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
        let page = Page::new(&backend.name, &clusters).ok_or(ServeError::NoPage)?;
        let guard = Guard { token, port, secrets: backend.secrets };
        sites.push(Site { guard, page, source: Source::Api(backend.upstream), earlier: earlier.clone() });
        running.push((backend.context, backend.running));
        words.push_str(&format!("Cluster  {}\n", backend.words));
    }
    if let Some((address, title)) = earlier.and_then(|earlier| earlier.offer()) {
        let page = url.split('#').next().unwrap_or_default();
        words.push_str(&format!("Earlier  {page}#/open?url={address} ({title})\n").replace("(earlier: ", "("));
    }
    print(&format!(
        "{words}Page     {url}\n         \
         Keep this address to yourself: who has it reads the cluster as you do. Ctrl-C ends it.\n"
    ))?;
    if serve.open {
        show(url);
    }
    tokio::select! {
        served = server::serve(listener, sites) => Ok(served?),
        error = all_ended(&mut running) => Err(error),
    }
}

/// Serves a recording until that fails.
///
/// # Errors
/// When it cannot begin, or not go on.
pub async fn open(open: Open) -> Result<(), ServeError> {
    let Open { path, from, to, port, open } = open;
    let said = path.display().to_string();
    let recording = Recording::find(path, from, to)?;
    let page = Page::new("recording", "").ok_or(ServeError::NoPage)?;
    let (listener, port) = listen(port).await?;
    let token = token()?;
    let url = format!("http://127.0.0.1:{port}/{token}/#/open?url={}", recording.address());
    print(&format!(
        "Recording  {said}\nPage       {url}\n           \
         Keep this address to yourself: who has it can read the recording. Ctrl-C ends it.\n"
    ))?;
    if open {
        show(url);
    }
    let guard = Guard { token, port, secrets: false };
    Ok(server::serve(listener, vec![Site { guard, page, source: Source::Recording(recording), earlier: None }]).await?)
}

/// Listens at a port of this machine's own address, and returns which it is; 0 is for a free one.
async fn listen(port: u16) -> Result<(TcpListener, u16), ServeError> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await.map_err(|error| match error.kind() {
        ErrorKind::AddrInUse => ServeError::PortTaken(port),
        _ => ServeError::Listen(error),
    })?;
    let port = listener.local_addr().map_err(ServeError::Listen)?.port();
    Ok((listener, port))
}

/// Opens the address in a browser, meanwhile.
fn show(url: String) {
    tokio::spawn(async move {
        if !browser::open(&url).await {
            // Whoever closed the output does not wait for these words.
            let _ = print("No browser could be opened from here: open the address yourself.\n");
        }
    });
}

/// Waits until no cluster is left. One of several that ends is named, and the others go on.
async fn all_ended(running: &mut [(String, Running)]) -> ServeError {
    let mut left: FuturesUnordered<_> = running.iter_mut().map(|(context, one)| one.ended(context)).collect();
    loop {
        let said = left.next().await.unwrap_or_default();
        if left.is_empty() {
            return ServeError::KubectlEnded(said);
        }
        report(&ServeError::KubectlEnded(said));
    }
}

async fn demo(options: Vec<OsString>) -> Result<Backend, ServeError> {
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

async fn real(contexts: Contexts, kubectl: &Kubectl) -> Result<Vec<Backend>, ServeError> {
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
async fn one_of(kubectl: &Kubectl, several: bool) -> Result<Backend, ServeError> {
    let mut found = kubectl.find().await?;
    match found.trouble.take() {
        Some(trouble) if several => report(&trouble),
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
