//! Recreate: the old Pods are deleted before new ones are created (`pkg/controller/deployment/recreate.go`).

use super::replicas::wanted;
use super::{Rollout, Sets};
use crate::client::api_error::ApiError;

impl Rollout<'_> {
    /// Takes the next step.
    pub(super) async fn recreate(&mut self, sets: &mut Sets) -> Result<(), ApiError> {
        self.find_new(sets, false).await?;
        let mut scaled = false;
        for old in sets.old.iter_mut().filter(|set| wanted(set) > 0) {
            scaled |= self.scale_set(old, 0).await?;
        }
        if scaled || self.old_pods_running(sets) {
            return Ok(());
        }
        if sets.new.is_none() {
            self.find_new(sets, true).await?;
        }
        if let Some(new) = &mut sets.new {
            self.scale_set(new, wanted(&self.deployment)).await?;
        }
        Ok(())
    }
}
