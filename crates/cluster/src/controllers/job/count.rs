//! Counts the Pods of a Job (`getNewFinishedPods`, `trackJobStatusAndRemoveFinalizers`).

use std::collections::{BTreeSet, HashSet};

use serde_json::Value;

use super::super::{object, pod};
use super::{JobSync, indexes};

/// One status update counts at most this many ended Pods (`MaxUncountedPods`).
const MAX_UNCOUNTED_PODS: usize = 500;

/// The result of a count.
#[derive(Debug, Default)]
pub struct Counted {
    /// Pods that have not ended and are not being deleted.
    pub active: usize,
    /// The active Pods that are ready.
    pub ready: usize,
    /// Pods that are being deleted and have not ended.
    pub terminating: usize,
    /// All Pods that have succeeded so far, or all indexes that have.
    pub succeeded: usize,
    /// All Pods that have failed so far.
    pub failed: usize,
    /// The indexes that have succeeded so far.
    pub indexes: BTreeSet<usize>,
    /// The new `succeeded` of the status: Pods whose finalizer is removed, or indexes.
    pub settled_succeeded: usize,
    /// The new `failed` of the status.
    pub settled_failed: usize,
    /// The uids of succeeded Pods in the new `uncountedTerminatedPods` of the status.
    pub uncounted_succeeded: Vec<String>,
    /// The uids of failed Pods in the new `uncountedTerminatedPods` of the status.
    pub uncounted_failed: Vec<String>,
    /// The uids of Pods whose finalizers are removed once the status is written.
    pub to_release: HashSet<String>,
}

impl JobSync<'_> {
    /// Whether a Pod counts as failed. A Pod that is being deleted may never report a phase itself (`isPodFailed`).
    pub(super) fn has_failed(&self, pod: &Value) -> bool {
        let phase = object::text(pod, "/status/phase");
        // With a grace period of 0, only the finalizer keeps the Pod.
        let is_over = object::number(pod, "/metadata/deletionGracePeriodSeconds") == Some(0);
        phase == "Failed"
            || (phase != "Succeeded" && object::is_being_deleted(pod) && (is_over || !self.waits_for_the_end()))
    }

    pub(super) fn count(&self) -> Counted {
        let number =
            |pointer: &str| usize::try_from(object::number(self.job, pointer).unwrap_or_default()).unwrap_or_default();
        let texts = |list: &str| -> Vec<String> {
            let texts = self.job["status"]["uncountedTerminatedPods"][list].as_array().into_iter().flatten();
            texts.filter_map(Value::as_str).map(str::to_owned).collect()
        };
        let mut counted = Counted {
            indexes: indexes::parse(object::text(self.job, "/status/completedIndexes"), self.completions()),
            settled_succeeded: number("/status/succeeded"),
            settled_failed: number("/status/failed"),
            ..Counted::default()
        };
        let tracked: Vec<&Value> = self.pods.iter().filter(|pod| self.controller.is_tracked(pod)).collect();
        let is_tracked = |uid: &String| tracked.iter().any(|pod| object::uid(pod) == uid);
        // Pods whose finalizer is removed are counted for good.
        for (list, settled, uncounted) in [
            ("succeeded", &mut counted.settled_succeeded, &mut counted.uncounted_succeeded),
            ("failed", &mut counted.settled_failed, &mut counted.uncounted_failed),
        ] {
            let (still, gone): (Vec<String>, Vec<String>) = texts(list).into_iter().partition(is_tracked);
            *settled += gone.len();
            *uncounted = still;
        }
        for pod in &tracked {
            let uid = object::uid(pod).to_owned();
            let has_succeeded = object::text(pod, "/status/phase") == "Succeeded";
            if !has_succeeded && !self.has_failed(pod) {
                continue;
            }
            if counted.uncounted_succeeded.len() + counted.uncounted_failed.len() >= MAX_UNCOUNTED_PODS {
                break;
            }
            if has_succeeded && self.is_indexed() {
                counted.indexes.extend(indexes::index_of(pod).filter(|index| Some(*index) < self.completions()));
            } else {
                let uncounted =
                    if has_succeeded { &mut counted.uncounted_succeeded } else { &mut counted.uncounted_failed };
                if !uncounted.contains(&uid) {
                    uncounted.push(uid.clone());
                }
            }
            counted.to_release.insert(uid);
        }
        if self.is_indexed() {
            counted.settled_succeeded = counted.indexes.len();
        }
        counted.succeeded = counted.settled_succeeded + counted.uncounted_succeeded.len();
        counted.failed = counted.settled_failed + counted.uncounted_failed.len();
        for pod in &self.pods {
            let is_active = pod::is_active(pod);
            counted.active += usize::from(is_active);
            counted.ready += usize::from(is_active && pod::is_ready(pod));
            let has_ended = matches!(object::text(pod, "/status/phase"), "Succeeded" | "Failed");
            let is_held = object::number(pod, "/metadata/deletionGracePeriodSeconds") != Some(0);
            counted.terminating += usize::from(object::is_being_deleted(pod) && !has_ended && is_held);
        }
        counted
    }
}
