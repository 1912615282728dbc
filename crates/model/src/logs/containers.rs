//! The containers of a Pod that have logs, and what is known of each.

use serde_json::Value;

use crate::inspector::containers::{Container, containers};

/// What a container does.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Run {
    /// The Pod does not say it.
    #[default]
    Unknown,
    /// It waits to start, for this reason.
    Waits(String),
    /// It runs.
    Runs,
    /// It has ended, in these words.
    Ended(String),
}

/// A container.
#[derive(Clone, Debug, PartialEq)]
pub struct ContainerNow {
    /// Its name.
    pub name: String,
    /// `init`, `sidecar`, `app` or `ephemeral`.
    pub kind: &'static str,
    /// What it does.
    pub run: Run,
    /// How often it was started anew.
    pub restarts: i64,
    /// Whether a run of it has ended before this one.
    pub has_previous: bool,
}

/// A Pod.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PodNow {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// Its uid: another Pod of this name is another one.
    pub uid: String,
    /// Its containers, in the order in which they start.
    pub containers: Vec<ContainerNow>,
    /// The number of the version of which this was read.
    pub version: u64,
    /// Whether it was deleted.
    pub is_gone: bool,
}

impl PodNow {
    /// Reads a Pod.
    pub fn of(pod: &Value, is_gone: bool) -> PodNow {
        let text = |name: &str| {
            let value = pod.get("metadata").and_then(|metadata| metadata.get(name)).and_then(Value::as_str);
            value.unwrap_or_default().to_owned()
        };
        PodNow {
            namespace: text("namespace"),
            name: text("name"),
            uid: text("uid"),
            containers: containers(pod)
                .0
                .into_iter()
                .filter(|one| !one.name.is_empty())
                .map(ContainerNow::of)
                .collect(),
            version: 0,
            is_gone,
        }
    }
}

impl ContainerNow {
    fn of(container: Container) -> ContainerNow {
        let word = container.state.0;
        let run = match &*word {
            "Running" | "Running, not ready" => Run::Runs,
            "no state yet" => Run::Unknown,
            _ if container.code.is_empty() => Run::Waits(word),
            _ => Run::Ended(format!("{word}, {}", container.code)),
        };
        ContainerNow {
            name: container.name,
            kind: container.kind,
            run,
            restarts: container.restarts,
            has_previous: container.last.is_some(),
        }
    }
}
