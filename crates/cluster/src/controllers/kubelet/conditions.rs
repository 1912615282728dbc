//! Since when a Pod's conditions are as they are. Pure.

use std::collections::BTreeMap;

use kubechurn_client::record::time::Time;
use serde_json::Value;

/// Since when which condition has been what it is.
#[derive(Debug, Clone, Default)]
pub struct Conditions(BTreeMap<String, (String, String)>);

impl Conditions {
    /// What a Pod's status says already.
    pub fn of(pod: &Value) -> Self {
        let text = |one: &Value, field: &str| one[field].as_str().unwrap_or_default().to_owned();
        let all = pod["status"]["conditions"].as_array().into_iter().flatten();
        Self(all.map(|one| (text(one, "type"), (text(one, "status"), text(one, "lastTransitionTime")))).collect())
    }

    /// Since when a condition is as it is now.
    pub(super) fn since(&mut self, kind: &str, status: &str, now: Time) -> String {
        let known = self.0.entry(kind.to_owned()).or_default();
        if known.0 != status || known.1.is_empty() {
            *known = (status.to_owned(), now.to_string());
        }
        known.1.clone()
    }
}
