//! Creates the Pods that a Job lacks, and deletes those that it no longer needs (`manageJob`).

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::super::{object, pod};
use super::count::Counted;
use super::indexes::{COMPLETION_INDEX, index_of};
use super::{JobSync, TRACKING, Verdict, backoff};
use crate::client::api_error::ApiError;
use crate::client::resources::PODS;
use crate::client::rest::DeleteOptions;

/// One sync creates or deletes at most this many Pods (`MaxPodCreateDeletePerSync`).
const MAX_POD_CREATE_DELETE_PER_SYNC: usize = 500;

impl JobSync<'_> {
    /// Creates or deletes Pods; returns after how many seconds there is more to do, if that is known.
    pub(super) async fn manage(&self, counted: &Counted, verdict: Option<&Verdict>) -> Result<Option<i64>, ApiError> {
        let active: Vec<&Value> = self.pods.iter().filter(|pod| pod::is_active(pod)).collect();
        if let Some(verdict) = verdict {
            // The Pods of a Job that fails count as failed.
            self.delete(&active, verdict.has_failed).await?;
            return Ok(None);
        }
        if self.is_suspended() {
            self.delete(&active, false).await?;
            return Ok(None);
        }
        let parallelism = self.number("/parallelism").unwrap_or(1);
        let wanted = match self.completions() {
            // After one success no more Pods are created.
            None if counted.succeeded > 0 => active.len(),
            None => parallelism,
            Some(completions) => completions.saturating_sub(counted.succeeded).min(parallelism),
        };
        let spare = self.spare(&active, counted, active.len().saturating_sub(wanted));
        if !spare.is_empty() {
            self.delete(&spare, false).await?;
            return Ok(None);
        }
        let held = if self.waits_for_the_end() { counted.terminating } else { 0 };
        let missing = wanted.saturating_sub(active.len() + held).min(MAX_POD_CREATE_DELETE_PER_SYNC);
        if missing == 0 {
            return Ok(None);
        }
        let wait = backoff::remaining(self.pods.iter(), |pod| self.has_failed(pod), self.now);
        if wait > 0 {
            return Ok(Some(wait));
        }
        self.create(&self.new_pods(counted, missing)).await?;
        Ok(None)
    }

    /// At least `count` active Pods to delete: first those whose index is invalid or taken, then those that are not
    /// ready, then the youngest (`activePodsForRemoval`).
    fn spare<'a>(&self, active: &[&'a Value], counted: &Counted, count: usize) -> Vec<&'a Value> {
        let mut by_age = active.to_vec();
        by_age.sort_by_cached_key(|pod| {
            let created = object::time(pod, "/metadata/creationTimestamp").map(|time| time.0);
            (!pod::is_ready(pod), created, object::name(pod).to_owned())
        });
        let mut taken = counted.indexes.clone();
        let is_misplaced = |pod: &&Value| {
            let index = index_of(pod).filter(|index| Some(*index) < self.completions());
            self.is_indexed() && !index.is_some_and(|index| taken.insert(index))
        };
        let (mut spare, mut rest): (Vec<&Value>, Vec<&Value>) = by_age.into_iter().partition(is_misplaced);
        while spare.len() < count {
            let Some(last) = rest.pop() else { break };
            spare.push(last);
        }
        spare
    }

    fn new_pods(&self, counted: &Counted, count: usize) -> Vec<Value> {
        let mut new = pod::from_template(&self.job["spec"]["template"], self.job, &self.key.name);
        let mut finalizers = new["metadata"]["finalizers"].as_array().cloned().unwrap_or_default();
        finalizers.push(TRACKING.into());
        new["metadata"]["finalizers"] = finalizers.into();
        if !self.is_indexed() {
            return vec![new; count];
        }
        let mut taken: BTreeSet<usize> = counted.indexes.clone();
        let holds = |pod: &&Value| {
            let has_ended = matches!(object::text(pod, "/status/phase"), "Succeeded" | "Failed");
            pod::is_active(pod) || (self.waits_for_the_end() && !has_ended)
        };
        taken.extend(self.pods.iter().filter(holds).filter_map(index_of));
        let free = (0..self.completions().unwrap_or_default()).filter(|index| !taken.contains(index));
        free.take(count).map(|index| self.indexed(&new, index)).collect()
    }

    /// The Pod of an index, which its containers read from `JOB_COMPLETION_INDEX`.
    fn indexed(&self, new: &Value, index: usize) -> Value {
        let mut pod = new.clone();
        for place in ["labels", "annotations"] {
            object::set(&mut pod, &["metadata", place, COMPLETION_INDEX], index.to_string().into());
        }
        object::set(&mut pod, &["metadata", "generateName"], format!("{}-{index}-", self.key.name).into());
        object::set(&mut pod, &["spec", "hostname"], format!("{}-{index}", self.key.name).into());
        let field =
            json!({"fieldRef": {"apiVersion": "v1", "fieldPath": format!("metadata.labels['{COMPLETION_INDEX}']")}});
        let variable = json!({"name": "JOB_COMPLETION_INDEX", "valueFrom": field});
        for list in ["initContainers", "containers"] {
            // The template may have any shape: an index that writes would panic where it finds no object.
            let containers = pod.pointer_mut(&format!("/spec/{list}")).and_then(Value::as_array_mut);
            for container in containers.into_iter().flatten().filter(|one| one.is_object()) {
                let mut variables = container["env"].as_array().cloned().unwrap_or_default();
                if variables.iter().all(|one| one["name"] != variable["name"]) {
                    variables.push(variable.clone());
                }
                container["env"] = variables.into();
            }
        }
        pod
    }

    async fn create(&self, new: &[Value]) -> Result<(), ApiError> {
        let (recorder, expectations) = (&self.controller.recorder, &self.controller.expectations);
        expectations.expect_creations(self.key, new.len());
        for (at, pod) in new.iter().enumerate() {
            match self.controller.client.create(&PODS, &self.key.namespace, pod).await {
                Ok(created) => {
                    let message = format!("Created pod: {}", object::name(&created));
                    recorder.normal(self.job, "SuccessfulCreate", &message);
                }
                Err(error) => {
                    (at..new.len()).for_each(|_| expectations.creation_observed(self.key));
                    if !error.is_namespace_terminating() {
                        recorder.warning(self.job, "FailedCreate", &format!("Error creating: {error}"));
                    }
                    return Err(error);
                }
            }
        }
        Ok(())
    }

    /// Deletes Pods. Pods that must not be counted lose their finalizers first (`deleteJobPods`, `deleteActivePods`).
    async fn delete(&self, pods: &[&Value], they_count: bool) -> Result<(), ApiError> {
        let (recorder, expectations) = (&self.controller.recorder, &self.controller.expectations);
        let pods = &pods[..pods.len().min(MAX_POD_CREATE_DELETE_PER_SYNC)];
        expectations.expect_deletions(self.key, pods.iter().map(|pod| object::uid(pod)));
        let mut failed = None;
        for pod in pods {
            let (name, uid) = (object::name(pod), object::uid(pod));
            let released = match they_count || !self.controller.is_tracked(pod) {
                true => Ok(()),
                false => self.controller.release(pod).await,
            };
            let this_life = DeleteOptions { uid: Some(uid), ..DeleteOptions::default() };
            let deleted = match released {
                Ok(()) => self.controller.client.delete(&PODS, &self.key.namespace, name, this_life).await,
                Err(error) => Err(error),
            };
            match deleted {
                Ok(_) => recorder.normal(self.job, "SuccessfulDelete", &format!("Deleted pod: {name}")),
                Err(error) => {
                    expectations.deletion_observed(self.key, uid);
                    if !error.is_not_found() {
                        recorder.warning(self.job, "FailedDelete", &format!("Error deleting: {error}"));
                        failed = Some(error);
                    }
                }
            }
        }
        failed.map_or(Ok(()), Err)
    }
}
