//! The tabs of the inspector.

/// A tab of the inspector.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tab {
    /// Who the object is, its conditions, relatives, labels and annotations.
    #[default]
    Summary,
    /// What changed in the object.
    Changes,
    /// The whole object.
    Yaml,
    /// Its Kubernetes Events.
    Events,
    /// The log of its containers, or of its Pods.
    Logs,
}

/// The kinds that have logs, or have Pods that do.
const WITH_LOGS: [&str; 8] =
    ["Pod", "Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "Job", "CronJob", "ReplicationController"];

impl Tab {
    /// All tabs, in order.
    pub const ALL: [Tab; 5] = [Tab::Summary, Tab::Changes, Tab::Yaml, Tab::Events, Tab::Logs];

    /// The name in the address and in `data-testid`.
    pub fn name(self) -> &'static str {
        match self {
            Tab::Summary => "summary",
            Tab::Changes => "changes",
            Tab::Yaml => "yaml",
            Tab::Events => "events",
            Tab::Logs => "logs",
        }
    }

    /// The label of the tab.
    pub fn title(self) -> &'static str {
        match self {
            Tab::Summary => "Summary",
            Tab::Changes => "Changes",
            Tab::Yaml => "YAML",
            Tab::Events => "Events",
            Tab::Logs => "Logs",
        }
    }

    /// Whether an object of a kind, such as `Pod`, has this tab.
    pub fn is_of(self, kind: &str) -> bool {
        self != Tab::Logs || WITH_LOGS.contains(&kind)
    }

    /// The tab with this name; the first tab for any other word.
    pub fn named(name: &str) -> Tab {
        Tab::ALL.into_iter().find(|tab| tab.name() == name).unwrap_or_default()
    }
}
