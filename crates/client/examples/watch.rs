//! Lists and watches a resource through `kubectl proxy`, and prints what changes, until it is ended.
//!
//!     cargo run -p kubechurn-client --example watch -- apps/v1/deployments default http://127.0.0.1:8001

use std::time::Instant;

use kubechurn_client::api::object::Decode;
use kubechurn_client::api::request::Scope;
use kubechurn_client::api::resource::{ApiResource, intern};
use kubechurn_client::api::status::Failure;
use kubechurn_client::cache::backoff::Moment;
use kubechurn_client::cache::handler::{Handled, HandlerOptions, ResourceEventHandler};
use kubechurn_client::cache::reflector::{Action, Input};
use kubechurn_client::cache::shared_informer::{InformerOptions, SharedInformer};
use kubechurn_client::cache::store::Change;
use tokio::sync::mpsc::{Sender, channel};
use tokio::time::{Duration, sleep};

/// What came of an action.
enum Told {
    Is(Input<'static>),
    Frame(Vec<u8>),
    Page(Vec<u8>),
}

/// Prints each change of the store.
struct Printer;
impl ResourceEventHandler for Printer {
    fn changed(&mut self, _now: f64, change: &Change) -> Handled {
        let (word, object) = match change {
            Change::Added { new, listed: true, .. } => ("listed", new),
            Change::Added { new, .. } => ("added", new),
            Change::Updated { new, .. } => ("updated", new),
            Change::Synced { new, .. } => ("synced", new),
            Change::Deleted { last, .. } => ("deleted", last),
        };
        println!("{word:8} {} at {}", object.key, object.resource_version.as_str());
        Ok(())
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), &'static str> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let resource = words.first().and_then(|name| resource(name)).ok_or("usage: watch v1/pods [NAMESPACE [API]]")?;
    let scope = Scope { namespace: words.get(1).cloned().unwrap_or_default(), ..Scope::default() };
    let base = words.get(2).map_or("http://127.0.0.1:8001", |base| base.trim_end_matches('/'));
    let began = Instant::now();
    let now = || began.elapsed().as_secs_f64() * 1000.0;
    // The fraction of a second is random enough to spread the waits of several clients.
    let moment = || Moment { now: now(), random: (now() / 1000.0).fract() };
    let mut informer = SharedInformer::new(Decode::METADATA, InformerOptions::default());
    let printer = informer.add_event_handler(HandlerOptions::default(), now());
    let mut action = informer.handle(Input::Start, moment());
    let mut told = channel(1).1;
    loop {
        // Each action takes the place of the one before: whoever still tells of that finds nobody who listens.
        if let Some(action) = action.take() {
            let (tell, new) = channel(64);
            told = new;
            tokio::spawn(perform(format!("{base}/"), resource, scope.clone(), action, tell));
        }
        let deadline = informer.reflector().deadline().map_or(3_600_000.0, |at| (at - now()).max(0.0));
        let told = tokio::select! {
            Some(told) = told.recv() => told,
            () = sleep(Duration::from_secs_f64(deadline / 1000.0)) => Told::Is(Input::Timer),
        };
        let input = match &told {
            Told::Is(input) => input.clone(),
            Told::Frame(line) => Input::Bytes(line),
            Told::Page(page) => Input::PageBytes(page),
        };
        action = informer.handle(input, moment());
        informer.drain(usize::MAX, now());
        informer.deliver(printer, &mut Printer);
        informer.take_notices().iter().for_each(|notice| println!("{:8} {}", "note", notice.sentence()));
    }
}

/// Carries an action out, and tells of it until it is over, or nobody listens.
async fn perform(base: String, resource: ApiResource, scope: Scope, action: Action, tell: Sender<Told>) {
    let url = match &action {
        Action::List(request) => request.url(&resource, &scope),
        Action::Watch(request) => request.url(&resource, &scope),
        // A watch that was refused over HTTP has said why already.
        Action::Probe(_) => return drop(tell.send(Told::Is(Input::ProbePassed)).await),
        Action::Wait => return,
    };
    let refused = |failure| Told::Is(Input::Failed(failure));
    let Ok(mut response) = reqwest::get(base + &url).await else {
        return drop(tell.send(refused(Failure::unreachable("no answer"))).await);
    };
    let code = response.status().as_u16();
    if code != 200 || matches!(action, Action::List(_)) {
        let told = match response.bytes().await {
            Ok(bytes) if code == 200 => Told::Page(bytes.into()),
            Ok(bytes) => refused(Failure::from_response(code, None, &String::from_utf8_lossy(&bytes))),
            Err(_) => refused(Failure::unreachable("the answer broke off")),
        };
        return drop(tell.send(told).await);
    }
    let mut rest = Vec::new();
    let mut listens = tell.send(Told::Is(Input::Opened)).await.is_ok();
    while let (true, Ok(Some(chunk))) = (listens, response.chunk().await) {
        rest.extend_from_slice(&chunk);
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            listens &= tell.send(Told::Frame(rest.drain(..=end).collect())).await.is_ok();
        }
    }
    drop(tell.send(Told::Is(Input::Closed(if rest.is_empty() { 1000 } else { 1006 }))).await);
}

/// `v1/pods` and `apps/v1/deployments` in their parts.
fn resource(name: &str) -> Option<ApiResource> {
    let (version, plural) = name.rsplit_once('/')?;
    let (group, version) = version.rsplit_once('/').unwrap_or(("", version));
    let [group, version, plural] = [group, version, plural].map(intern);
    Some(ApiResource { group, version, plural, kind: "", namespaced: true })
}
