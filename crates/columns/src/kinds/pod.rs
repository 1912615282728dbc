//! The parts of a Pod that columns need.

use std::borrow::Cow;

use kubechurn_client::api::object::Meta;
use kubechurn_client::json::Text;
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::parts::{Count, First, Structure, optional, or_default, structure, structures};

/// The state of one container, now and before its last start.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct ContainerStatus<'a> {
    #[serde(borrow)]
    pub name: Text<'a>,
    #[serde(deserialize_with = "or_default")]
    pub ready: bool,
    #[serde(deserialize_with = "or_default")]
    pub started: bool,
    #[serde(deserialize_with = "or_default")]
    pub restart_count: i64,
    #[serde(borrow, deserialize_with = "structure")]
    pub state: State<'a>,
    #[serde(borrow, deserialize_with = "structure")]
    pub last_state: LastState<'a>,
}

/// The state of a container. At most one of the fields is set.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct State<'a> {
    #[serde(borrow, deserialize_with = "optional")]
    pub waiting: Option<Waiting<'a>>,
    pub running: Option<IgnoredAny>,
    #[serde(borrow, deserialize_with = "optional")]
    pub terminated: Option<Terminated<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct LastState<'a> {
    #[serde(borrow, deserialize_with = "optional")]
    pub terminated: Option<Terminated<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Waiting<'a> {
    #[serde(borrow)]
    pub reason: Text<'a>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Terminated<'a> {
    #[serde(borrow)]
    pub reason: Text<'a>,
    #[serde(deserialize_with = "or_default")]
    pub exit_code: i64,
    #[serde(deserialize_with = "or_default")]
    pub signal: i64,
    #[serde(borrow)]
    pub finished_at: Text<'a>,
}

impl Terminated<'_> {
    /// Why the container ended: the runtime's reason, or else the signal, or else the exit code.
    pub fn word(&self) -> Cow<'_, str> {
        if !self.reason.is_empty() {
            Cow::Borrowed(&self.reason)
        } else if self.signal != 0 {
            Cow::Owned(format!("Signal:{}", self.signal))
        } else {
            Cow::Owned(format!("ExitCode:{}", self.exit_code))
        }
    }
}

impl State<'_> {
    pub fn waiting_reason(&self) -> Option<&str> {
        self.waiting.as_ref().map(|waiting| &*waiting.reason).filter(|reason| !reason.is_empty())
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Pod<'a> {
    #[serde(borrow, deserialize_with = "structure")]
    pub metadata: Meta<'a>,
    #[serde(borrow, deserialize_with = "structure")]
    pub spec: Spec<'a>,
    #[serde(borrow, deserialize_with = "structure")]
    pub status: Status<'a>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Spec<'a> {
    pub containers: Count,
    #[serde(borrow, deserialize_with = "structures")]
    pub init_containers: Vec<InitContainer<'a>>,
    #[serde(borrow)]
    pub node_name: Text<'a>,
    #[serde(borrow, deserialize_with = "structures")]
    pub readiness_gates: Vec<ReadinessGate<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct InitContainer<'a> {
    #[serde(borrow)]
    pub name: Text<'a>,
    #[serde(borrow)]
    pub restart_policy: Text<'a>,
}

impl InitContainer<'_> {
    /// Whether this init container starts first and then keeps running beside the containers.
    pub fn is_sidecar(&self) -> bool {
        &*self.restart_policy == "Always"
    }
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct ReadinessGate<'a> {
    #[serde(borrow)]
    pub condition_type: Text<'a>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Status<'a> {
    #[serde(borrow)]
    pub phase: Text<'a>,
    #[serde(borrow)]
    pub reason: Text<'a>,
    #[serde(borrow, deserialize_with = "structures")]
    pub conditions: Vec<Condition<'a>>,
    #[serde(borrow, deserialize_with = "structures")]
    pub init_container_statuses: Vec<ContainerStatus<'a>>,
    #[serde(borrow, deserialize_with = "structures")]
    pub container_statuses: Vec<ContainerStatus<'a>>,
    #[serde(borrow, rename = "podIP")]
    pub pod_ip: Text<'a>,
    #[serde(borrow, rename = "podIPs")]
    pub pod_ips: First<Structure<PodIp<'a>>>,
    #[serde(borrow)]
    pub nominated_node_name: Text<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct PodIp<'a> {
    #[serde(borrow)]
    pub ip: Text<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Condition<'a> {
    #[serde(borrow, rename = "type")]
    pub kind: Text<'a>,
    #[serde(borrow)]
    pub status: Text<'a>,
    #[serde(borrow)]
    pub reason: Text<'a>,
}

impl Status<'_> {
    /// Whether the first condition of the type `kind` is true.
    pub fn condition(&self, kind: &str) -> bool {
        self.conditions.iter().find(|condition| *condition.kind == *kind).is_some_and(|found| &*found.status == "True")
    }

    /// Whether any Ready condition is true. There is at most one, but `hasPodReadyCondition` checks all.
    pub fn is_ready(&self) -> bool {
        self.conditions.iter().any(|condition| &*condition.kind == "Ready" && &*condition.status == "True")
    }

    /// The first address. Servers send both fields, and the singular one counts (`conversion.go` in kubernetes
    /// `pkg/apis/core/v1`).
    pub fn ip(&self) -> &str {
        match &self.pod_ips.0 {
            Some(Structure(first)) if self.pod_ip.is_empty() => &first.ip,
            _ => &self.pod_ip,
        }
    }
}
