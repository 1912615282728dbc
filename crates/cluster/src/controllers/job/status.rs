//! The status of a Job, its conditions, and the Events that go with them (`syncJob`, `enactJobFinished`).

use serde_json::{Map, Value, json};

use super::super::object;
use super::count::Counted;
use super::{JobSync, Verdict, indexes};
use crate::client::api_error::ApiError;
use crate::client::resources::JOBS;
use crate::clock::timestamp;
use crate::resources::conditions;

/// The type of the condition of a Job that has failed while its Pods are still ending.
pub const FAILURE_TARGET: &str = "FailureTarget";
/// The type of the condition of a Job that has succeeded while its Pods are still ending.
pub const SUCCESS_CRITERIA_MET: &str = "SuccessCriteriaMet";
const SUSPENDED: &str = "Suspended";

/// Whether a Job has ended (`IsJobFinished`).
pub fn is_finished(job: &Value) -> bool {
    object::is_true(job, "Complete") || object::is_true(job, "Failed")
}

/// When the Job ended, in seconds since 1970; `None` if it has not (`jobFinishTime`).
pub fn finish_time(job: &Value) -> Option<i64> {
    let ends = ["Complete", "Failed"].into_iter().filter_map(|end| object::condition(job, end));
    let mut ends = ends.filter(|condition| condition["status"] == "True");
    ends.find_map(|condition| object::time(condition, "/lastTransitionTime")).map(|time| time.0)
}

/// Sets a condition; returns whether its status has changed.
fn set(conditions: &mut Vec<Value>, new: Value) -> bool {
    if conditions.iter().any(|known| known["type"] == new["type"] && known["status"] == new["status"]) {
        return false;
    }
    conditions::put(conditions, new);
    true
}

/// A condition as of `now`, in seconds since 1970 (`newCondition`).
fn condition(kind: &str, status: &str, reason: &str, message: &str, now: i64) -> Value {
    let time = timestamp(now);
    json!({"type": kind, "status": status, "lastProbeTime": time, "lastTransitionTime": time, "reason": reason,
        "message": message})
}

impl JobSync<'_> {
    /// Writes the status that follows from the counts, if it differs from the present one. A Job is complete only when
    /// its last Pod has ended and was counted.
    pub(super) async fn write(&self, counted: &Counted, verdict: Option<&Verdict>) -> Result<(), ApiError> {
        let old = &self.job["status"];
        let mut status = old.as_object().cloned().unwrap_or_default();
        let mut conditions = old["conditions"].as_array().cloned().unwrap_or_default();
        let mut events: Vec<(bool, &str, &str)> = Vec::new();
        if old["startTime"].is_null() && !self.is_suspended() {
            status.insert("startTime".to_owned(), timestamp(self.now).into());
        }
        if let Some(verdict) = verdict {
            let (first, last) =
                if verdict.has_failed { (FAILURE_TARGET, "Failed") } else { (SUCCESS_CRITERIA_MET, "Complete") };
            let new = |kind| condition(kind, "True", &verdict.reason, &verdict.message, self.now);
            set(&mut conditions, new(first));
            let is_counted = counted.uncounted_succeeded.is_empty()
                && counted.uncounted_failed.is_empty()
                && counted.to_release.is_empty();
            if counted.active == 0 && counted.terminating == 0 && is_counted {
                set(&mut conditions, new(last));
                if verdict.has_failed {
                    events.push((false, &verdict.reason, &verdict.message));
                } else {
                    status.insert("completionTime".to_owned(), timestamp(self.now).into());
                    events.push((true, "Completed", "Job completed"));
                }
            }
        } else if self.is_suspended() {
            let new = condition(SUSPENDED, "True", "JobSuspended", "Job suspended", self.now);
            if set(&mut conditions, new) {
                events.push((true, "Suspended", "Job suspended"));
            }
        } else if object::is_true(self.job, SUSPENDED) {
            set(&mut conditions, condition(SUSPENDED, "False", "JobResumed", "Job resumed", self.now));
            status.insert("startTime".to_owned(), timestamp(self.now).into());
            events.push((true, "Resumed", "Job resumed"));
        }
        for (field, number, always) in [
            ("active", counted.active, false),
            ("ready", counted.ready, true),
            ("terminating", counted.terminating, true),
            ("succeeded", counted.settled_succeeded, false),
            ("failed", counted.settled_failed, false),
        ] {
            if always || number > 0 {
                status.insert(field.to_owned(), number.into());
            } else {
                status.remove(field);
            }
        }
        if !counted.indexes.is_empty() {
            status.insert("completedIndexes".to_owned(), indexes::write(&counted.indexes).into());
        }
        let mut uncounted = Map::new();
        for (list, uids) in [("succeeded", &counted.uncounted_succeeded), ("failed", &counted.uncounted_failed)] {
            if !uids.is_empty() {
                uncounted.insert(list.to_owned(), uids.clone().into());
            }
        }
        status.insert("uncountedTerminatedPods".to_owned(), uncounted.into());
        if !conditions.is_empty() {
            status.insert("conditions".to_owned(), conditions.into());
        }
        let status = Value::from(status);
        if status == *old {
            return Ok(());
        }
        let mut updated = self.job.clone();
        updated["status"] = status;
        let controller = self.controller;
        controller.written.note(&controller.client.update_status(&JOBS, &updated).await?);
        for (is_normal, reason, message) in events {
            if is_normal {
                controller.recorder.normal(self.job, reason, message);
            } else {
                controller.recorder.warning(self.job, reason, message);
            }
        }
        Ok(())
    }
}
