//! The parts of the inspector.

/// One of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tab {
    /// Who the object is, its conditions, relatives, labels and annotations.
    #[default]
    Summary,
    /// What changed in it.
    Changes,
    /// All of it.
    Yaml,
    /// Its Kubernetes Events.
    Events,
}

impl Tab {
    /// All of them, in order.
    pub const ALL: [Tab; 4] = [Tab::Summary, Tab::Changes, Tab::Yaml, Tab::Events];

    /// The word in the address and in handles.
    pub fn name(self) -> &'static str {
        match self {
            Tab::Summary => "summary",
            Tab::Changes => "changes",
            Tab::Yaml => "yaml",
            Tab::Events => "events",
        }
    }

    /// What stands on it.
    pub fn title(self) -> &'static str {
        match self {
            Tab::Summary => "Summary",
            Tab::Changes => "Changes",
            Tab::Yaml => "YAML",
            Tab::Events => "Events",
        }
    }

    /// The tab of that name; the first for every other word.
    pub fn named(name: &str) -> Tab {
        Tab::ALL.into_iter().find(|tab| tab.name() == name).unwrap_or_default()
    }
}
