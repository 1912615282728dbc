//! The status of a StatefulSet (`updateStatus` and `completeRollingUpdate` in
//! `pkg/controller/statefulset/stateful_set_control.go`).

use serde_json::{Map, Value};

use super::super::history::REVISION_HASH;
use super::super::{object, pod};
use super::{StatefulSetSync, identity};

impl StatefulSetSync<'_> {
    /// The status that follows from the Pods. Numbers that are 0 are left out as in Go, except `replicas` and
    /// `availableReplicas`.
    pub(super) fn status(&self, pods: &[Value], collision_count: i64) -> Value {
        let count = |test: &dyn Fn(&Value) -> bool| pods.iter().filter(|pod| test(pod)).count();
        let is_of = |pod: &Value, revision: &str| {
            !object::is_being_deleted(pod) && object::label(pod, REVISION_HASH) == Some(revision)
        };
        let mut status = Map::new();
        let generation = object::number(self.set, "/metadata/generation").unwrap_or_default();
        status.insert("observedGeneration".to_owned(), generation.into());
        status.insert("replicas".to_owned(), pods.len().into());
        for (field, number) in [
            ("readyReplicas", count(&|pod| identity::is_running(pod) && pod::is_ready(pod))),
            ("currentReplicas", count(&|pod| is_of(pod, &self.current.name))),
            ("updatedReplicas", count(&|pod| is_of(pod, &self.update.name))),
        ] {
            if number > 0 {
                status.insert(field.to_owned(), number.into());
            }
        }
        status.insert("currentRevision".to_owned(), self.current.name.as_str().into());
        status.insert("updateRevision".to_owned(), self.update.name.as_str().into());
        status.insert("collisionCount".to_owned(), collision_count.into());
        status.insert("availableReplicas".to_owned(), count(&|pod| self.is_available(pod)).into());
        status.into()
    }

    /// Makes the newest revision the current one, once every Pod has it and is ready.
    pub(super) fn complete_update(&self, status: &mut Value) {
        let is = |field: &str| status[field].as_u64().unwrap_or_default() == self.wanted() as u64;
        if self.is_rolling() && is("updatedReplicas") && is("readyReplicas") && is("replicas") {
            let number = status["updatedReplicas"].clone();
            if let Some(fields) = status.as_object_mut().filter(|_| !number.is_null()) {
                fields.insert("currentReplicas".to_owned(), number);
            }
            status["currentRevision"] = status["updateRevision"].clone();
        }
    }
}
