//! Keeps the transition times of a Pod's conditions, without a clock or IO.

use std::collections::BTreeMap;

use kubechurn_client::record::time::Time;
use serde_json::Value;

/// Each condition's status, and since when it has had it.
#[derive(Debug, Clone, Default)]
pub struct Conditions(BTreeMap<String, (String, String)>);

impl Conditions {
    /// The conditions in the status of a Pod.
    pub fn of(pod: &Value) -> Self {
        let text = |one: &Value, field: &str| one[field].as_str().unwrap_or_default().to_owned();
        let all = pod["status"]["conditions"].as_array().into_iter().flatten();
        Self(all.map(|one| (text(one, "type"), (text(one, "status"), text(one, "lastTransitionTime")))).collect())
    }

    /// Since when a condition has had this status; `now` if the status is new.
    pub(super) fn since(&mut self, kind: &str, status: &str, now: Time) -> String {
        let known = self.0.entry(kind.to_owned()).or_default();
        if known.0 != status || known.1.is_empty() {
            *known = (status.to_owned(), now.to_string());
        }
        known.1.clone()
    }
}
