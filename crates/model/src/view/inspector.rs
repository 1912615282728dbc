//! What the inspector shows.

use std::sync::Arc;

use kubechurn_client::api::object::ResourceVersion;

use crate::history::who::By;
use crate::inspector::command_lines::CommandLine;
use crate::inspector::comparison::Rows;
use crate::inspector::diff::Diff;
use crate::inspector::events::Item;
use crate::inspector::last_write::Outcome;
use crate::inspector::versions;
use crate::inspector::yaml::Yaml;

/// The object that the inspector shows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Inspected {
    /// `Pod`, and `Pod of west` where several clusters are in view.
    pub kind: String,
    /// The kind as the API names it.
    pub api_kind: &'static str,
    /// The page's name for that: `pods`.
    pub resource: &'static str,
    /// `namespace/name`.
    pub key: String,
    /// Empty for cluster-wide kinds.
    pub namespace: String,
    /// The name.
    pub name: String,
    /// Empty for kinds without namespaces.
    pub state: &'static str,
    /// A remark about the state.
    pub words: String,
    /// Command lines to copy.
    pub command_lines: Vec<CommandLine>,
}

/// The object's YAML.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct YamlModel {
    /// The lines; none before they are known.
    pub yaml: Arc<Yaml>,
    /// Where the lines are from, or why there are none.
    pub words: String,
    /// Whether the words are about a failure.
    pub failed: bool,
    /// How many entries `managedFields` has.
    pub entries: usize,
    /// Whether those entries are shown.
    pub managed: bool,
    /// Whether each field's managers are shown.
    pub managers: bool,
    /// The outcome of the last copy.
    pub copied: &'static str,
}

/// The last write of a field of the YAML.
#[derive(Clone, Debug, PartialEq)]
pub struct LastWriteModel {
    /// The field, as a JSON pointer.
    pub pointer: String,
    /// The field's path, such as `spec.template.spec.containers[web].image`.
    pub path: String,
    /// The version that is shown and was asked about.
    pub version: ResourceVersion,
    /// What was found.
    pub outcome: Outcome,
    /// When that was, in words, or why it is not known.
    pub when: String,
    /// The time that is shown whole under the pointer, if one is known, in milliseconds since 1970.
    pub at: Option<f64>,
    /// Who made the request, where that is certain.
    pub by: Option<By>,
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
    pub shown: Vec<Arc<versions::ShownVersion>>,
    /// How many older versions are kept but not shown.
    pub older: usize,
    /// How many newer ones.
    pub newer: usize,
    /// How many came after the moment that is shown.
    pub later: usize,
    /// The number of the version that the user went to.
    pub marked: Option<u64>,
    /// How many versions are no longer kept, in words; empty for none.
    pub let_go: String,
    /// How many resyncs repeated the object since its newest version, and when the last one did, in words and in milliseconds
    /// since 1970.
    pub resynced: Option<(u64, String, f64)>,
}

/// Two versions of the object side by side.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ComparisonModel {
    /// The versions to choose from, the newest first: the number of each, and words.
    pub choices: Vec<(u64, String)>,
    /// How many older ones there are beyond those.
    pub older: usize,
    /// The number of the old one; `None` if it is not kept.
    pub old: Option<u64>,
    /// The number of the new one; `None` if it is not kept.
    pub new: Option<u64>,
    /// Whether the new one is the newest, whichever that is.
    pub follows: bool,
    /// What is to be said of the two, or why they cannot be compared.
    pub words: String,
    /// Whether they are compared.
    pub is_made: bool,
    /// Whether the fields are listed, in place of the YAML.
    pub as_fields: bool,
    /// The fields that differ, in kubectl's order.
    pub fields: Arc<Diff>,
    /// The YAML of both.
    pub rows: Arc<Rows>,
}
