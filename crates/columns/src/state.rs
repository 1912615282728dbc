//! What a state means: bad, waiting, good or neutral. This is the one table of meanings: the cells of a table, the rows of
//! the feed, the bands of a timeline and the inspector take theirs from here.
//!
//! The word for an object's state is that of the table, and [`write_state`] writes it for a band. This module never has
//! words of its own.

use kubechurn_client::api::cell::{CellRef, Tone};
use kubechurn_client::api::cells::Cells;
use kubechurn_client::api::time::Timestamp;
use kubechurn_client::json::{self, Text};

use crate::column::{Column, StatePart};

/// Writes the word for an object's state into `word`, in place of what was there, and returns what the state means.
/// `cells` are those of the columns. The word is empty for a kind none of whose columns shows a state ([`StatePart`]).
///
/// The first cell that is a status says what the state means. Where there is none, the word `2/3` does.
pub fn write_state(columns: &[Column], cells: &Cells, word: &mut String) -> Tone {
    word.clear();
    let (mut tone, mut counts, mut part, mut whole) = (None, None, None, None);
    let parts = columns.iter().map(|column| column.state).chain(std::iter::repeat(StatePart::None));
    for (cell, of) in cells.iter().zip(parts) {
        if tone.is_none() && matches!(cell, CellRef::Status(..)) {
            tone = Some(cell.tone());
        }
        match (of, cell) {
            (StatePart::None, _) => {}
            (StatePart::Word, cell) => {
                // No state is an age, so that the time does not matter.
                cell.write(Timestamp(0), word);
                counts = if let CellRef::Ratio(part, whole) = cell { Some((part, whole)) } else { None };
            }
            (StatePart::Part, CellRef::Number(number)) => part = Some(number),
            (StatePart::Whole, CellRef::Number(number)) => whole = Some(number),
            (StatePart::Part | StatePart::Whole, _) => {}
        }
    }
    if let (Some(part), Some(whole)) = (part, whole) {
        CellRef::Ratio(part, whole).write(Timestamp(0), word);
        counts = Some((part, whole));
    }
    tone.or(counts.map(|(part, whole)| ready(part, whole))).unwrap_or_default()
}

/// What the cell of the column at this place means: that of the object's state, where the column is a part of the state.
pub fn tone_of_cell(columns: &[Column], cells: &Cells, at: usize) -> Tone {
    let Some(cell) = cells.get(at) else { return Tone::Plain };
    match (cell, columns.get(at).map(|column| column.state)) {
        (CellRef::Status(_, tone), _) => tone,
        (_, Some(StatePart::Word | StatePart::Part)) => write_state(columns, cells, &mut String::new()),
        _ => Tone::Plain,
    }
}

/// What a value of a field means. `path` is the field as the feed writes it: `STATUS` (the table's word for the whole
/// object), `status.phase`, `status.conditions[Ready].status`, `….state.waiting.reason`, `type` and `reason` of an Event, or
/// a count of Pods, whose value then is `2/3`.
pub fn tone_of(kind: &str, path: &str, value: &str) -> Tone {
    if let Some((name, member)) = path.split_once("conditions[").and_then(|(_, rest)| rest.split_once(']')) {
        return match member {
            ".status" => condition(kind, name, value),
            ".reason" if reason(value) == Tone::Bad => Tone::Bad,
            _ => Tone::Plain,
        };
    }
    if let Some((part, whole)) =
        value.split_once('/').and_then(|(part, whole)| Some((part.parse().ok()?, whole.parse().ok()?)))
    {
        return ready(part, whole);
    }
    let is_container = path.contains(".state.") || path.contains(".lastState.");
    match (kind, path) {
        (_, "STATUS" | "status" | "status.phase" | "phase") => status(kind, value),
        ("Event", "type") => event_type(value),
        _ if is_container && path.ends_with(".reason") => pod(value),
        _ if is_container && path.ends_with(".exitCode") && value != "0" => Tone::Bad,
        (_, path) if path == "reason" || path.ends_with(".reason") => reason(value),
        _ => Tone::Plain,
    }
}

/// What the table's word for an object's state means.
pub fn status(kind: &str, word: &str) -> Tone {
    match kind {
        "Pod" => pod(word),
        "Node" => node(word),
        "CertificateSigningRequest" => signing_request(word),
        _ => general(word),
    }
}

/// What it means that so many of so many are ready. Nothing that is wanted is neither good nor bad.
pub fn ready(part: i64, whole: i64) -> Tone {
    match () {
        () if part < whole => Tone::Wait,
        () if whole == 0 => Tone::Plain,
        () => Tone::Good,
    }
}

/// What a Pod's STATUS means, and the reason for which a container waits or ended. What has ended as it should is neither
/// good nor bad any more.
///
/// The words for a good state and for a passing state are few and listed here. All other words come from the kubelet or
/// a controller and name what went wrong (kubernetes `pkg/kubelet/container/sync_result.go`, `images/types.go`,
/// `eviction`). New ones appear with every release, and so an unknown word counts as a failure.
pub fn pod(word: &str) -> Tone {
    match word {
        "" | "Completed" | "Succeeded" | "ExitCode:0" => Tone::Plain,
        "Running" => Tone::Good,
        "Pending" | "ContainerCreating" | "PodInitializing" | "Terminating" | "SchedulingGated" => Tone::Wait,
        _ => match word.strip_prefix("Init:") {
            // `Init:1/2` counts the init containers that have completed.
            Some(rest) if rest.starts_with(|first: char| first.is_ascii_digit()) => Tone::Wait,
            Some(rest) if pod(rest) == Tone::Wait => Tone::Wait,
            _ => Tone::Bad,
        },
    }
}

/// What a Node's STATUS means.
fn node(word: &str) -> Tone {
    match word {
        "Ready" => Tone::Good,
        "Ready,SchedulingDisabled" => Tone::Wait,
        "" => Tone::Plain,
        _ => Tone::Bad,
    }
}

/// What a CertificateSigningRequest's CONDITION means.
fn signing_request(word: &str) -> Tone {
    match word {
        "Approved,Issued" => Tone::Good,
        "Pending" | "Approved" => Tone::Wait,
        _ => Tone::Bad,
    }
}

/// What an Event's type means.
pub fn event_type(word: &str) -> Tone {
    if word == "Warning" { Tone::Bad } else { Tone::Plain }
}

/// What a word for a state means, of a Job, a claim, a volume, a Namespace, or of a kind that is not known here. A word
/// that is not known means nothing, and neither does one for what has ended as it should: `Complete`, `Succeeded`.
fn general(word: &str) -> Tone {
    match word {
        "SuccessCriteriaMet" | "Running" | "Bound" | "Available" | "Active" | "Ready" | "Healthy" | "Synced"
        | "True" | "allocated" | "allocated,reserved" => Tone::Good,
        "Pending"
        | "Released"
        | "Terminating"
        | "Suspended"
        | "Progressing"
        | "Creating"
        | "Provisioning"
        | "Updating"
        | "Deleting"
        | "Paused"
        | "Unknown"
        | "<pending>"
        | "pending"
        | "deleted"
        | "deleted,allocated"
        | "deleted,allocated,reserved" => Tone::Wait,
        "Failed" | "FailureTarget" | "Lost" | "Error" | "Degraded" | "Unhealthy" | "NotReady" | "False" => Tone::Bad,
        _ => reason(word),
    }
}

/// What a reason means, of a container, a condition or an Event. Reasons that name nothing wrong mean nothing.
pub fn reason(word: &str) -> Tone {
    const BAD: [&str; 14] = [
        "BackOff",
        "OOMKilled",
        "OOMKilling",
        "Evicted",
        "Failed",
        "NodeLost",
        "NodeNotReady",
        "NodeStatusUnknown",
        "ContainerStatusUnknown",
        "Preempted",
        "Unhealthy",
        "Unschedulable",
        "ProviderFailed",
        "SystemOOM",
    ];
    let is_bad = BAD.contains(&word)
        || ["Err", "Invalid", "Failed"].iter().any(|start| word.starts_with(start))
        || ["Error", "Exceeded", "BackOff", "Failed", "Failure"].iter().any(|end| word.ends_with(end));
    if is_bad { Tone::Bad } else { Tone::Plain }
}

/// The conditions that say whether an object is as a whole what it should be, the most telling first.
pub const WHOLE: [&str; 4] = ["Ready", "Available", "Healthy", "Synced"];

/// The state that a status says, and what it means: a condition that says by `True` that something is wrong, or else the most
/// telling of those of [`WHOLE`], or else the phase. `None` where it says nothing of that kind.
pub fn of_status(status: &str) -> Option<(String, Tone)> {
    let mut found: Option<(usize, String, Tone)> = None;
    let [conditions, phase, state, ..] = json::pick(status, &["conditions", "phase", "state"]).ok()?;
    let _ = json::each_item(conditions, &mut |one| {
        let of = |name: &str| json::value_at(one, &[name]).and_then(|value| Text::read(value).ok()).unwrap_or_default();
        let (name, value) = (of("type"), of("status"));
        let tone = condition("", &name, &value);
        let rank = match WHOLE.iter().position(|whole| *whole == &*name) {
            _ if tone == Tone::Bad => 0,
            Some(at) if !value.is_empty() => at + 1,
            _ => return Ok(()),
        };
        if found.as_ref().is_none_or(|(best, ..)| rank < *best) {
            let word = if &*value == "True" { name.to_string() } else { format!("{}: {}", &*name, &*value) };
            found = Some((rank, word, tone));
        }
        Ok(())
    });
    found.map(|(_, word, tone)| (word, tone)).or_else(|| {
        let word = [phase, state].into_iter().filter_map(|word| Text::read(word).ok()).find(|word| !word.is_empty())?;
        Some((word.to_string(), self::status("", &word)))
    })
}

/// What a condition means, by its type and its status. Most conditions are named for what is good; those that are named for
/// a problem, or for what passes, are listed. What is of neither kind means nothing.
pub fn condition(kind: &str, name: &str, status: &str) -> Tone {
    match (polarity(name), status) {
        // Where the table has a word for the whole object that stands for this condition, the word decides.
        (Polarity::Good, "False" | "Unknown") if is_vital(kind, name) => Tone::Bad,
        (Polarity::Good, "True") => Tone::Good,
        (Polarity::Good, "False") if matches!(name, "Complete" | "SuccessCriteriaMet") => Tone::Plain,
        (Polarity::Good, "False") | (Polarity::Passing, "True") => Tone::Wait,
        (Polarity::Bad, "True") => Tone::Bad,
        (Polarity::Good | Polarity::Bad | Polarity::Passing, "Unknown") => Tone::Wait,
        _ => Tone::Plain,
    }
}

/// Whether an object for which the condition does not hold is broken, and not on its way: a Node that is not ready, a rollout
/// past its deadline, an API that does not answer.
fn is_vital(kind: &str, name: &str) -> bool {
    matches!((kind, name), ("Node", "Ready") | ("Deployment", "Progressing") | ("APIService", "Available"))
}

enum Polarity {
    /// `True` is good.
    Good,
    /// `True` is bad.
    Bad,
    /// `True` means that something is on its way.
    Passing,
    /// Not known.
    None,
}

fn polarity(name: &str) -> Polarity {
    const PASSING: [&str; 8] = [
        "DisruptionTarget",
        "Terminating",
        "Suspended",
        "Paused",
        "Reconciling",
        "ResizePending",
        "ResizeInProgress",
        "Resizing",
    ];
    const BAD: [&str; 18] = [
        "Pressure",
        "Unavailable",
        "Failure",
        "Failed",
        "FailureTarget",
        "Degraded",
        "Stalled",
        "Remaining",
        "Dangling",
        "Deadlock",
        "ReadonlyFilesystem",
        "Unhealthy",
        "Unschedulable",
        "NonStructuralSchema",
        "Error",
        "Conflict",
        "Expired",
        "Denied",
    ];
    const GOOD: [&str; 29] = [
        "Ready",
        "Available",
        "Progressing",
        "Complete",
        "Completed",
        "Established",
        "Initialized",
        "Scheduled",
        "ReadyToStartContainers",
        "SuccessCriteriaMet",
        "NamesAccepted",
        "Accepted",
        "AbleToScale",
        "ScalingActive",
        "DisruptionAllowed",
        "Healthy",
        "Succeeded",
        "Synced",
        "Reconciled",
        "Programmed",
        "ResolvedRefs",
        "Approved",
        "Issued",
        "Valid",
        "Bound",
        "Installed",
        "Provisioned",
        "Deployed",
        "Conformant",
    ];
    let ends = |names: &[&str]| names.iter().any(|end| name.ends_with(end));
    let is_denied = ["Not", "Un", "In"].iter().any(|start| {
        name.strip_prefix(start).is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_uppercase()))
    });
    match () {
        () if ends(&PASSING) => Polarity::Passing,
        () if ends(&BAD) => Polarity::Bad,
        () if ends(&GOOD) => {
            if is_denied {
                Polarity::Bad
            } else {
                Polarity::Good
            }
        }
        () => Polarity::None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kinds::{BEFORE, KINDS, kind};

    /// The state of an object of a kind, given as JSON without its metadata.
    fn state(name: &str, rest: &str) -> (String, Tone) {
        let kind = kind(name).unwrap();
        let text = format!(r#"{{"metadata":{{"name":"a","namespace":"n","uid":"u","resourceVersion":"1"}},{rest}}}"#);
        let object = (kind.decode.0)(&text).unwrap();
        let mut word = String::from("another word");
        let tone = write_state(kind.columns, &object.cells, &mut word);
        (word, tone)
    }

    #[test]
    fn each_kind_s_state_is_the_word_of_its_table() {
        let waiting = r#""status":{"phase":"Running","containerStatuses":[{"state":{"waiting":{"reason":"CrashLoopBackOff"}}}]},"spec":{"containers":[{"name":"c"}]}"#;
        let conditions = r#""status":{"conditions":[{"type":"Ready","status":"False"}]},"spec":{"unschedulable":true}"#;
        for (name, rest, word, tone) in [
            ("pods", waiting, "CrashLoopBackOff", Tone::Bad),
            ("deployments", r#""spec":{"replicas":3},"status":{"readyReplicas":2}"#, "2/3", Tone::Wait),
            ("deployments", r#""spec":{"replicas":3},"status":{"readyReplicas":3}"#, "3/3", Tone::Good),
            ("deployments", r#""spec":{"replicas":0},"status":{}"#, "0/0", Tone::Plain),
            ("replicasets", r#""spec":{"replicas":3},"status":{"readyReplicas":1}"#, "1/3", Tone::Wait),
            ("replicasets", r#""spec":{"replicas":2},"status":{"readyReplicas":3}"#, "3/2", Tone::Good),
            ("statefulsets", r#""spec":{"replicas":1},"status":{"readyReplicas":1}"#, "1/1", Tone::Good),
            ("nodes", conditions, "NotReady,SchedulingDisabled", Tone::Bad),
            ("jobs", r#""spec":{"completions":5},"status":{"succeeded":3}"#, "Running", Tone::Good),
            ("jobs", r#""status":{"conditions":[{"type":"Complete","status":"True"}]}"#, "Complete", Tone::Plain),
            (
                "pods",
                r#""status":{"phase":"Succeeded"},"spec":{"containers":[{"name":"c"}]}"#,
                "Succeeded",
                Tone::Plain,
            ),
            ("persistentvolumeclaims", r#""status":{"phase":"Bound"}"#, "Bound", Tone::Good),
            ("namespaces", r#""status":{"phase":"Terminating"}"#, "Terminating", Tone::Wait),
            ("configmaps", r#""data":{"a":"b"}"#, "", Tone::Plain),
            ("events", r#""type":"Warning","reason":"BackOff""#, "", Tone::Bad),
        ] {
            assert_eq!(state(name, rest), (word.to_owned(), tone), "{name}: {rest}");
        }
    }

    #[test]
    fn a_kind_shows_its_state_in_one_way() {
        let mut with_state = Vec::new();
        for kind in KINDS.iter().chain(BEFORE.iter().map(|(_, before)| before)) {
            let count = |part| kind.columns.iter().filter(|column| column.state == part).count();
            let counts = [StatePart::Word, StatePart::Part, StatePart::Whole].map(count);
            assert!([[0, 0, 0], [1, 0, 0], [0, 1, 1]].contains(&counts), "{}: {counts:?}", kind.name);
            if counts != [0, 0, 0] {
                with_state.push(kind.resource.kind);
            }
        }
        let expected = "Pod Deployment ReplicaSet StatefulSet Job PersistentVolumeClaim Node Namespace Node Job";
        assert_eq!(with_state.join(" "), expected);
    }

    #[test]
    fn tones_distinguish_waiting_from_failing() {
        let check = |expected, words: &[&str]| {
            for word in words {
                assert_eq!(pod(word), expected, "{word}");
            }
        };
        check(Tone::Good, &["Running"]);
        check(Tone::Wait, &["Pending", "ContainerCreating", "Terminating", "PodInitializing", "SchedulingGated"]);
        check(Tone::Wait, &["Init:0/2", "Init:11/12", "Init:ContainerCreating"]);
        check(Tone::Bad, &["CrashLoopBackOff", "ImagePullBackOff", "ErrImagePull", "Error", "Failed", "Evicted"]);
        check(Tone::Bad, &["OOMKilled", "NotReady", "Unknown", "Signal:9", "ExitCode:1", "NodeAffinity"]);
        check(Tone::Bad, &["Init:CrashLoopBackOff", "Init:Error", "Init:Signal:9", "Init:ExitCode:1", "Init:"]);
        check(Tone::Plain, &["", "Completed", "Succeeded", "ExitCode:0"]);
    }

    #[test]
    fn a_condition_means_what_its_type_is_named_for() {
        use Tone::{Bad, Good, Plain, Wait};
        for (kind, name, [is, is_not, unknown]) in [
            ("Pod", "Ready", [Good, Wait, Wait]),
            ("Pod", "PodReadyToStartContainers", [Good, Wait, Wait]),
            ("Node", "Ready", [Good, Bad, Bad]),
            ("Deployment", "Available", [Good, Wait, Wait]),
            ("Deployment", "Progressing", [Good, Bad, Bad]),
            ("APIService", "Available", [Good, Bad, Bad]),
            ("Job", "Complete", [Good, Plain, Wait]),
            ("CustomResourceDefinition", "Established", [Good, Wait, Wait]),
            ("Widget", "CertificateIssued", [Good, Wait, Wait]),
            ("Node", "MemoryPressure", [Bad, Plain, Wait]),
            ("Node", "NetworkUnavailable", [Bad, Plain, Wait]),
            ("Job", "Failed", [Bad, Plain, Wait]),
            ("Job", "FailureTarget", [Bad, Plain, Wait]),
            ("ReplicaSet", "ReplicaFailure", [Bad, Plain, Wait]),
            ("Widget", "Stalled", [Bad, Plain, Wait]),
            ("Widget", "NotReady", [Bad, Plain, Wait]),
            ("Namespace", "NamespaceContentRemaining", [Bad, Plain, Wait]),
            ("Namespace", "NamespaceDeletionDiscoveryFailure", [Bad, Plain, Wait]),
            ("Job", "Suspended", [Wait, Plain, Wait]),
            ("Pod", "DisruptionTarget", [Wait, Plain, Wait]),
            ("Widget", "Purple", [Plain, Plain, Plain]),
        ] {
            let found = ["True", "False", "Unknown"].map(|status| condition(kind, name, status));
            assert_eq!(found, [is, is_not, unknown], "{kind} {name}");
            let path = format!("status.conditions[{name}].status");
            assert_eq!(tone_of(kind, &path, "True"), is, "{path}");
        }
    }

    #[test]
    fn a_value_in_the_feed_means_what_its_field_says() {
        for (kind, path, value, tone) in [
            ("Pod", "STATUS", "ErrImagePull", Tone::Bad),
            ("Pod", "STATUS", "Running", Tone::Good),
            ("Pod", "STATUS", "ContainerCreating", Tone::Wait),
            ("Pod", "status.phase", "Failed", Tone::Bad),
            ("Pod", "status.containerStatuses[web].state.waiting.reason", "CrashLoopBackOff", Tone::Bad),
            ("Pod", "status.containerStatuses[web].state.terminated.reason", "Error", Tone::Bad),
            ("Pod", "status.containerStatuses[web].state.terminated.reason", "Completed", Tone::Plain),
            ("Pod", "status.containerStatuses[web].lastState.terminated.exitCode", "1", Tone::Bad),
            ("Pod", "status.containerStatuses[web].lastState.terminated.exitCode", "0", Tone::Plain),
            ("Node", "status.conditions[Ready].status", "Unknown", Tone::Bad),
            ("Node", "status.conditions[Ready].reason", "NodeStatusUnknown", Tone::Bad),
            ("Deployment", "status.conditions[Progressing].reason", "ProgressDeadlineExceeded", Tone::Bad),
            ("Deployment", "status.conditions[Progressing].reason", "NewReplicaSetAvailable", Tone::Plain),
            ("Deployment", "status.readyReplicas", "2/3", Tone::Wait),
            ("Deployment", "status.readyReplicas", "3/3", Tone::Good),
            ("Namespace", "status.phase", "Active", Tone::Good),
            ("Widget", "status.phase", "Purple", Tone::Plain),
            ("Event", "type", "Warning", Tone::Bad),
            ("Event", "type", "Normal", Tone::Plain),
            ("Event", "reason", "FailedScheduling", Tone::Bad),
            ("Event", "reason", "Pulled", Tone::Plain),
            ("Deployment", "spec.replicas", "3", Tone::Plain),
            ("ConfigMap", "data.reason", "x", Tone::Plain),
        ] {
            assert_eq!(tone_of(kind, path, value), tone, "{kind} {path} {value}");
        }
    }
}
