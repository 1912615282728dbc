//! One step of a rolling update: from the last Pod down to the partition, where each waits for the one after it.

use serde_json::Value;

use super::super::history::REVISION_HASH;
use super::super::object;
use super::Look;
use crate::client::api_error::ApiError;

impl Look<'_> {
    /// Deletes the last Pods that have another revision, so that they are created anew. At most
    /// `rollingUpdate.maxUnavailable` are unavailable at a time; without that field, each Pod is waited for, beginning
    /// with the last (`updateStatefulSetAfterInvariantEstablished`).
    pub(super) async fn roll(&self, replicas: &[Value]) -> Result<(), ApiError> {
        let mut unavailable = replicas.iter().filter(|pod| !self.is_healthy(pod) || !self.is_available(pod)).count();
        let limit = self.max_unavailable(replicas.len());
        for pod in replicas.iter().skip(self.partition()).rev() {
            if object::label(pod, REVISION_HASH) != Some(&self.update.name) && !object::is_leaving(pod) {
                match limit {
                    None => return self.delete(pod).await,
                    Some(limit) if unavailable >= limit => return Ok(()),
                    Some(_) => {
                        self.delete(pod).await?;
                        unavailable += 1;
                    }
                }
            } else if limit.is_none() && !(self.is_healthy(pod) && self.is_available(pod)) {
                return Ok(());
            }
        }
        Ok(())
    }

    /// The limit in Pods; `None` if the StatefulSet has none.
    fn max_unavailable(&self, replicas: usize) -> Option<usize> {
        let value =
            self.set.pointer("/spec/updateStrategy/rollingUpdate/maxUnavailable").filter(|one| !one.is_null())?;
        let number = match value.as_str().and_then(|text| text.strip_suffix('%')) {
            Some(percent) => replicas.saturating_mul(percent.parse().unwrap_or_default()) / 100,
            None => value.as_u64().and_then(|number| usize::try_from(number).ok()).unwrap_or_default(),
        };
        Some(number.max(1))
    }
}
