//! What is wrong with an object, read from its text: the state alone counts, and never what was there before.

use kubechurn_changes::value::KEPT;
use kubechurn_client::api::cell::Tone;
use kubechurn_client::api::resource::ApiResource;
use kubechurn_client::api::time::Timestamp;
use kubechurn_client::json::{self, Members};
use kubechurn_columns::state;

/// How long a Pod may wait for a node, in milliseconds: a cluster that grows needs a moment.
const UNSCHEDULED: f64 = 5_000.0;
/// How long a claim may wait for its volume, in milliseconds.
const UNBOUND: f64 = 8_000.0;
/// How long an object may stay after the time at which it is to be gone, in milliseconds.
const OVERDUE: f64 = 8_000.0;
/// The same for Pods, whose kubelet ends the containers first.
const POD_OVERDUE: f64 = 30_000.0;
/// How long no container of a Pod may run though it has a node, in milliseconds: its images are pulled in that time.
const NOT_STARTED: f64 = 60_000.0;
/// How long a Pod that runs may not be ready, in milliseconds, beside what its probes need: three periods of a probe.
const UNREADY: f64 = 30_000.0;

/// How long a condition may say that an object is not ready, in milliseconds: what it asks for takes a while to be made.
const NOT_YET: f64 = 60_000.0;
/// The words for each of [`state::WHOLE`] that does not hold.
const NOT_WHOLE: [&str; state::WHOLE.len()] = ["not ready", "not available", "not healthy", "not in sync"];
/// The conditions that say by `True` that an object is not as it should be, and the words for that.
const BAD: [(&str, &str); 6] = [
    ("Failed", "failed"),
    ("Failure", "failed"),
    ("Error", "failed"),
    ("Stalled", "does not progress"),
    ("Degraded", "degraded"),
    ("Unhealthy", "not healthy"),
];

/// The number of [`Fault::Create`].
pub const CREATE: u8 = 1;
/// The number of [`Fault::Hang`].
pub const HANG: u8 = 7;
/// The number of [`Fault::Unready`].
pub const NOT_READY_POD: u8 = 8;

/// What is wrong.
#[derive(Clone, Debug, PartialEq)]
pub enum Fault {
    /// An image of a Pod cannot be pulled.
    Pull {
        /// The image.
        image: String,
    },
    /// No node takes a Pod.
    Schedule {
        /// Why, as the scheduler says.
        message: String,
    },
    /// A container cannot be started.
    Start {
        /// The kubelet's word.
        reason: String,
        /// Its sentence.
        message: String,
    },
    /// A container ends again and again.
    Crash {
        /// How it ended last: `exit code 1`.
        how: String,
        /// How often it was started anew.
        restarts: i64,
    },
    /// A Pod that nobody replaces has failed.
    Ended {
        /// The reason.
        how: String,
    },
    /// A workload may not create Pods, or a CronJob Jobs.
    Create {
        /// The server's refusal.
        message: String,
    },
    /// No container of a Pod runs though it has a node.
    Hang {
        /// Why, as an Event says, or in which state it hangs.
        message: String,
    },
    /// A Pod runs and is not ready.
    Unready {
        /// The container that is not.
        container: String,
        /// Why.
        message: String,
        /// Whether it was ready before.
        was_ready: bool,
    },
    /// A node is not ready.
    NotReady,
    /// A Job failed.
    Job {
        /// Why.
        message: String,
    },
    /// A claim waits for its volume.
    Unbound,
    /// A rollout is past its deadline.
    Deadline,
    /// What is being deleted stays.
    Deleting {
        /// What holds it, if that is known.
        by: String,
    },
    /// A condition of an object of another kind says so.
    Condition {
        /// What that means.
        words: &'static str,
        /// Why, as the condition says.
        message: String,
        /// What the condition means.
        tone: Tone,
    },
}

/// A fault, and since when it lasts.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// What is wrong.
    pub fault: Fault,
    /// Since when, as the object says.
    pub since: Option<Timestamp>,
    /// How long it may last before it counts, in milliseconds.
    pub patience: f64,
}

impl Found {
    fn new(fault: Fault, since: Option<Timestamp>) -> Found {
        Found { fault, since, patience: 0.0 }
    }
}

/// The number of the fault that a Warning with this reason is about (kubernetes `pkg/kubelet/events/event.go`, and the controllers'
/// own), of those that an object's state alone does not explain.
pub fn trouble(reason: &str) -> Option<u8> {
    match reason {
        "FailedCreate" => Some(CREATE),
        "FailedMount" | "FailedAttachVolume" | "FailedMapVolume" | "FailedCreatePodSandBox" => Some(HANG),
        "Unhealthy" => Some(NOT_READY_POD),
        _ => None,
    }
}

impl Fault {
    /// Faults of the same number and owner are one cause.
    pub fn number(&self) -> u8 {
        match self {
            Fault::NotReady => 0,
            Fault::Create { .. } => CREATE,
            Fault::Pull { .. } => 2,
            Fault::Schedule { .. } => 3,
            Fault::Start { .. } => 4,
            Fault::Crash { .. } => 5,
            Fault::Ended { .. } => 6,
            Fault::Hang { .. } => HANG,
            Fault::Unready { .. } => NOT_READY_POD,
            Fault::Job { .. } => 9,
            Fault::Deadline => 10,
            Fault::Unbound => 11,
            Fault::Deleting { .. } => 12,
            Fault::Condition { .. } => 13,
        }
    }

    /// Whether it is a Pod's, of which several of one owner are one cause.
    pub fn is_of_pods(&self) -> bool {
        (2..=NOT_READY_POD).contains(&self.number())
    }

    /// Whether a rollout is late because of it.
    pub fn is_of_rollouts(&self) -> bool {
        self.number() == CREATE || self.is_of_pods()
    }

    /// Whether an Event reports it before the state alone would.
    pub fn is_reported_by_events(&self) -> bool {
        matches!(self, Fault::Create { .. } | Fault::Hang { .. })
    }

    /// Says why, where an Event does and the state does not. `part` is the part of the object that the Event is about.
    pub fn explain(&mut self, said: &str, part: &str) {
        match self {
            Fault::Create { message } => *message = refusal(said),
            Fault::Hang { message } => said.clone_into(message),
            Fault::Unready { container, message, .. } if part.ends_with(&format!("{{{container}}}")) => {
                said.clone_into(message);
            }
            _ => {}
        }
    }

    /// Whether it is the same trouble as another fault of its number: a server or a scheduler that refuses says why. The counts in
    /// what it says differ each time.
    pub fn is_same_as(&self, other: &Fault) -> bool {
        let words = |message: &str| message.split(|letter: char| letter.is_ascii_digit()).collect::<String>();
        match (self, other) {
            (Fault::Create { message: one }, Fault::Create { message: other })
            | (Fault::Schedule { message: one }, Fault::Schedule { message: other }) => words(one) == words(other),
            _ => true,
        }
    }

    /// Whether a Warning with this reason is about it. Where no reason is known for a fault, each may be.
    pub fn is_reported_as(&self, reason: &str) -> bool {
        match self {
            Fault::Pull { .. } | Fault::Start { .. } => matches!(reason, "Failed" | "BackOff" | "InspectFailed"),
            Fault::Crash { .. } => matches!(reason, "Failed" | "BackOff" | "Unhealthy"),
            Fault::Schedule { .. } => reason == "FailedScheduling",
            Fault::Create { .. } | Fault::Hang { .. } | Fault::Unready { .. } => trouble(reason) == Some(self.number()),
            _ => true,
        }
    }

    /// What it means.
    pub fn tone(&self) -> Tone {
        match self {
            Fault::Unbound | Fault::Deleting { .. } => Tone::Wait,
            Fault::Condition { tone, .. } => *tone,
            _ => Tone::Bad,
        }
    }

    /// What is wrong in a few words, and more about it. `is_one` says whether it is about one object.
    pub fn words(&self, is_one: bool) -> (&'static str, String) {
        match self {
            Fault::Pull { image } => ("cannot pull", image.clone()),
            Fault::Schedule { message } => ("cannot be scheduled", message.clone()),
            Fault::Start { reason, message } if message.is_empty() => ("cannot start", reason.clone()),
            Fault::Start { reason, message } => ("cannot start", format!("{reason}: {message}")),
            Fault::Crash { how, restarts } => {
                let restarts = if *restarts == 1 { "1 restart".into() } else { format!("{restarts} restarts") };
                (if is_one { "crashes" } else { "crash" }, format!("{how}, {restarts}"))
            }
            Fault::Ended { how } => ("failed", how.clone()),
            Fault::Create { message } => ("may not create Pods", message.clone()),
            Fault::Hang { message } => (if is_one { "does not start" } else { "do not start" }, message.clone()),
            Fault::Unready { container, message, .. } => ("not ready", format!("{container}: {message}")),
            Fault::NotReady => ("not ready", String::new()),
            Fault::Job { message } => ("failed", message.clone()),
            Fault::Unbound => ("waits for a volume", String::new()),
            Fault::Deadline => ("does not progress", String::from("its rollout is past its deadline")),
            Fault::Deleting { by } if by.is_empty() => ("is being deleted", String::from("it should be gone by now")),
            Fault::Deleting { by } => ("is being deleted", format!("held by {by}")),
            Fault::Condition { words, message, .. } => (words, message.clone()),
        }
    }
}

/// The members of an object's text that are read.
pub struct Parts<'a> {
    /// The members of `metadata`.
    pub metadata: Members<'a>,
    /// The text of `spec`, which is `{}` where there is none.
    pub spec: &'a str,
    /// The text of `status`, in the same way.
    pub status: &'a str,
}

impl<'a> Parts<'a> {
    /// The object of this text; `None` where it is none.
    pub fn of(text: &'a str) -> Option<Parts<'a>> {
        let members = json::members(text.trim_ascii())?;
        let part = |name: &str| json::named(&members, name).unwrap_or("{}");
        Some(Parts { metadata: json::members(part("metadata"))?, spec: part("spec"), status: part("status") })
    }
}

/// What is wrong with an object of this resource. Others have kinds with the names of Kubernetes' own.
pub fn read(resource: &ApiResource, object: &Parts<'_>) -> Option<Found> {
    let is_others = !matches!(resource.group, "" | "apps" | "batch");
    let kind = resource.kind;
    if let Some(deletion) = json::named(&object.metadata, "deletionTimestamp").and_then(time) {
        return deleting(if is_others { "" } else { kind }, object, deletion);
    }
    match kind {
        _ if is_others => conditions(kind, object),
        "Pod" => pod(object),
        "ReplicaSet" => condition(object.status, "ReplicaFailure").and_then(Condition::may_not_create),
        "StatefulSet" | "DaemonSet" | "CronJob" => lacks_pods(kind, object),
        "Deployment" => deployment(object),
        "Node" => condition(object.status, "Ready")
            .filter(|ready| state::condition("Node", "Ready", &ready.status) == Tone::Bad)
            .map(|ready| Found::new(Fault::NotReady, ready.since)),
        "Job" => match condition(object.status, "Failed").filter(|failed| failed.status == "True") {
            Some(failed) => {
                let message = if failed.message.is_empty() { failed.reason } else { failed.message };
                Some(Found::new(Fault::Job { message }, failed.since))
            }
            None => lacks_pods(kind, object),
        },
        "PersistentVolumeClaim" => is(object.status, &["phase"], "Pending").then(|| Found {
            fault: Fault::Unbound,
            since: json::named(&object.metadata, "creationTimestamp").and_then(time),
            patience: UNBOUND,
        }),
        _ => conditions(kind, object),
    }
}

/// What the conditions of an object say: the first that says by `True` that something is wrong, or else the most telling of those
/// that say so by `False`, once that lasts.
fn conditions(kind: &str, object: &Parts<'_>) -> Option<Found> {
    let says = |(name, words): (&str, &'static str), status: &str, patience: f64| {
        let Condition { status: own, reason, message, since } = condition(object.status, name)?;
        let message = match () {
            () if message.is_empty() || message == reason => reason,
            () if reason.is_empty() => message,
            () => format!("{reason}: {message}"),
        };
        let tone = state::condition(kind, name, status);
        let fault = Fault::Condition { words, message: message.chars().take(KEPT).collect(), tone };
        (own == status).then_some(Found { fault, since, patience })
    };
    let bad = BAD.into_iter().find_map(|one| says(one, "True", 0.0));
    bad.or_else(|| state::WHOLE.into_iter().zip(NOT_WHOLE).find_map(|one| says(one, "False", NOT_YET)))
}

fn time(json: &str) -> Option<Timestamp> {
    json::unescaped(json).and_then(|text| Timestamp::parse_set(&text))
}

fn word(object: &str, path: &[&str]) -> String {
    let value = json::value_at(object, path).and_then(json::unescaped).unwrap_or_default();
    value.chars().take(KEPT).collect()
}

/// Whether the text at this path is `text`.
fn is(object: &str, path: &[&str], text: &str) -> bool {
    json::value_at(object, path).and_then(json::unescaped).is_some_and(|value| value == text)
}

/// A condition.
struct Condition {
    status: String,
    reason: String,
    message: String,
    since: Option<Timestamp>,
}

impl Condition {
    fn may_not_create(self) -> Option<Found> {
        let Condition { status, message, since, .. } = self;
        (status == "True").then(|| Found::new(Fault::Create { message: refusal(&message) }, since))
    }
}

/// The server's refusal to create a Pod, of a sentence that begins with who tried it and with the Pod's name.
fn refusal(message: &str) -> String {
    let leads = ["is forbidden: ", "failed error: ", "Error creating: ", "Error creating job: "];
    let why = leads.iter().find_map(|lead| Some(message.split_once(lead)?.1));
    why.unwrap_or(message).chars().take(KEPT).collect()
}

/// A workload of a kind without the condition `ReplicaFailure`, as long as it has fewer Pods than it asks for, or a CronJob,
/// as long as it makes Jobs at all. It counts only where an Event says that it may not create them.
fn lacks_pods(kind: &str, object: &Parts<'_>) -> Option<Found> {
    let number = |of: &str, name: &str| json::member(of, name).and_then(json::integer);
    let has = |name: &str| number(object.status, name).unwrap_or(0);
    let lacks = match kind {
        "StatefulSet" => has("replicas") < number(object.spec, "replicas").unwrap_or(1),
        "DaemonSet" => has("currentNumberScheduled") < has("desiredNumberScheduled"),
        "CronJob" => json::member(object.spec, "suspend") != Some("true"),
        _ => {
            let is_over = json::member(object.status, "completionTime").is_some();
            let is_suspended = json::member(object.spec, "suspend") == Some("true");
            let parallel = number(object.spec, "parallelism").unwrap_or(1);
            let left = number(object.spec, "completions").map_or(parallel, |all| all.saturating_sub(has("succeeded")));
            !is_over && !is_suspended && has("active") < parallel.min(left)
        }
    };
    lacks.then(|| Found { fault: Fault::Create { message: String::new() }, since: None, patience: f64::INFINITY })
}

/// The last condition of this type, as a table takes it.
fn condition(status: &str, name: &str) -> Option<Condition> {
    let conditions = json::member(status, "conditions").and_then(json::items)?;
    let found = conditions.into_iter().rfind(|one| is(one, &["type"], name))?;
    Some(Condition {
        status: word(found, &["status"]),
        reason: word(found, &["reason"]),
        message: word(found, &["message"]),
        since: json::member(found, "lastTransitionTime").and_then(time),
    })
}

fn deployment(object: &Parts<'_>) -> Option<Found> {
    let refused = condition(object.status, "ReplicaFailure").and_then(Condition::may_not_create);
    refused.or_else(|| {
        let late = condition(object.status, "Progressing")?;
        let is_late = late.status == "False" && late.reason == "ProgressDeadlineExceeded";
        is_late.then(|| Found::new(Fault::Deadline, late.since))
    })
}

/// Something that is to be gone at a time, and is still there.
fn deleting(kind: &str, object: &Parts<'_>, since: Timestamp) -> Option<Found> {
    let list = |json: Option<&str>| -> Vec<String> {
        let items = json.and_then(json::items).unwrap_or_default();
        items.into_iter().filter_map(json::unescaped).map(std::borrow::Cow::into_owned).collect()
    };
    let mut by = list(json::named(&object.metadata, "finalizers")).join(", ");
    if kind == "Namespace" {
        let remaining =
            ["NamespaceFinalizersRemaining", "NamespaceContentRemaining", "NamespaceDeletionDiscoveryFailure"];
        let remaining = remaining.into_iter().filter_map(|name| condition(object.status, name));
        let message = remaining.filter(|one| one.status == "True").map(|one| one.message).next();
        by = message.unwrap_or(by);
    }
    let patience = if kind == "Pod" { POD_OVERDUE } else { OVERDUE };
    Some(Found { fault: Fault::Deleting { by }, since: Some(since), patience })
}

fn pod(object: &Parts<'_>) -> Option<Found> {
    let ready = || condition(object.status, "Ready").and_then(|ready| ready.since);
    match &*word(object.status, &["phase"]) {
        "Succeeded" => return None,
        "Failed" => {
            let is_owned = json::named(&object.metadata, "ownerReferences").is_some_and(|list| list.contains("true"));
            let reason = word(object.status, &["reason"]);
            let how = if reason.is_empty() { ended(object).unwrap_or_default() } else { reason };
            // Who owns it makes another one, or says that it fails.
            return (!is_owned).then(|| Found::new(Fault::Ended { how }, ready()));
        }
        _ => {}
    }
    let restarts_never = is(object.spec, &["restartPolicy"], "Never");
    if let Some(fault) = containers(object).find_map(|one| container(object, one, restarts_never)) {
        return Some(Found::new(fault, ready()));
    }
    if let Some(found) = unready(object) {
        return Some(found);
    }
    let scheduled = condition(object.status, "PodScheduled")?;
    if scheduled.status == "True" {
        return hangs(object, scheduled.since.max(ready()));
    }
    let is_refused = scheduled.status == "False" && state::reason(&scheduled.reason) == Tone::Bad;
    is_refused.then_some(Found {
        fault: Fault::Schedule { message: scheduled.message },
        since: scheduled.since,
        patience: UNSCHEDULED,
    })
}

/// A Pod that has a node and of which no container runs. `since` is when it was given to the node.
fn hangs(object: &Parts<'_>, since: Option<Timestamp>) -> Option<Found> {
    if containers(object).any(|one| json::value_at(one, &["state", "running"]).is_some()) {
        return None;
    }
    // Of an init container that ended well the next one begins then.
    let ended = |one| json::value_at(one, &["state", "terminated", "finishedAt"]).and_then(time);
    let since = since.max(containers(object).filter_map(ended).max());
    let waiting = containers(object).find_map(|one| json::value_at(one, &["state", "waiting"]));
    let reason = waiting.map(|waiting| word(waiting, &["reason"])).unwrap_or_default();
    let message = if reason.is_empty() { String::from("its kubelet says nothing of its containers") } else { reason };
    Some(Found { fault: Fault::Hang { message }, since, patience: NOT_STARTED })
}

/// A Pod that runs and is not ready. It may be so for [`UNREADY`], and a container that was started a moment ago for as long
/// as its probes ask for besides.
fn unready(object: &Parts<'_>) -> Option<Found> {
    let ready = condition(object.status, "Ready").filter(|ready| ready.status == "False")?;
    let is_unready = |one: &&str| {
        json::member(one, "ready") == Some("false") && json::value_at(one, &["state", "running"]).is_some()
    };
    if !is(object.status, &["phase"], "Running") {
        return None;
    }
    let status = containers(object).find(is_unready)?;
    let container = word(status, &["name"]);
    let spec = spec_of(object, &container).unwrap_or("{}");
    let probe = |probe: &str, name: &str, usual: i64| {
        json::value_at(spec, &[probe, name]).and_then(json::integer).filter(|number| *number > 0).unwrap_or(usual)
    };
    let has = |probe: &str| json::member(spec, probe).is_some();
    let has_started = json::member(status, "started") != Some("false");
    let message = match () {
        () if !has_started && has("startupProbe") => "its startup probe has not succeeded",
        () if has("readinessProbe") => "its readiness probe fails",
        () => "it runs and is not ready",
    };
    // The initial delay, and so many periods.
    let needs = |name: &str, times: &str, usual: i64| match has(name) {
        true => probe(name, times, usual).saturating_mul(probe(name, "periodSeconds", 10)).saturating_add(probe(
            name,
            "initialDelaySeconds",
            0,
        )),
        false => 0,
    };
    let startup = needs("startupProbe", "failureThreshold", 3);
    let needs = startup.saturating_add(needs("readinessProbe", "successThreshold", 1));
    let started = json::value_at(status, &["state", "running", "startedAt"]).and_then(time);
    let expected = started.map(|Timestamp(started)| Timestamp(started.saturating_add(needs)));
    let late = |since: Timestamp| expected.map_or(0, |expected| expected.seconds_since(since).max(0));
    Some(Found {
        // A Pod is not ready from its beginning on.
        fault: Fault::Unready { container, message: message.into(), was_ready: ready.since > started },
        since: ready.since,
        patience: UNREADY + ready.since.map_or(0, late) as f64 * 1_000.0,
    })
}

/// What is said of each container, the init containers first.
fn containers<'a>(object: &Parts<'a>) -> impl Iterator<Item = &'a str> + use<'a> {
    let lists = ["initContainerStatuses", "containerStatuses"].map(|name| json::member(object.status, name));
    lists.into_iter().flatten().filter_map(json::items).flatten()
}

/// How the container ended that failed.
fn ended(object: &Parts<'_>) -> Option<String> {
    containers(object).find_map(|one| exit(json::value_at(one, &["state", "terminated"])?))
}

fn container(object: &Parts<'_>, one: &str, restarts_never: bool) -> Option<Fault> {
    let restarts = json::member(one, "restartCount").and_then(json::integer).unwrap_or(0);
    if let Some(waiting) = json::value_at(one, &["state", "waiting"]) {
        let (reason, message) = (word(waiting, &["reason"]), word(waiting, &["message"]));
        return match &*reason {
            _ if state::pod(&reason) != Tone::Bad => None,
            "ErrImagePull"
            | "ImagePullBackOff"
            | "ErrImageNeverPull"
            | "InvalidImageName"
            | "ImageInspectError"
            | "RegistryUnavailable"
            | "SignatureValidationFailed" => Some(Fault::Pull { image: image(object, one) }),
            "CrashLoopBackOff" => {
                let last = json::value_at(one, &["lastState", "terminated"]).and_then(exit);
                Some(Fault::Crash { how: last.unwrap_or_else(|| String::from("exit code 0")), restarts })
            }
            _ => Some(Fault::Start { reason, message }),
        };
    }
    let how = exit(json::value_at(one, &["state", "terminated"])?)?;
    (!restarts_never).then_some(Fault::Crash { how, restarts })
}

/// How a container ended, if it did not end well.
fn exit(terminated: &str) -> Option<String> {
    let number = |name: &str| json::member(terminated, name).and_then(json::integer).filter(|number| *number != 0);
    let how = match (number("signal"), number("exitCode")) {
        (Some(signal), _) => format!("signal {signal}"),
        (None, Some(code)) => format!("exit code {code}"),
        (None, None) => return None,
    };
    let reason = word(terminated, &["reason"]);
    Some(if reason.is_empty() || reason == "Error" { how } else { format!("{reason}, {how}") })
}

/// The image that the spec asks for, for the container of a status.
fn image(object: &Parts<'_>, status: &str) -> String {
    word(spec_of(object, &word(status, &["name"])).unwrap_or(status), &["image"])
}

/// What the spec says of the container of this name.
fn spec_of<'a>(object: &Parts<'a>, name: &str) -> Option<&'a str> {
    let lists = ["containers", "initContainers"].map(|list| json::member(object.spec, list).and_then(json::items));
    lists.into_iter().flatten().flatten().find(|one| is(one, &["name"], name))
}
