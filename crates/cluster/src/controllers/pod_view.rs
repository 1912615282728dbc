//! The fields of a Pod that the scheduler and the kubelets need for every Pod, read without parsing the rest.

use std::borrow::Cow;

use kubechurn_client::api::object::Object;
use serde::Deserialize;
use serde_json::Value;

/// Some fields of a Pod.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct PodView<'a> {
    /// Fields of its metadata.
    #[serde(borrow)]
    pub metadata: Meta<'a>,
    /// Fields of its spec.
    #[serde(borrow)]
    pub spec: Spec<'a>,
    /// Fields of its status.
    #[serde(borrow)]
    pub status: Status<'a>,
}

/// Fields of a Pod's metadata.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Meta<'a> {
    /// Set once the Pod is being deleted.
    #[serde(borrow)]
    pub deletion_timestamp: Option<Cow<'a, str>>,
    /// The generation of its spec.
    pub generation: i64,
}

/// Fields of a Pod's spec.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Spec<'a> {
    /// The node that the Pod is bound to, if any.
    #[serde(borrow)]
    pub node_name: Option<Cow<'a, str>>,
    /// The scheduler that is to bind it.
    #[serde(borrow)]
    pub scheduler_name: Option<Cow<'a, str>>,
    pub containers: Vec<Container>,
    pub init_containers: Vec<Container>,
}

/// Fields of a container.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Container {
    /// The resources that the container asks for.
    pub resources: Resources,
}

/// Fields of a container's resources.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Resources {
    pub requests: Option<Requests>,
}

/// The requests of a container.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Requests {
    /// In cores.
    pub cpu: Value,
    /// In bytes.
    pub memory: Value,
}

/// Fields of a Pod's status.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Status<'a> {
    /// `Pending`, `Running`, `Succeeded`, `Failed`.
    #[serde(borrow)]
    pub phase: Option<Cow<'a, str>>,
    /// The generation of the spec that its kubelet has seen.
    pub observed_generation: Option<i64>,
    /// Its address.
    #[serde(borrow, rename = "podIP")]
    pub pod_ip: Option<Cow<'a, str>>,
    /// The conditions.
    #[serde(borrow)]
    pub conditions: Vec<Condition<'a>>,
}

/// Fields of a condition.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Condition<'a> {
    /// The type.
    #[serde(borrow, rename = "type")]
    pub kind: Cow<'a, str>,
    /// `True`, `False`, `Unknown`.
    #[serde(borrow)]
    pub status: Cow<'a, str>,
}

impl<'a> PodView<'a> {
    /// Reads the Pod of an informer; all fields are empty if one of them has a wrong type.
    pub fn of(pod: &'a Object) -> Self {
        pod.text().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
    }

    /// The node that the Pod is bound to.
    pub fn node(&self) -> Option<&str> {
        self.spec.node_name.as_deref().filter(|name| !name.is_empty())
    }

    /// Whether the Pod has ended.
    pub fn is_over(&self) -> bool {
        matches!(self.status.phase.as_deref(), Some("Succeeded" | "Failed"))
    }

    /// Whether the Pod is being deleted.
    pub fn is_being_deleted(&self) -> bool {
        self.metadata.deletion_timestamp.is_some()
    }

    /// Whether the Pod is running and ready.
    pub fn is_ready(&self) -> bool {
        self.status.conditions.iter().any(|one| one.kind == "Ready" && one.status == "True")
    }
}
