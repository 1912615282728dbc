//! The CronJob controller: creates a Job whenever one is due (`pkg/controller/cronjob/cronjob_controllerv2.go`).
//!
//! `schedule.rs` computes when one is due.

mod schedule;

use jiff::tz::TimeZone;
use kubechurn_client::api::object::ObjectKey;
use kubechurn_client::cache::store::Change;
use serde_json::{Value, json};
use tokio::time::Duration;

use super::context::Context;
use super::controller::{Controller, SyncError};
use super::events::Recorder;
use super::job::status::is_finished;
use super::object;
use super::queue::Queue;
use super::written::Written;
use crate::client::api_error::ApiError;
use crate::client::lister::Lister;
use crate::client::resources::{CRON_JOBS, JOBS};
use crate::client::rest::{Client, DeleteOptions};
use crate::clock::{self, timestamp};
use schedule::Schedule;

/// The annotation that says when a Job was due.
const SCHEDULED: &str = "batch.kubernetes.io/cronjob-scheduled-timestamp";

/// The controller.
#[derive(Debug)]
pub struct CronJobs {
    client: Client,
    cron_jobs: Lister,
    jobs: Lister,
    recorder: Recorder,
    written: Written,
    queue: Queue<ObjectKey>,
}

/// One sync of one CronJob. Its status changes on the way, and is written at the end.
struct CronJobSync<'a> {
    controller: &'a CronJobs,
    cron_job: Value,
    /// Seconds since 1970.
    now: i64,
}

impl Controller for CronJobs {
    type Key = ObjectKey;
    const NAME: &'static str = "cronjob-controller";

    fn new(context: &Context, queue: Queue<ObjectKey>) -> Self {
        let (cron_jobs, jobs) = (context.lister(CRON_JOBS), context.lister(JOBS));
        let waiting = queue.clone();
        cron_jobs.on_change(move |change| waiting.add(change.object().key.clone()));
        let waiting = queue.clone();
        jobs.on_change(move |change| {
            if matches!(change, Change::Synced { .. }) {
                return;
            }
            let job = change.object();
            let mut owners = job.owners().iter();
            if let Some(owner) = owners.find(|owner| owner.controller && &*owner.kind == "CronJob") {
                waiting.add(ObjectKey::new(&job.key.namespace, &owner.name));
            }
        });
        let recorder = context.recorder(Self::NAME);
        let (client, written) = (context.client.clone(), Written::default());
        Self { client, cron_jobs, jobs, recorder, written, queue }
    }

    async fn sync(&self, key: &ObjectKey) -> Result<(), SyncError> {
        let Some(cron_job) = self.cron_jobs.value(key) else {
            self.written.forget(key);
            return Ok(());
        };
        // The informer does not show the last written status yet, and only that status says which Jobs exist.
        if self.written.is_ahead_of(&cron_job) {
            return Ok(());
        }
        let before = cron_job["status"].clone();
        let mut sync = CronJobSync { controller: self, cron_job, now: clock::now() };
        let done = sync.reconcile().await;
        if sync.cron_job["status"] != before {
            self.written.note(&self.client.update_status(&CRON_JOBS, &sync.cron_job).await?);
        }
        if let Some(next) = done? {
            // A tenth of a second more, so that the time has certainly come.
            let wait = Duration::from_secs((next - clock::now()).max(0).unsigned_abs());
            self.queue.add_after(key.clone(), wait + Duration::from_millis(100));
        }
        Ok(())
    }
}

impl CronJobSync<'_> {
    /// Does the work of the sync; returns when the next Job is due.
    async fn reconcile(&mut self) -> Result<Option<i64>, ApiError> {
        let uid = object::uid(&self.cron_job).to_owned();
        let listers = &self.controller.jobs;
        let jobs = listers.owned_by(&uid);
        let jobs = jobs.iter().filter_map(|job| listers.parse(job));
        let jobs: Vec<Value> = jobs.filter(|job| object::is_controlled_by(job, &uid)).collect();
        self.cleanup_finished_jobs(&jobs).await?;
        self.track_finished_jobs(&jobs).await?;
        if object::is_being_deleted(&self.cron_job) {
            return Ok(None);
        }
        let zone = match self.zone() {
            Ok(zone) => zone,
            Err(message) => {
                self.warning("UnknownTimeZone", &message);
                return Ok(None);
            }
        };
        if self.cron_job["spec"]["suspend"] == true {
            return Ok(None);
        }
        let text = object::text(&self.cron_job, "/spec/schedule").to_owned();
        let schedule = match Schedule::parse(&text) {
            Ok(schedule) => schedule,
            Err(error) => {
                self.warning("UnparseableSchedule", &format!("unparseable schedule: {text:?} : {error}"));
                return Ok(None);
            }
        };
        let Some(time) = self.next_schedule_time(&schedule, &zone) else {
            let since = self.since();
            let after = if matches!(schedule, Schedule::Every(_)) { since } else { self.now };
            return Ok(schedule.next(after, &zone));
        };
        let next = schedule.next(if matches!(schedule, Schedule::Every(_)) { time } else { self.now }, &zone);
        self.start_job(time, &zone).await?;
        Ok(next)
    }

    fn warning(&self, reason: &str, message: &str) {
        self.controller.recorder.warning(&self.cron_job, reason, message);
    }

    fn normal(&self, reason: &str, message: &str) {
        self.controller.recorder.normal(&self.cron_job, reason, message);
    }

    fn zone(&self) -> Result<TimeZone, String> {
        let name = object::text(&self.cron_job, "/spec/timeZone");
        match name {
            "" => Ok(TimeZone::UTC),
            // The zone of this machine must not matter.
            "Local" => Err(format!("invalid timeZone: {name:?}: timeZone must be an explicit time zone")),
            _ => TimeZone::get(name).map_err(|error| format!("invalid timeZone: {name:?}: {error}")),
        }
    }

    /// When the last Job was due, or else when the CronJob was created.
    fn since(&self) -> i64 {
        let last = object::time(&self.cron_job, "/status/lastScheduleTime");
        let since = last.or_else(|| object::time(&self.cron_job, "/metadata/creationTimestamp"));
        since.map_or(self.now, |time| time.0)
    }

    /// The latest time at which a Job is due and not started (`nextScheduleTime`).
    fn next_schedule_time(&self, schedule: &Schedule, zone: &TimeZone) -> Option<i64> {
        let deadline = object::number(&self.cron_job, "/spec/startingDeadlineSeconds");
        let earliest = deadline.map_or(i64::MIN, |seconds| self.now.saturating_sub(seconds));
        let (time, many) = schedule.most_recent(self.since().max(earliest), self.now, zone)?;
        if many && deadline.is_none() {
            let message =
                "too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew";
            self.warning("TooManyMissedTimes", message);
        }
        Some(time)
    }

    /// Starts the Job of a scheduled time, unless the concurrency policy or a deadline forbids it.
    async fn start_job(&mut self, time: i64, zone: &TimeZone) -> Result<(), ApiError> {
        let name = format!("{}-{}", object::name(&self.cron_job), time.div_euclid(60));
        let is_begun = object::time(&self.cron_job, "/status/lastScheduleTime").is_some_and(|last| last.0 == time);
        if is_begun || self.active().iter().any(|one| one["name"] == name) {
            return Ok(());
        }
        let policy = object::text(&self.cron_job, "/spec/concurrencyPolicy").to_owned();
        if policy == "Forbid" && !self.active().is_empty() {
            let message = "Not starting job because prior execution is running and concurrency policy is Forbid";
            self.normal("JobAlreadyActive", message);
            return Ok(());
        }
        if policy == "Replace" {
            for active in self.active() {
                let job = object::text(&active, "/name");
                if self.delete(job, object::text(&active, "/uid")).await? {
                    self.normal("SuccessfulDelete", &format!("Deleted job {job}"));
                }
                self.forget(&active);
            }
        }
        let namespace = object::namespace(&self.cron_job).to_owned();
        let job = match self.controller.client.create(&JOBS, &namespace, &self.new_job(&name, time, zone)).await {
            Ok(job) => {
                self.normal("SuccessfulCreate", &format!("Created job {name}"));
                job
            }
            Err(error) if error.is_already_exists() => {
                let known = self.controller.client.get(&JOBS, &namespace, &name).await?;
                if !object::is_controlled_by(&known, object::uid(&self.cron_job)) {
                    return Err(error);
                }
                known
            }
            Err(error) => {
                if !error.is_namespace_terminating() {
                    self.warning("FailedCreate", &format!("Error creating job: {error}"));
                }
                return Err(error);
            }
        };
        let reference = json!({"apiVersion": "batch/v1", "kind": "Job", "name": name, "namespace": namespace,
            "uid": object::uid(&job), "resourceVersion": object::text(&job, "/metadata/resourceVersion")});
        let mut active = self.active();
        if !is_finished(&job) {
            active.push(reference);
        }
        self.set_active(active);
        self.cron_job["status"]["lastScheduleTime"] = timestamp(time).into();
        Ok(())
    }

    fn new_job(&self, name: &str, time: i64, zone: &TimeZone) -> Value {
        let template = &self.cron_job["spec"]["jobTemplate"];
        let mut metadata = json!({"name": name, "ownerReferences": [object::controller_reference(&self.cron_job)]});
        for field in ["labels", "annotations"] {
            if let Some(value) = template["metadata"].get(field).filter(|value| value.is_object()) {
                metadata[field] = value.clone();
            }
        }
        let offset = jiff::Timestamp::from_second(time).map(|time| time.to_zoned(zone.clone()));
        let local = offset.map_or_else(|_| timestamp(time), |time| time.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string());
        metadata["annotations"][SCHEDULED] = local.replace("+00:00", "Z").into();
        json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": template["spec"]})
    }

    fn active(&self) -> Vec<Value> {
        self.cron_job["status"]["active"].as_array().cloned().unwrap_or_default()
    }

    fn set_active(&mut self, active: Vec<Value>) {
        if !self.cron_job["status"].is_object() {
            self.cron_job["status"] = json!({});
        }
        if let Some(status) = self.cron_job["status"].as_object_mut() {
            if active.is_empty() {
                status.remove("active");
            } else {
                status.insert("active".to_owned(), active.into());
            }
        }
    }

    fn forget(&mut self, gone: &Value) {
        let mut active = self.active();
        active.retain(|one| one["uid"] != gone["uid"]);
        self.set_active(active);
    }

    /// Records which Jobs have ended, and which no longer exist.
    async fn track_finished_jobs(&mut self, jobs: &[Value]) -> Result<(), ApiError> {
        for job in jobs {
            let active = self.active().into_iter().find(|one| one["uid"] == object::uid(job));
            let name = object::name(job);
            if object::is_true(job, "Complete") {
                let ended = object::time(job, "/status/completionTime");
                if ended.is_some() && ended > object::time(&self.cron_job, "/status/lastSuccessfulTime") {
                    let ended = job["status"]["completionTime"].clone();
                    object::set(&mut self.cron_job, &["status", "lastSuccessfulTime"], ended);
                }
            }
            match active {
                None if !is_finished(job) => {
                    // An old status may not know its latest Jobs, which is expected.
                    let message = format!("Saw a job that the controller did not create or forgot: {name}");
                    self.warning("UnexpectedJob", &message);
                }
                Some(active) if is_finished(job) => {
                    self.forget(&active);
                    let condition = if object::is_true(job, "Complete") { "Complete" } else { "Failed" };
                    let message = format!("Saw completed job: {name}, condition: {condition}");
                    self.normal("SawCompletedJob", &message);
                }
                _ => {}
            }
        }
        for active in self.active() {
            if jobs.iter().any(|job| active["uid"] == object::uid(job)) {
                continue;
            }
            // The informer may not show the Job yet.
            let name = object::text(&active, "/name");
            match self.controller.client.get(&JOBS, object::namespace(&self.cron_job), name).await {
                Ok(job) if active["uid"] == object::uid(&job) => {}
                Err(error) if !error.is_not_found() => return Err(error),
                _ => {
                    self.normal("MissingJob", &format!("Active job went missing: {name}"));
                    self.forget(&active);
                }
            }
        }
        Ok(())
    }

    /// Deletes the oldest ended Jobs beyond the limits, which are separate for succeeded and failed Jobs
    /// (`cleanupFinishedJobs`).
    async fn cleanup_finished_jobs(&mut self, jobs: &[Value]) -> Result<(), ApiError> {
        for (condition, limit) in [("Complete", "successfulJobsHistoryLimit"), ("Failed", "failedJobsHistoryLimit")] {
            let Some(limit) = self.cron_job["spec"][limit].as_u64() else { continue };
            let ended = jobs.iter().filter(|job| object::is_true(job, condition) && !object::is_being_deleted(job));
            let mut ended: Vec<&Value> = ended.collect();
            ended.sort_by_cached_key(|job| {
                let start = object::time(job, "/status/startTime").map(|time| time.0);
                (start, object::name(job).to_owned())
            });
            let excess = ended.len().saturating_sub(usize::try_from(limit).unwrap_or(usize::MAX));
            for job in &ended[..excess] {
                let name = object::name(job);
                if self.delete(name, object::uid(job)).await? {
                    self.normal("SuccessfulDelete", &format!("Deleted job {name}"));
                }
            }
        }
        Ok(())
    }

    /// Deletes a Job; returns whether it was there.
    async fn delete(&self, name: &str, uid: &str) -> Result<bool, ApiError> {
        let options =
            DeleteOptions { propagation_policy: Some("Background"), uid: Some(uid), ..DeleteOptions::default() };
        match self.controller.client.delete(&JOBS, object::namespace(&self.cron_job), name, options).await {
            Ok(_) => Ok(true),
            // The Job is deleted, or another Job has its name.
            Err(error) if error.is_not_found() || error.is_conflict() => Ok(false),
            Err(error) => {
                self.warning("FailedDelete", &format!("Deleted job: {error}"));
                Err(error)
            }
        }
    }
}
