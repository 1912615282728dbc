//! What an incident has to do with other objects: what its Pods refer to, what they run on, and what limits them.

use std::borrow::Cow;

use kubechurn_client::api::object::ObjectKey;
use kubechurn_client::api::resource::ApiResource;
use kubechurn_client::api::sort;
use kubechurn_client::json;
use rustc_hash::FxHashMap;

use crate::feed::wrong::Fault;
use crate::history::History;
use crate::why::incident::Incident;
use crate::why::references::{claims_of, names, references, spec_of, text};
use crate::why::webhooks::{is_selected, service};

/// What an object is to an incident.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tie {
    /// What the incident is about.
    Own,
    /// What owns that.
    Owner,
    /// A node.
    Node,
    /// A ConfigMap that the Pods read.
    ConfigMap,
    /// A Secret that the Pods read.
    Secret,
    /// A claim that the Pods mount.
    Claim,
    /// The volume of a claim.
    Volume,
    /// The class of a claim.
    Class,
    /// The ServiceAccount of the Pods.
    Account,
    /// The PriorityClass of the Pods.
    Priority,
    /// A quota or limits of the namespace.
    Quota,
    /// An autoscaler in the namespace.
    Autoscaler,
    /// The namespace.
    Namespace,
    /// A webhook that is asked before something is created.
    Webhook,
    /// The Service of a webhook that does not answer, or one that an object names.
    Service,
    /// A workload whose Pods answer for a webhook.
    Behind,
}

/// The objects that an incident has to do with, by kind and name.
#[derive(Clone, Debug, Default)]
pub struct Ties {
    by_name: FxHashMap<(&'static str, ObjectKey), Tie>,
    cluster: &'static str,
    namespace: String,
    /// Whether all nodes count: a Pod that has none waits for one.
    has_all_nodes: bool,
    /// Whether the incident is about something that is created.
    creates: bool,
    /// What the Pods ask of a node's labels.
    pub selector: Vec<(String, String)>,
    /// When the Pods that are named were created, as their Events, texts and versions say; in milliseconds.
    pub made_at: Option<f64>,
    /// The controllers of the Pods that are named, of kind ReplicaSet.
    pub sets: Vec<ObjectKey>,
    /// The kinds of what the incident is about, and of what owns that, which are not among [`KINDS`].
    others: Vec<&'static str>,
    /// What a condition says, and the spec of its object: what both name counts.
    named: Option<(String, String)>,
    /// The namespace of the Service of a webhook that does not answer, and which labels it selects.
    behind: Option<(String, Vec<(String, String)>)>,
}

/// The text of an object as it was when so many versions had been received, and the number of that version.
pub fn text_at(history: &History, resource: ApiResource, key: &ObjectKey, received: u64) -> Option<(u64, String)> {
    let versions = history.of(&resource, key);
    let last = versions.iter().rev().find(|entry| entry.sequence < received && entry.has_text)?;
    history.text(last.sequence).map(|text| (last.sequence, text.into_owned()))
}

/// The resource of a kind that was received, of this cluster.
pub fn resource_of(history: &History, kind: &str, cluster: &str) -> Option<ApiResource> {
    history.resources().find(|resource| resource.kind == kind && resource.cluster == cluster)
}

impl Ties {
    /// What an incident had to do with when so many versions had been received.
    pub fn of(incident: &Incident, history: &History, received: u64) -> Ties {
        let subject = &incident.subject;
        let mut ties = Ties {
            cluster: subject.resource.map_or("", |resource| resource.cluster),
            namespace: subject.key.namespace.to_string(),
            has_all_nodes: matches!(incident.fault, Some(Fault::Schedule { .. })),
            creates: matches!(incident.fault, Some(Fault::Create { .. })),
            ..Ties::default()
        };
        let of_object = |kind: &str, resource: Option<ApiResource>, key: &ObjectKey| {
            let resource = resource.or_else(|| resource_of(history, kind, ties.cluster))?;
            Some(text_at(history, resource, key, received)?.1)
        };
        let own = of_object(&subject.kind, subject.resource, &subject.key);
        let service = if ties.creates { service(&incident.said()) } else { None };
        let of_service = service.as_ref().and_then(|key| of_object("Service", None, key));
        let failing: Vec<(ObjectKey, String)> = incident
            .objects
            .iter()
            .filter(|object| object.uid != subject.uid)
            .filter_map(|object| Some((object.key.clone(), of_object(&object.kind, object.resource, &object.key)?)))
            .collect();
        if let Some(own) = &own {
            ties.add_own(&subject.kind, own, history);
            if matches!(incident.fault, Some(Fault::Condition { .. })) {
                let spec = json::member(own, "spec").unwrap_or_default();
                ties.named = Some((incident.said(), spec.to_owned()));
            }
        }
        for (key, pod) in &failing {
            ties.add_pod(pod, history);
            let resource = resource_of(history, "Pod", ties.cluster);
            let first = resource.and_then(|resource| history.of(&resource, key).first().map(|entry| entry.at));
            ties.made_at = ties.made_at.into_iter().chain(first).reduce(f64::min);
        }
        // One that may not create Pods fails itself.
        ties.sets.extend(
            incident.objects.iter().filter(|object| object.kind == "ReplicaSet").map(|object| object.key.clone()),
        );
        ties.add_claims(history, received);
        if let Some(key) = service {
            let selector = of_service.as_deref().map(|service| labels(service, &["spec", "selector"]));
            ties.behind = Some((key.namespace.to_string(), selector.unwrap_or_default()));
            ties.by_name.insert(("Service", key), Tie::Service);
        }
        if let Some(kind) = ties.kind_of(&subject.kind, history) {
            ties.by_name.insert((kind, subject.key.clone()), Tie::Own);
        }
        ties
    }

    /// The name of a kind whose objects count here; `None` if none of it was received.
    fn kind_of(&mut self, kind: &str, history: &History) -> Option<&'static str> {
        name_of(kind).or_else(|| {
            let kind = resource_of(history, kind, self.cluster)?.kind;
            self.others.push(kind);
            Some(kind)
        })
    }

    fn add(&mut self, kind: &'static str, name: Option<Cow<'_, str>>, tie: Tie) {
        let Some(name) = name.filter(|name| !name.is_empty()) else { return };
        let namespace =
            if matches!(tie, Tie::Volume | Tie::Class | Tie::Priority | Tie::Node) { "" } else { &self.namespace };
        let key = ObjectKey::new(namespace, &name);
        self.by_name.entry((kind, key)).or_insert(tie);
    }

    fn add_own(&mut self, kind: &str, object: &str, history: &History) {
        match kind {
            "Pod" => self.add_pod(object, history),
            "PersistentVolumeClaim" => self.add_claim(object),
            _ => {
                if let Some(spec) = spec_of(kind, object) {
                    self.add_spec(spec);
                }
                for (_, class) in claims_of(object) {
                    self.add("StorageClass", Some(class.into()), Tie::Class);
                }
            }
        }
        self.add_owner(object, history);
    }

    fn add_owner(&mut self, object: &str, history: &History) {
        let owners = json::value_at(object, &["metadata", "ownerReferences"]).and_then(json::items).unwrap_or_default();
        for owner in owners.into_iter().take(2) {
            let kind = text(owner, &["kind"]).unwrap_or_default();
            let name = text(owner, &["name"]);
            match (self.kind_of(&kind, history), &name) {
                (Some("ReplicaSet"), Some(name)) => {
                    let key = ObjectKey::new(&self.namespace, name);
                    if !self.sets.contains(&key) {
                        self.sets.push(key);
                    }
                }
                (Some(kind), _) => self.add(kind, name, Tie::Owner),
                _ => {}
            }
        }
    }

    fn add_pod(&mut self, pod: &str, history: &History) {
        self.add_owner(pod, history);
        let Some(spec) = json::member(pod, "spec") else { return };
        self.add_spec(spec);
        self.add("Node", text(spec, &["nodeName"]), Tie::Node);
    }

    fn add_spec(&mut self, spec: &str) {
        if self.selector.is_empty() {
            self.selector = labels(spec, &["nodeSelector"]);
        }
        references(spec, &mut |one| {
            let tie = match one.kind {
                "ConfigMap" => Tie::ConfigMap,
                "Secret" => Tie::Secret,
                "PersistentVolumeClaim" => Tie::Claim,
                "StorageClass" => Tie::Class,
                "PriorityClass" => Tie::Priority,
                _ => Tie::Account,
            };
            self.add(one.kind, Some(one.name), tie);
        });
    }

    fn add_claim(&mut self, claim: &str) {
        self.add("PersistentVolume", text(claim, &["spec", "volumeName"]), Tie::Volume);
        self.add("StorageClass", text(claim, &["spec", "storageClassName"]), Tie::Class);
    }

    fn add_claims(&mut self, history: &History, received: u64) {
        let claims: Vec<ObjectKey> =
            self.by_name.iter().filter(|(_, tie)| **tie == Tie::Claim).map(|((_, key), _)| key.clone()).collect();
        let Some(resource) = resource_of(history, "PersistentVolumeClaim", self.cluster) else { return };
        for (_, claim) in claims.iter().filter_map(|key| text_at(history, resource, key, received)) {
            self.add_claim(&claim);
        }
    }

    /// What an object is to the incident; `None` if nothing.
    pub fn find(&self, resource: &ApiResource, key: &ObjectKey) -> Option<Tie> {
        if resource.cluster != self.cluster {
            return None;
        }
        let is_other = || self.others.iter().copied().find(|other| *other == resource.kind);
        let kind = name_of(resource.kind).or_else(is_other)?;
        let is_here = *key.namespace == *self.namespace;
        let known = self.by_name.get(&(kind, key.clone())).copied();
        known.or(match kind {
            "ResourceQuota" | "LimitRange" if is_here => Some(Tie::Quota),
            "HorizontalPodAutoscaler" if is_here => Some(Tie::Autoscaler),
            "Node" if self.has_all_nodes => Some(Tie::Node),
            "Namespace" if *key.name == *self.namespace => Some(Tie::Namespace),
            "ValidatingWebhookConfiguration" | "MutatingWebhookConfiguration" if self.creates => Some(Tie::Webhook),
            "Deployment" | "StatefulSet" | "DaemonSet" => {
                self.behind.as_ref().filter(|(namespace, _)| *namespace == *key.namespace).map(|_| Tie::Behind)
            }
            _ if is_here && self.is_named(&key.name) => named_as(kind),
            _ => None,
        })
    }

    /// Whether the spec of what the incident is about has this name, and the condition speaks of it.
    fn is_named(&self, name: &str) -> bool {
        self.named.as_ref().is_some_and(|(said, spec)| names(said, name) && spec.contains(&format!("\"{name}\"")))
    }

    /// Whether a workload makes Pods that answer for the webhook.
    pub fn is_behind(&self, workload: &str) -> bool {
        self.behind.as_ref().is_some_and(|(_, selector)| is_selected(workload, selector))
    }

    /// The names of the objects that are this to the incident.
    pub fn names(&self, of: Tie) -> Vec<&str> {
        let mut names: Vec<&str> =
            self.by_name.iter().filter(|(_, tie)| **tie == of).map(|((_, key), _)| &*key.name).collect();
        sort::sort(&mut names);
        names
    }

    /// Whether all nodes count.
    pub fn has_all_nodes(&self) -> bool {
        self.has_all_nodes
    }

    /// Whether the incident is about something that is created.
    pub fn creates(&self) -> bool {
        self.creates
    }

    /// Whether the incident is what a condition says of an object, which makes no Pods as far as is known.
    pub fn is_of_condition(&self) -> bool {
        self.named.is_some()
    }

    /// The namespace.
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// The cluster.
    pub fn cluster(&self) -> &'static str {
        self.cluster
    }
}

/// The kinds whose objects an incident may have to do with.
const KINDS: [&str; 23] = [
    "Deployment",
    "StatefulSet",
    "DaemonSet",
    "ReplicaSet",
    "Job",
    "CronJob",
    "Pod",
    "Node",
    "ConfigMap",
    "Secret",
    "ServiceAccount",
    "PriorityClass",
    "PersistentVolumeClaim",
    "PersistentVolume",
    "StorageClass",
    "ResourceQuota",
    "LimitRange",
    "HorizontalPodAutoscaler",
    "Namespace",
    "ValidatingWebhookConfiguration",
    "MutatingWebhookConfiguration",
    "Service",
    "PodDisruptionBudget",
];

/// What an object is to the incident whose object names it.
fn named_as(kind: &str) -> Option<Tie> {
    Some(match kind {
        "ConfigMap" => Tie::ConfigMap,
        "Secret" => Tie::Secret,
        "PersistentVolumeClaim" => Tie::Claim,
        "ServiceAccount" => Tie::Account,
        "Service" => Tie::Service,
        _ => return None,
    })
}

/// The labels at a path.
fn labels(of: &str, path: &[&str]) -> Vec<(String, String)> {
    let labels = json::value_at(of, path).and_then(json::members).unwrap_or_default();
    let label = |label: &json::Member<'_>| Some((label.name.to_string(), json::unescaped(label.value)?.into_owned()));
    labels.iter().filter_map(label).collect()
}

fn name_of(kind: &str) -> Option<&'static str> {
    KINDS.iter().copied().find(|known| *known == kind)
}
