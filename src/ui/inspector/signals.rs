//! What the inspector shows, and what the user asks of it.

use std::sync::Arc;

use leptos::prelude::*;

use kubechurn_client::api::time::Timestamp;
use kubechurn_model::page::inspector::events::Item;
use kubechurn_model::page::inspector::relatives::{Dependents, Link};
use kubechurn_model::page::inspector::summary::Summary;
use kubechurn_model::page::inspector::versions::Shown;
use kubechurn_model::page::inspector::yaml::Yaml;

/// What the user asks of the inspector.
#[derive(Clone, Debug, PartialEq)]
pub enum Inspect {
    /// Another tab.
    Tab(Tab),
    /// Show `managedFields`, or fold them.
    Managed(bool),
    /// Say who manages each field, or no longer.
    Managers(bool),
    /// Fetch one value of the Secret, and show it.
    Reveal(String),
    /// Take the value out of the document again.
    Conceal,
    /// Put the YAML on the clipboard.
    Copy,
    /// Show older versions as well.
    Older,
    /// Ask the server for the object again.
    Refresh,
    /// Make the panel so many pixels wide, or as wide as at first.
    Widen(Option<f64>),
    /// Keep the width for the next visit.
    KeepWidth,
}

/// The parts of the inspector.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tab {
    /// Who it is, conditions, relatives, labels and annotations.
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

/// The object that is looked at.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Inspected {
    /// `Pod`.
    pub kind: String,
    /// The page's name for that: `pods`.
    pub resource: &'static str,
    /// `namespace/name`.
    pub key: String,
    /// Empty for cluster-wide kinds.
    pub namespace: String,
    /// The name.
    pub name: String,
    /// `live`, `deleted`, `unknown` or `waiting`.
    pub state: &'static str,
    /// What is to be said about that.
    pub words: String,
}

/// The object's YAML.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct YamlModel {
    /// The lines; none before they are known.
    pub yaml: Arc<Yaml>,
    /// Where they are from, or why they are not there.
    pub words: String,
    /// Whether that is a failure.
    pub failed: bool,
    /// How many entries `managedFields` has.
    pub entries: usize,
    /// Whether they are shown.
    pub managed: bool,
    /// Whether each field's managers are shown.
    pub managers: bool,
}

/// The object's Events.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EventsModel {
    /// The newest first.
    pub items: Vec<Item>,
    /// How many more there are.
    pub more: usize,
    /// The connection's state, in words; empty while all is well.
    pub words: String,
}

/// What this session saw of the object.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VersionsModel {
    /// The newest first.
    pub shown: Vec<Arc<Shown>>,
    /// How many older ones are kept, and not shown.
    pub older: usize,
    /// What was let go; empty for nothing.
    pub let_go: String,
}

/// How wide the panel is, in pixels.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Width {
    /// As it was chosen, within the window; `None` for as wide as at first.
    pub chosen: Option<f64>,
    /// The widest that it gets in this window.
    pub widest: f64,
}

/// Every signal of the inspector.
#[derive(Clone, Copy)]
pub struct Signals {
    /// The object; `None` while the inspector is closed.
    pub inspected: RwSignal<Option<Inspected>>,
    /// The tab in view.
    pub tab: RwSignal<Tab>,
    /// The wall clock, for ages.
    pub wall: RwSignal<Timestamp>,
    /// What the object says of itself; `None` before it is known.
    pub summary: RwSignal<Option<Summary>>,
    /// Its owners, the topmost first.
    pub owners: RwSignal<Vec<Link>>,
    /// What belongs to it.
    pub dependents: RwSignal<Dependents>,
    /// All of it.
    pub yaml: RwSignal<YamlModel>,
    /// A Secret's value that was asked for, and its name: nowhere else in the page.
    pub revealed: RwSignal<Option<(String, String)>>,
    /// Its Events.
    pub events: RwSignal<EventsModel>,
    /// Its versions.
    pub versions: RwSignal<VersionsModel>,
    /// How often resyncs told it again since its newest version, and when that was last, in milliseconds since 1970.
    pub resynced: RwSignal<Option<(u64, f64)>>,
    /// What became of the last copy.
    pub copied: RwSignal<&'static str>,
    /// How wide the panel is.
    pub width: RwSignal<Width>,
}

impl Signals {
    /// A closed inspector.
    pub fn new() -> Signals {
        Signals {
            inspected: RwSignal::new(None),
            tab: RwSignal::new(Tab::default()),
            wall: RwSignal::new(Timestamp(0)),
            summary: RwSignal::new(None),
            owners: RwSignal::new(Vec::new()),
            dependents: RwSignal::new(Dependents::default()),
            yaml: RwSignal::new(YamlModel::default()),
            revealed: RwSignal::new(None),
            events: RwSignal::new(EventsModel::default()),
            versions: RwSignal::new(VersionsModel::default()),
            resynced: RwSignal::new(None),
            copied: RwSignal::new(""),
            width: RwSignal::new(Width::default()),
        }
    }

    /// Forgets all about an object: another one comes into view, or none.
    pub fn clear(&self) {
        self.revealed.set(None);
        self.summary.set(None);
        self.owners.set(Vec::new());
        self.dependents.set(Dependents::default());
        self.yaml.set(YamlModel::default());
        self.events.set(EventsModel::default());
        self.versions.set(VersionsModel::default());
        self.resynced.set(None);
        self.copied.set("");
    }
}

impl Default for Signals {
    fn default() -> Signals {
        Signals::new()
    }
}
