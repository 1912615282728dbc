//! What is wrong with an object, read from its text: the state alone counts, and never what was there before.

use kubechurn_changes::value::KEPT;
use kubechurn_client::api::cell::Tone;
use kubechurn_client::api::time::Timestamp;
use kubechurn_client::json::{self, Members};
use kubechurn_columns::state;

/// How long a Pod may wait for a node, in milliseconds: a cluster that grows needs a moment.
const UNSCHEDULED: f64 = 5_000.0;
/// How long a claim may wait for its volume, in milliseconds.
const UNBOUND: f64 = 10_000.0;
/// How long an object may stay after the time at which it is to be gone, in milliseconds.
const OVERDUE: f64 = 10_000.0;
/// The same for Pods, whose kubelet ends the containers first.
const POD_OVERDUE: f64 = 30_000.0;

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
    /// A ReplicaSet may not create Pods.
    Create {
        /// The server's refusal.
        message: String,
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

impl Fault {
    /// Faults of the same number and owner are one cause.
    pub fn number(&self) -> u8 {
        match self {
            Fault::NotReady => 0,
            Fault::Create { .. } => 1,
            Fault::Pull { .. } => 2,
            Fault::Schedule { .. } => 3,
            Fault::Start { .. } => 4,
            Fault::Crash { .. } => 5,
            Fault::Ended { .. } => 6,
            Fault::Job { .. } => 7,
            Fault::Deadline => 8,
            Fault::Unbound => 9,
            Fault::Deleting { .. } => 10,
        }
    }

    /// Whether it is a Pod's, of which several of one owner are one cause.
    pub fn is_of_pods(&self) -> bool {
        (2..=6).contains(&self.number())
    }

    /// What it means.
    pub fn tone(&self) -> Tone {
        if matches!(self, Fault::Unbound | Fault::Deleting { .. }) { Tone::Wait } else { Tone::Bad }
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
            Fault::NotReady => ("not ready", String::new()),
            Fault::Job { message } => ("failed", message.clone()),
            Fault::Unbound => ("waits for a volume", String::new()),
            Fault::Deadline => ("does not progress", String::from("its rollout is past its deadline")),
            Fault::Deleting { by } if by.is_empty() => ("is being deleted", String::from("it should be gone by now")),
            Fault::Deleting { by } => ("is being deleted", format!("held by {by}")),
        }
    }
}

/// The members of an object's text that are read.
struct Object<'a> {
    metadata: Members<'a>,
    spec: &'a str,
    status: &'a str,
}

/// What is wrong with an object of this kind.
pub fn read(kind: &str, text: &str) -> Option<Found> {
    let members = json::members(text.trim_ascii())?;
    let part = |name: &str| json::named(&members, name).unwrap_or("{}");
    let object = Object { metadata: json::members(part("metadata"))?, spec: part("spec"), status: part("status") };
    if let Some(deletion) = json::named(&object.metadata, "deletionTimestamp").and_then(time) {
        return deleting(kind, &object, deletion);
    }
    match kind {
        "Pod" => pod(&object),
        "ReplicaSet" => condition(object.status, "ReplicaFailure").and_then(Condition::may_not_create),
        "Deployment" => deployment(&object),
        "Node" => condition(object.status, "Ready")
            .filter(|ready| state::condition("Node", "Ready", &ready.status) == Tone::Bad)
            .map(|ready| Found::new(Fault::NotReady, ready.since)),
        "Job" => condition(object.status, "Failed").filter(|failed| failed.status == "True").map(|failed| {
            let message = if failed.message.is_empty() { failed.reason } else { failed.message };
            Found::new(Fault::Job { message }, failed.since)
        }),
        "PersistentVolumeClaim" => (word(object.status, &["phase"]) == "Pending").then(|| Found {
            fault: Fault::Unbound,
            since: json::named(&object.metadata, "creationTimestamp").and_then(time),
            patience: UNBOUND,
        }),
        _ => None,
    }
}

fn time(json: &str) -> Option<Timestamp> {
    json::unescaped(json).and_then(|text| Timestamp::parse_set(&text))
}

fn word(object: &str, path: &[&str]) -> String {
    let value = json::value_at(object, path).and_then(json::unescaped).unwrap_or_default();
    value.chars().take(KEPT).collect()
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
        // What comes before names the Pod that could not be made.
        let message = message.split_once("is forbidden: ").map_or(&*message, |(_, why)| why).to_owned();
        (status == "True").then(|| Found::new(Fault::Create { message }, since))
    }
}

/// The last condition of this type, as a table takes it.
fn condition(status: &str, name: &str) -> Option<Condition> {
    let conditions = json::member(status, "conditions").and_then(json::items)?;
    let found = conditions.into_iter().rfind(|one| word(one, &["type"]) == name)?;
    Some(Condition {
        status: word(found, &["status"]),
        reason: word(found, &["reason"]),
        message: word(found, &["message"]),
        since: json::member(found, "lastTransitionTime").and_then(time),
    })
}

fn deployment(object: &Object<'_>) -> Option<Found> {
    let refused = condition(object.status, "ReplicaFailure").and_then(Condition::may_not_create);
    refused.or_else(|| {
        let late = condition(object.status, "Progressing")?;
        let is_late = late.status == "False" && late.reason == "ProgressDeadlineExceeded";
        is_late.then(|| Found::new(Fault::Deadline, late.since))
    })
}

/// Something that is to be gone at a time, and is still there.
fn deleting(kind: &str, object: &Object<'_>, since: Timestamp) -> Option<Found> {
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

fn pod(object: &Object<'_>) -> Option<Found> {
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
    let restarts_never = word(object.spec, &["restartPolicy"]) == "Never";
    if let Some(fault) = containers(object).find_map(|one| container(object, one, restarts_never)) {
        return Some(Found::new(fault, ready()));
    }
    let scheduled = condition(object.status, "PodScheduled")?;
    let is_refused = scheduled.status == "False" && state::reason(&scheduled.reason) == Tone::Bad;
    is_refused.then_some(Found {
        fault: Fault::Schedule { message: scheduled.message },
        since: scheduled.since,
        patience: UNSCHEDULED,
    })
}

/// What is said of each container, the init containers first.
fn containers<'a>(object: &Object<'a>) -> impl Iterator<Item = &'a str> + use<'a> {
    let lists = ["initContainerStatuses", "containerStatuses"].map(|name| json::member(object.status, name));
    lists.into_iter().flatten().filter_map(json::items).flatten()
}

/// How the container ended that failed.
fn ended(object: &Object<'_>) -> Option<String> {
    containers(object).find_map(|one| exit(json::value_at(one, &["state", "terminated"])?))
}

fn container(object: &Object<'_>, one: &str, restarts_never: bool) -> Option<Fault> {
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
fn image(object: &Object<'_>, status: &str) -> String {
    let name = word(status, &["name"]);
    let lists = ["containers", "initContainers"].map(|list| json::member(object.spec, list).and_then(json::items));
    let asked = lists.into_iter().flatten().flatten().find(|one| word(one, &["name"]) == name);
    asked.map_or_else(|| word(status, &["image"]), |asked| word(asked, &["image"]))
}
