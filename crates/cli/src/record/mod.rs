//! `kubechurn record`: writes what happens in a cluster into a file.
//!
//! ```text
//! API server ◄─► api (kube's client) ◄─┬─► lister_watcher ─► watch (a reflector for each kind) ─► tape ─┬─► output: a file, or
//!                                      └─► heartbeat ─────────▲                                         │   files of a folder
//!                                                                                                       │   ─► upload
//!                                                                                                       └─► lines of changes
//! ```
//!
//! One thread does all of it. What came is handed to the system twice a second, so that no more than that is lost when the
//! program is killed.

mod api;
pub mod folder;
mod heartbeat;
mod lister_watcher;
mod output;
mod progress;
mod tape;
mod upload;
mod watch;

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::PathBuf;
use std::pin::Pin;
use std::rc::Rc;
use std::time::{Duration, Instant, SystemTime};

use http::header::DATE;

use kubechurn_client::api::definition;
use kubechurn_client::api::discovery::{ACCEPT, PATHS};
use kubechurn_client::api::release::Release;
use kubechurn_client::api::request::Scope;
use kubechurn_client::api::resource::ApiResource;
use kubechurn_client::api::status::Failure;
use kubechurn_client::cache::discovery::CachedDiscovery;
use kubechurn_client::cache::server_clock::ServerClock;
use kubechurn_client::json;
use kubechurn_cluster::{Demo, DemoError};
use kubechurn_columns::kinds::config::SECRETS;
use kubechurn_model::history::secret;
use kubechurn_model::navigation::catalog::{Catalog, MATTERS};
use kubechurn_recording::{Header, redact};
use tokio::task::{LocalSet, yield_now};
use tokio::time::{MissedTickBehavior, interval, sleep, timeout};

use self::api::{Api, ApiError, PROGRAM};
use self::heartbeat::Watched;
use self::lister_watcher::ListerWatcher;
use self::output::Output;
use self::progress::Progress;
use self::tape::{Sink, Tape};
use self::upload::{UploadError, Uploader};
use self::watch::Watch;
use crate::args::{Destination, Record, Source};
use crate::changes::Printer;
use crate::store::{Store, StoreError};

/// For how long an answer is awaited before the recording begins. Later the reflectors decide.
const PATIENCE: Duration = Duration::from_secs(20);
/// How often what came is handed to the system: often enough that a kill costs less than a second, however busy the machine is.
const OFTEN: Duration = Duration::from_millis(500);

/// Why nothing is recorded, or nothing more.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    #[error(transparent)]
    Api(#[from] ApiError),
    #[error(transparent)]
    Demo(#[from] DemoError),
    /// The file is there.
    #[error("{0} is there already, and is not written over: name another file")]
    IsThere(PathBuf),
    /// The file cannot be made.
    #[error("{0} cannot be written: {1}")]
    Create(PathBuf, #[source] io::Error),
    /// The file cannot be written any more.
    #[error("the recording ends here, because {0} cannot be written further: {1}; what was written before can be read")]
    Write(PathBuf, #[source] io::Error),
    /// The object store cannot be used.
    #[error("the recording cannot go into an object store: {0}")]
    Store(#[from] StoreError),
    /// Something is not in the object store at the end.
    #[error("files of the recording are still in {0}, and are taken to {1} when the same command is run again: {2}")]
    Upload(PathBuf, String, #[source] Box<UploadError>),
    /// The server does not answer, or refuses.
    #[error("the API server at {0} cannot be asked: {1}")]
    Server(String, String),
    /// There is no such kind.
    #[error("the server has no kind {0} that can be watched")]
    NoKind(String),
    /// The user has ended it while the server was asked what it has.
    #[error("nothing was recorded: the server had not answered yet")]
    Ended,
    /// Secrets are named, and not asked for.
    #[error("Secrets are recorded with --secrets alone, and then without their values")]
    Secrets,
}

/// What is recorded, once the server has answered.
struct Prepared {
    api: Api,
    resources: Vec<ApiResource>,
    namespaces: Vec<String>,
    header: Header,
    /// What must run as long as it is recorded.
    _cluster: Option<Demo>,
}

/// What has ended a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// The user, by a signal; or whoever reads what is printed, by closing the output.
    User,
    /// `--for`.
    Time,
    /// `--until`.
    Change,
}

/// Records until `ended` resolves, or the time is over, or the change has come. Returns whether it ended as was wanted: at the change
/// if there is one to wait for.
///
/// # Errors
/// When nothing can be recorded, or not to the end.
pub async fn run(record: Record, ended: impl Future<Output = ()>) -> Result<bool, RecordError> {
    let (to, length, until) = (record.to.clone(), record.length, record.until.clone());
    let path = match &to {
        Destination::File(path) | Destination::Folder(path, _) | Destination::Store(path, ..) => path.clone(),
        Destination::Terminal(_) => PathBuf::from("the standard output"),
    };
    if matches!(to, Destination::File(_)) && fs::metadata(&path).is_ok_and(|known| known.is_file() && known.len() > 0) {
        return Err(RecordError::IsThere(path));
    }
    tokio::pin!(ended);
    let prepared = tokio::select! {
        prepared = prepare(record) => prepared?,
        () = &mut ended => return Err(RecordError::Ended),
    };
    let Prepared { api, resources, namespaces, header, _cluster } = prepared;
    let now = wall();
    // What is only shown to whoever may read it in the cluster stays readable.
    let redacts = !header.redaction.is_empty() && !matches!(to, Destination::Terminal(_));
    let create = |error| RecordError::Create(path.clone(), error);
    let mut uploader = None;
    let (sink, shows, begins) = match to {
        Destination::File(file) => {
            let begins = format!("Recording {} into {}. Ctrl-C ends it.", api.server, file.display());
            (Sink::Output(Box::new(Output::file(&file, header, now).map_err(create)?)), true, begins)
        }
        Destination::Folder(folder, limits) => {
            let begins = format!("Recording {} into files of {}. Ctrl-C ends it.", api.server, folder.display());
            (Sink::Output(Box::new(Output::folder(&folder, limits, header, now).map_err(create)?)), true, begins)
        }
        Destination::Store(folder, limits, upload) => {
            let store = Store::open(&upload.address)?;
            uploader = Some((Rc::new(Uploader::new(store, &folder, upload.every)), upload.address.clone()));
            let begins = format!("Recording {} into files of {}. Ctrl-C ends it.", api.server, upload.address);
            (Sink::Output(Box::new(Output::folder(&folder, limits, header, now).map_err(create)?)), true, begins)
        }
        Destination::Terminal(show) => {
            let begins = format!("Watching {}. Ctrl-C ends it.", api.server);
            (Sink::Terminal(Box::new(Printer::new(io::stdout(), show))), false, begins)
        }
    };
    let has_condition = until.is_some();
    let tape = Tape::new(now, sink, until, redacts);
    let mut progress = Progress::new(shows);
    progress.say(&begins);
    let tape = Rc::new(RefCell::new(tape));
    let local = LocalSet::new();
    let began = Instant::now();
    let written = local.run_until(async {
        let watched = Rc::<RefCell<Watched>>::default();
        for scope in scopes(&resources, &namespaces) {
            begin(&api, scope, &watched, &tape);
        }
        tokio::task::spawn_local(heartbeat::run(watched, Rc::clone(&tape)));
        if let Some((uploader, _)) = &uploader {
            tokio::task::spawn_local(Rc::clone(uploader).run(Rc::clone(&tape)));
        }
        turn(&tape, &mut progress, began, length, ended).await
    });
    let written = written.await;
    // All watches end here, so that nothing comes any more.
    drop(local);
    let finished = tape.borrow_mut().end();
    let uploaded = match &uploader {
        Some((uploader, address)) => {
            uploader.finish().await.map_err(|error| RecordError::Upload(path.clone(), address.clone(), Box::new(error)))
        }
        None => Ok(()),
    };
    tape.borrow_mut().take_said().iter().for_each(|words| progress.say(words));
    let end = match written.and_then(|end| finished.map(|()| end)) {
        // Whoever closed the output has seen enough.
        Err(error) if !shows && error.kind() == ErrorKind::BrokenPipe => return Ok(true),
        ended => ended.map_err(|error| RecordError::Write(path.clone(), error))?,
    };
    if shows {
        let words = progress::words(began.elapsed(), tape.borrow().counts());
        progress.say(&format!("{}: {words}", path.display()));
    }
    match end {
        End::Change => progress.say(&format!("Ended by --until: {}", tape.borrow().reached().unwrap_or_default())),
        End::Time if has_condition => progress.say("Ended by --for, and no change was as --until has it."),
        End::User if has_condition => progress.say("Ended by a signal, and no change was as --until has it."),
        End::Time | End::User => {}
    }
    uploaded.map(|()| end == End::Change || !has_condition)
}

/// Asks the server what it is, and what it has.
async fn prepare(record: Record) -> Result<Prepared, RecordError> {
    let Record { from, kinds, namespaces, title, secrets, plain, .. } = record;
    let (api, _cluster) = match from {
        Source::Demo(options) => demo(options).await?,
        Source::Kubeconfig { context, file } => (Api::connect(context, file.as_deref()).await?, None),
    };
    let server = |failure: Failure| RecordError::Server(api.server.clone(), failure.words);
    let mut clock = ServerClock::default();
    let version = answered(version(&api, &mut clock)).await.map_err(server)?;
    let mut resources = answered(chosen(&api, &version, &kinds)).await.map_err(server)??;
    let has_secrets = resources.iter().any(secret::is_secret);
    match secrets {
        true if !has_secrets => resources.push(SECRETS.resource),
        false if has_secrets => return Err(RecordError::Secrets),
        _ => {}
    }
    let namespaces = namespaces.unwrap_or_else(|| api.namespace.iter().cloned().collect());
    let header = Header {
        title,
        program: PROGRAM.replace('/', " "),
        server: api.server.clone(),
        release: release(&version),
        ahead: clock.ahead(),
        redaction: if plain { Vec::new() } else { vec![redact::RULE.to_owned()] },
    };
    Ok(Prepared { api, resources, namespaces, header, _cluster })
}

/// Hands on what came, and shows how much it is, until the recording is to end.
async fn turn(
    tape: &RefCell<Tape>,
    progress: &mut Progress,
    began: Instant,
    length: Option<Duration>,
    mut ended: Pin<&mut impl Future<Output = ()>>,
) -> io::Result<End> {
    let over = async {
        match length {
            Some(length) => sleep(length).await,
            None => std::future::pending().await,
        }
    };
    tokio::pin!(over);
    let mut ticks = interval(OFTEN);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut shown = 0;
    loop {
        let is_beginning = tape.borrow_mut().advance();
        tokio::select! {
            _ = ticks.tick() => {}
            () = yield_now(), if is_beginning => continue,
            () = &mut over => return Ok(End::Time),
            () = &mut ended => return Ok(End::User),
        }
        let mut tape = tape.borrow_mut();
        tape.flush()?;
        if tape.reached().is_some() {
            return Ok(End::Change);
        }
        tape.take_said().iter().for_each(|words| progress.say(words));
        let after = began.elapsed();
        if after.as_secs() > shown {
            shown = after.as_secs();
            progress.show(after, tape.counts());
        }
    }
}

/// Begins to watch.
fn begin(api: &Api, (resource, scope): (ApiResource, Scope), watched: &Rc<RefCell<Watched>>, tape: &Rc<RefCell<Tape>>) {
    let number = tape.borrow_mut().watch(resource, scope.clone());
    let lister_watcher = ListerWatcher { api: api.clone(), resource, scope };
    tokio::task::spawn_local(Watch::new(number, lister_watcher, Rc::clone(watched), Rc::clone(tape)).run());
    if definition::may_define(resource.group) {
        let (api, tape) = (api.clone(), Rc::clone(tape));
        tokio::task::spawn_local(async move {
            // Without it, the columns of the kind are not known later, and nothing else.
            if let Ok(text) = api.text(&definition::path(&resource), "application/json").await {
                tape.borrow_mut().definition(&text);
            }
        });
    }
}

/// Each resource in each namespace, and what is in no namespace once.
fn scopes(resources: &[ApiResource], namespaces: &[String]) -> Vec<(ApiResource, Scope)> {
    let of = |namespace: &str| Scope { namespace: namespace.to_owned(), ..Scope::default() };
    let scopes = resources.iter().flat_map(|resource| {
        let everywhere = !resource.namespaced || namespaces.is_empty();
        let names: Vec<&str> = if everywhere { vec![""] } else { namespaces.iter().map(String::as_str).collect() };
        names.into_iter().map(move |name| (*resource, of(name)))
    });
    scopes.collect()
}

/// The resources of these names, or, without any, those that matter most, as far as the server has them.
async fn chosen(api: &Api, version: &str, names: &[String]) -> Result<Result<Vec<ApiResource>, RecordError>, Failure> {
    let catalog = Catalog::of(&discovered(api).await?, &Catalog::printed_by(Release::parse(version)));
    let found = |name: &str| catalog.find(name).map(|kind| kind.resource);
    if names.is_empty() {
        return Ok(Ok(MATTERS.split(',').filter_map(found).collect()));
    }
    let mut seen = BTreeSet::new();
    let all = names.iter().map(|name| found(name).ok_or_else(|| RecordError::NoKind(name.clone())));
    // One kind may be named twice, as po and pods.
    Ok(all.filter(|one| one.as_ref().map_or(true, |one| seen.insert((one.group, one.plural)))).collect())
}

/// What the server has.
async fn discovered(api: &Api) -> Result<Vec<kubechurn_client::api::discovery::Discovered>, Failure> {
    let mut cached = CachedDiscovery::default();
    cached.begin();
    for (at, path) in PATHS.into_iter().enumerate() {
        let text = api.text(path, ACCEPT).await?;
        let unreadable = |error| Failure::unreachable(format!("what it has cannot be read: {error}"));
        cached.answered(at, None, &text).map_err(unreadable)?;
    }
    // A group whose own server is down costs no other.
    for of in cached.wanted() {
        let answer = api.text(&of.path(), "application/json").await;
        cached.described(of, answer.as_deref().map_err(|failure| &*failure.words));
    }
    Ok(cached.resources())
}

/// What the server says of its version, and by its answer what its clock shows.
async fn version(api: &Api, clock: &mut ServerClock) -> Result<String, Failure> {
    let asked = wall();
    let response = api.get("version", "application/json").await?;
    let date = response.headers().get(DATE).and_then(|date| date.to_str().ok()).map(str::to_owned);
    date.iter().for_each(|date| clock.answered(date, asked, wall()));
    api::read(response).await
}

/// The time in milliseconds since 1970.
fn wall() -> f64 {
    SystemTime::UNIX_EPOCH.elapsed().map_or(0.0, |since| since.as_secs_f64() * 1_000.0)
}

/// An answer that comes in time.
async fn answered<T>(answer: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    timeout(PATIENCE, answer).await.unwrap_or_else(|_| Err(Failure::unreachable("no answer in time")))
}

/// The release as the server names it: `v1.36.2`.
fn release(version: &str) -> String {
    let named = json::member(version, "gitVersion").and_then(json::unescaped);
    named.map(|name| name.into_owned()).unwrap_or_default()
}

async fn demo(options: Vec<OsString>) -> Result<(Api, Option<Demo>), RecordError> {
    let cluster = Demo::start(options).await?;
    Ok((Api::demo(cluster.router()), Some(cluster)))
}

#[cfg(test)]
mod tests {
    use kubechurn_columns::kinds::{nodes, pods};

    use super::*;

    #[test]
    fn each_namespace_is_watched_and_what_is_in_none_once() {
        let check = |namespaces: &[&str], expected: &str| {
            let namespaces: Vec<String> = namespaces.iter().map(|name| (*name).to_owned()).collect();
            let scopes = scopes(&[pods::KIND.resource, nodes::KIND.resource], &namespaces);
            let words = scopes.iter().map(|(resource, scope)| format!("{}/{}", scope.namespace, resource.plural));
            assert_eq!(words.collect::<Vec<_>>().join(" "), expected);
        };
        check(&[], "/pods /nodes");
        check(&["a", "b"], "a/pods b/pods /nodes");
    }

    #[test]
    fn a_server_names_its_release() {
        assert_eq!(release(r#"{"major":"1","gitVersion":"v1.36.2"}"#), "v1.36.2");
        assert_eq!(release("<html>"), "");
    }
}
