//! One step of a rolling update: from the last Pod down to the partition, where each waits for the one after it.

use serde_json::Value;

use super::super::history::REVISION_HASH;
use super::super::int_or_percent::scaled;
use super::super::object;
use super::StatefulSetSync;
use crate::client::api_error::ApiError;

impl StatefulSetSync<'_> {
    /// Deletes the last Pods that have another revision, so that they are created anew. At most
    /// `rollingUpdate.maxUnavailable` are unavailable at a time; without that field, each Pod is waited for, beginning
    /// with the last (`updateStatefulSetAfterInvariantEstablished`).
    pub(super) async fn rolling_update(&self, replicas: &[Value]) -> Result<(), ApiError> {
        let mut unavailable = replicas.iter().filter(|pod| !self.is_healthy(pod) || !self.is_available(pod)).count();
        let limit = self.max_unavailable(replicas.len());
        for pod in replicas.iter().skip(self.partition()).rev() {
            if object::label(pod, REVISION_HASH) != Some(&self.update.name) && !object::is_being_deleted(pod) {
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
        let number = scaled(value, i64::try_from(replicas).unwrap_or(i64::MAX), false);
        Some(usize::try_from(number).unwrap_or_default().max(1))
    }
}
