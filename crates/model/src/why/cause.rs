//! A change that may be the cause of an incident: what speaks for it and against it, and how likely it is.

use kubechurn_changes::field::Field;
use kubechurn_changes::line::Line;
use kubechurn_changes::part::PartKind;
use kubechurn_changes::value::Value;
use kubechurn_client::api::meaning::quantity;
use kubechurn_client::api::object::ObjectKey;
use kubechurn_client::api::resource::ApiResource;
use kubechurn_client::cache::delta::DeltaType;
use kubechurn_client::json;
use smol_str::SmolStr;

use crate::feed::wrong::Fault;
use crate::feed::wrong::row::Words;
use crate::why::incident::Incident;
use crate::why::references::{names, text};
use crate::why::ties::{Tie, Ties};
use crate::why::webhooks::Named;

/// How sure it is that a change is the cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Proof {
    /// It came before; nothing else speaks for it.
    ByTime,
    /// It can do what is wrong, and the object is one that counts here.
    Possible,
    /// Owner and version, a name in the error, or a node say so.
    Proven,
}

impl Proof {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Proof::ByTime => "inferred, by time alone",
            Proof::Possible => "inferred, it fits",
            Proof::Proven => "proven",
        }
    }
}

/// Something that was looked at.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    /// Whether it speaks for the change.
    pub holds: bool,
    /// What it is.
    pub words: String,
    /// The number of the version that shows it, if one does.
    pub seq: Option<u64>,
}

/// A change that may be the cause.
#[derive(Clone, Debug, PartialEq)]
pub struct Cause {
    /// The number of the change.
    pub seq: u64,
    /// When it was received, in milliseconds.
    pub at: f64,
    /// The object's resource.
    pub resource: ApiResource,
    /// The object.
    pub key: ObjectKey,
    /// What the object is to the incident.
    pub tie: Tie,
    /// What changed, in a few words.
    pub title: String,
    /// The field and its values, in parts.
    pub words: Words,
    /// The field.
    pub path: SmolStr,
    /// How sure it is.
    pub proof: Proof,
    /// What speaks for it and against it.
    pub checks: Vec<Check>,
    /// Who seems to have written it; empty if that is not known.
    pub writer: SmolStr,
    /// How often the same field of the same object changed in the time that was looked at.
    pub times: usize,
    /// The place in the order: the greatest is first.
    pub score: i64,
}

/// What is known of an incident beside its words.
#[derive(Debug)]
pub struct Facts<'a> {
    /// The incident.
    pub incident: &'a Incident,
    /// What it has to do with other objects.
    pub ties: &'a Ties,
    /// What the cluster itself says of it.
    pub said: &'a str,
    /// When Pods of the version that fails were ready first, and stayed so for a while; in milliseconds.
    pub was_well_at: Option<f64>,
    /// The text of what the incident is about, as it was then.
    pub own: &'a str,
}

/// The path of a field within a Pod template, without the container's name.
fn of_template(path: &str) -> Option<&str> {
    let path = path.strip_prefix("spec.jobTemplate.").unwrap_or(path);
    let path = path.strip_prefix("spec.template.").or_else(|| path.strip_prefix("spec.spec."))?;
    let inner = path.strip_prefix("spec.").unwrap_or(path);
    let of_container = ["containers[", "initContainers["].iter().find_map(|list| inner.strip_prefix(list));
    Some(of_container.and_then(|rest| rest.split_once("].")).map_or(inner, |(_, member)| member))
}

/// Whether a node is ready.
const READY: &str = "status.conditions[Ready].status";

fn has_any(text: &str, words: &[&str]) -> bool {
    words.iter().any(|word| text.contains(word))
}

/// How well the change of a field of the workload itself explains a fault: 0 not at all, 3 best.
fn fits(fault: Option<&Fault>, said: &str, path: &str) -> i64 {
    let Some(member) = of_template(path) else {
        return match (path, fault) {
            ("spec.replicas", Some(Fault::Schedule { .. })) if has_any(said, &["Insufficient", "Too many pods"]) => 2,
            ("spec.replicas", Some(Fault::Create { .. })) if said.contains("exceeded quota") => 2,
            ("metadata.deletionTimestamp", Some(Fault::Deleting { .. })) => 3,
            (READY, Some(Fault::NotReady)) => 3,
            (path, Some(Fault::Deleting { .. })) if path.starts_with("metadata.finalizers") => 2,
            (path, Some(Fault::Condition { .. })) if path.starts_with("spec") => 2,
            (path, Some(Fault::Job { .. } | Fault::Deadline)) if path.starts_with("spec.") => 1,
            ("spec.replicas" | "metadata.deletionTimestamp", None) => 1,
            (path, None) if path.starts_with("spec.") => 1,
            _ => 0,
        };
    };
    let is = |names: &[&str]| names.iter().any(|name| member.starts_with(name));
    let restarts = member.contains("restartedAt");
    match fault {
        Some(Fault::Pull { .. }) if is(&["image", "imagePullSecrets"]) => 3,
        Some(Fault::Schedule { .. }) => {
            let signs: [(&[&str], &[&str]); 4] = [
                (&["nodeSelector", "affinity"], &["affinity/selector", "node selector", "affinity"]),
                (&["tolerations"], &["taint"]),
                (&["resources"], &["Insufficient"]),
                (&["volumes"], &["persistentvolumeclaim", "PersistentVolumeClaim", "volume"]),
            ];
            if signs.iter().any(|(fields, words)| is(fields) && has_any(said, words)) { 3 } else { 0 }
        }
        Some(Fault::Start { .. } | Fault::Hang { .. }) if is(&["env", "volumes", "command", "args"]) => 3,
        Some(Fault::Start { .. } | Fault::Hang { .. }) if is(&["image", "securityContext", "volumeMounts"]) => 2,
        Some(Fault::Crash { .. } | Fault::Ended { .. } | Fault::Job { .. }) => match () {
            () if is(&["command", "args"]) => 3,
            () if is(&["resources"]) && said.contains("OOM") => 3,
            () if is(&["image", "env", "volumes", "livenessProbe", "startupProbe", "securityContext"]) => 2,
            () if is(&["metadata.annotations"]) && !restarts => 1,
            () if is(&["resources", "serviceAccountName"]) => 1,
            () => 0,
        },
        Some(Fault::Create { .. }) => match () {
            () if is(&["serviceAccount"]) && has_any(said, &["service account", "serviceaccount"]) => 3,
            () if is(&["priorityClassName"]) && said.contains("PriorityClass") => 3,
            () if is(&["resources"]) && said.contains("exceeded quota") => 2,
            () if is(&["securityContext"]) && has_any(said, &["PodSecurity", "violates"]) => 3,
            () => 0,
        },
        Some(Fault::Unready { .. }) => match () {
            () if is(&["readinessProbe", "startupProbe"]) => 3,
            () if is(&["image", "env", "command", "args", "ports", "livenessProbe"]) => 2,
            () if is(&["metadata.annotations"]) && !restarts => 1,
            () => 0,
        },
        Some(Fault::Condition { .. }) => 2,
        Some(Fault::Deadline) => 1,
        None => 1,
        _ => 0,
    }
}

/// What changed, in a few words.
fn title(line: &Line, path: &str, tie: Tie) -> String {
    let what = match (line.delta_type, path) {
        (DeltaType::Added, _) => "was created",
        (DeltaType::Deleted, _) => "was deleted",
        (_, "metadata.deletionTimestamp") => "is to be deleted",
        (_, "spec.replicas") => "was scaled",
        (_, "spec.unschedulable") => match line.fields.iter().any(|field| field.path == path && field.new.is_some()) {
            true => "was cordoned",
            false => "was uncordoned",
        },
        (_, READY) if line.states().any(|(path, word)| path == READY && word == "Unknown") => {
            "is not heard of any more"
        }
        (_, READY) => "changed whether it is ready",
        (_, path) if path.starts_with("spec.taints") => "has other taints",
        (_, path) if path.starts_with("metadata.finalizers") => "has other finalizers",
        (_, path) => {
            let member = of_template(path).unwrap_or_default();
            let is = |name: &str| member.starts_with(name);
            let known = [
                ("image", "The image was changed"),
                ("command", "The command was changed"),
                ("args", "The arguments were changed"),
                ("env", "The environment was changed"),
                ("resources", "The resources were changed"),
                ("nodeSelector", "The node selector was changed"),
                ("affinity", "The affinity was changed"),
                ("tolerations", "The tolerations were changed"),
                ("readinessProbe", "The readiness probe was changed"),
                ("livenessProbe", "The liveness probe was changed"),
                ("startupProbe", "The startup probe was changed"),
                ("serviceAccount", "The ServiceAccount was changed"),
                ("priorityClassName", "The priority class was changed"),
                ("volume", "The volumes were changed"),
                ("metadata.annotations", "The annotations of its Pods were changed"),
            ];
            match known.iter().find(|(name, _)| is(name)).filter(|_| tie == Tie::Own) {
                Some((_, words)) => return String::from(*words),
                None => "was changed",
            }
        }
    };
    format!("{} {} {what}", line.kind, line.key.name)
}

fn words(line: &Line, field: Option<&Field>) -> Words {
    let parts = field.map(|field| field.parts(&line.key.name)).unwrap_or_default();
    let word = |kind: PartKind| match kind {
        PartKind::Path => "path",
        PartKind::Old => "old",
        PartKind::Arrow => "arrow",
        PartKind::New => "value",
        PartKind::Count | PartKind::More | PartKind::Plain => "",
    };
    let mut words: Words = parts.iter().map(|part| (part.text.trim().to_owned(), word(part.kind))).collect();
    let more = line.fields.len().saturating_sub(1) + line.more;
    if !words.is_empty() && more > 0 {
        words.push((format!("and {more} more"), "old"));
    }
    words
}

impl Cause {
    /// Weighs a change. `None` if it says nothing here: a status, a heartbeat.
    pub fn weigh(line: &Line, resource: ApiResource, tie: Tie, text_after: &str, facts: &Facts<'_>) -> Option<Cause> {
        let incident = facts.incident;
        let fault = incident.fault.as_ref();
        let is_another = match tie {
            Tie::Autoscaler => !is_for(text_after, incident),
            Tie::Behind => !facts.ties.is_behind(text_after),
            _ => false,
        };
        if line.is_listed || line.noise.is_some() || is_another {
            return None;
        }
        // Of a fight its writers alone are the cause.
        let is_fight = !incident.path.is_empty();
        if is_fight && !matches!(tie, Tie::Own | Tie::Autoscaler) {
            return None;
        }
        let weight = |path: &str| match tie {
            _ if !incident.path.is_empty() => {
                if incident.path == path {
                    3
                } else {
                    0
                }
            }
            Tie::Own | Tie::Owner => fits(fault, facts.said, path),
            _ => i64::from(is_asked(path, tie)),
        };
        let webhooks = (tie == Tie::Webhook).then(|| Named::of(text_after, facts.said));
        let refuses_since = |field: &Field| webhooks.as_ref().is_some_and(|named| named.refuses_since(field));
        let field = line
            .fields
            .iter()
            .rev()
            .max_by_key(|field| (weight(&field.path), refuses_since(field)))
            .filter(|_| !matches!(line.delta_type, DeltaType::Added | DeltaType::Deleted));
        let path = field.map_or(SmolStr::default(), |field| field.path.clone());
        let comes_or_goes = matches!(line.delta_type, DeltaType::Added | DeltaType::Deleted);
        let says_nothing = !comes_or_goes && !is_asked(&path, tie);
        // Whoever wrote other fields takes no part in a fight.
        if weight(&path) == 0 && (says_nothing || (is_fight && tie == Tie::Own)) {
            return None;
        }
        let mut checks = Vec::new();
        let mut check =
            |holds: bool, words: &str, seq: Option<u64>| checks.push(Check { holds, words: words.to_owned(), seq });
        let (fit, proof) = match tie {
            Tie::Own | Tie::Owner => own(line, field, weight(&path), facts, &mut check),
            Tie::Node => node(line, &path, text_after, facts, &mut check),
            _ => referred(line, field, tie, webhooks.as_ref(), facts, &mut check),
        };
        let before = ((incident.since - line.at) / 1_000.0).max(0.0);
        let by_time = 60 - (before / 10.0).min(60.0) as i64;
        let bonus = match proof {
            Proof::Proven => 300,
            Proof::Possible => 100,
            Proof::ByTime => 0,
        };
        Some(Cause {
            seq: line.seq,
            at: line.at,
            resource,
            key: line.key.clone(),
            tie,
            title: match line.writers.first().filter(|_| !incident.path.is_empty() && tie == Tie::Own) {
                Some(writer) => format!("{} sets {path}", writer.manager),
                None => title(line, &path, tie),
            },
            words: words(line, field),
            path,
            proof,
            checks,
            writer: line.writers.first().map(|writer| writer.manager.clone()).unwrap_or_default(),
            times: 1,
            score: fit * 100 + bonus + by_time,
        })
    }

    /// The same field changed so many times in the time that was looked at, this time included, and nothing came of it before.
    pub fn happened(&mut self, times: usize) {
        self.times = times;
        if times > 2 {
            self.score -= 60 * (times.min(6) as i64 - 1);
            let words = format!("it changed {} times before, and nothing came of it", times - 1);
            self.checks.push(Check { holds: false, words, seq: None });
        }
    }
}

/// Whether a field is asked for, and not reported.
fn is_asked(path: &str, tie: Tie) -> bool {
    match tie {
        Tie::Node => {
            matches!(path, "spec.unschedulable" | "metadata.deletionTimestamp")
                || path.starts_with("spec.taints")
                || path.starts_with("metadata.labels")
                || (path.starts_with("status.conditions[") && path.ends_with("].status"))
        }
        _ => {
            path == "metadata.deletionTimestamp"
                || path.starts_with("metadata.finalizers")
                || !(path.is_empty() || path.starts_with("metadata") || path.starts_with("status") || path == "STATUS")
        }
    }
}

/// Whether an autoscaler scales what the incident is about.
fn is_for(autoscaler: &str, incident: &Incident) -> bool {
    let of = |name: &str| text(autoscaler, &["spec", "scaleTargetRef", name]);
    of("kind").is_some_and(|kind| kind == incident.subject.kind)
        && of("name").is_some_and(|name| *name == *incident.subject.key.name)
}

type Found<'a> = &'a mut dyn FnMut(bool, &str, Option<u64>);

/// A change of what the incident is about.
fn own(line: &Line, field: Option<&Field>, fit: i64, facts: &Facts<'_>, check: Found<'_>) -> (i64, Proof) {
    let incident = facts.incident;
    let path = field.map_or("", |field| &*field.path);
    if !incident.path.is_empty() {
        check(fit == 3, "it is a write of the field that goes to and fro", Some(line.seq));
        return (fit, if fit == 3 { Proof::Possible } else { Proof::ByTime });
    }
    let observed = json::value_at(facts.own, &["status", "observedGeneration"]).and_then(json::integer);
    if let (Some(generation), Some(observed)) = (line.generation, observed) {
        check(observed >= generation, &format!("its controller has seen generation {generation}"), None);
    }
    if path == READY && incident.fault == Some(Fault::NotReady) {
        check(true, "it is the state itself: its kubelet is silent, or says so", Some(line.seq));
        return (fit, Proof::Possible);
    }
    if path == "metadata.deletionTimestamp" {
        let is_it = matches!(incident.fault, Some(Fault::Deleting { .. }));
        check(is_it, "it is what is being deleted", Some(line.seq));
        return (fit, if is_it { Proof::Proven } else { Proof::Possible });
    }
    if matches!(incident.fault, Some(Fault::Condition { .. })) {
        return of_condition(line, field, fit, facts, check);
    }
    let is_new = line.delta_type == DeltaType::Added;
    let is_version = of_template(path).is_some() || is_new;
    let is_its = incident.began == Some(line.seq);
    if !is_version {
        let proves = fit == 2 && is_its && facts.ties.made_at.is_some_and(|made| made + 1_000.0 >= line.at);
        match fit {
            2 => check(true, "what the error says can come of more Pods", None),
            _ => check(false, "the error does not speak of it", None),
        }
        return (fit, if proves && facts.said.contains("Insufficient") { Proof::Proven } else { by(fit) });
    }
    let fit = if is_new { 1 } else { fit };
    if incident.objects.iter().any(|object| object.kind == "Pod") && incident.fault.is_some() {
        check(is_its, "the Pods that fail are of the version that it made", Some(line.seq));
    }
    let was_well = facts.was_well_at.is_some_and(|at| at >= line.at);
    if was_well {
        check(false, "Pods of this version were ready before", None);
    }
    let value = field.and_then(|field| field.new.as_ref()).map(|value| value.kept().to_owned()).unwrap_or_default();
    let is_named = !value.is_empty() && value.len() < 300 && names(facts.said, value.trim_matches('"'));
    if is_named {
        check(true, "the error names the new value", Some(line.seq));
    } else if fit > 1 && incident.fault.is_some() {
        check(true, "what is wrong can come of this field", None);
    } else if incident.fault.is_some() {
        check(false, "what is wrong does not come of this field", None);
    }
    let needs_name = matches!(incident.fault, Some(Fault::Pull { .. } | Fault::Create { .. }));
    // What makes the new version is refused before there is a Pod of it.
    let is_refused = matches!(incident.fault, Some(Fault::Create { .. })) && is_named;
    let proves = fit > 1 && !was_well && (is_its || is_refused) && (!needs_name || is_named);
    let fit = if was_well { (fit - 1).max(0) } else { fit };
    (fit + i64::from(is_named), if proves { Proof::Proven } else { by(fit) })
}

/// A change of an object, or of its owner, whose condition says that something is wrong.
fn of_condition(line: &Line, field: Option<&Field>, fit: i64, facts: &Facts<'_>, check: Found<'_>) -> (i64, Proof) {
    if line.delta_type == DeltaType::Added {
        check(true, "it is what it asked for from the beginning on", Some(line.seq));
        return (1, by(1));
    }
    let value = field.and_then(|field| field.new.as_ref()).map(|value| value.kept().trim_matches('"').to_owned());
    // A number or a truth value stands in many sentences.
    let says_much = |value: &&String| value.len() > 4 && value.len() < 300 && value.parse::<f64>().is_err();
    let is_named = value.as_ref().filter(says_much).is_some_and(|value| value != "false" && names(facts.said, value));
    let words =
        if is_named { "the condition names the new value" } else { "the condition does not name the new value" };
    check(is_named, words, Some(line.seq));
    (fit + i64::from(is_named), if is_named && fit > 1 { Proof::Proven } else { by(fit) })
}

fn by(fit: i64) -> Proof {
    if fit > 1 { Proof::Possible } else { Proof::ByTime }
}

/// A change of a node.
fn node(line: &Line, path: &str, text_after: &str, facts: &Facts<'_>, check: Found<'_>) -> (i64, Proof) {
    let incident = facts.incident;
    let is_its = facts.ties.names(Tie::Node).contains(&&*line.key.name);
    match &incident.fault {
        Some(Fault::Schedule { .. }) => {
            let selector = &facts.ties.selector;
            let label = |name: &str| text(text_after, &["metadata", "labels", name]);
            let matches = selector.iter().all(|(name, value)| label(name).is_some_and(|of| of == **value));
            if path.starts_with("metadata.labels") {
                let was = |field: &&Field| field.path.starts_with("metadata.labels") && field.old.is_some();
                let old = || line.fields.iter().filter(was);
                let has = |name: &str, value: &str| {
                    old().any(|field| {
                        field.path.contains(name) && field.old.as_ref().is_some_and(|old| old.kept() == value)
                    })
                };
                let lost = !matches && selector.iter().any(|(name, value)| has(name, value));
                check(lost, "it lost a label that the Pods ask for", Some(line.seq));
                let proves = lost && has_any(facts.said, &["affinity", "selector"]);
                return if proves { (3, Proof::Proven) } else { (0, Proof::ByTime) };
            }
            let is_gone = line.delta_type == DeltaType::Deleted;
            let sign = match path {
                "spec.unschedulable" => facts.said.contains("unschedulable"),
                _ if path.starts_with("spec.taints") => facts.said.contains("taint"),
                _ => has_any(facts.said, &["taint", "unschedulable"]) && !path.contains("Pressure"),
            };
            let is_less = !line.fields.iter().any(|field| field.path == path && field.new.is_none());
            if !selector.is_empty() {
                check(matches, "its labels are those that the Pods ask for", Some(line.seq));
            }
            check(sign, if sign { "the scheduler speaks of it" } else { "the scheduler does not speak of it" }, None);
            let proves = sign && matches && !selector.is_empty() && is_less && !is_gone;
            let fit = match () {
                () if !matches => 0,
                () if sign && is_less => 3,
                () => i64::from(is_gone),
            };
            (fit, if proves { Proof::Proven } else { by(fit) })
        }
        _ => {
            let bad = line.states().any(|(of, word)| of == path && word != "True" && path.contains("[Ready]"));
            check(
                is_its,
                if is_its { "the Pods that fail are on it" } else { "the Pods that fail are on other nodes" },
                None,
            );
            let fit = if is_its && bad { 3 } else { i64::from(is_its) };
            (fit, by(fit))
        }
    }
}

/// A change of something that the Pods refer to, or that limits them. `webhooks` are those of it that the error names, if it has any.
fn referred(
    line: &Line,
    field: Option<&Field>,
    tie: Tie,
    webhooks: Option<&Named<'_>>,
    facts: &Facts<'_>,
    check: Found<'_>,
) -> (i64, Proof) {
    let incident = facts.incident;
    let (said, fault) = (facts.said, incident.fault.as_ref());
    let is_gone =
        line.delta_type == DeltaType::Deleted || field.is_some_and(|field| field.path == "metadata.deletionTimestamp");
    let is_named = webhooks.map_or_else(|| names(said, &line.key.name), |named| named.first().is_some());
    // A Service of which no Pod answers is named by the error, and not what should be behind it.
    let is_meant = is_named || tie == Tie::Behind;
    let is_name = matches!(tie, Tie::ConfigMap | Tie::Secret | Tie::Claim | Tie::Account | Tie::Service);
    let is_of_spec = is_name && matches!(fault, Some(Fault::Condition { .. }));
    let refers = match tie {
        _ if is_of_spec => "its spec names it",
        Tie::ConfigMap | Tie::Secret => "the Pods read it",
        Tie::Claim => "the Pods mount it",
        Tie::Volume | Tie::Class => "their claim is of it",
        Tie::Account => "the Pods run as it",
        Tie::Priority => "the Pods have this priority",
        Tie::Quota => "it limits this namespace",
        Tie::Autoscaler => "it scales this",
        Tie::Namespace => "this is in it",
        Tie::Webhook => "it is asked before something is created",
        Tie::Service => "the webhook that does not answer is called at it",
        Tie::Behind => "its Pods answer for the webhook",
        Tie::Own | Tie::Owner | Tie::Node => "",
    };
    check(true, refers, None);
    let started = facts.ties.made_at.is_none_or(|made| made + 1_000.0 >= line.at);
    let fit = match (tie, fault) {
        (
            Tie::ConfigMap | Tie::Secret,
            Some(
                Fault::Crash { .. }
                | Fault::Start { .. }
                | Fault::Hang { .. }
                | Fault::Ended { .. }
                | Fault::Job { .. }
                | Fault::Unready { .. },
            ),
        ) => 2,
        (Tie::Secret, Some(Fault::Pull { .. })) => 2,
        (Tie::Claim | Tie::Volume | Tie::Class, Some(Fault::Schedule { .. })) if has_any(said, &["olume"]) => 3,
        (Tie::Claim | Tie::Volume | Tie::Class, Some(Fault::Hang { .. })) => 2,
        (Tie::Class | Tie::Volume, Some(Fault::Unbound)) if is_gone => 3,
        (Tie::Class | Tie::Volume, Some(Fault::Unbound)) => 1,
        (Tie::Account, Some(Fault::Create { .. })) if has_any(said, &["service account", "serviceaccount"]) => 3,
        (Tie::Priority, Some(Fault::Create { .. })) if said.contains("PriorityClass") => 3,
        (Tie::Quota, Some(Fault::Create { .. }))
            if has_any(said, &["exceeded quota", "LimitRange", "maximum", "minimum"]) =>
        {
            2
        }
        (Tie::Webhook, Some(Fault::Create { .. })) if is_named => 1,
        (Tie::Service | Tie::Behind, Some(Fault::Create { .. })) => 2,
        _ if is_of_spec => 2,
        (Tie::Namespace, Some(Fault::Create { .. })) if is_gone => 3,
        (Tie::Autoscaler, Some(Fault::Create { .. } | Fault::Schedule { .. })) if !is_gone => 1,
        (_, None) => 1,
        _ => 0,
    };
    if fault.is_some() && tie != Tie::Behind {
        let words = match webhooks.and_then(Named::first) {
            Some(webhook) => format!("the error names its webhook {webhook}"),
            None if is_named => String::from("the error names it"),
            None => String::from("the error does not name it"),
        };
        check(is_named, &words, None);
    }
    if matches!(tie, Tie::ConfigMap | Tie::Secret) && facts.ties.made_at.is_some() {
        let words =
            if started { "the Pods that fail came after it" } else { "the Pods that fail were there before it" };
        check(started, words, None);
    }
    let says_nobody = said.contains("no endpoints available");
    let takes_away = match tie {
        Tie::Quota => is_less(field),
        Tie::ConfigMap | Tie::Secret => is_gone || field.is_some_and(|field| field.new.is_none()),
        Tie::Webhook => webhooks.is_some_and(|named| match line.delta_type {
            DeltaType::Added => named.refuses(),
            _ => field.is_some_and(|field| named.refuses_since(field)),
        }),
        Tie::Service if is_gone => said.contains("not found"),
        Tie::Service => says_nobody && field.is_some_and(|field| field.path.starts_with("spec.selector")),
        Tie::Behind => says_nobody && (is_gone || field.is_some_and(is_to_have_none)),
        _ => is_gone,
    };
    if tie == Tie::Behind {
        let words = match says_nobody {
            _ if takes_away => "since then nobody answers",
            true => "it is to have Pods all the same",
            false => "the error does not say that nobody answers",
        };
        check(takes_away, words, Some(line.seq));
    }
    if tie == Tie::Quota && fit > 1 {
        let words = if takes_away { "it allows less than before" } else { "it does not allow less than before" };
        check(takes_away, words, Some(line.seq));
    }
    if tie == Tie::Webhook && is_named {
        let words = match takes_away {
            true => "it can refuse what it let through before",
            false => "it does not refuse more than before",
        };
        check(takes_away, words, Some(line.seq));
    }
    let fit = match () {
        () if fit == 0 => 0,
        () if is_meant && takes_away => 4,
        () if tie == Tie::Quota && !takes_away => {
            if is_named && line.delta_type == DeltaType::Added {
                2
            } else {
                0
            }
        }
        () if is_gone => 3,
        () => fit,
    };
    let proves = is_meant && takes_away && fit == 4;
    let is_class_gone = tie == Tie::Class && is_gone && matches!(fault, Some(Fault::Unbound));
    (fit, if proves || is_class_gone { Proof::Proven } else { by(fit) })
}

/// Whether nothing is to be there any more.
fn is_to_have_none(field: &Field) -> bool {
    field.path == "spec.replicas" && field.new.as_ref().is_some_and(|new| new.kept() == "0")
}

/// Whether a quantity became less: an API server writes a thousand Pods as `1k`.
fn is_less(field: Option<&Field>) -> bool {
    let number = |value: &Option<Value>| quantity(value.as_ref()?.kept());
    field.is_some_and(|field| match (number(&field.old), number(&field.new)) {
        (Some(old), Some(new)) => new < old,
        (None, Some(_)) => true,
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantity_is_less_whatever_its_unit_is() {
        let field = |old: Option<&str>, new: Option<&str>| {
            let [old, new] = [old, new].map(|value| value.map(Value::plain));
            Field { path: "spec.hard.pods".into(), old, new, reordered: false }
        };
        for (old, new, expected) in [
            (Some("1k"), Some("1"), true),
            (Some("2Gi"), Some("1500Mi"), true),
            (Some("1"), Some("500m"), true),
            (Some("10"), Some("9"), true),
            (Some("900"), Some("1k"), false),
            (Some("1"), Some("1"), false),
            (None, Some("5"), true),
            (Some("5"), None, false),
            (Some("5"), Some("many"), false),
        ] {
            assert_eq!(is_less(Some(&field(old, new))), expected, "{old:?} {new:?}");
        }
        assert!(!is_less(None));
    }

    #[test]
    fn a_field_explains_only_what_can_come_of_it() {
        let pull = Fault::Pull { image: "web:2".into() };
        let schedule = Fault::Schedule { message: String::new() };
        let crash = Fault::Crash { how: "exit code 1".into(), restarts: 2 };
        let create = Fault::Create { message: String::new() };
        let image = "spec.template.spec.containers[web].image";
        for (fault, said, path, expected) in [
            (&pull, "", image, 3),
            (&pull, "", "spec.template.spec.containers[web].command", 0),
            (&pull, "", "spec.replicas", 0),
            (&schedule, "didn't match Pod's node affinity/selector", "spec.template.spec.nodeSelector.disk", 3),
            (&schedule, "Insufficient cpu", "spec.template.spec.nodeSelector.disk", 0),
            (&schedule, "Insufficient cpu", "spec.template.spec.containers[web].resources.requests.cpu", 3),
            (&schedule, "Insufficient cpu", "spec.replicas", 2),
            (&schedule, "node(s) were unschedulable", "spec.replicas", 0),
            (&crash, "", "spec.template.spec.containers[web].command[0]", 3),
            (&crash, "", image, 2),
            (&crash, "", "spec.template.metadata.annotations[\"kubectl.kubernetes.io/restartedAt\"]", 0),
            (&create, "exceeded quota: pods", "spec.replicas", 2),
            (&create, "serviceaccount \"robot\" not found", "spec.template.spec.serviceAccountName", 3),
            (&create, "exceeded quota: pods", "spec.template.spec.serviceAccountName", 0),
        ] {
            assert_eq!(fits(Some(fault), said, path), expected, "{fault:?} {path}");
        }
    }
}
