//! Lists and watches a resource through `kubectl proxy`, and prints what changes, until it is ended.
//!
//!     cargo run -p kubechurn-client --example watch -- apps/v1/deployments default http://127.0.0.1:8001

use std::io::{BufRead, BufReader, Read};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use kubechurn_client::api::object::Decode;
use kubechurn_client::api::request::Scope;
use kubechurn_client::api::resource::{ApiResource, intern};
use kubechurn_client::api::status::Failure;
use kubechurn_client::cache::backoff::Moment;
use kubechurn_client::cache::handler::{Handled, HandlerOptions, ResourceEventHandler};
use kubechurn_client::cache::reflector::{Action, Input};
use kubechurn_client::cache::shared_informer::{InformerOptions, SharedInformer};
use kubechurn_client::cache::store::Change;

/// What came of an action.
enum Answer {
    Input(Input<'static>),
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

fn main() -> Result<(), &'static str> {
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
    let mut answers = sync_channel(64);
    loop {
        // Each action takes the place of the one before, whose thread ends when it finds that no one receives its answers.
        if let Some(action) = action.take() {
            answers = sync_channel(64);
            let (base, of, sender) = (base.to_owned(), (resource, scope.clone()), answers.0.clone());
            thread::spawn(move || perform(&base, &of, action, &sender).map(|last| sender.send(last)));
        }
        let wait = informer.reflector().deadline().map_or(3_600_000.0, |at| (at - now()).max(0.0));
        let answer = answers.1.recv_timeout(Duration::from_secs_f64(wait / 1000.0));
        let input = match &answer {
            Ok(Answer::Input(input)) => input.clone(),
            Ok(Answer::Frame(line)) => Input::Bytes(line),
            Ok(Answer::Page(page)) => Input::PageBytes(page),
            Err(_) => Input::Timer,
        };
        action = informer.handle(input, moment());
        informer.drain(usize::MAX, now());
        informer.deliver(printer, &mut Printer);
        informer.take_notices().iter().for_each(|notice| println!("{:8} {}", "note", notice.sentence()));
    }
}

/// Carries an action out, and returns what is to be sent last. What comes before that is sent at once; where no one receives
/// it any more, nothing is to be sent.
fn perform(base: &str, of: &(ApiResource, Scope), action: Action, answers: &SyncSender<Answer>) -> Option<Answer> {
    let url = match &action {
        Action::List(request) => request.url(&of.0, &of.1),
        Action::Watch(request) | Action::WatchOverHttp(request) => request.url(&of.0, &of.1),
        // A watch that was refused over HTTP has said why already.
        Action::Probe(_) => return Some(Answer::Input(Input::ProbePassed)),
        Action::Wait => return None,
    };
    let failed = |failure| Some(Answer::Input(Input::Failed(failure)));
    let request = ureq::get(format!("{base}/{url}")).config().http_status_as_error(false).build();
    let Ok(response) = request.call() else { return failed(Failure::unreachable("no answer")) };
    let code = response.status().as_u16();
    let mut body = BufReader::new(response.into_body().into_reader());
    let mut bytes = Vec::new();
    if code != 200 || matches!(action, Action::List(_)) {
        return match body.read_to_end(&mut bytes) {
            Ok(_) if code == 200 => Some(Answer::Page(bytes)),
            Ok(_) => failed(Failure::from_response(code, None, &String::from_utf8_lossy(&bytes))),
            Err(_) => failed(Failure::unreachable("the answer broke off")),
        };
    }
    answers.send(Answer::Input(Input::Opened)).ok()?;
    loop {
        match body.read_until(b'\n', &mut bytes) {
            Ok(0) => return Some(Answer::Input(Input::Closed(1000))),
            Ok(_) if bytes.ends_with(b"\n") => answers.send(Answer::Frame(std::mem::take(&mut bytes))).ok()?,
            Ok(_) | Err(_) => return Some(Answer::Input(Input::Closed(1006))),
        }
    }
}

/// `v1/pods` and `apps/v1/deployments` in their parts.
fn resource(name: &str) -> Option<ApiResource> {
    let (version, plural) = name.rsplit_once('/')?;
    let (group, version) = version.rsplit_once('/').unwrap_or(("", version));
    let [group, version, plural] = [group, version, plural].map(intern);
    Some(ApiResource { group, version, plural, kind: "", namespaced: true, cluster: "" })
}
