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
}

impl Tab {
    /// All tabs, in order.
    pub const ALL: [Tab; 4] = [Tab::Summary, Tab::Changes, Tab::Yaml, Tab::Events];

    /// The name in the address and in `data-testid`.
    pub fn name(self) -> &'static str {
        match self {
            Tab::Summary => "summary",
            Tab::Changes => "changes",
            Tab::Yaml => "yaml",
            Tab::Events => "events",
        }
    }

    /// The label of the tab.
    pub fn title(self) -> &'static str {
        match self {
            Tab::Summary => "Summary",
            Tab::Changes => "Changes",
            Tab::Yaml => "YAML",
            Tab::Events => "Events",
        }
    }

    /// The tab with this name; the first tab for any other word.
    pub fn named(name: &str) -> Tab {
        Tab::ALL.into_iter().find(|tab| tab.name() == name).unwrap_or_default()
    }
}
