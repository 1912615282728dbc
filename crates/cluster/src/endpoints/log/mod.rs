//! The log of a container: `pods/log`, with the options and the refusals of the real server (`PodLogOptions`,
//! `pkg/registry/core/pod/strategy.go`) and those of a kubelet (`validateContainerLogStatus`).

mod made;
mod options;

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, header};
use axum::response::Response;
use serde_json::Value;
use tokio::sync::watch::Receiver;

use crate::api::Api;
use crate::clock;
use crate::endpoints::log::made::{Made, Run};
use crate::endpoints::log::options::LogOptions;
use crate::log_ends::{Ends, LogEnds};
use crate::request::target::Target;
use crate::status::Status;
use crate::store::Store;

/// How often a followed log looks what is new.
const PACE: Duration = Duration::from_millis(50);
/// How many lines are sent in one piece.
const PIECE: u64 = 4_000;

/// Handles a GET.
pub async fn get(api: &Api, target: &Target, query: &str) -> Result<Response, Status> {
    let options = LogOptions::parse(query)?;
    let pod = api.store.get(&target.resource, &target.key()).await?;
    let pod = pod.ok_or_else(|| Status::not_found(&target.resource, target.name()))?.to_value();
    let container = container(&pod, &options.container)?;
    let is_scheduled = pod.pointer("/spec/nodeName").and_then(Value::as_str).is_some_and(|node| !node.is_empty());
    if !is_scheduled {
        return Ok(text(Body::empty()));
    }
    let run = run(&pod, &container, options.previous).map_err(Status::bad_request)?;
    let log = Log {
        store: Arc::clone(&api.store),
        ends: Arc::clone(&api.log_ends),
        target: target.clone(),
        run_id: run.id.clone(),
        container,
        next: 0,
        left: options.limit_bytes.unwrap_or(u64::MAX),
        options,
        has_begun: false,
        waits: false,
        is_over: false,
        is_gone: false,
        pod,
    };
    let cuts = api.faults.switches().cuts(&target.resource);
    Ok(text(Body::from_stream(futures::stream::unfold((log, cuts), next))))
}

fn text(body: Body) -> Response {
    let mut response = Response::new(body);
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain"));
    response
}

/// A log that is being sent.
struct Log {
    store: Arc<Store>,
    ends: Arc<LogEnds>,
    target: Target,
    container: String,
    /// The run that is read.
    run_id: String,
    options: LogOptions,
    /// The number of the next line.
    next: u64,
    /// How many more bytes may be sent.
    left: u64,
    /// Whether the first line is chosen.
    has_begun: bool,
    /// Whether all that came so far was sent.
    waits: bool,
    is_over: bool,
    is_gone: bool,
    /// The Pod, as it was last.
    pod: Value,
}

type Piece = Result<Bytes, std::io::Error>;

/// The next piece. A connection that is cut ends without its last chunk, so that the client sees that it broke off.
async fn next((mut log, mut cuts): (Log, Receiver<u64>)) -> Option<(Piece, (Log, Receiver<u64>))> {
    loop {
        if log.is_over {
            return None;
        }
        if log.waits {
            tokio::select! {
                () = tokio::time::sleep(PACE) => {}
                Ok(()) = cuts.changed() => {
                    log.is_over = true;
                    return Some((Err(std::io::Error::from(std::io::ErrorKind::ConnectionAborted)), (log, cuts)));
                }
            }
            log.look().await;
        }
        let bytes = log.piece();
        if !bytes.is_empty() {
            return Some((Ok(Bytes::from(bytes)), (log, cuts)));
        }
    }
}

impl Log {
    /// Looks what the container does now. A storage that does not answer is asked again.
    async fn look(&mut self) {
        match self.store.get(&self.target.resource, &self.target.key()).await {
            Ok(Some(pod)) => self.pod = pod.to_value(),
            Ok(None) => self.is_gone = true,
            Err(_) => {}
        }
    }

    /// The lines that have come.
    fn piece(&mut self) -> Vec<u8> {
        let now = clock::time().0;
        // A run that the Pod does not name any more has ended.
        let runs = [false, true].map(|previous| run(&self.pod, &self.container, previous).ok());
        let Some(mut run) = runs.into_iter().flatten().find(|run| run.id == self.run_id) else {
            self.is_over = true;
            return Vec::new();
        };
        if self.is_gone && run.end.is_none() {
            run.end = Some(now);
        }
        let is_running = run.end.is_none();
        for (end, ends) in [(&mut run.stop, Ends::Stop), (&mut run.end, Ends::End)] {
            *end = end.map(|second| self.ends.of(&run.id, ends, second, now));
        }
        if is_running {
            self.ends.sent(&run.id, now);
        }
        let made = Made::of(run);
        let until = made.count(now);
        if !std::mem::replace(&mut self.has_begun, true) {
            let tail = self.options.tail_lines.map_or(0, |tail| until.saturating_sub(tail));
            self.next = made.since(self.options.since(now)).max(tail);
        }
        let mut text = String::new();
        let last = until.min(self.next.saturating_add(PIECE));
        while self.next < last {
            let (time, line) = made.line(self.next);
            self.next += 1;
            if self.options.timestamps {
                text.push_str(&made::rfc3339_nano(time));
                text.push(' ');
            }
            text.push_str(&line);
            text.push('\n');
        }
        let mut bytes = text.into_bytes();
        if bytes.len() as u64 >= self.left {
            bytes.truncate(usize::try_from(self.left).unwrap_or(usize::MAX));
            self.is_over = true;
        }
        self.left -= bytes.len() as u64;
        self.waits = self.next >= until;
        self.is_over |= self.waits && !(self.options.follow && is_running);
        bytes
    }
}

/// The container that is meant.
fn container(pod: &Value, asked: &str) -> Result<String, Status> {
    let names = |list: &str| -> Vec<&str> {
        let list = pod["spec"][list].as_array().into_iter().flatten();
        list.filter_map(|container| container["name"].as_str()).collect()
    };
    let name = pod.pointer("/metadata/name").and_then(Value::as_str).unwrap_or_default();
    let (own, init, ephemeral) = (names("containers"), names("initContainers"), names("ephemeralContainers"));
    if asked.is_empty() {
        return match own[..] {
            [only] => Ok(only.to_owned()),
            [] => Err(Status::bad_request(format!("a container name must be specified for pod {name}"))),
            _ => {
                let init = match init[..] {
                    [] => String::new(),
                    _ => format!(" or one of the init containers: [{}]", init.join(" ")),
                };
                Err(Status::bad_request(format!(
                    "a container name must be specified for pod {name}, choose one of: [{}]{init}",
                    own.join(" ")
                )))
            }
        };
    }
    match own.iter().chain(&init).chain(&ephemeral).any(|container| *container == asked) {
        true => Ok(asked.to_owned()),
        false => Err(Status::bad_request(format!("container {asked} is not valid for pod {name}"))),
    }
}

/// The run of a container whose log is meant.
///
/// # Errors
/// What a kubelet says of a container that has no log.
fn run(pod: &Value, container: &str, previous: bool) -> Result<Run, String> {
    let name = pod.pointer("/metadata/name").and_then(Value::as_str).unwrap_or_default();
    let lists = ["containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses"];
    let statuses = lists.iter().flat_map(|list| pod["status"][list].as_array().into_iter().flatten());
    let status = statuses.into_iter().find(|status| status["name"] == container);
    let waits = |why: &str| format!("container \"{container}\" in pod \"{name}\" is waiting to start{why}");
    let Some(status) = status else { return Err(waits(": ContainerCreating")) };
    let ended = |state: &str| status.pointer(&format!("/{state}/terminated")).filter(|ended| ended.is_object());
    let of = |state: &Value, is_running: bool| Run::of(pod, container, (status, state), is_running);
    let last = ended("lastState").map(|state| of(state, false));
    if previous {
        return last
            .ok_or_else(|| format!("previous terminated container \"{container}\" in pod \"{name}\" not found"));
    }
    if let Some(running) = status.pointer("/state/running").filter(|running| running.is_object()) {
        return Ok(of(running, true));
    }
    if let Some(state) = ended("state") {
        return Ok(of(state, false));
    }
    last.ok_or_else(|| match status.pointer("/state/waiting/reason").and_then(Value::as_str) {
        Some("ErrImagePull") => waits(": image can't be pulled"),
        Some("ImagePullBackOff") => waits(": trying and failing to pull image"),
        Some(reason) => waits(&format!(": {reason}")),
        None => waits(" - no logs yet"),
    })
}
