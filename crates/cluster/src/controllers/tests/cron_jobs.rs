//! CronJobs: Jobs that are created on time. Here a Job is due every second, and the test ends the Jobs.

use super::*;
use crate::clock::{now, timestamp};
use crate::controllers::cron_job::CronJobs;

const CRON_JOBS: &str = "/apis/batch/v1/namespaces/default/cronjobs";
const TICK: &str = "/apis/batch/v1/namespaces/default/cronjobs/tick";
const JOBS: &str = "/apis/batch/v1/namespaces/default/jobs?labelSelector=made-by%3Dtick";

fn tick(schedule: &str, more: &Value) -> Value {
    let container = json!({"name": "main", "image": "registry.example/tick:1"});
    let template = json!({"spec": {"restartPolicy": "Never", "containers": [container]}});
    let job = json!({"metadata": {"labels": {"made-by": "tick"}}, "spec": {"template": template}});
    let mut cron_job = json!({"metadata": {"name": "tick"}, "spec": {"schedule": schedule, "jobTemplate": job}});
    for (field, value) in more.as_object().into_iter().flatten() {
        cron_job["spec"][field] = value.clone();
    }
    cron_job
}

async fn start() -> Cluster {
    Cluster::start(|manager| manager.add::<CronJobs>()).await
}

/// Does what the Job controller does with a Job that ends.
async fn end(cluster: &Cluster, job: &Value, condition: &str) {
    let time = timestamp(now());
    let over = json!({"type": condition, "status": "True", "lastTransitionTime": time});
    let mut status = json!({"conditions": [over], "startTime": time});
    if condition == "Complete" {
        status["completionTime"] = time.into();
    }
    let path = format!("/apis/batch/v1/namespaces/default/jobs/{}/status", job["metadata"]["name"].as_str().unwrap());
    let (code, answer) = cluster.server.patch(&path, &json!({"status": status})).await;
    // The history limit may already have deleted the Job.
    assert!([200, 404].contains(&code), "{answer}");
}

#[tokio::test]
async fn a_job_when_it_is_due_and_history_within_limits() {
    let cluster = start().await;
    // The last Job was an hour ago, so that one is due at once, and the next one in at most an hour.
    let created = cluster.create(CRON_JOBS, &tick("0 * * * *", &json!({"suspend": true}))).await;
    let ago = json!({"status": {"lastScheduleTime": timestamp(now() - 2 * 3600)}});
    cluster.patch(&format!("{TICK}/status"), &ago).await;
    cluster.patch(TICK, &json!({"spec": {"suspend": false}})).await;
    let jobs = cluster.eventually(JOBS, "a Job", |list| items(list).len() == 1).await;
    let job = &items(&jobs)[0];
    let due = now() / 3600 * 3600;
    let (name, time) = (format!("tick-{}", due / 60), timestamp(due));
    assert_eq!(job["metadata"]["name"], name.as_str());
    assert_eq!(job["metadata"]["annotations"]["batch.kubernetes.io/cronjob-scheduled-timestamp"], time.as_str());
    assert_eq!(job["metadata"]["ownerReferences"][0]["uid"], created["metadata"]["uid"]);
    let begun = |one: &Value| one["status"]["active"][0]["name"] == name.as_str();
    let known = cluster.eventually(TICK, "active", begun).await;
    assert_eq!(known["status"]["lastScheduleTime"], time.as_str());
    end(&cluster, job, "Complete").await;
    let known = cluster.eventually(TICK, "not active", |one| one["status"]["active"].is_null()).await;
    assert!(known["status"]["lastSuccessfulTime"].is_string());

    cluster.patch(TICK, &json!({"spec": {"successfulJobsHistoryLimit": 0}})).await;
    cluster.eventually(JOBS, "none", |list| items(list).is_empty()).await;
    let server = cluster.stop().await;
    let expected = [
        ("SuccessfulCreate", format!("Created job {name}")),
        ("SawCompletedJob", format!("Saw completed job: {name}, condition: Complete")),
        ("SuccessfulDelete", format!("Deleted job {name}")),
    ];
    for (reason, message) in expected {
        assert_eq!(events(&server, reason, "tick").await, [message]);
    }
}

#[tokio::test]
async fn several_at_once_one_or_the_newest() {
    for (policy, reason) in [("Allow", ""), ("Forbid", "JobAlreadyActive"), ("Replace", "SuccessfulDelete")] {
        let cluster = start().await;
        let created = cluster.create(CRON_JOBS, &tick("* * * * *", &json!({"suspend": true}))).await;
        // A Job of an earlier minute still runs.
        let owner = json!({"apiVersion": "batch/v1", "kind": "CronJob", "name": "tick", "controller": true,
            "uid": created["metadata"]["uid"]});
        let template = created["spec"]["jobTemplate"].clone();
        let metadata = json!({"name": "tick-1", "labels": {"made-by": "tick"}, "ownerReferences": [owner]});
        let path = JOBS.split('?').next().unwrap();
        let job = cluster.create(path, &json!({"metadata": metadata, "spec": template["spec"]})).await;
        let active = json!({"name": "tick-1", "namespace": "default", "kind": "Job", "apiVersion": "batch/v1",
            "uid": job["metadata"]["uid"]});
        let status = json!({"active": [active], "lastScheduleTime": timestamp(now() - 120)});
        cluster.patch(&format!("{TICK}/status"), &json!({"status": status})).await;
        cluster.patch(TICK, &json!({"spec": {"suspend": false, "concurrencyPolicy": policy}})).await;
        if policy == "Forbid" {
            let is_recorded = |list: &Value| items(list).iter().any(|event| event["reason"] == reason);
            cluster.eventually("/api/v1/namespaces/default/events", "recorded", is_recorded).await;
        } else {
            let is_begun = |list: &Value| names(list).iter().any(|name| *name != "tick-1");
            cluster.eventually(JOBS, "another", is_begun).await;
        }
        let (_, jobs) = cluster.server.get(JOBS).await;
        let has_first = names(&jobs).contains(&"tick-1");
        assert_eq!(has_first, policy != "Replace", "{policy}");
        cluster.stop().await;
    }
}

#[tokio::test]
async fn what_cannot_be_scheduled_is_recorded() {
    let cluster = start().await;
    for (name, schedule, zone, reason) in [
        ("no-schedule", "every day", "UTC", "UnparseableSchedule"),
        ("no-zone", "0 * * * *", "Middle/Earth", "UnknownTimeZone"),
    ] {
        let mut cron_job = tick(schedule, &json!({"timeZone": zone}));
        cron_job["metadata"]["name"] = name.into();
        cluster.create(CRON_JOBS, &cron_job).await;
        let is_recorded = |list: &Value| {
            items(list).iter().any(|event| event["reason"] == reason && event["involvedObject"]["name"] == name)
        };
        cluster.eventually("/api/v1/namespaces/default/events", reason, is_recorded).await;
    }
    cluster.stop().await;
}

#[tokio::test]
async fn time_goes_on_and_a_late_start_is_none() {
    let cluster = start().await;
    cluster.create(CRON_JOBS, &tick("@every 1s", &json!({"successfulJobsHistoryLimit": 9}))).await;
    // A Job is named after its minute, so there is at most one per minute.
    cluster.eventually(JOBS, "a Job", |list| !items(list).is_empty()).await;
    let mut late = tick("0 0 1 1 *", &json!({"startingDeadlineSeconds": 10}));
    late["metadata"]["name"] = "late".into();
    cluster.create(CRON_JOBS, &late).await;
    let ago = json!({"status": {"lastScheduleTime": "2020-01-01T00:00:00Z"}});
    cluster.patch(&format!("{CRON_JOBS}/late/status"), &ago).await;
    // A later CronJob is synced after this one, which shows that the sync of this one is over.
    let mut after = tick("not at all", &Value::Null);
    after["metadata"]["name"] = "last".into();
    cluster.create(CRON_JOBS, &after).await;
    let is_recorded = |list: &Value| items(list).iter().any(|event| event["involvedObject"]["name"] == "last");
    cluster.eventually("/api/v1/namespaces/default/events", "recorded", is_recorded).await;
    let (_, jobs) = cluster.server.get(JOBS).await;
    assert!(names(&jobs).iter().all(|name| !name.starts_with("late-")), "{:?}", names(&jobs));
    cluster.stop().await;
}
