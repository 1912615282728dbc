//! What the page gives to tests, as docs/guide/handles.md promises, with a browser and without one.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::truth::Truth;

/// One element of `kubechurn.status()`.
#[derive(Debug, Clone, Deserialize)]
pub struct Status {
    /// `pods`, `deployments`, …
    pub resource: String,
    /// `connecting`, `listing`, `live`, `stale`, `forbidden` or `stopped`.
    pub state: String,
    /// The newest version seen.
    #[serde(rename = "resourceVersion")]
    pub resource_version: Option<String>,
    /// Whether the first list is in the store.
    pub synced: bool,
    /// Objects in the store.
    pub items: usize,
    /// How old the last proof is.
    pub age_ms: Option<f64>,
    /// The server's words about what is wrong.
    pub message: Option<String>,
    /// The counters of the ledger.
    pub ledger: Value,
}

/// One element of `kubechurn.rows(resource)`.
#[derive(Debug, Clone, Deserialize)]
pub struct Row {
    /// `namespace/name`.
    pub key: String,
    /// The object's uid.
    pub uid: String,
    /// Its version.
    #[serde(rename = "resourceVersion")]
    pub resource_version: String,
    /// What is shown, by column.
    pub cells: Map<String, Value>,
}

/// One element of `kubechurn.marks(resource)`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Mark {
    /// `Added`, `Updated`, `Deleted`, `Replaced`, `Sync`, `Relist` or `Gap`.
    #[serde(rename = "type")]
    pub kind: String,
    /// `namespace/name`; a relist or a gap has none.
    #[serde(default)]
    pub key: Option<String>,
    /// The object's uid.
    #[serde(default)]
    pub uid: Option<String>,
    /// The object's version.
    #[serde(default, rename = "resourceVersion")]
    pub resource_version: Option<String>,
    /// Whether the recorder still has the version; what is of no object has none.
    #[serde(default)]
    pub kept: Option<bool>,
}

/// How rows differ from a list, in a few words.
pub fn difference(rows: &[Row], truth: &Truth) -> String {
    let shown: BTreeMap<&str, &Row> = rows.iter().map(|row| (row.key.as_str(), row)).collect();
    let missing: Vec<_> = truth.items.keys().filter(|key| !shown.contains_key(key.as_str())).take(3).collect();
    let left_over: Vec<_> = shown.keys().filter(|key| !truth.items.contains_key(**key)).take(3).collect();
    let stale: Vec<_> = truth
        .items
        .iter()
        .filter_map(|(key, item)| Some((key, item, shown.get(key.as_str())?)))
        .filter(|(_, item, row)| item.uid != row.uid || item.resource_version != row.resource_version)
        .map(|(key, item, row)| format!("{key} at {} instead of {}", row.resource_version, item.resource_version))
        .take(3)
        .collect();
    format!(
        "{} rows for {} objects; missing {missing:?}, left over {left_over:?}, stale {stale:?}",
        rows.len(),
        truth.count()
    )
}
