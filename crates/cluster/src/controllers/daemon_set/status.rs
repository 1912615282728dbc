//! The status of a DaemonSet (`updateDaemonSetStatus` in `pkg/controller/daemon/daemon_controller.go`).

use serde_json::{Map, Value};

use super::super::{object, pod};
use super::DaemonSetSync;
use super::node::Fitness;

impl DaemonSetSync<'_> {
    /// The status computed from Nodes and Pods. Numbers that are 0 are left out where Go leaves them out.
    pub(super) fn status(&self, collision_count: i64) -> Value {
        let [mut desired, mut current, mut misscheduled, mut ready, mut updated, mut available] = [0_usize; 6];
        for (node, fitness) in &self.nodes {
            let pods = self.pods_on(node);
            if *fitness != Fitness::Runs {
                misscheduled += usize::from(!pods.is_empty());
                continue;
            }
            desired += 1;
            current += usize::from(!pods.is_empty());
            // While one Pod replaces the other, the Node still counts as one.
            ready += usize::from(pods.iter().any(pod::is_ready));
            available += usize::from(pods.iter().any(|pod| self.is_available(pod)));
            updated += usize::from(pods.iter().any(|pod| self.is_updated(pod) && !object::is_being_deleted(pod)));
        }
        let mut status = Map::new();
        for (field, number, always) in [
            ("currentNumberScheduled", current, true),
            ("numberMisscheduled", misscheduled, true),
            ("desiredNumberScheduled", desired, true),
            ("numberReady", ready, true),
            ("observedGeneration", self.generation(), false),
            ("updatedNumberScheduled", updated, false),
            ("numberAvailable", available, false),
            ("numberUnavailable", desired.saturating_sub(available), false),
        ] {
            if always || number > 0 {
                status.insert(field.to_owned(), number.into());
            }
        }
        if collision_count > 0 {
            status.insert("collisionCount".to_owned(), collision_count.into());
        }
        status.into()
    }

    fn generation(&self) -> usize {
        let generation = object::number(self.set, "/metadata/generation").unwrap_or_default();
        usize::try_from(generation).unwrap_or_default()
    }
}
