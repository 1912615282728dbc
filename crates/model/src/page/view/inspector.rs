//! What the inspector shows.

use std::sync::Arc;

use crate::page::inspector::events::Item;
use crate::page::inspector::versions;
use crate::page::inspector::yaml::Yaml;

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
    /// What became of the last copy.
    pub copied: &'static str,
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
    pub shown: Vec<Arc<versions::Shown>>,
    /// How many older ones are kept, and not shown.
    pub older: usize,
    /// What was let go; empty for nothing.
    pub let_go: String,
    /// How often resyncs told it again since its newest version, and when that was last, in milliseconds since 1970.
    pub resynced: Option<(u64, f64)>,
}

/// How wide the panel is, in pixels.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Width {
    /// As it was chosen, within the window; `None` for as wide as at first.
    pub chosen: Option<f64>,
    /// The widest that it gets in this window.
    pub widest: f64,
}
