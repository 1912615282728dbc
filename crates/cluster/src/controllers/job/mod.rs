//! The Job controller: Pods that run until enough of them have succeeded (`pkg/controller/job`).
//!
//! Each Pod carries a finalizer until it has been counted, which takes three writes: its uid is added to
//! `uncountedTerminatedPods` of the status, the finalizer is removed from the Pod, and the uid is replaced by one more
//! in `succeeded` or `failed`. So no Pod is counted twice or forgotten, whatever happens between two of these writes.
//!
//! `count.rs` counts Pods, `manage.rs` creates and deletes Pods, `status.rs` writes the status, `backoff.rs` computes
//! the delay after failures, and `indexes.rs` handles completion indexes. `podFailurePolicy`, `successPolicy` and
//! `backoffLimitPerIndex` are not implemented.

mod backoff;
mod count;
mod indexes;
mod manage;
pub mod status;

use std::cell::RefCell;
use std::collections::HashSet;
use std::rc::Rc;
use std::sync::Arc;

use kubechurn_client::api::object::{Object, ObjectKey};
use kubechurn_client::cache::index::IndexFunc;
use kubechurn_client::cache::store::Change;
use serde_json::{Value, json};
use tokio::time::Duration;

use super::context::Context;
use super::controller::{Controller, SyncError};
use super::controller_ref_manager::{self, ControllerRefManager};
use super::events::Recorder;
use super::expectations::Expectations;
use super::object;
use super::pod_handler::PodHandler;
use super::queue::Queue;
use super::written::Written;
use crate::client::api_error::ApiError;
use crate::client::lister::Lister;
use crate::client::resources::{JOBS, PODS};
use crate::client::rest::{Client, Patch};
use crate::clock;
use crate::resources::label_selector::Selector;
use count::Counted;

/// The finalizer that keeps a Pod until it has been counted.
pub const TRACKING: &str = "batch.kubernetes.io/job-tracking";

/// The index that files Pods under the `namespace/name` of the Job that controls them, regardless of the Job's uid.
const BY_JOB: &str = "job";

/// The controller.
#[derive(Debug)]
pub struct Jobs {
    client: Client,
    jobs: Lister,
    pods: Lister,
    recorder: Recorder,
    expectations: Rc<Expectations>,
    written: Written,
    /// The uids of Pods whose finalizer is removed, although the informer may still show it.
    released: Rc<RefCell<HashSet<String>>>,
    queue: Queue<ObjectKey>,
}

/// One sync of one Job.
struct JobSync<'a> {
    controller: &'a Jobs,
    job: &'a Value,
    key: &'a ObjectKey,
    pods: Vec<Value>,
    /// Seconds since 1970.
    now: i64,
}

/// How a Job ends: the condition that is set first, and the reason and message of that condition and of the final one.
#[derive(Debug, Clone, PartialEq)]
struct Verdict {
    has_failed: bool,
    reason: String,
    message: String,
}

impl Controller for Jobs {
    type Key = ObjectKey;
    const NAME: &'static str = "job-controller";

    fn new(context: &Context, queue: Queue<ObjectKey>) -> Self {
        let (jobs, pods) = (context.lister(JOBS), context.lister(PODS));
        controller_ref_manager::index_orphans(&pods);
        let of: IndexFunc = Arc::new(|pod: &Object, file: &mut dyn FnMut(&str)| {
            if let Some(key) = job_key(pod) {
                file(&key.to_string());
            }
        });
        pods.add_index(BY_JOB, of);
        let expectations = Rc::new(Expectations::default());
        let (owners, expected) = (jobs.clone(), Rc::clone(&expectations));
        PodHandler { owners, pods: pods.clone(), expectations: expected, queue: queue.clone() }.listen();
        let released = Rc::new(RefCell::new(HashSet::<String>::new()));
        let (waiting, known) = (queue.clone(), Rc::clone(&released));
        pods.on_change(move |change| {
            let pod = change.object();
            if matches!(change, Change::Deleted { .. }) {
                known.borrow_mut().remove(&*pod.uid.text());
            } else if let Some(key) = job_key(pod) {
                // Pods of deleted Jobs are queued too, because no other controller would remove their finalizer.
                waiting.add(key);
            }
        });
        let recorder = context.recorder(Self::NAME);
        let (client, written) = (context.client.clone(), Written::default());
        Self { client, jobs, pods, recorder, expectations, written, released, queue }
    }

    async fn sync(&self, key: &ObjectKey) -> Result<(), SyncError> {
        let job = self.jobs.value(key);
        self.release_others(key, job.as_ref().filter(|job| !status::is_finished(job))).await?;
        let Some(job) = job else {
            self.expectations.forget(key);
            self.written.forget(key);
            return Ok(());
        };
        if status::is_finished(&job) || self.written.is_ahead_of(&job) {
            return Ok(());
        }
        let may_act = self.expectations.are_satisfied(key);
        let Some(selector) = Selector::of_workload(&job) else { return Ok(()) };
        let manager = ControllerRefManager { client: &self.client, resource: &JOBS, owner: &job, selector: &selector };
        let pods = manager.claim(&self.pods).await?;
        let sync = JobSync { controller: self, job: &job, key, pods, now: clock::now() };
        sync.reconcile(may_act).await
    }
}

/// The key of the Job that controls a Pod, whether or not the Job exists.
fn job_key(pod: &Object) -> Option<ObjectKey> {
    let owner = pod.owners().iter().find(|owner| owner.controller && &*owner.kind == "Job")?;
    Some(ObjectKey::new(&pod.key.namespace, &owner.name))
}

impl Jobs {
    /// Whether a Pod still has its finalizer, as far as is known.
    fn is_tracked(&self, pod: &Value) -> bool {
        let has = pod["metadata"]["finalizers"].as_array().is_some_and(|all| all.iter().any(|one| one == TRACKING));
        if !has {
            self.released.borrow_mut().remove(object::uid(pod));
        }
        has && !self.released.borrow().contains(object::uid(pod))
    }

    /// Removes the finalizer from a Pod.
    async fn release(&self, pod: &Value) -> Result<(), ApiError> {
        let delete = json!([TRACKING]);
        let patch = json!({"metadata": {"uid": object::uid(pod), "$deleteFromPrimitiveList/finalizers": delete}});
        let (namespace, name) = (object::namespace(pod), object::name(pod));
        self.released.borrow_mut().insert(object::uid(pod).to_owned());
        match self.client.patch(&PODS, namespace, name, Patch::Strategic(&patch)).await {
            Err(error) if error.is_not_found() => Ok(()),
            Err(error) => {
                self.released.borrow_mut().remove(object::uid(pod));
                Err(error)
            }
            Ok(_) => Ok(()),
        }
    }

    /// Removes the finalizers from the Pods of a Job that has ended, and of a deleted Job with the same name
    /// (`syncOrphanPod`).
    async fn release_others(&self, key: &ObjectKey, running: Option<&Value>) -> Result<(), ApiError> {
        for pod in self.pods.by_index(BY_JOB, &key.to_string()) {
            let Some(pod) = self.pods.parse(&pod).filter(|pod| self.is_tracked(pod)) else { continue };
            if running.is_none_or(|job| !object::is_controlled_by(&pod, object::uid(job))) {
                self.release(&pod).await?;
            }
        }
        Ok(())
    }
}

impl JobSync<'_> {
    async fn reconcile(&self, may_act: bool) -> Result<(), SyncError> {
        let counted = self.count();
        let verdict = self.verdict(&counted);
        let mut look_again = self.seconds_to_deadline().filter(|_| verdict.is_none());
        let mut failed = None;
        if may_act && !object::is_being_deleted(self.job) {
            match self.manage(&counted, verdict.as_ref()).await {
                Ok(wait) => look_again = look_again.into_iter().chain(wait).min(),
                Err(error) => failed = Some(error),
            }
        }
        self.write(&counted, verdict.as_ref()).await?;
        for pod in self.pods.iter().filter(|pod| counted.to_release.contains(object::uid(pod))) {
            self.controller.release(pod).await?;
        }
        if let Some(seconds) = look_again {
            let delay = Duration::from_secs(seconds.max(1).unsigned_abs());
            self.controller.queue.add_after(self.key.clone(), delay);
        }
        match failed {
            Some(failed) if !failed.is_namespace_terminating() => Err(failed.into()),
            _ => Ok(()),
        }
    }

    /// Whether and how the Job ends: as its status already says, or as it follows from the counts.
    fn verdict(&self, counted: &Counted) -> Option<Verdict> {
        for (condition, has_failed) in [(status::FAILURE_TARGET, true), (status::SUCCESS_CRITERIA_MET, false)] {
            if let Some(condition) = object::condition(self.job, condition).filter(|one| one["status"] == "True") {
                let text = |field: &str| condition[field].as_str().unwrap_or_default().to_owned();
                return Some(Verdict { has_failed, reason: text("reason"), message: text("message") });
            }
        }
        let verdict = |has_failed: bool, reason: &str, message: &str| {
            Some(Verdict { has_failed, reason: reason.to_owned(), message: message.to_owned() })
        };
        if counted.failed > self.backoff_limit() || self.restarts_too_often() {
            return verdict(true, "BackoffLimitExceeded", "Job has reached the specified backoff limit");
        }
        if self.seconds_to_deadline().is_some_and(|seconds| seconds <= 0) {
            return verdict(true, "DeadlineExceeded", "Job was active longer than specified deadline");
        }
        let is_complete = match self.completions() {
            None => counted.succeeded > 0 && counted.active == 0,
            Some(completions) => counted.succeeded >= completions,
        };
        if is_complete {
            return verdict(false, "CompletionsReached", "Reached expected number of succeeded pods");
        }
        None
    }

    fn number(&self, field: &str) -> Option<usize> {
        object::number(&self.job["spec"], field).map(|number| usize::try_from(number).unwrap_or_default())
    }

    fn completions(&self) -> Option<usize> {
        self.number("/completions")
    }

    fn backoff_limit(&self) -> usize {
        self.number("/backoffLimit").unwrap_or(6)
    }

    fn is_indexed(&self) -> bool {
        object::text(self.job, "/spec/completionMode") == "Indexed"
    }

    fn is_suspended(&self) -> bool {
        self.job["spec"]["suspend"] == true
    }

    /// Whether a Pod that is being deleted must end before it is replaced.
    fn waits_for_the_end(&self) -> bool {
        object::text(self.job, "/spec/podReplacementPolicy") == "Failed"
    }

    /// After how many seconds the Job exceeds its deadline; `None` if it has none, or does not run.
    fn seconds_to_deadline(&self) -> Option<i64> {
        let limit = object::number(self.job, "/spec/activeDeadlineSeconds")?;
        let start = object::time(self.job, "/status/startTime").map_or(self.now, |time| time.0);
        (!self.is_suspended()).then(|| start.saturating_add(limit) - self.now)
    }

    /// Whether containers were restarted too often, for Pods that restart their containers
    /// (`pastBackoffLimitOnFailure`).
    fn restarts_too_often(&self) -> bool {
        if object::text(self.job, "/spec/template/spec/restartPolicy") != "OnFailure" {
            return false;
        }
        let lives = |pod: &&Value| matches!(object::text(pod, "/status/phase"), "Running" | "Pending");
        let restarts = |pod: &Value| {
            let containers = ["initContainerStatuses", "containerStatuses"].into_iter();
            let containers = containers.filter_map(|list| pod["status"][list].as_array()).flatten();
            containers.filter_map(|container| container["restartCount"].as_u64()).sum::<u64>()
        };
        let restarts = self.pods.iter().filter(lives).map(restarts).sum::<u64>();
        restarts > 0 && restarts >= self.backoff_limit() as u64
    }
}
