//! What the scheduler and the kubelets must know of every Pod at once, read without reading all of it.

use std::borrow::Cow;

use kubechurn_client::api::object::Object;
use serde::Deserialize;
use serde_json::Value;

/// A Pod at a glance.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct PodView<'a> {
    /// Of its metadata.
    #[serde(borrow)]
    pub metadata: Meta<'a>,
    /// Of its spec.
    #[serde(borrow)]
    pub spec: Spec<'a>,
    /// Of its status.
    #[serde(borrow)]
    pub status: Status<'a>,
}

/// Of a Pod's metadata.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Meta<'a> {
    /// Set once it is to be deleted.
    #[serde(borrow)]
    pub deletion_timestamp: Option<Cow<'a, str>>,
    /// The number of its spec.
    pub generation: i64,
}

/// Of a Pod's spec.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Spec<'a> {
    /// Where it runs; empty as long as nobody has said.
    #[serde(borrow)]
    pub node_name: Option<Cow<'a, str>>,
    /// Who says.
    #[serde(borrow)]
    pub scheduler_name: Option<Cow<'a, str>>,
    /// What runs in it.
    pub containers: Vec<Container>,
    /// What runs before that.
    pub init_containers: Vec<Container>,
}

/// Of a container.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Container {
    /// What it needs.
    pub resources: Resources,
}

/// Of what a container needs.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Resources {
    /// What it asks for.
    pub requests: Option<Requests>,
}

/// What a container asks for.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Requests {
    /// Cores.
    pub cpu: Value,
    /// Bytes.
    pub memory: Value,
}

/// Of a Pod's status.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Status<'a> {
    /// `Pending`, `Running`, `Succeeded`, `Failed`.
    #[serde(borrow)]
    pub phase: Option<Cow<'a, str>>,
    /// The spec that its kubelet has seen.
    pub observed_generation: Option<i64>,
    /// Its address.
    #[serde(borrow, rename = "podIP")]
    pub pod_ip: Option<Cow<'a, str>>,
    /// What is said of it.
    #[serde(borrow)]
    pub conditions: Vec<Condition<'a>>,
}

/// Of a condition.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Condition<'a> {
    /// What it is about.
    #[serde(borrow, rename = "type")]
    pub kind: Cow<'a, str>,
    /// `True`, `False`, `Unknown`.
    #[serde(borrow)]
    pub status: Cow<'a, str>,
}

impl<'a> PodView<'a> {
    /// Reads a Pod of an informer; nothing of one whose fields have other types than a Pod's.
    pub fn of(pod: &'a Object) -> Self {
        pod.text().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
    }

    /// The node that it is bound to.
    pub fn node(&self) -> Option<&str> {
        self.spec.node_name.as_deref().filter(|name| !name.is_empty())
    }

    /// Whether it has come to its end.
    pub fn is_over(&self) -> bool {
        matches!(self.status.phase.as_deref(), Some("Succeeded" | "Failed"))
    }

    /// Whether it is on its way out.
    pub fn is_leaving(&self) -> bool {
        self.metadata.deletion_timestamp.is_some()
    }

    /// Whether it runs and is ready.
    pub fn is_ready(&self) -> bool {
        self.status.conditions.iter().any(|one| one.kind == "Ready" && one.status == "True")
    }
}
