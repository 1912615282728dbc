//! One change of one object, in the words in which the feed shows it.

use std::fmt;
use std::sync::Arc;

use smallvec::SmallVec;
use smol_str::SmolStr;

use kubechurn_client::api::cell::Tone;
use kubechurn_client::api::object::ObjectKey;
use kubechurn_client::api::uid::Uid;
use kubechurn_client::cache::delta::DeltaType;
use kubechurn_columns::kinds::pods;
use kubechurn_columns::state;

use crate::audit::Request;
use crate::diff::{self, Diff, FieldChange};
use crate::field::{Field, taints};
use crate::noise::{self, Mark, Marks, Noise};
use crate::part::{self, Part, PartKind};
use crate::paths;
use crate::replicas::Replicas;
use crate::value::Value;
use crate::writer::{self, InferredWriter, NamedWriter, Writers};
use kubechurn_client::json::{self, Members};

/// The most fields of a line that are kept.
pub const MOST_FIELDS: usize = 12;
/// The most paths of further fields of a line that are kept.
const MOST_PATHS: usize = 50;
/// The most characters of an Event's reason that are kept: as many as an API server lets through.
const LONGEST_REASON: usize = 128;
/// The most fields of a line that are shown because they say as much as the first one.
const MOST_ALIKE: usize = 3;
/// The most owners of a line that are kept.
const MOST_OWNERS: usize = 4;

/// A change as it was received.
#[derive(Clone, Debug)]
pub struct ReceivedChange<'a> {
    /// The number of the change; it grows with each.
    pub seq: u64,
    /// When it was received, in milliseconds.
    pub at: f64,
    /// The kind's name, such as `Pod`.
    pub kind: Arc<str>,
    /// The object's namespace and name.
    pub key: ObjectKey,
    /// The object's uid.
    pub uid: Uid,
    /// What happened, as it was received.
    pub delta_type: DeltaType,
    /// The version that was known before, as JSON.
    pub old: Option<&'a str>,
    /// The version that came, as JSON; of a deletion, the last one if the server sent it.
    pub new: Option<&'a str>,
}

impl ReceivedChange<'_> {
    /// Whether a list brought the object, of which nothing was known before: what came of it is not known.
    pub fn is_listed(&self) -> bool {
        self.delta_type.is_of_list() && self.old.is_none()
    }
}

/// An owner that the object names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    /// The owner's kind.
    pub kind: String,
    /// The owner's name.
    pub name: String,
    /// The owner's uid.
    pub uid: Uid,
    /// Whether the owner is the object's controller.
    pub is_controller: bool,
}

/// What a Kubernetes Event says in one word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// The Event's `reason`, such as `BackOff`.
    pub word: String,
    /// Whether the Event's `type` is Warning.
    pub is_warning: bool,
    /// The Event's message.
    pub message: Value,
}

/// How a Pod is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PodState {
    /// The word for its state, as the table has it.
    pub word: SmolStr,
    /// Whether its condition `Ready` is true.
    pub is_ready: bool,
    /// The name of its Node; empty where it has none yet.
    pub node: SmolStr,
}

/// A change of an object.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// The number of the change.
    pub seq: u64,
    /// When it was received, in milliseconds.
    pub at: f64,
    /// The kind's name, such as `Pod`.
    pub kind: Arc<str>,
    /// The object's namespace and name.
    pub key: ObjectKey,
    /// The object's uid.
    pub uid: Uid,
    /// The object's cluster, for a caller that knows several and sets it; else empty.
    pub cluster: &'static str,
    /// What happened.
    pub delta_type: DeltaType,
    /// The fields that changed and are not noise, the most telling first. Of a new object, what it is like.
    pub fields: Vec<Field>,
    /// The paths of more fields that changed and are not noise, as far as they are kept.
    pub other_paths: Vec<SmolStr>,
    /// How many more fields changed that are not noise, those of the other paths included.
    pub more: usize,
    /// Who seems to have written it.
    pub writers: Writers,
    /// The requests that led to it, as far as an audit log says so for certain; of several by one user with one program from one
    /// place, one.
    pub requests: SmallVec<[Arc<Request>; 1]>,
    /// Whether the writers have written what none of these requests did, because the line is about several versions.
    pub has_more_writers: bool,
    /// Why the change as a whole says nothing, if it does.
    pub noise: Option<Noise>,
    /// The owners. For a Kubernetes Event, the object that it is about.
    pub owners: SmallVec<[Owner; 1]>,
    /// `metadata.generation`, which grows with each change of what is asked for.
    pub generation: Option<i64>,
    /// Whether what is asked for changed: the object is new or is to go, or its generation moved. Of an object without a
    /// generation, whether a field outside `metadata` and `status` changed.
    pub asks: bool,
    /// Whether the object came with a list and was not known before, so that this is no change.
    pub is_listed: bool,
    /// How far a workload is now.
    pub replicas: Option<Replicas>,
    /// How a Pod is now.
    pub pod: Option<PodState>,
    /// The revision of a ReplicaSet: a Deployment's newest one has the greatest.
    pub revision: Option<u64>,
    /// The reason of a Kubernetes Event.
    pub reason: Option<Reason>,
    /// Why nothing is known of what changed, if that is so.
    pub unknown: Option<Unknown>,
    /// Whether it brings a state that is bad, or is about something that is wrong at that time, or began it.
    pub is_failing: bool,
}

/// Why nothing is known of what changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unknown {
    /// The version before is not kept, and so the two cannot be compared.
    Before,
    /// One of the texts could not be followed.
    NotReadable,
    /// Of the two versions that are to be compared one is not kept.
    NotKept,
}

impl Unknown {
    /// What is shown in place of the change.
    pub fn words(self) -> &'static str {
        match self {
            Unknown::Before => "changed, the version before is not kept",
            Unknown::NotReadable => "not readable",
            Unknown::NotKept => "not comparable, one of the two versions is not kept",
        }
    }
}

/// The members of an object and of its metadata, which are read once for all that is asked of them.
#[derive(Default)]
struct Parts<'a> {
    object: Members<'a>,
    metadata: Members<'a>,
}

impl<'a> Parts<'a> {
    fn read(text: &'a str) -> Parts<'a> {
        let object = json::members(text.trim_ascii()).unwrap_or_default();
        let metadata = json::named(&object, "metadata").and_then(json::members).unwrap_or_default();
        Parts { object, metadata }
    }

    fn member(&self, name: &str) -> Option<&'a str> {
        json::named(&self.object, name)
    }

    /// How a Pod is; `None` where it has no status that can be read.
    fn pod_state(&self) -> Option<PodState> {
        let deletion = json::named(&self.metadata, "deletionTimestamp").and_then(json::unescaped);
        let is_deleting = deletion.is_some_and(|time| !time.is_empty());
        let (spec, status) = (self.member("spec").unwrap_or("{}"), self.member("status")?);
        let word = pods::status(is_deleting, spec, status).ok()?;
        let conditions = json::member(status, "conditions").and_then(json::items).unwrap_or_default();
        let ready = conditions.iter().find(|item| json::member(item, "type") == Some("\"Ready\""));
        let node = json::member(spec, "nodeName").and_then(json::unescaped).unwrap_or_default();
        Some(PodState {
            word: word.into(),
            is_ready: ready.is_some_and(|ready| json::member(ready, "status") == Some("\"True\"")),
            node: node.into(),
        })
    }

    /// The annotation in which a Deployment numbers its ReplicaSets.
    fn revision(&self) -> Option<u64> {
        let annotations = json::named(&self.metadata, "annotations")?;
        json::unescaped(json::member(annotations, "deployment.kubernetes.io/revision")?)?.parse().ok()
    }
}

/// The word for a Pod's state, as a value.
fn status_of(pod: Option<&PodState>) -> Option<Value> {
    pod.filter(|pod| !pod.word.is_empty()).map(|pod| Value::plain(&pod.word))
}

impl Line {
    /// Who is named as its writer: who made the request, where that is certain, and else the managers that seem to have written
    /// it.
    pub fn named_writers(&self) -> impl Iterator<Item = NamedWriter<'_>> {
        let is_inferred = self.requests.is_empty() || self.has_more_writers;
        let inferred = if is_inferred { &self.writers[..] } else { &[] };
        self.requests.iter().map(|request| NamedWriter::User(request)).chain(inferred.iter().map(NamedWriter::Manager))
    }

    /// Reads a change. `marks` are the fields that the user called noise.
    pub fn new(received: ReceivedChange<'_>, marks: &Marks) -> Line {
        let is_listed = received.is_listed();
        let ReceivedChange { seq, at, kind, key, uid, delta_type, old, new } = received;
        let mut line = Line {
            seq,
            at,
            kind,
            key,
            uid,
            cluster: "",
            delta_type,
            fields: Vec::new(),
            other_paths: Vec::new(),
            more: 0,
            writers: writer::of_change(delta_type, old, new),
            requests: SmallVec::new(),
            has_more_writers: false,
            noise: None,
            owners: SmallVec::new(),
            generation: None,
            asks: false,
            is_listed,
            replicas: None,
            pod: None,
            revision: None,
            reason: None,
            unknown: None,
            is_failing: false,
        };
        let parts = Parts::read(new.or(old).unwrap_or_default());
        line.read_metadata(&parts);
        match (delta_type, old, new) {
            (DeltaType::Deleted, ..) => line.asks = true,
            (DeltaType::Updated, None, _) => line.unknown = Some(Unknown::Before),
            (DeltaType::Added, _, Some(_)) | (_, None, Some(_)) => line.describe(&parts),
            (_, Some(old), Some(new)) => line.compare((old, new), marks),
            _ => {}
        }
        line.is_failing = delta_type != DeltaType::Deleted && line.brings_failure();
        line
    }

    fn read_metadata(&mut self, parts: &Parts<'_>) {
        self.generation = json::named(&parts.metadata, "generation").and_then(json::integer);
        let owners = json::named(&parts.metadata, "ownerReferences").and_then(json::items);
        self.owners = owners.unwrap_or_default().into_iter().take(MOST_OWNERS).filter_map(owner).collect();
        self.replicas = Replicas::read(&self.kind, &parts.object);
        match &*self.kind {
            "Pod" => self.pod = parts.pod_state(),
            "ReplicaSet" => self.revision = parts.revision(),
            _ => {}
        }
        if self.is_event() {
            let about = ["involvedObject", "regarding"].iter().find_map(|name| parts.member(name));
            self.owners.extend(about.and_then(owner));
            let word = |name: &str| parts.member(name).and_then(json::unescaped);
            self.reason = word("reason").map(|reason| Reason {
                word: reason.chars().take(LONGEST_REASON).collect(),
                is_warning: word("type").is_some_and(|of| of == "Warning"),
                message: parts.member("message").or(parts.member("note")).map_or(Value::plain(""), Value::new),
            });
        }
    }

    /// What a new object is like.
    fn describe(&mut self, parts: &Parts<'_>) {
        self.asks = self.delta_type == DeltaType::Added;
        let mut add = |path: &str, value: Option<Value>| {
            if let Some(value) = value {
                self.fields.push(Field { path: path.into(), old: None, new: Some(value), reordered: false });
            }
        };
        add(paths::POD_STATUS, status_of(self.pod.as_ref()));
        add("spec.replicas", parts.member("spec").and_then(|spec| json::member(spec, "replicas")).map(Value::new));
        if &*self.kind == "Event" {
            let member = |name: &str| parts.member(name);
            add("type", member("type").filter(|value| *value != "\"Normal\"").map(Value::new));
            add("reason", member("reason").map(Value::new));
            add("message", member("message").or(member("note")).map(Value::new));
        }
    }

    fn compare(&mut self, (old, new): (&str, &str), marks: &Marks) {
        let Ok(diff) = diff::diff(old, new) else {
            self.unknown = Some(Unknown::NotReadable);
            return;
        };
        let reasons = noise::classify(Some((marks, &self.key)), &self.kind, &diff, self.generation);
        self.noise = noise::whole(&diff, &reasons);
        if self.noise.is_none() {
            self.add_fields(&diff, &reasons);
            if &*self.kind == "Pod" {
                self.add_pod_state(&Parts::read(old));
            }
        }
    }

    fn add_fields(&mut self, diff: &Diff<'_>, reasons: &[Option<Noise>]) {
        let outside = |path: &str| !path.starts_with("metadata") && !path.starts_with("status");
        let has_generation = self.generation.is_some();
        let asks = |path: &str| match path {
            "metadata.generation" | paths::DELETION => true,
            path => !has_generation && outside(path),
        };
        self.asks = diff.changes.iter().any(|change| asks(&change.path));
        let rank = |change: &FieldChange<'_>| {
            let new = change.new.and_then(json::unescaped).unwrap_or_default();
            paths::rank(&self.kind, &change.path, &new)
        };
        let mut ranked: SmallVec<[(u8, usize); 16]> = SmallVec::new();
        for (at, (change, reason)) in diff.changes.iter().zip(reasons).enumerate() {
            if reason.is_none() {
                let next = (rank(change), at);
                ranked.insert(ranked.partition_point(|known| *known < next), next);
            }
        }
        self.more = diff.more + ranked.len().saturating_sub(MOST_FIELDS);
        let others = ranked.iter().skip(MOST_FIELDS).take(MOST_PATHS);
        self.other_paths = others.map(|(_, at)| diff.changes[*at].path.clone()).collect();
        self.fields.reserve_exact(ranked.len().min(MOST_FIELDS) + 1); // one for a Pod's state
        for (_, at) in ranked.into_iter().take(MOST_FIELDS) {
            let change = &diff.changes[at];
            let is_taints = change.path == "spec.taints" && (change.old.is_none() || change.new.is_none());
            let value = |json: &str| if is_taints { taints(json) } else { Value::new(json) };
            let [old, new] = paths::with_zero(&change.path, [change.old, change.new]).map(|json| json.map(value));
            self.fields.push(Field { path: change.path.clone(), old, new, reordered: change.reordered });
        }
    }

    /// Puts the word for a Pod's state before its fields, where it changed.
    fn add_pod_state(&mut self, old: &Parts<'_>) {
        let (old, new) = (status_of(old.pod_state().as_ref()), status_of(self.pod.as_ref()));
        if old == new {
            return;
        }
        self.fields.retain(|field| field.path != "status.phase" || (&field.old, &field.new) != (&old, &new));
        self.fields.insert(0, Field { path: paths::POD_STATUS.into(), old, new, reordered: false });
        if self.fields.len() > MOST_FIELDS
            && let Some(field) = self.fields.pop()
        {
            self.other_paths.push(field.path);
            self.more += 1;
        }
    }

    /// How many bytes of text the line keeps.
    pub fn text_bytes(&self) -> usize {
        let of = |value: &Option<Value>| value.as_ref().map_or(0, |value| value.kept().len());
        let fields = self.fields.iter().map(|field| field.path.len() + of(&field.old) + of(&field.new));
        let message = self.reason.as_ref().map(|reason| reason.message.kept().len());
        fields.chain(self.other_paths.iter().map(SmolStr::len)).chain(message).sum()
    }

    /// Applies a mark that the user made after the line was read. Of fields whose paths are not kept it is not known whether
    /// they are meant, so that they stay what they are.
    pub fn mark(&mut self, mark: &Mark) {
        if self.noise.is_some() || self.fields.is_empty() || self.delta_type == DeltaType::Added {
            return;
        }
        let (kind, key) = (&*self.kind, &self.key);
        let unknown = self.more - self.other_paths.len().min(self.more);
        self.fields.retain(|field| !mark.covers(kind, key, &field.path));
        self.other_paths.retain(|path| !mark.covers(kind, key, path));
        self.more = unknown + self.other_paths.len();
        if self.fields.is_empty() && self.more == 0 {
            self.noise = Some(Noise::Marked);
        }
    }

    /// The owner that caused it, as far as owners cause: the controller, or else the first.
    pub fn controller(&self) -> Option<&Owner> {
        self.owners.iter().find(|owner| owner.is_controller).or(self.owners.first())
    }

    /// Whether this change asks for the object to go.
    pub fn is_marked_for_deletion(&self) -> bool {
        self.fields.iter().any(|field| field.path == paths::DELETION && field.old.is_none())
    }

    /// What happened, without the object, in parts: the fields that say most, and how many more there are. An Event's message
    /// is whole.
    pub fn parts(&self) -> Vec<Part> {
        self.parts_of(Some(&self.key.name))
    }

    fn parts_of(&self, object: Option<&str>) -> Vec<Part> {
        let plain = |text: &str| Part::new(text, PartKind::Plain);
        let is_gone =
            self.fields.first().is_some_and(|field| field.path == paths::POD_STATUS) && self.is_marked_for_deletion();
        match self.delta_type {
            DeltaType::Deleted => return vec![plain("deleted")],
            _ if let Some(unknown) = self.unknown => return vec![plain(unknown.words())],
            DeltaType::Added => return self.parts_of_new(),
            _ if is_gone => return vec![plain("marked for deletion")],
            _ => {}
        }
        let Some(first) = self.fields.first() else {
            return vec![plain(self.noise.map_or("listed", Noise::words))];
        };
        let rank = |field: &Field| paths::rank(&self.kind, &field.path, field.new.as_ref().map_or("", Value::kept));
        // Fields that say as much as the first one, such as the images of several containers.
        let alike = self.fields.iter().take(MOST_ALIKE).take_while(|field| rank(field) == rank(first));
        let (mut parts, mut shown) = (Vec::new(), 0);
        for field in alike {
            if shown > 0 {
                parts.push(plain(", "));
            }
            parts.extend(field.parts_of(object));
            shown += 1;
        }
        parts.extend(part::more(self.fields.len() - shown + self.more));
        parts
    }

    fn parts_of_new(&self) -> Vec<Part> {
        let mut parts = vec![Part::new("added", PartKind::Plain)];
        for field in &self.fields {
            let Some(value) = &field.new else { continue };
            let path = paths::shown(field.path.strip_prefix("spec.").unwrap_or(&field.path));
            let is_message = self.is_event() && path == "message";
            parts.push(Part::new(", ", PartKind::Plain));
            parts.push(Part::new(format!("{path} "), PartKind::Path));
            parts.push(Part::new(if is_message { value.whole() } else { value.to_string() }, PartKind::New));
        }
        parts
    }

    /// Whether the object is a Kubernetes Event.
    pub fn is_event(&self) -> bool {
        &*self.kind == "Event"
    }

    /// Whether it is a Warning.
    pub fn is_warning(&self) -> bool {
        self.reason.as_ref().is_some_and(|reason| reason.is_warning)
    }

    /// Whether a CronJob made a Job.
    pub(crate) fn schedules(&self) -> bool {
        &*self.kind == "CronJob" && self.fields.iter().any(|field| field.path == "status.lastScheduleTime")
    }

    /// The Node that takes this Pod away: with which it was lost, or from which it is evicted.
    pub(crate) fn taken_from(&self) -> Option<&str> {
        let pod = self.pod.as_ref().filter(|pod| !pod.node.is_empty())?;
        (self.is_lost(pod) || self.is_evicted()).then_some(&*pod.node)
    }

    /// Whether a running Pod that was ready is not ready any more, and it is not the kubelet that says so but the controller of
    /// the Nodes.
    fn is_lost(&self, pod: &PodState) -> bool {
        let is_ready = |field: &Field| field.path == "status.conditions[Ready].status";
        let is_controller = |writer: &InferredWriter| writer.manager == "kube-controller-manager";
        let is_unready = pod.word == "Running" && !pod.is_ready;
        is_unready && self.fields.iter().any(is_ready) && self.writers.iter().any(is_controller)
    }

    /// Whether the API server says that somebody asked it to evict the Pod (`addConditionAndDeletePod` in
    /// `pkg/registry/core/pod/storage/eviction.go`).
    fn is_evicted(&self) -> bool {
        let says = |field: &Field| {
            field.path == "status.conditions[DisruptionTarget]"
                && field.new.as_ref().is_some_and(|new| new.kept().contains("\"EvictionByEvictionAPI\""))
        };
        self.fields.iter().any(says)
    }

    /// Whether this change is of the kind that ordinary life consists of: nothing fails, and nobody has written a label or
    /// an annotation.
    pub(crate) fn is_usual(&self) -> bool {
        let is_pod = &*self.kind == "Pod";
        let is_servers = |path: &str| {
            path.starts_with("metadata.deletion")
                || path.contains("deployment.kubernetes.io/")
                || path == "spec.nodeName"
        };
        let is_failure = |field: &Field| {
            let path = &*field.path;
            let new = field.new.as_ref().map_or("", Value::kept);
            path.ends_with(".restartCount")
                || path.contains(".lastState")
                || (path == "status.failed" && new != "0")
                || (path == "status.conditions" && new.contains("\"Failed\""))
                || (!self.is_ending(path) && state::tone_of(&self.kind, path, new) == Tone::Bad)
        };
        let is_written = |field: &Field| {
            let is_outside = is_pod && !field.path.starts_with("status.") && field.path != paths::POD_STATUS;
            (is_outside || field.path.starts_with("metadata.")) && !is_servers(&field.path)
        };
        let is_added = self.delta_type == DeltaType::Added;
        let is_event = self.is_event();
        !self.is_warning()
            && self.unknown.is_none()
            && !self.fields.iter().any(is_failure)
            && (is_event || is_added || !self.fields.iter().any(is_written))
    }

    /// Whether a field says how a container of a Pod ends that is asked to go: with any exit code.
    fn is_ending(&self, path: &str) -> bool {
        path != paths::POD_STATUS && self.pod.as_ref().is_some_and(|pod| pod.word == "Terminating")
    }

    /// The states that this change brings: the fields, and their new words.
    pub fn states(&self) -> impl Iterator<Item = (&str, &str)> {
        let is_state = |field: &&Field| {
            let is_word = paths::rank(&self.kind, &field.path, "") <= 2;
            (is_word && !self.is_ending(&field.path)) || field.path.ends_with("].status")
        };
        let states = self.fields.iter().filter(is_state);
        states.filter_map(|field| Some((&*field.path, field.new.as_ref()?.kept())))
    }

    fn brings_failure(&self) -> bool {
        self.reason.as_ref().is_some_and(|reason| reason.is_warning)
            || self.states().any(|(path, word)| state::tone_of(&self.kind, path, word) == Tone::Bad)
    }

    /// The state that this change brings, if it is one that says that something is wrong.
    pub fn trouble(&self) -> Option<&str> {
        let is_state = |field: &&Field| paths::rank(&self.kind, &field.path, "") <= 2 && !self.is_ending(&field.path);
        let states = self.fields.iter().filter(is_state);
        let words = states.filter_map(|field| Some((&*field.path, field.new.as_ref()?.kept())));
        let is_trouble = |path: &str, word: &str| state::tone_of(&self.kind, path, word) == Tone::Bad;
        words.filter(|(path, word)| is_trouble(path, word)).map(|(_, word)| word).next()
    }
}

fn owner(text: &str) -> Option<Owner> {
    let members = json::members(text)?;
    let word = |name: &str| json::named(&members, name).and_then(json::unescaped);
    let uid = Uid::new(&word("uid")?);
    let is_controller = json::named(&members, "controller") == Some("true");
    (!uid.is_empty()).then(|| Owner {
        kind: word("kind").unwrap_or_default().into_owned(),
        name: word("name").unwrap_or_default().into_owned(),
        uid,
        is_controller,
    })
}

impl fmt::Display for Line {
    /// What happened, without the object: `spec.replicas 6 → 4`, `added, replicas 1`, `deleted`.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&part::sentence(&self.parts_of(None)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn line(kind: &str, delta_type: DeltaType, old: Option<&str>, new: Option<&str>) -> Line {
        let key = ObjectKey::new("shop", "web");
        let uid = Uid::new("u");
        Line::new(
            ReceivedChange { seq: 1, at: 2.0, kind: kind.into(), key, uid, delta_type, old, new },
            &Marks::default(),
        )
    }

    #[track_caller]
    fn check(kind: &str, old: &str, new: &str, expected: &str) {
        assert_eq!(line(kind, DeltaType::Updated, Some(old), Some(new)).to_string(), expected);
    }

    #[test]
    fn a_line_says_what_changed() {
        check(
            "Pod",
            r#"{"status":{"phase":"Pending"}}"#,
            r#"{"status":{"phase":"Running"}}"#,
            "status Pending → Running",
        );
        check(
            "Other",
            r#"{"status":{"phase":"Pending"}}"#,
            r#"{"status":{"phase":"Ready"}}"#,
            "status.phase Pending → Ready",
        );
        check(
            "Deployment",
            r#"{"spec":{"replicas":6},"status":{"replicas":1}}"#,
            r#"{"spec":{"replicas":4},"status":{"replicas":2}}"#,
            "spec.replicas 6 → 4 + 1 more field",
        );
        let taint = r#"{"spec":{"taints":[{"key":"node.kubernetes.io/unreachable","effect":"NoExecute"}]}}"#;
        check("Node", r#"{"spec":{"taints":[]}}"#, taint, "spec.taints + unreachable:NoExecute");
        check("Node", taint, r#"{"spec":{"taints":[]}}"#, "spec.taints − unreachable:NoExecute");
        check(
            "ConfigMap",
            &format!(r#"{{"data":{{"a.json":"{}"}}}}"#, "x".repeat(412)),
            &format!(r#"{{"data":{{"a.json":"{}"}}}}"#, "x".repeat(418)),
            r#"data["a.json"] 412 → 418 bytes"#,
        );
        check(
            "Pod",
            r#"{"metadata":{},"status":{"phase":"Running"}}"#,
            r#"{"metadata":{"deletionTimestamp":"t"},"status":{"phase":"Running"}}"#,
            "marked for deletion",
        );
        check("X", r#"{"a":1"#, r#"{"a":2}"#, "not readable");
        let after = line("Pod", DeltaType::Updated, None, Some(r#"{"status":{"phase":"Running"}}"#));
        assert_eq!(
            (after.is_listed, after.fields.len(), &*after.to_string()),
            (false, 0, "changed, the version before is not kept")
        );
        check("X", r#"{"a":1}"#, r#"{"a":1}"#, "unchanged");
        check(
            "X",
            r#"{"metadata":{"labels":{"a":"1"}}}"#,
            r#"{"metadata":{"labels":{"a":"1","b":"2"}}}"#,
            "metadata.labels.b + 2",
        );
        assert_eq!(
            line("ReplicaSet", DeltaType::Added, None, Some(r#"{"spec":{"replicas":1}}"#)).to_string(),
            "added, replicas 1"
        );
        assert_eq!(line("ReplicaSet", DeltaType::Deleted, None, None).to_string(), "deleted");
        assert_eq!(line("ReplicaSet", DeltaType::Replaced, None, Some("{")).to_string(), "listed");
    }

    #[test]
    fn a_line_knows_owners_generation_and_trouble() {
        let owner = r#"{"metadata":{"generation":3,"ownerReferences":[{"kind":"X","uid":"a"},{"kind":"ReplicaSet","name":"r","uid":"b","controller":true},7]},"status":{"phase":"Failed"}}"#;
        let line_of = |kind: &str, text| line(kind, DeltaType::Added, None, Some(text));
        let pod = line_of("Pod", owner);
        assert_eq!((pod.generation, pod.owners.len(), &*pod.controller().unwrap().name), (Some(3), 2, "r"));
        assert_eq!((pod.trouble(), pod.asks), (Some("Failed"), true));
        let event = line_of(
            "Event",
            r#"{"involvedObject":{"kind":"Pod","name":"p","uid":"c"},"reason":"Killing","type":"Normal"}"#,
        );
        assert_eq!((&*event.owners[0].name, &*event.to_string()), ("p", "added, reason Killing"));
        let status = line("X", DeltaType::Updated, Some(r#"{"status":{"a":1}}"#), Some(r#"{"status":{"a":2}}"#));
        assert!(!status.asks);
    }
}
